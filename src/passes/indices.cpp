// Finds int64 values that are never negative, by assuming it of all and taking back what fails.
#include "passes/indices.h"

namespace numbus {
namespace {

using ir::Inst;
using ir::kNone;
using ir::Val;

std::vector<char> never_negative(const ir::Function& f) {
  std::vector<char> good(f.body.size(), 1);
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t n = 0; n < f.body.size(); ++n) {
      const Inst& i = f.body[n];
      auto is = [&](Val o) { return good[o] != 0; };
      bool yes = false;
      switch (i.op) {
        case Op::constant: yes = is_integer(i.type) && i.imm >= 0; break;
        case Op::cast: {
          DType from = f.body[i.a].type;
          yes = kind(from) == Kind::UInt || from == DType::Bool || (is_integer(from) && is(i.a));
          break;
        }
        // Sums and products are taken not to run over: an index that did would be wrong anyway.
        case Op::add:
        case Op::multiply:
        case Op::maximum: yes = is(i.a) && is(i.b); break;
        case Op::minimum:
        case Op::bitwise_or:
        case Op::bitwise_xor:
        case Op::int_div:
        case Op::fmod: yes = is(i.a) && is(i.b); break;
        case Op::bitwise_and: yes = is(i.a) || is(i.b); break;
        case Op::right_shift: yes = is(i.a); break;
        case Op::select: yes = is(i.b) && is(i.c); break;
        case Op::get: yes = is(i.a); break;
        case Op::set:
          if (good[i.a] && !good[i.b]) {
            good[i.a] = 0;
            changed = true;
          }
          continue;
        case Op::variable: continue;
        case Op::intrinsic: {
          auto k = ir::intrinsic_of(i);
          yes = k == ir::Intrinsic::lane_index || k == ir::Intrinsic::lane_count;
          break;
        }
        default: break;
      }
      if (!is_integer(i.type)) yes = false;
      if (good[n] && !yes) {
        good[n] = 0;
        changed = true;
      }
    }
  }
  return good;
}

}  // namespace

void simplify_indices(ir::Module& m) {
  for (ir::Function& f : m.functions) {
    std::vector<char> good = never_negative(f);
    std::vector<Val> same(f.body.size());
    for (size_t n = 0; n < f.body.size(); ++n) {
      Inst& i = f.body[n];
      for (Val* o : {&i.a, &i.b, &i.c})
        if (*o != kNone) *o = same[*o];
      same[n] = static_cast<Val>(n);
      if (i.op != Op::select || !is_integer(i.type)) continue;
      const Inst& c = f.body[i.a];
      if (c.op == Op::less && is_signed(f.body[c.a].type) && good[c.a] &&
          f.body[c.b].op == Op::constant && f.body[c.b].imm == 0)
        same[n] = i.c;
    }
  }
}

}  // namespace numbus
