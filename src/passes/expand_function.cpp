// Rewrites each function's body step by step, in place of its rows what they expand into.
#include "passes/expand_function.h"

#include <algorithm>
#include <array>

#include "passes/expand.h"
#include "passes/expand_complex.h"

namespace numbus {
namespace {

using ir::Inst;
using ir::kNone;
using ir::Val;

// Whether the row's expansion has a part that rarely runs.
bool has_rare_part(Op op, DType t) {
  static auto* known = new std::array<std::array<char, 32>, kNumRows>{};  // 1: no, 2: yes
  char& found = (*known)[static_cast<size_t>(op)][static_cast<size_t>(t)];
  if (!found) {
    std::vector<Inst> body;
    ir::Builder b(body);
    Val x = b.emit(Op::param, t, kNone, kNone, kNone, 0);
    Val y = row(op).nin > 1 ? b.emit(Op::param, t, kNone, kNone, kNone, 1) : kNone;
    expand(b, op, x, y);
    found = 1 + std::ranges::any_of(body, [](const Inst& i) { return i.op == Op::if_any; });
  }
  return found == 2;
}

class Expansion {
 public:
  Expansion(const ir::Module& m, const std::vector<Inst>& from, std::vector<Inst>& to)
      : contracts_(m.kernel || m.fastmath),
        calls_(!m.kernel),
        from_(from),
        to_(to),
        b_(to),
        at_(from.size(), kNone) {}

  void run() {
    for (size_t v = 0; v < from_.size(); ++v) at_[v] = step(from_[v]);
  }

 private:
  Val operand(Val v) { return v == kNone ? kNone : at_[v]; }

  Val step(const Inst& i) {
    Val a = operand(i.a), b = operand(i.b), c = operand(i.c);
    if (static_cast<int>(i.op) < kNumRows && row(i.op).published) {
      DType t = b_.type(a);
      if (calls_ && (t == DType::F32 || t == DType::F64) && has_rare_part(i.op, t))
        return b_.emit(i.op, i.type, a, b);
      if (calls_ && is_half(t) && has_rare_part(i.op, DType::F32)) {
        Val y = b == kNone ? kNone : b_.cast(b, DType::F32);
        return b_.cast(b_.emit(i.op, DType::F32, b_.cast(a, DType::F32), y), i.type);
      }
      // The magnitude of a complex number stays one step in array kernels, not here.
      bool size = i.op == Op::absolute && is_complex(b_.type(a));
      Val r =
          size ? expand(b_, Op::hypot, real_part(b_, a), imag_part(b_, a)) : expand(b_, i.op, a, b);
      bool sum = i.op == Op::add || i.op == Op::subtract || i.op == Op::multiply;
      // A product and a sum may become one step where the language allows it: a mark on each.
      if (contracts_ && sum && is_float(i.type) && to_[r].op == i.op) to_[r].imm = 1;
      return r;
    }
    switch (i.op) {
      case Op::cast:
        // The mark of a number that is known to fit.
        return i.imm == 1 ? b_.emit(Op::cast, i.type, a, kNone, kNone, 1) : convert(b_, a, i.type);
      case Op::select:
        if (!is_complex(i.type)) return b_.emit(Op::select, i.type, a, b, c, i.imm);
        return choose(b_, a, b, c);
      case Op::real_part: return real_part(b_, a);
      case Op::imag_part: return imag_part(b_, a);
      case Op::make_complex: return make_complex(b_, a, b);
      case Op::branch_else:
      case Op::loop_next: {
        b_.close_scope();
        Val v = b_.emit(i.op, i.type, a);
        b_.open_scope(v);
        return v;
      }
      case Op::end_branch:
      case Op::end_loop: b_.close_scope(); return b_.emit(i.op, i.type, a);
      case Op::branch:
      case Op::loop: {
        Val v = b_.emit(i.op, i.type, a, kNone, kNone, i.imm);
        b_.open_scope(v);
        return v;
      }
      default: return b_.emit(i.op, i.type, a, b, c, i.imm);
    }
  }

  bool contracts_;
  bool calls_;  // rows with rare parts stay whole, to be called (compile/row_calls.h)
  const std::vector<Inst>& from_;
  std::vector<Inst>& to_;
  ir::Builder b_;
  std::vector<Val> at_;
};

}  // namespace

void expand(ir::Module& m) {
  for (ir::Function& f : m.functions) {
    std::vector<Inst> body;
    Expansion(m, f.body, body).run();
    f.body = std::move(body);
  }
}

}  // namespace numbus
