"""libdevice's functions against Python's and NumPy's, in exact arithmetic where they round."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numbus import cuda
from numbus.cuda import libdevice

RNG = np.random.default_rng(2)
LATER = {"erf", "erfc", "lgamma", "tgamma", "nextafter", "normcdf"}  # wait for the core

REFERENCE = {
    "acos": np.arccos, "acosh": lambda x: np.arccosh(x + 1), "asin": np.arcsin,
    "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil,
    "cos": np.cos, "cosh": np.cosh, "cospi": lambda x: np.cos(np.pi * x), "exp": np.exp,
    "exp10": lambda x: 10.0**x, "exp2": np.exp2, "expm1": np.expm1, "fabs": np.fabs,
    "floor": np.floor, "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2,
    "nearbyint": np.rint, "rcbrt": lambda x: 1 / np.cbrt(x), "rint": np.rint,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)), "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin, "sinh": np.sinh, "sinpi": lambda x: np.sin(np.pi * x), "sqrt": np.sqrt,
    "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc, "logb": lambda x: np.floor(np.log2(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REFERENCE))
@pytest.mark.parametrize("kind", ["d", "f"])
def test_functions_of_one_number(name, kind):
    function = getattr(libdevice, name + ("f" if kind == "f" else ""))
    dtype = np.float64 if kind == "d" else np.float32

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = function(x[i])

    x = RNG.uniform(0.01, 0.99, 50).astype(dtype)
    out = np.zeros(50, dtype)
    kernel[1, 64](x + 1 if name == "acosh" else x, out)
    want = REFERENCE[name](x.astype(np.float64))
    np.testing.assert_allclose(out, want, rtol=2e-15 if kind == "d" else 1e-6, atol=3e-16)


def test_every_name_is_there():
    for name in libdevice.__all__:
        if name in LATER or name.removesuffix("f") in LATER:
            continue
        kinds = libdevice._TABLE[name][0]
        getattr(libdevice, name)(*[1.5 if k in "df" else 3 for k in kinds])
    with pytest.raises(AttributeError, match="no such function; got sine"):
        libdevice.sine  # noqa: B018


def nearest_below(exact, dtype):
    """The largest number of a type that is not above an exact one."""
    x = dtype(float(exact))
    while Fraction(float(x)) > exact:
        x = np.nextafter(x, dtype(-np.inf))
    while Fraction(float(np.nextafter(x, dtype(np.inf)))) <= exact:
        x = np.nextafter(x, dtype(np.inf))
    return x


def rounded(exact, mode, dtype):
    below = nearest_below(exact, dtype)
    above = below if Fraction(float(below)) == exact else np.nextafter(below, dtype(np.inf))
    if mode == "rd":
        return below
    if mode == "ru":
        return above
    return below if exact > 0 else above


EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("name", ["dadd", "dmul", "ddiv", "fadd", "fsub", "fmul", "fdiv"])
def test_rounding_modes(name, mode):
    dtype = np.float64 if name[0] == "d" else np.float32
    function = getattr(libdevice, f"{name}_{mode}")
    for x, y in RNG.normal(size=(40, 2)).astype(dtype):
        exact = EXACT[name[1:]](Fraction(float(x)), Fraction(float(y)))
        assert function(x, y) == rounded(exact, mode, dtype), (x, y)
    assert function(dtype(0.5), dtype(0.25)) == EXACT[name[1:]](0.5, 0.25)


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
def test_rounding_modes_of_conversions(mode):
    for n in (2**53 + 1, -(2**53) - 1, 2**62 + 12345, -(2**62) - 12345, 7, 2**63 - 1):
        assert getattr(libdevice, f"ll2double_{mode}")(n) == rounded(Fraction(n), mode, np.float64)
        assert getattr(libdevice, f"ll2float_{mode}")(n) == rounded(Fraction(n), mode, np.float32)
    for n in (2**24 + 1, -(2**24) - 1, 2**31 - 1, 5):
        assert getattr(libdevice, f"int2float_{mode}")(n) == rounded(Fraction(n), mode, np.float32)
    for n in (2**64 - 1, 2**63 + 1, 2**63 + 1025, 1):
        got = getattr(libdevice, f"ull2double_{mode}")(np.uint64(n))
        assert got == rounded(Fraction(n), mode, np.float64)
    for x in (0.1, -0.1, 1 / 3, 1e30):
        got = getattr(libdevice, f"double2float_{mode}")(x)
        assert got == rounded(Fraction(x), mode, np.float32)
        to = {"rd": math.floor, "ru": math.ceil, "rz": math.trunc}[mode]
        if abs(x) < 1e9:
            assert getattr(libdevice, f"double2int_{mode}")(x * 1e6) == to(x * 1e6)
            assert getattr(libdevice, f"double2ll_{mode}")(x * 1e15) == to(x * 1e15)
    assert libdevice.double2int_rn(1e20) == 2**31 - 1
    assert libdevice.double2ll_rn(1e20) == 2**63 - 1
    assert libdevice.double2uint_rn(-5.0) == 0
    assert libdevice.double2ull_rn(1.8e19) == 18000000000000000000


def test_fused_with_a_rounding_mode():
    for x, y, z in RNG.normal(size=(40, 3)):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        for mode in ("rd", "ru", "rz"):
            got = getattr(libdevice, f"fma_{mode}")(x, y, z)
            assert got == rounded(exact, mode, np.float64), (x, y, z, mode)


def test_parts_of_floats():
    for x in (0.1, 1.0, 1.5, 3e300, 5e-324, 1e-310, -7.25, 2.0**-1022):
        assert libdevice.frexp(x) == math.frexp(x)
        assert libdevice.ilogb(x) == math.frexp(x)[1] - 1
        assert libdevice.modf(x) == math.modf(x)
    for x, n in ((1.5, 10), (1.0, -1074), (5e-324, 1074), (1.0, 5000), (1.0, -5000), (3.0, -1060)):
        want = math.ldexp(x, n) if n < 5000 else math.inf
        assert libdevice.ldexp(x, n) == want
    for x, y in RNG.uniform(-20, 20, (40, 2)):
        assert libdevice.remainder(x, y) == math.remainder(x, y)
        assert libdevice.fmod(x, y) == math.fmod(x, y)


def test_whole_numbers():
    a, b = 123456789, -987654321
    assert libdevice.mulhi(a, b) == (a * b) >> 32
    assert libdevice.mul64hi(a << 30, b << 30) == ((a << 30) * (b << 30)) >> 64
    big = 2**64 - 3
    assert libdevice.umul64hi(np.uint64(big), np.uint64(big)) == (big * big) >> 64
    assert libdevice.mul24(a & 0xFFFFFF, 3) == (((a & 0xFFFFFF) ^ 0x800000) - 0x800000) * 3
    assert libdevice.hadd(2**31 - 1, 2**31 - 3) == 2**31 - 2
    assert libdevice.rhadd(3, 4) == 4
    assert libdevice.sad(3, 10, np.uint32(5)) == 12
    assert libdevice.byte_perm(np.uint32(0x33221100), np.uint32(0x77665544), 0x7531) == 0x77553311
    assert libdevice.popc(255) == 8
    assert libdevice.clz(1) == 31
    assert libdevice.ffs(8) == 4
    assert libdevice.brev(np.uint32(1)) == 1 << 31
    assert libdevice.powi(1.5, -3) == 1.5**-3
