"""The functions and constants of C and CUDA that kernels' bodies may name."""

import math

import numpy

import numbus.cuda
from numbus import _core

from . import runtime, types

# Functions of floating-point numbers: C's name to (Python text, number of arguments).
_FLOATING = {
    **{name: (f"np.{row['name']}({', '.join(('{0}', '{1}')[: row['nin']])})", row["nin"])
       for row in _core.table() for name in row["libm"]},
    "round": ("runtime.round_away({0})", 1),
    "rsqrt": ("({1} / np.sqrt({0}))", 1),
    "rcbrt": ("({1} / np.cbrt({0}))", 1),
    "exp10": ("np.power({10}, {0})", 1),
    "sinpi": ("np.sin({pi} * {0})", 1),
    "cospi": ("np.cos({pi} * {0})", 1),
    "fdim": ("runtime.positive_difference({0}, {1})", 2),
    "fma": ("fma({0}, {1}, {2})", 3),
}  # fmt: skip
for _name in ("rsqrt", "rcbrt"):
    _FLOATING[_name] = _FLOATING[_name][0].replace("{1}", "{one}"), 1
_FLOATING["exp10"] = "np.power({ten}, {0})", 1
# Of these only the double form is accurate.
_DOUBLE = {
    "erf": "math.erf({0})",
    "erfc": "math.erfc({0})",
    "tgamma": "math.gamma({0})",
    "lgamma": "math.lgamma({0})",
    "normcdf": "(float64(0.5) * math.erfc(-{0} * float64(0.7071067811865476)))",
}
# CUDA's fast forms of float's functions.
_FAST = {
    "__sinf": "sinf",
    "__cosf": "cosf",
    "__tanf": "tanf",
    "__expf": "expf",
    "__exp10f": "exp10f",
    "__logf": "logf",
    "__log2f": "log2f",
    "__log10f": "log10f",
    "__powf": "powf",
    "__fsqrt_rn": "sqrtf",
    "__frsqrt_rn": "rsqrtf",
}
_COMPLEX = frozenset(
    "sin cos tan sinh cosh tanh exp log log10 sqrt asin acos atan asinh acosh atanh pow".split()
)
_PREDICATES = {"isnan": "np.isnan", "isinf": "np.isinf", "isfinite": "np.isfinite",
               "signbit": "np.signbit"}  # fmt: skip
_BITS = {
    "__popc": ("popc", "uint32", "int32"),
    "__popcll": ("popc", "uint64", "int32"),
    "__clz": ("clz", "int32", "int32"),
    "__clzll": ("clz", "int64", "int32"),
    "__brev": ("brev", "uint32", "uint32"),
    "__brevll": ("brev", "uint64", "uint64"),
    "__ffs": ("ffs", "int32", "int32"),
    "__ffsll": ("ffs", "int64", "int32"),
}
ATOMICS = {
    "atomicAdd": "add",
    "atomicSub": "sub",
    "atomicMin": "min",
    "atomicMax": "max",
    "atomicAnd": "and_",
    "atomicOr": "or_",
    "atomicXor": "xor",
    "atomicExch": "exch",
    "atomicInc": "inc",
    "atomicDec": "dec",
    "atomicCAS": "cas",
}

_F32, _F64 = numpy.finfo(numpy.float32), numpy.finfo(numpy.float64)
# Name to (type, value).
CONSTANTS = {
    "INFINITY": ("float32", math.inf),
    "NAN": ("float32", math.nan),
    "HUGE_VAL": ("float64", math.inf),
    "CUDART_INF": ("float64", math.inf),
    "CUDART_INF_F": ("float32", math.inf),
    "CUDART_NAN": ("float64", math.nan),
    "CUDART_NAN_F": ("float32", math.nan),
    "CUDART_PI": ("float64", math.pi),
    "CUDART_PI_F": ("float32", math.pi),
    "M_PI": ("float64", math.pi),
    "M_PI_2": ("float64", math.pi / 2),
    "M_PI_4": ("float64", math.pi / 4),
    "M_1_PI": ("float64", 1 / math.pi),
    "M_2_PI": ("float64", 2 / math.pi),
    "M_E": ("float64", math.e),
    "M_LN2": ("float64", math.log(2)),
    "M_LN10": ("float64", math.log(10)),
    "M_LOG2E": ("float64", 1 / math.log(2)),
    "M_LOG10E": ("float64", 1 / math.log(10)),
    "M_SQRT2": ("float64", math.sqrt(2)),
    "M_SQRT1_2": ("float64", math.sqrt(0.5)),
    "FLT_MAX": ("float32", float(_F32.max)),
    "FLT_MIN": ("float32", float(_F32.tiny)),
    "FLT_EPSILON": ("float32", float(_F32.eps)),
    "DBL_MAX": ("float64", float(_F64.max)),
    "DBL_MIN": ("float64", float(_F64.tiny)),
    "DBL_EPSILON": ("float64", float(_F64.eps)),
    "CHAR_BIT": ("int32", 8),
    "INT_MAX": ("int32", 2**31 - 1),
    "INT_MIN": ("int32", -(2**31)),
    "UINT_MAX": ("uint32", 2**32 - 1),
    "LONG_MAX": ("int64", 2**63 - 1),
    "LONG_MIN": ("int64", -(2**63)),
    "LLONG_MAX": ("int64", 2**63 - 1),
    "LLONG_MIN": ("int64", -(2**63)),
    "ULONG_MAX": ("uint64", 2**64 - 1),
    "ULLONG_MAX": ("uint64", 2**64 - 1),
    **{
        f"INT{b}_MAX": (f"int{b}" if b > 16 else "int32", 2 ** (b - 1) - 1) for b in (8, 16, 32, 64)
    },
    **{f"INT{b}_MIN": (f"int{b}" if b > 16 else "int32", -(2 ** (b - 1))) for b in (8, 16, 32, 64)},
    **{f"UINT{b}_MAX": (f"uint{b}" if b > 16 else "int32", 2**b - 1) for b in (8, 16, 32, 64)},
}

# The globals of the Python text.
GLOBALS = {
    "np": numpy,
    "math": math,
    "runtime": runtime,
    "inf": math.inf,
    "nan": math.nan,
    "fma": numbus.cuda.fma,
    "popc": numbus.cuda.popc,
    "clz": numbus.cuda.clz,
    "brev": numbus.cuda.brev,
    "ffs": numbus.cuda.ffs,
    "atomic": numbus.cuda.atomic,
    "local": numbus.cuda.local,
    "shared": numbus.cuda.shared,
    "grid": numbus.cuda.grid,
    "syncthreads": numbus.cuda.syncthreads,
    "threadIdx": numbus.cuda.threadIdx,
    "blockIdx": numbus.cuda.blockIdx,
    "blockDim": numbus.cuda.blockDim,
    "gridDim": numbus.cuda.gridDim,
    **{
        t: getattr(numpy, t)
        for t in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
        "complex64 complex128".split()
    },
    "bool_": numpy.bool_,
}

NAMES = frozenset([*_FLOATING, *_DOUBLE, *_FAST, *_PREDICATES, *_BITS, *ATOMICS,
                   "abs", "min", "max", "conj", "real", "imag", "arg", "norm"])  # fmt: skip


def known(name):
    """Whether this is a function of C's or CUDA's that is there."""
    name = name[:-1] if name.endswith("f") and name[:-1] in {*_FLOATING, *_DOUBLE} else name
    return name in NAMES


def call(name, args, convert):
    """(text, type) of a call, or the number of arguments that it takes.

    args: values with `text` and `type`; convert(value, type) gives text.
    """
    name = _FAST.get(name, name)
    kinds = [types.promoted(a.type) for a in args]
    if name in _PREDICATES:
        if len(args) != 1:
            return 1
        t = kinds[0] if types.kind(kinds[0]) in "fc" else "float64"
        return f"{_PREDICATES[name]}({convert(args[0], t)})", "bool"
    if name in _BITS:
        function, given, result = _BITS[name]
        if len(args) != 1:
            return 1
        return f"{result}({function}({convert(args[0], given)}))", result
    if name in ("min", "max"):
        if len(args) != 2:
            return 2
        t = types.common(*kinds)
        function = f"np.f{name}" if types.kind(t) == "f" else f"np.{name}imum"
        return f"{function}({convert(args[0], t)}, {convert(args[1], t)})", t
    if name in ("abs", "labs", "llabs", "conj", "real", "imag", "arg", "norm"):
        return _one(name, args, kinds, convert)
    single = name not in _FLOATING and name not in _DOUBLE
    base = name[:-1] if single else name
    if base in _DOUBLE:
        if len(args) != 1:
            return 1
        text = _DOUBLE[base].format(convert(args[0], "float64"))
        if single or kinds[0] == "float32":
            return f"float32({text})", "float32"
        return text, "float64"
    form, count = _FLOATING[base]
    if len(args) != count:
        return count
    if single:
        t = "float32"
    else:
        t = kinds[0]
        for k in kinds[1:]:
            t = types.common(t, k)
        if types.kind(t) in "biu" or (any(types.kind(k) in "biu" for k in kinds) and t != kinds[0]):
            t = "float64"
        if types.kind(t) == "c" and base not in _COMPLEX:
            t = "float64"
        if base == "pow" and types.kind(kinds[1]) in "biu" and kinds[0] == "float32":
            t = "float64"
    ten = {"one": f"{t}(1)", "ten": f"{t}(10)", "pi": f"{t}({math.pi!r})"}
    return form.format(*[convert(a, t) for a in args], **ten), t


def _one(name, args, kinds, convert):
    if len(args) != 1:
        return 1
    t = kinds[0]
    part = {"complex64": "float32", "complex128": "float64"}.get(t, t)
    x = convert(args[0], t)
    if name in ("abs", "labs", "llabs"):
        return f"np.abs({x})", part
    if name == "conj":
        return (f"np.conj({x})", t) if part != t else (x, t)
    if name == "real":
        return (f"({x}).real", part) if part != t else (x, t)
    if name == "imag":
        return (f"({x}).imag", part) if part != t else (f"{t}(0)", t)
    if part == t:
        t = part = "float64" if types.kind(t) in "biu" else t
        x = convert(args[0], t)
        if name == "norm":
            return f"({x} * {x})", t
        return f"np.arctan2({t}(0), {x})", t
    if name == "norm":
        return f"(({x}).real * ({x}).real + ({x}).imag * ({x}).imag)", part
    return f"np.arctan2(({x}).imag, ({x}).real)", part
