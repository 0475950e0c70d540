// Rewrites each function's body step by step, in place of its rows what they expand into.
#include "passes/expand_function.h"

#include "passes/expand.h"
#include "passes/expand_complex.h"

namespace numbus {
namespace {

using ir::Inst;
using ir::kNone;
using ir::Val;

class Expansion {
 public:
  Expansion(const ir::Module& m, const std::vector<Inst>& from, std::vector<Inst>& to)
      : contracts_(m.kernel || m.fastmath), from_(from), to_(to), b_(to), at_(from.size(), kNone) {}

  void run() {
    for (size_t v = 0; v < from_.size(); ++v) at_[v] = step(from_[v]);
  }

 private:
  Val operand(Val v) { return v == kNone ? kNone : at_[v]; }

  Val step(const Inst& i) {
    Val a = operand(i.a), b = operand(i.b), c = operand(i.c);
    if (static_cast<int>(i.op) < kNumRows && row(i.op).published) {
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
      case Op::cast: return convert(b_, a, i.type);
      case Op::select: return choose(b_, a, b, c);
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
        Val v = b_.emit(i.op, i.type, a);
        b_.open_scope(v);
        return v;
      }
      default: return b_.emit(i.op, i.type, a, b, c, i.imm);
    }
  }

  bool contracts_;
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
