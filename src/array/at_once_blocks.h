// What all operations that are carried out at once share: which arrays are at rest, and the way of
// few elements between strided memory and dense blocks.
#pragma once

#include "array/at_once.h"
#include "interp/loops.h"

namespace numbus::small {

// A dense block of elements: of complex ones half as many.
struct alignas(64) Block {
  char bytes[kMostAtOnce * 8];
};

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

// Moves the elements of a strided view, in C order, between its memory and a dense block.
void gather(int size, const Layout& l, const char* memory, char* block);
void scatter(int size, const Layout& l, char* memory, const char* block);

// The loop that converts, or none: half precision and complex numbers take several steps.
interp::Loop conversion(DType from, DType to);
void convert(interp::Loop loop, DType to, void* out, const void* from, int64_t n);

}  // namespace numbus::small
