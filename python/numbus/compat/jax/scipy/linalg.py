"""jax.scipy.linalg: factorisations and solutions under SciPy's names, by those of jax.numpy."""

import numbus as _nb

from ....core.errors import message
from ..._missing import missing as _missing
from .. import numpy as _jnp
from .._array import Array, as_array, made
from .._functions import expect_arrays
from ..numpy import linalg as _linalg

__name__ = "jax.scipy.linalg"


def _checked(op, *options):
    """Options that say how memory is used, and whether NaN is looked for."""
    for option in options:
        if not isinstance(option, bool):
            raise TypeError(message(f"jax.scipy.linalg.{op}", "not a bool", option, "True, False"))


def _turned(x):
    a = _nb.swapaxes(x._a, -1, -2)
    return Array(as_array(_nb.conj(a) if a.dtype.kind == "c" else a))


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The triangular factor of a positive definite matrix: the upper one unless `lower`."""
    _checked("cholesky", lower, overwrite_a, check_finite)
    x = _linalg._floating(made(a))
    x = x if lower else _turned(x)
    found = Array(as_array(_nb.linalg.cholesky(x._a)))
    return found if lower else _turned(found)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """The factor, and whether it is the lower one, for cho_solve()."""
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """Solves a system by cho_factor()'s result."""
    _checked("cho_solve", overwrite_b, check_finite)
    c, lower = c_and_lower
    first = solve_triangular(c, b, trans=0 if lower else 2, lower=lower)
    return solve_triangular(c, first, trans=2 if lower else 0, lower=lower)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False,
                     debug=None, check_finite=True):  # fmt: skip
    """Solves a system of one triangle of `a`; trans: 0, 1 (of its transpose), 2 (conjugate)."""
    _checked("solve_triangular", lower, unit_diagonal, overwrite_b, check_finite)
    if debug is not None or trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(message("jax.scipy.linalg.solve_triangular", "unknown", (trans, debug),
                                 "trans of 0, 1, 2, 'N', 'T', 'C'"))  # fmt: skip
    x, y = _linalg._floating(a), _linalg._floating(b)
    m = as_array(_nb.tril(x._a) if lower else _nb.triu(x._a))
    if unit_diagonal:
        eye = _nb.eye(m.shape[-1], dtype=m.dtype)
        m = _nb.where(eye != 0, m.dtype.type(1), m)
    if trans not in (0, "N"):
        m = _nb.swapaxes(m, -1, -2)
        m = _nb.conj(m) if trans in (2, "C") and m.dtype.kind == "c" else m
    return _solved(Array(as_array(m)), y)


def _solved(a, b):
    if b.ndim == 1 or b.ndim == a.ndim - 1:
        found = _linalg.solve(a, Array(as_array(made(b)._a[..., None])))
        return Array(as_array(found._a[..., 0]))
    return _linalg.solve(a, b)


def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, debug=False, check_finite=True,
          assume_a="gen"):  # fmt: skip
    """Solves a system; "pos": of a positive definite matrix, of which one triangle is read."""
    expect_arrays("solve", a, b)
    _checked("solve", lower, overwrite_a, overwrite_b, debug, check_finite)
    if assume_a == "pos":
        return cho_solve(cho_factor(a, lower), b)
    if assume_a not in ("gen", "sym", "her"):
        raise ValueError(message("jax.scipy.linalg.solve", "unknown assume_a", assume_a, "'gen'"))
    return _solved(_linalg._floating(a), _linalg._floating(b))


def inv(a, overwrite_a=False, check_finite=True):
    """The inverse."""
    _checked("inv", overwrite_a, check_finite)
    return _linalg.inv(a)


def det(a, overwrite_a=False, check_finite=True):
    """The determinant."""
    _checked("det", overwrite_a, check_finite)
    return _linalg.det(a)


def block_diag(*arrs):
    """Matrices along the diagonal of one, zeros elsewhere."""
    kind = _jnp.result_type(*arrs)
    parts = [_nb.atleast_2d(made(x)._a) for x in arrs]
    width, rows, at = sum(p.shape[1] for p in parts), [], 0
    for p in parts:
        after = width - at - p.shape[1]
        sides = (_nb.zeros((p.shape[0], at), kind), _nb.zeros((p.shape[0], after), kind))
        rows.append(_nb.concatenate([sides[0], p.astype(kind), sides[1]], axis=1))
        at += p.shape[1]
    return Array(as_array(_nb.concatenate(rows, axis=0)))


def eigh(a, b=None, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False,
         turbo=True, eigvals=None, type=1, check_finite=True):  # fmt: skip
    """The eigenvalues and eigenvectors of a Hermitian matrix, of which one triangle is read."""
    _checked("eigh", lower, eigvals_only, overwrite_a, overwrite_b, turbo, check_finite)
    if b is not None or type != 1 or eigvals is not None:
        raise NotImplementedError(
            message("jax.scipy.linalg.eigh", "an option that is not yet available",
                    (b, type, eigvals), "None, 1 and None")
        )  # fmt: skip
    values, vectors = _linalg.eigh(a, "L" if lower else "U")
    return values if eigvals_only else (values, vectors)


def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True,
        lapack_driver="gesdd"):  # fmt: skip
    """The singular value decomposition; all drivers are the same here."""
    _checked("svd", full_matrices, compute_uv, overwrite_a, check_finite)
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError(message("jax.scipy.linalg.svd", "unknown driver", lapack_driver, "gesdd"))
    found = _linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(found) if compute_uv else found


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """The product of an orthogonal and a triangular matrix: "full", "economic", or only "r"."""
    _checked("qr", overwrite_a, pivoting, check_finite)
    if pivoting or lwork is not None:
        raise NotImplementedError(
            message("jax.scipy.linalg.qr", "an option that is not yet available",
                    (pivoting, lwork), "False and None")
        )  # fmt: skip
    known = {"full": "complete", "economic": "reduced", "r": "r"}
    if mode not in known:
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    found = _linalg.qr(a, mode=known[mode])
    return (found,) if mode == "r" else tuple(found)


def toeplitz(c, r=None):
    """The matrix whose diagonals have one value each: of a first column, and a first row."""
    expect_arrays("toeplitz", c)
    c = made(c)
    r = _jnp.conj(c) if r is None else made(r)
    if c.ndim > 1 or r.ndim > 1:
        raise NotImplementedError(
            message("jax.scipy.linalg.toeplitz", "several matrices are not yet available",
                    (c.shape, r.shape), "lines")
        )  # fmt: skip
    c, r = c.reshape(-1), r.reshape(-1)
    line = _jnp.concatenate([c[::-1], r[1:]])
    n, m = c.size, r.size
    at = n - 1 - _nb.arange(n)[:, None] + _nb.arange(m)[None, :]
    return Array(as_array(_nb.take(line._a, at)))


# The numerator of Padé's approximation of exp of degree 13, whose denominator has other signs.
_PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
    10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
)  # fmt: skip


def expm(A, *, upper_triangular=False, max_squarings=16):
    """The exponential of a matrix, by Padé's approximation of a part that is squared (Higham,
    2005); NaN where more than `max_squarings` would be needed.
    """
    _checked("expm", upper_triangular)
    expect_arrays("expm", A)
    a = _linalg._floating(made(A))._a
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"expm expected A to be a (batched) square matrix, got {a.shape=}.")
    real = _nb.real(a).dtype
    size = _nb.stop_gradient(_nb.max(_nb.sum(_nb.abs(a), axis=-2), axis=-1))
    limit = 5.371920351148152 if real.itemsize == 8 else 3.925724783138660
    count = _nb.maximum(0, _nb.ceil(_nb.log2(_nb.maximum(size, 1e-30) / limit)))
    lost = as_array(_nb.logical_not(count <= max_squarings))
    count = as_array(_nb.where(lost, 0, count))[..., None, None]
    t = a.dtype
    eye = _nb.eye(a.shape[-1], dtype=t)
    x = (a / _nb.exp2(count)).astype(t)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    b = [t.type(v) for v in _PADE]
    odd = x @ (
        x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * eye
    )
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2)
    even = even + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * eye
    found = _nb.linalg.solve(even - odd, even + odd)
    most = int(_nb.max(count)) if a.size else 0
    for k in range(most):
        found = _nb.where(count > k, found @ found, found)
    found = _nb.where(lost[..., None, None], _nb.nan, found)
    return Array(as_array(found).astype(t))


def __getattr__(name):
    return _missing("jax.scipy.linalg", name)
