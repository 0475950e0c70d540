// Calls of cuSOLVER: its entry points, and a handle for the time of a call.
#pragma once

#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "vendor/entries.h"
#include "vendor/scratch.h"
#include "vendor/solver.h"

namespace numbus::vendor::cusolver {

// The part of cuSOLVER's documented ABI that Numbus calls; elements are float, double or pairs.
using Handle = struct cusolverDnContext*;
using Status = int;
constexpr Status kSuccess = 0, kAllocationFailed = 2;
constexpr int kNoTranspose = 0, kTranspose = 1;
constexpr int kLower = 0, kUpper = 1;
constexpr int kNoVectors = 0, kVectors = 1;

using GetrfSize = Status(Handle, int m, int n, void* a, int line, int* work);
using Getrf = Status(Handle, int m, int n, void* a, int line, void* work, int* pivots, int* info);
using Getrs = Status(Handle, int transpose, int n, int sides, const void* a, int line,
                     const int* pivots, void* x, int x_line, int* info);
using PotrfSize = Status(Handle, int triangle, int n, void* a, int line, int* work);
using Potrf = Status(Handle, int triangle, int n, void* a, int line, void* work, int work_size,
                     int* info);
using GeqrfSize = Status(Handle, int m, int n, void* a, int line, int* work);
using Geqrf = Status(Handle, int m, int n, void* a, int line, void* tau, void* work, int work_size,
                     int* info);
using OrgqrSize = Status(Handle, int m, int n, int k, const void* a, int line, const void* tau,
                         int* work);
using Orgqr = Status(Handle, int m, int n, int k, void* a, int line, const void* tau, void* work,
                     int work_size, int* info);
using GesvdSize = Status(Handle, int m, int n, int* work);
using Gesvd = Status(Handle, signed char job_u, signed char job_vt, int m, int n, void* a, int line,
                     void* s, void* u, int u_line, void* vt, int vt_line, void* work, int work_size,
                     void* real_work, int* info);
using SyevdSize = Status(Handle, int vectors, int triangle, int n, const void* a, int line,
                         const void* w, int* work);
using Syevd = Status(Handle, int vectors, int triangle, int n, void* a, int line, void* w,
                     void* work, int work_size, int* info);

// Jacobi's method for stacks of small matrices; its parameters are kept for a library.
using Jacobi = struct cusolverDnJacobiInfo*;
using SyevjSize = Status(Handle, int vectors, int triangle, int n, const void* a, int line,
                         const void* w, int* work, Jacobi, int count);
using Syevj = Status(Handle, int vectors, int triangle, int n, void* a, int line, void* w,
                     void* work, int work_size, int* info, Jacobi, int count);
using GesvdjSize = Status(Handle, int vectors, int m, int n, const void* a, int line, const void* s,
                          const void* u, int u_line, const void* v, int v_line, int* work, Jacobi,
                          int count);
using Gesvdj = Status(Handle, int vectors, int m, int n, void* a, int line, void* s, void* u,
                      int u_line, void* v, int v_line, void* work, int work_size, int* info, Jacobi,
                      int count);
using PotrfStack = Status(Handle, int triangle, int n, void** a, int line, int* info, int count);

// As of CUDA 12.6, for all types in one function.
using Parameters = struct cusolverDnParams*;
using GeevSize = Status(Handle, Parameters, int left, int right, int64_t n, int a_type,
                        const void* a, int64_t line, int w_type, const void* w, int left_type,
                        const void* left_vectors, int64_t left_line, int right_type,
                        const void* right_vectors, int64_t right_line, int compute_type,
                        size_t* work, size_t* host_work);
using Geev = Status(Handle, Parameters, int left, int right, int64_t n, int a_type, void* a,
                    int64_t line, int w_type, void* w, int left_type, void* left_vectors,
                    int64_t left_line, int right_type, void* right_vectors, int64_t right_line,
                    int compute_type, void* work, size_t work_bytes, void* host_work,
                    size_t host_work_bytes, int* info);
// By a polar decomposition; `error` is how far singular values were moved to get one.
using GesvdpSize = Status(Handle, Parameters, int vectors, int economy, int64_t m, int64_t n,
                          int a_type, const void* a, int64_t line, int s_type, const void* s,
                          int u_type, const void* u, int64_t u_line, int v_type, const void* v,
                          int64_t v_line, int compute_type, size_t* work, size_t* host_work);
using Gesvdp = Status(Handle, Parameters, int vectors, int economy, int64_t m, int64_t n,
                      int a_type, void* a, int64_t line, int s_type, void* s, int u_type, void* u,
                      int64_t u_line, int v_type, void* v, int64_t v_line, int compute_type,
                      void* work, size_t work_bytes, void* host_work, size_t host_work_bytes,
                      int* info, double* error);
using SyevStackSize = Status(Handle, Parameters, int vectors, int triangle, int64_t n, int a_type,
                             const void* a, int64_t line, int w_type, const void* w,
                             int compute_type, size_t* work, size_t* host_work, int64_t count);
using SyevStack = Status(Handle, Parameters, int vectors, int triangle, int64_t n, int a_type,
                         void* a, int64_t line, int w_type, void* w, int compute_type, void* work,
                         size_t work_bytes, void* host_work, size_t host_work_bytes, int* info,
                         int64_t count);
// CUDA's numbers of the four types.
constexpr int kTypeNumbers[] = {0, 1, 4, 5};

// One function for the four types.
template <class Function>
struct Entry {
  Function* of[4];
  std::string name[4];
};

struct Api {
  explicit Api(const Library& from) : library(&from) {
    resolve(from, "cusolverDnCreate", &create);
    resolve(from, "cusolverDnSetStream", &set_stream);
    fill(getrf_size, "getrf_bufferSize");
    fill(getrf, "getrf");
    fill(getrs, "getrs");
    fill(potrf_size, "potrf_bufferSize");
    fill(potrf, "potrf");
    fill(geqrf_size, "geqrf_bufferSize");
    fill(geqrf, "geqrf");
    fill(orgqr_size, "orgqr_bufferSize", "ungqr_bufferSize");
    fill(orgqr, "orgqr", "ungqr");
    fill(gesvd_size, "gesvd_bufferSize");
    fill(gesvd, "gesvd");
    fill(syevd_size, "syevd_bufferSize", "heevd_bufferSize");
    fill(syevd, "syevd", "heevd");
    fill(potrf_stack, "potrfBatched");
    fill(syevj_size, "syevjBatched_bufferSize", "heevjBatched_bufferSize");
    fill(syevj, "syevjBatched", "heevjBatched");
    fill(gesvdj_size, "gesvdjBatched_bufferSize");
    fill(gesvdj, "gesvdjBatched");
    resolve(from, "cusolverDnCreateSyevjInfo", &create_syevj);
    resolve(from, "cusolverDnXsyevjSetTolerance", &syevj_tolerance);
    resolve(from, "cusolverDnCreateGesvdjInfo", &create_gesvdj);
    resolve(from, "cusolverDnXgesvdjSetTolerance", &gesvdj_tolerance);
    create_parameters = from.function<Status(Parameters*)>("cusolverDnCreateParams");
    geev_size = from.function<GeevSize>("cusolverDnXgeev_bufferSize");
    geev = from.function<Geev>("cusolverDnXgeev");
    gesvdp_size = from.function<GesvdpSize>("cusolverDnXgesvdp_bufferSize");
    gesvdp = from.function<Gesvdp>("cusolverDnXgesvdp");
    syev_stack_size = from.function<SyevStackSize>("cusolverDnXsyevBatched_bufferSize");
    syev_stack = from.function<SyevStack>("cusolverDnXsyevBatched");
  }

  const Library* library;
  Status (*create)(Handle*);
  Status (*set_stream)(Handle, cuda::StreamHandle);
  Entry<GetrfSize> getrf_size;
  Entry<Getrf> getrf;
  Entry<Getrs> getrs;
  Entry<PotrfSize> potrf_size;
  Entry<Potrf> potrf;
  Entry<GeqrfSize> geqrf_size;
  Entry<Geqrf> geqrf;
  Entry<OrgqrSize> orgqr_size;
  Entry<Orgqr> orgqr;
  Entry<GesvdSize> gesvd_size;
  Entry<Gesvd> gesvd;
  Entry<SyevdSize> syevd_size;
  Entry<Syevd> syevd;
  Entry<PotrfStack> potrf_stack;
  Entry<SyevjSize> syevj_size;
  Entry<Syevj> syevj;
  Entry<GesvdjSize> gesvdj_size;
  Entry<Gesvdj> gesvdj;
  Status (*create_syevj)(Jacobi*);
  Status (*syevj_tolerance)(Jacobi, double);
  Status (*create_gesvdj)(Jacobi*);
  Status (*gesvdj_tolerance)(Jacobi, double);
  Status (*create_parameters)(Parameters*);  // null, as the next six, where it is older
  GeevSize* geev_size;
  Geev* geev;
  GesvdpSize* gesvdp_size;
  Gesvdp* gesvdp;
  SyevStackSize* syev_stack_size;
  SyevStack* syev_stack;

 private:
  template <class Function>
  void fill(Entry<Function>& entry, const char* real, const char* complex = nullptr) {
    for (int i = 0; i < 4; ++i) {
      entry.name[i] =
          std::string("cusolverDn") + "SDCZ"[i] + (i >= 2 && complex != nullptr ? complex : real);
      resolve(*library, entry.name[i], &entry.of[i]);
    }
  }
};

// A handle must not be used by two threads at once.
inline std::mutex handles_mutex;

inline int type_number(DType t) {
  return t == DType::F32 ? 0 : t == DType::F64 ? 1 : t == DType::C64 ? 2 : 3;
}

// One call for a stack: the library, its handle on the device's stream, the context current.
class Session {
 public:
  Session(Device& d, const Matrices& a)
      : api(entries_of<Api>("cusolver")),
        a_(a),
        device_(static_cast<cuda::CudaDevice&>(d)),
        lock_(handles_mutex),
        scope_(device_.context()),
        type_(type_number(a.type)),
        item_(itemsize(a.type)) {
    require_narrow(a.rows);
    require_narrow(a.cols);
    using Key = std::pair<const Library*, const cuda::CudaDevice*>;
    // Never destroyed: the driver takes everything back at exit.
    static auto* handles = new std::map<Key, Handle>;
    Handle& known = (*handles)[{api.library, &device_}];
    if (known == nullptr) {
      Handle made = nullptr;
      check(api.create(&made), "cusolverDnCreate");
      known = made;
    }
    handle_ = known;
    check(api.set_stream(handle_, device_.stream().handle()), "cusolverDnSetStream");
  }

  // Calls the function of the stack's type with the handle before the arguments.
  template <class Function, class... Args>
  void operator()(const Entry<Function>& entry, Args... args) const {
    check(entry.of[type_](handle_, args...), entry.name[type_]);
  }

  // For functions that take all types.
  template <class Function, class... Args>
  void generic(Function* entry, const char* name, Args... args) const {
    check(entry(handle_, args...), name);
  }
  int type_constant() const { return kTypeNumbers[type_]; }
  Parameters parameters() const {
    // Never destroyed: one for a library.
    static auto* all = new std::map<const Library*, Parameters>;
    Parameters& known = (*all)[api.library];
    if (known == nullptr) check(api.create_parameters(&known), "cusolverDnCreateParams");
    return known;
  }
  cuda::CudaDevice& device() const { return device_; }

  // Scratch of that many elements.
  Scratch work(int elements) const {
    return Scratch(device_, static_cast<size_t>(elements) * static_cast<size_t>(item_));
  }

  // Calls f(number of the matrix, its elements, its info).
  template <class F>
  void each(F f) const {
    for (int64_t s = 0; s < a_.count; ++s)
      f(s, a_.data + s * a_.rows * a_.cols * item_, reinterpret_cast<int*>(a_.info) + s);
  }

  int64_t item() const { return item_; }

  const Api& api;

  void check(Status status, const std::string& call) const {
    if (status == kSuccess) return;
    raise(status == kAllocationFailed ? ErrorKind::Memory : ErrorKind::Runtime, "linalg",
          call + " failed for " + std::to_string(a_.count) + " " + std::string(name(a_.type)) +
              " matrices (" + std::to_string(a_.rows) + ", " + std::to_string(a_.cols) + ") with " +
              api.library->path(),
          "cuSOLVER's status " + std::to_string(status), "CUSOLVER_STATUS_SUCCESS (0)");
  }
  static void require_narrow(int64_t extent) {
    if (extent > std::numeric_limits<int>::max())
      raise(ErrorKind::Value, "linalg", "the matrix is too large", std::to_string(extent),
            "extents below 2**31");
  }

 private:
  const Matrices& a_;
  cuda::CudaDevice& device_;
  std::lock_guard<std::mutex> lock_;
  cuda::ContextScope scope_;
  int type_;
  int64_t item_;
  Handle handle_ = nullptr;
};

inline int narrow(int64_t n) { return static_cast<int>(n); }

// LAPACK's lines are 1 long at least.
inline int line(int64_t rows) { return narrow(rows > 0 ? rows : 1); }

}  // namespace numbus::vendor::cusolver
