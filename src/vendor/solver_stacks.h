// Stacks of small matrices, which one call of cuBLAS or cuSOLVER does; which, their shape says.
#pragma once

#include "vendor/solver.h"

namespace numbus::vendor {

// Whether these have a call for the whole stack. A type and a shape always give the same answer,
// but for takes_eigen, which is false where cuSOLVER is too old.
bool takes_lu(const Matrices& a);
bool takes_cholesky(const Matrices& a);
bool takes_jacobi(const Matrices& a);  // eigenvalues
bool takes_eigen(const Matrices& a);

// As the functions of solver.h.
void stack_getrf(Device& d, const Matrices& a, char* pivots);
void stack_getrs(Device& d, const Matrices& a, const char* pivots, bool transposed, int64_t sides,
                 char* x);
void stack_potrf(Device& d, const Matrices& a, bool upper);  // the other triangle is lost
void stack_syevj(Device& d, const Matrices& a, bool vectors, bool upper, char* w);
void stack_syev(Device& d, const Matrices& a, bool vectors, bool upper, char* w);

}  // namespace numbus::vendor
