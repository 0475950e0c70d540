// A read that follows the only assignment, inside of all that is around that, sees its value.
#include "passes/forward_sets.h"

#include <algorithm>

namespace numbus {

using ir::Inst;
using ir::kNone;
using ir::Val;

void forward_sets(ir::Function& f) {
  size_t size = f.body.size();
  std::vector<int> sets(size, 0);
  std::vector<size_t> index(size, 0);
  for (size_t n = 0; n < size; ++n)
    if (f.body[n].op == Op::set) {
      ++sets[f.body[n].a];
      index[f.body[n].a] = n;
    }
  // What is open around each step: branches by their side, loops by their part.
  std::vector<Val> open;
  std::vector<std::vector<Val>> around(size);
  std::vector<Val> same(size);
  for (size_t n = 0; n < size; ++n) {
    Inst& i = f.body[n];
    for (Val* o : {&i.a, &i.b, &i.c})
      if (*o != kNone) *o = same[*o];
    same[n] = static_cast<Val>(n);
    switch (i.op) {
      case Op::branch:
      case Op::loop: open.push_back(static_cast<Val>(n)); break;
      case Op::branch_else:
      case Op::loop_next: open.back() = static_cast<Val>(n); break;
      case Op::end_branch:
      case Op::end_loop: open.pop_back(); break;
      case Op::set: around[n] = open; break;
      case Op::get: {
        if (sets[i.a] != 1 || index[i.a] > n) break;
        const auto& before = around[index[i.a]];
        if (before.size() > open.size() || !std::equal(before.begin(), before.end(), open.begin()))
          break;
        same[n] = f.body[index[i.a]].b;
        break;
      }
      default: break;
    }
  }
}

}  // namespace numbus
