// Random bits of Philox 4x64-10, and normal numbers made from them.
#pragma once

#include <cstdint>

namespace numbus::routines {

// A stream of 64-bit numbers, the same as numpy.random.Philox(key=key, counter=counter).random_raw:
// block i, which holds the numbers 4i to 4i + 3, is the cipher of counter + 1 + i (256 bits, the
// first word the lowest). Every part of the stream can be computed by itself.
struct Philox {
  uint64_t key[2];
  uint64_t counter[4];

  // out[i] = number first + i of the stream.
  void raw(uint64_t first, int64_t n, uint64_t* out) const;

  // Normal numbers of mean 0 and variance 1: number first + i of a stream of their own. They depend
  // neither on how the stream is cut into calls nor on the threads nor on the instruction set.
  //
  // Box-Muller: float32 take one 64-bit number of the raw stream for two normals, number 2i from
  // the cosine, 2i + 1 from the sine, the low 32 bits give the radius, the high ones the angle.
  // float64 take two numbers for two normals, the first one for the radius. Largest: 6.8 and 8.6.
  void normal(uint64_t first, int64_t n, float* out) const;
  void normal(uint64_t first, int64_t n, double* out) const;
};

}  // namespace numbus::routines
