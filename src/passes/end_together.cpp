// Errors as ends.
#include "passes/end_together.h"

namespace numbus {
namespace {

using ir::Inst;

bool notes(const Inst& i) {
  return i.op == Op::intrinsic && ir::intrinsic_of(i) == ir::Intrinsic::fail;
}

// The end of a branch that holds no other, no loop and no else; 0: of another kind.
size_t plain_end(const ir::Function& f, size_t branch) {
  for (size_t n = branch + 1; n < f.body.size(); ++n) {
    Op op = f.body[n].op;
    if (op == Op::end_branch) return n;
    if (op == Op::branch || op == Op::loop || op == Op::if_any || op == Op::branch_else) return 0;
  }
  return 0;
}

void forget(Inst& i) { i = {Op::constant, i.type}; }

}  // namespace

void end_together(ir::Function& f) {
  for (size_t n = 0; n < f.body.size(); ++n) {
    if (f.body[n].op != Op::branch) continue;
    size_t end = plain_end(f, n);
    bool fails = false, leaves = false;
    for (size_t k = n; k < end; ++k) {
      fails = fails || notes(f.body[k]);
      leaves = leaves || f.body[k].op == Op::break_loop;
    }
    if (!fails || !leaves) continue;
    for (size_t k = n; k < end; ++k) {
      Inst& i = f.body[k];
      if (notes(i)) i.imm = ir::intrinsic_imm(ir::Intrinsic::fail, ir::Space::Global, 1);
      if (i.op == Op::set || i.op == Op::break_loop) forget(i);
    }
  }
  // Statuses are zero now, wherever nothing else sets them.
  std::vector<char> zero(f.body.size(), 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t n = 0; n < f.body.size(); ++n) {
      const Inst& i = f.body[n];
      bool is = false;
      switch (i.op) {
        case Op::constant: is = i.imm == 0; break;
        case Op::variable: continue;
        case Op::set:
          if (!zero[i.b] && zero[i.a]) {
            zero[i.a] = 0;
            changed = true;
          }
          continue;
        case Op::get:
        case Op::cast:
        case Op::bits: is = zero[i.a]; break;
        case Op::not_equal: is = zero[i.a] && zero[i.b]; break;
        default: break;
      }
      if (zero[n] && !is) {
        zero[n] = 0;
        changed = true;
      }
    }
  }
  for (size_t n = 0; n < f.body.size(); ++n) {
    if (f.body[n].op != Op::branch || !zero[f.body[n].a]) continue;
    for (size_t k = n + 1, end = plain_end(f, n); k < end; ++k)
      if (f.body[k].op == Op::set || f.body[k].op == Op::break_loop) forget(f.body[k]);
  }
}

}  // namespace numbus
