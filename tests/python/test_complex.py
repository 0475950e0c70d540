"""Complex functions: error against long double, special values and branch cuts against NumPy."""

import numbus as nb
import numpy as np
import pytest
from helpers import MODULE, to_numpy

inf, nan = np.inf, np.nan
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# The largest error of either part in ULP of the modulus (docs/accuracy.md, with a margin).
LIMITS = dict(
    sqrt=2, exp=2, exp2=2.5, expm1=3, log=1, log2=2, log10=2.5, log1p=2, sin=2.5, cos=2.5, tan=5,
    sinh=2.5, cosh=2.5, tanh=5, arcsin=3.5, arccos=3.5, arctan=3, arcsinh=3.5, arccosh=3.5,
    arctanh=3, reciprocal=2, absolute=1, sign=2,
)  # fmt: skip
# Where the rows differ from NumPy by intent, see docs/accuracy.md.
BETTER = ("expm1", "exp2", "sign")


def points(dtype, n=2000):
    """Points of usual size, of all sizes, and near 0, the unit circle, 1, -1, i and -i."""
    r = np.random.default_rng(5)
    wide = np.dtype(dtype) == np.complex128

    def size(lo, hi):
        return np.exp2(r.uniform(lo, hi, n)) * r.choice([-1, 1], n)

    top, fine = (9.4, -40) if wide else (6.4, -20)
    e = 900 if wide else 100
    z = [
        r.uniform(-10, 10, n) + 1j * r.uniform(-10, 10, n),
        size(-30, top) + 1j * size(-30, top),
        size(-e, e) + 1j * size(-e, e),
        (1 + size(fine, -3)) * np.exp(1j * r.uniform(-np.pi, np.pi, n)),
        r.choice([0, 1, -1, 1j, -1j], n) + size(fine, -1) + 1j * size(fine, -1),
    ]
    return np.concatenate(z).astype(dtype)


def wide_reference(name, z):
    """The function to 64 bits, by formulas that lose nothing beside the result's modulus."""
    w = z.astype(np.clongdouble)
    x, y = w.real, w.imag
    two, ten = np.log(np.longdouble(2)), np.log(np.longdouble(10))
    if name == "exp2":
        return np.exp(w * two)
    if name in ("log2", "log10"):
        return np.log(w) / (two if name == "log2" else ten)
    if name == "expm1":
        return np.expm1(x) * np.cos(y) - 2 * np.sin(y / 2) ** 2 + 1j * np.exp(x) * np.sin(y)
    if name == "log1p":
        return np.log1p(x * 2 + (x * x + y * y)) / 2 + 1j * np.arctan2(y, 1 + x)
    return getattr(np, name)(w)


def worst_error(got, want):
    info = np.finfo(got.dtype)
    size = np.abs(want)
    _, exponent = np.frexp(np.maximum(size, np.longdouble(info.smallest_normal)))
    ulp = np.ldexp(np.longdouble(info.eps), exponent - 1)
    error = np.maximum(np.abs(got.real - want.real), np.abs(got.imag - want.imag)) / ulp
    inside = np.isfinite(size) & (size < info.max / 2)
    assert not np.isnan(error[inside]).any()
    return float(np.max(error[inside]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", LIMITS)
def test_error(xp, mode, name, dtype):
    z = points(dtype)
    if name == "exp2":  # the reference's own angle is rounded
        z = z[np.abs(z.imag) < 64]
    if name == "log1p":  # the reference cancels near |1 + z| = 1 and overflows
        z = z[(z.real > -0.25) & (np.abs(z) < 2.0**50)]
    got = to_numpy(getattr(xp, name)(xp.array(z)))
    limit = LIMITS[name] if MODULE == "numbus" else np.inf
    assert worst_error(got, wide_reference(name, z)) <= limit


def same(got, want, rtol):
    """NaN where NumPy has NaN, the same infinities and signs, the rest within rtol."""
    both = np.isnan(got) & np.isnan(want)
    near = (got == want) | (np.abs(got - want) <= rtol * np.abs(want))
    return both | (near & (np.signbit(got) == np.signbit(want)))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [n for n in LIMITS if n not in BETTER])
def test_special_values(xp, mode, name, dtype):
    """Zeros of both signs (the sides of the cuts), infinities, NaN, parts near overflow."""
    huge, some = (1e300, 800.0) if dtype == "complex128" else (1e37, 100.0)
    v = np.array([0.0, -0.0, 1, -1, 0.5, -3, huge, -huge, some, -some, inf, -inf, nan])
    z = np.empty(v.size**2, dtype)
    z.real, z.imag = np.repeat(v, v.size), np.tile(v, v.size)
    got = to_numpy(getattr(xp, name)(xp.array(z)))
    want = getattr(np, name)(z)
    rtol = 1e-13 if dtype == "complex128" else 1e-5
    ok = [same(getattr(got, part), getattr(want, part), rtol) for part in ("real", "imag")]
    # Annex G leaves the sign of a zero or infinity beside a NaN open.
    other = [np.isnan(want.imag), np.isnan(want.real)]
    for n, part in enumerate(("real", "imag")):
        a, b = np.abs(getattr(got, part)), np.abs(getattr(want, part))
        ok[n] |= other[n] & ((a == b) | (np.isnan(a) & np.isnan(b)))
    bad = ~(ok[0] & ok[1])
    assert not bad.any(), list(zip(z[bad], got[bad], want[bad], strict=True))[:5]


@pytest.mark.skipif(MODULE != "numbus", reason="where NumPy differs")
def test_better_than_numpy(xp, mode):
    z = np.array([inf + 0j, complex(-inf, inf), 800 + 0j])
    got = to_numpy(xp.expm1(xp.array(z)))
    assert np.array_equal(got.real, [inf, -1, inf]) and not got.imag.any()
    got = to_numpy(xp.sign(xp.array([5e-324 + 5e-324j, 1.7e308 - 1.7e308j, 0j])))
    assert np.allclose(got, np.array([1 + 1j, 1 - 1j, 0]) * np.sqrt(0.5), 1e-15)
    tiny = np.array([1e-20 + 1e-30j])
    assert np.allclose(to_numpy(xp.log1p(xp.array(tiny))), tiny, 1e-15)
    # e^x overflows, e^x times the sine does not.
    got = to_numpy(xp.exp(xp.array([715 + 1e-5j, 715 + 1e-300j])))
    want = np.exp([np.longdouble(715)] * 2) * np.array([1e-5, 1e-300], np.longdouble)
    assert np.allclose(got.imag, want.astype(float), 1e-9)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_power(xp, mode, dtype):
    r = np.random.default_rng(9)
    n = 4000
    x = (np.exp2(r.uniform(-3, 3, n)) * np.exp(1j * r.uniform(-np.pi, np.pi, n))).astype(dtype)
    wide = x.astype(np.clongdouble)
    exponents = {3: r.uniform(-3, 3, n), 8: r.uniform(-3, 3, n) + 1j * r.uniform(-3, 3, n)}
    for limit, y in exponents.items():
        y = y.astype(dtype)
        got = to_numpy(xp.power(xp.array(x), xp.array(y)))
        limit = limit if dtype == "complex128" else 2 * limit
        if MODULE == "numbus":
            assert worst_error(got, np.exp(y.astype(np.clongdouble) * np.log(wide))) <= limit
    for k in (0, 1, 2, 3, 4, 5, -1, -2, -7, 50, 99, -99):
        y = np.full(n, k, dtype)
        rtol = 1e-13 if dtype == "complex128" else 5e-5
        with np.errstate(all="ignore"):
            want = np.power(x, y)
        got = to_numpy(xp.power(xp.array(x), xp.array(y)))
        fine = np.isfinite(want) & (np.abs(want) > np.finfo(dtype).smallest_normal)
        assert np.all(np.abs(got - want)[fine] <= rtol * np.abs(want)[fine]), k


def test_power_special(xp, mode):
    v = [0.0, -0.0, 1, -1, 0.5, 3, 1e200, 1e-200, inf, -inf]
    x = np.array([complex(a, b) for a in v for b in v])
    y = [0, 1, 2, 3, 4, -1, -2, 0.5, 1j, 99, 100, -99, complex(nan, 0), 1 + 1j, -1 + 1j]
    for e in y:
        want = np.power(x, np.full(x.size, e, complex))
        got = to_numpy(xp.power(xp.array(x), xp.array(np.full(x.size, e, complex))))
        both = np.isnan(got) & np.isnan(want)
        parts = [(getattr(got, p), getattr(want, p)) for p in ("real", "imag")]
        exact = np.all([(a == b) | (np.isnan(a) & np.isnan(b)) for a, b in parts], axis=0)
        with np.errstate(all="ignore"):
            near = np.abs(got - want) <= 1e-12 * np.abs(want)
        bad = ~(both | exact | near)
        assert not bad.any(), (e, list(zip(x[bad], got[bad], want[bad], strict=True))[:5])


@pytest.mark.parametrize("name", LIMITS)
def test_modes_agree(xp, core, name):
    z = np.concatenate([points("complex128", 100), [0, inf, complex(nan, inf), 800 + 1j]])
    bits = []
    for m in ("interp", "compiled"):
        core.set_mode(m)
        got = to_numpy(getattr(xp, name)(xp.array(z)))
        got = got.view(got.real.dtype)
        bits.append(np.where(np.isnan(got), 0, got).tobytes() + np.isnan(got).tobytes())
    core.set_mode("auto")
    assert bits[0] == bits[1]


@pytest.mark.parametrize("name", ["sin", "cos", "sinh", "cosh", "tan", "tanh"])
@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_signs_of_zeros_and_infinities(name, kind):
    """Also where C11 leaves the sign open: it is that of glibc, which NumPy calls."""
    parts = (np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0)
    z = np.array([complex(a, b) for a in parts for b in parts], kind)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(z)
    got = np.asarray(getattr(nb, name)(nb.array(z)))
    for part in ("real", "imag"):
        a, b = getattr(got, part), getattr(want, part)
        exact = ~np.isfinite(b) | (b == 0)
        assert np.array_equal(np.isnan(a), np.isnan(b))
        compared = exact & ~np.isnan(b)
        assert np.array_equal(a[compared], b[compared])
        assert np.array_equal(np.signbit(a[compared]), np.signbit(b[compared]))
