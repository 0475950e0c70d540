// Convolutions on an NVIDIA GPU, by cuDNN.
#include <list>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "vendor/convolution.h"
#include "vendor/entries.h"
#include "vendor/scratch.h"

namespace numbus::vendor {
namespace {

// The part of cuDNN's documented ABI (version 9) that Numbus calls.
using Status = int;
using Handle = void*;
using Descriptor = void*;
constexpr int kFloat = 0, kDouble = 1;  // cudnnDataType_t
constexpr int kNchw = 0;                // cudnnTensorFormat_t
constexpr int kCrossCorrelation = 1;    // cudnnConvolutionMode_t
// cudnnMathType_t: tensor cores, of float32 by TF32; neither.
constexpr int kTensorMath = 1, kFmaMath = 3;
constexpr int kDeterministic = 1;  // cudnnDeterminism_t
constexpr int kMostProposals = 8;

struct Proposal {  // cudnnConvolutionFwdAlgoPerf_t and its two kin, which are laid out alike
  int algorithm;
  Status status;
  float time;
  size_t memory;
  int determinism;
  int math;
  int reserved[3];
};

using Propose = Status(Handle, Descriptor, Descriptor, Descriptor, Descriptor, int wanted,
                       int* returned, Proposal*);
using Run = Status(Handle, const void* alpha, Descriptor, const void* a, Descriptor, const void* b,
                   Descriptor convolution, int algorithm, void* workspace, size_t bytes,
                   const void* beta, Descriptor, void* out);

struct Api {
  explicit Api(const Library& from) {
    resolve(from, "cudnnCreate", &create);
    resolve(from, "cudnnSetStream", &set_stream);
    resolve(from, "cudnnGetErrorString", &error_string);
    resolve(from, "cudnnCreateTensorDescriptor", &create_tensor);
    resolve(from, "cudnnSetTensor4dDescriptor", &set_tensor);
    resolve(from, "cudnnCreateFilterDescriptor", &create_filter);
    resolve(from, "cudnnSetFilter4dDescriptor", &set_filter);
    resolve(from, "cudnnCreateConvolutionDescriptor", &create_convolution);
    resolve(from, "cudnnSetConvolution2dDescriptor", &set_convolution);
    resolve(from, "cudnnSetConvolutionGroupCount", &set_groups);
    resolve(from, "cudnnSetConvolutionMathType", &set_math);
    resolve(from, "cudnnDestroyTensorDescriptor", &destroy_tensor);
    resolve(from, "cudnnDestroyFilterDescriptor", &destroy_filter);
    resolve(from, "cudnnDestroyConvolutionDescriptor", &destroy_convolution);
    resolve(from, "cudnnGetConvolutionForwardAlgorithm_v7", &propose[0]);
    resolve(from, "cudnnGetConvolutionBackwardDataAlgorithm_v7", &propose[1]);
    resolve(from, "cudnnGetConvolutionBackwardFilterAlgorithm_v7", &propose[2]);
    resolve(from, "cudnnConvolutionForward", &run[0]);
    resolve(from, "cudnnConvolutionBackwardData", &run[1]);
    resolve(from, "cudnnConvolutionBackwardFilter", &run[2]);
  }
  Status (*create)(Handle*);
  Status (*set_stream)(Handle, cuda::StreamHandle);
  const char* (*error_string)(Status);
  Status (*create_tensor)(Descriptor*);
  Status (*set_tensor)(Descriptor, int format, int type, int n, int c, int h, int w);
  Status (*create_filter)(Descriptor*);
  Status (*set_filter)(Descriptor, int type, int format, int k, int c, int h, int w);
  Status (*create_convolution)(Descriptor*);
  Status (*set_convolution)(Descriptor, int pad_h, int pad_w, int u, int v, int dilation_h,
                            int dilation_w, int mode, int compute);
  Status (*set_groups)(Descriptor, int);
  Status (*set_math)(Descriptor, int);
  Status (*destroy_tensor)(Descriptor);
  Status (*destroy_filter)(Descriptor);
  Status (*destroy_convolution)(Descriptor);
  Propose* propose[3];  // by Convolution::Kind
  Run* run[3];
};

void check(const Api& api, Status status, const char* call) {
  if (status == 0) return;
  raise(ErrorKind::Runtime, "convolution", std::string(call) + " failed",
        std::string("cuDNN's ") + api.error_string(status), "CUDNN_STATUS_SUCCESS");
}

// Descriptors of one convolution and the algorithm for it.
struct Plan {
  const cuda::CudaDevice* device;
  Convolution form;
  Descriptor image = nullptr, weight = nullptr, result = nullptr, convolution = nullptr;
  int algorithm = 0;
  size_t bytes = 0;
};

constexpr size_t kPlans = 256;
// Handles and plans must not be used by two threads at once.
std::mutex mutex;
std::list<Plan>& plans() {
  static auto* all = new std::list<Plan>;  // never destroyed: the driver takes everything back
  return *all;
}

Handle handle_of(const Api& api, const cuda::CudaDevice& device) {
  static auto* handles = new std::map<const cuda::CudaDevice*, Handle>;
  Handle& h = (*handles)[&device];
  if (h == nullptr) check(api, api.create(&h), "cudnnCreate");
  return h;
}

void destroy(const Api& api, Plan& p) {
  if (p.image) api.destroy_tensor(p.image);
  if (p.result) api.destroy_tensor(p.result);
  if (p.weight) api.destroy_filter(p.weight);
  if (p.convolution) api.destroy_convolution(p.convolution);
}

// What the three calls take, in the order of Convolution::Kind's operands and result.
std::array<Descriptor, 3> operands(const Plan& p) {
  switch (p.form.kind) {
    case Convolution::Forward: return {p.image, p.weight, p.result};
    case Convolution::Input: return {p.weight, p.result, p.image};
    default: return {p.image, p.result, p.weight};
  }
}

// Winograd's algorithm (Lavin and Gray, 2016), which takes between a quarter and the same time of
// what cuDNN proposes first, where it was measured (docs/performance.md); -1: that stays. An FFT,
// whose tiles are 32 wide, is quicker where many images fill them, and so are tensor cores.
int preferred(const Convolution& c) {
  constexpr int kForwardWinograd = 7, kInputWinograd = 5;
  constexpr int64_t kManyChannels = 32, kManyImages = 256;
  const Convolution::Pair ones{1, 1}, threes{3, 3};
  if (c.tf32 || c.kernel != threes || c.stride != ones || c.dilation != ones || c.groups != 1 ||
      c.in_channels < kManyChannels || c.out_channels < kManyChannels)
    return -1;
  const bool fills_tiles =
      c.batch >= kManyImages && c.in[0] > 18 && c.in[0] <= 30 && c.in[1] > 18 && c.in[1] <= 30;
  if (c.kind == Convolution::Forward) return kForwardWinograd;
  return c.kind == Convolution::Input && !fills_tiles ? kInputWinograd : -1;
}

void choose(const Api& api, Handle handle, Plan& p) {
  const auto [a, b, out] = operands(p);
  Proposal found[kMostProposals];
  int count = 0;
  check(api,
        api.propose[p.form.kind](handle, a, b, p.convolution, out, kMostProposals, &count, found),
        "cudnnGetConvolutionAlgorithm");
  constexpr size_t kMostMemory = size_t{1} << 30;  // for an algorithm that is not the first
  const int wanted = preferred(p.form);
  const Proposal* chosen = nullptr;
  for (int k = 0; k < count; ++k) {
    const Proposal& proposal = found[k];
    if (proposal.status != 0 || proposal.determinism != kDeterministic) continue;
    if (!chosen || (proposal.algorithm == wanted && proposal.memory <= kMostMemory))
      chosen = &proposal;
  }
  if (chosen) {
    p.algorithm = chosen->algorithm;
    p.bytes = chosen->memory;
    return;
  }
  raise(ErrorKind::Runtime, "convolution",
        "cuDNN has no algorithm that gives the same bits each time",
        std::to_string(count) + " proposals", "a deterministic one");
}

// Where there is one position along an axis, any stride gives it; cuDNN works out how many there
// are, which has to be one.
int64_t stride_along(const Convolution& c, size_t axis) {
  if (c.out[axis] != 1) return c.stride[axis];
  return std::max<int64_t>(
      1, c.in[axis] + 2 * c.padding[axis] - (c.kernel[axis] - 1) * c.dilation[axis]);
}

Plan make(const Api& api, Handle handle, const cuda::CudaDevice& device, const Convolution& c) {
  Plan p{&device, c};
  const int type = c.type == DType::F64 ? kDouble : kFloat;
  auto number = [](int64_t n) { return static_cast<int>(n); };
  try {
    check(api, api.create_tensor(&p.image), "cudnnCreateTensorDescriptor");
    check(api, api.create_tensor(&p.result), "cudnnCreateTensorDescriptor");
    check(api, api.create_filter(&p.weight), "cudnnCreateFilterDescriptor");
    check(api, api.create_convolution(&p.convolution), "cudnnCreateConvolutionDescriptor");
    check(api,
          api.set_tensor(p.image, kNchw, type, number(c.batch), number(c.in_channels),
                         number(c.in[0]), number(c.in[1])),
          "cudnnSetTensor4dDescriptor");
    check(api,
          api.set_tensor(p.result, kNchw, type, number(c.batch), number(c.out_channels),
                         number(c.out[0]), number(c.out[1])),
          "cudnnSetTensor4dDescriptor");
    check(api,
          api.set_filter(p.weight, type, kNchw, number(c.out_channels), number(c.in_each()),
                         number(c.kernel[0]), number(c.kernel[1])),
          "cudnnSetFilter4dDescriptor");
    check(
        api,
        api.set_convolution(p.convolution, number(c.padding[0]), number(c.padding[1]),
                            number(stride_along(c, 0)), number(stride_along(c, 1)),
                            number(c.dilation[0]), number(c.dilation[1]), kCrossCorrelation, type),
        "cudnnSetConvolution2dDescriptor");
    check(api, api.set_groups(p.convolution, number(c.groups)), "cudnnSetConvolutionGroupCount");
    check(api, api.set_math(p.convolution, c.tf32 ? kTensorMath : kFmaMath),
          "cudnnSetConvolutionMathType");
    choose(api, handle, p);
  } catch (const Error&) {
    destroy(api, p);
    throw;
  }
  return p;
}

// The caller holds the lock, and the device's context is current.
const Plan& plan_for(const Api& api, Handle handle, const cuda::CudaDevice& device,
                     const Convolution& c) {
  std::list<Plan>& all = plans();
  for (auto p = all.begin(); p != all.end(); ++p) {
    if (p->device != &device || p->form != c) continue;
    all.splice(all.begin(), all, p);
    return all.front();
  }
  all.push_front(make(api, handle, device, c));
  if (all.size() > kPlans) {
    destroy(api, all.back());
    all.pop_back();
  }
  return all.front();
}

}  // namespace

bool has_cudnn() {
  if (is_loaded("cudnn")) return true;
  try {
    require("cudnn");
    return true;
  } catch (const Error&) {
    return false;
  }
}

void convolve_cuda(Device& d, const Convolution& c, const char* a, const char* b, char* out) {
  auto& device = static_cast<cuda::CudaDevice&>(d);
  const Api& api = entries_of<Api>("cudnn");
  std::lock_guard<std::mutex> lock(mutex);
  cuda::ContextScope scope(device.context());
  Handle handle = handle_of(api, device);
  check(api, api.set_stream(handle, device.stream().handle()), "cudnnSetStream");
  const Plan& p = plan_for(api, handle, device, c);
  Scratch work(device, p.bytes);
  const double one_wide = 1, zero_wide = 0;
  const float one_narrow = 1, zero_narrow = 0;
  const bool wide = c.type == DType::F64;
  const void* one = wide ? static_cast<const void*>(&one_wide) : &one_narrow;
  const void* zero = wide ? static_cast<const void*>(&zero_wide) : &zero_narrow;
  const auto [first, second, result] = operands(p);
  // The weights come first where the derivative by the input is asked for.
  const bool swapped = c.kind == Convolution::Input;
  check(api,
        api.run[c.kind](handle, one, first, swapped ? b : a, second, swapped ? a : b, p.convolution,
                        p.algorithm, work.data(), p.bytes, zero, result, out),
        "cudnnConvolution");
}

}  // namespace numbus::vendor
