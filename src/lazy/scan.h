// Cumulative operations (Routine::accumulate) on each kind of device.
//
// On a CPU a line is computed strictly in order, so floats have NumPy's bits; only operations for
// which order cannot matter cut a long line into units. On a GPU associative operations cut lines
// into segments and tiles whose sizes depend on the shape and the alignment of the data: results
// are the same in each run, and as exact as a pairwise sum.
#pragma once

#include <string>
#include <vector>

#include "compile/gpu_scan.h"
#include "lazy/runtime.h"

namespace numbus {

// The operand and the result are (outer, axis, inner). One launch on a GPU.
struct ScanLaunch {
  compile::GpuScan kernel;
  std::vector<int64_t> words;  // all but the addresses
  unsigned grid[3], block[3];
  bool in_scratch;  // operand and result are the segments' totals
};
struct ScanLaunches {
  std::vector<ScanLaunch> launches;
  size_t scratch = 0;  // bytes
};
// Whether every line begins where 16 bytes may be read and written at once.
bool scan_aligned(const KernelStep& step);
ScanLaunches plan_gpu_scan(const KernelStep& step);

}  // namespace numbus
