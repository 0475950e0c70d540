"""torch.linalg's names."""

from .factors import (
    LinAlgError,
    cond,
    diagonal,
    lstsq,
    lu,
    lu_factor,
    lu_factor_ex,
    matrix_exp,
    matrix_rank,
    multi_dot,
    solve_triangular,
    tensorinv,
    tensorsolve,
    vecdot,
)
from .factors import _lu_solve as lu_solve
from .linalg_only import cholesky_ex, inv_ex, norm, qr, solve_ex, svd, vander
from .products import (
    cholesky,
    cross,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    matmul,
    matrix_norm,
    matrix_power,
    pinv,
    slogdet,
    solve,
    svdvals,
    vector_norm,
)  # fmt: skip

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh",
    "eigvals", "eigvalsh", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve",
    "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm",
    "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd",
    "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip
