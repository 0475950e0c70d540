// Races: which threads of a block use one element of the memory they share with nothing between
// that orders them, at least one of them writing.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/function.h"

namespace numbus::compile {

// One thread's use of an element.
struct Use {
  uint32_t epoch = 0;    // barriers of the block before it; 0: no use
  uint32_t clock = 0;    // the thread's own, which its warp operations and fences move on
  int32_t position = 0;  // in the source
  uint16_t thread = 0;
  ir::Access how = ir::Access::Read;
};

// The shared memory of one block that runs at a time. What orders two uses: a barrier of the block,
// a warp operation that both threads take part in, and a fence after the first one: what a thread
// did before it is taken to be seen by whoever comes later. Two writes of one value are no race.
class RaceCheck {
 public:
  // `granule`: bytes of the narrowest access that the kernel makes.
  RaceCheck(int64_t bytes, int granule, int64_t threads);

  void barrier() { ++epoch_; }  // also where a block begins
  void warp(int64_t first, uint32_t lanes);
  void fence(int64_t thread);
  // Notes the use; what it races with, or null. same_value: a write leaves the memory as it is.
  const Use* use(int64_t thread, ir::Access how, int64_t position, int64_t offset, int bytes,
                 bool same_value);

 private:
  // The last of each kind; of reads and atomics two by different threads, of different warps where
  // there are such, so that a later write by one of them meets the other.
  struct Element {
    Use write, read[2], atomic[2];
  };
  bool ordered(const Use& before, int64_t thread) const;
  void keep(Use (&two)[2], const Use& now) const;

  int granule_;
  uint32_t epoch_ = 0;
  std::vector<Element> elements_;
  std::vector<uint32_t> clock_, fenced_;
  std::vector<uint32_t> seen_;  // per thread, for each lane of its warp: its clock that is behind
  Use found_;
};

}  // namespace numbus::compile
