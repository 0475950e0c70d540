// Late expansion: a magnitude that is only compared with a uniform value needs no square root.
#include "passes/lower.h"

#include <cmath>

#include "passes/expand.h"
#include "passes/math_builder.h"

namespace numbus {
namespace {

using ir::Inst;
using ir::kNone;
using ir::Val;

bool has_effect(Op op) {
  switch (op) {
    case Op::store:
    case Op::scatter:
    case Op::scatter_add:
    case Op::scatter_min:
    case Op::scatter_max:
    case Op::check:
    case Op::acc_store:
    case Op::if_any:
    case Op::end_if:
    case Op::repeat:
    case Op::carry_next:
    case Op::end_repeat: return true;
    default: return false;
  }
}

bool is_order(Op op) {
  return op == Op::less || op == Op::less_equal || op == Op::greater || op == Op::greater_equal;
}

class Lower {
 public:
  explicit Lower(ir::Kernel& k) : old_(k), b_(new_) {}

  void run() {
    find_uses();
    new_ = old_;
    new_.body.clear();
    map_.assign(old_.body.size(), kNone);
    for (size_t v = 0; v < old_.body.size(); ++v) {
      const Inst& i = old_.body[v];
      if (!used_[v] && !has_effect(i.op)) continue;
      map_[v] = step(static_cast<Val>(v), i);
    }
    old_.body = std::move(new_.body);
  }

 private:
  void find_uses() {
    size_t n = old_.body.size();
    used_.assign(n, 0);
    only_compared_.assign(n, 1);
    for (size_t v = n; v-- > 0;) {
      const Inst& i = old_.body[v];
      if (!used_[v] && !has_effect(i.op)) continue;
      for (Val o : {i.a, i.b, i.c}) {
        if (o == kNone) continue;
        used_[o] = 1;
        bool compared = is_order(i.op) && (uniform(i.a) || uniform(i.b)) && i.a != i.b;
        only_compared_[o] = only_compared_[o] && compared;
      }
    }
  }
  bool uniform(Val v) const {
    Op op = old_.body[v].op;
    return op == Op::scalar || op == Op::constant;
  }
  bool is_kept_magnitude(Val v) const { return old_.body[v].op == Op::hypot && only_compared_[v]; }

  Val at(Val o) const { return o == kNone ? kNone : map_[o]; }

  Val step(Val v, const Inst& i) {
    switch (i.op) {
      case Op::hypot: return is_kept_magnitude(v) ? kNone : expand(b_, i.op, at(i.a), at(i.b));
      case Op::if_any: return b_.begin_if_any(at(i.a));
      case Op::end_if: b_.end_if_any(at(i.a)); return kNone;
      case Op::repeat: return b_.begin_repeat(at(i.a));
      case Op::carry_next: next_.emplace_back(at(i.a), at(i.b)); return kNone;
      case Op::end_repeat:
        b_.end_repeat(at(i.a), next_, at(i.b));
        next_.clear();
        return kNone;
      default: break;
    }
    if (is_order(i.op)) {
      if (is_kept_magnitude(i.a)) return compare(old_.body[i.a], i.op, at(i.b));
      if (is_kept_magnitude(i.b)) return compare(old_.body[i.b], mirrored(i.op), at(i.a));
    }
    return b_.emit(i.op, i.type, at(i.a), at(i.b), at(i.c), i.imm);
  }

  static Op mirrored(Op op) {
    return op == Op::less         ? Op::greater
           : op == Op::less_equal ? Op::greater_equal
           : op == Op::greater    ? Op::less
                                  : Op::less_equal;
  }

  // |(x, y)| op t. The sum of squares, at most 1.5 ULP off, decides unless it comes closer to t**2
  // than the errors of all roundings together reach, or t**2 is nowhere near the type's range;
  // then the magnitude itself does.
  Val compare(const Inst& magnitude, Op op, Val t) {
    Val x = at(magnitude.a), y = at(magnitude.b);
    DType type = magnitude.type;
    MathBuilder m(b_);
    double epsilon = itemsize(type) == 4 ? 0x1p-23 : 0x1p-52;
    double small = itemsize(type) == 4 ? 0x1p-40 : 0x1p-400, large = 1 / small;
    Val square = m.fma(x, x, m.mul(y, y)), limit = m.mul(t, t);
    Val below = m.lt(square, m.mul(limit, m.fconst(x, 1 - 16 * epsilon)));
    Val above = m.gt(square, m.mul(limit, m.fconst(x, 1 + 16 * epsilon)));
    Val fits = m.mand(m.gt(t, m.fconst(x, small)), m.lt(t, m.fconst(x, large)));
    Val known = m.mand(fits, m.mor(below, above));
    Val fast = op == Op::less || op == Op::less_equal ? below : above;
    return m.if_any(
        m.mnot(known), [&] { return b_.emit(op, DType::Bool, expand(b_, Op::hypot, x, y), t); },
        fast);
  }

  ir::Kernel& old_;
  ir::Kernel new_;
  ir::Builder b_;
  std::vector<char> used_, only_compared_;
  std::vector<Val> map_;
  std::vector<std::pair<Val, Val>> next_;
};

}  // namespace

void expand_late(ir::Kernel& k) { Lower(k).run(); }

}  // namespace numbus
