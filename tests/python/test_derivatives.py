"""The derivatives of the table of operations, against central differences in longer numbers."""

import numpy as np
import pytest
from helpers import MODULE

_core = pytest.importorskip("numbus._core")
pytestmark = pytest.mark.skipif(MODULE != "numbus", reason="a function of Numbus")

ROWS = {row["name"]: row for row in _core.table()}
CASES = [(n, k) for n, row in ROWS.items() for k in range(row["nin"]) if row["differentiable"][k]]

# Rows without a derivative: of integers or truth values, or constant but for jumps.
NONE = set(
    """equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
    logical_not bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bitwise_count gcd
    lcm isnan isfinite isinf signbit floor ceil trunc rint sign heaviside floor_divide
    nextafter""".split()
)
# Where the operation jumps or has a kink: distances to it are measured by these functions.
KINKS = {
    "absolute": lambda x: x,
    "fabs": lambda x: x,
    "copysign": lambda x, y: np.minimum(np.abs(x), np.abs(y)),
    "maximum": lambda x, y: x - y,
    "minimum": lambda x, y: x - y,
    "fmax": lambda x, y: x - y,
    "fmin": lambda x, y: x - y,
    "fmod": lambda x, y: x / y - np.rint(x / y),
    "remainder": lambda x, y: x / y - np.rint(x / y),
    "sqrt": lambda x: x,
    "cbrt": lambda x: x,
    "arccosh": lambda x: x - 1,
    "arcsin": lambda x: (1 - np.abs(x)) / 50,
    "arccos": lambda x: (1 - np.abs(x)) / 50,
    "arctan2": np.hypot,
    "hypot": np.hypot,
}


def points(name, count=200):
    """Arguments of the row's domain, in float64, a thousandth and more away from its kinks."""
    low, high = ROWS[name]["domain"]
    rng = np.random.default_rng(20261123)
    x = [rng.uniform(low, high, count) for _ in range(ROWS[name]["nin"])]
    if name in KINKS:
        far = np.abs(KINKS[name](*x)) > 1e-3
        x = [v[far] for v in x]
    assert len(x[0]) > count // 2
    return x


def difference(ufunc, x, k):
    """The central difference of fourth order in long double by argument k."""
    x = [v.astype(np.longdouble) for v in x]
    h = np.longdouble(2.0**-14)

    def at(shift):
        return ufunc(*[v + shift * h if n == k else v for n, v in enumerate(x)])

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def test_which_rows_have_derivatives():
    assert {n for n, row in ROWS.items() if not row["differentiable"][0]} == NONE
    second = {n for n, row in ROWS.items() if row["nin"] == 2 and not row["differentiable"][1]}
    assert second <= NONE


@pytest.mark.parametrize("name, k", CASES, ids=[f"{n}-{k}" for n, k in CASES])
@pytest.mark.parametrize("dtype, rtol", [("float64", 1e-11), ("float32", 2e-5)])
def test_real_derivative(xp, mode, name, k, dtype, rtol):
    x = [v.astype(dtype) for v in points(name)]
    if name in KINKS and dtype == "float32":
        far = np.abs(KINKS[name](*x)) > 1e-3
        x = [v[far] for v in x]
    got = _core.partial(getattr(_core, name), k, *[xp.array(v) for v in x])
    assert got.dtype == getattr(np, name)(*x).dtype
    want = difference(getattr(np, name), x, k)
    scale = np.maximum(np.abs(want), 1e-3)
    # Where a difference of large numbers is small, the longer numbers' rounding is seen.
    noise = np.abs(getattr(np, name)(*[v.astype(np.longdouble) for v in x])) * 1e-14
    if name == "tanh":  # 1 - r ** 2 is as exact as r
        noise += 2 * np.finfo(dtype).eps
    error = np.abs(np.asarray(got).astype(np.longdouble) - want)
    worst = np.argmax(error / (rtol * scale + noise))
    assert (error <= rtol * scale + noise).all(), (
        [v[worst] for v in x], np.asarray(got)[worst], want[worst]
    )  # fmt: skip


HOLOMORPHIC = [
    (n, k)
    for n, k in CASES
    if ROWS[n]["rule"] in ("Arith", "ArithNoBool", "Divide", "Power", "FloatPower", "FloatComplex")
    and n not in ("conjugate", "sign", "rint")
]


@pytest.mark.parametrize("name, k", HOLOMORPHIC, ids=[f"{n}-{k}" for n, k in HOLOMORPHIC])
def test_complex_derivative(xp, mode, name, k):
    rng = np.random.default_rng(7)
    x = [rng.uniform(0.2, 2, 100) + 1j * rng.uniform(0.2, 2, 100) for _ in range(ROWS[name]["nin"])]
    got = np.asarray(_core.partial(getattr(_core, name), k, *[xp.array(v) for v in x]))
    h = 2.0**-10

    def at(shift):
        moved = [v + shift * h if n == k else v for n, v in enumerate(x)]
        return getattr(np, name)(*moved)

    want = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
    np.testing.assert_allclose(got, want, rtol=1e-8)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_ties_share(xp, mode, name):
    x, y = xp.array([1.0, 2.0, np.nan, 3.0]), xp.array([1.0, 5.0, 1.0, np.nan])
    shares = [np.asarray(_core.partial(getattr(_core, name), k, x, y)) for k in (0, 1)]
    assert shares[0][0] == shares[1][0] == 0.5
    assert shares[0][1] + shares[1][1] == 1
    if name[0] == "f":  # NaN is ignored, the number is the result
        assert shares[0][2:].tolist() == [0, 1] and shares[1][2:].tolist() == [1, 0]


def test_power_at_zero(xp, mode):
    x, y = xp.array([0.0, 0.0, 2.0, -2.0]), xp.array([0.0, 2.0, 0.0, 2.0])
    assert np.asarray(_core.partial(_core.power, 0, x, y)).tolist() == [0, 0, 0, -4]
    by_exponent = np.asarray(_core.partial(_core.power, 1, x, y))
    assert by_exponent[:2].tolist() == [0, 0] and np.isnan(by_exponent[3])


def test_none_and_wrong_arguments(xp, mode):
    x = xp.array([1.0, 2.0])
    assert _core.partial(_core.floor, 0, x) is None
    for operands, k in (((x,), 1), ((x, x), 0), ((), 0)):
        with pytest.raises(ValueError, match=r"\[partial\] wrong number of operands"):
            _core.partial(_core.sin, k, *operands)
