// Matrix products on an NVIDIA GPU, by cuBLAS.
#include <complex>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "vendor/blas_form.h"
#include "vendor/cublas.h"
#include "vendor/entries.h"

namespace numbus::vendor {
namespace {

// The part of cuBLAS's documented ABI that Numbus calls.
using Handle = struct cublasContext*;
using Status = int;
constexpr Status kSuccess = 0, kAllocationFailed = 3;
constexpr int kNoTranspose = 0, kTranspose = 1;
constexpr int kDefaultMath = 0, kTf32Math = 3;  // float32 products in float32, or in TF32
constexpr int kRoundOnce = 16;                  // sums of 16-bit products in float32 up to the end
constexpr int kHalf = 2, kBrain = 14;           // cudaDataType_t: CUDA_R_16F, CUDA_R_16BF
constexpr int kComputeInFloat = 68;             // CUBLAS_COMPUTE_32F
constexpr int kAnyAlgorithm = -1;               // CUBLAS_GEMM_DEFAULT
constexpr int kPointersOnHost = 0;

template <class Int>
using Gemm = Status(Handle, int transpose_a, int transpose_b, Int m, Int n, Int k,
                    const void* alpha, const void* a, Int a_line, const void* b, Int b_line,
                    const void* beta, void* c, Int c_line);
template <class Int>
using StridedGemm = Status(Handle, int transpose_a, int transpose_b, Int m, Int n, Int k,
                           const void* alpha, const void* a, Int a_line, long long a_stack,
                           const void* b, Int b_line, long long b_stack, const void* beta, void* c,
                           Int c_line, long long c_stack, Int stack);

// Of operands and results in 16 bits.
template <class Int>
using GemmEx = Status(Handle, int transpose_a, int transpose_b, Int m, Int n, Int k,
                      const void* alpha, const void* a, int a_type, Int a_line, const void* b,
                      int b_type, Int b_line, const void* beta, void* c, int c_type, Int c_line,
                      int compute, int algorithm);
template <class Int>
using StridedGemmEx = Status(Handle, int transpose_a, int transpose_b, Int m, Int n, Int k,
                             const void* alpha, const void* a, int a_type, Int a_line,
                             long long a_stack, const void* b, int b_type, Int b_line,
                             long long b_stack, const void* beta, void* c, int c_type, Int c_line,
                             long long c_stack, Int stack, int compute, int algorithm);

struct Entry {
  std::string name;
  void* address = nullptr;
};

struct Api {
  explicit Api(const Library& from) : library(&from) {
    resolve(from, "cublasCreate_v2", &create);
    resolve(from, "cublasSetStream_v2", &set_stream);
    resolve(from, "cublasSetMathMode", &set_math_mode);
    resolve(from, "cublasSetPointerMode_v2", &set_pointer_mode);
    status_name = from.function<const char*(Status)>("cublasGetStatusName");
    set_workspace = from.function<Status(Handle, void*, size_t)>("cublasSetWorkspace_v2");
    wide = from.symbol("cublasDgemmStridedBatched_64") != nullptr;
    const std::string suffix = wide ? "_64" : "";
    for (int i = 0; i < 4; ++i) {
      const std::string stem = std::string("cublas") + "SDCZ"[i] + "gemm";
      find(from, gemm[i], stem + "_v2" + suffix);
      find(from, strided[i], stem + "StridedBatched" + suffix);
    }
    find(from, gemm[kOfHalves], "cublasGemmEx" + suffix);
    find(from, strided[kOfHalves], "cublasGemmStridedBatchedEx" + suffix);
  }
  template <class Function>
  static void find(const Library& from, CublasStacks::Entry<Function>& entry, const char* name) {
    for (int i = 0; i < 4; ++i) {
      entry.name[i] = std::string("cublas") + "SDCZ"[i] + name;
      resolve(from, entry.name[i], &entry.of[i]);
    }
  }
  static void find(const Library& from, Entry& entry, const std::string& name) {
    entry.name = name;
    char (*function)() = nullptr;
    resolve(from, name, &function);
    entry.address = reinterpret_cast<void*>(function);
  }

  const Library* library = nullptr;
  bool wide = false;  // has the interface of 64-bit integers, as of CUDA 12
  Status (*create)(Handle*) = nullptr;
  Status (*set_stream)(Handle, cuda::StreamHandle) = nullptr;
  Status (*set_math_mode)(Handle, int) = nullptr;
  Status (*set_pointer_mode)(Handle, int) = nullptr;
  const char* (*status_name)(Status) = nullptr;              // as of CUDA 11.4; may be null
  Status (*set_workspace)(Handle, void*, size_t) = nullptr;  // as of CUDA 11.2; may be null
  static constexpr int kOfHalves = 4;
  Entry gemm[5], strided[5];  // float32, float64, complex64, complex128; 16 bits
};

const Api& api() { return entries_of<Api>("cublas"); }

// Only linear algebra asks for these.
struct StacksApi : CublasStacks {
  explicit StacksApi(const Library& from) {
    Api::find(from, getrf, "getrfBatched");
    Api::find(from, getrs, "getrsBatched");
    Api::find(from, geam, "geam");
  }
};

template <class Doing>
void check(const Api& cublas, Status status, const std::string& call, Doing doing) {
  if (status == kSuccess) [[likely]] {
    return;
  }
  const char* name = cublas.status_name ? cublas.status_name(status) : nullptr;
  raise(status == kAllocationFailed ? ErrorKind::Memory : ErrorKind::Runtime, "matmul",
        call + " failed while " + doing(),
        std::string(name ? name : "a cuBLAS status") + " (" + std::to_string(status) + ")",
        "CUBLAS_STATUS_SUCCESS (0)");
}

// One handle per device, on its one stream. A handle must not be used by two threads at once.
std::mutex handles_mutex;

// Memory of the size that cuBLAS takes on Hopper by itself. In a graph it would take it anew in
// each launch, which then waits for the one before.
void give_workspace(const Api& cublas, Handle handle) {
  constexpr size_t kBytes = size_t{32} << 20;
  cuda::DevicePointer memory = 0;
  if (cublas.set_workspace && cuda::driver().cuMemAlloc(&memory, kBytes) == cuda::kSuccess)
    cublas.set_workspace(handle, reinterpret_cast<void*>(memory), kBytes);
}

// The caller holds the lock, and the device's context is current.
Handle handle_of(const Api& cublas, const cuda::CudaDevice& device, int math) {
  using Key = std::pair<const Library*, const cuda::CudaDevice*>;
  struct Known {
    Handle handle = nullptr;
    int math = kDefaultMath;
  };
  // Never destroyed: the driver takes everything back at exit.
  static auto* handles = new std::map<Key, Known>;
  Known& known = (*handles)[{cublas.library, &device}];
  if (known.handle != nullptr) {
    if (known.math == math) [[likely]] {
      return known.handle;
    }
    check(cublas, cublas.set_math_mode(known.handle, math), "cublasSetMathMode",
          [] { return std::string("setting how precise products are"); });
    known.math = math;
    return known.handle;
  }
  // cuBLAS of CUDA 13 loads beside a driver of CUDA 12 and fails only here.
  auto doing = [&] {
    return "starting " + cublas.library->path() + " on cuda:" + std::to_string(device.ordinal()) +
           ", whose driver is for CUDA " + cuda::version_text(cuda::driver_info().version);
  };
  Handle made = nullptr;
  check(cublas, cublas.create(&made), "cublasCreate_v2", doing);
  check(cublas, cublas.set_stream(made, device.stream().handle()), "cublasSetStream_v2", doing);
  check(cublas, cublas.set_pointer_mode(made, kPointersOnHost), "cublasSetPointerMode_v2", doing);
  give_workspace(cublas, made);
  check(cublas, cublas.set_math_mode(made, math), "cublasSetMathMode", doing);
  known = {made, math};
  return made;
}

// The factors 1 and 0 for every type: a real one is the first part of the complex one.
template <class Real>
struct Factors {
  static constexpr std::complex<Real> kOne{1, 0}, kZero{0, 0};
};

const void* one(DType t) {
  if (real_of(t) == DType::F32 || is_half(t)) return &Factors<float>::kOne;
  return &Factors<double>::kOne;
}
const void* zero(DType t) {
  if (real_of(t) == DType::F32 || is_half(t)) return &Factors<float>::kZero;
  return &Factors<double>::kZero;
}

std::string extents(int64_t rows, int64_t cols) {
  return "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
}

// cuBLAS stores columns: what lies in rows is to it the transpose, so it is given outᵀ = bᵀ aᵀ.
template <class Int>
void multiply(const Api& cublas, Handle handle, const GemmForm& f) {
  const bool halves = is_half(f.type);
  const int kind = f.type == DType::F16 ? kHalf : kBrain;
  const int type = halves                 ? Api::kOfHalves
                   : f.type == DType::F32 ? 0
                   : f.type == DType::F64 ? 1
                   : f.type == DType::C64 ? 2
                                          : 3;
  const int op_a = f.a.transposed ? kTranspose : kNoTranspose;
  const int op_b = f.b.transposed ? kTranspose : kNoTranspose;
  const Int rows = static_cast<Int>(f.rows), cols = static_cast<Int>(f.cols),
            inner = static_cast<Int>(f.inner), a_line = static_cast<Int>(f.a.line),
            b_line = static_cast<Int>(f.b.line), out_line = static_cast<Int>(f.out.line);
  auto doing = [&] {
    return "multiplying " + (f.stack > 1 ? std::to_string(f.stack) + " pairs of " : "") +
           std::string(name(f.type)) + " matrices " + extents(f.rows, f.inner) + " and " +
           extents(f.inner, f.cols);
  };
  // The single form has more ways to divide the work than a stack of one has.
  const Entry& entry = f.stack == 1 ? cublas.gemm[type] : cublas.strided[type];
  Status status = kSuccess;
  if (halves && f.stack == 1) {
    auto* gemm = reinterpret_cast<GemmEx<Int>*>(entry.address);
    status = gemm(handle, op_b, op_a, cols, rows, inner, one(f.type), f.b.data, kind, b_line,
                  f.a.data, kind, a_line, zero(f.type), f.out.data, kind, out_line, kComputeInFloat,
                  kAnyAlgorithm);
  } else if (halves) {
    auto* gemm = reinterpret_cast<StridedGemmEx<Int>*>(entry.address);
    status = gemm(handle, op_b, op_a, cols, rows, inner, one(f.type), f.b.data, kind, b_line,
                  f.b.stack, f.a.data, kind, a_line, f.a.stack, zero(f.type), f.out.data, kind,
                  out_line, f.out.stack, static_cast<Int>(f.stack), kComputeInFloat, kAnyAlgorithm);
  } else if (f.stack == 1) {
    auto* gemm = reinterpret_cast<Gemm<Int>*>(entry.address);
    status = gemm(handle, op_b, op_a, cols, rows, inner, one(f.type), f.b.data, b_line, f.a.data,
                  a_line, zero(f.type), f.out.data, out_line);
  } else {
    auto* gemm = reinterpret_cast<StridedGemm<Int>*>(entry.address);
    status = gemm(handle, op_b, op_a, cols, rows, inner, one(f.type), f.b.data, b_line, f.b.stack,
                  f.a.data, a_line, f.a.stack, zero(f.type), f.out.data, out_line, f.out.stack,
                  static_cast<Int>(f.stack));
  }
  check(cublas, status, entry.name, doing);
}

}  // namespace

bool cublas_is_wide() { return !library_report("cublas").found.empty() && api().wide; }

CublasCall::CublasCall(Device& d, const Matrices& a)
    : a_(a),
      lock_(handles_mutex),
      scope_(static_cast<cuda::CudaDevice&>(d).context()),
      stacks_(entries_of<StacksApi>("cublas")),
      handle_(handle_of(vendor::api(), static_cast<cuda::CudaDevice&>(d), kDefaultMath)),
      type_(a.type == DType::F32   ? 0
            : a.type == DType::F64 ? 1
            : a.type == DType::C64 ? 2
                                   : 3) {}

void CublasCall::check(int status, const std::string& call) const {
  vendor::check(vendor::api(), status, call, [&] {
    return "working on " + std::to_string(a_.count) + " " + std::string(name(a_.type)) +
           " matrices " + extents(a_.rows, a_.cols);
  });
}

void CublasCall::turn(const char* from, char* to, int64_t rows) const {
  const void* const nothing = to;
  const int n = static_cast<int>(rows);
  on_stack(stacks_.geam, kTranspose, kNoTranspose, n, n, one(a_.type),
           static_cast<const void*>(from), n, zero(a_.type), nothing, n, static_cast<void*>(to), n);
}

void CublasCall::copy_first_rows(const char* from, int64_t from_size, char* to, int64_t size,
                                 int64_t count) const {
  const void* const nothing = to;
  on_stack(stacks_.geam, kNoTranspose, kNoTranspose, static_cast<int>(size),
           static_cast<int>(count), one(a_.type), static_cast<const void*>(from),
           static_cast<int>(from_size), zero(a_.type), nothing, static_cast<int>(size),
           static_cast<void*>(to), static_cast<int>(size));
}

void matmul_cuda(Device& d, const Product& p) {
  const GemmForm f = require_gemm_form(p);
  if (f.empty()) return;
  auto& device = static_cast<cuda::CudaDevice&>(d);
  if (f.inner == 0) {
    f.each_run_of_out([&](char* start, size_t bytes) { device.fill_bytes(start, 0, bytes); });
    return;
  }
  const Api& cublas = api();
  std::lock_guard<std::mutex> lock(handles_mutex);
  cuda::ContextScope scope(device.context());
  Handle handle = handle_of(cublas, device,
                            is_half(f.type) ? kRoundOnce
                            : f.tf32        ? kTf32Math
                                            : kDefaultMath);
  if (cublas.wide) {
    multiply<int64_t>(cublas, handle, f);
  } else {
    multiply<int32_t>(cublas, handle, f);
  }
}

}  // namespace numbus::vendor
