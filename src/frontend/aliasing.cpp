// What is assigned may read the array that is written: whether it has to be copied first.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

// Whether two steps give the same value within one statement: made the same way of the same parts.
bool same(const ir::Builder& b, Val x, Val y, int depth = 0) {
  if (x == y) return true;
  if (x == ir::kNone || y == ir::kNone || depth > 16) return false;
  const ir::Inst &i = b.step(x), &j = b.step(y);
  switch (i.op) {
    case Op::constant:
    case Op::param: return i.op == j.op && i.type == j.type && i.imm == j.imm;
    case Op::get: return i.op == j.op && i.a == j.a;  // the statement assigns at its end
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::floor_divide:
    case Op::minimum:
    case Op::maximum:
    case Op::less:
    case Op::equal:
    case Op::select:
      return i.op == j.op && i.type == j.type && i.imm == j.imm && same(b, i.a, j.a, depth + 1) &&
             same(b, i.b, j.b, depth + 1) && same(b, i.c, j.c, depth + 1);
    default: return false;
  }
}

}  // namespace

// An array each element of which is made of those at its own index, as far as operands broadcast.
Value Lower::elementwise(DType t, std::span<const Val> shape, std::span<const Value> from,
                         std::function<Value(std::span<const Val>)> at, const Spread* spread) {
  Value r = lazy(t, shape, nullptr);
  Lazy made{std::move(at), true};
  if (spread) made.narrow = spread->narrow, made.repeated = spread->conditions;
  made.dense = true;
  // As NumPy's ufuncs, the result keeps the operands' order where they have one in common.
  bool columns = false, others = false;
  auto append = [](std::vector<Val>& to, const std::vector<Val>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  for (const Value& v : from) {
    if (!v.type.is_array()) continue;
    r.origin |= v.origin;
    const bool mine = v.type.order == Order::F && v.type.ndim == shape.size();
    if (v.type.ndim > 1) (mine ? columns : others) = true;
    made.dense = made.dense && v.type.ndim == shape.size() &&
                 (v.lazy ? v.lazy->dense : v.type.order == Order::C);
    for (size_t d = 0; made.dense && d < v.type.ndim; ++d)
      made.dense = constant_of(v.shape()[d]) != 1 || constant_of(shape[d]) == 1;
    if (v.lazy) append(made.narrow, v.lazy->narrow), append(made.repeated, v.lazy->repeated);
    made.gathers = made.gathers || (v.lazy && v.lazy->gathers);
    if (!v.lazy) {
      made.sources.push_back(v);
    } else if (v.origin) {
      made.same_indices = made.same_indices && v.lazy->same_indices;
      made.sources.insert(made.sources.end(), v.lazy->sources.begin(), v.lazy->sources.end());
    }
  }
  if (columns && !others) r.type.order = Order::F;
  r.lazy = std::make_shared<Lazy>(std::move(made));
  return r;
}

// Whether each element of `v` is made of nothing of `to` but the element of its own index.
bool Lower::reads_own_indices(const Value& v, const Value& to) {
  if (!v.type.is_array() || (v.origin & to.origin) == 0) return true;
  if (v.lazy && !v.lazy->same_indices) return false;
  auto apart_or_same = [&](const Value& s) {
    if ((s.origin & to.origin) == 0) return true;
    if (s.type.ndim != to.type.ndim || s.type.dtype != to.type.dtype) return false;
    for (size_t k = 0; k < s.v.size(); ++k)
      if (k != 1 && !same(*b_, s.v[k], to.v[k])) return false;
    return true;
  };
  if (!v.lazy) return apart_or_same(v);
  return std::all_of(v.lazy->sources.begin(), v.lazy->sources.end(), apart_or_same);
}

// A copy, if `v` may read memory of `to`.
Value Lower::apart(const Node& n, const Value& v, const Value& to) {
  if (!v.type.is_array() || (v.origin & to.origin) == 0) return v;
  return v.lazy ? materialise(n, v) : copied_where_shared(n, v, to);
}

}  // namespace numbus::frontend
