// Scans as PTX: one thread a line or segment, or one block that walks a line tile by tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "compile/scan.h"

namespace numbus::compile {

// Threads cut a long line into segments: one launch writes the total of each, one scans the totals,
// and one begins every segment with the total before it. Blocks read it once: each takes the next
// tile, publishes its total, and adds up what is published before it.
struct GpuScan {
  ScanCode code, between;  // between: for the totals, of the loop's type
  bool blocks = false;     // a block a line or tile, else a thread a line or segment
  bool tiles = false;      // a block a tile
  bool totals = false;     // writes only the segments' totals; all segments are whole then
  bool carries = false;    // segments begin with the scanned totals
  int warps = 1;           // of a block
  int vector = 1;          // neighbours that a thread of a block reads and writes at once

  // Kernel parameters, all 64-bit.
  enum Word { kIn, kOut = 4, kLength = 8, kOuter, kInner, kSegment, kSegments, kTotals, kWords };
  // kIn and kOut: the address, then the strides of (outer, axis, inner); totals lie densely by
  // line and segment. Of tiles: the segment is a tile, and kTotals the address of `published`
  // bytes, all zero.

  // What blocks publish of lines of so many tiles: the totals of all tiles, of each 32 of them and
  // of each 1,024, and the sums up to the end of each 32, at most 32 bytes each; before all that, a
  // counter of the tiles that are taken.
  size_t published(int64_t lines, int64_t tiles) const {
    const int64_t groups = (tiles + kFan - 1) / kFan, supers = (groups + kFan - 1) / kFan;
    return kHeader + static_cast<size_t>(lines * (tiles + 2 * groups + supers) * 32);
  }
  static constexpr int kFan = 32;
  static constexpr int kHeader = 16;  // bytes

  static constexpr int kStrips = 4;  // pieces of a tile in flight together
  int strips() const { return tiles ? 8 : kStrips; }
  int tile() const { return 32 * warps * vector * strips(); }
  std::string key() const;
};

std::string build_scan_ptx(const GpuScan& g, int sm, int ptx);

}  // namespace numbus::compile
