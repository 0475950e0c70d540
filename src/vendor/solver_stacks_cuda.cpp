// Stacks of small matrices on an NVIDIA GPU, by the calls of cuBLAS and cuSOLVER for stacks.
#include "vendor/solver_stacks.h"

#include <algorithm>
#include <vector>

#include "vendor/cublas.h"
#include "vendor/solver_session.h"

namespace numbus::vendor {

using namespace cusolver;

namespace {

// The largest matrices that are done so: a thread block, which has one of them, is slower then than
// the whole GPU on one after the other. Jacobi's method is the libraries' up to 32.
constexpr int64_t kMostLu = 512, kMostCholesky = 512, kMostEigen = 512, kMostJacobi = 32;
// A block for each is worth it where there are several for so many rows: 16 of 512 rows took 6.8
// ms, one after the other 15.7 (NVIDIA H200, 2026-11-28).
constexpr int64_t kRowsEach = 32;
// Matrices of one call. Work areas grow with them, and a library's grids end somewhere.
constexpr int64_t kPiece = 8192;

int64_t most_for_tests = -1, piece_for_tests = kPiece;

int64_t most(int64_t usual) { return most_for_tests < 0 ? usual : most_for_tests; }
int64_t most_jacobi() { return std::min(kMostJacobi, most(kMostJacobi)); }

bool is_stack(const Matrices& a, int64_t largest) {
  return a.count > 1 && a.rows <= largest && !a.one_by_one;
}

bool are_many(const Matrices& a) { return most_for_tests >= 0 || a.count * kRowsEach >= a.rows; }

// Calls f(the first matrix, how many).
template <class F>
void pieces(int64_t count, F f) {
  for (int64_t from = 0; from < count; from += piece_for_tests)
    f(from, narrow(std::min(piece_for_tests, count - from)));
}

// The addresses of things of one size in a row, on the device.
class Addresses {
 public:
  Addresses(Device& d, char* first, int64_t count, int64_t step)
      : on_device_(d, static_cast<size_t>(count) * sizeof(char*)) {
    std::vector<char*> all(static_cast<size_t>(count));
    for (size_t k = 0; k < all.size(); ++k) all[k] = first + static_cast<int64_t>(k) * step;
    d.copy_from_host(on_device_.data(), all.data(), all.size() * sizeof(char*));
  }
  void** from(int64_t n) const { return reinterpret_cast<void**>(on_device_.data()) + n; }

 private:
  Scratch on_device_;
};

int64_t bytes_of(const Matrices& a) { return a.rows * a.cols * itemsize(a.type); }
int* info_of(const Matrices& a, int64_t from) { return reinterpret_cast<int*>(a.info) + from; }

// Jacobi's method goes on until what is off the diagonal is as small as rounding makes it.
double tolerance(const Matrices& a) {
  return real_of(a.type) == DType::F32 ? double{std::numeric_limits<float>::epsilon()}
                                       : std::numeric_limits<double>::epsilon();
}
// Parameters are kept for the process, one for a library. Session's lock guards them.
Jacobi parameters(const Session& call, const Matrices& a, bool svd) {
  static auto* all = new std::map<std::pair<const Library*, bool>, Jacobi>;
  Jacobi& known = (*all)[{call.api.library, svd}];
  if (known == nullptr && svd) call.check(call.api.create_gesvdj(&known), "CreateGesvdjInfo");
  if (known == nullptr) call.check(call.api.create_syevj(&known), "CreateSyevjInfo");
  const auto set = svd ? call.api.gesvdj_tolerance : call.api.syevj_tolerance;
  call.check(set(known, tolerance(a)), "SetTolerance");
  return known;
}

}  // namespace

void set_stacks_for_tests(int64_t largest, int64_t piece) {
  most_for_tests = largest;
  piece_for_tests = piece > 0 ? piece : kPiece;
}

bool takes_lu(const Matrices& a) { return is_stack(a, most(kMostLu)) && are_many(a); }
bool takes_cholesky(const Matrices& a) { return is_stack(a, most(kMostCholesky)) && are_many(a); }
// That of complex64 has given vectors that are not orthogonal, without a word
// (github.com/pytorch/pytorch/issues/192483).
bool takes_jacobi(const Matrices& a) { return is_stack(a, most_jacobi()) && a.type != DType::C64; }
bool takes_eigen(const Matrices& a) {
  if (!is_stack(a, most(kMostEigen)) || a.type == DType::C64) return false;
  const auto& api = entries_of<Api>("cusolver");
  return api.create_parameters && api.syev_stack_size && api.syev_stack;
}
bool solver_has_gesvdj(DType type, int64_t rows, int64_t columns) {
  return !is_complex(type) && std::max(rows, columns) <= most_jacobi();
}

void stack_getrf(Device& d, const Matrices& a, char* pivots) {
  const Addresses at(d, a.data, a.count, bytes_of(a));
  const CublasCall call(d, a);
  const int n = narrow(a.rows);
  pieces(a.count, [&](int64_t from, int count) {
    call.on_stack(call.api().getrf, n, at.from(from), line(n),
                  reinterpret_cast<int*>(pivots) + from * n, info_of(a, from), count);
  });
}

void stack_getrs(Device& d, const Matrices& a, const char* pivots, bool transposed, int64_t sides,
                 char* x) {
  const Addresses at(d, a.data, a.count, bytes_of(a));
  const Addresses x_at(d, x, a.count, a.rows * sides * itemsize(a.type));
  const CublasCall call(d, a);
  const int n = narrow(a.rows);
  pieces(a.count, [&](int64_t from, int count) {
    int info = 0;  // of arguments alone
    call.on_stack(call.api().getrs, transposed ? kTranspose : kNoTranspose, n, narrow(sides),
                  at.from(from), line(n), reinterpret_cast<const int*>(pivots) + from * n,
                  x_at.from(from), line(n), &info, count);
  });
  // Nobody else says that a matrix could be done.
  d.fill_bytes(a.info, 0, static_cast<size_t>(a.count) * sizeof(int), nullptr);
}

void stack_potrf(Device& d, const Matrices& a, bool upper) {
  const Addresses at(d, a.data, a.count, bytes_of(a));
  const Session call(d, a);
  pieces(a.count, [&](int64_t from, int count) {
    call(call.api.potrf_stack, upper ? kUpper : kLower, narrow(a.rows), at.from(from), line(a.rows),
         info_of(a, from), count);
  });
}

void stack_syevj(Device& d, const Matrices& a, bool vectors, bool upper, char* w) {
  const Session call(d, a);
  const int n = narrow(a.rows), job = vectors ? kVectors : kNoVectors,
            triangle = upper ? kUpper : kLower;
  const Jacobi jacobi = parameters(call, a, false);
  const int64_t real = itemsize(real_of(a.type));
  pieces(a.count, [&](int64_t from, int count) {
    char *const data = a.data + from * bytes_of(a), *const values = w + from * n * real;
    int size = 0;
    call(call.api.syevj_size, job, triangle, n, static_cast<const void*>(data), line(n),
         static_cast<const void*>(values), &size, jacobi, count);
    const Scratch work = call.work(size);
    call(call.api.syevj, job, triangle, n, static_cast<void*>(data), line(n),
         static_cast<void*>(values), static_cast<void*>(work.data()), size, info_of(a, from),
         jacobi, count);
  });
}

void stack_syev(Device& d, const Matrices& a, bool vectors, bool upper, char* w) {
  const Session call(d, a);
  const int64_t n = a.rows, step = n > 0 ? n : 1;
  const int t = call.type_constant(), real_type = t % 4, job = vectors ? kVectors : kNoVectors,
            triangle = upper ? kUpper : kLower;
  const Parameters parameters = call.parameters();
  const int64_t real = itemsize(real_of(a.type));
  pieces(a.count, [&](int64_t from, int count) {
    char *const data = a.data + from * bytes_of(a), *const values = w + from * n * real;
    size_t bytes = 0, host_bytes = 0;
    call.generic(call.api.syev_stack_size, "cusolverDnXsyevBatched_bufferSize", parameters, job,
                 triangle, n, t, static_cast<const void*>(data), step, real_type,
                 static_cast<const void*>(values), t, &bytes, &host_bytes, int64_t{count});
    const Scratch work(d, bytes);
    std::vector<char> host_work(host_bytes);
    call.generic(call.api.syev_stack, "cusolverDnXsyevBatched", parameters, job, triangle, n, t,
                 static_cast<void*>(data), step, real_type, static_cast<void*>(values), t,
                 static_cast<void*>(work.data()), bytes, static_cast<void*>(host_work.data()),
                 host_bytes, info_of(a, from), int64_t{count});
    if (host_bytes > 0) d.synchronize();  // before the host's work area is gone
  });
}

void solver_turn(Device& d, const Matrices& a, char* to) {
  const CublasCall call(d, a);
  for (int64_t k = 0; k < a.count; ++k)
    call.turn(a.data + k * bytes_of(a), to + k * bytes_of(a), a.rows);
}

void solver_gesvdj(Device& d, const Matrices& a, char* s, int64_t u_cols, char* u, char* v) {
  const int m = narrow(a.rows), n = narrow(a.cols), vectors = u ? kVectors : kNoVectors;
  const int64_t item = itemsize(a.type);
  // The library makes all columns of u, and writes to u and v where only values are asked for, too.
  const bool own_u = !u || u_cols != m;
  const Scratch whole(d, own_u ? static_cast<size_t>(a.count * m * m * item) : 0);
  const Scratch lost_v(d, u ? 0 : static_cast<size_t>(a.count * n * n * item));
  char *const all_u = own_u ? whole.data() : u, *const all_v = u ? v : lost_v.data();
  {
    const Session call(d, a);
    const Jacobi jacobi = parameters(call, a, true);
    pieces(a.count, [&](int64_t from, int count) {
      char *const data = a.data + from * bytes_of(a), *const values = s + from * n * item,
                  *const left = all_u + from * m * m * item,
                  *const right = all_v + from * n * n * item;
      int size = 0;
      call(call.api.gesvdj_size, vectors, m, n, static_cast<const void*>(data), line(m),
           static_cast<const void*>(values), static_cast<const void*>(left), line(m),
           static_cast<const void*>(right), line(n), &size, jacobi, count);
      const Scratch work = call.work(size);
      call(call.api.gesvdj, vectors, m, n, static_cast<void*>(data), line(m),
           static_cast<void*>(values), static_cast<void*>(left), line(m), static_cast<void*>(right),
           line(n), static_cast<void*>(work.data()), size, info_of(a, from), jacobi, count);
    });
  }
  if (!u || !own_u) return;
  const CublasCall call(d, a);
  call.copy_first_rows(whole.data(), int64_t{m} * m, u, m * u_cols, a.count);
}

}  // namespace numbus::vendor
