"""cuda.fp16: functions of float16 by CUDA's names, in kernels and in other compiled functions.

Sums, products, quotients and roots are correctly rounded, as the results of float32 are that are
rounded once more; hfma is of float64, which holds its product. The others are those of float32,
rounded.
"""

import re

import numpy

from ..kernels._generate import compiled

_TABLE = {
    "hadd": "F(x) + F(y)",
    "hsub": "F(x) - F(y)",
    "hmul": "F(x) * F(y)",
    "hdiv": "F(x) / F(y)",
    "hfma": "D(x) * D(y) + D(z)",
    "hneg": "-x",
    "habs": "np.abs(x)",
    "hsin": "np.sin(F(x))",
    "hcos": "np.cos(F(x))",
    "hlog": "np.log(F(x))",
    "hlog2": "np.log2(F(x))",
    "hlog10": "np.log10(F(x))",
    "hexp": "np.exp(F(x))",
    "hexp2": "np.exp2(F(x))",
    "hexp10": "np.power(F(10), F(x))",
    "hfloor": "np.floor(F(x))",
    "hceil": "np.ceil(F(x))",
    "htrunc": "np.trunc(F(x))",
    "hrint": "np.rint(F(x))",
    "hsqrt": "np.sqrt(F(x))",
    "hrsqrt": "1.0 / np.sqrt(D(x))",
    "hrcp": "F(1) / F(x)",
    "hmax": "np.fmax(x, y)",
    "hmin": "np.fmin(x, y)",
    "heq": "x == y",
    "hne": "x != y",
    "hge": "x >= y",
    "hgt": "x > y",
    "hle": "x <= y",
    "hlt": "x < y",
}
__all__ = sorted(_TABLE)


def _make(name):
    text = _TABLE[name]
    names = sorted(set(re.findall(r"\b[xyz]\b", text)))
    lines = [f"def fp16_{name}({', '.join(names)}):"]
    lines += [f"    {p} = H({p})" for p in names]
    logical = any(sign in text for sign in ("==", "!=", "<", ">"))
    lines.append(f"    return {text}" if logical else f"    return H({text})")
    types = {"H": numpy.float16, "F": numpy.float32, "D": numpy.float64}
    made = compiled(f"fp16_{name}", lines, {"error_model": "numpy"}, np=numpy, **types)
    made.__doc__ = f"{name}({', '.join(names)}): {text}"
    return made


globals().update({name: _make(name) for name in _TABLE})
