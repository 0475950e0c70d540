// Calls: of the user's functions, of local ones, and methods.
#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

// Which arguments of NumPy's functions are shapes, axes and the like: by position, the array
// counted, and by name.
bool is_shape(const std::string& function, size_t position) {
  static const std::unordered_map<std::string, std::vector<size_t>> kShapes = {
      {"zeros", {0}},   {"ones", {0}},         {"empty", {0}},
      {"full", {0}},    {"indices", {0}},      {"ndindex", {0}},
      {"reshape", {1}}, {"broadcast_to", {1}}, {"resize", {1}},
      {"tile", {1}},    {"pad", {1}},          {"transpose", {1}},
      {"roll", {1, 2}}, {"moveaxis", {1, 2}},  {"unravel_index", {1}},
      {"rot90", {2}},   {"tensordot", {2}},    {"ravel_multi_index", {1}},
      {"flip", {1}},    {"expand_dims", {1}}};
  auto it = kShapes.find(function);
  return it != kShapes.end() && std::ranges::find(it->second, position) != it->second.end();
}

bool is_shape(const std::string& function, const std::string& word) {
  static const std::unordered_set<std::string> kShapes = {
      "shape",  "newshape",    "reps", "dimensions", "pad_width",
      "source", "destination", "axes", "dims",       "size"};
  return kShapes.contains(word) || (word == "axis" && is_shape(function, 1)) ||
         (word == "shift" && function == "roll");
}

}  // namespace

// The arguments of a call. `function`: which of NumPy's is called, without its module; a list that
// is written as a shape or for axes is a tuple to it.
void Lower::call_arguments(const Node& n, Call& c, const std::string& function, size_t first) {
  const Node& f = *n.one(Field::func);
  bool print = f.kind == NodeKind::Global && f.text == "print";
  const size_t count = n.all(Field::args).size();
  auto of_axes = [&](const Node& a) {  // einsum(a, [0, 1], b, [1, 2], [0, 2])
    const size_t k = c.args.size();
    if (a.kind != NodeKind::List) return false;
    if (function == "einsum")
      return k > 0 && !c.args[0].type.is(Type::Tag::Text) && (k % 2 == 1 || k + 1 == count);
    return !function.empty() && is_shape(function, k + first);
  };
  for (const Node& a : n.all(Field::args)) {
    if (a.kind == NodeKind::Starred) {
      Value more = expression(*a.one(Field::value));
      if (!more.type.is(Type::Tag::Tuple)) not_yet(a, "* of anything but a tuple");
      for (const Value& i : more.items) c.args.push_back(i);
    } else {
      c.args.push_back(print ? printed(a) : of_axes(a) ? display(a, true) : maybe_none(a));
    }
  }
  for (const Node& k : n.all(Field::keywords)) {
    if (k.text.empty()) not_yet(n, "** in a call");
    const Node& v = *k.one(Field::value);
    const bool shape = !function.empty() && v.kind == NodeKind::List && is_shape(function, k.text);
    c.keywords.push_back({k.text, shape ? display(v, true) : maybe_none(v)});
  }
}

Value Lower::call_with_arguments(const Node& n) {
  const Node& f = *n.one(Field::func);
  Call c{n, {}, {}};
  if (f.kind == NodeKind::Attribute) {
    Value self = some_with_attributes(n, maybe_none(*f.one(Field::value)), f.text);
    call_arguments(n, c, self.type.is_array() && !is_plain_list(self) ? f.text : "", 1);
    if (self.unknown()) return {};
    const bool gets = self.type.is(Type::Tag::Dict) && (f.text == "get" || f.text == "pop");
    const bool list = self.type.is(Type::Tag::List) || is_plain_list(self);
    const bool puts = list && (f.text == "append" || f.text == "insert");
    for (size_t k = 0; k < c.args.size() && !puts; ++k)
      if ((!gets || k != 1) && !self.type.is(Type::Tag::Object))
        refuse_none(n, c.args[k], "as an argument of " + f.text + "()");
    for (const auto& [k, a] : c.keywords)
      if (!self.type.is(Type::Tag::Object)) refuse_none(n, a, "as an argument of " + f.text + "()");
    for (const Value& a : c.args)
      if (a.unknown()) return {};
    for (const auto& [k, a] : c.keywords)
      if (a.unknown()) return {};
    if (u_.program.extended.contains("method " + f.text)) {
      Call all = c;
      all.args.insert(all.args.begin(), self);
      if (auto r = call_overloaded(all, "method " + f.text)) return *r;
    }
    if (self.type.is(Type::Tag::DType) && f.text == "type") {
      expect(c, "type", 1, 1);
      return numpy_number(n, c.args[0], self.type.dtype);
    }
    if (self.type.is(Type::Tag::Dict)) return dict_method(c, *f.one(Field::value), self, f.text);
    if (self.type.is(Type::Tag::List)) return list_method(c, *f.one(Field::value), self, f.text);
    if (self.type.listed && f.text != "index" && f.text != "count" && becomes_list(n)) return {};
    if (is_plain_list(self)) {
      Value list = boxed(n, self);
      return list_method(c, *f.one(Field::value), list, f.text);
    }
    return method(c, self, f.text);
  }
  Value callee = expression(f);
  const auto& given = n.all(Field::args);
  bool loose = false;
  std::string numpys;
  if (callee.type.is(Type::Tag::Function) && callee.type.text.starts_with("np."))
    numpys = callee.type.text.substr(3);
  if (callee.type.is(Type::Tag::Function) && callee.type.text == "len" && given.size() == 1 &&
      given[0].kind == NodeKind::Subscript && n.all(Field::keywords).empty())
    c.args.push_back(receiver(given[0], true, loose));
  else
    call_arguments(n, c, numpys, 0);
  if (changed_ && may_hold_later(n, c)) return {};
  return call_value(c, callee);
}

Value Lower::call(const Node& n) {
  try {
    return call_with_arguments(n);
  } catch (const Call::Missing& m) {
    const Node& f = *n.one(Field::func);
    fail(n, (f.text.empty() ? "the function" : f.text + "()") + " needs more arguments; got " +
                std::to_string(m.position) + " that can be used");
  }
}

Value Lower::call_value(const Call& c, const Value& callee) {
  const Node& n = c.n;
  for (const Value& a : c.args)
    if (a.unknown()) return {};
  for (const auto& [k, a] : c.keywords)
    if (a.unknown()) return {};
  if (callee.type.is(Type::Tag::DType)) {
    for (const Value& a : c.args) refuse_none(n, a, "as a number");
    if (c.args.size() != 1)
      fail(n, "a type converts one value; got " + std::to_string(c.args.size()));
    return numpy_number(n, c.args[0], callee.type.dtype);
  }
  if (!callee.type.is(Type::Tag::Function)) fail(n, name(callee.type) + " cannot be called");
  const std::string& text = callee.type.text;
  if (text == "function")
    return callee.type.items.empty() ? call_function(c, callee.type.number)
                                     : call_declared(c, callee.type);
  for (const Value& a : c.args)
    if (text == "vectorized" || text == "generalised")
      refuse_none(n, a, "as an argument of a ufunc");
  if (text == "vectorized") return call_vectorized(c, callee.type);
  if (text == "generalised") return call_generalised(c, callee.type.number);
  if (text.starts_with("local ")) return call_local(c, callee.type.number);
  if (text.starts_with("lifted ")) return call_lifted(c, callee.type.number);
  if (text == "object mode") return call_object_mode(c, callee.type);
  if (text.starts_with("namedtuple ")) return make_named(c, callee.type);
  if (text.starts_with("overloaded ")) {
    const Node& beside = u_.overloaded.at(callee.type.number)->all(Field::elts)[0];
    // A list whose items are not known, and never may be, is for a function that is known anyway.
    auto open = [](const Value& a) { return !a.unknown() && is_open(a.type); };
    const bool known = !beside.text.starts_with("unsupported ");
    if (!known || std::ranges::none_of(c.args, open)) {
      auto r = call_overloaded(c, text.substr(11));
      if (r) return *r;
    }
    // What it is beside: a function that compiled functions know.
    return call_value(c, expression(beside));
  }
  if (text.starts_with("foreign ")) return call_foreign(c, text.substr(8));
  if (text == "cffi.from_buffer") return buffer_of(c);
  if (text.starts_with("external ")) return call_external(c, text.substr(9));
  if (text.starts_with("jitclass ")) return new_object(c, callee.type);
  if (text.starts_with("heapq.heap")) return call_heap(c, text.substr(6));
  return call_named(c, text);
}

namespace {

bool holds_lists_of_arrays(const Type& t) {
  if (t.is(Type::Tag::Object)) return true;
  if (t.is(Type::Tag::List) && !t.items[0].is_number()) return true;
  if (t.is(Type::Tag::Dict) && !t.items[1].is_number()) return true;
  return std::ranges::any_of(t.items, holds_lists_of_arrays);
}

}  // namespace

namespace {

bool is_fixed(const Node& n) { return n.kind == NodeKind::Constant || n.kind == NodeKind::Global; }

// The variable of a local function's default, which no name of the program's can be.
std::string default_name(const Node& n) {
  return "default " + std::to_string(n.line) + ":" + std::to_string(n.col);
}

}  // namespace

// A function of NumPy's takes tuples as arrays; not those that are shapes, axes or several arrays.
void Lower::take_arrays(Call& c, int library) {
  static const std::unordered_set<std::string> kArrays = {
      "a", "b", "x", "y", "v", "values", "weights", "indices", "condition", "obj", "value"};
  static const std::unordered_set<std::string> kSeveral = {"arrays", "conditions", "choices"};
  auto array = [&](Value& v) {
    if (v.type.is(Type::Tag::Tuple) && v.type.text.empty()) v = as_array(c.n, v);
  };
  auto take = [&](const std::string& parameter, Value& v) {
    if (kArrays.contains(parameter)) array(v);
    if (!kSeveral.contains(parameter) || !v.type.is(Type::Tag::Tuple)) return;
    for (size_t k = 0; k < v.items.size(); ++k) {
      array(v.items[k]);
      v.type.items[k] = v.items[k].type;
    }
  };
  const Node& a = *u_.program.source(library).definition.one(Field::args);
  std::vector<std::string> names;
  for (Field f : {Field::posonlyargs, Field::args})
    for (const Node& p : a.all(f)) names.push_back(p.text);
  const Node* rest = a.one(Field::vararg);
  for (size_t i = 0; i < c.args.size(); ++i)
    if (i < names.size())
      take(names[i], c.args[i]);
    else if (rest)
      array(c.args[i]);
  for (auto& [k, v] : c.keywords) take(k, v);
}

// Defaults are computed where a function is defined.
void Lower::keep_defaults(const Node& definition) {
  const Node& a = *definition.one(Field::args);
  for (Field f : {Field::defaults, Field::kw_defaults})
    for (const Node& d : a.all(f))
      if (!is_fixed(d) && d.kind != NodeKind::Unsupported)
        assign_name(d, default_name(d), boxed(d, expression(d)));
}

// Arguments in the order of the parameters, defaults filled in.
std::vector<Value> Lower::bind(const Node& at, const Node& definition, const std::string& name,
                               std::vector<Value> args,
                               const std::vector<std::pair<std::string, Value>>& keywords,
                               Scope* local) {
  const Node& a = *definition.one(Field::args);
  if (a.one(Field::kwarg)) not_yet(at, "functions with **" + a.one(Field::kwarg)->text);
  std::vector<const Node*> names;
  for (Field f : {Field::posonlyargs, Field::args})
    for (const Node& p : a.all(f)) names.push_back(&p);
  size_t positional = names.size();
  const auto& defaults = a.all(Field::defaults);
  for (const Node& p : a.all(Field::kwonlyargs)) names.push_back(&p);
  const auto& kw_defaults = a.all(Field::kw_defaults);
  const Node* rest = a.one(Field::vararg);
  Value more;
  more.type = Type::of(Type::Tag::Tuple);
  if (rest)
    while (args.size() > positional) {
      // The parameter is a tuple, whose arrays lie in memory.
      if (args.back().lazy) args.back() = materialise(at, args.back());
      more.items.insert(more.items.begin(), args.back());
      more.type.items.insert(more.type.items.begin(), args.back().type);
      args.pop_back();
    }
  if (args.size() > positional)
    fail(at, name + "() takes " + std::to_string(positional) + " arguments; got " +
                 std::to_string(args.size()));
  std::vector<Value> bound(names.size());
  std::vector<char> given(names.size(), 0);
  for (size_t i = 0; i < args.size(); ++i) {
    bound[i] = args[i];
    given[i] = 1;
  }
  for (const auto& [k, v] : keywords) {
    size_t i = 0;
    while (i < names.size() && names[i]->text != k) ++i;
    if (i == names.size()) fail(at, name + "() has no parameter '" + k + "'");
    if (given[i]) fail(at, name + "() got two values for '" + k + "'");
    bound[i] = v;
    given[i] = 1;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (given[i]) continue;
    const Node* d = nullptr;
    if (i < positional) {
      if (i + defaults.size() >= positional) d = &defaults[i + defaults.size() - positional];
    } else if (i - positional < kw_defaults.size()) {
      d = &kw_defaults[i - positional];
      if (d->kind == NodeKind::Unsupported) d = nullptr;
    }
    if (!d) fail(at, name + "() is missing the argument '" + names[i]->text + "'");
    if (local && !is_fixed(*d)) {
      // Of a local function: what it was where that was defined.
      Scope* caller = std::exchange(scope_, local);
      bound[i] = read_variable(at, default_name(*d));
      scope_ = caller;
    } else {
      bound[i] = expression(*d);
    }
  }
  if (rest) bound.insert(bound.begin() + static_cast<int64_t>(positional), more);
  return bound;
}

// A function of the library's takes what it has parameters for; NumPy's may take more.
void Lower::expect_parameters(const Call& c, const Source& s) {
  const Node& a = *s.definition.one(Field::args);
  std::unordered_set<std::string> names;
  size_t positional = a.all(Field::posonlyargs).size() + a.all(Field::args).size();
  for (Field f : {Field::posonlyargs, Field::args, Field::kwonlyargs})
    for (const Node& p : a.all(f)) names.insert(p.text);
  for (const auto& [k, v] : c.keywords)
    if (!names.contains(k)) not_yet(c.n, s.name + "() with " + k + "=");
  if (c.args.size() > positional && !a.one(Field::vararg))
    not_yet(c.n, s.name + "() of " + std::to_string(c.args.size()) + " arguments");
}

// The user's line says more than the library's.
void Lower::name_own_line(const Node& n, CompileError& e) const {
  const Source* own = scope_->source;
  if (own->library()) return;
  std::tie(e.file, e.function, e.line, e.col) = std::tie(own->file, own->name, n.line, n.col);
  std::tie(e.end_line, e.end_col) = std::tie(n.end_line, n.end_col);
}

// Of an error that a function of the library's has noted: the line of the program's that called it.
void Lower::name_caller(const Node& n) {
  if (u_.options.kernel || (scope_->source->library() && !user_call_.source)) return;
  const std::set<int> before = sites_;
  const int64_t caller = site_of(n);
  sites_ = before;  // it is none that raises
  intrinsic(ir::Intrinsic::caught, DType::I64, ci(caller), ir::kNone, ir::kNone, ir::Space::Global,
            static_cast<int64_t>(ir::Noted::SetCaller));
}

namespace {

// Whether a function, or one that it calls, makes shared or local arrays, whose extents may be its
// arguments.
bool makes_memory(Program& program, const Node& n, std::set<int>& seen) {
  if (n.kind == NodeKind::Attribute && n.text == "array") return true;
  if (n.kind == NodeKind::Global) {
    if (n.text.ends_with("shared.array") || n.text.ends_with("local.array")) return true;
    if (n.text == "function" && n.number >= 0 && seen.insert(static_cast<int>(n.number)).second)
      return makes_memory(program, program.source(static_cast<int>(n.number)).definition, seen);
  }
  return std::ranges::any_of(n.fields, [&](const auto& field) {
    return std::ranges::any_of(field.second,
                               [&](const Node& c) { return makes_memory(program, c, seen); });
  });
}

}  // namespace

Value Lower::call_function(const Call& c, int source) {
  const Source& s = u_.source(source);
  auto local = [](const Value& v) {
    return v.type.is(Type::Tag::Function) && v.type.text.starts_with("local ");
  };
  // What sees names of this function cannot leave it: the callee is expanded here.
  if (std::any_of(c.args.begin(), c.args.end(), local) ||
      std::any_of(c.keywords.begin(), c.keywords.end(), [&](auto& k) { return local(k.second); })) {
    if (source >= Unit::kLifted)
      not_yet(c.n, "a local function as an argument of one that calls itself");
    return call_inline(c, s.definition, s.name, nullptr, &s);
  }
  // Files whose functions take lists as they are, not the numbers in them.
  static constexpr std::string_view kOfLists[] = {"/lists.py",    "/heaps.py",   "/dicts.py",
                                                  "/strings.py",  "/formats.py", "/translation.py",
                                                  "/iterators.py"};
  const bool library = s.library();
  const bool lists = library && std::ranges::any_of(kOfLists, [&](std::string_view f) {
                       return s.file.ends_with(f);
                     });
  if (library) expect_parameters(c, s);
  if (s.kind == Source::Registered) {
    Scope* caller = scope_;
    const UserCall outer = user_call_;
    if (!scope_->source->library()) user_call_ = {scope_->source, c.n.line};
    try {
      Value r = call_inline(c, s.definition, s.name, nullptr, &s);
      user_call_ = outer;
      return r;
    } catch (CompileError& e) {
      scope_ = caller;
      user_call_ = outer;
      name_own_line(c.n, e);
      throw;
    }
  }
  std::vector<Value> args = bind(c.n, s.definition, s.name, c.args, c.keywords);
  std::vector<Type> types;
  for (Value& a : args) {
    if (a.unknown()) return {};
    if (library && !lists) refuse_none(c.n, a, "as an argument of " + s.name + "()");
    if (a.lazy) a = materialise(c.n, a);
    bool shared = shares_lists(a) && !lists;
    a = library && !lists ? plain(a) : boxed(c.n, a);
    if (!library && holds_lists(a.type)) note_lists(lists_change_);
    if (a.unknown()) return {};
    if (is_open(a.type)) {
      waits_for_types_ = &c.n;
      return {};
    }
    if (shared && !a.type.is_array())
      not_yet(c.n, "giving a list that iterations of a parallel loop share to '" + s.name + "'",
              "an array, or the items that it needs");
    if (a.type.is_array()) {
      a.type.text.clear();
      a.type.weak = false;
    }
    if (a.type.is_number()) a.type.text.clear();
    a.type = of_any_value(a.type);
    types.push_back(a.type);
  }
  // Extents of shared and local arrays are known while compiling: a function for each.
  std::set<int> seen;
  const bool makes = u_.options.kernel && !library && makes_memory(u_.program, s.definition, seen);
  if (makes && !seen.contains(source))  // one that calls itself would be made without end
    for (size_t i = 0; i < args.size(); ++i)
      if (auto k = known_int(args[i]); k && args[i].type.weak)
        types[i].text = "=" + std::to_string(*k);
  // The library's options, such as an axis, are known while compiling: one function for each.
  if (library) {
    const Node& p = *s.definition.one(Field::args);
    size_t positional = p.all(Field::posonlyargs).size() + p.all(Field::args).size(),
           defaults = p.all(Field::defaults).size();
    for (size_t i = positional - defaults; i < positional; ++i)
      if (auto k = known_int(args[i]); k && args[i].type.weak && std::abs(*k) <= 64)
        types[i].text = "=" + std::to_string(*k);
  }
  Spec* made = nullptr;
  try {
    made = &specialise(c, source, types, args);
  } catch (CompileError& e) {
    if (library) name_own_line(c.n, e);
    throw;
  }
  Spec& spec = *made;
  for (size_t i = 0; i < args.size() && i < 64; ++i)
    if (spec.written >> i & 1) written_ |= origin_of(args[i]);
  if ((spec.active && &spec != &spec_) || spec.provisional) spec_.provisional = true;
  if (spec.runs_python) {
    if (portion_)
      not_yet(
          c.n,
          "a function that asks Python in a parallel loop, by objmode or of a caught exception: "
          "'" +
              s.name + "'",
          "range instead of prange");
    if (!spec_.runs_python) spec_.runs_python = changed_ = true;
  }
  sites_.insert(spec.sites.begin(), spec.sites.end());
  if (spec.result.unknown()) {
    waiting_ = true;
    stuck_ = stuck_ || (!spec.active && !spec.provisional);
    return {};
  }
  std::vector<Val> all;
  for (const Value& a : args)
    for (Val w : flatten(a)) all.push_back(w);
  if (spec.generator) return new_generator(c.n, spec, args, all);
  for (Val w : all) b_->emit(Op::argument, b_->type(w), w);
  Val status = b_->emit(Op::call, DType::I32, ir::kNone, ir::kNone, ir::kNone, spec.function);
  std::vector<Val> results;
  for (DType t : words(spec.result))
    results.push_back(b_->emit(Op::call_result, t, status, ir::kNone, ir::kNone,
                               static_cast<int64_t>(results.size())));
  when(b_->emit(Op::not_equal, DType::Bool, status, b_->constant(DType::I32, Scalar::from_int(0))),
       [&] {
         if (library) name_caller(c.n);
         set(status_, status);
         leave_function();
       });
  if (spec.raises) return of_raising();
  // What comes back belongs to this statement.
  for (size_t o : owners(spec.result)) own(results[o]);
  size_t next = 0;
  Value r = unflatten(spec.result, results, next);
  // It may have made memory, or give what it was given, or have put that into a list.
  uint64_t origin = own_origin();
  bool shares = false;
  for (const Value& a : args) {
    origin |= origin_of(a);
    shares = shares || holds_lists_of_arrays(a.type);
  }
  set_origin(r, origin);
  if (shares) put_in_lists(origin);
  return r;
}

namespace {

// How far a type is from a declared one, as _declared.py has it; nothing: it cannot be converted.
std::optional<int> distance(const Type& t, const Type& declared) {
  if (declared.is_array())
    return t.is_array() && t.dtype == declared.dtype && t.ndim == declared.ndim ? std::optional(0)
                                                                                : std::nullopt;
  if (!declared.is_number()) return 0;
  if (!t.is_number() || (is_complex(t.dtype) && !is_complex(declared.dtype))) return {};
  if (t.dtype == declared.dtype) return 0;
  if (can_cast(t.dtype, declared.dtype, Casting::Safe)) return 1;
  return can_cast(t.dtype, declared.dtype, Casting::SameKind) ? 2 : 4;
}

}  // namespace

// A function with declared signatures: the nearest one says what becomes of numbers.
Value Lower::call_declared(const Call& c, const Type& f) {
  const Source& s = u_.program.source(f.number);
  std::vector<Value> args = bind(c.n, s.definition, s.name, c.args, c.keywords);
  const Type* best = nullptr;
  int least = 0;
  for (const Type& signature : f.items) {
    if (signature.items.size() != args.size() + 1) continue;
    std::optional<int> all = 0;
    for (size_t i = 0; i < args.size() && all; ++i) {
      if (args[i].unknown()) return {};
      refuse_none(c.n, args[i], "as an argument of " + s.name + "()");
      auto d = distance(args[i].type, signature.items[i]);
      all = d ? std::optional(*all + *d) : std::nullopt;
    }
    if (all && (!best || *all < least)) {
      best = &signature;
      least = *all;
    }
  }
  if (!best) {
    std::string got;
    for (const Value& a : args) got += (got.empty() ? "" : ", ") + name(a.type);
    fail(c.n, "no signature that " + s.name + "() was declared with takes (" + got + ")",
         "types of one of them");
  }
  for (size_t i = 0; i < args.size(); ++i)
    if (best->items[i].is_number()) args[i] = cast(c.n, args[i], best->items[i].dtype);
  Value r = call_function({c.n, std::move(args), {}}, f.number);
  return best->items.back().is_number() ? cast(c.n, r, best->items.back().dtype) : r;
}

// A nested function or lambda is expanded where it is called, and sees the names around it.
Value Lower::call_local(const Call& c, int number) {
  auto [definition, outer] = local_functions_[number];
  std::string name = definition->kind == NodeKind::Lambda ? "<lambda>" : definition->text;
  return call_inline(c, *definition, name, outer, outer->source);
}

Value Lower::call_inline(const Call& c, const Node& definition, const std::string& name,
                         Scope* outer, const Source* source) {
  if (!std::exchange(expands_generator_, false) && is_generator(definition))
    not_yet(c.n, "a generator of a local function outside of the head of a for loop",
            "define the function at module level");
  if (++inline_depth_ > 16)
    not_yet(c.n, "recursion of local functions", "define the function at module level");
  std::vector<Value> args = bind(c.n, definition, name, c.args, c.keywords, outer);
  Scope* caller = scope_;
  Scope& scope = new_scope(
      outer, source,
      caller->prefix + name + std::to_string(c.n.line) + ":" + std::to_string(c.n.col) + ".");
  scope_ = &scope;
  enter(scope, definition);
  const Node& a = *definition.one(Field::args);
  size_t i = 0;
  for (Field f : {Field::posonlyargs, Field::args, Field::vararg, Field::kwonlyargs})
    for (const Node& p : a.all(f)) assign_name(p, p.text, args[i++]);
  // Names of a registered function may be given values of other types as it goes on.
  scope.depth = source && source->kind == Source::Registered ? 0 : 1;
  Value result;
  bool raises = false;
  if (definition.kind == NodeKind::Lambda) {
    result = maybe_none(*definition.one(Field::body));
    if (result.lazy) result = materialise(c.n, result);
  } else {
    Val loop = begin_loop();
    auto before = std::move(on_return_);
    auto loops = std::move(loops_);
    loops_.clear();
    bool returned = false, gives = false, unknown = false;
    on_return_ = [&](const Node& n, const Value& v) {
      returned = returned || !v.type.is(Type::Tag::None);
      gives = true;
      unknown = unknown || v.unknown();
      Scope* inside = scope_;
      scope_ = &scope;
      assign_name(n, "return", v);
      scope_ = inside;
      leave_by_return();
    };
    const Val outer_return = std::exchange(return_to_, loop);
    const size_t outer_base = std::exchange(finals_base_, finals_.size());
    raises = block(definition.all(Field::body));
    if (!raises) assign_name(definition, "return", none());
    raises = raises && !gives;
    on_return_ = std::move(before);
    loops_ = std::move(loops);
    return_to_ = outer_return;
    finals_base_ = outer_base;
    break_loop(loop);
    end_loop(loop);
    auto it = scope.variables.find("return");
    if (!returned) {
      result = none();
    } else if (it != scope.variables.end() && it->second.type.is(Type::Tag::Function)) {
      result.type = it->second.type;
    } else if (it != scope.variables.end() && !it->second.type.unknown() && !unknown) {
      result = load_slots(it->second.type, it->second.slots);
      set_origin(result, origins_[it->second.key]);
      if (auto known = constants_.find(it->second.key); known != constants_.end())
        recall(result, known->second, 0);
      if (outside_.contains(it->second.key)) share_lists(result);
    }
  }
  scope_ = caller;
  --inline_depth_;
  return raises ? of_raising() : result;
}

void Lower::expect(const Call& c, const std::string& name, size_t least, size_t most) {
  size_t n = c.args.size();
  if (n >= least && n <= most) return;
  fail(c.n, name + "() takes " +
                (least == most ? std::to_string(least)
                               : std::to_string(least) + " to " + std::to_string(most)) +
                " arguments; got " + std::to_string(n));
}

namespace {

// Numbers, and those in tuples, as Python's own where `weak` says so, else as NumPy's.
Value of_numbers(Value v, const std::function<bool(const Type&)>& weak) {
  std::function<void(Type&)> make = [&](Type& t) {
    if (t.is_number()) t.weak = weak(t);
    if (t.is(Type::Tag::Tuple))
      for (Type& i : t.items) make(i);
  };
  std::function<void(Value&)> all = [&](Value& one) {
    make(one.type);
    for (Value& i : one.items) all(i);
  };
  all(v);
  return v;
}

}  // namespace

// What NumPy's functions give are its own numbers, but for a few that answer with Python's.
Value Lower::numpy_numbers(const std::string& name, Value v) {
  static const std::unordered_set<std::string> kPython = {"np.array_equal",
                                                          "np.array_equiv",
                                                          "np.allclose",
                                                          "np.isscalar",
                                                          "np.iscomplexobj",
                                                          "np.isrealobj",
                                                          "np.may_share_memory",
                                                          "np.shares_memory",
                                                          "np.shape",
                                                          "np.ndim",
                                                          "np.size",
                                                          "np.tolist"};
  if (name.starts_with("np.random.") || kPython.contains(name)) return v;
  return of_numbers(std::move(v), [](const Type&) { return false; });
}

Value Lower::call_named(const Call& given, const std::string& name) {
  Call c{given.n, given.args, given.keywords};
  if (name == "isinstance" && c.args.size() == 2 && c.args[0].type.is_maybe()) {
    Call of_value{c.n, {c.args[0].items[0], c.args[1]}, {}};
    const Value is = call_named(of_value, name);
    const bool never = is.known && is.known->real() == 0;
    return never ? is : boolean(both(c.args[0].v[0], truth(c.n, is)));
  }
  if (name == "bool" && c.args.size() == 1 && c.args[0].type.is_maybe())
    return boolean(truth(c.n, c.args[0]));
  if (auto r = builtin_of_object(c, name)) return *r;
  if (auto r = call_iterator(c, name)) return *r;
  if ((name == "str" || name == "repr") && c.args.size() == 1 && is_caught(c.args[0]))
    return text_of_error(c.n, c.args[0], name == "repr");
  for (const Value& a : c.args) refuse_exception(c.n, a);
  expect_values(c, name);
  for (const Value& a : c.args)
    if (a.unknown()) return {};
  if (name == "np.block") return call_block(c);
  // Functions of arrays take a list of numbers as one; what may come back as a view of it, or is
  // computed later, is of a copy.
  static const std::unordered_set<std::string> kAtOnce = {
      "np.array", "np.asarray", "np.ascontiguousarray",
      "np.sum",   "np.prod",    "np.min",
      "np.max",   "np.amin",    "np.amax",
      "np.mean",  "np.any",     "np.all",
      "np.var",   "np.std",     "np.argmin",
      "np.size",  "np.argmax",  "np.shape"};
  bool numpy =
      name.starts_with("np.") && !name.starts_with("np.random.") && !kAtOnce.contains(name);
  bool loops = name == "enumerate" || name == "zip" || name == "map" || name == "list";
  if (name != "numbus list resize" && name != "len") {
    for (Value& a : c.args) {
      if (a.type.is(Type::Tag::List) && a.type.items[0].unknown()) return {};
      if (!loops)
        a = numpy ? without_lists(c.n, a) : name == "reversed" ? copied(c.n, a) : plain(a);
    }
    for (auto& [k, a] : c.keywords) a = numpy ? copied(c.n, a) : plain(a);
  }
  if (name == "typed.Dict") return dict_from(c);
  if (name == "typed.Dict.empty") return empty_dict(c);
  if (name == "dict.fromkeys") return dict_from_keys(c);
  if (name == "str.maketrans") return make_translation(c);
  if (name == "typed.List") return call_builtin(c, "list");
  if (name == "typed.List.empty_list") return empty_list(c);
  if (name.starts_with("cuda.")) return call_cuda(c, name.substr(5));
  if (name.starts_with("operator.")) return call_operator(c, name.substr(9));
  if (name.starts_with("math.") || name.starts_with("cmath.")) {
    bool complex = name[0] == 'c';
    std::string f = name.substr(name.find('.') + 1);
    static const std::unordered_set<std::string> kOfSequences = {"fsum", "prod", "dist", "sumprod"};
    if (scope_->source->kind == Source::User && !kOfSequences.contains(f))
      for (const Value& a : c.args) {
        if (a.type.is_array() && a.type.ndim > 0)
          fail(c.n, name + "() takes numbers; got " + frontend::name(a.type), "np." + f);
        if (!complex && a.type.is_number() && is_complex(a.type.dtype))
          fail(c.n, name + "() takes real numbers; got " + frontend::name(a.type), "cmath." + f);
      }
    // They make Python's own numbers; of NumPy's short floats they keep the type.
    auto python_number = [](Value v) {
      return of_numbers(std::move(v), [](const Type& t) {
        return t.dtype != DType::F32 && !is_half(t.dtype) && t.dtype != DType::C64;
      });
    };
    // One after the other, by Python's operators: numbers of NumPy's stay of their type.
    const bool product = f == "prod" && c.args.size() == 1 && c.keywords.empty();
    if (product && c.args[0].type.is_array() && c.args[0].type.ndim == 1) {
      const Type of = c.args[0].type;
      Reduction how{"prod"};
      if (!of.weak && numbus::is_integer(of.dtype)) how.dtype = of.dtype;
      Value r = reduce(c.n, how, c.args[0]);
      r.type.weak = of.weak;
      return r;
    }
    if (int library = u_.program.library(name); library >= 0) {
      Value r = call_function(c, library);
      return f == "prod" || f == "sumprod" ? r : python_number(r);
    }
    if (!c.keywords.empty()) fail(c.n, name + "() takes no keywords");
    if (complex) {
      std::vector<Value> z;
      for (const Value& a : c.args)
        z.push_back(
            a.type.is_number() && !is_complex(a.type.dtype)
                ? cast(c.n, a, a.type.dtype == DType::F32 ? DType::C64 : DType::C128, a.type.weak)
                : a);
      if (f == "phase") {
        Value re = attribute_of(c.n, z.at(0), "real"), im = attribute_of(c.n, z[0], "imag");
        return python_number(binary(c.n, Op::arctan2, im, re));
      }
      return python_number(math_function(c.n, f, z));
    }
    return python_number(math_function(c.n, f, c.args));
  }
  if (name.starts_with("np.random.") && u_.options.kernel)
    fail(c.n, name + " does not work in a kernel",
         "cuda.random: xoroshiro128p_uniform_float64(states, i)");
  if (name.starts_with("np.")) {
    bool known = true;
    Value v = call_numpy(c, name.substr(3), known);
    if (known) return v;
  }
  if (name == "round" && of_user() && !c.args.empty() && c.args[0].type.is_array())
    fail(c.n, "round() of an array, which NumPy's arrays do not have", "np.round");
  if (name.find('.') == std::string::npos) return call_builtin(c, name);
  int library = u_.program.library(name);
  if (library >= 0) {
    if (name.starts_with("np.")) take_arrays(c, library);
    Value v = call_function(c, library);
    if (name.starts_with("np.random.") || name.starts_with("random."))
      return drawn(c, name.substr(name.rfind('.') + 1), std::move(v));
    return name.starts_with("np.") ? numpy_numbers(name, std::move(v)) : v;
  }
  // What Generators have as well takes its source of bits first: here the thread's own.
  if (name.starts_with("np.random."))
    if (int drawn = u_.program.library("drawn " + name.substr(10)); drawn >= 0) {
      Call all = c;
      all.args.insert(all.args.begin(), none());
      return this->drawn(c, name.substr(10), call_function(all, drawn));
    }
  not_yet(c.n, name);
}

}  // namespace numbus::frontend
