// prange: the body as a function of its own, and what its portions reduce.
#include <algorithm>
#include <utility>

#include "frontend/portion.h"

namespace numbus::frontend {

namespace {

Op merging(Op op) { return op == Op::subtract ? Op::add : op == Op::divide ? Op::multiply : op; }

// Names that the statements assign to, and how: the row of `x op= …`, or none.
void collect(const std::vector<Node>& body, std::map<std::string, std::optional<Op>>& names) {
  auto note = [&](const std::string& name, std::optional<Op> op) {
    auto [it, fresh] = names.try_emplace(name, op);
    if (fresh || it->second == op) return;
    bool both = op && it->second && merging(*op) == merging(*it->second);  // += and -=
    it->second = both ? std::optional(merging(*op)) : std::nullopt;
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
  const bool ordered = is_float(t) || numbus::is_integer(t);
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::bitwise_or:
    case Op::bitwise_xor: return Scalar::from_int(0);
    case Op::multiply:
    case Op::divide: return Scalar::from_int(1);
    case Op::bitwise_and: return Scalar::from_int(-1);
    case Op::maximum: return ordered ? std::optional(lowest_number(t)) : std::nullopt;
    case Op::minimum: return ordered ? std::optional(highest_number(t)) : std::nullopt;
    default: return {};
  }
}

}  // namespace

std::optional<Value> Lower::Portion::read(Lower& l, const std::string& name) {
  if (l.find_variable(name)) return {};
  // A step for each use: one of a branch that is left would be no operand after it.
  auto value = [&](const Capture& c) {
    size_t next = 0;
    std::vector<Val> steps;
    for (int64_t number : c.inside)
      steps.push_back(
          l.b_->emit(Op::param, l.f_->params[number], ir::kNone, ir::kNone, ir::kNone, number));
    Value v = l.unflatten(c.type, steps, next);
    set_origin(v, c.origin);
    share_lists(v);
    return v;
  };
  // A local function sees the names around it, which need not be those around the loop.
  Scope* inside = l.scope_;
  Scope* from = inside;
  while (from && from->portion == this) from = from->outer;
  l.scope_ = from ? from : outer_scope;
  l.portion_ = outer;
  Variable* v = l.find_variable(name);
  l.scope_ = inside;
  l.portion_ = this;
  if (!v) return {};
  if (v->type.is(Type::Tag::Generator))
    l.not_yet(*l.here_, "a generator that iterations of a parallel loop share: '" + name + "'",
              "a list of what it yields");
  if (auto it = captured.find(v->key); it != captured.end()) return value(it->second);
  Capture c;
  for (Val slot : v->slots) {
    passed.push_back(slot);
    DType t = frontend::words(v->type)[c.inside.size()];
    c.inside.push_back(static_cast<int64_t>(l.f_->params.size()));
    l.f_->params.push_back(t);
  }
  c.type = v->type;
  c.origin = l.origins_[v->key];
  captured[v->key] = c;
  return value(c);
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
  p.own.insert(target.text);
  std::vector<std::pair<std::string, Variable*>> reduced;
  auto& arrays = p.arrays;
  for (auto& [name, op] : assigned) {
    Variable* v = find_variable(name);
    if (name == target.text) continue;
    if (op && v && v->type.unknown()) continue;  // a later pass knows whether it can be merged
    if (!op || !v || !(v->type.is_number() || v->type.is_array()) ||
        !identity_of(*op, v->type.dtype)) {
      p.own.insert(name);
      continue;
    }
    if (v->type.is_array()) {
      arrays.push_back({name, *op});
      continue;
    }
    if (is_complex(v->type.dtype) && merging(*op) == Op::multiply)
      not_yet(n, "a product of complex numbers in a parallel loop: '" + name + "'", "range");
    p.reductions.push_back({name, *op});
    reduced.push_back({name, v});
  }

  // Trips, and the first index and step, which the body sees as captured values.
  Val step = range.v[2], trips = length_of_range(range);
  // Fewer where each has arrays of its own.
  const int64_t portions = arrays.empty() ? 64 : 16;
  Val grain = b_->emit(
      Op::maximum, DType::I64,
      b_->emit(Op::floor_divide, DType::I64, add(trips, ci(portions - 1)), ci(portions)), ci(1));
  // Memory for each portion's results.
  Val partials = ir::kNone, owner = ir::kNone;
  int64_t record = 0;
  std::vector<int64_t> at;
  for (size_t r = 0; r < reduced.size(); ++r, record += 16) at.push_back(record);
  int64_t arrays_at = record;
  record += 16 * static_cast<int64_t>(arrays.size());
  if (record) {
    owner = intrinsic(ir::Intrinsic::allocate, DType::I64, ci(record * portions));
    partials = intrinsic(ir::Intrinsic::data_of, DType::I64, owner);
  }
  // The owner and the address of a portion's array.
  auto each_array = [&](Val count, const std::function<void(size_t, Val, Val)>& body) {
    if (arrays.empty()) return;
    counted(count, [&](Val k) {
      Val from = add(partials, mul(k, ci(record)));
      for (size_t a = 0; a < arrays.size(); ++a)
        body(a, from, ci(arrays_at + static_cast<int64_t>(16 * a)));
    });
  };
  each_array(ci(portions), [&](size_t, Val from, Val offset) {
    write_at(DType::I64, ci(0), from, offset, ir::Space::Global);
  });

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
  const Val outer_raising = raising_to_, outer_return = return_to_;
  const size_t outer_base = std::exchange(finals_base_, finals_.size());
  auto outer_handling = std::exchange(handling_, {});
  loops_.clear();
  owning_.clear();
  temporaries_.clear();
  f_ = &body;
  b_ = &inner;
  portion_ = &p;
  Scope& scope = new_scope(nullptr, outer_scope->source,
                           outer_scope->prefix + "p" + std::to_string(n.line) + ".");
  scope.depth = 1;
  scope.definition = outer_scope->definition;
  scope_ = &scope;

  auto parameter = [&](DType t) {
    body.params.push_back(t);
    return inner.emit(Op::param, t, ir::kNone, ir::kNone, ir::kNone,
                      static_cast<int64_t>(body.params.size()) - 1);
  };
  Val low = parameter(DType::I64), high = parameter(DType::I64), first_in = parameter(DType::I64),
      step_in = parameter(DType::I64), grain_in = parameter(DType::I64),
      partials_in = parameter(DType::I64);
  status_ = new_variable(DType::I32);
  outermost_ = raising_to_ = return_to_ = begin_loop();
  std::set<std::string> flags;
  if (auto all = u_.uncertain_names.find(scope.definition); all != u_.uncertain_names.end())
    for (const std::string& name : all->second)
      if (p.own.contains(name)) flags.insert(name);
  for (auto& [name, op] : p.reductions) {
    Variable* v = nullptr;
    for (auto& [other, variable] : reduced)
      if (other == name) v = variable;
    // The type is that of the variable outside; what is found in here widens both.
    types_[scope.key(name)] = v->type;
    Value zero = from_scalar(*identity_of(op, v->type.dtype), v->type.dtype, v->type.weak);
    zero.type.least = v->type.least;  // it asks for no more digits
    assign_name(n, name, zero);
  }
  for (auto& [name, op] : arrays) {
    Value outside = *p.read(*this, name);
    Value mine = allocate(outside.type.dtype, outside.shape());
    DType t = outside.type.dtype;
    fill(n, mine, from_scalar(*identity_of(op, t), t, false));
    assign_name(n, name, mine);
  }
  // Lanes of the body take indices side by side.
  Val i = new_variable(DType::I64);
  set(i, add(low, intrinsic(ir::Intrinsic::lane_index, DType::I64)));
  Val beside = intrinsic(ir::Intrinsic::lane_count, DType::I64);
  Val loop = begin_loop();
  Val now = get(i);
  when(negate(less(now, high)), [&] { break_loop(loop); });
  make_flags(scope, flags);
  assign(target, integer(add(first_in, mul(now, step_in))));
  loop_body(n, {loop, true});
  loop_next(loop);
  set(i, add(get(i), beside));
  end_loop(loop);
  if (record) {
    Val offset = b_->emit(Op::floor_divide, DType::I64, low, grain_in);
    Val to = add(partials_in, mul(offset, ci(record)));
    for (size_t r = 0; r < reduced.size(); ++r) {
      Variable& v = scope.variables[reduced[r].first];
      Value sum = load_slots(v.type, v.slots);
      auto merged = [&](DType t, Val lanes) {
        return intrinsic(ir::Intrinsic::lane_merge, t, lanes, ir::kNone, ir::kNone,
                         ir::Space::Global, static_cast<int64_t>(merging(p.reductions[r].second)));
      };
      DType t = v.type.dtype;
      Val all;
      if (is_complex(t)) {  // a sum, part by part
        DType part = real_of(t);
        Val re = merged(part, b_->emit(Op::real_part, part, sum.v[0]));
        Val im = merged(part, b_->emit(Op::imag_part, part, sum.v[0]));
        all = b_->emit(Op::make_complex, t, re, im);
      } else {
        all = merged(t, sum.v[0]);
      }
      write_at(t, all, to, ci(at[r]), ir::Space::Global);
    }
    for (size_t a = 0; a < arrays.size(); ++a) {
      Variable& v = scope.variables[arrays[a].first];
      Value mine = load_slots(v.type, v.slots);
      retain(mine);
      Val where = ci(arrays_at + static_cast<int64_t>(16 * a));
      write_at(DType::I64, mine.v[1], to, where, ir::Space::Global);
      write_at(DType::I64, mine.v[0], to, add(where, ci(8)), ir::Space::Global);
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
  raising_to_ = outer_raising;
  return_to_ = outer_return;
  finals_base_ = outer_base;
  handling_ = std::move(outer_handling);
  portion_ = p.outer;
  for (size_t r = 0; r < reduced.size(); ++r) {
    Type inside = types_[scope.key(reduced[r].first)];
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
         each_array(ci(portions), [&](size_t, Val from, Val offset) {
           intrinsic(ir::Intrinsic::release, DType::I64,
                     read_at(DType::I64, from, offset, ir::Space::Global).v[0]);
         });
         if (owner != ir::kNone) intrinsic(ir::Intrinsic::release, DType::I64, owner);
         set(status_, bad);
         leave_function();
       });
  for (const std::string& name : p.own)
    if (Variable* v = find_variable(name)) v->of_iterations = true;
  if (!record) return;
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
      sum.type.least = v.type.least;  // merging asks for no more digits
      assign_name(n, reduced[r].first, sum);
    }
  });
  each_array(used, [&](size_t a, Val from, Val offset) {
    Value all = read_variable(n, arrays[a].first), part = all;
    part.type.order = Order::C;
    part.origin = 0;
    part.v[0] = read_at(DType::I64, from, add(offset, ci(8)), ir::Space::Global).v[0];
    part.v[1] = read_at(DType::I64, from, offset, ir::Space::Global).v[0];
    Val step = ci(itemsize(all.type.dtype));
    for (size_t d = all.type.ndim; d-- > 0;) {
      part.v[2 + all.type.ndim + d] = step;
      step = mul(step, all.shape()[d]);
    }
    // Each element is read where it is written: no copy is needed.
    Value sum = binary(n, merging(arrays[a].second), all, part);
    sum.origin = 0;
    fill(n, all, sum);
    intrinsic(ir::Intrinsic::release, DType::I64, part.v[1]);
  });
  intrinsic(ir::Intrinsic::release, DType::I64, owner);
}

}  // namespace numbus::frontend
