// Statements.
#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/portion.h"

namespace numbus::frontend {

void Lower::block(const std::vector<Node>& body) {
  for (const Node& n : body) statement(n);
}

void Lower::statement(const Node& n) {
  size_t keep = temporaries_.size();
  switch (n.kind) {
    case NodeKind::Assign: {
      Value v = expression(*n.one(Field::value));
      for (const Node& t : n.all(Field::targets)) assign(t, v);
      break;
    }
    case NodeKind::AnnAssign:
      if (const Node* value = n.one(Field::value))
        assign(*n.one(Field::target), expression(*value));
      break;
    case NodeKind::AugAssign: aug_assign(n); break;
    case NodeKind::For: for_loop(n); break;
    case NodeKind::While: while_loop(n); break;
    case NodeKind::If: if_statement(n); break;
    case NodeKind::Return: {
      const Node* value = n.one(Field::value);
      Value none;
      none.type = Type::of(Type::Tag::None);
      Value v = value ? expression(*value) : none;
      return_value(n, v);
      break;
    }
    case NodeKind::Break:
    case NodeKind::Continue:
      if (loops_.empty() || !loops_.back().owned_by_user)
        fail(n, "break and continue do not work here", "they leave no parallel or unrolled loop");
      b_->emit(n.kind == NodeKind::Break ? Op::break_loop : Op::continue_loop, DType::I64,
               loops_.back().begin);
      break;
    case NodeKind::Expr: {
      const Node& e = *n.one(Field::value);
      if (e.kind != NodeKind::Constant) expression(e);  // a docstring says nothing
      break;
    }
    case NodeKind::Pass: break;
    case NodeKind::Raise: raise_statement(n); break;
    case NodeKind::Assert: assert_statement(n); break;
    case NodeKind::FunctionDef: {
      Value v;
      v.type = Type::of(Type::Tag::Function);
      v.type.text = "local " + n.text;
      v.type.number = static_cast<int>(local_functions_.size());
      local_functions_.push_back(&n);
      local_scopes_.push_back(scope_);
      assign_name(n, n.text, v);
      break;
    }
    default:
      not_yet(n,
              n.kind == NodeKind::Unsupported ? "'" + n.text + "' statements" : "this statement");
  }
  if (temporaries_.size() > keep) forget_temporaries(keep);
}

void Lower::assign(const Node& target, const Value& v) {
  switch (target.kind) {
    case NodeKind::Name: assign_name(target, target.text, v); break;
    case NodeKind::Tuple:
    case NodeKind::List: {
      const auto& names = target.all(Field::elts);
      if (v.unknown()) {
        for (const Node& t : names) assign(t, {});
        return;
      }
      if (v.type.is_array()) {
        Value in_memory = v;
        for (size_t i = 0; i < names.size(); ++i)
          assign(names[i], index(target, in_memory, known_integer(static_cast<int64_t>(i))));
        return;
      }
      if (!v.type.is(Type::Tag::Tuple))
        fail(target,
             "cannot unpack " + name(v.type) + " into " + std::to_string(names.size()) + " names");
      if (v.items.size() != names.size())
        fail(target, "cannot unpack a tuple of " + std::to_string(v.items.size()) + " into " +
                         std::to_string(names.size()) + " names");
      // All values are there before the first name changes: a, b = b, a.
      for (size_t i = 0; i < names.size(); ++i) assign(names[i], v.items[i]);
      break;
    }
    case NodeKind::Subscript: {
      Value a = expression(*target.one(Field::value));
      Value by = expression(*target.one(Field::slice));
      store(target, a, by, v);
      break;
    }
    case NodeKind::Attribute:
      fail(target, "attributes cannot be assigned to", "return the new value instead");
    default: not_yet(target, "this target of an assignment");
  }
}

namespace {

Op row_of_operator(NodeKind k) {
  switch (k) {
    case NodeKind::Add: return Op::add;
    case NodeKind::Sub: return Op::subtract;
    case NodeKind::Mult: return Op::multiply;
    case NodeKind::Div: return Op::divide;
    case NodeKind::FloorDiv: return Op::floor_divide;
    case NodeKind::Mod: return Op::remainder;
    case NodeKind::Pow: return Op::power;
    case NodeKind::LShift: return Op::left_shift;
    case NodeKind::RShift: return Op::right_shift;
    case NodeKind::BitOr: return Op::bitwise_or;
    case NodeKind::BitXor: return Op::bitwise_xor;
    default: return Op::bitwise_and;
  }
}

}  // namespace

void Lower::aug_assign(const Node& n) {
  const Node& target = *n.one(Field::target);
  Op op = row_of_operator(n.one(Field::op)->kind);
  if (target.kind == NodeKind::Subscript) {
    // The element's place is found once.
    Value a = expression(*target.one(Field::value));
    Value by = expression(*target.one(Field::slice));
    Value old = index(target, a, by);
    Value now = binary(n, op, old, expression(*n.one(Field::value)));
    store(target, a, by, now);
    return;
  }
  if (target.kind != NodeKind::Name) not_yet(n, "this target of an assignment");
  Value old = read_variable(target, target.text);
  Value v = expression(*n.one(Field::value));
  if (old.type.is_array()) {
    // In place, as NumPy does.
    Value all;
    all.type = Type::of(Type::Tag::Ellipsis);
    store(target, old, all, binary(n, op, old, v));
    return;
  }
  assign_name(target, target.text, binary(n, op, old, v));
}

void Lower::when(Val condition, const std::function<void()>& yes, const std::function<void()>& no) {
  Val begin = b_->emit(Op::branch, DType::Bool, condition);
  b_->open_scope(begin);
  yes();
  b_->close_scope();
  if (no) {
    Val other = b_->emit(Op::branch_else, DType::Bool, begin);
    b_->open_scope(other);
    no();
    b_->close_scope();
  }
  b_->emit(Op::end_branch, DType::Bool, begin);
}

void Lower::if_statement(const Node& n) {
  size_t keep = temporaries_.size();
  Value test = expression(*n.one(Field::test));
  const auto &body = n.all(Field::body), &orelse = n.all(Field::orelse);
  // What is decided while compiling keeps the other side from being looked at.
  if (test.known && test.type.is_number()) {
    bool yes = test.known->real() != 0 || test.known->imag() != 0;
    block(yes ? body : orelse);
    return;
  }
  if (test.type.is(Type::Tag::None)) return block(orelse);
  Val condition = truth(n, test);
  forget_temporaries(keep);
  ++scope_->depth;
  auto otherwise = [&] { block(orelse); };
  when(
      condition, [&] { block(body); },
      orelse.empty() ? std::function<void()>() : std::function<void()>(otherwise));
  --scope_->depth;
}

void Lower::while_loop(const Node& n) {
  ++scope_->depth;
  const auto& orelse = n.all(Field::orelse);
  Val ended = orelse.empty() ? ir::kNone : new_variable(DType::Bool);
  if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(false)));
  Val loop = begin_loop();
  size_t keep = temporaries_.size();
  Value test = expression(*n.one(Field::test));
  Val go_on = truth(n, test);
  forget_temporaries(keep);
  when(negate(go_on), [&] {
    if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(true)));
    break_loop(loop);
  });
  loops_.push_back({loop, true});
  block(n.all(Field::body));
  loops_.pop_back();
  end_loop(loop);
  if (ended != ir::kNone) when(get(ended), [&] { block(orelse); });
  --scope_->depth;
}

template <class F>
void Lower::counted(Val count, F&& body) {
  Val i = new_variable(DType::I64);
  set(i, ci(0));
  Val loop = begin_loop();
  Val at = get(i);
  when(negate(less(at, count)), [&] { break_loop(loop); });
  body(at);
  loop_next(loop);
  set(i, add(get(i), ci(1)));
  end_loop(loop);
}

void Lower::for_loop(const Node& n) {
  const Node& over = *n.one(Field::iter);
  ++scope_->depth;
  // enumerate and zip are ways of naming what a loop sees.
  bool parallel = false;
  Value what = expression(over);
  if (what.type.is(Type::Tag::Range)) {
    parallel = what.type.text == "prange";
    range_loop(n, what, parallel);
  } else if (what.type.is(Type::Tag::Tuple) && what.type.text != "zip" &&
             what.type.text != "enumerate") {
    unrolled_loop(n, what);
  } else if (what.type.is_array() || what.type.is(Type::Tag::Tuple)) {
    // The length of the shortest, then an element of each.
    std::vector<Value> sources;
    bool zipped = what.type.is(Type::Tag::Tuple);
    if (zipped)
      sources = what.items;
    else
      sources = {what};
    bool counted_too = what.type.text == "enumerate";
    Value start = known_integer(0);
    if (counted_too) {
      start = sources.back();
      sources.pop_back();
    }
    Val count = ir::kNone;
    for (Value& s : sources) {
      Val length;
      if (s.type.is(Type::Tag::Range)) {
        Val span = sub(s.v[1], s.v[0]);
        Value q =
            binary(n, Op::floor_divide, integer(sub(add(span, s.v[2]), ci(1))), integer(s.v[2]));
        length = b_->emit(Op::maximum, DType::I64, q.v[0], ci(0));
        if (constant_of(s.v[2]).value_or(-1) < 0) not_yet(n, "a negative step inside zip");
      } else if (s.type.is_array()) {
        if (s.lazy) s = materialise(n, s);
        if (s.type.ndim == 0) fail(n, "a 0-d array has no elements to loop over");
        length = s.shape()[0];
      } else {
        not_yet(n, "a loop over " + name(s.type));
      }
      count = count == ir::kNone ? length : b_->emit(Op::minimum, DType::I64, count, length);
    }
    Val i = new_variable(DType::I64);
    set(i, ci(0));
    const auto& orelse = n.all(Field::orelse);
    if (!orelse.empty()) not_yet(n, "else after a loop over elements", "loop over range(len(x))");
    Val loop = begin_loop();
    Val at = get(i);
    when(negate(less(at, count)), [&] { break_loop(loop); });
    Value tuple;
    tuple.type = Type::of(Type::Tag::Tuple);
    for (const Value& s : sources) {
      Value e = s.type.is(Type::Tag::Range) ? integer(add(s.v[0], mul(at, s.v[2])))
                                            : index(n, s, integer(at));
      tuple.type.items.push_back(e.type);
      tuple.items.push_back(e);
    }
    Value seen = zipped && !(counted_too && sources.size() == 1) ? tuple : tuple.items[0];
    if (counted_too) {
      Value pair;
      Value place = binary(n, Op::add, start, integer(at));
      pair.type = Type::tuple_of({place.type, seen.type});
      pair.items = {place, seen};
      seen = pair;
    }
    assign(*n.one(Field::target), seen);
    loops_.push_back({loop, true});
    block(n.all(Field::body));
    loops_.pop_back();
    loop_next(loop);
    set(i, add(get(i), ci(1)));
    end_loop(loop);
  } else if (!what.unknown()) {
    fail(over, "cannot loop over " + name(what.type), "range, an array, a tuple, zip, enumerate");
  }
  --scope_->depth;
}

// Tuples may hold values of several types: their loops are unrolled.
void Lower::unrolled_loop(const Node& n, const Value& items) {
  for (const Value& item : items.items) {
    assign(*n.one(Field::target), item);
    // A loop that runs once, so that break and continue find one.
    loops_.push_back({ir::kNone, false});
    block(n.all(Field::body));
    loops_.pop_back();
  }
  block(n.all(Field::orelse));
}

void Lower::range_loop(const Node& n, const Value& range, bool parallel) {
  if (parallel && u_.options.parallel && !u_.options.kernel && !portion_) {
    parallel_loop(n, range);
    return;
  }
  Val start = range.v[0], stop = range.v[1], step = range.v[2];
  const auto& orelse = n.all(Field::orelse);
  Val ended = orelse.empty() ? ir::kNone : new_variable(DType::Bool);
  if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(false)));
  Val i = new_variable(DType::I64);
  set(i, start);
  Val loop = begin_loop();
  Val at = get(i);
  auto by = constant_of(step);
  Val done;
  if (by) {
    if (*by == 0) fail(n, "range() with a step of zero");
    done = negate(*by > 0 ? less(at, stop) : less(stop, at));
  } else {
    Val up = less(ci(0), step);
    done = negate(b_->emit(Op::select, DType::Bool, up, less(at, stop), less(stop, at)));
  }
  when(done, [&] {
    if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(true)));
    break_loop(loop);
  });
  assign(*n.one(Field::target), integer(at));
  loops_.push_back({loop, true});
  block(n.all(Field::body));
  loops_.pop_back();
  loop_next(loop);
  set(i, add(get(i), step));
  end_loop(loop);
  if (ended != ir::kNone) when(get(ended), [&] { block(orelse); });
}

namespace {

// Names that the statements assign to, and how: the row of `x op= …`, or none.
void collect(const std::vector<Node>& body, std::map<std::string, std::optional<Op>>& names) {
  auto note = [&](const std::string& name, std::optional<Op> op) {
    auto [it, fresh] = names.try_emplace(name, op);
    if (!fresh && it->second != op) it->second = std::nullopt;
  };
  std::function<void(const Node&)> target = [&](const Node& t) {
    if (t.kind == NodeKind::Name) note(t.text, std::nullopt);
    for (const Node& e : t.all(Field::elts)) target(e);
  };
  for (const Node& n : body) {
    if (n.kind == NodeKind::Assign)
      for (const Node& t : n.all(Field::targets)) {
        // x = max(x, …) and x = min(…, x) reduce, too.
        const Node* value = n.one(Field::value);
        if (t.kind == NodeKind::Name && value->kind == NodeKind::Call) {
          const Node* f = value->one(Field::func);
          bool own = false;
          for (const Node& a : value->all(Field::args))
            own = own || (a.kind == NodeKind::Name && a.text == t.text);
          if (own && f->kind == NodeKind::Global && f->text == "max") {
            note(t.text, Op::maximum);
            continue;
          }
          if (own && f->kind == NodeKind::Global && f->text == "min") {
            note(t.text, Op::minimum);
            continue;
          }
        }
        target(t);
      }
    if (n.kind == NodeKind::AnnAssign) target(*n.one(Field::target));
    if (n.kind == NodeKind::AugAssign && n.one(Field::target)->kind == NodeKind::Name)
      note(n.one(Field::target)->text, row_of_operator(n.one(Field::op)->kind));
    if (n.kind == NodeKind::For) target(*n.one(Field::target));
    collect(n.all(Field::body), names);
    collect(n.all(Field::orelse), names);
  }
}

std::optional<Scalar> identity_of(Op op, DType t) {
  bool whole = numbus::is_integer(t);
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::bitwise_or:
    case Op::bitwise_xor: return Scalar::from_int(0);
    case Op::multiply:
    case Op::divide: return Scalar::from_int(1);
    case Op::bitwise_and: return Scalar::from_int(-1);
    case Op::maximum:
    case Op::minimum: {
      bool low = op == Op::maximum;
      if (is_float(t)) return Scalar::from_float(low ? -HUGE_VAL : HUGE_VAL);
      if (!whole) return {};
      int bits = 8 * itemsize(t);
      if (!is_signed(t))
        return Scalar::from_uint(low ? 0 : bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
      int64_t least = std::numeric_limits<int64_t>::min() >> (64 - bits);
      return Scalar::from_int(low ? least : ~least);
    }
    default: return {};
  }
}

Op merging(Op op) { return op == Op::subtract ? Op::add : op == Op::divide ? Op::multiply : op; }

}  // namespace

std::optional<Value> Lower::Portion::read(Lower& l, const std::string& name) {
  if (l.find_variable(name)) return {};
  auto it = captured.find(name);
  if (it != captured.end()) return it->second.value;
  Scope* inside = l.scope_;
  l.scope_ = outer_scope;
  Variable* v = l.find_variable(name);
  l.scope_ = inside;
  if (!v) return {};
  Capture c;
  std::vector<Val> words_inside;
  for (Val slot : v->slots) {
    passed.push_back(slot);
    DType t = frontend::words(v->type)[words_inside.size()];
    l.f_->params.push_back(t);
    words_inside.push_back(l.b_->emit(Op::param, t, ir::kNone, ir::kNone, ir::kNone,
                                      static_cast<int64_t>(l.f_->params.size()) - 1));
  }
  size_t next = 0;
  Type t = v->type;
  c.value = l.unflatten(t, words_inside, next);
  c.value.origin = l.origins_[v->key];
  captured[name] = c;
  return c.value;
}

// The iterations are cut into portions whose number depends on nothing but their count; each
// portion is a call of the body's function, and sums are merged in the portions' order.
void Lower::parallel_loop(const Node& n, const Value& range) {
  const Node& target = *n.one(Field::target);
  if (target.kind != NodeKind::Name) not_yet(target, "prange into anything but a name");
  std::map<std::string, std::optional<Op>> assigned;
  collect(n.all(Field::body), assigned);

  Portion p;
  p.outer_scope = scope_;
  p.outer = portion_;
  std::vector<std::pair<std::string, Variable*>> reduced;
  for (auto& [name, op] : assigned) {
    Variable* v = find_variable(name);
    if (!op || !v || !v->type.is_number() || name == target.text) continue;
    if (!identity_of(*op, v->type.dtype)) continue;
    p.reductions.push_back({name, *op});
    reduced.push_back({name, v});
  }

  // Trips, and the first index and step, which the body sees as captured values.
  Val step = range.v[2];
  Val span = sub(range.v[1], range.v[0]);
  Val up = less(ci(0), step);
  Val rounded = add(span, sub(step, b_->emit(Op::select, DType::I64, up, ci(1), ci(-1))));
  Val trips = b_->emit(Op::maximum, DType::I64,
                       b_->emit(Op::floor_divide, DType::I64, rounded, step), ci(0));
  constexpr int64_t kPortions = 64;
  Val grain = b_->emit(
      Op::maximum, DType::I64,
      b_->emit(Op::floor_divide, DType::I64, add(trips, ci(kPortions - 1)), ci(kPortions)), ci(1));
  // A place for each portion's results.
  Val partials = ir::kNone, owner = ir::kNone;
  int64_t record = 0;
  std::vector<int64_t> at;
  for (size_t r = 0; r < reduced.size(); ++r, record += 16) at.push_back(record);
  if (!reduced.empty()) {
    owner = intrinsic(ir::Intrinsic::allocate, DType::I64, ci(record * kPortions));
    partials = intrinsic(ir::Intrinsic::data_of, DType::I64, owner);
  }

  ir::Function body;
  body.name = f_->name + "." + std::to_string(n.line);
  body.portion = true;
  ir::Builder inner(body.body);
  ir::Function* outer_f = f_;
  ir::Builder* outer_b = b_;
  Scope* outer_scope = scope_;
  auto outer_loops = std::move(loops_);
  auto outer_owning = std::move(owning_);
  auto outer_temporaries = std::move(temporaries_);
  Val outer_status = status_, outer_outermost = outermost_;
  loops_.clear();
  owning_.clear();
  temporaries_.clear();
  f_ = &body;
  b_ = &inner;
  Scope scope;
  scope.source = outer_scope->source;
  scope.prefix = outer_scope->prefix + "p" + std::to_string(n.line) + ".";
  scope.depth = 1;
  scope_ = &scope;
  portion_ = &p;

  auto parameter = [&](DType t) {
    body.params.push_back(t);
    return inner.emit(Op::param, t, ir::kNone, ir::kNone, ir::kNone,
                      static_cast<int64_t>(body.params.size()) - 1);
  };
  Val low = parameter(DType::I64), high = parameter(DType::I64), first_in = parameter(DType::I64),
      step_in = parameter(DType::I64), grain_in = parameter(DType::I64),
      partials_in = parameter(DType::I64);
  status_ = new_variable(DType::I32);
  outermost_ = begin_loop();
  for (auto& [name, op] : p.reductions) {
    Variable* v = nullptr;
    for (auto& [other, variable] : reduced)
      if (other == name) v = variable;
    // The type is that of the variable outside; what is found in here widens both.
    types_[scope_->prefix + name + "#0"] = v->type;
    Value zero = from_scalar(*identity_of(op, v->type.dtype), v->type.dtype, v->type.weak);
    assign_name(n, name, zero);
  }
  // Lanes of the body take indices side by side.
  Val i = new_variable(DType::I64);
  set(i, add(low, intrinsic(ir::Intrinsic::lane_index, DType::I64)));
  Val beside = intrinsic(ir::Intrinsic::lane_count, DType::I64);
  Val loop = begin_loop();
  Val now = get(i);
  when(negate(less(now, high)), [&] { break_loop(loop); });
  assign(target, integer(add(first_in, mul(now, step_in))));
  loops_.push_back({loop, true});
  block(n.all(Field::body));
  loops_.pop_back();
  loop_next(loop);
  set(i, add(get(i), beside));
  end_loop(loop);
  if (!reduced.empty()) {
    Val place = b_->emit(Op::floor_divide, DType::I64, low, grain_in);
    Val to = add(partials_in, mul(place, ci(record)));
    for (size_t r = 0; r < reduced.size(); ++r) {
      Variable& v = scope.variables[reduced[r].first];
      Value sum = load_slots(v.type, v.slots);
      Val all = intrinsic(ir::Intrinsic::lane_merge, v.type.dtype, sum.v[0], ir::kNone, ir::kNone,
                          ir::Space::Global, static_cast<int64_t>(merging(p.reductions[r].second)));
      write_at(v.type.dtype, all, to, ci(at[r]), ir::Space::Global);
    }
  }
  break_loop(outermost_);
  end_loop(outermost_);
  release_owners();
  b_->emit(Op::ret, DType::I32, get(status_));

  f_ = outer_f;
  b_ = outer_b;
  scope_ = outer_scope;
  loops_ = std::move(outer_loops);
  owning_ = std::move(outer_owning);
  temporaries_ = std::move(outer_temporaries);
  status_ = outer_status;
  outermost_ = outer_outermost;
  portion_ = p.outer;
  for (size_t r = 0; r < reduced.size(); ++r) {
    Type inside =
        types_[scope_->prefix + "p" + std::to_string(n.line) + "." + reduced[r].first + "#0"];
    Type &outside = types_[reduced[r].second->key], both;
    if (!join(outside, inside, both)) fail(n, "'" + reduced[r].first + "' changes its type");
    if (both != outside) {
      outside = both;
      changed_ = true;
    }
  }

  int number = static_cast<int>(u_.result.module.functions.size());
  u_.result.module.functions.push_back(std::move(body));
  std::vector<Val> arguments{range.v[0], step, grain, partials == ir::kNone ? ci(0) : partials};
  for (Val slot : p.passed) arguments.push_back(get(slot));
  for (Val a : arguments) b_->emit(Op::argument, b_->type(a), a);
  Val bad = intrinsic(ir::Intrinsic::parallel, DType::I32, trips, grain, ir::kNone,
                      ir::Space::Global, number);
  when(b_->emit(Op::not_equal, DType::Bool, bad, b_->constant(DType::I32, Scalar::from_int(0))),
       [&] {
         if (owner != ir::kNone) intrinsic(ir::Intrinsic::release, DType::I64, owner);
         set(status_, bad);
         leave_function();
       });
  if (reduced.empty()) return;
  Val used = b_->emit(Op::floor_divide, DType::I64, add(trips, sub(grain, ci(1))), grain);
  counted(used, [&](Val k) {
    Val from = add(partials, mul(k, ci(record)));
    for (size_t r = 0; r < reduced.size(); ++r) {
      Variable& v = *find_variable(reduced[r].first);
      Value part = read_at(v.type.dtype, from, ci(at[r]), ir::Space::Global);
      Value old = load_slots(v.type, v.slots);
      old.type.weak = false;
      Value sum = binary(n, merging(p.reductions[r].second), old, part);
      sum.type.weak = v.type.weak;
      assign_name(n, reduced[r].first, sum);
    }
  });
  intrinsic(ir::Intrinsic::release, DType::I64, owner);
}

void Lower::return_value(const Node& n, const Value& v) {
  if (on_return_) {
    on_return_(n, v);
    return;
  }
  if (portion_) fail(n, "return does not work in a parallel loop");
  if (v.unknown()) return;
  Value r = v.lazy ? materialise(n, v) : v;
  if (u_.options.kernel && spec_.function == 0 && !r.type.is(Type::Tag::None))
    fail(n, "a kernel returns nothing; this returns " + name(r.type),
         "write the result into an array that is an argument");
  if (r.type.is(Type::Tag::Text) || r.type.is(Type::Tag::Function) || r.type.is(Type::Tag::Range))
    not_yet(n, "returning " + name(r.type));
  Type wider;
  if (!join(result_, r.type, wider))
    fail(n, "returns " + name(result_) + " on one path and " + name(r.type) + " on another",
         "return one type on every path");
  if (wider != result_) {
    result_ = wider;
    changed_ = true;
    return;
  }
  r = convert_to(n, r, wider);
  retain(r);
  std::vector<Val> given = flatten(r);
  for (size_t i = 0; i < given.size(); ++i)
    b_->emit(Op::give, b_->type(given[i]), given[i], ir::kNone, ir::kNone, static_cast<int64_t>(i));
  leave_function();
}

// "ValueError" and "n is negative" of raise ValueError("n is negative").
std::string Lower::exception_text(const Node& n, std::string& name) {
  const Node* call = &n;
  name.clear();
  if (call->kind == NodeKind::Global && call->text.starts_with("exception ")) {
    name = call->text.substr(10);
    return "";
  }
  if (call->kind == NodeKind::Call) {
    const Node* f = call->one(Field::func);
    if (f->kind == NodeKind::Global && f->text.starts_with("exception ")) {
      name = f->text.substr(10);
      const auto& args = call->all(Field::args);
      if (args.empty()) return "";
      if (args.size() == 1 && args[0].kind == NodeKind::Constant &&
          args[0].literal.tag == Literal::Tag::Text)
        return args[0].literal.text;
      if (args.size() == 1 && args[0].kind == NodeKind::Constant &&
          args[0].literal.tag == Literal::Tag::Number)
        return std::to_string(args[0].literal.number.i);
      fail(args[0], "the message of an exception has to be a constant string",
           "raise " + name + "(\"…\")");
    }
  }
  fail(n, "only exception classes can be raised", "raise ValueError(\"…\")");
}

void Lower::raise_statement(const Node& n) {
  const Node* exc = n.one(Field::exc);
  if (!exc) fail(n, "a bare raise has nothing to raise again");
  std::string name;
  std::string text = exception_text(*exc, name);
  raise_at(site(n, name, text));
}

void Lower::assert_statement(const Node& n) {
  Value test = expression(*n.one(Field::test));
  const Node* msg = n.one(Field::msg);
  std::string text = msg && msg->kind == NodeKind::Constant ? msg->literal.text : "";
  when(negate(truth(n, test)), [&] { raise_at(site(n, "AssertionError", text)); });
}

}  // namespace numbus::frontend
