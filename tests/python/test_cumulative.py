"""Cumulative operations against NumPy: op × dtype × layout × axis, out=, errors, plans."""

import os

import numpy as np
import pytest
from helpers import LAYOUTS, both, draw, operand, run_both, supported_dtypes

ON_CPU = os.environ.get("NUMBUS_DEVICE", "cpu") == "cpu"
ORDER_FREE = """maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or
    bitwise_xor""".split()
IN_ORDER = "subtract divide floor_divide remainder copysign left_shift".split()
ASSOCIATIVE = ["add", "multiply", *ORDER_FREE]
TOLERANCE = {2: 4e-2, 4: 1e-5, 8: 1e-12}


def assert_close(got, want, exact, what):
    assert tuple(got.shape) == want.shape, f"{what}: {got.shape} != {want.shape}"
    assert got.dtype == want.dtype, f"{what}: {got.dtype} != {want.dtype}"
    x = np.asarray(got)
    if exact or want.dtype.kind not in "fc":
        assert np.array_equal(x, want, equal_nan=want.dtype.kind in "fc"), f"{what}:\n{x}\n{want}"
        return
    size = want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)
    scale = np.nanmax(np.abs(want[np.isfinite(want)]), initial=1)
    np.testing.assert_allclose(x, want, TOLERANCE[size], TOLERANCE[size] * scale, err_msg=what)


def is_exact(op, dtype):
    """Whether the result has NumPy's bits: always, but for what rounds and has its own order."""
    kind = np.dtype(dtype).kind
    if op in ORDER_FREE or kind not in "fc":
        return True
    return ON_CPU and (kind == "f" or op in ("add", "subtract"))


def compare(xp, op, x, mine, axis, **kwargs):
    with np.errstate(all="ignore"):
        try:
            want = getattr(np, op).accumulate(x, axis=axis, **kwargs)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(xp, op).accumulate(mine, axis=axis, **kwargs)
            return
        got = getattr(xp, op).accumulate(mine, axis=axis, **kwargs)
        assert_close(got, want, is_exact(op, x.dtype), f"{op} {x.dtype} {x.shape} axis {axis}")


@pytest.mark.parametrize("layout", [n for n in LAYOUTS if n != "0-d"])
@pytest.mark.parametrize("op", ASSOCIATIVE + IN_ORDER)
def test_layouts(xp, mode, op, layout):
    for dtype in ("float64", "int32", "bool"):
        x, mine = operand(xp, layout, dtype, 0.5, 1.5, 3)
        for axis in range(x.ndim):
            compare(xp, op, x, mine, axis)


@pytest.mark.parametrize("dtype", supported_dtypes())
@pytest.mark.parametrize("op", ASSOCIATIVE + IN_ORDER)
def test_dtypes(xp, mode, op, dtype):
    low = -1.2 if op in ("add", "multiply", "subtract") else 0
    for shape in ((5, 40), (3000,)):
        x = draw(shape, dtype, low, 1.3, 5)
        for axis in range(x.ndim):
            compare(xp, op, x, xp.array(x), axis)


# Every way a line is cut, on either device: single elements, warps, tiles, segments; lines along
# and across memory, few and many.
SHAPES = [
    ((1,), 0), ((33,), 0), ((513,), 0), ((2049,), 0), ((5000,), 0), ((200_003,), 0),
    ((40, 33), 1), ((40, 33), 0), ((3, 700), 1), ((2000, 3), 0), ((700, 300), 1), ((300, 700), 0),
    ((2, 30_000), 1), ((30_000, 2), 0), ((1500, 40), 1), ((6, 50, 7), 1), ((3, 4, 5, 6), 2),
    ((1, 1, 9), 0), ((2, 1, 9), 1),
]  # fmt: skip


@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool"])
@pytest.mark.parametrize("op", ["add", "maximum", "subtract"])
def test_shapes(xp, op, dtype, shape, axis):
    if op == "subtract" and dtype == "bool":
        pytest.skip("NumPy has no such loop")
    x = draw(shape, dtype, -2, 2, 7)
    compare(xp, op, x, xp.array(x), axis)
    y = np.concatenate([x, x], axis=-1)
    compare(xp, op, y[..., 1::2], xp.array(y)[..., 1::2], axis)
    compare(xp, op, x.T, xp.array(x).T, x.ndim - 1 - axis)
    compare(xp, op, x[::-1], xp.array(x)[::-1], axis)


@pytest.mark.parametrize("op", ["add", "maximum", "fmin", "logical_xor"])
def test_long_lines(xp, op):
    """Long enough for the CPU to cut lines where order cannot matter."""
    for dtype in ("int64", "uint8", "float64", "bool"):
        x = draw((400_001,), dtype, -2, 100, 9)
        if dtype == "float64":
            x[[1000, 300_000]] = np.nan
        compare(xp, op, x, xp.array(x), 0)
        compare(xp, op, x[3::3], xp.array(x)[3::3], 0)


def test_infinities_and_nans(xp, mode):
    x = np.array([1, np.inf, 2, -np.inf, 3, np.nan, -0.0, 0.0])
    for op in ("add", "multiply", "maximum", "minimum", "fmax", "fmin"):
        compare(xp, op, x, xp.array(x), 0)
        compare(xp, op, x[::-1].copy(), xp.array(x)[::-1], 0)


@pytest.mark.parametrize("text", [
    "xp.cumsum(x)", "xp.cumsum(x, 0)", "xp.cumsum(x, -1)", "x.cumsum()", "x.cumsum(1)",
    "x.T.cumsum(1)", "xp.cumprod(i, 1)", "i.cumprod()", "xp.cumsum(i, dtype='float32')",
    "xp.cumsum(x, 0, 'int64')", "xp.cumsum(b)", "xp.cumsum(b, 1, bool)", "xp.cumsum(s)",
    "xp.cumprod(s, 0)", "xp.cumsum(u, 0)", "xp.cumsum([1, 2, 3])", "xp.cumsum(2.5)",
    "xp.cumsum(xp.array(2.5), axis=0)", "xp.cumsum(x[0:0], 0)", "xp.add.accumulate(x[:, 0:0], 1)",
    "xp.nancumsum(n, 0)", "xp.nancumsum(n)", "xp.nancumsum(i, 1)", "xp.nancumprod(n, 1)",
    "xp.nancumsum(b)", "xp.cumulative_sum(i, axis=1)", "xp.cumulative_sum(x[0])",
    "xp.cumulative_sum(i, axis=0, include_initial=True)", "xp.cumulative_sum(xp.array(3.0))",
    "xp.cumulative_prod(i, axis=-1, include_initial=True)",
    "xp.cumulative_prod(x[1], dtype='float32')",
    "xp.cumulative_sum(i[0], include_initial=True, out=xp.zeros(6, 'int64'))",
    "xp.add.accumulate(x)", "xp.add.accumulate(i, -1)", "xp.add.accumulate(x[0], None)",
    "xp.add.accumulate(x, (1,))", "xp.divide.accumulate(i + 1, 1)",
    "xp.logical_and.accumulate(x, 1)", "xp.hypot.accumulate(x[:1], 0)", "xp.less.accumulate(b, 1)",
    "xp.add.accumulate(x, dtype='int32')", "xp.add.accumulate(i, out=xp.zeros((4, 5)))",
    "xp.cumsum(i, 0, out=xp.zeros((4, 5), 'int8'))",
    "xp.cumsum(x, 0, out=xp.zeros((4, 5), 'float32'))",
    "xp.cumsum(x, 1, out=xp.zeros((4, 5), 'int64'))",
    "xp.divide.accumulate(i + 1, out=xp.zeros((4, 5), 'int32'))",
    "xp.logical_and.accumulate(x, out=x.copy())",
    "xp.cumsum(i, 0, out=xp.zeros((4, 5), 'uint64'))",
    "xp.cumsum(x, 0, 'float64', xp.zeros((4, 5), 'int32'))",
    "xp.cumsum(i, out=xp.zeros(20, 'f4'))", "xp.diff(x)", "xp.diff(i, 2, axis=0)",
    "xp.diff(x, prepend=0)", "xp.ediff1d(x)", "xp.ediff1d(i, to_begin=0, to_end=[7, 8])",
    "xp.trapezoid(x, axis=0)", "xp.trapezoid(x, dx=0.5)",
])  # fmt: skip
def test_like_numpy(xp, core, text):
    types = {"x": "float64", "i": "int16", "b": "bool", "s": "uint8", "u": "uint32", "n": "float64"}
    names = {name: draw((4, 5), dtype) for name, dtype in types.items()}
    names["n"][1:3, ::2] = np.nan
    before = core.stats()["fallbacks"]
    both(xp, text, 1e-12 if "trapezoid" in text or not ON_CPU else 0.0, **names)
    assert core.stats()["fallbacks"] == before


@pytest.mark.parametrize("text", [
    "xp.cumsum(x, 0, out=x)", "xp.add.accumulate(x[:, :-1], 1, out=x[:, 1:])",
    "xp.cumsum(x, 1, out=x[::-1])", "xp.cumsum(x.T[:4], 0, out=x[:, :4])",
    "y = x.copy(); xp.cumsum(x, 0, out=y[::-1, ::-1])",
    "y = xp.zeros((4, 5), order='F'); xp.cumsum(x, 1, out=y)", "xp.cumsum(x[:, 0], out=x[:, 3])",
    "y = x * 2; z = y.cumsum(0) - y; del y", "y = x.cumsum(1); y[1] = 0; z = y.cumsum(0)",
    "m = x > 0; y = x[m].cumsum(); x[m] = y", "y = xp.broadcast_to(x[0], (3, 5)).cumsum(0)",
    "y = x.cumsum(0); y += 1; y = y.cumsum(1); z = y.sum()",
    "for _ in range(30): x = x.cumsum(1) * 0.125",
    "y = x.reshape(2, 2, 5)[:, ::-1, ::2].cumsum(0)", "y = xp.cumsum(x, 0, out=xp.ones((4, 5)))",
])  # fmt: skip
def test_statements(xp, mode, text):
    run_both(xp, text, 0.0 if ON_CPU else 1e-13, x=draw((4, 5), "float64"))


def test_four_axes_that_do_not_merge(xp):
    x = draw((6, 8, 10, 6), "float64")
    cut = (slice(None, None, 2), slice(1, None, 3), slice(None, None, -2), slice(0, 5, 2))
    for axis in range(4):
        compare(xp, "add", x[cut], xp.array(x)[cut], axis)
        a, b = x.copy(), xp.array(x)
        np.cumsum(x[cut], axis, out=a[cut])
        xp.cumsum(xp.array(x)[cut], axis, out=b[cut])
        assert_close(b, a, ON_CPU, f"out= axis {axis}")


@pytest.mark.numbus
def test_numpy_out(xp):
    out = np.zeros(5, "f4")
    assert xp.cumsum(xp.array(np.full(5, 100, "int8")), out=out) is out
    np.testing.assert_array_equal(out, [100, 200, 300, 400, 500])


@pytest.mark.numbus
def test_what_only_numpy_does(xp, core):
    before = core.stats()["fallbacks"]
    assert xp.cumsum(np.array([1, 2], object)).tolist() == [1, 3]
    assert xp.add.accumulate(np.array([1, 2], object)).tolist() == [1, 3]
    assert xp.array([1, 2]).cumsum(dtype=object).tolist() == [1, 3]
    assert core.stats()["fallbacks"] > before


@pytest.mark.numbus
def test_one_node_and_no_flush(xp, core):
    """A scan joins the plan: one launch between the kernels around it, nothing flushed for it."""
    a = xp.array(draw((30, 40), "float64"))
    xp.synchronize()
    core.reset_stats()
    b = (a * 2 + 1).cumsum(0) - 1
    assert core.stats()["flushes"] == 0
    xp.synchronize()
    s = core.stats()
    assert (s["flushes"], s["launches"], s["fallbacks"]) == (1, 3, 0)
    assert "add.accumulate\n" in str(xp.explain(lambda: (a * 2 + 1).cumsum(0) - 1))
    del b


@pytest.mark.numbus
@pytest.mark.parametrize("other", ["multiply", "maximum"])
def test_the_operation_is_part_of_the_plan(xp, other):
    x = draw((6, 7), "float64")
    a = xp.array(x)
    xp.synchronize()
    for op in ("add", other, "add"):
        for axis in (0, 1):
            got = getattr(xp, op).accumulate(a, axis)
            assert_close(got, getattr(np, op).accumulate(x, axis), ON_CPU, op)


@pytest.mark.numbus
def test_repeated_runs_agree_bit_for_bit(xp):
    a = xp.array(draw((3_000_000,), "float64"))
    first = np.array(a.cumsum())
    for _ in range(3):
        assert np.array(a.cumsum()).tobytes() == first.tobytes()


@pytest.mark.parametrize("text,error", [
    ("xp.cumsum(x, 2)", ValueError), ("xp.cumsum(x, 2)", IndexError),
    ("xp.cumsum(x, (0,))", TypeError), ("xp.cumsum(x, 1.0)", TypeError),
    ("xp.add.accumulate(x, -3)", ValueError), ("xp.add.accumulate(x, None)", ValueError),
    ("xp.add.accumulate(x, (0, 1))", ValueError), ("xp.add.accumulate(1.5)", TypeError),
    ("xp.negative.accumulate(x)", ValueError), ("xp.less.accumulate(x)", TypeError),
    ("xp.bitwise_and.accumulate(x)", TypeError),
    ("xp.cumsum(x, 0, out=xp.zeros((5, 4)))", ValueError),
    ("xp.cumsum(x, out=xp.zeros(3))", ValueError), ("xp.cumsum(x, 0, out=[1])", TypeError),
    ("xp.cumulative_sum(x)", ValueError), ("xp.divide.accumulate(x, dtype='int64')", TypeError),
    ("xp.cumsum(x, 0, out=xp.broadcast_to(x, (4, 5)))", ValueError),
])  # fmt: skip
def test_errors(xp, text, error):
    names = {"xp": xp, "x": xp.array(draw((4, 5), "float64"))}
    with pytest.raises(error) as caught:
        eval(text, names)
    if xp is not np:
        message = str(caught.value)
        assert message.startswith("[") and "; got " in message and "; expected " in message, message
