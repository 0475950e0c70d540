"""torch.testing: whether tensors, numbers and what holds them are close."""

import collections.abc
import numbers

import numpy

from ... import tensors as _tensors
from ...core.errors import message
from .._missing import missing as _missing

# rtol and atol where none are given.
_TOLERANCES = {
    _tensors.float16: (1e-3, 1e-5), _tensors.bfloat16: (1.6e-2, 1e-5),
    _tensors.float32: (1.3e-6, 1e-5), _tensors.complex64: (1.3e-6, 1e-5),
    _tensors.float64: (1e-7, 1e-7), _tensors.complex128: (1e-7, 1e-7),
}  # fmt: skip


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False,
    check_device=True, check_dtype=True, check_layout=True, check_stride=False, msg=None,
):  # fmt: skip
    """AssertionError unless `actual` is within ``atol + rtol * abs(expected)`` of `expected`.

    Both are tensors, numbers, or sequences and mappings of these. Without tolerances those of the
    dtypes are taken, the larger ones of two; integers have to be equal. ValueError for one
    tolerance without the other. allow_subclasses: types may differ; check_stride: steps are
    compared, too; check_layout: nothing, as all tensors are dense; msg: the error's text, or a
    function of it.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            message("assert_close", "one tolerance alone", f"rtol={rtol}, atol={atol}",
                    "both or none")
        )  # fmt: skip
    checks = {"device": check_device, "dtype": check_dtype, "stride": check_stride,
              "layout": check_layout, "type": not allow_subclasses}  # fmt: skip
    wrong = _difference(actual, expected, (rtol, atol), equal_nan, checks, "")
    if wrong is not None:
        raise AssertionError(wrong if msg is None else msg(wrong) if callable(msg) else msg)


def _difference(actual, expected, tolerances, equal_nan, checks, at):
    """What differs, in a sentence; None: nothing."""

    def told(what, got, wanted):
        return message("assert_close", what + at, got, wanted)

    if isinstance(actual, (str, bytes)) or isinstance(expected, (str, bytes)):
        return None if actual == expected else told("other texts", actual, expected)
    if isinstance(actual, collections.abc.Mapping):
        if not isinstance(expected, collections.abc.Mapping) or set(actual) != set(expected):
            return told("other keys", list(actual), list(expected))
        pairs = [(f" at key {k!r}", actual[k], expected[k]) for k in actual]
    elif isinstance(actual, collections.abc.Sequence):
        sequence = isinstance(expected, collections.abc.Sequence)
        if not sequence or len(actual) != len(expected):
            return told("another length", len(actual), len(expected) if sequence else expected)
        pairs = [(f" at index {k}", *both) for k, both in enumerate(zip(actual, expected))]
    else:
        return _of_numbers(actual, expected, tolerances, equal_nan, checks, told)
    for name, one, other in pairs:
        found = _difference(one, other, tolerances, equal_nan, checks, at + name)
        if found is not None:
            return found
    return None


def _of_numbers(actual, expected, tolerances, equal_nan, checks, told):
    both = actual, expected
    if all(x is None for x in both):
        return None
    tensors = [_tensors.is_tensor(x) for x in both]
    if not all(t or isinstance(x, (numbers.Number, numpy.generic, numpy.ndarray))
               for t, x in zip(tensors, both, strict=True)):  # fmt: skip
        raise TypeError(told("neither tensors nor numbers", [type(x).__name__ for x in both],
                             "tensors, numbers, sequences or mappings"))  # fmt: skip
    if checks["type"] and type(actual) is not type(expected):
        return told("other types", type(actual).__name__, type(expected).__name__)
    if tensors[0] != tensors[1]:
        raise TypeError(
            told("a tensor beside a number", [type(x).__name__ for x in both], "two of a kind")
        )
    if not tensors[0]:
        actual, expected = [_tensors.as_tensor(numpy.asarray(x)) for x in both]
    if actual.shape != expected.shape:
        return told("other shapes", tuple(actual.shape), tuple(expected.shape))
    if checks["device"] and actual.device != expected.device:
        return told("other devices", actual.device, expected.device)
    if checks["stride"] and actual.stride() != expected.stride():
        return told("other strides", actual.stride(), expected.stride())
    if checks["dtype"] and actual.dtype != expected.dtype:
        return told("other dtypes", actual.dtype, expected.dtype)
    if tolerances[0] is None:
        pairs = [_TOLERANCES.get(x.dtype, (0.0, 0.0)) for x in (actual, expected)]
        tolerances = tuple(map(max, *pairs))
    rtol, atol = tolerances
    with _tensors.no_grad():
        t = _tensors.promote_types(actual.dtype, expected.dtype)
        one, other = [x.detach().cpu().to(t) for x in (actual, expected)]
        if rtol == atol == 0 and not t.is_floating_point and not t.is_complex:
            near = one == other
        else:
            near = _tensors.isclose(one, other, rtol=rtol, atol=atol, equal_nan=equal_nan)
        wrong = int((~near).sum())
        if not wrong:
            return None
        first = tuple((~near).nonzero()[0].tolist()) if near.ndim else ()
        return told(f"{wrong} of {near.numel()} elements are not close, the first at {first}",
                    one[first].item(),
                    f"{other[first].item()} within rtol={rtol}, atol={atol}")  # fmt: skip


def __getattr__(name):
    return _missing("torch.testing", name)
