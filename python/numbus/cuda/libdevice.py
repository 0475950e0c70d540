"""NVIDIA's libdevice functions by their names, in kernels and in other compiled functions.

The names and types are those of the libdevice user's guide; each is a row of the table of
operations (these are not listed here), or a few of them. The fast_ forms are the accurate ones:
these cost a few instructions.
Rounding modes (_rd down, _ru up, _rz to zero, _rn to nearest) come from the exact error of the
rounded result, as in Rump, Ogita and Oishi, "Accurate floating-point summation" (2008).
"""

import math

import numpy

from .. import _core
from ..kernels._dispatch import njit
from ..kernels._generate import compiled
from . import _names, _special

# Letters of types: d float64 (float32 in the form that ends in f), f float32, i int32, u uint32,
# l int64, U uint64, h the bits of a float16. "d" first in a line of _BOTH makes two functions, erf
# and erff.
_TYPES = {
    "d": numpy.float64,
    "f": numpy.float32,
    "i": numpy.int32,
    "u": numpy.uint32,
    "l": numpy.int64,
    "U": numpy.uint64,
    "b": numpy.int32,
    "h": numpy.int16,
}

_BOTH = """
cospi d x: cos_pi(x)
erf d x: math.erf(x)
erfc d x: math.erfc(x)
exp10 d x: np.power(T(10.0), x)
fdim d x y: np.maximum(x - y, T(0.0))
fma d x y z: fma(x, y, z)
lgamma d x: math.lgamma(x)
normcdf d x: T(0.5) * math.erfc(-x * T(0.7071067811865476))
rcbrt d x: T(1.0) / np.cbrt(x)
remainder d x y: ieee_remainder(x, y)
round d x: away(x)
rsqrt d x: T(1.0) / np.sqrt(x)
sinpi d x: sin_pi(x)
tgamma d x: math.gamma(x)
"""

# name, types of the arguments, type of the result (* as it comes): expression of x, y, z
_OTHERS = """
abs i i: np.abs(x)
llabs l l: np.abs(x)
brev u u: brev(x)
brevll U U: brev(x)
byte_perm uuu u: byte_permutation(x, y, z)
clz i i: clz(x)
clzll l i: clz(x)
ffs i i: ffs(x)
ffsll l i: ffs(x)
popc i i: popc(x)
popcll l i: popc(x)
fast_cosf f f: np.cos(x)
fast_exp10f f f: np.power(T(10.0), x)
fast_expf f f: np.exp(x)
fast_fdividef ff f: x / y
fast_log10f f f: np.log10(x)
fast_log2f f f: np.log2(x)
fast_logf f f: np.log(x)
fast_powf ff f: np.power(x, y)
fast_sincosf f *: (np.sin(x), np.cos(x))
fast_sinf f f: np.sin(x)
fast_tanf f f: np.tan(x)
finitef f b: np.isfinite(x)
isfinited d b: np.isfinite(x)
isinfd d b: np.isinf(x)
isinff f b: np.isinf(x)
isnand d b: np.isnan(x)
isnanf f b: np.isnan(x)
signbitd d b: np.signbit(x)
signbitf f b: np.signbit(x)
hadd ii i: (np.int64(x) + np.int64(y)) >> 1
rhadd ii i: (np.int64(x) + np.int64(y) + 1) >> 1
uhadd uu u: (np.int64(x) + np.int64(y)) >> 1
urhadd uu u: (np.int64(x) + np.int64(y) + 1) >> 1
llmax ll l: max(x, y)
llmin ll l: min(x, y)
max ii i: max(x, y)
min ii i: min(x, y)
umax uu u: max(x, y)
umin uu u: min(x, y)
ullmax UU U: max(x, y)
ullmin UU U: min(x, y)
llrint d l: whole(np.rint(x))
llrintf f l: whole(np.rint(x))
llround d l: whole(away(x))
llroundf f l: whole(away(x))
logb d d: np.float64(exponent(x))
logbf f f: np.float32(exponent(np.float64(x)))
ilogb d i: exponent(x)
ilogbf f i: exponent(np.float64(x))
ldexp di d: scaled(x, y)
ldexpf fi f: scaled(np.float64(x), y)
scalbn di d: scaled(x, y)
scalbnf fi f: scaled(np.float64(x), y)
frexp d *: mantissa(x)
frexpf f *: mantissaf(x)
modf d *: (x - np.trunc(x), np.trunc(x))
modff f *: (x - np.trunc(x), np.trunc(x))
mul24 ii i: ((x << 8) >> 8) * ((y << 8) >> 8)
umul24 uu u: (x & np.uint32(0xFFFFFF)) * (y & np.uint32(0xFFFFFF))
mulhi ii i: (np.int64(x) * np.int64(y)) >> 32
umulhi uu u: (np.uint64(x) * np.uint64(y)) >> np.uint64(32)
mul64hi ll l: high_product(x, y)
umul64hi UU U: mul_high(x, y)
powi di d: whole_power(x, y)
powif fi f: whole_power(x, y)
remquo dd *: quotient(x, y)
remquof ff *: quotient(x, y)
sad iiu u: np.int64(z) + np.abs(np.int64(x) - np.int64(y))
usad uuu u: np.int64(z) + np.abs(np.int64(x) - np.int64(y))
saturatef f f: np.fmin(np.fmax(x, T(0.0)), T(1.0))
sincos d *: (np.sin(x), np.cos(x))
sincosf f *: (np.sin(x), np.cos(x))
sincospi d *: (sin_pi(x), cos_pi(x))
sincospif f *: (sin_pi(x), cos_pi(x))
fma_rn ddd d: fma(x, y, z)
fmaf_rn fff f: fma(x, y, z)
frsqrt_rn f f: np.float32(1.0 / np.sqrt(np.float64(x)))
int2double_rn i d: np.float64(x)
double2hiint d i: np.int32(x.view(np.int64) >> 32)
double2loint d i: np.uint32(x.view(np.uint64) & np.uint64(0xFFFFFFFF)).view(np.int32)
hiloint2double ii d: hilo(x, y)
double_as_longlong d l: x.view(np.int64)
longlong_as_double l d: x.view(np.float64)
float_as_int f i: x.view(np.int32)
int_as_float i f: x.view(np.float32)
float2half_rn f h: np.float16(x).view(np.int16)
half2float h f: x.view(np.float16)
erfcinv d d: erfc_inverse(x)
erfcinvf f f: erfc_inverse(np.float64(x))
erfcx d d: scaled_erfc(x)
erfcxf f f: scaled_erfc(np.float64(x))
erfinv d d: erf_inverse(x)
erfinvf f f: erf_inverse(np.float64(x))
normcdfinv d d: -1.4142135623730951 * erfc_inverse(2.0 * x)
normcdfinvf f f: -1.4142135623730951 * erfc_inverse(2.0 * np.float64(x))
j0 d d: bessel_j0(x)
j0f f f: bessel_j0(np.float64(x))
j1 d d: bessel_j1(x)
j1f f f: bessel_j1(np.float64(x))
jn id d: bessel_jn(x, y)
jnf if f: bessel_jn(x, np.float64(y))
y0 d d: bessel_y0(x)
y0f f f: bessel_y0(np.float64(x))
y1 d d: bessel_y1(x)
y1f f f: bessel_y1(np.float64(x))
yn id d: bessel_yn(x, y)
ynf if f: bessel_yn(x, np.float64(y))
uint2double_rn u d: np.float64(x)
"""

_MODES = {"rd": -1, "ru": 1, "rz": 0}
_ROUND = {"rd": "np.floor", "ru": "np.ceil", "rz": "np.trunc", "rn": "np.rint"}
_WHOLE = {"i": "whole_i", "u": "whole_ui", "l": "whole", "U": "whole_u"}

_C = {  # of each type: 2**-k (1 + 2**(1 - k)), and the smallest number
    "d": "1.1102230246251568e-16, 5e-324",
    "f": "5.960465188081798e-08, 1.401298464324817e-45",
}


def _table():
    """{name: (types, result type, expression)} of all functions."""
    made = {}
    for row in _core.table():
        for name in row["libm"]:
            count = row["nin"]
            text = f"np.{row['name']}({', '.join('xy'[:count])})"
            made[name] = "d" * count, "d", text
            made[name + "f"] = "f" * count, "f", text
    for line in _BOTH.strip().split("\n"):
        head, text = line.split(": ", 1)
        name, *arguments = head.split()
        count = len(arguments) - 1
        made[name] = "d" * count, "d", text
        made[name + "f"] = "f" * count, "f", text
    for line in _OTHERS.strip().split("\n"):
        head, text = line.split(": ", 1)
        name, arguments, result = head.split()
        made[name] = arguments, result, text
    for t in "df":
        c = _C[t]
        for short, count, exact, error in (
            ("add", 2, "x + y", "sum_error(x, y)"),
            ("sub", 2, "x - y", "sum_error(x, -y)"),
            ("mul", 2, "x * y", "fma(x, y, -(x * y))"),
            ("div", 2, "x / y", "quotient_error(x, y)"),
            ("rcp", 1, "T(1.0) / x", "quotient_error(T(1.0), x)"),
            ("sqrt", 1, "np.sqrt(x)", "fma(-np.sqrt(x), np.sqrt(x), x)"),
        ):
            if t == "d" and short == "sub":
                continue
            made[f"{t}{short}_rn"] = t * count, t, exact
            for mode, direction in _MODES.items():
                text = f"directed({exact}, {error}, {direction}, {c})"
                made[f"{t}{short}_{mode}"] = t * count, t, text
        fma_name = "fma" if t == "d" else "fmaf"
        for mode, direction in _MODES.items():
            text = f"directed(fma(x, y, z), fma_error(x, y, z), {direction}, {c})"
            made[f"{fma_name}_{mode}"] = t * 3, t, text
    names = {"i": "int", "u": "uint", "l": "ll", "U": "ull"}
    for mode, rounding in {**_ROUND}.items():
        for source, letter in (("double", "d"), ("float", "f")):
            for to, word in names.items():
                text = f"{_WHOLE[to]}({rounding}(x))"
                made[f"{source}2{word}_{mode}"] = letter, to, text
        direction = _MODES.get(mode)
        for to, word in names.items():
            for target, letter in (("float", "f"), ("double", "d")):
                if target == "double" and to in "iu":
                    continue  # always exact
                plain = f"T({'x'})" if letter == "d" else "np.float32(x)"
                error = f"whole_error(x, np.float64({plain}))"
                made[f"{word}2{target}_{mode}"] = (
                    to,
                    letter,
                    plain
                    if direction is None
                    else f"directed({plain}, {error}, {direction}, {_C[letter]})",
                )
        made[f"double2float_{mode}"] = (
            "d",
            "f",
            "np.float32(x)"
            if direction is None
            else f"directed(np.float32(x), x - np.float64(np.float32(x)), {direction}, {_C['f']})",
        )
    return made


@njit
def directed(rounded, error, direction, phi, least):
    # error: a number with the sign of (exact - rounded)
    way = direction
    if way == 0:
        way = -1 if rounded > 0 else 1
        if error == 0 or (error > 0) == (rounded > 0):
            return rounded
    if error * way > 0:
        return rounded + way * (abs(rounded) * phi + least)
    return rounded


@njit
def sum_error(x, y):
    s = x + y
    b = s - x
    return (x - (s - b)) + (y - b)


@njit
def quotient_error(x, y):
    r = _names.fma(-(x / y), y, x)
    return r if y > 0 else -r


@njit
def fma_error(x, y, z):
    p = x * y
    s = _names.fma(x, y, z)
    t = p + z
    return (t - s) + (sum_error(p, z) + _names.fma(x, y, -p))


@njit
def whole_error(x, rounded):
    # A 64-bit integer less its rounded value, which may be just beyond the type's range.
    if rounded >= 9223372036854775808.0:
        if x > 0 and numpy.uint64(x) > numpy.uint64(9223372036854775807):
            if rounded >= 18446744073709551616.0:
                return -1.0
            wide = numpy.uint64(rounded)
            return 1.0 if numpy.uint64(x) > wide else (-1.0 if numpy.uint64(x) < wide else 0.0)
        return -1.0
    return numpy.float64(numpy.int64(x) - numpy.int64(rounded))


@njit
def whole(x):
    if x >= 9223372036854775808.0:
        return numpy.int64(9223372036854775807)
    if x <= -9223372036854775808.0:
        return numpy.int64(-9223372036854775808)
    return numpy.int64(x)


@njit
def whole_i(x):
    if x >= 2147483648.0:
        return numpy.int32(2147483647)
    if x <= -2147483648.0:
        return numpy.int32(-2147483648)
    return numpy.int32(x)


@njit
def whole_ui(x):
    if x >= 4294967296.0:
        return numpy.uint32(4294967295)
    if x <= 0:
        return numpy.uint32(0)
    return numpy.uint32(x)


@njit
def whole_u(x):
    if x >= 18446744073709551616.0:
        return numpy.uint64(18446744073709551615)
    if x <= 0:
        return numpy.uint64(0)
    return numpy.uint64(x)


@njit
def away(x):
    # to the nearest integer, halves away from zero
    t = numpy.trunc(x)
    if abs(x - t) >= 0.5:
        return t + numpy.copysign(x * 0 + 1, x)
    return t


@njit
def sin_pi(x):
    r = x - 2.0 * numpy.rint(x * 0.5)
    if abs(r) > 0.5:
        r = numpy.copysign(x * 0 + 1, r) - r  # exact, and the same sine
    return numpy.sin(math.pi * r)


@njit
def cos_pi(x):
    r = abs(x - 2.0 * numpy.rint(x * 0.5))
    return numpy.sin(math.pi * (0.5 - r)) if r > 0.25 else numpy.cos(math.pi * r)


@njit
def ieee_remainder(x, y):
    r = numpy.fmod(x, y)
    half = abs(y) * 0.5
    if abs(r) > half or (abs(r) == half and numpy.fmod((x - r) / y, 2.0) != 0):
        r -= numpy.copysign(y, r)
    return r


@njit
def quotient(x, y):
    r = ieee_remainder(x, y)
    return r, numpy.int32(numpy.fmod(numpy.rint((x - r) / y), 8.0))


@njit
def exponent(x):
    # floor(log2(|x|)), exactly: scaled into [1, 2) by powers of two
    if x == 0:
        return numpy.int32(-2147483648)
    if not numpy.isfinite(x):
        return numpy.int32(2147483647)
    a = abs(x)
    e = 0
    step = 512
    while step > 0:
        big = numpy.exp2(numpy.float64(step))
        if a >= big:
            a = a / big
            e += step
        elif a < 1.0 / big * 2.0:
            a = a * big
            e -= step
        step //= 2
    while a >= 2.0:
        a *= 0.5
        e += 1
    while a < 1.0:
        a *= 2.0
        e -= 1
    return numpy.int32(e)


@njit
def scaled(x, n):
    n = min(max(n, -2200), 2200)
    while n > 1000:
        x *= 1.0715086071862673e301
        n -= 1000
    while n < -1000:
        x *= 9.332636185032189e-302
        n += 1000
    # In two steps, so that no power of two is below the normal numbers.
    return x * numpy.exp2(numpy.float64(n // 2)) * numpy.exp2(numpy.float64(n - n // 2))


@njit
def mantissa(x):
    if x == 0 or not numpy.isfinite(x):
        return x, numpy.int32(0)
    e = exponent(x) + 1
    return scaled(x, -e), numpy.int32(e)


@njit
def mantissaf(x):
    m, e = mantissa(numpy.float64(x))
    return numpy.float32(m), e


@njit
def whole_power(x, n):
    r = x * 0 + 1
    k = abs(numpy.int64(n))
    b = x
    while k > 0:
        if k & 1:
            r = r * b
        b = b * b
        k >>= 1
    return r if n >= 0 else 1 / r


@njit
def high_product(x, y):
    h = numpy.int64(_names.mul_high(numpy.uint64(x), numpy.uint64(y)))
    if x < 0:
        h -= y
    if y < 0:
        h -= x
    return h


@njit
def hilo(high, low):
    # two halves of a float64's bits
    both = (numpy.int64(high) << 32) | (numpy.int64(low) & 0xFFFFFFFF)
    return both.view(numpy.float64)


@njit
def byte_permutation(x, y, s):
    both = (numpy.uint64(y) << numpy.uint64(32)) | numpy.uint64(x)
    r = numpy.uint64(0)
    for k in range(4):
        which = numpy.uint64((s >> numpy.uint32(4 * k)) & numpy.uint32(7)) * numpy.uint64(8)
        r = r | (((both >> which) & numpy.uint64(255)) << numpy.uint64(8 * k))
    return numpy.uint32(r)


_TABLE = _table()
_made = {}
_HELPERS = {
    f.py_func.__name__: f
    for f in (
        directed,
        sum_error,
        quotient_error,
        fma_error,
        whole_error,
        whole,
        whole_i,
        whole_u,
        whole_ui,
        away,
        sin_pi,
        cos_pi,
        ieee_remainder,
        quotient,
        exponent,
        scaled,
        mantissa,
        mantissaf,
        whole_power,
        high_product,
        byte_permutation,
        hilo,
        *_special.HELPERS,
    )
}

__all__ = sorted(_TABLE)


def _make(name):
    arguments, result, text = _TABLE[name]
    letters = "xyz"[: len(arguments)]
    letter = next((t for t in arguments if t in "df"), result)
    title = f"libdevice_{name}"
    lines = [f"def {title}({', '.join(letters)}):"]
    lines += [
        f"    {p} = {t.upper() if t in 'df' else t + '_'}({p})" for p, t in zip(letters, arguments)
    ]
    lines.append(f"    return {text}" if result == "*" else f"    return R({text})")
    env = {(t.upper() if t in "df" else t + "_"): k for t, k in _TYPES.items()}
    one = _TYPES[letter] if letter in _TYPES else numpy.float64
    function = compiled(
        title,
        lines,
        {"error_model": "numpy"},
        np=numpy,
        math=math,
        T=one,
        R=_TYPES.get(result),
        fma=_names.fma,
        popc=_names.popc,
        clz=_names.clz,
        brev=_names.brev,
        mul_high=_names.mul_high,
        ffs=_names.ffs,
        max=max,
        min=min,
        **_HELPERS,
        **env,
    )
    kinds = ", ".join(_TYPES[t].__name__ for t in arguments)
    function.__doc__ = f"{name}({kinds}): {text}"
    return function


def __getattr__(name):
    if name in _TABLE:
        # Kept apart from this module's names: `abs` and `max` are Python's own in here.
        made = _made.get(name)
        if made is None:
            made = _made[name] = _make(name)
        return made
    raise AttributeError(f"[libdevice] no such function; got {name}")


def __dir__():
    return __all__
