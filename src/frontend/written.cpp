// NumPy's functions whose work is known from how they are called: np.block and np.einsum.
#include <algorithm>
#include <functional>
#include <string_view>

#include "frontend/lower.h"

namespace numbus::frontend {

// np.block: the depths of lists, also of run time, and the arrays' axes are known.
Value Lower::call_block(const Call& c) {
  const Node& n = c.n;
  expect(c, "np.block", 1, 1);
  const Value& all = c.args[0];
  auto is_list = [](const Value& v) {
    return v.type.is(Type::Tag::Tuple) && (v.type.listed || v.type.text == "list");
  };
  size_t ndim = 0;
  bool unknown = false;
  std::function<size_t(const Value&)> depth_of = [&](const Value& v) -> size_t {
    if (v.type.is(Type::Tag::List)) {
      const Type* of = &v.type;
      size_t lists = 0;
      for (; of->is(Type::Tag::List); of = &of->items[0]) ++lists;
      unknown = unknown || of->unknown();
      if (of->is_array()) ndim = std::max<size_t>(ndim, of->ndim);
      return lists;
    }
    if (v.type.is(Type::Tag::Tuple) && !is_list(v)) fail(n, "np.block of a tuple", "a list");
    if (!is_list(v)) {
      if (v.type.is_array()) ndim = std::max<size_t>(ndim, v.type.ndim);
      return is_plain_list(v) ? 1 : 0;
    }
    if (v.items.empty()) fail(n, "np.block of an empty list");
    const size_t depth = depth_of(v.items[0]);
    for (const Value& i : v.items)
      if (depth_of(i) != depth) fail(n, "np.block of arrays that lie at different depths");
    return depth + 1;
  };
  const size_t depth = depth_of(all);
  if (unknown) return {};
  ndim = std::max(ndim, depth);
  size_t calls = 0;
  auto call = [&](const char* name, std::vector<Value> args) {
    // Names of a function that is expanded are told apart by the place of its call.
    Node& at = places_.emplace_back(n);
    at.col += 1000 * static_cast<int>(++calls);
    try {
      return call_function({at, std::move(args), {}}, u_.program.library(name));
    } catch (CompileError& e) {
      name_own_line(n, e);
      throw;
    }
  };
  std::function<Value(const Value&, size_t)> build = [&](const Value& v, size_t level) -> Value {
    const auto axis = static_cast<int64_t>(ndim - depth + level);
    if (v.type.is(Type::Tag::List))
      return call("np.block of a list",
                  {v, known_integer(axis), known_integer(static_cast<int64_t>(ndim))});
    if (!is_list(v)) {
      Value a = as_array(n, v);
      if (a.lazy) a = materialise(n, a);
      a.type.text.clear();
      a.type.weak = false;
      if (a.type.ndim == ndim) return a;
      Value by;
      by.type = Type::of(Type::Tag::Tuple);
      for (size_t d = a.type.ndim; d <= ndim; ++d) {
        Value at;
        at.type = Type::of(d < ndim ? Type::Tag::NewAxis : Type::Tag::Ellipsis);
        by.type.items.push_back(at.type);
        by.items.push_back(at);
      }
      return index(n, a, by);
    }
    Value parts;
    parts.type = Type::of(Type::Tag::Tuple);
    for (const Value& i : v.items) {
      parts.items.push_back(build(i, level + 1));
      if (parts.items.back().unknown()) return {};
      parts.type.items.push_back(parts.items.back().type);
    }
    return call("np.concatenate", {parts, known_integer(axis)});
  };
  Value result = build(all, 0);
  if (result.unknown() || is_list(all) || all.type.is(Type::Tag::List)) return result;
  return converted_copy(n, result, result.type.dtype, kept_order(result));
}

// Whether subscripts have a letter that the result has not.
static bool sums_axes(const std::string& text) {
  const size_t arrow = text.find("->");
  const std::string given = text.substr(0, arrow);
  return std::ranges::any_of(given, [&](char c) {
    if (c == '.' || c == ',') return false;
    return arrow == std::string::npos ? std::ranges::count(given, c) > 1
                                      : text.find(c, arrow) == std::string::npos;
  });
}

// np.einsum of subscripts that are known: a function made for them and for the numbers of axes.
Value Lower::call_einsum(const Call& c) {
  const Node& n = c.n;
  if (c.args.empty()) fail(n, "np.einsum() needs subscripts and arrays");
  std::string text;
  Value operands;
  operands.type = Type::of(Type::Tag::Tuple);
  if (c.args[0].type.is(Type::Tag::String)) {
    asks_for(c.args[0]);
    not_yet(n, "np.einsum with subscripts of run time", "a text, such as 'ij,jk->ik'");
  }
  auto take = [&](const Value& v) {
    Value a = as_array(n, v);
    if (a.lazy) a = materialise(n, a);
    operands.type.items.push_back(a.type);
    operands.items.push_back(a);
  };
  if (c.args[0].type.is(Type::Tag::Text)) {
    for (char letter : c.args[0].type.text)
      if (letter != ' ') text += letter;
    for (size_t k = 1; k < c.args.size(); ++k) take(c.args[k]);
  } else {  // arrays, each with its list of numbers, and at the end the result's list
    static constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t k = 0; k < c.args.size(); ++k) {
      if (k % 2 == 0 && k + 1 < c.args.size()) {
        take(c.args[k]);
        continue;
      }
      if (!c.args[k].type.is(Type::Tag::Tuple))
        not_yet(n, "np.einsum with subscripts of run time", "a text, such as 'ij,jk->ik'");
      if (k % 2 == 0)
        text += "->";
      else if (k > 1)
        text += ",";
      for (const Value& axis : c.args[k].items) {
        const auto at = known_int(axis);
        if (axis.type.is(Type::Tag::Ellipsis))
          text += "...";
        else if (at && *at >= 0 && *at < static_cast<int64_t>(kLetters.size()))
          text += kLetters[static_cast<size_t>(*at)];
        else
          not_yet(n, "np.einsum with subscripts of run time", "a text, such as 'ij,jk->ik'");
      }
    }
  }
  Value dtype, casting, out;
  std::optional<Order> order;
  dtype.type = Type::of(Type::Tag::None);
  casting.type = Type::of(Type::Tag::Text);
  casting.type.text = "safe";
  for (const auto& [word, v] : c.keywords) {
    if (word == "dtype") {
      const auto t = dtype_argument(c, c.args.size(), word);
      if (t) dtype.type = Type::of(Type::Tag::DType), dtype.type.dtype = *t;
    } else if (word == "casting") {
      casting_argument(n, v);
      casting = v;
    } else if (word == "out") {
      out = v;
    } else if (word == "order" && v.type.is(Type::Tag::Text) && v.type.text.size() == 1) {
      order = v.type.text == "C"   ? std::optional(Order::C)
              : v.type.text == "F" ? std::optional(Order::F)
                                   : std::nullopt;
      if (!order && v.type.text != "K" && v.type.text != "A")
        fail(n, "np.einsum with order='" + v.type.text + "'", "order='C'");
    } else if (word != "optimize") {  // operands are combined from left to right
      not_yet(n, "np.einsum with " + word + "=", word == "order" ? "'C' or 'F'" : "");
    }
  }
  std::string name = "einsum " + text;
  for (const Type& t : operands.type.items) name += " " + std::to_string(t.ndim);
  Value r = call_function({n, {operands, dtype, casting}, {}}, u_.program.library(name));
  if (r.unknown()) return r;
  if (out.unknown() || out.type.is(Type::Tag::None)) {
    // NumPy's view of one operand is in the order that this has.
    const bool view = operands.items.size() == 1 && r.type.is_array() && !sums_axes(text) &&
                      operands.items[0].type.dtype == r.type.dtype;
    return order && r.type.is_array() && !view ? converted_copy(n, r, r.type.dtype, *order) : r;
  }
  if (!out.type.is_array()) fail(n, "np.einsum with an out= that is no array");
  return stored_result(n, "einsum", r, out);
}

}  // namespace numbus::frontend
