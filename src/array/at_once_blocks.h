// Which arrays are at rest, so that operations on them may be carried out at once.
#pragma once

#include "array/at_once.h"
#include "lazy/blocks.h"

namespace numbus::small {

// Whether no pending work touches the base.
inline bool at_rest(const Base& b, const Device* device) {
  return b.device == device && !b.pending() && !b.failure;
}
// What is pending may read it, too, but not write it.
inline bool readable(const Base& b, const Device* device) {
  if (b.device != device || b.flights > 0 || b.other_windows > 0 || b.failure) return false;
  return !b.window || !b.window->writes(b);
}
// Whether an operation of n elements on a device may be carried out now if its arrays are at rest.
bool may_run(int64_t n, const Device& device);
// Whether resting() holds, if need be after what is pending has been carried out, where a small
// operation had better do that.
template <class Resting>
bool rests(Device& device, Resting&& resting) {
  if (resting()) return true;
  Recorder& r = Recorder::of(device);
  if (!r.small_ones_follow()) return false;
  r.flush("small operations follow each other");
  return resting();
}

}  // namespace numbus::small
