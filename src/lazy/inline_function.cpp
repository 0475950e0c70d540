// The steps of a user's function among those of a kernel.
#include "lazy/inline_function.h"

#include <vector>

#include "base/error.h"
#include "passes/expand.h"
#include "passes/expand_complex.h"

namespace numbus {

using ir::kNone;
using ir::Val;

ir::Val both(ir::Builder& to, Val x, Val y) {
  if (x == kNone) return y;
  if (y == kNone || x == y) return x;
  return to.emit(Op::logical_and, DType::Bool, x, y);
}

ir::Val inline_function(ir::Builder& to, const ir::Function& f,
                        const std::function<ir::Val(int, DType)>& operand, ir::Val where) {
  std::vector<Val> at(f.body.size(), kNone);
  std::vector<std::pair<Val, Val>> next;
  Val rare = kNone;
  for (size_t n = 0; n < f.body.size(); ++n) {
    const ir::Inst& i = f.body[n];
    auto of = [&](Val o) { return o == kNone ? kNone : at[o]; };
    Val a = of(i.a), b = of(i.b), c = of(i.c);
    switch (i.op) {
      case Op::param: at[n] = operand(static_cast<int>(i.imm), i.type); break;
      case Op::constant:
        at[n] = is_complex(i.type) ? to.constant(i.type, Scalar::from_complex(0, 0))
                                   : to.constant_bits(i.type, i.imm);
        break;
      case Op::select: at[n] = choose(to, a, b, c); break;
      case Op::cast: at[n] = convert(to, a, i.type); break;
      case Op::make_complex: at[n] = make_complex(to, a, b); break;
      case Op::real_part: at[n] = real_part(to, a); break;
      case Op::imag_part: at[n] = imag_part(to, a); break;
      case Op::if_any: rare = at[n] = to.begin_if_any(a); break;
      case Op::end_if: to.end_if_any(a); break;
      case Op::if_result:
        // What turned out to be known before is nothing that the rare part computes.
        at[n] = b > rare ? to.emit(Op::if_result, i.type, a, b, c) : choose(to, c, b, a);
        break;
      case Op::repeat: at[n] = to.begin_repeat(); break;
      case Op::carry: at[n] = to.carry(a); break;
      case Op::carry_next: next.emplace_back(a, b); break;
      case Op::end_repeat:
        to.end_repeat(a, next, both(to, where, b));
        next.clear();
        break;
      case Op::give: return a;
      default: at[n] = expand(to, i.op, a, b);
    }
  }
  raise(ErrorKind::Runtime, f.name, "a function without a result", "no give", "one");
}

}  // namespace numbus
