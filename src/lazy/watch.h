// What one elementwise instruction meets while it is carried out block by block.
#pragma once

#include "lazy/examine.h"
#include "lazy/float_errors.h"

namespace numbus::float_errors {

// Where a call is watched, the flags say afterwards whether NumPy may warn: those that our own
// steps set are dropped, and set for elements that NumPy may warn of. Where the instruction is a
// window's, such elements are collected.
class Watch {
 public:
  Watch(const Instr& i, DType out, const Window::Input* in)
      : on_(state.finding || (state.watched && !is_basic(i, out))) {
    if (on_) begin(i, out, in);
  }
  ~Watch() {
    if (on_ && e_.by != Evidence::Flags)
      flags::restore(saved_, found_ && state.watched && !state.finding ? flags::kAll : 0);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  // Whether operands have to be as they were before where a block is looked at.
  bool needs_operands() const { return on_ && e_.by != Evidence::Flags && e_.by != Evidence::None; }
  // Looks at a block of n elements, as they were read and stored.
  void look(int64_t n, const char* stored, const char* const* given) {
    if (on_ && (e_.by != Evidence::Flags || (state.finding && flags::raised()))) [[unlikely]]
      look_at(n, stored, given);
  }

 private:
  // Whose flags are left as they are: evidence_of() says so, too.
  static bool is_basic(const Instr& i, DType out) {
    return i.loop == DType::F64 && out == DType::F64 && !i.predicated &&
           (i.op == Op::add || i.op == Op::subtract || i.op == Op::multiply || i.op == Op::divide ||
            i.op == Op::sqrt);
  }
  void begin(const Instr& i, DType out, const Window::Input* in);
  void look_at(int64_t n, const char* stored, const char* const* given);
  void collect(int64_t from);

  bool on_, predicated_ = false, found_ = false;
  unsigned saved_ = 0;
  const Window::Input* in_ = nullptr;
  Examined e_{};
  alignas(16) char scalars_[48];
};

}  // namespace numbus::float_errors
