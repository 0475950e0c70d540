// Where compiled functions find the sorts of src/routines and LAPACK (base/host_call.h).
#include "base/host_call.h"

#include <span>

#include "routines/search.h"
#include "routines/sort.h"
#include "vendor/lapack_loaded.h"

namespace numbus {
namespace {

template <class T = char>
T* at(int64_t word) {
  return reinterpret_cast<T*>(word);
}

DType type_of(const int64_t* w) { return static_cast<DType>(w[0]); }

int64_t sort(const int64_t* w) {
  routines::sort(type_of(w), at(w[1]), at(w[2]), w[3], w[4], w[5] != 0, w[6] != 0);
  return 0;
}

int64_t argsort(const int64_t* w) {
  routines::argsort(type_of(w), at(w[1]), at<int64_t>(w[2]), w[3], w[4], w[5] != 0);
  return 0;
}

std::span<const int64_t> ranks(const int64_t* w) {
  return {at<const int64_t>(w[5]), static_cast<size_t>(w[6])};
}

int64_t partition(const int64_t* w) {
  routines::partition(type_of(w), at(w[1]), at(w[2]), w[3], w[4], ranks(w));
  return 0;
}

int64_t argpartition(const int64_t* w) {
  routines::argpartition(type_of(w), at(w[1]), at<int64_t>(w[2]), w[3], w[4], ranks(w));
  return 0;
}

int64_t search(const int64_t* w) {
  routines::search(type_of(w), at(w[1]), w[2], at(w[3]), w[4], nullptr, w[5] != 0,
                   at<int64_t>(w[6]));
  return 0;
}

int64_t solve(const int64_t* w) {
  return vendor::lapack_solve(type_of(w), at(w[1]), at(w[2]), w[3], w[4]);
}

int64_t lu(const int64_t* w) {
  return vendor::lapack_lu(type_of(w), at(w[1]), at<int64_t>(w[2]), w[3]);
}

int64_t cholesky(const int64_t* w) { return vendor::lapack_cholesky(type_of(w), at(w[1]), w[2]); }

int64_t eigh(const int64_t* w) {
  return vendor::lapack_eigh(type_of(w), at(w[1]), at(w[2]), w[3], w[4] != 0);
}

int64_t eig(const int64_t* w) {
  return vendor::lapack_eig(type_of(w), at(w[1]), at(w[2]), w[5] ? at(w[3]) : nullptr, w[4]);
}

int64_t svd(const int64_t* w) {
  return vendor::lapack_svd(type_of(w), at(w[1]), at(w[2]), at(w[3]), at(w[4]), w[5], w[6],
                            static_cast<char>(w[7]));
}

int64_t qr(const int64_t* w) {
  return vendor::lapack_qr(type_of(w), at(w[1]), at(w[2]), w[3], w[4], w[5]);
}

constexpr HostCallFunction kFunctions[] = {sort, argsort,  partition, argpartition, search, solve,
                                           lu,   cholesky, eigh,      eig,          svd,    qr};
// The others are answered by the bindings.
static_assert(std::size(kFunctions) == static_cast<size_t>(HostCall::ErrorText));

// Before anything is compiled: when the library is loaded.
[[maybe_unused]] const bool kKnown = [] {
  for (size_t k = 0; k < std::size(kFunctions); ++k) host_calls[k] = kFunctions[k];
  return true;
}();

}  // namespace
}  // namespace numbus
