// Scans as PTX: one thread a line or segment, or one block that walks a line tile by tile.
#pragma once

#include <string>

#include "compile/scan.h"

namespace numbus::compile {

// A long line is cut into segments: one launch writes the total of each, one scans the totals, and
// one begins every segment with the total before it.
struct GpuScan {
  ScanCode code, between;  // between: for the totals, of the loop's type
  bool blocks = false;     // a block a segment, else a thread
  bool totals = false;     // writes only the segments' totals; all segments are whole then
  bool carries = false;    // segments begin with the scanned totals
  int warps = 1;           // of a block
  int vector = 1;          // neighbours that a thread of a block reads and writes at once

  // Kernel parameters, all 64-bit.
  enum Word { kIn, kOut = 4, kLength = 8, kOuter, kInner, kSegment, kSegments, kTotals, kWords };
  // kIn and kOut: the address, then the strides of (outer, axis, inner); totals lie densely by
  // line and segment.

  static constexpr int kStrips = 4;  // pieces of a tile in flight together
  int tile() const { return 32 * warps * vector * kStrips; }
  std::string key() const;
};

std::string build_scan_ptx(const GpuScan& g, int sm, int ptx);

}  // namespace numbus::compile
