// Fourier transforms by cuFFT.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/layout.h"
#include "device/device.h"

namespace numbus::vendor {

// A stack of transforms over one to three axes, unscaled. Layouts are (stack, axes …). Types
// complex to complex; real to complex, whose last axis keeps n/2 + 1 of n values; or, if `inverse`,
// back to real.
struct Transform {
  DType in_type = DType::C128, out_type = DType::C128;
  bool inverse = false;
  const Layout* in = nullptr;
  const Layout* out = nullptr;
};

// Whether it can be done without copies as `in` and `out` lie, offsets in bytes from memory that is
// aligned to 16 bytes: in each operand every stride is a multiple of the next axis' that spans that
// axis. Extents are 1 at least; `out` must not overlap `in` or itself, that is the caller's to
// know.
bool fft_takes(const Transform& t, int64_t in_offset, int64_t out_offset);

// For transforms that fft_takes(), in order on the device's stream; returns at once. Those to real
// values destroy `in`. The first call loads the library and raises where there is none.
void fft_cuda(Device& d, const Transform& t, char* in, char* out);

// How many plans are kept for later transforms of the same form.
constexpr int kFftPlans = 64;

}  // namespace numbus::vendor
