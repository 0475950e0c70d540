// Which steps of a run have to wait for which others, by the memory that they read and write.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lazy/run.h"

namespace numbus {

// Where the storages of a run lie while it is carried out, and which of them share memory.
class StorageRanges {
 public:
  // Of the steps, whose parameters are complete. False: storages lie in several places, or there
  // are more of them than it pays to compare.
  bool read(const Run& run, const Window& w);
  // Compares all of them with one another, which the others need.
  void compare();
  bool overlap(int a, int b) const { return overlaps_[index(a, b)] != 0; }
  // Where the storages lie now is taken over, unless two of them share memory that did not before.
  bool follows(const StorageRanges& now);

 private:
  struct Range {
    int64_t begin = 0, end = 0;
    bool operator==(const Range&) const = default;
    bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
  };
  size_t index(int a, int b) const {
    return static_cast<size_t>(a) * ranges_.size() + static_cast<size_t>(b);
  }

  std::vector<Range> ranges_;  // one for each storage; empty: no step uses it
  std::vector<char> overlaps_;
};

// For each step those before it that it has to wait for; what these wait for themselves is left
// out. `shared`: memory beside the storages, a bit each, that a step writes to.
std::vector<std::vector<int>> waits_of(std::span<const KernelStep> steps,
                                       const StorageRanges& ranges,
                                       const std::vector<unsigned>& shared);

}  // namespace numbus
