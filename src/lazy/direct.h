// Windows without a plan: carried out instruction by instruction, as long as that has cost less
// than a plan would. A program's first pass over its lines is then as quick as an interpreter of
// single operations, and windows that never come again are not planned at all.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lazy/window.h"

namespace numbus {

// When windows are carried out so: never, as costs are estimated, or always.
enum class WithoutPlan : uint8_t { Never, Estimated, Always };

// Which windows have been carried out so, by their structure.
class DirectWindows {
 public:
  // Whether the window, whose plan is not there, is to be carried out without one; that is noted.
  // `seen`: it was, before.
  bool take(const Window& w, uint64_t structure, bool& seen);
  void clear() { spent_.clear(); }

 private:
  std::unordered_map<uint64_t, int64_t> spent_;  // estimated ns
};

// What such a window needs while it is carried out; all that can fail before the first instruction.
struct Direct {
  explicit Direct(const Window& w);
  std::vector<int32_t> last;  // by slot: the last instruction that uses it
  std::vector<Handle> held;   // by slot: its elements are needed further on
  Window part;                // an instruction that needs a plan
};

// Carries out an instruction of a window; false: it needs a plan.
bool run_directly(const Window& w, const Instr& i);

struct Recorded;
// A map that neither gathers nor scatters; false: it needs a plan.
bool map_directly(const Instr& i, const Recorded& given);

// The operands of a window's instruction as they were recorded, to be recorded in another one.
struct Recorded {
  Recorded(const Window& w, const Instr& i);
  // The same on other bases: that of the result, then those of the operands.
  Recorded(const Window& w, const Instr& i, Base* const* bases);
  ViewRef out;
  Window::Input in[kMaxOperands];
  int count;

 private:
  void fill(const Window& w, const Instr& i, Base* const* bases);
  ViewRef views_[kMaxOperands];
};

}  // namespace numbus
