"""jit: functions whose work is recorded again without their code."""

import functools
import inspect
import itertools
import threading

from ... import _core
from ...core.errors import message
from . import _dtypes
from ._array import Array
from ._axes import any_named
from ._transforms import arrays, is_number, refuse
from .tree_util import tree_flatten, tree_leaves

_MOST = 64  # kinds of arguments of one function
_RUNS = 16  # of one kind by Python, before all are: arrays may lie at another offset each time


def _names(fun):
    try:
        return list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):
        return []


def _numbers(x):
    return () if x is None else (x,) if isinstance(x, (int, str)) else tuple(x)


def jit(fun=None, /, *, static_argnums=None, static_argnames=None, donate_argnums=None,
        donate_argnames=None, keep_unused=False, device=None, backend=None, inline=False,
        **unknown):  # fmt: skip
    """A function whose work is recorded again, for other arrays of these shapes and dtypes, without
    its Python code.

    That is done on devices whose memory the host cannot read (a GPU); on others the function runs
    as Python each time. So does one that asks for values, prints them, or has a derivative of its
    own, and gives what it gives without `jit`. Others run as Python once for each kind of
    arguments, as in JAX: what they read elsewhere is what it was. Arguments that are named static
    stay as they are, and have to be hashable. What is donated is kept.
    """
    if unknown or device is not None or backend is not None:
        refuse("jit", device=device, backend=backend, **unknown)
    if fun is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames,
            donate_argnums=donate_argnums, donate_argnames=donate_argnames,
            keep_unused=keep_unused, inline=inline,
        )  # fmt: skip
    names = _names(fun)
    static = set(_numbers(static_argnames))
    numbers = set(_numbers(static_argnums)) | {names.index(n) for n in static if n in names}
    static |= {names[k] for k in numbers if -len(names) <= k < len(names)}
    for donated in (*_numbers(donate_argnums), *_numbers(donate_argnames)):
        if not isinstance(donated, (int, str)):
            raise TypeError(message("jit", "not the name of an argument", donated, "int or str"))

    calls = _Calls(fun)

    @functools.wraps(fun)
    def wrapper(*args, **keywords):
        fixed = {k if k >= 0 else k + len(args) for k in numbers}
        given = []
        for k, x in enumerate(args):
            if k in fixed:
                _hashable(x)
            given.append(x if k in fixed else _checked(x, k))
        named = {n: x if n in static else _checked(x, n) for n, x in keywords.items()}
        return calls.answer(given, named, fixed, static)

    wrapper.__wrapped__ = fun
    wrapper.clear_cache = calls.clear
    return wrapper


def _hashable(x):
    try:
        hash(x)
    except TypeError:
        raise ValueError(
            f"Non-hashable static arguments are not supported: {type(x).__name__} {x!r}"
        ) from None


def _checked(tree, name):
    for leaf in tree_leaves(tree):
        if not is_number(leaf) and not hasattr(leaf, "_key_array"):
            raise TypeError(
                f"Cannot interpret value of type {type(leaf)} as an abstract array; it does not "
                f"have a dtype attribute (argument {name} of a function that jit has made; name it "
                "in static_argnums)"
            )
    return arrays(tree)


def _copied(x):
    return Array(x._a.copy(), x.weak_type) if isinstance(x, Array) else type(x)(x._key_array.copy())


def _raw(x):
    return x._a if isinstance(x, Array) else x._key_array


class _Depth(threading.local):
    calls = 0  # of functions that `jit` has made, one inside of another


_depth = _Depth()


class _Calls:
    """What is known of the calls of one function."""

    def __init__(self, fun):
        self._fun = fun
        self.clear()

    def clear(self):
        """Forgets all."""
        self._pure = _core.PureCalls()
        self._tags = {}  # by kind of arguments: a number
        self._next = itertools.count()
        self._runs = {}  # by that number: how often Python ran it
        self._results = {}  # by that number: how results are made, or None: by Python alone

    def answer(self, given, named, fixed, static):
        """The function's results for arrays and static arguments."""
        # Within another one it is part of that, and may see its arrays otherwise than as arguments.
        if _dtypes.is_jit_disabled() or _depth.calls > 0 or any_named():
            return arrays(self._fun(*given, **named))
        _depth.calls += 1
        try:
            return self._outermost(given, named, fixed, static)
        finally:
            _depth.calls -= 1

    def _outermost(self, given, named, fixed, static):
        plain = [x for k, x in enumerate(given) if k not in fixed]
        leaves, form = tree_flatten((plain, {n: x for n, x in named.items() if n not in static}))
        others = [(k, type(given[k]), given[k]) for k in sorted(fixed) if k < len(given)]
        others += [(n, type(named[n]), named[n]) for n in sorted(named) if n in static]
        for *_, value in others:
            _hashable(value)
        kinds = tuple([(type(x), x.shape, x.dtype, x.weak_type) for x in leaves])
        key = form, tuple(others), kinds, _dtypes.has_x64()
        tag = self._tags.get(key)
        if tag is None and len(self._tags) < _MOST:
            tag = self._tags.setdefault(key, next(self._next))
        if tag is None or (tag in self._results and self._results[tag] is None):
            return arrays(self._fun(*given, **named))
        if tag not in self._results:
            # What the function reaches in other ways, too, is told apart from arguments.
            leaves = [_copied(x) for x in leaves]
            plain, others = form.unflatten(leaves)
            rest = iter(plain)
            given = [x if k in fixed else next(rest) for k, x in enumerate(given)]
            named = {**named, **others}
        raws = tuple([_raw(x) for x in leaves])
        done = []

        def body():
            made = arrays(self._fun(*given, **named))
            done.append(made)
            return self._note(tag, made, raws)

        made = self._pure.answer(tag, raws, body)
        if done:
            self._runs[tag] = self._runs.get(tag, 0) + 1
            if self._runs[tag] >= _RUNS:
                self._results[tag] = None
            return done[0]
        if made is NotImplemented:
            return arrays(self._fun(*given, **named))
        known = self._results.get(tag)
        if known is None:
            return arrays(self._fun(*given, **named))
        shape, plan = known
        fresh = iter(made)
        return shape.unflatten([
            leaves[at] if at is not None
            else Array(next(fresh), weak) if kind is Array
            else kind(next(fresh))
            for at, kind, weak in plan
        ])  # fmt: skip

    def _note(self, tag, made, raws):
        """How results are made of the arrays that are given, which are those that are new."""
        leaves, shape = tree_flatten(made)
        plan, new = [], []
        for x in leaves:
            if not isinstance(x, Array) and not hasattr(x, "_key_array"):
                _core.spoil_capture()  # an object of the function's own
                continue
            a = _raw(x)
            at = next((k for k, raw in enumerate(raws) if raw is a), None)
            plan.append((at, type(x), x.weak_type))
            if at is None:
                new.append(a)
        if self._results.setdefault(tag, (shape, plan)) != (shape, plan):
            self._results[tag] = None  # it gives other things at times
        return tuple(new)
