// Products with endings on an NVIDIA GPU, by cuBLASLt, which lies in cuBLAS's folder and is loaded
// with it. How a product is done is asked of the library once for each form.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "vendor/blas_form.h"
#include "vendor/entries.h"

namespace numbus::vendor {
namespace {

// The part of cuBLASLt's documented ABI that Numbus calls.
using Handle = struct cublasLtContext*;
using Description = struct cublasLtMatmulDescOpaque*;
using LayoutHandle = struct cublasLtMatrixLayoutOpaque*;
using Preference = struct cublasLtMatmulPreferenceOpaque*;
using Status = int;
constexpr Status kSuccess = 0, kNotSupported = 15;
constexpr int kSingle = 0, kHalf = 2, kBrain = 14;     // cudaDataType_t
constexpr int kComputeSingle = 68, kComputeTf32 = 77;  // cublasComputeType_t
constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8;
constexpr int kBias = 4, kReluBias = 6;               // cublasLtEpilogue_t
constexpr int kMostWorkspace = 1, kAlignmentOfA = 5;  // B, C and D follow
constexpr size_t kWorkspace = size_t{32} << 20;
constexpr uint32_t kMostAlignment = 256;

struct Algorithm {
  uint64_t data[8] = {};
};
struct Found {
  Algorithm algorithm;
  size_t workspace = 0;
  Status state = kSuccess;
  float waves = 0;
  int reserved[4] = {};
};

struct Api {
  explicit Api(const Library& from) : library(&from) {
    complete = find(from, "cublasLtCreate", &create) &
               find(from, "cublasLtMatmulDescCreate", &describe) &
               find(from, "cublasLtMatmulDescSetAttribute", &set) &
               find(from, "cublasLtMatrixLayoutCreate", &lay_out) &
               find(from, "cublasLtMatmulPreferenceCreate", &prefer) &
               find(from, "cublasLtMatmulPreferenceSetAttribute", &set_preference) &
               find(from, "cublasLtMatmulAlgoGetHeuristic", &propose) &
               find(from, "cublasLtMatmul", &multiply) &
               find(from, "cublasLtMatmulDescDestroy", &forget_description) &
               find(from, "cublasLtMatrixLayoutDestroy", &forget_layout) &
               find(from, "cublasLtMatmulPreferenceDestroy", &forget_preference);
  }
  template <class Function>
  static bool find(const Library& from, const char* name, Function** entry) {
    *entry = from.function<Function>(name);
    return *entry != nullptr;
  }

  const Library* library = nullptr;
  bool complete = false;
  Status (*create)(Handle*) = nullptr;
  Status (*describe)(Description*, int compute, int scale) = nullptr;
  Status (*set)(Description, int attribute, const void* value, size_t bytes) = nullptr;
  Status (*lay_out)(LayoutHandle*, int type, uint64_t rows, uint64_t cols, int64_t line) = nullptr;
  Status (*prefer)(Preference*) = nullptr;
  Status (*set_preference)(Preference, int attribute, const void* value, size_t bytes) = nullptr;
  Status (*propose)(Handle, Description, LayoutHandle a, LayoutHandle b, LayoutHandle c,
                    LayoutHandle d, Preference, int most, Found*, int* count) = nullptr;
  Status (*multiply)(Handle, Description, const void* alpha, const void* a, LayoutHandle,
                     const void* b, LayoutHandle, const void* beta, const void* c, LayoutHandle,
                     void* d, LayoutHandle, const Algorithm*, void* workspace, size_t,
                     cuda::StreamHandle) = nullptr;
  Status (*forget_description)(Description) = nullptr;
  Status (*forget_layout)(LayoutHandle) = nullptr;
  Status (*forget_preference)(Preference) = nullptr;
};

const Api& api() { return entries_of<Api>("cublas"); }

template <class Doing>
void check(Status status, const char* call, Doing doing) {
  if (status == kSuccess) [[likely]] {
    return;
  }
  raise(ErrorKind::Runtime, "matmul", std::string(call) + " failed while " + doing(),
        "a cuBLAS status (" + std::to_string(status) + ")", "CUBLAS_STATUS_SUCCESS (0)");
}

// One way to multiply, for products of one form.
struct Way {
  explicit Way(const Api& lt) : lt_(lt) {}
  Way(const Way&) = delete;
  ~Way() {
    if (description) lt_.forget_description(description);
    for (LayoutHandle l : {a, b, out})
      if (l) lt_.forget_layout(l);
  }
  Description description = nullptr;
  LayoutHandle a = nullptr, b = nullptr, out = nullptr;
  Algorithm algorithm;

 private:
  const Api& lt_;
};

// What algorithms may use, while one is asked for.
struct Limits {
  explicit Limits(const Api& lt) : lt_(lt) {}
  Limits(const Limits&) = delete;
  ~Limits() {
    if (preference) lt_.forget_preference(preference);
  }
  Preference preference = nullptr;

 private:
  const Api& lt_;
};

using Form = std::array<int64_t, 15>;

struct State {
  Handle handle = nullptr;
  void* workspace = nullptr;
  std::map<Form, std::unique_ptr<Way>> ways;
};

// Under this lock: descriptions are changed before each call.
std::mutex mutex;

State& state_of(const Api& lt, const cuda::CudaDevice& device) {
  using Key = std::pair<const Library*, const cuda::CudaDevice*>;
  static auto* all = new std::map<Key, State>;
  State& s = (*all)[{lt.library, &device}];
  if (s.handle) return s;
  auto doing = [&] { return "starting " + lt.library->path(); };
  cuda::DevicePointer memory = 0;
  if (cuda::driver().cuMemAlloc(&memory, kWorkspace) == cuda::kSuccess)
    s.workspace = reinterpret_cast<void*>(memory);
  check(lt.create(&s.handle), "cublasLtCreate", doing);
  return s;
}

uint32_t alignment(const void* p) {
  const auto at = reinterpret_cast<uintptr_t>(p);
  return at ? static_cast<uint32_t>(std::min<uintptr_t>(at & -at, kMostAlignment)) : kMostAlignment;
}

int type_of(DType t) { return t == DType::F32 ? kSingle : t == DType::F16 ? kHalf : kBrain; }

// cuBLAS stores columns: what lies in rows is to it the transpose, so it is given outᵀ = bᵀ aᵀ,
// whose rows are the columns that have one bias each.
std::unique_ptr<Way> make_way(const Api& lt, const State& s, const GemmForm& f, const Ending& e,
                              const std::array<uint32_t, 4>& aligned) {
  auto doing = [] { return std::string("describing a product"); };
  auto made = std::make_unique<Way>(lt);
  Way& w = *made;
  check(lt.describe(&w.description, f.tf32 ? kComputeTf32 : kComputeSingle, kSingle),
        "cublasLtMatmulDescCreate", doing);
  auto set = [&](int attribute, int32_t value) {
    check(lt.set(w.description, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute",
          doing);
  };
  set(kTransposeA, f.b.transposed);
  set(kTransposeB, f.a.transposed);
  set(kEpilogue, e.relu ? kReluBias : kBias);
  check(lt.set(w.description, kBiasPointer, &e.bias, sizeof e.bias),
        "cublasLtMatmulDescSetAttribute", doing);
  const int type = type_of(f.type);
  auto lay_out = [&](LayoutHandle* made, bool transposed, int64_t rows, int64_t cols,
                     int64_t line) {
    if (transposed) std::swap(rows, cols);
    check(lt.lay_out(made, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(cols), line),
          "cublasLtMatrixLayoutCreate", doing);
  };
  lay_out(&w.b, f.b.transposed, f.cols, f.inner, f.b.line);
  lay_out(&w.a, f.a.transposed, f.inner, f.rows, f.a.line);
  lay_out(&w.out, false, f.cols, f.rows, f.out.line);
  Limits limits(lt);
  Preference& preference = limits.preference;
  check(lt.prefer(&preference), "cublasLtMatmulPreferenceCreate", doing);
  const uint64_t most = s.workspace ? kWorkspace : 0;
  check(lt.set_preference(preference, kMostWorkspace, &most, sizeof most),
        "cublasLtMatmulPreferenceSetAttribute", doing);
  for (int k = 0; k < 4; ++k)
    check(lt.set_preference(preference, kAlignmentOfA + k, &aligned[k], sizeof aligned[k]),
          "cublasLtMatmulPreferenceSetAttribute", doing);
  Found found;
  int count = 0;
  const Status status =
      lt.propose(s.handle, w.description, w.b, w.a, w.out, w.out, preference, 1, &found, &count);
  check(status == kSuccess && count == 0 ? kNotSupported : status, "cublasLtMatmulAlgoGetHeuristic",
        [&] {
          return "looking for a way to multiply " + std::to_string(f.rows) + " × " +
                 std::to_string(f.inner) + " and " + std::to_string(f.inner) + " × " +
                 std::to_string(f.cols) + " matrices of " + std::string(name(f.type));
        });
  w.algorithm = found.algorithm;
  return made;
}

void multiply(const Api& lt, State& s, cuda::CudaDevice& device, const GemmForm& f,
              const Ending& e) {
  const std::array<uint32_t, 4> aligned = {alignment(f.b.data), alignment(f.a.data),
                                           alignment(f.out.data),
                                           std::min(alignment(f.out.data), alignment(e.bias))};
  const Form form = {f.rows,
                     f.cols,
                     f.inner,
                     f.a.line,
                     f.b.line,
                     f.out.line,
                     f.a.transposed,
                     f.b.transposed,
                     f.tf32,
                     e.relu,
                     static_cast<int64_t>(f.type),
                     aligned[0],
                     aligned[1],
                     aligned[2],
                     aligned[3]};
  auto known = s.ways.find(form);
  if (known == s.ways.end()) known = s.ways.emplace(form, make_way(lt, s, f, e, aligned)).first;
  const Way& w = *known->second;
  auto doing = [] { return std::string("multiplying matrices"); };
  check(lt.set(w.description, kBiasPointer, &e.bias, sizeof e.bias),
        "cublasLtMatmulDescSetAttribute", doing);
  const float one = 1, zero = 0;
  check(lt.multiply(s.handle, w.description, &one, f.b.data, w.b, f.a.data, w.a, &zero, f.out.data,
                    w.out, f.out.data, w.out, &w.algorithm, s.workspace,
                    s.workspace ? kWorkspace : 0, device.stream().handle()),
        "cublasLtMatmul", doing);
}

}  // namespace

bool takes_endings(const Device& d) {
  if (d.kind() != DeviceKind::Cuda) return true;
  return !library_report("cublas").found.empty() && api().complete;
}

void matmul_cuda(Device& d, const Product& p, const Ending& e) {
  GemmForm f = require_gemm_form(p);
  auto& device = static_cast<cuda::CudaDevice&>(d);
  const Api& lt = api();
  std::lock_guard<std::mutex> lock(mutex);
  cuda::ContextScope scope(device.context());
  State& s = state_of(lt, device);
  const int64_t item = itemsize(f.type);
  for (int64_t k = 0; k < f.stack; ++k) {  // one, but where so many rows have no number
    multiply(lt, s, device, f, e);
    f.a.data += f.a.stack * item;
    f.b.data += f.b.stack * item;
    f.out.data += f.out.stack * item;
  }
}

void end_product_cpu(const Product& p, const Ending& e) {
  const auto* bias = reinterpret_cast<const float*>(e.bias);
  for (int64_t s = 0; s < p.stack; ++s)
    for (int64_t i = 0; i < p.rows; ++i) {
      auto* out =
          reinterpret_cast<float*>(p.out.data + s * p.out.stack_stride + i * p.out.row_stride);
      for (int64_t k = 0; k < p.cols; ++k) {
        const float sum = out[k] + bias[k];
        out[k] = e.relu && sum <= 0 ? 0 : sum;
      }
    }
}

}  // namespace numbus::vendor
