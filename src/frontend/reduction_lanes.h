// Reductions in functions, in the order in which array calls on a host add up
// (docs/design/decisions.md, "Every reduction has one order"): elements are numbered in row-major
// order of their strides, 16,384 of them are a unit, an element belongs to the lane of its number
// modulo 32, lanes merge by halves and units in pairs, like the carries of a binary counter.
#pragma once

#include "frontend/lower.h"
#include "ir/reduction_steps.h"

namespace numbus::frontend {

// What a reduction goes over: extents, outermost first, and the elements.
struct Lower::Walk {
  std::vector<Val> extents;
  std::function<Value(std::span<const Val> at)> element;
  std::vector<Val> weights;  // of NumPy's index of an element; empty: it is the element's number
};

template <numbus::Reduction K>
struct Lower::ReductionLanes {
  using Steps = ir::ReductionSteps;
  using State = reductions::State<Steps>;
  using Parts = std::function<reductions::Element<Steps>(const Value&)>;

  Lower& l;
  Steps& m;
  const Walk& walk;
  const Parts& parts;            // of an element, in the loop's type
  const std::vector<Val>& held;  // variables: the state of all elements, in the end
  std::vector<DType> types;      // of the fields of a state
  bool whole_rounds = true;      // a loop of its own for as many elements as there are lanes
  Val lanes = ir::kNone, units = ir::kNone;  // states in the thread's memory, field by field

  static constexpr int64_t kLevels = 50;  // of pairs of units: 2**63 elements have no more

  ReductionLanes(Lower& lower, Steps& steps, DType loop, const Walk& over, const Parts& parts_of,
                 const std::vector<Val>& variables)
      : l(lower),
        m(steps),
        walk(over),
        parts(parts_of),
        held(variables),
        types(reduction_fields(K, loop)) {}

  void run(bool rounds) {
    whole_rounds = rounds;
    lanes = memory(ir::kLanes);
    units = memory(kLevels);
    Val total = l.ci(1);
    for (Val e : walk.extents) total = l.mul(total, e);
    Val first = counter(), done = counter();  // elements, units
    std::vector<Val> index;                   // of the next element
    for (size_t d = 0; d < walk.extents.size(); ++d) index.push_back(counter());
    Val loop = l.begin_loop();
    l.counted(l.ci(ir::kLanes), [&](Val lane) { write(lanes, ir::kLanes, lane, empty()); });
    Val count =
        l.b_->emit(Op::minimum, DType::I64, l.sub(total, l.get(first)), l.ci(ir::kUnitPoints));
    unit(index, l.get(first), count);
    merge_lanes(count);
    put(read(lanes, ir::kLanes, l.ci(0)));
    l.set(first, l.add(l.get(first), count));
    l.when(l.negate(l.less(l.get(first), total)), [&] { l.break_loop(loop); });
    carry(l.get(done));
    l.loop_next(loop);
    l.set(done, l.add(l.get(done), l.ci(1)));
    l.end_loop(loop);
    // The last unit, and before it the pairs without an equal, from the smallest on.
    levels(l.get(done), [&](Val level, Val rest, Val) {
      l.when(odd(rest),
             [&] { put(reductions::merge<K>(m, read(units, kLevels, level), state())); });
    });
  }

  // The same, one element after the other; few: of a short row.
  void one_by_one(bool few) {
    State s = empty();
    const bool in_order = walk.weights.empty();
    if constexpr (needs_position(K))
      if (in_order) {
        const std::vector<Val> origin(walk.extents.size(), l.ci(0));
        s.f[0] = parts(walk.element(origin)).re;
        s.index = l.ci(0);
      }
    put(s);
    Val number = needs_position(K) ? counter() : ir::kNone;
    l.each(
        walk.extents,
        [&](std::span<const Val> at) {
          Val where = needs_position(K) ? position(at, l.get(number)) : ir::kNone;
          const auto e = parts(walk.element(at));
          put(in_order ? reductions::step<K, true>(m, state(), e, where)
                       : reductions::step<K>(m, state(), e, where));
          if (needs_position(K)) l.set(number, l.add(l.get(number), l.ci(1)));
        },
        few ? ir::kRare : 0);
  }

  State state() {
    State s{};
    const auto fields = reductions::fields<K>(m, s);
    for (size_t k = 0; k < fields.size(); ++k) *fields[k] = l.get(held[k]);
    return s;
  }
  void put(State s) {
    const auto fields = reductions::fields<K>(m, s);
    for (size_t k = 0; k < fields.size(); ++k) l.set(held[k], *fields[k]);
  }
  State empty() { return reductions::init<K>(m); }
  // NumPy's index of the element at `at`, whose number is known.
  Val position(std::span<const Val> at, Val number) {
    if (!needs_position(K)) return ir::kNone;
    if (walk.weights.empty()) return number;
    Val p = l.ci(0);
    for (size_t d = 0; d < at.size(); ++d) p = l.add(p, l.mul(at[d], walk.weights[d]));
    return p;
  }

 private:
  Val counter() {
    Val v = l.new_variable(DType::I64);
    l.set(v, l.ci(0));
    return v;
  }
  Val odd(Val v) {
    Val bit = l.b_->emit(Op::bitwise_and, DType::I64, v, l.ci(1));
    return l.b_->emit(Op::equal, DType::Bool, bit, l.ci(1));
  }
  Val half(Val v) { return l.b_->emit(Op::right_shift, DType::I64, v, l.ci(1)); }

  Val memory(int64_t count) {
    int64_t bytes = 0;
    for (DType t : types) bytes += count * itemsize(t);
    return l.intrinsic(ir::Intrinsic::local_memory, DType::I64, l.ci(0), ir::kNone, ir::kNone,
                       ir::Space::Local, bytes);
  }
  // Of field k of state `at`; each field has `count` values side by side.
  Val offset(size_t k, int64_t count, Val at) {
    int64_t before = 0;
    for (size_t j = 0; j < k; ++j) before += count * itemsize(types[j]);
    return l.add(l.mul(at, l.ci(itemsize(types[k]))), l.ci(before));
  }
  State read(Val from, int64_t count, Val at) {
    State s{};
    const auto fields = reductions::fields<K>(m, s);
    for (size_t k = 0; k < fields.size(); ++k)
      *fields[k] = l.read_at(types[k], from, offset(k, count, at), ir::Space::Local).v[0];
    return s;
  }
  void write(Val to, int64_t count, Val at, State s) {
    const auto fields = reductions::fields<K>(m, s);
    for (size_t k = 0; k < fields.size(); ++k)
      l.write_at(types[k], *fields[k], to, offset(k, count, at), ir::Space::Local);
  }

  // The loop over the bits of n, from the lowest on, while any is left.
  void levels(Val n, const std::function<void(Val level, Val rest, Val loop)>& body) {
    Val rest = counter(), level = counter();
    l.set(rest, n);
    Val loop = l.begin_loop(ir::kRare);
    l.when(l.negate(l.less(l.ci(0), l.get(rest))), [&] { l.break_loop(loop); });
    body(l.get(level), l.get(rest), loop);
    l.loop_next(loop);
    l.set(rest, half(l.get(rest)));
    l.set(level, l.add(l.get(level), l.ci(1)));
    l.end_loop(loop);
  }

  // By halves, of a unit of `count` elements.
  void merge_lanes(Val count) {
    auto halve = [&](Val h, Val pairs, int64_t mark) {
      l.counted(
          Sequence{pairs, {}, {}},
          [&](Val lane) {
            State a = read(lanes, ir::kLanes, lane), b = read(lanes, ir::kLanes, l.add(lane, h));
            write(lanes, ir::kLanes, lane, reductions::merge<K>(m, a, b));
          },
          mark);
    };
    if constexpr (row(K).state == reductions::Fields::Parts) {
      for (int64_t h = ir::kLanes / 2; h > 0; h /= 2) halve(l.ci(h), l.ci(h), 0);
      return;
    }
    // Long code that is worth writing once; lanes without an element change nothing.
    auto least = [&](Val x, Val y) { return l.b_->emit(Op::minimum, DType::I64, x, y); };
    Val h = counter(), live = counter();
    l.set(h, l.ci(ir::kLanes / 2));
    l.set(live, least(count, l.ci(ir::kLanes)));
    Val loop = l.begin_loop(ir::kRare);
    Val now = l.get(h);
    l.when(l.negate(l.less(l.ci(0), now)), [&] { l.break_loop(loop); });
    halve(now, least(l.sub(l.get(live), now), now), ir::kRare);
    l.set(live, least(l.get(live), now));
    l.loop_next(loop);
    l.set(h, half(l.get(h)));
    l.end_loop(loop);
  }

  // Unit `number` is done: it and its equals before it become one, and the result is kept.
  void carry(Val number) {
    Val level = counter();
    levels(number, [&](Val at, Val rest, Val loop) {
      l.when(l.negate(odd(rest)), [&] { l.break_loop(loop); });
      put(reductions::merge<K>(m, read(units, kLevels, at), state()));
      l.set(level, l.add(at, l.ci(1)));
    });
    write(units, kLevels, l.get(level), state());
  }

  void step(std::span<const Val> at, Val number, Val lane) {
    State s = read(lanes, ir::kLanes, lane);
    s = reductions::step<K>(m, s, parts(walk.element(at)), position(at, number));
    write(lanes, ir::kLanes, lane, s);
  }

  // The elements from number `first` on, of which `index` is the first, into the lanes.
  void unit(const std::vector<Val>& index, Val first, Val count) {
    if (index.size() == 1 && whole_rounds) {
      segment(index, first, l.ci(0), count);
      l.set(index[0], l.add(first, count));
      return;
    }
    Val done = counter();
    Val loop = l.begin_loop();
    l.when(l.negate(l.less(l.get(done), count)), [&] { l.break_loop(loop); });
    Val row = l.sub(walk.extents.back(), l.get(index.back()));
    Val most = l.b_->emit(Op::minimum, DType::I64, l.sub(count, l.get(done)), row);
    Val taken = segment(index, l.add(first, l.get(done)), l.get(done), most);
    l.set(done, l.add(l.get(done), taken));
    advance(index, index.size() - 1, taken);
    l.loop_next(loop);
    l.end_loop(loop);
  }

  void advance(const std::vector<Val>& index, size_t d, Val by) {
    Val next = l.add(l.get(index[d]), by);
    l.set(index[d], next);
    if (d == 0) return;
    l.when(l.b_->emit(Op::equal, DType::Bool, next, walk.extents[d]), [&] {
      l.set(index[d], l.ci(0));
      advance(index, d - 1, l.ci(1));
    });
  }

  // Elements side by side, `done` of the unit being before them: whole rounds of lanes at a time
  // where they begin with lane 0, else up to the last lane. How many these are.
  Val segment(const std::vector<Val>& index, Val number, Val done, Val most) {
    Val lane = l.b_->emit(Op::bitwise_and, DType::I64, done, l.ci(ir::kLanes - 1));
    if (l.constant_of(done) == 0) lane = l.ci(0);
    std::vector<Val> at;
    for (Val i : index) at.push_back(l.get(i));
    const Val column = at.back();
    auto element = [&](Val k, Val of) {
      at.back() = l.add(column, k);
      step(at, l.add(number, k), of);
    };
    static_assert(ir::kLanes == 1 << 5);
    Val begins = l.b_->emit(Op::equal, DType::Bool, lane, l.ci(0));
    if (!whole_rounds) begins = l.b_->constant(DType::Bool, Scalar::from_bool(false));
    Val rounds = l.b_->emit(Op::right_shift, DType::I64, most, l.ci(5)), taken = most;
    if (!whole_rounds || l.constant_of(lane) != 0) {
      Val room = l.b_->emit(Op::minimum, DType::I64, most, l.sub(l.ci(ir::kLanes), lane));
      rounds = l.b_->emit(Op::select, DType::I64, begins, rounds, l.ci(0));
      taken = l.b_->emit(Op::select, DType::I64, begins, most, room);
    }
    Val done_now = l.ci(0);
    if (whole_rounds) {
      l.counted(rounds, [&](Val round) {
        Val base = l.mul(round, l.ci(ir::kLanes));
        l.counted(
            Sequence{l.ci(ir::kLanes), {}, {}}, [&](Val k) { element(l.add(base, k), k); },
            ir::kLaneLoop);
      });
      done_now = l.mul(rounds, l.ci(ir::kLanes));
    }
    l.counted(
        Sequence{l.sub(taken, done_now), {}, {}},
        [&](Val k) { element(l.add(done_now, k), l.add(lane, k)); }, ir::kRare);
    return taken;
  }
};

}  // namespace numbus::frontend
