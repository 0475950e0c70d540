// Factorisations by the LAPACK that is in the process: the copy that NumPy computes with.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace numbus::vendor {

// Matrices are stored by columns; t: float32, float64, complex64 or complex128. Each gives LAPACK's
// info, 0 where all is well, or kNoHostCall where there is no LAPACK with 64-bit integers.

// a x = b: `b` (n x m) becomes x, `a` its factors. Positive: singular.
int64_t lapack_solve(DType t, void* a, void* b, int64_t n, int64_t m);
// a = P L U; pivots from 1. Positive: singular.
int64_t lapack_lu(DType t, void* a, int64_t* pivots, int64_t n);
// The lower factor in the lower triangle. Positive: not positive definite.
int64_t lapack_cholesky(DType t, void* a, int64_t n);
// Eigenvalues (real, ascending), and the vectors in place of `a`, of which one triangle is read.
int64_t lapack_eigh(DType t, void* a, void* values, int64_t n, bool upper);
// Eigenvalues and right vectors, complex of t's precision; vectors may be null.
int64_t lapack_eig(DType t, void* a, void* values, void* vectors, int64_t n);
// job 'A': all columns of u and rows of vt; 'S': as many as singular values; 'N': none.
int64_t lapack_svd(DType t, void* a, void* s, void* u, void* vt, int64_t m, int64_t n, char job);
// R in the upper triangle of `a`, `columns` columns of Q (none: R alone).
int64_t lapack_qr(DType t, void* a, void* q, int64_t m, int64_t n, int64_t columns);

}  // namespace numbus::vendor
