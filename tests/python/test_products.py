"""Matrix products: one library call in the plan, in any layout, that flushes nothing around it."""

import numpy as np
import pytest
from helpers import draw

pytestmark = pytest.mark.numbus
DTYPES = "float64 float32 complex128 complex64 int64 int8 uint8 bool float16".split()
TOLERANCE = {"float32": 1e-4, "complex64": 1e-4, "float16": 2e-2}
SHAPES = [
    ((3, 4), (4, 5)),
    ((1, 4), (4, 1)),
    ((20, 30), (30, 40)),
    ((9, 3), (3, 80)),  # few terms: a chain of outer products
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 6)),
    ((3, 0), (0, 4)),
    ((0, 3), (3, 4)),
    ((4,), (4, 7)),
    ((5, 4), (4,)),
]
FORMS = {
    "c": lambda xp, x: xp.array(x),
    "transposed": lambda xp, x: xp.array(np.ascontiguousarray(x.T)).T,
    "reversed": lambda xp, x: xp.array(x)[..., ::-1],
    "padded": lambda xp, x: xp.array(np.repeat(x, 2, -1))[..., ::2],
}


def close(a, b, dtype):
    a = np.asarray(a)
    assert a.shape == b.shape and a.dtype == b.dtype
    if a.dtype.kind in "iub":
        np.testing.assert_array_equal(a, b)
    else:
        t = TOLERANCE.get(dtype, 1e-12)
        np.testing.assert_allclose(a, b, rtol=t, atol=t * 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left", FORMS)
@pytest.mark.parametrize("right", FORMS)
def test_matmul(xp, dtype, left, right):
    for n, (sa, sb) in enumerate(SHAPES):
        a, b = draw(sa, dtype, seed=n), draw(sb, dtype, seed=n + 50)
        close(
            FORMS[left](xp, a) @ FORMS[right](xp, b),
            FORMS[left](np, a) @ FORMS[right](np, b),
            dtype,
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_own_transpose(xp, dtype):
    """Half of it is computed, in any layout; elements that mirror each other have the same bits."""
    for shape in ((3, 50), (50, 3), (1, 9), (9, 1), (4, 7, 5), (6, 6)):
        a = draw(shape, dtype, seed=len(shape))
        for form in FORMS.values():
            x, y = form(xp, a), form(np, a)
            for got, want in (
                (x @ xp.swapaxes(x, -1, -2), y @ np.swapaxes(y, -1, -2)),
                (xp.swapaxes(x, -1, -2) @ x, np.swapaxes(y, -1, -2) @ y),
            ):
                close(got, want, dtype)
                if dtype != "complex128":
                    np.testing.assert_array_equal(got, xp.swapaxes(got, -1, -2))


def test_mixed_types(xp):
    a, b = draw((5, 6), "int64"), draw((6, 70), "float32")
    close(xp.array(a) @ xp.array(b), a @ b, "float64")


def test_out(xp):
    a = draw((8, 8), "float64")
    x = xp.array(a)
    y = xp.zeros((16, 16))
    assert xp.matmul(x, x, out=y[::2, ::2]) is not None
    close(y[::2, ::2], a @ a, "float64")
    assert float(abs(y[1::2]).sum()) == 0
    t = xp.zeros((8, 8))
    xp.matmul(x, x, out=t.T)
    close(t.T, a @ a, "float64")
    xp.matmul(x, x, out=x)
    close(x, a @ a, "float64")
    with pytest.raises(ValueError):
        xp.matmul(x, x, out=xp.zeros((3, 8)))


def test_what_follows_in_place(xp):
    a, b = draw((40, 50), "float64"), draw((50, 30), "float64")
    x, y = xp.array(a), xp.array(b)
    p = x @ y
    x *= 0
    y[:] = 1
    q = p.T @ xp.array(a)
    p += 1
    close(p, a @ b + 1, "float64")
    close(q, (a @ b).T @ a, "float64")


@pytest.mark.recorded
def test_a_node_of_the_plan(xp, core):
    a, b = xp.array(draw((64, 64), "float64")), xp.array(draw((64, 64), "float64"))
    a @ b
    xp.synchronize()
    core.reset_stats()
    r = xp.exp((a + 1) @ b * 2 - 1)
    assert core.stats()["flushes"] == 0
    xp.synchronize()
    stats = core.stats()
    assert (stats["flushes"], stats["launches"], stats["fallbacks"]) == (1, 3, 0)
    del r


def test_integers_and_bool_need_no_library(xp, core):
    core.reset_stats()
    for dtype in ("int32", "uint64", "bool"):
        a, b = draw((33, 65), dtype), draw((65, 20), dtype, seed=1)
        close(xp.array(a) @ xp.array(b), a @ b, dtype)
    assert core.stats()["fallbacks"] == 0


def test_errors(xp):
    with pytest.raises(ValueError, match=r"\[matmul\] inner extents differ; got .*; expected"):
        xp.zeros((2, 3)) @ xp.zeros((2, 3))
    with pytest.raises(ValueError, match=r"broadcast"):
        xp.zeros((2, 4, 3)) @ xp.zeros((3, 3, 4))
