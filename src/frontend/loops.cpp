// Loops: over ranges, arrays, tuples, zip and enumerate; while.
#include <algorithm>

#include "frontend/portion.h"

namespace numbus::frontend {

namespace {

bool reads(const Node& n, const std::string& name) {
  if (n.kind == NodeKind::Name && n.text == name) return true;
  for (const auto& [field, nodes] : n.fields)
    for (const Node& i : nodes)
      if (reads(i, name)) return true;
  return false;
}

// Whether a target of an assignment is a name that the expression reads.
bool renews(const Node& target, const Node& read) {
  if (target.kind == NodeKind::Name) return reads(read, target.text);
  return std::ranges::any_of(target.all(Field::elts),
                             [&](const Node& t) { return renews(t, read); });
}

// Whether a break or continue in these statements means the loop around them.
bool leaves(const std::vector<Node>& body) {
  for (const Node& n : body) {
    if (n.kind == NodeKind::Break || n.kind == NodeKind::Continue) return true;
    bool loop = n.kind == NodeKind::For || n.kind == NodeKind::While;
    const bool part = n.kind == NodeKind::If || n.kind == NodeKind::Try;
    if ((part || n.kind == NodeKind::ExceptHandler) && leaves(n.all(Field::body))) return true;
    if (leaves(n.all(Field::handlers)) || leaves(n.all(Field::finalbody))) return true;
    if ((part || loop) && leaves(n.all(Field::orelse))) return true;
  }
  return false;
}

}  // namespace

// The statements that a loop repeats; says whether a break among them leaves it.
bool Lower::loop_body(const Node& n, const Loop& loop) {
  loops_.push_back(loop);
  block(n.all(Field::body));
  bool broken = loops_.back().broken;
  loops_.pop_back();
  return broken;
}

// What runs after a loop that no break has left; says whether nothing comes to its end.
bool Lower::loop_else(const Node& n, Val ended) {
  if (ended == ir::kNone) return false;
  bool ends = false;
  when(get(ended), [&] { ends = block(n.all(Field::orelse)); });
  return ends;
}

bool renews(const std::vector<Node>& body, const Node& read) {
  for (const Node& n : body) {
    for (Field f : {Field::target, Field::targets})
      for (const Node& t : n.all(f))
        if (renews(t, read)) return true;
    for (const auto& [field, nodes] : n.fields)
      if (renews(nodes, read)) return true;
  }
  return false;
}

bool Lower::while_loop(const Node& n) {
  ++scope_->depth;
  forget_renewed(n);
  const auto& orelse = n.all(Field::orelse);
  Val ended = orelse.empty() ? ir::kNone : new_variable(DType::Bool);
  if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(false)));
  Val loop = begin_loop();
  size_t keep = temporaries_.size();
  Value test = Lower::test(*n.one(Field::test));
  bool forever = test.known && test.type.is_number() && test.known->real() != 0;
  Val go_on = truth(n, test);
  forget_temporaries(keep);
  if (!forever)
    when(negate(go_on), [&] {
      if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(true)));
      break_loop(loop);
    });
  const auto before = scope_->present;
  narrow(*n.one(Field::test), true);
  bool broken = loop_body(n, {loop, true});
  end_loop(loop);
  scope_->present = before;
  if (!broken) narrow(*n.one(Field::test), false);
  bool ends = loop_else(n, ended);
  --scope_->depth;
  return (ends || forever) && !broken;
}

void Lower::counted(Val count, const std::function<void(Val)>& body) {
  counted({count, {}, {}}, body);
}

void Lower::counted(const Sequence& over, const std::function<void(Val)>& body, int64_t mark) {
  Val i = new_variable(DType::I64);
  set(i, ci(0));
  Val loop = begin_loop(mark);
  Val at = get(i);
  when(negate(less(at, over.now ? over.now() : over.count)), [&] { break_loop(loop); });
  body(at);
  loop_next(loop);
  set(i, add(get(i), ci(1)));
  end_loop(loop);
}

// Whether a range goes on at this number: downward, where the step is negative.
Val Lower::comes_before(Val at, Val stop, Val step) {
  if (auto by = constant_of(step)) return *by > 0 ? less(at, stop) : less(stop, at);
  return b_->emit(Op::select, DType::Bool, less(ci(0), step), less(at, stop), less(stop, at));
}

Val Lower::length_of_range(const Value& range) {
  Val step = range.v[2], span = sub(range.v[1], range.v[0]);
  auto by = constant_of(step);
  if (by == 1) return b_->emit(Op::maximum, DType::I64, span, ci(0));
  Val one = by ? ci(*by > 0 ? 1 : -1)
               : b_->emit(Op::select, DType::I64, less(ci(0), step), ci(1), ci(-1));
  // The quotient of the last number's distance, as the stop plus a step may not fit into 64 bits.
  Val last = b_->emit(Op::floor_divide, DType::I64, sub(span, one), step);
  Val any = comes_before(range.v[0], range.v[1], step);
  return b_->emit(Op::select, DType::I64, any, add(last, ci(1)), ci(0));
}

// How many items all of them have in this iteration, where the length of one may change.
std::function<Val()> Lower::least_now(const std::vector<Sequence>& all) {
  if (std::ranges::none_of(all, [](const Sequence& s) { return s.now != nullptr; })) return {};
  return [this, all] {
    Val count = ir::kNone;
    for (const Sequence& s : all) {
      Val n = s.now ? s.now() : s.count;
      count = count == ir::kNone ? n : b_->emit(Op::minimum, DType::I64, count, n);
    }
    return count;
  };
}

Lower::Sequence Lower::sequence(const Node& at, const Value& v) {
  if (v.type.is(Type::Tag::Range)) {
    return {length_of_range(v),
            [this, range = v](Val i) { return integer(add(range.v[0], mul(i, range.v[2]))); }};
  }
  if (v.type.is(Type::Tag::List)) {
    return {list_length(v), [this, list = v](Val i) { return read_item(list, i); },
            [this, list = v] { return list_length(list); }};
  }
  if (v.type.is(Type::Tag::Dict) || is_dict_view(v)) return dict_sequence(at, v);
  if (v.type.is_text()) {
    const Value s = string_of(at, v);
    return {string_length(s), [this, s](Val i) { return part_of_string(s, i, add(i, ci(1))); }, {}};
  }
  if (v.type.is_array()) {
    if (v.type.ndim == 0) fail(at, "a 0-d array has no elements to loop over");
    Value a = v.lazy ? materialise(at, v) : v;
    return {a.shape()[0], [this, a, &at](Val i) {
              if (a.type.ndim == 1) return element(a, std::vector<Val>{i});
              return index(at, a, integer(i));
            }};
  }
  if (v.type.is(Type::Tag::Iterator) && v.type.text == "enumerate") {
    Sequence inner = sequence(at, v.items[0]);
    Value start = v.items[1];
    return {inner.count,
            [this, inner, start, &at](Val i) {
              Value pair;
              Value number = binary(at, Op::add, start, integer(i));
              pair.items = {number, inner.item(i)};
              pair.type = Type::tuple_of({number.type, pair.items[1].type});
              return pair;
            },
            inner.now};
  }
  if (v.type.is(Type::Tag::Iterator) && v.type.text == "zip") {
    std::vector<Sequence> all;
    Val count = ir::kNone;
    for (const Value& s : v.items) {
      all.push_back(sequence(at, s));
      count = count == ir::kNone ? all.back().count
                                 : b_->emit(Op::minimum, DType::I64, count, all.back().count);
    }
    return {count,
            [all](Val i) {
              Value tuple;
              tuple.type = Type::of(Type::Tag::Tuple);
              for (const Sequence& s : all) {
                tuple.items.push_back(s.item(i));
                tuple.type.items.push_back(tuple.items.back().type);
              }
              return tuple;
            },
            least_now(all)};
  }
  if (is_records(v) && v.type.text == "records") {
    return {shape_of_records(v)[0],
            [this, all = v, &at](Val i) { return index_records(at, all, integer(i)); }};
  }
  if (v.type.is(Type::Tag::Iterator))
    if (auto all = marked_sequence(at, v)) return *all;
  if (v.type.is(Type::Tag::Tuple)) {
    return {ci(static_cast<int64_t>(v.items.size())),
            [this, t = v, &at](Val i) { return index_tuple(at, t, integer(i)); }};
  }
  fail(at, "cannot loop over " + name(v.type), "range, an array, a list, a tuple, zip, enumerate");
}

bool Lower::for_loop(const Node& n) {
  forget_renewed(n);
  const auto before = scope_->present;
  const bool ends = for_loop_over(n);
  scope_->present = before;
  return ends;
}

bool Lower::for_loop_over(const Node& n) {
  if (generator_loop(n)) return false;
  const Node& over = *n.one(Field::iter);
  Value what = some(over, maybe_none(over), "'NoneType' object is not iterable");
  if (what.unknown()) return false;
  if (renews(n.all(Field::body), over)) hold(what);
  if (what.type.is(Type::Tag::Tuple) && what.type.text.empty()) return unrolled_loop(n, what);
  ++scope_->depth;
  bool ends = false;
  if (what.type.is(Type::Tag::Generator)) {
    ends = loop_over_generator(n, what);
  } else if (what.type.is(Type::Tag::Range)) {
    if (what.type.text == "prange" && u_.options.parallel && !u_.options.kernel && !portion_)
      parallel_loop(n, what);
    else
      ends = range_loop(n, what);
  } else {
    const bool filtered = what.type.is(Type::Tag::Iterator) && what.type.text == "filter";
    Sequence all = sequence(over, filtered ? Value(what.items[1]) : what);
    const auto& orelse = n.all(Field::orelse);
    Val ended = orelse.empty() ? ir::kNone : new_variable(DType::Bool);
    if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(false)));
    Val i = new_variable(DType::I64);
    set(i, ci(0));
    Val loop = begin_loop();
    Val at = get(i);
    when(negate(less(at, all.now ? all.now() : all.count)), [&] {
      if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(true)));
      break_loop(loop);
    });
    const auto held = static_cast<std::ptrdiff_t>(temporaries_.size());
    const Value item = all.item(at);
    // What was made for this item, and not before the loop, is handed over.
    auto made_here = [&](size_t o, const std::vector<Val>& words) {
      const auto begin = temporaries_.begin() + held;
      return std::find_if(begin, temporaries_.end(), [&](const Temporary& t) {
               return t.owner == words[o];
             }) != temporaries_.end();
    };
    if (filtered && !item.unknown()) {
      const Value passes = call_value({over, {item}, {}}, what.items[0]);
      if (!passes.unknown())
        when(negate(truth(over, passes)), [&] { b_->emit(Op::continue_loop, DType::I64, loop); });
    }
    bool fresh = !item.unknown() && !item.lazy;
    if (fresh)
      for (const std::vector<Val> words = flatten(item); size_t o : owners(item.type))
        fresh = fresh && made_here(o, words);
    assign(*n.one(Field::target), item, fresh);
    bool broken = loop_body(n, {loop, true});
    loop_next(loop);
    set(i, add(get(i), ci(1)));
    end_loop(loop);
    ends = loop_else(n, ended) && !broken;
  }
  --scope_->depth;
  return ends;
}

// Tuples may hold values of several types: their loops are unrolled.
bool Lower::unrolled_loop(const Node& n, const Value& items) {
  const auto &body = n.all(Field::body), &orelse = n.all(Field::orelse);
  if (!leaves(body)) {
    // Names have one type in a loop over a list, whether or not the list acts as a tuple.
    bool alike = items.type.listed && scope_->source && scope_->source->kind != Source::Registered;
    for (const Type& t : items.type.items) alike = alike && t == items.type.items[0];
    bool ends = false;
    scope_->depth += alike;
    for (const Value& item : items.items) {
      assign(*n.one(Field::target), item);
      loops_.push_back({ir::kNone, false});
      ends = block(body);
      loops_.pop_back();
      if (ends) break;
    }
    scope_->depth -= alike;
    return ends || block(orelse);
  }
  // One loop that break leaves, and one for each item, which continue leaves; all run once.
  ++scope_->depth;
  bool broken = false;
  Val all = begin_loop();
  for (const Value& item : items.items) {
    Val iteration = begin_loop();
    assign(*n.one(Field::target), item);
    broken |= loop_body(n, {all, true, iteration});
    break_loop(iteration);
    end_loop(iteration);
  }
  bool ends = block(orelse);
  break_loop(all);
  end_loop(all);
  --scope_->depth;
  return ends && !broken;
}

// What a loop adds to its last number has to fit into 64 bits, too. Where the stop is a constant,
// this gives the stop up to which it does, and elsewhere it raises before the loop.
Val Lower::stop_of_range(const Node& n, const Value& range) {
  constexpr auto kMost = std::numeric_limits<int64_t>::max(), kLeast = -kMost - 1;
  Val start = range.v[0], stop = range.v[1], step = range.v[2];
  const auto by = constant_of(step), end = constant_of(stop);
  if (by == 1 || by == -1) return stop;
  if (by && end)
    return ci(*by > 0 ? std::min(*end, kMost - *by + 1) : std::max(*end, kLeast - *by - 1));
  // Whether the step leads beyond the end from a number.
  auto above = [&](Val number) { return less(sub(ci(kMost), step), number); };
  auto below = [&](Val number) { return less(number, sub(ci(kLeast), step)); };
  auto beyond = [&](Val up, Val down) {
    if (by) return *by > 0 ? above(up) : below(down);
    return b_->emit(Op::select, DType::Bool, less(ci(0), step), above(up), below(down));
  };
  when(beyond(sub(stop, ci(1)), add(stop, ci(1))), [&] {
    Val count = length_of_range(range), last = add(start, mul(sub(count, ci(1)), step));
    // The distance of start and stop may not fit either.
    Val rises = less(start, stop), distance = sub(stop, start);
    Val far = both(comes_before(start, stop, step),
                   b_->emit(Op::not_equal, DType::Bool, rises, less(ci(0), distance)));
    Val leaves = both(less(ci(0), count), beyond(last, last));
    when(b_->emit(Op::logical_or, DType::Bool, far, leaves), [&] { raise_far_range(n); });
  });
  return stop;
}

void Lower::raise_far_range(const Node& n) {
  raise_at(site(n, "OverflowError",
                "not yet in compiled functions: a loop over a range whose last number comes "
                "within a step of the end of 64 bits"));
}

bool Lower::range_loop(const Node& n, const Value& range) {
  Val start = range.v[0], stop = stop_of_range(n, range), step = range.v[2];
  const auto& orelse = n.all(Field::orelse);
  Val ended = orelse.empty() ? ir::kNone : new_variable(DType::Bool);
  if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(false)));
  Val i = new_variable(DType::I64);
  set(i, start);
  Val loop = begin_loop();
  Val at = get(i);
  when(negate(comes_before(at, stop, step)), [&] {
    if (stop != range.v[1]) when(comes_before(at, range.v[1], step), [&] { raise_far_range(n); });
    if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(true)));
    break_loop(loop);
  });
  assign(*n.one(Field::target), integer(at));
  bool broken = loop_body(n, {loop, true});
  loop_next(loop);
  set(i, add(get(i), step));
  end_loop(loop);
  return loop_else(n, ended) && !broken;
}

}  // namespace numbus::frontend
