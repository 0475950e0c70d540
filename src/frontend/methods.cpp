// Methods of numbers, tuples, strings and arrays.
#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::method(const Call& c, const Value& self, const std::string& name) {
  const Node& n = c.n;
  auto with_self = [&] {
    Call all = c;
    all.args.insert(all.args.begin(), self);
    return all;
  };
  auto python_item = [&](const Value& v) {
    const Kind k = numbus::kind(v.type.dtype);
    if (v.type.dtype == DType::U64) return python_int(n, v);
    return cast(n, v,
                k == Kind::Bool      ? DType::Bool
                : k <= Kind::UInt    ? DType::I64
                : k == Kind::Complex ? DType::C128
                                     : DType::F64,
                true);
  };
  if (self.type.is(Type::Tag::Function) && self.type.text.starts_with("cuda."))
    return call_named(c, self.type.text + "." + name);
  if (self.type.is(Type::Tag::Object)) return object_method(c, self, name);
  if (self.type.is(Type::Tag::Tuple) && self.type.text == "generator")
    return generator_method(c, self, name);
  if (self.type.is_integer() && (name == "bit_length" || name == "bit_count"))
    return call_function({n, {self}, {}}, u_.program.library("int " + name));
  if (name == "view" && (self.type.is_number() || self.type.is_array())) {
    auto t = dtype_argument(c, 0, "dtype");
    if (!t) fail(n, "view() needs a type", "x.view(np.int64)");
    return as_bits(n, self, *t);
  }
  // Python's bool gives an int there.
  if (self.type.is_number() && name == "conjugate" && self.type.weak &&
      self.type.dtype == DType::Bool)
    return cast(n, self, DType::I64, true);
  if (self.type.is_number() && name == "conjugate")
    return !is_complex(self.type.dtype) ? self : unary(n, Op::conjugate, self);
  if (self.type.is_number() && name == "item") return python_item(self);
  if (self.type.is(Type::Tag::Tuple)) {
    if (name == "_replace" && !self.type.names.empty()) return replace_named(c, self);
    if ((name == "count" || name == "index") && c.args.size() == 1) {
      Val found = ci(name == "count" ? 0 : -1);
      for (size_t i = self.items.size(); i-- > 0;) {
        Val same = truth(n, compare_one(n, NodeKind::Eq, self.items[i], c.args[0]));
        found = name == "count"
                    ? add(found, b_->cast(same, DType::I64))
                    : b_->emit(Op::select, DType::I64, same, ci(static_cast<int64_t>(i)), found);
      }
      if (name == "index")
        when(less(found, ci(0)),
             [&] { raise_at(site(n, "ValueError", "tuple.index(x): x not in tuple")); });
      return integer(found);
    }
    static const std::unordered_set<std::string> kOfLists = {
        "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "copy"};
    if (kOfLists.contains(name) && self.type.listed)
      not_yet(n, "." + name + "() of a list of several types");
    fail(n, frontend::name(self.type) + " has no method '" + name + "'");
  }
  if (self.type.is_number() && !self.type.weak && name == "astype") {
    auto to = dtype_argument(c, 0, "dtype");
    if (!to) fail(n, "astype() needs a type", "x.astype(np.float32)");
    return cast(n, self, *to);
  }
  if (self.type.is_number() && name == "is_integer" && is_float(self.type.dtype)) {
    expect(c, name, 0, 0);
    Value whole = unary(n, Op::floor, self), less_whole = binary(n, Op::subtract, self, whole);
    // Infinite numbers less themselves are NaN.
    return compare_one(n, NodeKind::Eq, less_whole,
                       from_scalar(Scalar::from_int(0), DType::I64, true));
  }
  static const std::unordered_set<std::string> kOfPythons = {
      "as_integer_ratio", "from_bytes", "fromhex", "hex", "is_integer", "to_bytes"};
  if (self.type.is_number() && self.type.weak && kOfPythons.contains(name))
    not_yet(n, "." + name + "() of a " + frontend::name(self.type));
  if (self.type.is_number() && !self.type.weak) {
    // NumPy's numbers have the methods of arrays without axes.
    static const std::unordered_set<std::string> kOfNumbers = {
        "sum", "prod", "min", "max", "any", "all", "mean", "argmin", "argmax"};
    if (kOfNumbers.contains(name) && c.keywords.empty() && c.args.empty())
      return reduce(n, name, self);
    not_yet(n, "." + name + "() of a " + frontend::name(self.type));
  }
  if (self.type.is_text()) return string_method(c, self, name);
  if (!self.type.is_array()) fail(n, frontend::name(self.type) + " has no method '" + name + "'");
  check_keywords(c, name);
  if (name == "conj" || name == "conjugate") expect(c, name, 0, 0);
  if (name == "copy" || name == "flatten" || name == "ravel") {
    expect(c, name, 0, 1);
    if (!c.args.empty() && !c.args[0].type.is(Type::Tag::Text))
      fail(n, "." + name + "() takes an order; got " + frontend::name(c.args[0].type), "'C'");
  }
  static const char* const kReductions[] = {"sum",  "prod", "min", "max",    "any",   "all",
                                            "mean", "var",  "std", "argmin", "argmax"};
  for (const char* r : kReductions)
    if (name == r) return reduction(c, name, self, 0);
  if (name == "copy" || name == "astype" || name == "flatten") {
    DType t = self.type.dtype;
    if (name == "astype") {
      auto to = dtype_argument(c, 0, "dtype");
      if (!to) fail(n, "astype() needs a type", "x.astype(np.float32)");
      t = *to;
      if (const Value* rule = c.get(2, "casting");
          rule && !can_cast(self.type.dtype, t, casting_argument(n, *rule)))
        fail(n, "astype() cannot cast " + std::string(numbus::name(self.type.dtype)) + " to " +
                    std::string(numbus::name(t)) + " by casting='" + rule->type.text + "'");
    }
    const Value* word = c.get(name == "astype" ? 1 : 0, "order");
    const bool any_order =
        !word || (word->type.is_text() && word->type.text != "C" && word->type.text != "F");
    const Order order = word || name != "astype" ? in_order(n, name, self, word) : kept_order(self);
    const Value* copy = name == "astype" ? c.get(4, "copy") : nullptr;
    bool same = copy && t == self.type.dtype && !self.lazy && self.type.text != "list" &&
                (any_order || self.type.ndim < 2 || self.type.order == order);
    if (same && copies_argument(n, *copy) != Copies::Always) return self;
    if (name == "flatten")
      return reshape(n, converted_copy(n, order == Order::F ? transpose(self) : self, t, Order::C),
                     {known_integer(-1)});
    return converted_copy(n, self, t, order);
  }
  if (name == "ravel")
    return ravel(n,
                 in_order(n, name, self, c.get(0, "order")) == Order::F ? transpose(self) : self);
  if (name == "reshape") {
    std::vector<Value> shape = c.args;
    if (shape.size() == 1 && shape[0].type.is(Type::Tag::Tuple)) {
      Value t = shape[0];
      shape = t.items;
    }
    return reshape_in_order(c, self, shape, c.args.size());
  }
  if (name == "transpose" && c.args.empty() && c.keywords.empty()) return transpose(self);
  if (name == "fill") {
    expect(c, "fill", 1, 1);
    const Value* with = c.get(0, "value");
    if (with && !with->unknown() && !with->type.is_number() &&
        !(with->type.is_array() && with->type.ndim == 0))
      fail(n, ".fill() takes a number; got " + frontend::name(with->type), "a[:] = b");
    fill(n, self, *with);
    Value none;
    none.type = Type::of(Type::Tag::None);
    return none;
  }
  if (name == "item") {
    Value at;
    at.type = Type::of(Type::Tag::Tuple);
    at.items = c.args.size() == 1 && c.args[0].type.is(Type::Tag::Tuple) ? c.args[0].items : c.args;
    if (at.items.empty()) {
      when(b_->emit(Op::not_equal, DType::Bool, size_of(self), ci(1)), [&] {
        raise_at(site(n, "ValueError", "can only convert an array of size 1 to a Python scalar"));
      });
      return python_item(element(self, std::vector<Val>(self.type.ndim, ci(0))));
    }
    if (at.items.size() == 1 && self.type.ndim != 1) {
      Val i = wrapped(n, index_value(n, at.items[0]), size_of(self), 0, array_node(n));
      return python_item(element(self, unravelled(i, self.shape())));
    }
    if (at.items.size() != self.type.ndim)
      fail(n, "item() of " + frontend::name(self.type) + " takes none, one or " +
                  std::to_string(self.type.ndim) + " indices");
    for (const Value& i : at.items) at.type.items.push_back(i.type);
    return python_item(index(n, self, at));
  }
  if (name == "conj" || name == "conjugate")
    return is_complex(self.type.dtype) ? unary(n, Op::conjugate, self) : self;
  // Those whose value is NumPy's function of that name, and those that write it back.
  static const std::unordered_set<std::string> kOfArrays = {
      "argpartition", "argsort",  "choose",       "clip",     "compress",  "cumprod",
      "cumsum",       "diagonal", "dot",          "nonzero",  "partition", "put",
      "repeat",       "round",    "searchsorted", "sort",     "squeeze",   "swapaxes",
      "take",         "tolist",   "trace",        "transpose"};
  static const std::unordered_set<std::string> kLater = {
      "byteswap", "dump",     "dumps",     "getfield", "resize",
      "setfield", "setflags", "to_device", "tobytes",  "tofile"};
  if (kLater.contains(name)) not_yet(n, "." + name + "() of arrays");
  if (!kOfArrays.contains(name))
    fail(n, frontend::name(self.type) + " has no method '" + name + "'");
  if (name == "sort" || name == "partition") {
    int library = u_.program.library("np." + name);
    if (library < 0) not_yet(n, "." + name + "()");
    Value result = call_function({n, with_self().args, c.keywords}, library);
    fill(n, self, result);
    Value none;
    none.type = Type::of(Type::Tag::None);
    return none;
  }
  bool known = true;
  Call all = with_self();
  if (name == "compress") {  // NumPy's function takes the condition first
    all.keywords.emplace_back("a", self);
    all.args.erase(all.args.begin());
    if (all.args.size() > 1) {
      all.keywords.pop_back();
      all.args.insert(all.args.begin() + 1, self);
    }
  }
  Value v = call_numpy(all, name, known);
  if (known) return v;
  int library = u_.program.library("np." + name);
  if (library >= 0) {
    take_arrays(all, library);
    return numpy_numbers("np." + name, call_function(all, library));
  }
  not_yet(n, "." + name + "() of arrays");
}

}  // namespace numbus::frontend
