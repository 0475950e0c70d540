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


def __getattr__(name):
    return _missing("jax.scipy.linalg", name)
