// Where arrays lie of which the user has left the device open (NUMBUS_DEVICE=auto): small work near
// the host, large work on the GPU, and copies where the two meet.
#pragma once

#include <span>

#include "array/array.h"

namespace numbus::placement {

// False: every array stays where it was made, and operands on two devices are an error.
extern constinit bool on;

// Measured on no machine yet: work on so many bytes takes a CPU as long as a GPU's launch.
constexpr int64_t kFewBytes = int64_t{1} << 20;
// Arrays of `few` bytes and more are made on `far`; null: off.
void begin(Device* far, int64_t few);

// The device of a new array without operands.
Device& of_new(int64_t bytes);
// While `on`: the device where an operation on these arrays is to run, whose result takes so many
// bytes. May move arrays that have been used often where they lie.
Device& chosen_for(std::span<const Array* const> operands, int64_t bytes);
// The device of a result: chosen, or that of the first operand.
inline Device& of_result(std::span<const Array* const> operands, int64_t bytes) {
  if (on) return chosen_for(operands, bytes);
  return operands.empty() ? default_device() : *operands[0]->base->device;
}
inline Device& of_result(std::span<const Array* const> operands, std::span<const int64_t> shape,
                         DType t) {
  int64_t bytes = itemsize(t);
  for (int64_t e : shape) bytes *= e;
  return of_result(operands, bytes);
}

// Copies of what an instruction reads, held until it has been recorded.
struct Copies {
  Array held[kMaxOperands];
  ViewRef views[kMaxOperands];
};
// Brings an instruction to one device: its results, where they have no elements yet or may move,
// and copies of what it reads elsewhere; numbers that the host has become operands by value.
void meet(const Instr& i, const Array& out, Window::Input* in, int count, Copies& copies);

// The host reads an element of it: what is read often comes near.
void is_read(const Array& a);

// The user named the device of this array.
void pin(const Array& a);

}  // namespace numbus::placement
