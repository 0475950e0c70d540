// Systems of linear equations on the CPU.
#pragma once

#include <cstdint>

namespace numbus::vendor {

// Whether the loaded BLAS is the copy in NumPy's own wheel: what NumPy computes by it has the same
// bits here.
bool lapack_is_numpys();

// a x = b for n x n and n x columns float64 matrices stored by columns: `b` becomes x, `a` its
// factors. pivots: n integers. False where `a` is singular. For a library that lapack_is_numpys().
bool solve_cpu(int64_t n, int64_t columns, double* a, double* b, int64_t* pivots);

}  // namespace numbus::vendor
