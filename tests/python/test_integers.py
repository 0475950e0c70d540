"""What integers must not become: negative powers, rounded comparisons, NaNs."""

import numpy as np
import pytest
from helpers import both, run_both

REFUSED = "negative integer powers are not allowed"


@pytest.mark.parametrize(
    "text",
    [
        "xp.array([2]) ** -1",
        "xp.power(2, -1)",
        "xp.array([1, 2]) ** xp.array([1, -2])",
        "2 ** xp.array([-1])",
        "xp.array(2) ** xp.array(-1)",
        "xp.array([2, 3])[0] ** xp.array([-1])[0]",
        "xp.array([True]) ** xp.array([-1])",
        "xp.array([True]) ** -1",
        "xp.array([2], 'uint8') ** xp.array([-1], 'int8')",
        "xp.array([2]) ** np.int64(-1)",
        "xp.power(xp.array([2, 3]), -1, where=xp.array([True, True]), out=xp.zeros(2, int))",
    ],
)
def test_negative_powers_raise_at_the_call(xp, text):
    for module in (np, xp):
        with pytest.raises(ValueError, match=REFUSED):
            eval(text, {"np": np, "xp": module})
            getattr(module, "synchronize", int)()  # a GPU looks when the kernel runs


@pytest.mark.parametrize(
    "text",
    [
        "xp.array([], int) ** -1",
        "xp.power(xp.array([], bool), -1)",
        "xp.array([], int) ** xp.array([-1])",
        "xp.array([2], 'uint64') ** xp.array([-1])",
        "xp.array([2.0]) ** xp.array([-1])",
        "xp.array([2, 3]) ** xp.array([-1, 3])[xp.array([False, True])]",
        "xp.array([[2, 3]]).T ** xp.arange(3)",
        "xp.power(xp.array([2, 3]), xp.array([-1, 1]), where=xp.array([False, True]),"
        " out=xp.zeros(2, int))",
    ],
)
def test_powers_that_are_allowed(xp, text):
    both(xp, text)


@pytest.mark.numbus
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_negative_powers_that_are_pending_name_their_line(xp, core, mode, dtype):
    a, e = xp.array(np.arange(9, dtype=dtype)), xp.array(np.arange(9, dtype=dtype))
    core.synchronize()
    y = a ** (e - 3)
    z = a + e
    with pytest.raises(ValueError, match=r"test_integers\.py, line \d+\); got exponent -[123];"):
        np.asarray(y)
    with pytest.raises(ValueError, match=REFUSED):
        y + 1
    np.testing.assert_array_equal(np.asarray(z), 2 * np.arange(9))


def test_masked_powers_are_looked_at_under_the_mask_only(xp, mode):
    run_both(
        xp,
        "m = e > 0\na[m] = a[m] ** e[m]\nb = a[m] ** 2",
        a=np.array([5, 6, 7]),
        e=np.array([2, -1, 0]),
    )


BIG = 2**53
SIGNED = [-(2**63), -1, 0, 1, BIG, BIG + 1, 2**63 - 2, 2**63 - 1]
UNSIGNED = [0, 1, BIG, BIG + 1, BIG + 2, 2**63 - 1, 2**63, 2**64 - 1]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]


@pytest.mark.parametrize("op", COMPARISONS)
def test_signed_and_unsigned_compare_as_integers(xp, op):
    i, u = np.array(SIGNED, "int64"), np.array(UNSIGNED, "uint64")
    both(xp, f"i[:, None] {op} u", i=i, u=u)
    both(xp, f"u[:, None] {op} i", i=i, u=u)
    both(xp, f"i[:, None] {op} u[::2]", i=i[::-2], u=u)
    for k in (-1, 0, BIG + 1, 2**63 - 1, 2**63, 2**64 - 1):
        both(xp, f"u {op} {k}", u=u)
        both(xp, f"i {op} {k}", i=i)
        both(xp, f"{k} {op} i", i=i)
        if k < 2**63:
            both(xp, f"u {op} xp.int64({k})", u=u)
        if k >= 0:
            both(xp, f"i {op} xp.uint64({k})", i=i)
    both(xp, f"i[3] {op} u[4], u[5] {op} i[7], i.max() {op} u.min()", i=i, u=u)


def test_signed_and_unsigned_compare_with_where_out_and_masks(xp):
    run_both(
        xp,
        "a = xp.less(i, u, where=u > 5, out=xp.zeros(8, bool))\n"
        "m = i != 0\nb = i[m] < u[m]\nc = xp.greater(u, i, out=xp.zeros(8, 'int8'))",
        i=np.array(SIGNED, "int64"),
        u=np.array(UNSIGNED, "uint64"),
    )


def error_of(xp, text):
    ns = {"np": np, "xp": xp, "a": xp.zeros(3, int), "b": xp.zeros(3, "int8")}
    try:
        exec(text, ns)
    except Exception as e:
        return type(e)
    return np.asarray(ns["a"]).tolist(), np.asarray(ns["b"]).tolist()


VALUES = [
    "{m}.float64('nan')",
    "{m}.float32('nan')",
    "{m}.float64('inf')",
    "{m}.float32(1e30)",
    "{m}.float64(2.7)",
    "{m}.float64(-1)",
    "{m}.int64(300)",
    "{m}.int64(100)",
    "{m}.array([np.nan, 1.0])[0]",
    "({m}.array([np.nan, 1.0]) + 1)[0]",
    "({m}.array([np.nan, 1.0]) + 1).sum()",
    "{m}.array([100, 200]).sum()",
    "float('nan')",
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("target", ["a[0] = {}", "a[:] = {}", "b[1:2] = {}", "a.fill({})"])
def test_numbers_must_fit_into_integers(xp, target, value):
    want = error_of(np, target.format(value.format(m="np")))
    for scalar in {"np", "xp"} if "array" not in value else {"xp"}:
        assert error_of(xp, target.format(value.format(m=scalar))) == want


COPIES = [
    "xp.copyto(a, float('nan'), casting='unsafe')",
    "xp.copyto(a, 1.5)",
    "xp.copyto(b, 300, casting='unsafe')",
    "xp.copyto(b, -1.5, casting='unsafe')",
    "a = xp.full(3, float('nan'), int)",
    "a = xp.full(3, -1.79, 'int8')",
    "b = xp.full(3, 300, 'int8')",
    "b = xp.full(3, 300.5, 'int16')",
    "b = xp.full(3, float('inf'), 'int32')",
    "a[a == 0] = float('nan')",
    "b[[0]] = 300.7",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", COPIES)
def test_floats_in_copies_are_cast(xp, text):
    assert error_of(xp, text) == error_of(np, text)


def test_arrays_of_no_dimension_are_cast(xp):
    with np.errstate(all="ignore"):
        want = error_of(np, "a[0] = np.array(np.nan)\nb[0] = np.array(300)")
    assert error_of(xp, "a[0] = xp.array(np.nan)\nb[0] = xp.array(300)") == want
    assert error_of(xp, "a[0] = np.array(np.nan)\nb[0] = np.array(300)") == want


@pytest.mark.parametrize(
    "name", "logical_xor logical_and heaviside copysign divide fmod add".split()
)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64"])
@pytest.mark.parametrize("value", [-1, 300, 7, 2**63])
def test_python_integers_beyond_the_type(xp, name, dtype, value):
    """Where the loop is one of integers they must fit; floats and truth values take any."""
    if value == 2**63 and name.startswith("logical"):
        pytest.skip("NumPy converts it to a C long on the way")
    x, error, want = np.ones(3, dtype), None, None
    try:
        want = getattr(np, name)(x, value)
    except OverflowError as e:
        error = type(e)
    if error:
        with pytest.raises(error):
            getattr(xp, name)(xp.array(x), value)
    else:
        got = getattr(xp, name)(xp.array(x), value)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)
