// What loops run over besides arrays and tuples: all indices of an array, its elements in order,
// functions over sequences, and generators, whose code stands around the loop's body.
#include <algorithm>
#include <tuple>
#include <utility>

#include "frontend/portion.h"

namespace numbus::frontend {

Value Lower::array_of_range(const Value& range) {
  Value r = lazy(DType::I64, std::vector<Val>{length_of_range(range)},
                 [this, range](std::span<const Val> at) {
                   return integer(add(range.v[0], mul(at[0], range.v[2])));
                 });
  r.type.weak = true;
  return r;
}

namespace {

bool yields(const std::vector<Node>& body) {
  for (const Node& n : body) {
    if (n.kind == NodeKind::FunctionDef || n.kind == NodeKind::Lambda) continue;
    if (n.kind == NodeKind::Yield) return true;
    for (const auto& [field, nodes] : n.fields)
      if (yields(nodes)) return true;
  }
  return false;
}

}  // namespace

bool Lower::is_generator(const Node& definition) {
  return definition.kind != NodeKind::Lambda && yields(definition.all(Field::body));
}

namespace {

Value marked(const std::string& text, std::vector<Value> items) {
  Value r;
  r.type = Type::of(Type::Tag::Iterator);
  r.type.text = text;
  for (const Value& i : items) r.type.items.push_back(i.type);
  r.items = std::move(items);
  return r;
}

}  // namespace

// np.ndindex, np.ndenumerate, np.nditer and .flat.
Value Lower::indices_to_loop_over(const Call& c, const std::string& name) {
  const Node& n = c.n;
  if (name == "ndindex") {
    std::vector<Value> extents = c.args;
    if (extents.size() == 1 && extents[0].type.is(Type::Tag::Tuple)) {
      Value shape = extents[0];
      extents = shape.items;
    }
    for (Value& e : extents) e = integer(index_value(n, e));
    return marked("ndindex", std::move(extents));
  }
  expect(c, "np." + name, 1, 1);
  Value a = c.args[0];
  if (!a.type.is_array()) fail(n, "np." + name + " of " + frontend::name(a.type));
  return marked(name == "nditer" ? "flat" : name, {a.lazy ? materialise(n, a) : a});
}

// The indices of the element that a number in C order stands for.
std::vector<Val> Lower::unravelled(Val at, std::span<const Val> shape) {
  std::vector<Val> all(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    all[d] = d ? b_->emit(Op::remainder, DType::I64, at, shape[d]) : at;
    if (d) at = b_->emit(Op::floor_divide, DType::I64, at, shape[d]);
  }
  return all;
}

std::optional<Lower::Sequence> Lower::marked_sequence(const Node& at, const Value& v) {
  const std::string& text = v.type.text;
  auto tuple = [this](std::span<const Val> indices) {
    Value t;
    t.type = Type::of(Type::Tag::Tuple);
    for (Val p : indices) {
      t.items.push_back(integer(p));
      t.type.items.push_back(t.items.back().type);
    }
    return t;
  };
  if (text == "ndindex") {
    std::vector<Val> shape;
    Val count = ci(1);
    for (const Value& e : v.items) {
      shape.push_back(e.v[0]);
      count = mul(count, e.v[0]);
    }
    return Sequence{count, [this, shape, tuple](Val i) { return tuple(unravelled(i, shape)); }, {}};
  }
  if (text == "ndenumerate" || text == "flat") {
    Value a = v.items[0];
    bool pairs = text == "ndenumerate";
    return Sequence{size_of(a),
                    [this, a, pairs, tuple](Val i) {
                      std::vector<Val> indices = unravelled(i, a.shape());
                      Value e = element(a, indices);
                      if (!pairs) return e;
                      Value pair;
                      pair.items = {tuple(indices), e};
                      pair.type = Type::tuple_of({pair.items[0].type, e.type});
                      return pair;
                    },
                    {}};
  }
  if (text == "map") {
    std::vector<Sequence> all;
    Val count = ir::kNone;
    for (size_t k = 1; k < v.items.size(); ++k) {
      all.push_back(sequence(at, v.items[k]));
      count = k == 1 ? all[0].count : b_->emit(Op::minimum, DType::I64, count, all.back().count);
    }
    Value f = v.items[0];
    return Sequence{count,
                    [this, all, f, &at](Val i) {
                      Call c{at, {}, {}};
                      for (const Sequence& s : all) c.args.push_back(s.item(i));
                      return call_value(c, f);
                    },
                    least_now(all)};
  }
  return {};
}

Value Lower::element_of_flat(const Node& n, const Value& a, const Value& by) {
  Val i = wrapped(n, index_value(n, by), size_of(a), 0, array_node(n));
  return element(a, unravelled(i, a.shape()));
}

// `for v in g(…)`, where g yields: its body is built here, with the loop's at each yield.
bool Lower::generator_loop(const Node& n) {
  const Node& over = *n.one(Field::iter);
  if (over.kind != NodeKind::Call) return false;
  const Node& f = *over.one(Field::func);
  if (f.kind != NodeKind::Global && f.kind != NodeKind::Name) return false;
  Value callee = expression(f);
  if (!callee.type.is(Type::Tag::Function)) return false;
  const Node* definition = nullptr;
  const Source* source = scope_->source;
  Scope* outer = nullptr;
  if (callee.type.text == "function") {
    source = &u_.program.source(callee.type.number);
    definition = &source->definition;
  } else if (callee.type.text.starts_with("local ")) {
    std::tie(definition, outer) = local_functions_[callee.type.number];
    source = outer->source;
  }
  if (!definition || !is_generator(*definition)) return false;
  Call c{over, {}, {}};
  call_arguments(over, c);
  Generator g{&n,          scope_,     generator_,     {},          {}, ir::kNone,
              raising_to_, return_to_, finals_.size(), finals_base_};
  // One loop that break leaves.
  ++scope_->depth;
  g.all = begin_loop();
  Val ended = new_variable(DType::Bool);
  set(ended, b_->constant(DType::Bool, Scalar::from_bool(false)));
  g.on_return = on_return_;
  g.loops = loops_;
  generator_ = &g;
  expands_generator_ = true;
  call_inline(c, *definition, definition->text, outer, source);
  generator_ = g.outer;
  set(ended, b_->constant(DType::Bool, Scalar::from_bool(true)));
  break_loop(g.all);
  end_loop(g.all);
  const auto& orelse = n.all(Field::orelse);
  if (!orelse.empty()) when(get(ended), [&] { block(orelse); });
  --scope_->depth;
  return true;
}

void Lower::yield(const Node& n) {
  const Node* value = n.one(Field::value);
  Value v = value ? maybe_none(*value) : none();
  if (v.lazy) v = materialise(n, v);
  if (!generator_) return yield_from_here(n, v);
  Generator* g = generator_;
  if (raising_to_ != g->raising_to || finals_.size() != g->finals)
    not_yet(n, "yield in a try statement", "a list of what is yielded");
  // The loop's body sees the names, loops and returns of its own function.
  Scope* inside = std::exchange(scope_, g->scope);
  auto on_return = std::exchange(on_return_, g->on_return);
  auto loops = std::exchange(loops_, g->loops);
  const Val return_to = std::exchange(return_to_, g->return_to);
  const size_t finals_base = std::exchange(finals_base_, g->finals_base);
  generator_ = g->outer;
  Val iteration = begin_loop();
  assign(*g->loop->one(Field::target), v);
  loops_.push_back({g->all, true, iteration});
  block(g->loop->all(Field::body));
  break_loop(iteration);
  end_loop(iteration);
  generator_ = g;
  return_to_ = return_to;
  finals_base_ = finals_base;
  loops_ = std::move(loops);
  on_return_ = std::move(on_return);
  scope_ = inside;
}

}  // namespace numbus::frontend
