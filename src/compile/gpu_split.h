// A kernel body in three: its values the quick way, its values the whole way, and what is done with
// them.
#pragma once

#include <optional>
#include <vector>

#include "ir/kernel.h"

namespace numbus::compile {

// `quick` leaves out every if_any region; its last state field tells whether one would have run.
// `whole` has them all. Both hand their results to `finish`, the stores and reduction steps, in
// state fields after the kernel's own.
struct Split {
  ir::Kernel quick, whole, finish;
  size_t own_fields = 0;  // of the kernel; then the values handed over; in quick then the flag
};

// Nothing where a body has no rare case, loops, or reads after it writes.
std::optional<Split> split_rare(const ir::Kernel& k);

}  // namespace numbus::compile
