// Objects of jitclasses: made, their fields read and assigned, their methods called.
//
// An object is the owner of counted memory, laid out as a list of one item: its fields' words. What
// the class says of a name that is no field, Python knows (kernels/classes.py): Program::library
// is asked for "object NUMBER KIND NAME", where KIND is method, static, get or set.
#include <map>
#include <set>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

int Lower::member(const Type& object, const char* kind, const std::string& name) {
  return u_.program.library("object " + std::to_string(object.number) + " " + kind + " " + name);
}

// Which field it is, and its offset in bytes; of no field as many as there are.
std::pair<size_t, Val> Lower::field_at(const Type& object, const std::string& name) {
  const ObjectClass& c = object_class(object.number);
  int64_t offset = 0;
  size_t k = 0;
  for (; k < c.names.size() && c.names[k] != name; ++k)
    offset += 8 * static_cast<int64_t>(words(c.types[k]).size());
  return {k, ci(offset)};
}

// Cls(…): all fields are zero, and __init__ gives them values.
Value Lower::new_object(const Call& c, const Type& cls) {
  refuse_in_kernel(c.n, "jitclasses");
  Value r;
  r.type = object_type(cls.number);
  const Type fields = Type::tuple_of(object_class(cls.number).types);
  const auto count = static_cast<int64_t>(words(fields).size());
  const Val memory = new_memory(DType::I64, std::vector<Val>{ci(count)});
  own(memory);
  const Val data = intrinsic(ir::Intrinsic::data_of, DType::I64, memory);
  for (int64_t k = 0; k < count; ++k)
    write_at(DType::I64, ci(0), data, ci(8 * k), ir::Space::Global);
  r.v = new_list(fields, ci(1), memory).v;
  const int init = member(r.type, "method", "__init__");
  Call all = c;
  all.args.insert(all.args.begin(), r);
  if (init < 0)
    expect(c, object_class(cls.number).name, 0, 0);
  else if (Value none = call_function(all, init); none.unknown())
    return {};
  return r;
}

Value Lower::attribute_of_object(const Node& n, const Value& object, const std::string& name) {
  const ObjectClass& c = object_class(object.type.number);
  auto [k, offset] = field_at(object.type, name);
  if (k == c.names.size()) {
    if (int get = member(object.type, "get", name); get >= 0)
      return call_function({n, {object}, {}}, get);
    std::string all;
    for (const std::string& f : c.names) all += (all.empty() ? "" : ", ") + f;
    fail(n, "'" + c.name + "' object has no attribute '" + name + "'", "its fields are " + all);
  }
  const Type& t = c.types[k];
  Value list = object;
  list.type = list_type(Type::tuple_of(c.types));
  Value r = read_words(t, list_data(list), offset, object);
  if (t.is(Type::Tag::List) || t.is(Type::Tag::Dict) || t.is(Type::Tag::Object))
    when(b_->emit(Op::equal, DType::Bool, r.v[0], ci(0)), [&] {
      raise_at(site(n, "AttributeError",
                    "'" + c.name + "' object's field '" + name + "' has not been given a value"));
    });
  return r;
}

// A value as a field holds it.
Value Lower::as_field(const Node& n, const std::string& name, const Value& given, const Type& t) {
  Value v = given.lazy ? materialise(n, given) : given;
  auto wrong = [&](const std::string& hint) {
    fail(n,
         "the field '" + name + "' is of the type " + frontend::name(t) + "; got " +
             frontend::name(v.type),
         hint);
  };
  if (t.is_number()) {
    if (!v.type.is_number() || (is_complex(v.type.dtype) && !is_complex(t.dtype))) wrong("");
    return cast(n, v, t.dtype, t.weak);
  }
  if (t.is_array()) {
    if (!v.type.is_array() || is_plain_list(v) || v.type.dtype != t.dtype || v.type.ndim != t.ndim)
      wrong("an array of that type: x.astype(…), np.array(…)");
    if (t.order != Order::Any && t.order != v.type.order && t.ndim > 0)
      wrong("np.ascontiguousarray(x), or a field of any layout: float64[:]");
    if (v.type.readonly && !t.readonly) wrong("x.copy()");
    v.type.order = t.order;
    return v;
  }
  v = held(n, boxed(n, v));
  if (v.unknown()) return v;
  Type both;
  if (!join(v.type, t, both) || both != t) wrong("");
  return convert_to(n, v, t);
}

void Lower::set_attribute_of_object(const Node& n, const Value& object, const std::string& name,
                                    const Value& given) {
  const ObjectClass& c = object_class(object.type.number);
  auto [k, offset] = field_at(object.type, name);
  if (portion_ && object.outside)
    not_yet(n, "assigning to a field in a parallel loop whose iterations share the object",
            "an array, at indices of its own for each i");
  if (k == c.names.size()) {
    const int set = member(object.type, "set", name);
    if (set < 0) {
      std::string all;
      for (const std::string& f : c.names) all += (all.empty() ? "" : ", ") + f;
      fail(n, "'" + c.name + "' object has no field '" + name + "' to assign to",
           "its fields are " + all);
    }
    call_function({n, {object, given}, {}}, set);
    return;
  }
  Value v = as_field(n, name, given, c.types[k]);
  if (v.unknown()) return;
  put_in_lists(origin_of(v));
  Value list = object;
  list.type = list_type(Type::tuple_of(c.types));
  write_words(c.types[k], v, list_data(list), offset);
}

void Lower::store_attribute(const Node& n, const Value& owner, const std::string& name,
                            const Value& v) {
  if (owner.unknown() || v.unknown()) return;
  if (owner.type.is(Type::Tag::Object)) return set_attribute_of_object(n, owner, name, v);
  if (is_records(owner)) return fill_records(n, field_of_records(n, owner, name), v);
  fail(n, "attributes cannot be assigned to", "return the new value instead");
}

// A method by which Python's operators and functions work on an object, where its class has it.
std::optional<Value> Lower::call_special(const Node& n, const std::string& name,
                                         std::vector<Value> args) {
  if (args.empty() || !args[0].type.is(Type::Tag::Object)) return {};
  const int method = member(args[0].type, "method", name);
  if (method < 0) return {};
  return call_function({n, {std::move(args)}, {}}, method);
}

namespace {

bool is_object(const Value& v) { return v.type.is(Type::Tag::Object); }

// The method of an operator, without the underscores around it.
const char* method_of(const std::string& symbol) {
  static const std::map<std::string, const char*> kAll = {
      {"+", "add"},     {"-", "sub"},     {"*", "mul"},   {"/", "truediv"}, {"//", "floordiv"},
      {"%", "mod"},     {"**", "pow"},    {"&", "and"},   {"|", "or"},      {"^", "xor"},
      {"<<", "lshift"}, {">>", "rshift"}, {"@", "matmul"}};
  auto found = kAll.find(symbol);
  return found == kAll.end() ? "" : found->second;
}

std::string around(const std::string& name) { return "__" + name + "__"; }

}  // namespace

// An operator of which one side is an object, at least.
Value Lower::binary_of_object(const Node& n, Op op, const Value& a, const Value& b) {
  const std::string name = method_of(python_operator(op) ? python_operator(op) : "");
  if (auto r = call_special(n, around(name), {a, b})) return *r;
  if (auto r = call_special(n, around("r" + name), {b, a})) return *r;
  fail(n,
       what_works(op) + " does not work on " + frontend::name(a.type) + " and " +
           frontend::name(b.type),
       "a method " + around(name));
}

// a += b, where the class may have a method of its own for it.
Value Lower::renewed(const Node& n, Op op, const Value& old, const Value& more) {
  const char* symbol = python_operator(op);
  if (is_object(old) && symbol)
    if (auto r = call_special(n, around(std::string("i") + method_of(symbol)), {old, more}))
      return *r;
  return binary(n, op, old, more);
}

// A comparison of which one side is an object.
Value Lower::compare_object(const Node& n, NodeKind op, const Value& a, const Value& b) {
  if (op == NodeKind::In || op == NodeKind::NotIn) {
    auto in = call_special(n, "__contains__", {b, a});
    if (!in) fail(n, "'in' does not work on " + frontend::name(b.type), "a method __contains__");
    const Val yes = truth(n, *in);
    return boolean(op == NodeKind::In ? yes : negate(yes));
  }
  auto same = [&] {
    if (a.type != b.type) return b_->constant(DType::Bool, Scalar::from_bool(false));
    return b_->emit(Op::equal, DType::Bool, a.v[0], b.v[0]);
  };
  if (op == NodeKind::Is) return boolean(same());
  if (op == NodeKind::IsNot) return boolean(negate(same()));
  struct Pair {
    const char *name, *reflected;
  };
  static const std::map<NodeKind, Pair> kAll = {
      {NodeKind::Eq, {"eq", "eq"}}, {NodeKind::NotEq, {"ne", "ne"}},
      {NodeKind::Lt, {"lt", "gt"}}, {NodeKind::LtE, {"le", "ge"}},
      {NodeKind::Gt, {"gt", "lt"}}, {NodeKind::GtE, {"ge", "le"}}};
  const Pair& how = kAll.at(op);
  if (auto r = call_special(n, around(how.name), {a, b})) return *r;
  if (auto r = call_special(n, around(how.reflected), {b, a})) return *r;
  if (op == NodeKind::Eq) return boolean(same());
  if (op == NodeKind::NotEq) {
    auto equal = call_special(n, "__eq__", {a, b});
    if (!equal) equal = call_special(n, "__eq__", {b, a});
    return boolean(negate(equal ? truth(n, *equal) : same()));
  }
  fail(n, "comparing " + frontend::name(a.type) + " and " + frontend::name(b.type),
       "a method " + around(how.name));
}

// len(x), abs(x) and the like of an object; nothing: the function is none of these.
std::optional<Value> Lower::builtin_of_object(const Call& c, const std::string& name) {
  static const std::set<std::string> kAll = {"len",     "abs",  "int", "float",
                                             "complex", "hash", "str"};
  if (c.args.size() != 1 || !is_object(c.args[0])) return {};
  if (name == "bool") return boolean(truth(c.n, c.args[0]));
  if (!kAll.contains(name)) return {};
  if (auto r = call_special(c.n, around(name), {c.args[0]})) return r;
  fail(c.n, name + "() does not work on " + frontend::name(c.args[0].type),
       "a method " + around(name));
}

Val Lower::truth_of_object(const Node& n, const Value& v) {
  for (const char* name : {"__bool__", "__len__"})
    if (auto r = call_special(n, name, {v})) return truth(n, *r);
  return b_->constant(DType::Bool, Scalar::from_bool(true));
}

// What numba.extending.overload and its kin have said of a function, a method or an attribute, for
// these types; nothing: they have said nothing.
std::optional<Value> Lower::call_overloaded(const Call& c, const std::string& what) {
  std::vector<Type> types;
  std::vector<std::string> names;
  for (const Value& a : c.args) types.push_back(held_type(of_any_value(boxed_type(a))));
  for (const auto& [k, a] : c.keywords) {
    types.push_back(held_type(of_any_value(boxed_type(a))));
    names.push_back(k);
  }
  for (const Type& t : types)
    if (t.unknown() || is_open(t)) return Value{};
  std::string mistake;
  const int f = u_.program.overloaded(what, types, names, mistake);
  if (f >= 0) return call_function(c, f);
  if (!mistake.empty()) fail(c.n, mistake);
  return {};
}

Value Lower::object_method(const Call& c, const Value& object, const std::string& name) {
  if (int f = member(object.type, "static", name); f >= 0) return call_function(c, f);
  const int f = member(object.type, "method", name);
  if (f < 0)
    fail(c.n,
         "'" + object_class(object.type.number).name + "' object has no method '" + name + "'");
  Call all = c;
  all.args.insert(all.args.begin(), object);
  return call_function(all, f);
}

}  // namespace numbus::frontend
