"""Keywords of ufuncs, and orders, casts and lists of elements of arrays, in compiled functions
against NumPy.
"""

import itertools
import math

import numpy as np
import pytest
from jit_check import check, function_of
from numbus import njit
from numbus.kernels import UnsupportedError

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

A = np.array([[1, -2, 3], [4, 0, -6]])
B = np.array([3, 2, -5])
M = np.array([[True, False, True], [False, True, True]])
DTYPES = "int8 uint64 float32 complex128".split()
PAIRS = "int8 int8,int64 float32,uint16 int8,float32 complex64,complex128 float64,float32 float64"
PAIRS = [pair.split() for pair in PAIRS.split(",")]


def operands(dtype, other):
    with np.errstate(all="ignore"):
        return A.astype(dtype), B.astype(other)


@pytest.mark.parametrize("dtype, other", PAIRS)
def test_where_and_out(dtype, other):
    a, b = operands(dtype, other)
    for name in ("multiply", "maximum"):
        made = np.zeros((2, 3), np.result_type(a, b))
        for out in (made, made.astype("F" if made.dtype.kind == "c" else "f4")):
            if not np.can_cast(made.dtype, out.dtype, "same_kind"):
                continue
            for mask in ("m", "m[0]", "True" if name == "maximum" else "False", "a > 1"):
                text = f"np.{name}(a, b, out=o.copy(), where={mask})"
                check(function_of(text, "a, b, o, m"), np.abs(a), b, out + 7, M, rtol=1e-6)
        check(function_of(f"np.{name}(a, b, where=m)[m]", "a, b, m"), np.abs(a), b, M, rtol=1e-6)
    check(function_of("np.negative(a, where=m, out=np.ones_like(a))", "a, m"), a, M)
    check(function_of("np.isfinite(a, where=m, out=np.ones_like(m))", "a, m"), a, M)


@pytest.mark.parametrize("dtype, to", [*PAIRS, *[pair[::-1] for pair in PAIRS]])
def test_dtype_and_casting(dtype, to):
    a, b = operands(dtype, dtype)
    for casting in ("safe", "same_kind", "unsafe"):
        text = f"np.add(a, b, dtype=np.{to}, casting={casting!r}, order='K', subok=True)"
        if not np.can_cast(a.dtype, to, casting):
            with pytest.raises(TypeError, match="cannot cast"):
                njit(function_of(text, "a, b"))(a, b)
            continue
        exact = a.dtype.kind in "iu" or np.dtype(to).kind == "c" or a.dtype.kind == to[0]
        if casting != "unsafe" or exact:
            check(function_of(text, "a, b"), a, b)
        text = f"np.multiply(a, 3, np.empty((2, 3), np.{to}), casting={casting!r})"
        if exact:
            check(function_of(text), a)


def test_keywords_are_read_or_refused():
    for text in (
        "np.less(a, 2, dtype=np.int64)",
        "np.add(a, 2, order='F')",
        "np.add(a, 2, casting='no')",
        "np.add(a, 2, signature='ll->l')",
        "np.add(3, 300, dtype=np.int8)",
    ):
        with pytest.raises(UnsupportedError, match="not yet"):
            njit(function_of(text))(A)
    for text, message in (
        ("np.add(a, 2, casting='any')", "casting has to be one of"),
        ("np.add(a, 2, where=1)", "expected bool"),
        ("np.add(a, 2, subok=3)", "expected True or False"),
        ("np.multiply(a, 1.5, out=np.ones((2, 3), np.int64))", "does not take"),
    ):
        with pytest.raises(TypeError, match=message):
            njit(function_of(text))(A)
    with pytest.raises(OverflowError):
        njit(function_of("np.add(a, 300, dtype=np.int8)"))(A.astype("i1"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_divmod(dtype):
    a, b = operands(dtype, dtype)
    if np.dtype(dtype).kind == "c":
        with pytest.raises(TypeError):
            njit(function_of("np.divmod(a, b)", "a, b"))(a, b)
        return
    check(function_of("np.divmod(a, b)", "a, b"), a, b)
    check(function_of("np.divmod(a, 3, where=m, out=(o.copy(), o.copy()))", "a, m, o"), a, M, a)
    check(function_of("np.divmod(a, b, out=(a, b + a))", "a, b"), a.copy(), b)
    check(function_of("np.divmod(a, b, dtype=np.float64)", "a, b"), a, b)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("shape", [(4,), (2, 3, 4), ()])
def test_orders(order, shape):
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for x in (a, np.asfortranarray(a)):
        for text in (f"np.ravel(a, {order!r})", f"a.ravel({order!r})", f"a.flatten({order!r})"):
            check(function_of(text), x)
        for text in (
            f"a.astype(np.float32, {order!r})",
            f"a.astype(np.int64, order={order!r}, copy=False)",
            f"a.copy({order!r})",
        ):
            check(function_of(text), x)
            got, want = njit(function_of(text))(x), function_of(text)(x)
            for flag in ("C", "F"):
                assert got.flags[flag] == want.flags[flag], (text, shape, x.flags)
        if order != "K":
            for to in ((-1,), (2, -1)):
                if shape or to == (-1,):
                    check(function_of(f"a.reshape({to}, order={order!r})"), x)
                    check(function_of(f"np.reshape(a, {to}, {order!r})"), x)
    with pytest.raises((TypeError, UnsupportedError)):
        njit(function_of("a.reshape((-1,), order='K')"))(a)


def test_casting_of_astype():
    for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
        text = f"a.astype(np.float32, casting={casting!r})"
        for a in (A, A.astype("f4"), A.astype("f8")):
            if np.can_cast(a.dtype, "f4", casting):
                check(function_of(text), a)
            else:
                with pytest.raises(TypeError, match="cannot cast"):
                    njit(function_of(text))(a)


def test_lexsort():
    """Keys are sorted one after the other, each of a type of its own."""
    rng = np.random.default_rng(1)
    a, b, c = rng.integers(0, 3, (3, 4)), rng.random((3, 4)).round(1), rng.random((3, 4)) > 0.5
    check(function_of("np.lexsort((a, b, c), axis=0)", "a, b, c"), a, b, c)
    check(function_of("np.lexsort([a[0], b[0]])", "a, b"), a, b)
    check(function_of("np.lexsort(a)"), b)
    check(function_of("np.lexsort(a[0])"), b)


def test_lexsort_of_other_shapes():
    """Keys of several shapes are refused, the shorter one first or last."""
    shapes = (), (1,), (2,), (3,), (0,), (1, 2), (2, 2)
    for text in ("np.lexsort((a, b))", "np.lexsort([a, b], 1)", "np.lexsort((a, a, b), 0)"):
        f = function_of(text, "a, b")
        compiled = njit(f)
        for x, y in itertools.product(shapes, repeat=2):
            a, b = np.arange(math.prod(x)).reshape(x), np.ones(y)
            try:
                want = f(a, b)
            except ValueError:
                with pytest.raises(ValueError):
                    compiled(a, b)
            else:
                assert np.array_equal(compiled(a, b), want), (text, x, y)


@pytest.mark.parametrize("value", [True, False])
def test_subok_of_run_time(value):
    """There are no subclasses."""
    for text in ("np.exp(a, subok=b)", "np.add(a, 1, subok=b)", "np.isnan(a, subok=b, order='K')"):
        check(function_of(text, "a, b"), A * 1.0, value)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), 2, True, np.int8(1)])
def test_special_functions_of_numbers(value):
    special = pytest.importorskip("scipy.special")
    for name in "erf erfc gamma gammaln expit logit ndtr entr".split():
        f = function_of(f"special.{name}(a)", special=special)
        got, want = njit(f)(value), getattr(special, name)(value)
        np.testing.assert_allclose(got, want, rtol=1e-6)
