// Finds integers that are never negative, by assuming it of all and taking back what fails.
#include "passes/indices.h"

namespace numbus {
namespace {

using ir::Inst;
using ir::kNone;
using ir::Val;

// What is known of a portion's parameters from the one call where its loop runs.
struct Passed {
  bool constant = false, good = false;
  int64_t value = 0;
};

std::vector<char> never_negative(const ir::Function& f, const std::vector<Passed>& passed) {
  std::vector<char> good(f.body.size(), 1);
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t n = 0; n < f.body.size(); ++n) {
      const Inst& i = f.body[n];
      auto is = [&](Val o) { return good[o] != 0; };
      auto below = [&](Val o, int64_t n) {
        return f.body[o].op != Op::constant || f.body[o].imm < n;
      };
      bool yes = false;
      switch (i.op) {
        case Op::param: {
          // The first two are a portion's range.
          auto k = static_cast<size_t>(i.imm);
          yes = f.portion && (k < 2 || (k < passed.size() && passed[k].good));
          break;
        }
        case Op::constant: yes = is_integer(i.type) && i.imm >= 0; break;
        // A narrower type may take the highest bit for the sign.
        case Op::cast: {
          DType from = f.body[i.a].type;
          const bool fits = itemsize(i.type) > itemsize(from) || itemsize(i.type) == 8;
          yes = from == DType::Bool || (fits && (kind(from) == Kind::UInt || is(i.a)));
          break;
        }
        // Sums and products of 64 bits are taken not to run over: an index that did would be wrong
        // anyway, but for the upper bits of one, as hashes have it.
        case Op::add:
        case Op::multiply: yes = itemsize(i.type) == 8 && is(i.a) && is(i.b); break;
        case Op::maximum:
        case Op::minimum:
        case Op::bitwise_or:
        case Op::bitwise_xor:
        case Op::fmod: yes = is(i.a) && is(i.b); break;
        case Op::bitwise_and: yes = is(i.a) || is(i.b); break;
        case Op::right_shift: yes = is(i.a) && below(i.b, 32); break;
        case Op::int_div: yes = is(i.a) && is(i.b) && below(i.b, int64_t{1} << 32); break;
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
  std::vector<std::vector<Passed>> passed(m.functions.size());
  // Portions come after the functions whose loops they are.
  for (size_t number = 0; number < m.functions.size(); ++number) {
    ir::Function& f = m.functions[number];
    for (Inst& i : f.body) {
      if (i.op != Op::param || static_cast<size_t>(i.imm) >= passed[number].size()) continue;
      const Passed& p = passed[number][static_cast<size_t>(i.imm)];
      if (p.constant) i = {Op::constant, i.type, kNone, kNone, kNone, p.value};
    }
    std::vector<char> good = never_negative(f, passed[number]);
    std::vector<Val> arguments;
    for (const Inst& i : f.body) {
      if (i.op == Op::argument) arguments.push_back(i.a);
      if (i.op == Op::call) arguments.clear();
      if (i.op != Op::intrinsic) continue;
      if (ir::intrinsic_of(i) == ir::Intrinsic::parallel) {
        auto& to = passed[static_cast<size_t>(ir::number_of(i))];
        to.resize(2 + arguments.size());
        for (size_t k = 0; k < arguments.size(); ++k) {
          const Inst& a = f.body[arguments[k]];
          to[2 + k] = {a.op == Op::constant, good[arguments[k]] != 0, a.imm};
        }
      }
      arguments.clear();
    }
    std::vector<Val> same(f.body.size());
    for (size_t n = 0; n < f.body.size(); ++n) {
      Inst& i = f.body[n];
      for (Val* o : {&i.a, &i.b, &i.c})
        if (*o != kNone) *o = same[*o];
      same[n] = static_cast<Val>(n);
      // Other choices are the user's: a number may well have run over.
      if (i.op == Op::select && i.imm == ir::kFromEnd && good[i.c]) same[n] = i.c;
    }
  }
}

}  // namespace numbus
