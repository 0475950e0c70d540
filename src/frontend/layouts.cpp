// NumPy's functions that give an array other axes or another shape, inside compiled functions.
#include <algorithm>
#include <unordered_map>

#include "frontend/lower.h"

namespace numbus::frontend {

// The order of axes in which some stand at other positions, and the others around them.
static std::vector<int64_t> moved(std::vector<int64_t> source, std::vector<int64_t> target,
                                  int64_t nd) {
  std::vector<int64_t> order(static_cast<size_t>(nd), -1), rest;
  for (size_t k = 0; k < source.size(); ++k) order[static_cast<size_t>(target[k])] = source[k];
  for (int64_t d = 0; d < nd; ++d)
    if (std::ranges::find(source, d) == source.end()) rest.push_back(d);
  auto next = rest.begin();
  for (int64_t& axis : order)
    if (axis < 0) axis = *next++;
  return order;
}

void Lower::axis_not_known(const Node& n, const std::string& name, const Value& axis) {
  if (axis.type.is_integer())
    not_yet(n, "np." + name + "() with axes of run time", "numbers in the call");
  fail(n, "an axis is an integer; got " + frontend::name(axis.type));
}

// A view with its axes in another order.
Value Lower::permuted(const Node& n, const Value& given, const std::vector<int64_t>& axes) {
  Value a = given.lazy ? materialise(n, given) : given, r = a;
  size_t nd = a.type.ndim;
  std::vector<char> seen(nd, 0);
  bool same = true, reversed = true;
  if (axes.size() != nd) fail(n, "the axes do not match those of " + name(a.type));
  for (size_t d = 0; d < axes.size(); ++d) {
    int64_t from = axes[d] < 0 ? axes[d] + static_cast<int64_t>(nd) : axes[d];
    if (from < 0 || from >= static_cast<int64_t>(nd) || seen[from])
      fail(n, "the axes do not match those of " + name(a.type));
    seen[from] = 1;
    r.v[2 + d] = a.v[2 + from];
    r.v[2 + nd + d] = a.v[2 + nd + from];
    same = same && from == static_cast<int64_t>(d);
    reversed = reversed && from == static_cast<int64_t>(nd - 1 - d);
  }
  if (!same)
    r.type.order = reversed && a.type.order == Order::C   ? Order::F
                   : reversed && a.type.order == Order::F ? Order::C
                                                          : Order::Any;
  return r;
}

// transpose, swapaxes, moveaxis.
Value Lower::numpy_transpose(const Call& c, const std::string& name) {
  const Node& n = c.n;
  if (name == "transpose" && c.args.size() == 1 && c.keywords.empty())
    return transpose(as_array(n, c.args[0]));
  if (c.args.empty() || !c.args[0].type.is_array()) fail(n, "np." + name + " needs an array");
  int64_t nd = c.args[0].type.ndim;
  std::vector<Value> given(c.args.begin() + 1, c.args.end());
  static const std::unordered_map<std::string, std::vector<std::string>> kWords = {
      {"transpose", {"axes"}},
      {"swapaxes", {"axis1", "axis2"}},
      {"moveaxis", {"source", "destination"}}};
  for (const std::string& word : kWords.at(name))
    if (const Value* v = c.keyword(word)) given.push_back(*v);
  if (given.size() == 1 && given[0].type.is(Type::Tag::Tuple)) {
    Value t = given[0];
    given = t.items;
  }
  std::vector<int64_t> axes;
  if (name == "moveaxis" && given.size() == 2 && given[0].type.is(Type::Tag::Tuple) &&
      given[1].type.is(Type::Tag::Tuple)) {
    std::vector<int64_t> ends[2];
    for (int k = 0; k < 2; ++k)
      for (const Value& v : given[static_cast<size_t>(k)].items) {
        const auto axis = known_int(v);
        if (!axis) axis_not_known(n, name, v);
        if (*axis < -nd || *axis >= nd) fail(n, "np.moveaxis of axes that the array has not");
        ends[k].push_back(*axis < 0 ? *axis + nd : *axis);
        if (std::ranges::count(ends[k], ends[k].back()) > 1) fail(n, "np.moveaxis of equal axes");
      }
    if (ends[0].size() != ends[1].size()) fail(n, "np.moveaxis needs as many axes of each");
    return permuted(n, c.args[0], moved(ends[0], ends[1], nd));
  }
  for (const Value& v : given) {
    auto k = known_int(v);
    if (!k) axis_not_known(n, name, v);
    axes.push_back(*k < 0 ? *k + nd : *k);
  }
  if (name != "transpose") {
    bool two =
        axes.size() == 2 && std::min(axes[0], axes[1]) >= 0 && std::max(axes[0], axes[1]) < nd;
    if (!two) fail(n, "np." + name + " takes an array and two of its axes");
    int64_t a = axes[0], b = axes[1];
    axes.resize(static_cast<size_t>(nd));
    for (int64_t d = 0; d < nd; ++d) axes[d] = d;
    if (name == "swapaxes") {
      std::swap(axes[a], axes[b]);
    } else {
      axes.erase(axes.begin() + a);
      axes.insert(axes.begin() + b, a);
    }
  }
  return permuted(n, c.args[0], axes);
}

Value Lower::numpy_broadcast_to(const Call& c, const std::string& /*name*/) {
  const Node& n = c.n;
  expect(c, "np.broadcast_to", 1, 2);
  const Value* to = c.get(1, "shape");
  if (!to) fail(n, "np.broadcast_to needs a shape");
  std::vector<Val> shape = shape_argument(n, *to);
  Value a = as_array(n, c.args[0]);
  if (a.lazy) a = materialise(n, a);
  if (a.type.ndim > shape.size()) fail(n, "np.broadcast_to cannot drop dimensions");
  size_t skip = shape.size() - a.type.ndim;
  Value r = a;
  r.type.ndim = static_cast<uint8_t>(shape.size());
  r.type.order = Order::Any;
  r.type.readonly = true;
  r.v = {a.v[0], a.v[1]};
  r.v.insert(r.v.end(), shape.begin(), shape.end());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d < skip) {
      r.v.push_back(ci(0));
      continue;
    }
    Val mine = a.shape()[d - skip], same = b_->emit(Op::equal, DType::Bool, mine, shape[d]);
    Val one = b_->emit(Op::equal, DType::Bool, mine, ci(1));
    when(negate(b_->emit(Op::logical_or, DType::Bool, same, one)), [&] {
      raise_at(site(n, "ValueError", "cannot broadcast an extent of {0} to {1}"), mine, shape[d]);
    });
    r.v.push_back(b_->emit(Op::select, DType::I64, same, a.strides()[d - skip], ci(0)));
  }
  return r;
}

// A diagonal of a matrix; not of more axes, or of other arguments.
std::optional<Value> Lower::diagonal(const Call& c, const std::string& name) {
  const Node& n = c.n;
  if (c.args.empty() || !c.args[0].type.is_array() || c.args[0].type.ndim != 2 ||
      c.args.size() + c.keywords.size() > 2)
    return {};
  const Value* offset = c.get(1, name == "diag" ? "k" : "offset");
  if (!offset && !c.keywords.empty()) return {};
  // A view that cannot be written to, as in NumPy.
  Value a = c.args[0].lazy ? materialise(n, c.args[0]) : c.args[0];
  Val k = offset ? index_value(n, *offset) : ci(0), zero = ci(0);
  Val right = b_->emit(Op::maximum, DType::I64, k, zero);
  Val down = b_->emit(Op::maximum, DType::I64, sub(zero, k), zero);
  Val count = b_->emit(Op::minimum, DType::I64, sub(a.shape()[0], down), sub(a.shape()[1], right));
  count = b_->emit(Op::maximum, DType::I64, count, zero);
  Val first = add(mul(down, a.strides()[0]), mul(right, a.strides()[1]));
  first = b_->emit(Op::select, DType::I64, less(zero, count), first, zero);
  Value r = a;
  r.v = {add(a.v[0], first), a.v[1], count, add(a.strides()[0], a.strides()[1])};
  r.type.ndim = 1;
  r.type.order = Order::Any;
  r.type.aligned = false;
  r.type.readonly = true;
  return r;
}

// shape, size, ndim.
Value Lower::numpy_shape(const Call& c, const std::string& name) {
  const Node& n = c.n;
  expect(c, "np." + name, 1, name == "size" ? 2 : 1);
  if (c.args.size() == 2 || !c.keywords.empty())
    not_yet(n, "np." + name + " with an axis", "a.shape[axis]");
  Value v = c.args[0];
  if (v.type.is_number())
    v.type.weak = false;  // Python's own has no attributes of arrays
  else
    v = as_array(n, v);
  return v.unknown() ? v : attribute_of(n, v, name);
}

}  // namespace numbus::frontend
