"""What only compiled functions are swept over (sweep_compiled.py), in the registry's words: linear
algebra, polynomials of rising powers, functions of numbers, and expressions of arrays.
"""

import cmath
import math

import numpy as np
import registry_calls
from numbus.functions import registry
from registry_values import ABSENT

LINALG = """
cholesky(a: Array, /, *, upper: Flag = False)
cond(x: Array, p: Any = None)
det(a: Array)
eig(a: Array)
eigh(a: Array, UPLO: Any = "L")
eigvals(a: Array)
eigvalsh(a: Array, UPLO: Any = "L")
inv(a: Array)
lstsq(a: Array, b: Any, rcond: Any = None)
matrix_power(a: Array, n: Any)
matrix_rank(A: Array, tol: Any = None, hermitian: Flag = False)
norm(x: Array, ord: Any = None, axis: Axes = None, keepdims: Flag = False)
pinv(a: Array, rcond: Any = None, hermitian: Flag = False)
qr(a: Array, mode: Any = "reduced")
slogdet(a: Array)
solve(a: Array, b: Any)
svd(a: Array, full_matrices: Flag = True, compute_uv: Flag = True, hermitian: Flag = False)
"""

POLYNOMIALS = """
polyadd(c1: Array, c2: Any)
polysub(c1: Array, c2: Any)
polymul(c1: Array, c2: Any)
polydiv(c1: Array, c2: Any)
polyval(x: Array, c: Any)
polyint(c: Array)
"""


def matrix(rows, columns, dtype, seed):
    """One that is far from singular, of small whole numbers and their halves."""
    rng = np.random.default_rng([seed, rows, columns])
    a = rng.integers(-3, 4, (rows, columns)) / (1 if dtype.kind in "iub" else 2)
    if dtype.kind == "c":
        a = a + 1j * rng.integers(-2, 3, (rows, columns)) / 2
    k = min(rows, columns)
    a[range(k), range(k)] += [8 + 3 * i for i in range(k)]
    return np.abs(a).astype(dtype) if dtype.kind == "u" else a.astype(dtype)


def of_kind(rows, columns, a):
    """Most of the time one of these extents in the layout of `a`, else `a` itself."""
    if (a.size + a.ndim) % 7 == 3 or not a.size:
        return a
    made = matrix(rows, columns, a.dtype, a.ndim + a.size)
    if a.flags.f_contiguous and not a.flags.c_contiguous:
        return np.asfortranarray(made)
    if not a.flags.forc:
        return np.repeat(made, 2, -1)[:, ::2] if a.size % 2 else made[::-1][::-1]
    return made


def square(a):
    n = (3, 1, 4, 2, 10, 12)[(a.size + a.ndim) % 6]
    return of_kind(n, n, a)


def definite(a):
    s = square(a)
    if s.ndim != 2 or s.shape[0] != s.shape[1] or s.dtype.kind == "b":
        return s
    made = (s.T.conj() + s + 8 * np.eye(len(s), dtype=s.dtype)).astype(s.dtype)
    return np.asfortranarray(made) if s.flags.f_contiguous else made


def wide(a):
    rows, columns = ((3, 3), (4, 2), (2, 5), (1, 1), (9, 11), (12, 3))[(a.size + a.ndim) % 6]
    return of_kind(rows, columns, a)


def right_sides(a, axis):
    n = a.shape[0] if a.ndim else 1
    b = matrix(n, 2, a.dtype, 3)
    return [b, b[:, 0].copy(), np.asfortranarray(b), b[:, 1], np.ones(n), b[1:]]


def coefficients(a, axis):
    flat = a.ravel()
    return [np.array([2.0, 1.0, -1.5]), [1, 2], flat[:3], np.array([3]), np.array([1j, 2])]


SAMPLES = {
    ("linalg.cond", "p"): lambda a, axis: [ABSENT, None, 2, 1, -1, np.inf, "fro", -2],
    ("linalg.eigh", "UPLO"): lambda a, axis: [ABSENT, ABSENT, "L", "U"],
    ("linalg.eigvalsh", "UPLO"): lambda a, axis: [ABSENT, ABSENT, "L", "U"],
    ("linalg.lstsq", "b"): right_sides,
    ("linalg.lstsq", "rcond"): lambda a, axis: [ABSENT, None, -1, 1e-6, 0.5],
    ("linalg.solve", "b"): right_sides,
    ("linalg.matrix_power", "n"): lambda a, axis: [0, 1, 2, 3, 5, -1, -2, 1.5],
    ("linalg.matrix_rank", "tol"): lambda a, axis: [ABSENT, ABSENT, None, 1e-3, 100.0],
    ("linalg.norm", "ord"): lambda a, axis: [
        ABSENT, None, 1, 2, -1, -2, 0, 3, 2.5, np.inf, -np.inf, "fro", "nuc",
    ],
    ("linalg.pinv", "rcond"): lambda a, axis: [ABSENT, None, 1e-15, 0.5],
    ("linalg.qr", "mode"): lambda a, axis: [ABSENT, ABSENT, "reduced", "complete", "r", "raw"],
    **{
        (f"polynomial.{name}", key): coefficients
        for name, key in (
            ("polyadd", "c2"),
            ("polysub", "c2"),
            ("polymul", "c2"),
            ("polydiv", "c2"),
            ("polyval", "c"),
        )
    },
}  # fmt: skip
SAMPLES["linalg.norm", "axis"] = lambda a, axis: [
    ABSENT, ABSENT, None, *range(-a.ndim, a.ndim), (0, 1), (-1, 0), (1, 1),
]  # fmt: skip
_MADE = {
    **dict.fromkeys("det eig eigvals inv matrix_power slogdet solve".split(), square),
    **dict.fromkeys("cholesky eigh eigvalsh".split(), definite),
    **dict.fromkeys("cond lstsq matrix_rank pinv qr svd norm".split(), wide),
}
registry_calls.ARRAYS.update({f"linalg.{name}": made for name, made in _MADE.items()})
registry_calls.ARRAYS.update(
    {f"polynomial.{line.partition('(')[0]}": np.ravel for line in POLYNOMIALS.split("\n") if line}
)
registry_calls.ARRAYS["polynomial.polyval"] = lambda a: a


def _rows():
    found = {}
    for kind, module, text in (
        ("linalg", np.linalg, LINALG),
        ("polynomial", np.polynomial.polynomial, POLYNOMIALS),
    ):
        for line in text.strip().splitlines():
            own, _, rest = line.partition("(")
            known = {k: getattr(registry, k) for k in registry._KINDS}
            exec(f"def body({rest}: pass", known)
            name = f"{kind}.{own}"
            found[name] = registry.Row((name,), kind, known["body"], getattr(module, own), False)
    return found


ROWS = _rows()


# --- Functions of numbers: each type of arguments is compiled once and called with many values.

REAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.0, 1e-300, -1e300, 170.5, 23.0, -3.7]
REAL += [math.inf, -math.inf, math.nan, 1e17, 1.0000000000000002, 0.1]
WHOLE = [0, 1, -1, 2, 3, -7, 10, 25, 61, 2**40, -(2**31)]
PARTS = [0.0, -0.0, 1.0, -2.5, 0.5, math.inf, -math.inf, math.nan, 1e200]
COMPLEX = [complex(x, y) for x in PARTS for y in PARTS]

# name: what its arguments are: r a real number, i an integer, c a complex one.
NUMBERS = {
    **dict.fromkeys(
        """math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt math.ceil
        math.cos math.cosh math.degrees math.erf math.erfc math.exp math.exp2 math.expm1 math.fabs
        math.floor math.frexp math.gamma math.isfinite math.isinf math.isnan math.lgamma math.log
        math.log10 math.log1p math.log2 math.modf math.radians math.sin math.sinh math.sqrt math.tan
        math.tanh math.trunc math.ulp abs round int float bool complex""".split(),
        "r",
    ),
    **dict.fromkeys(
        """math.atan2 math.copysign math.fmod math.hypot math.nextafter math.pow math.remainder
        math.isclose math.log divmod pow cmath.rect complex min max""".split(),
        "rr",
    ),
    **dict.fromkeys("math.factorial math.isqrt".split(), "i"),
    **dict.fromkeys("math.comb math.gcd math.lcm math.perm divmod".split(), "ii"),
    "math.ldexp": "ri",
    "round": "ri",
    **dict.fromkeys(
        """cmath.acos cmath.acosh cmath.asin cmath.asinh cmath.atan cmath.atanh cmath.cos cmath.cosh
        cmath.exp cmath.isfinite cmath.isinf cmath.isnan cmath.log cmath.log10 cmath.phase
        cmath.polar cmath.sin cmath.sinh cmath.sqrt cmath.tan cmath.tanh abs""".split(),
        "c",
    ),
}
SPACE = {"math": math, "cmath": cmath}

# --- Expressions of an array `a`, which `n` and `k` say more about.

EXPRESSIONS = """
a.item(n); a.item(-1); max(a.flat); min(a.flat); sum(a.flat); a.flat[n]; list(a.flat); a.flat[1:]
max(a); min(a); sum(a); abs(a); round(a, n); divmod(a, 2); -a; ~a; a + 1; a ** 2; a / 2; a // 2
a % 2; a @ a; a @ a.T; a.T; a.real; a.imag; a.conj(); a[n]; a[-1]; a[..., 0]; a[::2]; a[::-1]
a[None]; a[a > 1]; a.size; a.shape; a.nbytes; a.itemsize; a.copy(); a.astype(np.float32)
a.astype(np.complex64); a.astype(bool); a.flatten(); a.ravel(); a.reshape(-1); a.fill(3)
[x for x in a.flat]; any(a.flat); all(a.flat); len(a); np.where(a > 1, a, 0); np.where(a, 1, a)
[x for _, x in np.ndenumerate(a)]; [i for i in np.ndindex(a.shape)]; [x for x in a]; sorted(a.flat)
a.strides; a.copy().strides; a.astype(np.float32).strides; np.where(a > 1, a, a).strides
(a + 1).strides; np.sqrt(a).strides; np.copy(a).strides; np.zeros_like(a).strides
a.dtype.itemsize; np.float32(a.flat[0]); int(a.flat[0]); a == a; a != 1; a < 2; (a > 1) & (a < 3)
np.abs(a).max(); tuple(a.shape); a.swapaxes(0, -1); a.mean(axis=-1); a.sum(axis=(0, -1))
a.argmax(axis=-1); a.argmin(); a.max(axis=0, keepdims=True); a.cumsum(axis=-1); a.cumprod(axis=0)
a.prod(axis=-1); a.std(axis=0); a.var(axis=-1, ddof=1); a.clip(0, 2); a.round(1); a.any(axis=0)
a.all(axis=-1); a.nonzero(); a.repeat(2, axis=0); a.take(0, axis=-1); a.trace(); a.diagonal()
a.squeeze(); a.ptp(); a.dot(a); a.searchsorted(n); a.compress(np.array([True])); a.partition(0)
a.sort(); a.argsort(axis=0); a.transpose(); a.view(np.int64); a.tolist(); a.item()
""".replace("\n", ";")
EXPRESSIONS = [text.strip() for text in EXPRESSIONS.split(";") if text.strip()]
