// Passes over a function, its variables, what they own, and errors.
#include "frontend/lower.h"

#include <algorithm>

#include "base/error.h"
#include "frontend/portion.h"

namespace numbus::frontend {

int Program::overloaded(const std::string& /*what*/, const std::vector<Type>& /*arguments*/,
                        const std::vector<std::string>& /*names*/, std::string& /*mistake*/) {
  return -1;
}

Spec& Unit::specialise(int source, const std::vector<Type>& arguments, const Node* from) {
  std::string k = std::to_string(source) + ":";
  for (const Type& t : arguments) put_key(k, t);
  auto [it, fresh] = specs.try_emplace(k);
  Spec& s = it->second;
  if (fresh) {
    s.source = source;
    s.arguments = arguments;
    s.function = static_cast<int>(result.module.functions.size());
    result.module.functions.emplace_back();
    if (specs.size() > 4000) {
      CompileError e;
      e.message = "functions call each other with ever new types";
      if (from) e.line = from->line;
      throw e;
    }
  }
  if (s.active)
    s.recursive = true;
  else if (fresh || (s.provisional && s.epoch != epoch)) {
    const int before = active;
    try {
      Lower(*this, s).run();
    } catch (CompileError&) {
      active = before;
      specs.erase(k);
      throw;
    }
  }
  return s;
}

namespace {

// Whether numbers of one kind become some of another for being held where these are, too.
bool widens(const Type& from, const Type& to) {
  if (from.unknown() || from.tag != to.tag) return false;
  if (from.is_number()) return from.dtype != to.dtype || from.weak != to.weak;
  for (size_t i = 0; i < from.items.size() && i < to.items.size(); ++i)
    if (widens(from.items[i], to.items[i])) return true;
  return false;
}

// Whether an error of one class is caught by a handler of another.
bool is_a(const Unit& u, const std::string& cls, const std::string& of) {
  // Of what compiled code raises by itself; of all others the program has said it (know_bases).
  static const std::map<std::string, std::string> kBases = {
      {"AssertionError", "Exception"},      {"ArithmeticError", "Exception"},
      {"LookupError", "Exception"},         {"IndexError", "LookupError"},
      {"KeyError", "LookupError"},          {"ZeroDivisionError", "ArithmeticError"},
      {"OverflowError", "ArithmeticError"}, {"FloatingPointError", "ArithmeticError"},
      {"ValueError", "Exception"},          {"TypeError", "Exception"},
      {"AttributeError", "Exception"},      {"MemoryError", "Exception"},
      {"RuntimeError", "Exception"},        {"NotImplementedError", "RuntimeError"},
      {"StopIteration", "Exception"},       {"Exception", "BaseException"},
      {"UnboundLocalError", "NameError"},   {"NameError", "Exception"},
  };
  if (cls == of) return true;
  if (auto known = u.bases.find(cls); known != u.bases.end() && known->second.contains(of))
    return true;
  auto base = kBases.find(cls);
  return base != kBases.end() && is_a(u, base->second, of);
}

}  // namespace

bool Unit::may_catch(const std::vector<std::string>& classes, const Site& site) const {
  return !site.missing && std::ranges::any_of(classes, [&](const std::string& cls) {
    return is_a(*this, site.exception, cls);
  });
}

namespace {

void fill_tables(Unit& u) {
  for (const Unit::Table& t : u.tables) {
    std::string bytes(std::max<size_t>(u.result.sites.size(), 1), '\0');
    for (size_t s = 0; s < u.result.sites.size(); ++s) {
      const Site& site = u.result.sites[s];
      // What Python has raised is an owner, too.
      const bool owns = !site.argument.unknown() || u.may_catch({"objmode"}, site);
      bytes[s] = t.classes.empty() ? owns : u.may_catch(t.classes, site);
    }
    u.result.module.constants[t.constant] = std::move(bytes);
  }
}

}  // namespace

Result compile(Program& program, int function, const std::vector<Type>& arguments,
               const Options& options) {
  Unit u{program, options, {}, {}, {}, {}, {}, {}, {}};
  u.result.module.kernel = options.kernel;
  u.result.module.fastmath = options.fastmath;
  u.result.module.debug = options.debug;
  u.result.module.long_loops = options.long_loops;
  Spec& s = u.specialise(function, arguments, nullptr);
  u.result.result = s.result;
  for (size_t p = 0; p < arguments.size(); ++p)
    u.result.written.push_back(p < 64 ? s.written >> p & 1 : true);
  fill_tables(u);
  // Functions of passes that were not the last are called by nobody.
  auto& all = u.result.module.functions;
  std::vector<int> index(all.size(), -1), todo{s.function};
  std::vector<ir::Function> kept;
  index[s.function] = 0;
  for (size_t n = 0; n < todo.size(); ++n) {
    for (ir::Inst& i : all[todo[n]].body) {
      bool calls = i.op == Op::call;
      bool runs = i.op == Op::intrinsic && (ir::intrinsic_of(i) == ir::Intrinsic::parallel ||
                                            ir::intrinsic_of(i) == ir::Intrinsic::generator);
      if (!calls && !runs) continue;
      int target = static_cast<int>(calls ? i.imm : ir::number_of(i));
      if (index[target] < 0) {
        index[target] = static_cast<int>(todo.size());
        todo.push_back(target);
      }
      i.imm = calls ? index[target]
                    : ir::intrinsic_imm(ir::intrinsic_of(i), ir::Space::Global, index[target]);
    }
  }
  for (int n : todo) kept.push_back(std::move(all[n]));
  all = std::move(kept);
  return std::move(u.result);
}

Lower::Lower(Unit& u, Spec& spec) : State(u, spec, u.source(spec.source)) {}

void Lower::run() {
  spec_.active = true;
  ++u_.active;
  result_ = spec_.result;
  generates_ = spec_.generator = is_generator(source_.definition);
  int rounds = 0;
  do {
    changed_ = waiting_ = stuck_ = false;
    waits_for_types_ = nullptr;
    if (std::exchange(outdated_, false)) types_.clear(), boxes_lists_ = true;
    pass();
    if (!changed_ && !waiting_ && waits_for_types_)
      not_yet(*waits_for_types_,
              "an empty list or dict for a function, of which nothing here says what it will hold",
              "Dict.empty(key_type, value_type), or the first item here");
    // A list that nothing is ever put into.
    if (!changed_ && !waiting_)
      for (auto& [k, t] : types_)
        if (is_open(t)) {
          close_type(t);
          changed_ = true;
        }
    // A list without a name that nothing is ever put into.
    if (!changed_ && !waiting_ && open_result_ && !lists_settled_) lists_settled_ = changed_ = true;
    // No path comes to a return: all of them raise.
    if (generates_ && !changed_ && !waiting_ && result_.unknown() && !unknown_result_)
      not_yet(source_.definition, "a generator that yields nothing");
    if (!changed_ && !waiting_ && result_.unknown() && !unknown_result_) {
      result_ = Type::of(Type::Tag::None);
      changed_ = spec_.raises = true;
    }
    if (++rounds > 30) not_yet(source_.definition, "types that do not settle");
  } while (changed_);
  if (unknown_result_ && !waiting_ && result_.unknown())
    fail(source_.definition, "the type of what '" + source_.name + "' returns cannot be found");
  // With functions that call each other, the one called first finds out.
  if (waiting_ && (u_.active == 1 || stuck_))
    not_yet(source_.definition, "what '" + source_.name + "' returns depends on itself",
            "first, return from a case without recursion");
  spec_.active = false;
  --u_.active;
  spec_.epoch = u_.epoch;
  spec_.written = written_;
}

Lower::Scope& Lower::new_scope(Scope* outer, const Source* source, std::string prefix) {
  scopes_.push_back(std::make_unique<Scope>());
  Scope& s = *scopes_.back();
  s.outer = outer;
  s.source = source;
  s.prefix = std::move(prefix);
  s.portion = portion_;
  return s;
}

void Lower::pass() {
  ir::Function f;
  f.name = source_.name;
  f.recursive = spec_.recursive;
  f.library = source_.library();
  ir::Builder b(f.body);
  f_ = &f;
  b_ = &b;
  scopes_.clear();
  scope_ = &new_scope(nullptr, &source_, "");
  spec_.provisional = unknown_result_ = open_result_ = false;
  owning_.clear();
  temporaries_.clear();
  loops_.clear();
  local_functions_.clear();
  lifted_.clear();
  asked_.clear();

  enter(*scope_, source_.definition);

  // Parameters become variables: Python may assign to them.
  std::vector<Val> params;
  f.generator = generates_;
  if (generates_) {
    refuse_in_kernel(source_.definition, "generators as objects");
    f.params.push_back(DType::I64);
    frame_ = b.emit(Op::param, DType::I64, ir::kNone, ir::kNone, ir::kNone, 0);
  }
  for (const Type& t : spec_.arguments)
    for (DType w : words(t)) {
      f.params.push_back(w);
      params.push_back(b.emit(Op::param, w, ir::kNone, ir::kNone, ir::kNone,
                              static_cast<int64_t>(f.params.size()) - 1));
    }
  status_ = new_variable(DType::I32);
  nesting_ = 0;
  ended_ = false;
  outermost_ = raising_to_ = return_to_ = begin_loop();
  finals_.clear();
  finals_base_ = 0;
  returned_.clear();
  caught_.clear();
  handling_.clear();
  sites_.clear();
  landing_ = nesting_;
  size_t next = 0;
  const Node& arguments = *source_.definition.one(Field::args);
  size_t n = 0;
  for (Field which : {Field::posonlyargs, Field::args, Field::vararg, Field::kwonlyargs})
    for (const Node& a : arguments.all(which)) {
      if (n >= spec_.arguments.size()) fail(a, "missing argument " + a.text);
      if (u_.options.kernel &&
          (holds_lists(spec_.arguments[n]) || holds_strings(spec_.arguments[n])))
        not_yet(a, frontend::name(spec_.arguments[n]) + " as an argument of a kernel", "arrays");
      size_t first = next;
      Value v = unflatten(spec_.arguments[n], params, next);
      v.type = without_values(v.type);
      if (v.type.aligned) v = aligned(v.type, params, first);
      set_origin(v, n < 64 ? uint64_t{1} << n : ~uint64_t{0});
      // The caller holds its arguments: only a name that is given something else has to count.
      Node name;
      name.kind = NodeKind::Name;
      name.text = a.text;
      // A generator holds them itself.
      borrowed_ = !generates_ && !renews(source_.definition.all(Field::body), name);
      assign_name(a, a.text, v);
      if (source_.library() || times_given(a.text) == 0) remember(scope_->key(a.text), v);
      borrowed_ = false;
      ++n;
    }
  if (generates_) begin_generator();
  if (spec_.source >= Unit::kLifted) know_itself(spec_.source - Unit::kLifted);
  // The result's type is known from the pass before.
  f.results = words(result_);
  if (source_.definition.kind == NodeKind::Lambda) {
    const Node& body = *source_.definition.one(Field::body);
    Value v = maybe_none(body);
    if (!ended_) return_value(body, v);
  } else {
    // Falling off the end gives None.
    if (!block(source_.definition.all(Field::body))) {
      Node end;
      end.line = source_.definition.end_line;
      return_value(end, none());
    }
  }
  break_loop(outermost_);
  end_loop(outermost_);
  release_owners();
  b.emit(Op::ret, DType::I32, get(status_));
  if (spec_.result != result_) {
    // Callers built with the old type are wrong, and so is this function where it calls itself.
    if (spec_.recursive) changed_ = true;
    spec_.result = result_;
    ++u_.epoch;
  }
  if (spec_.recursive && !f.recursive) changed_ = true;
  spec_.sites = sites_;
  u_.result.module.functions[spec_.function] = std::move(f);
  scope_ = nullptr;
  f_ = nullptr;
  b_ = nullptr;
}

// --- errors
// ---------------------------------------------------------------------------------------

void Lower::fail(const Node& at, const std::string& message, const std::string& hint) {
  CompileError e;
  e.message = message;
  e.hint = hint;
  const Source* s = scope_ && scope_->source ? scope_->source : &source_;
  e.file = s->file;
  e.function = s->name;
  e.line = at.line;
  e.col = at.col;
  e.end_line = at.end_line;
  e.end_col = at.end_col;
  // Python has no quarrel with a name that is an int here and a float there; the line may be right.
  if (u_.widened) {
    e.unsupported = true;
    if (hint.empty()) e.hint = "a name, a list and a result have one type: give each value its own";
  }
  throw e;
}

void Lower::not_yet(const Node& at, const std::string& what, const std::string& hint) {
  try {
    fail(at, "not yet in compiled functions: " + what, hint);
  } catch (CompileError& e) {
    e.unsupported = true;
    e.parameters = parameters_asked_for();
    throw;
  }
}

int Lower::site(const Node& at, const std::string& exception, const std::string& text) {
  const Source* s = scope_->source;
  const bool missing =
      text.starts_with("not yet") || (s->library() && exception == "NotImplementedError");
  int line = at.line;
  if (s->library() && user_call_.source)
    std::tie(s, line) = std::tie(user_call_.source, user_call_.line);
  auto [it, fresh] = u_.sites.try_emplace(
      exception + '\0' + text + '\0' + s->file + '\0' + s->name + '\0' + std::to_string(line),
      static_cast<int>(u_.result.sites.size()));
  if (fresh)
    u_.result.sites.push_back(
        {exception, text, s->file, s->name, line, {}, false, s->library(), missing});
  sites_.insert(it->second);
  return it->second;
}

void Lower::raise_at(int site, Val first, Val second) {
  note_error(b_->constant(DType::I32, Scalar::from_int(site)), first, second);
  leave_function();
}

// What the threads that wait for this one are told.
void Lower::thread_ends(const Node& at) {
  if (checks_threads() && spec_.function == 0)
    intrinsic(ir::Intrinsic::leaves, DType::I32, ir::kNone, ir::kNone, ir::kNone, ir::Space::Global,
              site_of(at));
}

void Lower::leave_function() { break_loop(raising_to_); }

// --- variables
// ------------------------------------------------------------------------------------

Val Lower::new_variable(DType t, Val first) {
  Val v = b_->emit(Op::variable, t);
  if (first != ir::kNone) set(v, first);
  return v;
}

// A variable of the function that is being built: those around a parallel loop's body are read
// through the portion, also by local functions that see them.
// `last`: the function whose own name it is.
Lower::Variable* Lower::find_variable(const std::string& name, const Scope* last) {
  for (Scope* s = scope_; s && s->portion == portion_; s = s->outer) {
    auto it = s->variables.find(name);
    if (it != s->variables.end()) return &it->second;
    if (s == last) break;
  }
  return nullptr;
}

Value Lower::read_variable(const Node& at, const std::string& name) {
  const auto uncertain = u_.uncertain.find(&at);
  const Scope* own = nullptr;
  if (uncertain != u_.uncertain.end()) {
    if (!expect_value(at, name, uncertain->second)) return of_raising();
    if (!uncertain->second.free) own = scope_of(*uncertain->second.definition);
  }
  if (portion_) {
    if (std::optional<Value> v = portion_->read(*this, name)) {
      if (portion_->carries(name))
        fail(at,
             "'" + name +
                 "' carries a value from one iteration of a parallel loop to the next, but " +
                 "iterations have no order",
             "range instead of prange; only x += …, x *= …, x = max(x, …) and their like add up");
      return narrowed(name, *v);
    }
  }
  if (Variable* v = find_variable(name, own)) {
    if (v->of_iterations)
      fail(at, "each iteration of the parallel loop has its own '" + name + "', which ends with it",
           "write to an array at the iteration's index, or use range instead of prange");
    if (v->type.unknown() || (outdated_ && v->type.listed)) return {};
    Value r = load_slots(v->type, v->slots);
    set_origin(r, origins_[v->key]);
    if (outside_.contains(v->key)) share_lists(r);
    if (auto known = constants_.find(v->key); known != constants_.end())
      recall(r, known->second, 0);
    return narrowed(name, r);
  }
  // Only a later pass may know it: assigned further down in a loop.
  auto it = types_.find(scope_->key(name));
  if (it == types_.end() && changed_) return {};
  if (it == types_.end()) {
    changed_ = true;
    types_[scope_->key(name)] = {};
    return {};
  }
  if (it->second.unknown())
    not_yet(at, "'" + name + "', which is read before anything is assigned to it",
            "an assignment before, or a global of another name");
  return load_slots(it->second, declare(name, it->second).slots);
}

Lower::Variable& Lower::declare(const std::string& name, const Type& t) {
  Variable v;
  v.type = t;
  v.key = scope_->key(name);
  for (DType w : words(t)) v.slots.push_back(new_variable(w));
  if (!borrowed_)
    for (size_t o : owners(t)) owning_.push_back(v.slots[o]);
  return scope_->variables[name] = std::move(v);
}

void Lower::assign_name(const Node& at, const std::string& name, Value v, bool fresh) {
  put_in_variable(at, name, std::move(v), fresh);
  has_value(name, true);
}

void Lower::put_in_variable(const Node& at, const std::string& name, Value v, bool fresh) {
  if (v.lazy) v = materialise(at, v);
  if (boxes_lists_ && v.type.listed) v = boxed(at, v);
  if (scope_->depth == 0 && name != "return") {
    std::string where = std::to_string(at.line) + ":" + std::to_string(at.col);
    int times = scope_->assigned[name + "@" + where]++;
    scope_->versions[name] = where + "." + std::to_string(times);
  }
  std::string k = scope_->key(name);
  if (v.unknown() || v.type.is_maybe() || v.type.is(Type::Tag::None))
    scope_->present.erase(name);
  else
    scope_->present.insert(name);
  if (v.type.is(Type::Tag::Function)) {
    // Known while compiling: nothing is stored, and there is nothing to join.
    auto it = scope_->variables.find(name);
    if (scope_->depth && it != scope_->variables.end()) {
      const Type& old = it->second.type;
      auto node = [&](const Type& t) {
        return t.text.starts_with("local ") ? local_functions_[t.number].first : nullptr;
      };
      bool same = old == v.type || (old.is(Type::Tag::Function) && node(old) == node(v.type) &&
                                    node(old) != nullptr);
      if (!same && it->second.key == k)
        not_yet(at,
                "'" + name + "' is " + frontend::name(old) + " on one path and " +
                    frontend::name(v.type) + " on another",
                "call each function in its own branch");
    }
    scope_->variables[name] = {v.type, {}, k};
    return;
  }
  Type& known = types_[k];
  Type wider, own = boxed_type(v);
  bool fits = join(known, own, wider);
  if (!fits && own.listed && !boxes_lists_ && becomes_list(at)) return;
  if (!fits)
    not_yet(at,
            "'" + name + "' is " + frontend::name(known) + " on one path and " +
                frontend::name(own) + " on another",
            "give the two values different names, or convert one of them");
  if (uint64_t from = origin_of(v)) {
    uint64_t& o = origins_[k];
    if ((o | from) != o) changed_ = true;
    o |= from;
  }
  if (shares_lists(v) && outside_.insert(k).second) changed_ = true;
  const bool of_function = scope_->source == &source_ && !scope_->outer && inline_depth_ == 0;
  if ((scope_->source && scope_->source->kind == Source::Registered) || constants_.contains(k) ||
      (of_function && scope_->depth == 0 && v.known && times_given(name) == 1))
    remember(k, v);
  if (wider != known) {
    u_.widened = u_.widened || widens(known, wider) || widens(own, wider);
    known = wider;
    changed_ = true;
  }
  auto it = scope_->variables.find(name);
  if (it == scope_->variables.end() || it->second.key != k || it->second.type != wider)
    declare(name, wider);
  Variable& to = scope_->variables[name];
  to.of_iterations = false;
  if (v.unknown()) return;
  v = convert_to(at, v, wider);
  if (v.unknown()) return;
  std::vector<Val> now = flatten(v);
  std::vector<size_t> owned = borrowed_ ? std::vector<size_t>{} : owners(wider);
  std::vector<Val> moved;
  for (size_t o : owned) {
    // What only this statement holds is handed over.
    auto held = std::ranges::find(temporaries_, now[o], &Temporary::owner);
    if (!fresh || held == temporaries_.end()) {
      intrinsic(ir::Intrinsic::retain, DType::I64, now[o]);
    } else {
      moved.push_back(held->slot);
      held->owner = ir::kNone;
    }
  }
  for (size_t o : owned) intrinsic(ir::Intrinsic::release, DType::I64, get(to.slots[o]));
  for (Val slot : moved) set(slot, ci(0));
  for (size_t i = 0; i < now.size(); ++i) set(to.slots[i], now[i]);
}

namespace {

void numbers_of(const Value& v, std::vector<std::optional<Scalar>>& all) {
  if (v.type.is_number()) all.push_back(v.known);
  for (const Value& i : v.items) numbers_of(i, all);
}

bool same(const std::optional<Scalar>& x, const std::optional<Scalar>& y) {
  return x && y && x->kind == y->kind && x->kind <= Kind::UInt && x->i == y->i;
}

}  // namespace

// Numbers that are known while compiling stay so in a name to which nothing else is ever assigned;
// that something is, another pass takes into account.
void Lower::remember(const std::string& key, const Value& v) {
  std::vector<std::optional<Scalar>> now;
  numbers_of(v, now);
  auto [at, fresh] = constants_.try_emplace(key, now);
  if (fresh) return;
  std::vector<std::optional<Scalar>>& before = at->second;
  before.resize(std::min(before.size(), now.size()));
  for (size_t n = 0; n < before.size(); ++n) {
    if (!before[n] || same(before[n], now[n])) continue;
    before[n].reset();
    changed_ = true;
  }
}

size_t Lower::recall(Value& v, const std::vector<std::optional<Scalar>>& known, size_t at) {
  if (v.type.is_number()) {
    if (at < known.size() && known[at] && known[at]->kind <= Kind::UInt &&
        numbus::is_integer(v.type.dtype) | (v.type.dtype == DType::Bool))
      v.known = known[at];
    ++at;
  }
  for (Value& i : v.items) at = recall(i, known, at);
  return at;
}

Value Lower::convert_to(const Node& at, const Value& v, const Type& t) {
  if (t.is_maybe()) return to_maybe(at, v, t);
  if (t.is(Type::Tag::List)) return v.unknown() ? v : to_list(at, v, t.items[0]);
  if (t.is(Type::Tag::Dict)) return v.unknown() ? v : to_dict(at, v, t);
  if (t.is(Type::Tag::String) && v.type.is(Type::Tag::Text)) return string_of(at, v);
  if (v.type == t || v.unknown()) return v;
  if (t.is_number() && v.type.is_number()) {
    Value r = cast(at, v, t.dtype, t.weak);
    return r;
  }
  Value r = v;
  r.type = t;
  if (t.is(Type::Tag::Tuple) || t.is(Type::Tag::Iterator))
    for (size_t i = 0; i < r.items.size(); ++i) {
      r.items[i] = convert_to(at, v.items[i], t.items[i]);
      if (r.items[i].unknown() && !t.items[i].unknown()) return {};
    }
  return r;
}

// --- words
// ----------------------------------------------------------------------------------------

std::vector<Val> Lower::flatten(const Value& v) {
  std::vector<Val> all;
  if (v.type.is_number() && is_complex(v.type.dtype)) {
    DType r = real_of(v.type.dtype);
    return {b_->emit(Op::real_part, r, v.v[0]), b_->emit(Op::imag_part, r, v.v[0])};
  }
  all = v.v;
  for (const Value& i : v.items)
    for (Val w : flatten(i)) all.push_back(w);
  return all;
}

Value Lower::unflatten(const Type& t, std::span<const Val> all, size_t& next) {
  Value r;
  r.type = of_any_value(t);
  switch (t.tag) {
    case Type::Tag::Number:
      if (is_complex(t.dtype)) {
        r.v = {b_->emit(Op::make_complex, t.dtype, all[next], all[next + 1])};
        next += 2;
      } else {
        r.v = {all[next++]};
        // An argument that is part of the type.
        if (!t.text.empty()) {
          int64_t known = std::stoll(t.text.substr(1));
          r = from_scalar(
              t.dtype == DType::Bool ? Scalar::from_bool(known != 0) : Scalar::from_int(known),
              t.dtype, t.weak);
          r.type = of_any_value(t);
          r.type.text.clear();  // another value may follow
        }
      }
      break;
    case Type::Tag::Array: {
      size_t n = t.ndim;
      r.v.assign(all.begin() + next, all.begin() + next + 2 + 2 * n);
      next += 2 + 2 * n;
      // The strides of dense arrays follow from their shape, which tells LLVM more.
      if (t.order == Order::C && n) {
        r.v[1 + 2 * n] = ci(itemsize(t.dtype));
        for (size_t d = n - 1; d-- > 0;) r.v[2 + n + d] = mul(r.v[3 + n + d], r.v[3 + d]);
      } else if (t.order == Order::F && n) {
        r.v[2 + n] = ci(itemsize(t.dtype));
        for (size_t d = 1; d < n; ++d) r.v[2 + n + d] = mul(r.v[1 + n + d], r.v[1 + d]);
      }
      if (!t.owned) r.v[1] = ci(0);
      break;
    }
    case Type::Tag::List:
    case Type::Tag::Dict:
    case Type::Tag::Generator:
    case Type::Tag::Object: r.v = {all[next++]}; break;
    case Type::Tag::Maybe:
      r.v = {all[next++]};
      r.items = {unflatten(t.items[0], all, next)};
      break;
    case Type::Tag::String:
      if (!t.text.empty()) {  // a text that types hang on
        r.type = Type::of(Type::Tag::Text);
        r.type.text = t.text.substr(1);
        next += 3;
        break;
      }
      [[fallthrough]];
    case Type::Tag::Range:
      r.v.assign(all.begin() + next, all.begin() + next + 3);
      next += 3;
      break;
    case Type::Tag::Tuple:
    case Type::Tag::Iterator:
    case Type::Tag::Slice:
      for (const Type& i : t.items) r.items.push_back(unflatten(i, all, next));
      break;
    default: break;
  }
  return r;
}

// What the launch has seen of an array's address, said as arithmetic that LLVM understands, so that
// neighbouring elements become one wide access.
Value Lower::aligned(Type t, std::vector<Val> params, size_t first) {
  auto multiple = [&](Val& v, int64_t of) {
    if (of > 1) v = b_->emit(Op::bitwise_and, DType::I64, v, ci(-of));
  };
  multiple(params[first], kWide);
  if (t.ndim > 1) multiple(params[first + 1 + t.ndim], kWide / itemsize(t.dtype));
  t.aligned = false;
  return unflatten(t, params, first);
}

Value Lower::load_slots(const Type& t, std::span<const Val> slots) {
  std::vector<Val> held;
  for (Val s : slots) held.push_back(get(s));
  size_t next = 0;
  return unflatten(t, held, next);
}

// --- ownership
// ------------------------------------------------------------------------------------

void Lower::retain(const Value& v) {
  for (const Value& i : v.items) retain(i);
  if (!v.items.empty() || v.v.empty()) return;  // also of a literal without items
  std::vector<Val> all = flatten(v);
  for (size_t o : owners(v.type)) intrinsic(ir::Intrinsic::retain, DType::I64, all[o]);
}

void Lower::own(Val owner) {
  Val slot = new_variable(DType::I64);
  intrinsic(ir::Intrinsic::release, DType::I64, get(slot));
  set(slot, owner);
  owning_.push_back(slot);
  temporaries_.push_back({slot, owner});
}

void Lower::hold(const Value& v) {
  for (const Value& i : v.items) hold(i);
  if (!v.items.empty() || v.v.empty()) return;
  retain(v);
  std::vector<Val> all = flatten(v);
  for (size_t o : owners(v.type)) own(all[o]);
}

void Lower::release_owners() {
  for (Val slot : owning_) intrinsic(ir::Intrinsic::release, DType::I64, get(slot));
}

void Lower::forget_temporaries(size_t keep) {
  while (temporaries_.size() > keep) {
    Val slot = temporaries_.back().slot;
    temporaries_.pop_back();
    intrinsic(ir::Intrinsic::release, DType::I64, get(slot));
    set(slot, ci(0));
  }
}

// --- small steps
// ----------------------------------------------------------------------------------

std::optional<int64_t> Lower::constant_of(Val v) const {
  const ir::Inst& i = b_->step(v);
  if (i.op != Op::constant) return {};
  return i.imm;
}
Val Lower::add(Val a, Val b) {
  auto x = constant_of(a), y = constant_of(b);
  if (x && y) return ci(*x + *y);
  if (x == 0) return b;
  if (y == 0) return a;
  return b_->emit(Op::add, DType::I64, a, b);
}
Val Lower::sub(Val a, Val b) {
  auto x = constant_of(a), y = constant_of(b);
  if (x && y) return ci(*x - *y);
  if (y == 0) return a;
  return b_->emit(Op::subtract, DType::I64, a, b);
}
Val Lower::mul(Val a, Val b) {
  auto x = constant_of(a), y = constant_of(b);
  if (x && y) return ci(*x * *y);
  if (x == 1) return b;
  if (y == 1) return a;
  return b_->emit(Op::multiply, DType::I64, a, b);
}
Val Lower::begin_loop(int64_t mark) {
  Val l = b_->emit(Op::loop, DType::I64, ir::kNone, ir::kNone, ir::kNone, mark);
  b_->open_scope(l);
  ++nesting_;
  return l;
}
void Lower::loop_next(Val loop) {
  b_->close_scope();
  b_->open_scope(b_->emit(Op::loop_next, DType::I64, loop));
}
void Lower::end_loop(Val loop) {
  --nesting_;
  b_->close_scope();
  b_->emit(Op::end_loop, DType::I64, loop);
}
Val Lower::intrinsic(ir::Intrinsic i, DType t, Val a, Val b, Val c, ir::Space s, int64_t number) {
  return b_->emit(Op::intrinsic, t, a, b, c, ir::intrinsic_imm(i, s, number));
}

}  // namespace numbus::frontend
