"""Numbers that are read out of arrays with nothing pending, which are NumPy's scalars: values,
types, errors and warnings of operations with others, against NumPy's own.
"""

import builtins
import copy
import json
import math
import operator
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from helpers import ALL, draw

pytestmark = [
    pytest.mark.numbus,
    pytest.mark.cpu,
    pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning"),
]
BINARY = """add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le eq ne gt ge
    matmul""".split()
UNARY = """neg pos abs invert truth bool int float complex index hash repr str round
    math.sqrt""".split()
ERRORS = TypeError, ValueError, OverflowError, ZeroDivisionError


def values(dtype):
    """Numbers of a type, its extremes among them."""
    t = np.dtype(dtype)
    if t.kind == "b":
        return [False, True]
    if t.kind in "iu":
        info = np.iinfo(t)
        return [0, 1, 3, 7, info.max, info.min]
    info = np.finfo(t)
    found = [0.0, -0.0, 1.5, -2.0, 3.0, np.inf, -np.inf, np.nan, info.max, info.tiny]
    return found if t.kind == "f" else [*found, 1 - 2j, complex(0.0, -0.0)]


def outcome(function, *args):
    """The result, or the class of the error, and the classes of what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args)
        except ERRORS as error:
            result = next(t for t in ERRORS if isinstance(error, t))
    return result, sorted(str(w.message) for w in caught)


def numpy_type(x):
    """NumPy's own type of a scalar that may be of a subclass."""
    return x.dtype.type if isinstance(x, np.generic) else type(x)


def agree(got, want, what):
    (x, warned_got), (y, warned) = got, want
    assert numpy_type(x) is numpy_type(y), f"{what}: {x!r} is not {y!r}"
    assert repr(x) == repr(y), f"{what}: {x!r} is not {y!r}"
    assert warned_got == warned, f"{what}: {warned_got} is not {warned}"


def read(xp, dtype):
    """NumPy's scalars, and the same numbers read out of an array."""
    x = np.array(values(dtype), dtype)
    return [x[k] for k in range(x.size)], [xp.array(x)[k] for k in range(x.size)]


@pytest.mark.parametrize("dtype", ALL)
def test_types(xp, dtype):
    theirs, ours = read(xp, dtype)
    for want, got in zip(theirs, ours):
        assert isinstance(got, type(want)) and isinstance(got, np.generic)
        assert isinstance(got, getattr(xp, dtype)) and isinstance(got, xp.generic)
        assert got.dtype is want.dtype and got.shape == () and xp.isscalar(got)
        assert isinstance(got, float) == isinstance(want, float)
        assert type(got).__name__ == type(want).__name__
        assert repr(pickle.loads(pickle.dumps(got))) == repr(want)
        assert pickle.loads(pickle.dumps(type(got))) is type(want)
        assert copy.deepcopy(type(got)) is type(got)
        assert repr(copy.deepcopy(got)) == repr(want) == repr(copy.copy(got))
        assert format(got) == format(want) and str(got) == str(want)
        assert np.asarray(got).dtype == want.dtype and np.array([got]).dtype == want.dtype
        assert got.item() == want.item() or want != want
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ALL)
def test_with_numbers(xp, dtype):
    """With each other, with NumPy's scalars and Python's numbers, on each side."""
    theirs, ours = read(xp, dtype)
    others = [2, 0, -1, 1 << 63, 1 << 70, 0.5, 0.0, 1e300, True, 1 + 1j, "a", None]
    others += [np.dtype(t).type(2) for t in ALL]
    for name in BINARY:
        function = getattr(operator, name)
        numbers = others
        if name in ("lshift", "rshift", "pow"):
            numbers = [o for o in others if not isinstance(o, int) or o < 100]
        elif name == "mul":  # text as often as a number says
            numbers = [o for o in others if o != "a"]
        for want, got in zip(theirs, ours):
            for other in numbers:
                what = f"{name}, {dtype}: {want!r} and {other!r}"
                agree(outcome(function, got, other), outcome(function, want, other), what)
                agree(outcome(function, other, got), outcome(function, other, want), what)
            for want_too, got_too in zip(theirs, ours):
                what = f"{name}, {dtype}: {want!r} and {want_too!r}"
                agree(outcome(function, got, got_too), outcome(function, want, want_too), what)


@pytest.mark.parametrize("dtype", ALL)
def test_alone(xp, dtype):
    theirs, ours = read(xp, dtype)
    scope = {**vars(builtins), **vars(operator), "math": math}
    for name in UNARY:
        function = eval(name, scope)
        for want, got in zip(theirs, ours):
            if name != "hash" or want == want:  # Python's hash of NaN is that of the object
                agree(outcome(function, got), outcome(function, want), f"{name}, {dtype}: {want!r}")


@pytest.mark.parametrize("dtype", ["float64", "int64", "float32", "int8", "uint64", "complex128"])
def test_with_arrays(xp, dtype):
    """The result is an array of Numbus's, of NumPy's type and values, on either side."""
    x, want_scalar = draw((5,), "float32", 1, 3), np.dtype(dtype).type(3)
    a, got_scalar = xp.array(x), xp.array([want_scalar])[0]
    for name in ("add", "sub", "mul", "truediv", "pow", "lt", "eq", "ge", "floordiv", "mod"):
        function = getattr(operator, name)
        for pending in (False, True):
            own = a * 1 if pending else a
            for args in ((got_scalar, own), (own, got_scalar)):
                pair = [want_scalar if arg is got_scalar else x for arg in args]
                want, got = outcome(function, *pair)[0], outcome(function, *args)[0]
                if isinstance(want, type):
                    assert got is want
                    continue
                assert type(got) is type(a), name
                assert got.dtype == want.dtype, name
                np.testing.assert_allclose(np.asarray(got), want, 1e-6)
        for args in ((got_scalar, x), (x, got_scalar)):
            pair = [want_scalar if arg is got_scalar else x for arg in args]
            want, got = outcome(function, *pair)[0], outcome(function, *args)[0]
            assert isinstance(want, type) or got.dtype == want.dtype


def test_methods_that_give_arrays(xp):
    s, kind = xp.arange(4.0)[3], type(xp.ones(1))
    for made in (s.reshape(1), s.ravel(), s.flatten(), s.repeat(3), s[None], s[...], s.cumsum()):
        assert type(made) is kind and made.dtype == np.float64
    assert s[()] == 3
    with pytest.raises(TypeError):
        iter(s)
    assert s.to_device("cpu") is s


def test_uses(xp):
    """What programs do with a number that they have read."""
    a = xp.arange(5.0)
    s, k = a[3], xp.arange(5)[2]
    assert a[k] == 2 and list(range(k)) == [0, 1] and [7, 8, 9][k] == 9
    a[1] = s
    a[k:4] = s * 2
    assert a.tolist() == [0, 3, 6, 6, 4]
    assert json.dumps(s) == "3.0" and {3.0: "x"}[s] == "x" and max(s, k) == 3 and sum([s, s]) == 6
    assert f"{s:.2f}" == "3.00" and math.sqrt(s) == math.sqrt(3) and round(s, 1) == 3.0
    assert xp.full(2, s).tolist() == [3, 3] and xp.where(a > s, s, k).tolist() == [2, 2, 3, 3, 3]
    assert xp.array([s, s, 1]).dtype == np.float64 and xp.zeros(k).shape == (2,)
    assert xp.maximum(s, a).tolist() == [3, 3, 6, 6, 4] and xp.linspace(0, s, k).tolist() == [0, 3]
    assert xp.clip(a, k, s).tolist() == [2, 3, 3, 3, 3] and float(xp.sqrt(s)) == math.sqrt(3)
    total = s
    total += a[0]
    for value in a:
        total += value
    assert total == 22 and isinstance(total, np.float64)


@pytest.mark.recorded
def test_what_is_pending_stays_so(xp, core):
    x = xp.arange(1000.0) + 0
    s = (x * 2).sum()
    before = core.stats()
    t = s * 2 + x[:1].sum() - 1
    y = x * t
    assert core.stats()["flushes"] == before["flushes"]
    assert type(s) is core.generic and type(t) is core.generic
    assert isinstance(s, np.float64) and isinstance(s, xp.generic)
    assert float(t) == 2 * 999000 - 1 and float(y[2]) == 2 * float(t)


def test_at_rest(xp, core):
    """Reductions of what is at rest are numbers already, and flush nothing."""
    x, other = xp.arange(10.0), xp.arange(5000.0) + 1
    np.asarray(x)
    core.set_at_once(512)
    pending = other * 2
    before = core.stats()["flushes"]
    results = [x.sum(), x.max(), x.mean(), x[2], x[-1], (x * 2).sum(), x.any()]
    assert core.stats()["flushes"] == before
    assert [float(r) for r in results] == [45, 9, 4.5, 2, 9, 90, 1]
    assert all(type(r) is not core.generic for r in results)
    assert float(pending[0]) == 2


def test_errstate(xp):
    s = xp.array([1e308, 0.0, 1e-300])
    with np.errstate(all="raise"):
        for function in (lambda: s[0] * 10, lambda: s[0] / s[1], lambda: s[2] * s[2]):
            with pytest.raises(FloatingPointError):
                function()


def test_after_cupy(xp):
    """CuPy's arrays have no scalars: what is read of them keeps its methods."""
    program = (
        "import numbus as nb, numbus.compat.cupy as cp; x = cp.arange(3.0); "
        "print(x.sum().get(), (x > 1).any().get(), x[1].device, type(x[1]).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "generic" and done.stdout.startswith("3.0 True")
