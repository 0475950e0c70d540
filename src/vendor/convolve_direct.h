// Sums of products for convolutions without products of matrices, for several kinds of processors.
#pragma once

#include <cstdint>

namespace numbus::vendor {

// For each of `count` results o < kMostResults and position p: out[o * line + p] = the sum over the
// steps s of weights[s * count + o] * in[offsets[s] + p]. Positions are rounded up to a multiple of
// kStrip, of which the memory has to be there. The sums have the order of the steps.
constexpr int kMostResults = 12;
constexpr int64_t kStrip = 128;

template <class T>
using SumSteps = void (*)(const T* in, const int64_t* offsets, int64_t steps, const T* weights,
                          int count, T* out, int64_t line, int64_t positions);

// Adds to each out[o * steps + s] the sum over the positions p of of[o * line + p] *
// in[offsets[s] + p]: `line` positions, a multiple of kStrip, those beyond the last one zeros in
// `of`.
template <class T>
using SumPositions = void (*)(const T* in, const int64_t* offsets, int64_t steps, const T* of,
                              int64_t count, T* out, int64_t line);

template <class T>
struct DirectLoops {
  SumSteps<T> steps;
  SumPositions<T> positions;
};

struct DirectSums {
  DirectLoops<float> floats;
  DirectLoops<double> doubles;
};

extern const DirectSums kDirectBaseline, kDirectV3, kDirectV4;
// Those that this processor runs.
const DirectSums& direct_sums();

}  // namespace numbus::vendor
