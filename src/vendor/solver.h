// Dense linear algebra by cuSOLVER: factorisations, solutions, eigenvalues.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::vendor {

// `count` matrices of one type (float32, float64, complex64, complex128), one after the other,
// each stored by columns without gaps: what is row-major to NumPy is its transpose here. Everything
// is done in place, in order on the device's stream, and returns at once; `info` gets an int32 for
// each matrix that says whether it could be done: 0, or as LAPACK counts. The first call loads the
// library and raises where there is none.
struct Matrices {
  DType type = DType::F64;
  int64_t count = 1, rows = 0, cols = 0;
  char* data = nullptr;
  char* info = nullptr;
  bool one_by_one = false;  // no call takes them all
};

// LU with row exchanges, of square matrices; `pivots` are int32, `rows` for each.
void solver_getrf(Device& d, const Matrices& a, char* pivots);
// x, with `a` as getrf left it: of a or (transposed) its transpose, x replacing right sides that
// are stored by columns, too.
void solver_getrs(Device& d, const Matrices& a, const char* pivots, bool transposed, int64_t sides,
                  char* x);
// Cholesky's triangle over that triangle of `a`, whose other one may be lost.
void solver_potrf(Device& d, const Matrices& a, bool upper);
// R and the reflectors; `tau` has min(rows, cols) elements for each.
void solver_geqrf(Device& d, const Matrices& a, char* tau);
// The first `cols` columns of Q, from `reflectors` of them.
void solver_orgqr(Device& d, const Matrices& a, int64_t reflectors, const char* tau);
// Singular values, descending, and vectors where `u` is not null, of matrices that have at least as
// many rows as columns; `a` is destroyed. u has `u_cols` columns: `cols` of them, or `rows`.
void solver_gesvd(Device& d, const Matrices& a, char* s, int64_t u_cols, char* u, char* vt);
// The same of real matrices of at most 32 rows, all at once by Jacobi's method, with v in place of
// its transpose. Ask first; a type and a shape always give the same answer.
bool solver_has_gesvdj(DType type, int64_t rows, int64_t columns);
void solver_gesvdj(Device& d, const Matrices& a, char* s, int64_t u_cols, char* u, char* v);
// The transposes of square matrices.
void solver_turn(Device& d, const Matrices& a, char* to);
// By a polar decomposition, some three times as fast: u with `cols` columns, and v in
// place of its conjugate transpose. False where the library lacks it, or where it had to move small
// singular values: the results are not to be used then, and `a` is destroyed all the same. Waits
// for the GPU.
bool solver_gesvdp(Device& d, const Matrices& a, char* s, char* u, char* v);
// Stacks of which matrices are done by one call, up to so many rows (-1: as usual), so many at a
// time (0: as usual).
void set_stacks_for_tests(int64_t largest, int64_t piece);
// Eigenvalues, ascending, of the symmetric or Hermitian matrices whose triangle that is; vectors
// over `a`, which is destroyed in any case.
void solver_syevd(Device& d, const Matrices& a, bool vectors, bool upper, char* w);

// Eigenvalues, and right eigenvectors where `v` is not null, of any square matrices; `a` is
// destroyed. Complex: `rows` values for each. Real: all real parts, then all imaginary ones, and of
// the vectors of a conjugate pair the real part in the first column and the imaginary one in the
// second, as LAPACK has them. Waits for the GPU. Not in every cuSOLVER: ask first.
bool solver_has_geev();
void solver_geev(Device& d, const Matrices& a, char* w, char* v);

}  // namespace numbus::vendor
