// Emits the bodies of a scan on states held in LLVM values.
#pragma once

#include "compile/body.h"
#include "compile/scan.h"

namespace numbus::compile {

class ScanBody {
 public:
  using V = llvm::Value*;
  using State = std::vector<V>;  // one value a field
  ScanBody(Emit& e, const ScanCode& c) : e_(e), c_(c) {}

  // row: pointer to element zero; stride: in bytes, null where contiguous.
  State read(V row, V stride, V element) {
    State s(c_.fields());
    emit(c_.read, s, row, stride, element, {});
    return s;
  }
  State combine(const State& a, const State& b) {
    State s = a;
    emit(c_.combine, s, nullptr, nullptr, e_.B.getInt64(0), {b[0], b.size() > 1 ? b[1] : nullptr});
    return s;
  }
  void write(const State& a, V row, V stride, V element) {
    State s = a;
    emit(c_.write, s, row, stride, element, {});
  }
  State choose(V condition, const State& a, const State& b) {
    State s;
    for (size_t f = 0; f < a.size(); ++f) s.push_back(e_.B.CreateSelect(condition, a[f], b[f]));
    return s;
  }
  llvm::Type* type() { return e_.type(real_of(c_.type)); }

 private:
  void emit(const ir::Kernel& k, State& s, V row, V stride, V element, Value uniform) {
    Point p;
    p.rows = {row};
    p.strides = {stride};
    p.uniform = {uniform};
    p.col = element;
    p.inside = true;
    p.acc_values = &s;
    Body(e_, k).emit(p);
  }

  Emit& e_;
  const ScanCode& c_;
};

}  // namespace numbus::compile
