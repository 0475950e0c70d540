// Counting: how often each integer occurs, and how many values lie between edges.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace numbus::routines {

// out[v] = how often v occurs among the n elements of x, which are bool or integers in [0, bins):
// the caller has looked. With `weights`, `out` holds doubles, the sums of the weights: up to
// kWeightChunk elements they are added in order, as NumPy does; beyond that, chunks of that length
// are, and then their sums, in order. Without, it holds int64.
constexpr int64_t kWeightChunk = int64_t{1} << 17;
void bincount(DType t, const char* x, int64_t n, int64_t bins, const double* weights, char* out);

// numpy.histogram's counts: bin i holds what lies in [edges[i], edges[i + 1]), the last one its
// right edge, too; NaN and what lies outside are left out.
//
// Bins of equal width: the bin is computed in the type of the edges (float16, float32, float64) by
// NumPy's steps, ((x - first) / width) * bins, and then corrected by the edges next to it, so every
// value falls into NumPy's bin. `first` and `last` are the ends of the range as they were given,
// `width` is their difference as NumPy computes it: in float32 where both are float32. Where the
// type of the edges is that of the values, values are compared with `first` and `last` in that
// type, else in float64. Real types.
struct UniformEdges {
  DType type;
  const char* edges;  // bins + 1
  int64_t bins;
  double first, last, width;
};
void histogram_uniform(DType t, const char* x, int64_t n, const UniformEdges& edges, int64_t* out);

// Any edges that do not decrease, of the same type as the values.
void histogram_edges(DType t, const char* x, int64_t n, const char* edges, int64_t bins,
                     int64_t* out);

}  // namespace numbus::routines
