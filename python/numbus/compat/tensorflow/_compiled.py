"""Functions of tensors whose work is recorded again: what `tf.function` and `Model.fit` call."""

import functools

import numpy

from ... import _core
from ..._core import ndarray
from ...core.compiling import Compiled, explained
from ._tensor import Call, Tensor, Variable, as_array, convert, running, tapes

_MOST = 512  # kinds of arguments of a function, before Python runs it each time
_TENSOR, _MASKED, _OBJECT = "tensor", "masked", "object"
_PLAIN = (bool, int, float, str, type(None))


def _form(x, arrays, objects):
    """What a tree is like but for its arrays and objects, which are added to these lists."""
    if isinstance(x, Tensor) and not isinstance(x, Variable):
        arrays.append(x._a)
        mask = getattr(x, "_keras_mask", None)
        if mask is None:
            return _TENSOR
        arrays.append(mask._a)
        return _MASKED
    kind = type(x)
    if kind in _PLAIN:
        return kind, repr(x) if kind is float else x  # zeros of two signs, and NaN
    if kind is dict:
        return dict, tuple(x), tuple([_form(v, arrays, objects) for v in x.values()])
    if kind in (list, tuple) or (isinstance(x, tuple) and hasattr(x, "_fields")):
        return kind, None, tuple([_form(v, arrays, objects) for v in x])
    objects.append(x)
    return _OBJECT, id(x)


def _built(form, arrays, objects):
    if form == _TENSOR:
        return Tensor(next(arrays))
    if form == _MASKED:
        made = Tensor(next(arrays))
        made._keras_mask = Tensor(next(arrays))
        return made
    kind = form[0]
    if kind == _OBJECT:
        return next(objects)
    if kind in _PLAIN:
        return float(form[1]) if kind is float else form[1]
    if kind is dict:
        pairs = zip(form[1], form[2], strict=True)
        return {key: _built(part, arrays, objects) for key, part in pairs}
    items = [_built(part, arrays, objects) for part in form[2]]
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def _as_given(x):
    """Arrays among arguments become tensors."""
    if isinstance(x, (ndarray, numpy.ndarray)):
        return convert(x)
    kind = type(x)
    if kind is dict:
        return {key: _as_given(v) for key, v in x.items()}
    return kind([_as_given(v) for v in x]) if kind in (list, tuple) else x


def _as_result(x):
    """Numbers and variables among results become tensors."""
    if isinstance(x, Variable):
        return Tensor(_core.copy_of(as_array(x._a)))
    kind = type(x)
    if kind in (bool, int, float):
        return convert(x)
    if kind is dict:
        return {key: _as_result(v) for key, v in x.items()}
    if kind in (list, tuple):
        return kind([_as_result(v) for v in x])
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind(*[_as_result(v) for v in x])
    return x


class Calls:
    """The calls of a function of tensors.

    Inside of another one, and under a tape that began outside, it is called as it is.

    strict: whether variables are made in the first call only, as TensorFlow asks.
    """

    def __init__(self, function, strict=False):
        self._function, self._strict, self._called = function, strict, False
        self._numbers, self._given = {}, []  # of forms of arguments; these with their objects
        self._results, self._forms = {}, []  # the same of results
        self._constants = {}
        name = getattr(function, "__qualname__", type(function).__qualname__)

        @functools.wraps(function, assigned=("__doc__",), updated=())
        def body(number, *arrays):
            form, objects = self._given[number]
            args, keywords = _built(form, iter(arrays), iter(objects))
            found, others = [], []
            form = _form(_as_result(function(*args, **keywords)), found, others)
            if form not in self._results:
                self._results[form] = len(self._forms)
                self._forms.append(form)
            return self._results[form], tuple(found), tuple(others)

        body.__qualname__ = name
        self.compiled = Compiled(body, warns=False)

    def __call__(self, *args, **keywords):
        given = _as_given((args, keywords))
        if running.call is not None or tapes.active:
            return _as_result(self._function(*given[0], **given[1]))
        arrays, objects = [], []
        form = _form(given, arrays, objects)
        running.call, self._called = Call(not (self._strict and self._called)), True
        try:
            number = self._number(form, arrays, objects)
            if number is None:
                return _as_result(self._function(*given[0], **given[1]))
            running.call.constants = self._constants
            # Calls are told apart by where views begin.
            arrays = [a if a.base is None else _core.copy_of(a) for a in arrays]
            number, found, others = self.compiled(number, *arrays)
        finally:
            running.call = None
        return _built(self._forms[number], iter(found), iter(others))

    def _number(self, form, arrays, objects):
        """That of a kind of arguments whose work can be recorded again; None of others."""
        if not _core.StepCapture(*arrays).known and not explained:
            return None
        try:
            number = self._numbers.get(form)
        except TypeError:  # a key that has no hash
            return None
        if number is None and len(self._given) < _MOST:
            number = self._numbers[form] = len(self._given)
            self._given.append((form, objects))
        return number
