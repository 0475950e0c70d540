// Dense linear algebra on an NVIDIA GPU, by cuSOLVER: what has no call for a stack is a loop.
#include <limits>
#include <vector>

#include "vendor/solver_session.h"
#include "vendor/solver_stacks.h"

namespace numbus::vendor {

using namespace cusolver;

namespace {

// How far singular values may be moved without more harm than rounding does: the distance of two
// numbers at the largest one, which lies at `s`. Waits for the GPU.
double largest_move(Device& d, const char* s, DType t) {
  if (t == DType::F64) {
    double first = 0;
    d.copy_to_host(&first, s, sizeof first);
    return first * std::numeric_limits<double>::epsilon();
  }
  float first = 0;
  d.copy_to_host(&first, s, sizeof first);
  return double{first} * std::numeric_limits<float>::epsilon();
}

}  // namespace

void solver_getrf(Device& d, const Matrices& a, char* pivots) {
  if (takes_lu(a)) return stack_getrf(d, a, pivots);
  Session call(d, a);
  const int n = narrow(a.rows);
  int size = 0;
  call(call.api.getrf_size, n, n, static_cast<void*>(a.data), line(n), &size);
  Scratch work = call.work(size);
  call.each([&](int64_t s, char* data, int* info) {
    call(call.api.getrf, n, n, static_cast<void*>(data), line(n), static_cast<void*>(work.data()),
         reinterpret_cast<int*>(pivots) + s * n, info);
  });
}

void solver_getrs(Device& d, const Matrices& a, const char* pivots, bool transposed, int64_t sides,
                  char* x) {
  if (takes_lu(a)) return stack_getrs(d, a, pivots, transposed, sides, x);
  Session call(d, a);
  const int n = narrow(a.rows);
  call.each([&](int64_t s, char* data, int* info) {
    call(call.api.getrs, transposed ? kTranspose : kNoTranspose, n, narrow(sides),
         static_cast<const void*>(data), line(n), reinterpret_cast<const int*>(pivots) + s * n,
         static_cast<void*>(x + s * sides * n * call.item()), line(n), info);
  });
}

void solver_potrf(Device& d, const Matrices& a, bool upper) {
  if (takes_cholesky(a)) return stack_potrf(d, a, upper);
  Session call(d, a);
  const int n = narrow(a.rows), triangle = upper ? kUpper : kLower;
  int size = 0;
  call(call.api.potrf_size, triangle, n, static_cast<void*>(a.data), line(n), &size);
  Scratch work = call.work(size);
  call.each([&](int64_t, char* data, int* info) {
    call(call.api.potrf, triangle, n, static_cast<void*>(data), line(n),
         static_cast<void*>(work.data()), size, info);
  });
}

void solver_geqrf(Device& d, const Matrices& a, char* tau) {
  Session call(d, a);
  const int m = narrow(a.rows), n = narrow(a.cols);
  const int64_t k = std::min(m, n);
  int size = 0;
  call(call.api.geqrf_size, m, n, static_cast<void*>(a.data), line(m), &size);
  Scratch work = call.work(size);
  call.each([&](int64_t s, char* data, int* info) {
    call(call.api.geqrf, m, n, static_cast<void*>(data), line(m),
         static_cast<void*>(tau + s * k * call.item()), static_cast<void*>(work.data()), size,
         info);
  });
}

void solver_orgqr(Device& d, const Matrices& a, int64_t reflectors, const char* tau) {
  Session call(d, a);
  const int m = narrow(a.rows), n = narrow(a.cols), k = narrow(reflectors);
  int size = 0;
  call(call.api.orgqr_size, m, n, k, static_cast<const void*>(a.data), line(m),
       static_cast<const void*>(tau), &size);
  Scratch work = call.work(size);
  call.each([&](int64_t s, char* data, int* info) {
    call(call.api.orgqr, m, n, k, static_cast<void*>(data), line(m),
         static_cast<const void*>(tau + s * k * call.item()), static_cast<void*>(work.data()), size,
         info);
  });
}

void solver_gesvd(Device& d, const Matrices& a, char* s, int64_t u_cols, char* u, char* vt) {
  Session call(d, a);
  const int m = narrow(a.rows), n = narrow(a.cols);
  const int64_t real = itemsize(real_of(a.type));
  // 'A' gives all columns of u, 'S' the first n; of vt there are n rows in both cases.
  const signed char job_u = u == nullptr ? 'N' : u_cols == m ? 'A' : 'S';
  const signed char job_vt = u == nullptr ? 'N' : job_u;
  int size = 0;
  call(call.api.gesvd_size, m, n, &size);
  Scratch work = call.work(size);
  Scratch unconverged(d, static_cast<size_t>(n * real));
  call.each([&](int64_t i, char* data, int* info) {
    char* u_at = u == nullptr ? nullptr : u + i * m * u_cols * call.item();
    char* vt_at = u == nullptr ? nullptr : vt + i * n * n * call.item();
    call(call.api.gesvd, job_u, job_vt, m, n, static_cast<void*>(data), line(m),
         static_cast<void*>(s + i * n * real), static_cast<void*>(u_at), line(m),
         static_cast<void*>(vt_at), line(n), static_cast<void*>(work.data()), size,
         static_cast<void*>(unconverged.data()), info);
  });
}

void solver_syevd(Device& d, const Matrices& a, bool vectors, bool upper, char* w) {
  if (takes_jacobi(a)) return stack_syevj(d, a, vectors, upper, w);
  if (takes_eigen(a)) return stack_syev(d, a, vectors, upper, w);
  Session call(d, a);
  const int n = narrow(a.rows), job = vectors ? kVectors : kNoVectors,
            triangle = upper ? kUpper : kLower;
  const int64_t real = itemsize(real_of(a.type));
  int size = 0;
  call(call.api.syevd_size, job, triangle, n, static_cast<const void*>(a.data), line(n),
       static_cast<const void*>(w), &size);
  Scratch work = call.work(size);
  call.each([&](int64_t s, char* data, int* info) {
    call(call.api.syevd, job, triangle, n, static_cast<void*>(data), line(n),
         static_cast<void*>(w + s * n * real), static_cast<void*>(work.data()), size, info);
  });
}

bool solver_gesvdp(Device& d, const Matrices& a, char* s, char* u, char* v) {
  Session call(d, a);
  const Api& api = call.api;
  if (!api.create_parameters || !api.gesvdp_size || !api.gesvdp) return false;
  const Parameters parameters = call.parameters();
  const int64_t m = a.rows, n = a.cols;
  const int t = call.type_constant(), real = t % 4, vectors = kVectors, economy = 1;
  size_t bytes = 0, host_bytes = 0;
  call.generic(api.gesvdp_size, "cusolverDnXgesvdp_bufferSize", parameters, vectors, economy, m, n,
               t, static_cast<const void*>(a.data), m, real, static_cast<const void*>(s), t,
               static_cast<const void*>(u), m, t, static_cast<const void*>(v), n, t, &bytes,
               &host_bytes);
  Scratch work(d, bytes);
  std::vector<char> host_work(host_bytes);
  const int64_t item = itemsize(real_of(a.type));
  bool exact = true;
  call.each([&](int64_t i, char* data, int* info) {
    if (!exact) return;
    double moved = 0;
    call.generic(api.gesvdp, "cusolverDnXgesvdp", parameters, vectors, economy, m, n, t,
                 static_cast<void*>(data), m, real, static_cast<void*>(s + i * n * item), t,
                 static_cast<void*>(u + i * m * n * call.item()), m, t,
                 static_cast<void*>(v + i * n * n * call.item()), n, t,
                 static_cast<void*>(work.data()), bytes, static_cast<void*>(host_work.data()),
                 host_bytes, info, &moved);
    exact = moved <= largest_move(call.device(), s + i * n * item, real_of(a.type));
  });
  return exact;
}

bool solver_has_geev() {
  const Api& api = entries_of<Api>("cusolver");
  return api.create_parameters && api.geev_size && api.geev;
}

void solver_geev(Device& d, const Matrices& a, char* w, char* v) {
  Session call(d, a);
  const Api& api = call.api;
  const Parameters parameters = call.parameters();
  const int64_t n = a.rows, step = n > 0 ? n : 1;
  const int t = call.type_constant(), right = v == nullptr ? kNoVectors : kVectors;
  const int64_t values = n * call.item() * (is_complex(a.type) ? 1 : 2);
  size_t bytes = 0, host_bytes = 0;
  call.generic(api.geev_size, "cusolverDnXgeev_bufferSize", parameters, kNoVectors, right, n, t,
               static_cast<const void*>(a.data), step, t, static_cast<const void*>(w), t,
               static_cast<const void*>(nullptr), int64_t{1}, t, static_cast<const void*>(v), step,
               t, &bytes, &host_bytes);
  Scratch work(d, bytes);
  std::vector<char> host_work(host_bytes);
  call.each([&](int64_t s, char* data, int* info) {
    char* vectors = v == nullptr ? nullptr : v + s * n * n * call.item();
    call.generic(api.geev, "cusolverDnXgeev", parameters, kNoVectors, right, n, t,
                 static_cast<void*>(data), step, t, static_cast<void*>(w + s * values), t,
                 static_cast<void*>(nullptr), int64_t{1}, t, static_cast<void*>(vectors), step, t,
                 static_cast<void*>(work.data()), bytes, static_cast<void*>(host_work.data()),
                 host_bytes, info);
    // The host's work area serves one matrix after the other.
    call.device().synchronize();
  });
}

}  // namespace numbus::vendor
