// Convolutions of two spatial axes and their two derivatives, by BLAS and by cuDNN.
#pragma once

#include <array>
#include <cstdint>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::vendor {

// y[n, o, p] = sum of x[n, c, p * stride - padding + k * dilation] * w[o, c, k] over the channels c
// of o's group and the taps k, with zeros around x; and what is linear in the other two: the
// derivative by x of weights y and w, that by w of x and weights y. All arrays are dense, in C
// order.
struct Convolution {
  enum Kind : uint8_t { Forward, Input, Weight } kind = Forward;
  DType type = DType::F32;  // float32 or float64
  bool tf32 = false;        // float32 on a GPU: operands may be rounded to TF32
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  using Pair = std::array<int64_t, 2>;
  Pair in{}, out{}, kernel{}, stride{}, padding{}, dilation{};

  int64_t in_each() const { return in_channels / groups; }
  int64_t out_each() const { return out_channels / groups; }
  int64_t positions() const { return out[0] * out[1]; }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  bool operator==(const Convolution&) const = default;
};

// `a` and `b`: x and w, weights y and w, x and weights y.
void convolve_cpu(const Convolution& c, const char* a, const char* b, char* out);
// Whether cuDNN is there; it is looked for at the first question.
bool has_cudnn();
// In order on the device's stream. float32 is float32 but where TF32 is allowed; the algorithm is
// chosen by the shapes among those of cuDNN's that give the same bits each time.
void convolve_cuda(Device& d, const Convolution& c, const char* a, const char* b, char* out);

}  // namespace numbus::vendor
