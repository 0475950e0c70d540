// Where arrays lie of which the user has left the device open (NUMBUS_DEVICE=auto): small work near
// the host, large work on the GPU, and copies where the two meet.
//
// Work on open arrays is recorded in one window, whichever side its operands lie on; a flush
// chooses the side for the window as a whole (settle_window.cpp). Until then its results count as
// near. What asks a device what it can do and records accordingly has to say so (Work).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "array/array.h"
#include "array/costs.h"
#include "array/first_uses.h"

namespace numbus::placement {

// False: every array stays where it was made, and operands on two devices are an error.
extern constinit bool on;

// Where work on new arrays of so many bytes takes a CPU as long as a GPU.
constexpr int64_t kFewBytes = int64_t{1} << 20;
// `far`: the other side; null: off. The fixed costs of work there become those of a machine where
// `few` bytes take both sides equally long.
void begin(Device* far, int64_t few);
// The other side is the first GPU, which is not opened before work on it has paid for that
// (first_uses.h).
void begin_with_gpu();

// The device on which a routine works on `a` in this way, costs in nanoseconds for each element.
// What is pending and large is carried out first, and the array may move. It then stays there until
// it is written to.
Device& home(const Array& a, double near = 3, double far = 0.1);
// The devices between which is chosen; null: a GPU that is not open yet.
std::array<Device*, 2> both();
// The device of a new array without operands.
Device& of_new();
// The device on which work of that cost runs soonest, copies of operands that lie on the other side
// included; and an operand there, which is a copy where it lies elsewhere.
Device& chosen_for(std::span<const Array* const> operands, const Cost& cost,
                   Library library = Library::None);
Array brought(const Array& a, Device& to);

// A device for the result of an instruction, which is chosen when it is flushed: that of an operand
// of which the user named the device, else of the first one.
inline Device& of_result(std::span<const Array* const> operands) {
  if (on)
    for (const Array* a : operands)
      if (a->base->pinned) return *a->base->device;
  return operands.empty() ? default_device() : *operands[0]->base->device;
}

// While it lives, this thread's instructions are recorded for a device that was asked what it can
// do; null: as before.
class Work {
 public:
  // The same without an end; returns what was before.
  static Device* set(Device* d);
  explicit Work(Device* d);
  ~Work();
  Work(const Work&) = delete;

 private:
  Device* before_ = nullptr;
};

// Copies of what an instruction reads, held until it has been recorded.
struct Copies {
  Array held[kMaxOperands];
  ViewRef views[kMaxOperands];
};
// Whether the user named one device for all that an instruction works on: nothing is to be brought,
// and `out` is noted as such.
bool is_named(Instr& i, const Array& out, const Window::Input* in, int count);
// Brings an instruction to one window, whose device is returned: copies of what the user named
// another device for are no error where the other operands are open.
Device& meet(Instr& i, const Array& out, Window::Input* in, int count, Copies& copies);

// Chooses a device for a window that is being flushed, and has its arrays, or copies, there.
void settle_window(Window& w);
// How many windows whose first instruction is of that line of the program went to the GPU, by a
// choice, so far (current_line()).
struct FarWindows {
  uint64_t line;
  int64_t windows;
};
std::vector<FarWindows> far_windows();
// Its array lies on that side again after a flush that moved it; what it left stays as a copy.
void bring_back(Base& b, Device& to);

// The host reads an element of an array with nothing pending: what is read often comes near.
void is_read(const Array& a);
// Its memory is given to others, who may write to it: it comes near, if it may move.
void is_exported(const Array& a);

// The user named the device of this array.
void pin(const Array& a);

}  // namespace numbus::placement
