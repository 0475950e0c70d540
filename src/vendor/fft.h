// Fourier transforms: cuFFT's on a GPU, NumPy's pocketfft on a CPU.
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

// On a CPU, where layouts have any axes before the last, which alone is transformed. Results are
// scaled as NumPy scales them; wide: numbers of float32 are transformed in float64, as NumPy does
// where operand and factor have not both the types of a loop.
enum class FftScale : uint8_t { None, Points, Root };  // by 1, 1 / n, 1 / sqrt(n)
enum class FftKind : uint8_t { Forward, Inverse, RealEven, RealOdd, ToReal };
FftKind kind_of(const Transform& t);

// The inner loop of one of NumPy's ufuncs of transforms: lines of an operand, factors, lines of the
// result; their number and extents, and strides in bytes between lines, then between elements.
using FftLoop = void (*)(char** args, const intptr_t* extents, const intptr_t* strides, void* data);
void set_fft_loop(FftKind kind, DType real, FftLoop loop, void* data);
// Whether all of them are known, as they are with NumPy 2.
bool has_fft_loops();
void fft_cpu(const Transform& t, FftScale scale, bool wide, const char* in, char* out);
// The processor's flags of the first lines whose results are infinite or no numbers, done again.
unsigned fft_flags(const Transform& t, FftScale scale, bool wide, const char* in, const char* out);

// How many plans are kept for later transforms of the same form.
constexpr int kFftPlans = 64;

}  // namespace numbus::vendor
