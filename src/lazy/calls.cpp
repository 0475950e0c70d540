// The entries of routines, and those that hand their operands to a library.
#include "lazy/calls.h"

#include "base/error.h"
#include "lazy/entries.h"
#include "lazy/grid_convolution.h"
#include "vendor/blas.h"
#include "vendor/fft.h"

namespace numbus {
namespace {

constexpr Entry none = nullptr;  // NOLINT(readability-identifier-naming): the word of the table

constexpr int64_t kLongCall = 1'000'000'000;  // operations on floating-point numbers

constexpr Entries kEntries[] = {
#define ROUTINE(name, operands, results, attributes, cpu, gpu, flops, doc) {cpu, gpu},
#include "ops/routines.def"
#undef ROUTINE
};

vendor::Matrix matrix(const Layout& l) {
  return {nullptr, l.stride(1), l.stride(2), l.shape(0) > 1 ? l.stride(0) : 0};
}

vendor::Product product_of(const KernelStep& step) {
  const CallStep& c = *step.call;
  vendor::Product p = product_of(c.type, c.in(0), c.in(1), c.out());
  p.a.data = address(step, 0);
  p.b.data = address(step, 1);
  p.out.data = address(step, c.operands());
  p.tf32 = c.attributes[0] != 0;
  return p;
}

vendor::Ending ending_of(const KernelStep& step) {
  return {address(step, 2), step.call->attributes[1] != 0};
}

vendor::Transform transform_of(const CallStep& c) {
  return {c.types[0], c.types[1], c.routine == Routine::ifft, c.layouts[0], c.layouts[1]};
}

int64_t packed(const std::array<int64_t, 2>& pair) { return pair[0] << 32 | pair[1]; }
std::array<int64_t, 2> unpacked(int64_t both) { return {both >> 32, both & 0xffffffff}; }

}  // namespace

std::array<int64_t, kMaxAttributes> attributes_of(ConvolutionKind kind, const ConvolutionForm& f,
                                                  bool tf32) {
  return {packed(f.stride), packed(f.padding), packed(f.dilation),
          f.groups << 3 | int64_t{tf32} << 2 | static_cast<int64_t>(kind)};
}

ConvolutionKind kind_of(const std::array<int64_t, kMaxAttributes>& attributes) {
  return static_cast<ConvolutionKind>(attributes[3] & 3);
}

ConvolutionForm form_of(const std::array<int64_t, kMaxAttributes>& attributes) {
  return {unpacked(attributes[0]), unpacked(attributes[1]), unpacked(attributes[2]),
          attributes[3] >> 3};
}

vendor::Convolution convolution_of(const CallStep& call) {
  return convolution_of(call.attributes, call.type, call.in(0), call.in(1), call.out());
}

vendor::Convolution convolution_of(const std::array<int64_t, kMaxAttributes>& attributes, DType t,
                                   const Layout& a, const Layout& b, const Layout& out) {
  vendor::Convolution c;
  c.kind = kind_of(attributes);
  c.tf32 = attributes[3] >> 2 & 1;
  c.type = t;
  const Layout& x = c.kind == ConvolutionKind::Input ? out : a;
  const Layout& w = c.kind == ConvolutionKind::Weight ? out : b;
  const Layout& y = c.kind == ConvolutionKind::Forward ? out
                    : c.kind == ConvolutionKind::Input ? a
                                                       : b;
  const ConvolutionForm f = form_of(attributes);
  c.batch = x.shape(0);
  c.in_channels = x.shape(1);
  c.out_channels = y.shape(1);
  c.groups = f.groups;
  c.in = {x.shape(2), x.shape(3)};
  c.out = {y.shape(2), y.shape(3)};
  c.kernel = {w.shape(2), w.shape(3)};
  c.stride = f.stride;
  c.padding = f.padding;
  c.dilation = f.dilation;
  return c;
}

std::string call_name(Routine routine, Op op) {
  return (applies(routine) ? std::string(op_name(op)) + "." : "") + std::string(row(routine).name);
}

vendor::Product product_of(DType type, const Layout& a, const Layout& b, const Layout& out) {
  return {type,       out.shape(0), out.shape(1), out.shape(2),
          a.shape(2), matrix(a),    matrix(b),    matrix(out)};
}

vendor::Linalg linalg_of(Routine r) {
  static constexpr Routine kOrder[] = {
      Routine::inv,      Routine::solve, Routine::det,     Routine::slogdet, Routine::cholesky,
      Routine::eigvalsh, Routine::eigh,  Routine::eigvals, Routine::eig,     Routine::svdvals,
      Routine::svd,      Routine::qr,    Routine::qr_q,    Routine::lu};
  static_assert(std::size(kOrder) == vendor::kLinalgs);
  static_assert([] {
    for (size_t k = 0; k < std::size(kOrder); ++k)
      if (static_cast<size_t>(kOrder[k]) != static_cast<size_t>(Routine::inv) + k) return false;
    return true;
  }());
  return static_cast<vendor::Linalg>(static_cast<int>(r) - static_cast<int>(Routine::inv));
}

vendor::LinalgCall linalg_call_of(const CallStep& c, char* const* addresses) {
  return {linalg_of(c.routine),
          c.attributes[0] != 0,
          c.types[0],
          c.layouts,
          {addresses, addresses + c.layouts.size()}};
}

bool is_long(const CallStep& c, int64_t flops) {
  // Transforms and factorisations do a part of what products do in a second.
  const bool transform = c.routine == Routine::fft || c.routine == Routine::ifft;
  return flops >= (transform              ? kLongCall / 10
                   : is_linalg(c.routine) ? kLongCall / 5 * 2
                                          : kLongCall);
}

const Entries& entries_of(Routine r) { return kEntries[static_cast<int>(r)]; }

void run_call(Runtime& runtime, Device& device, KernelStep& step) {
  const Entries& e = entries_of(step.call->routine);
  Entry entry = device.runs_on_host() ? e.cpu : e.gpu;
  if (!entry)
    raise(ErrorKind::Runtime, std::string(row(step.call->routine).name), "nothing carries it out",
          device.label(), "a device with an entry in the table of routines");
  entry(runtime, device, step);
}

void matmul_cpu(Runtime&, Device&, KernelStep& step) {
  vendor::Product p = product_of(step);
  if (step.reach.empty()) return vendor::matmul_cpu(p);
  run_apart([p] { vendor::matmul_cpu(p); }, step.reach, std::move(step.bases));
}

void matmul_gpu(Runtime&, Device& device, KernelStep& step) {
  vendor::matmul_cuda(device, product_of(step));
}

void affine_cpu(Runtime&, Device&, KernelStep& step) {
  const vendor::Product p = product_of(step);
  vendor::matmul_cpu(p);
  vendor::end_product_cpu(p, ending_of(step));
}

void affine_gpu(Runtime&, Device& device, KernelStep& step) {
  vendor::matmul_cuda(device, product_of(step), ending_of(step));
}

void fft_cpu(Runtime&, Device&, KernelStep& step) {
  const vendor::Transform t = transform_of(*step.call);
  const auto scale = static_cast<vendor::FftScale>(step.call->attributes[0]);
  const bool wide = step.call->attributes[1] != 0;
  char *in = address(step, 0), *out = address(step, 1);
  if (step.reach.empty()) return vendor::fft_cpu(t, scale, wide, in, out);
  run_apart([=] { vendor::fft_cpu(t, scale, wide, in, out); }, step.reach, std::move(step.bases));
}

void fft_gpu(Runtime&, Device& device, KernelStep& step) {
  vendor::fft_cuda(device, transform_of(*step.call), address(step, 0), address(step, 1));
}

namespace {

vendor::LinalgCall linalg_call_of(const KernelStep& step) {
  std::vector<char*> at;
  for (size_t k = 0; k < step.call->layouts.size(); ++k)
    at.push_back(address(step, static_cast<int>(k)));
  return linalg_call_of(*step.call, at.data());
}

}  // namespace

void linalg_cpu(Runtime&, Device&, KernelStep& step) {
  const vendor::LinalgCall c = linalg_call_of(step);
  if (step.reach.empty()) return vendor::linalg_cpu(c);
  run_apart([c] { vendor::linalg_cpu(c); }, step.reach, std::move(step.bases));
}

void linalg_gpu(Runtime&, Device& device, KernelStep& step) {
  vendor::linalg_cuda(device, linalg_call_of(step));
}

void convolve_cpu(Runtime&, Device& device, KernelStep& step) {
  const vendor::Convolution c = convolution_of(*step.call);
  char *a = address(step, 0), *b = address(step, 1), *out = address(step, 2);
  if (grid_convolution::is_ready(device, c)) return grid_convolution::run(device, c, a, b, out);
  if (step.reach.empty()) return vendor::convolve_cpu(c, a, b, out);
  run_apart([=] { vendor::convolve_cpu(c, a, b, out); }, step.reach, std::move(step.bases));
}

void convolve_gpu(Runtime&, Device& device, KernelStep& step) {
  const vendor::Convolution c = convolution_of(*step.call);
  char *a = address(step, 0), *b = address(step, 1), *out = address(step, 2);
  if (grid_convolution::is_ready(device, c)) return grid_convolution::run(device, c, a, b, out);
  vendor::convolve_cuda(device, c, a, b, out);
}

}  // namespace numbus
