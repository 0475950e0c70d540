// The two sides between which devices are chosen, and how elements get from one to the other.
#pragma once

#include "array/array.h"
#include "array/costs.h"
#include "array/first_uses.h"

namespace numbus::placement {

// Null as long as the GPU is not open.
extern Device* far_device;
extern int64_t few_bytes;

inline bool near(const Base& b) { return b.device != far_device; }
inline Device& side(bool near) { return near ? cpu_device() : *far_device; }
inline Device* other_side(const Base& b) { return near(b) ? far_device : &cpu_device(); }
// Whether the user left its device open. Memory of the GPU that others know stays there.
inline bool is_open(const Base& b) {
  if (b.pinned) return false;
  return b.device == &cpu_device() || (b.device == far_device && b.owned && b.shared == 0);
}
// Whether its elements may go to another device for good: nobody outside knows its memory.
inline bool may_move(const Base& b) { return is_open(b) && b.owned && b.shared == 0 && !b.mask; }
// Without elements so far: another device costs nothing.
inline bool is_virtual(const Base& b) { return !b.has_elements() && !b.pending() && is_open(b); }

// Whether windows go far without having lost near what their code costs first, as in tests.
void code_is_free(bool free);
// Whether work that runs quicker on the other side goes there: the GPU, and what it needs there,
// has been paid for by what such work has lost near, of which this is another `gain`. Opens the
// GPU; where that cannot be used nothing is chosen from here on.
bool goes_far(Library library, double gain);
// Copies elements, and counts them.
void copy_across(Device& to, void* target, Device& from, const void* source, int64_t bytes);
// Moves a base with nothing pending, which may move. keeps: the old memory stays as its copy.
void move(Base& b, Device& to, bool keeps);
// Whether a base with nothing pending that writes to it has a copy there of the elements it has.
bool has_twin(const Base& b, const Device* to);
// That copy, made where there is none; of memory that others may write to it is not kept.
Handle twin_of(Base& b, Device& to);
// A copy that is not kept.
Handle copy_of(Base& b, Device& to);

// What work takes on each side, and the price of copying its operands there.
struct Balance {
  Cost cost, price;
  double most_lost = 0;  // by an array that would have to be copied
  // The work needs the elements of a base, which the other side has not.
  void needs(const Base& b);
  // Whether the work runs near, and the microseconds that this loses against the other side.
  bool runs_near() const;
  double loss(bool near) const;
  // What it would gain on the far side, copies included.
  double gain() const { return cost.near + price.near - cost.far - price.far; }
};
// Notes what a choice has cost an array that lies there, and is used there.
void note_loss(Base& b, double loss);

}  // namespace numbus::placement
