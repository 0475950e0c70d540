// The arithmetic of the reductions: init, step, merge and finish, each written once, over any kind
// of number.
//
// An algebra A says what numbers are: those of the host (lazy/reduce_body.h), steps of a kernel
// (ir/reduction_steps.h), values of generated code (compile/gpu_state.cpp). It has
//   Number, Index, Bool    their types
//   complex, floating      whether elements have two parts, whether they may be NaN
//   zero, one, highest, lowest (numbers); index(n); truth(b)
//   add, sub, mul, div, minimum, maximum, less, equal, is_nan (of numbers); index_less
//   part(na, nb, n)        nb / n, where n is na + nb
//   mean(sum, n)           sum / n of n elements; not used where there are none
//   either, both, negate (of Bools); any_of, all_of (of numbers that are truth values)
//   select(Bool, x, y)     for numbers; select_index for indices
// There are no branches, so that a loop over many states becomes vector code.
#pragma once

#include <limits>
#include <vector>

#include "ops/reductions.h"

namespace numbus::reductions {

// Bodies are small where they are used, and become vector code only where they are.
#define NUMBUS_INLINE [[gnu::always_inline]] inline

// One element, or one result: its real and imaginary part.
template <class A>
struct Element {
  typename A::Number re, im;
};

// Parts: f[0], of complex elements f[1] too. Place: f[0] and index, which is after all others
// before the first element. Moments: pivot, sum of distances from it, sum of their squares, count.
template <class A>
struct State {
  typename A::Number f[4];
  typename A::Index index;
};

// Calls f.operator()<K>() for a reduction known at run time.
template <class F>
decltype(auto) with(Reduction kind, F&& f) {
  switch (kind) {
#define REDUCTION(Name, name, types, state, start, doc) \
  case Reduction::Name: return f.template operator()<Reduction::Name>();
#include "ops/reductions.def"
#undef REDUCTION
  }
  __builtin_unreachable();
}

template <Reduction K>
constexpr int number_fields(bool complex) {
  if (row(K).state == Fields::Moments) return 4;
  return row(K).state == Fields::Parts && complex ? 2 : 1;
}

// The fields of a state in their order (reduction_fields), where numbers and indices are alike.
template <Reduction K, class A>
std::vector<typename A::Number*> fields(const A& m, State<A>& s) {
  std::vector<typename A::Number*> all;
  for (int k = 0; k < number_fields<K>(m.complex); ++k) all.push_back(&s.f[k]);
  if constexpr (needs_position(K)) all.push_back(&s.index);
  return all;
}

// x where `take` holds, else y.
template <Reduction K, class A>
NUMBUS_INLINE State<A> pick(A& m, typename A::Bool take, const State<A>& x, const State<A>& y) {
  State<A> s{};
  for (int k = 0; k < number_fields<K>(m.complex); ++k) s.f[k] = m.select(take, x.f[k], y.f[k]);
  if constexpr (needs_position(K)) s.index = m.select_index(take, x.index, y.index);
  return s;
}

// The state of no elements.
template <Reduction K, class A>
NUMBUS_INLINE State<A> init(A& m) {
  State<A> s{};
  for (int k = 0; k < number_fields<K>(m.complex); ++k) s.f[k] = m.zero();
  if constexpr (row(K).start == Start::one) s.f[0] = m.one();
  if constexpr (row(K).types == Types::Extreme || row(K).types == Types::Index)
    for (int k = 0; k < number_fields<K>(m.complex); ++k)
      s.f[k] = row(K).start == Start::highest ? m.highest() : m.lowest();
  if constexpr (needs_position(K)) s.index = m.index(std::numeric_limits<int64_t>::max());
  return s;
}

// Whether y replaces x as the extreme: the first NaN before all numbers, the first of equal ones,
// whatever the order in which they are met. In order, y is known to come after x.
template <Reduction K, bool in_order = false, class A>
NUMBUS_INLINE typename A::Bool replaces(A& m, const State<A>& x, const State<A>& y) {
  auto better = K == Reduction::ArgMin ? m.less(y.f[0], x.f[0]) : m.less(x.f[0], y.f[0]);
  if (m.floating) better = m.either(better, m.both(m.is_nan(y.f[0]), m.negate(m.is_nan(x.f[0]))));
  if constexpr (in_order) return better;
  auto same = m.equal(x.f[0], y.f[0]);
  if (m.floating) same = m.either(same, m.both(m.is_nan(x.f[0]), m.is_nan(y.f[0])));
  return m.either(better, m.both(same, m.index_less(y.index, x.index)));
}

// Moments around the mean, of some elements: the sum of distances from the pivot is 0.
template <class A>
NUMBUS_INLINE State<A> centred(A& m, const State<A>& s) {
  auto off = m.mean(s.f[1], s.f[3]);
  State<A> one{};
  one.f[0] = m.add(s.f[0], off);
  one.f[1] = m.zero();
  one.f[2] = m.sub(s.f[2], m.mul(s.f[1], off));
  one.f[3] = s.f[3];
  return one;
}

// Of centred moments, the pairwise update of Chan, Golub and LeVeque (1979).
template <class A>
NUMBUS_INLINE State<A> merge_centred(A& m, const State<A>& a, const State<A>& b) {
  auto na = a.f[3], nb = b.f[3], n = m.add(na, nb), share = m.part(na, nb, n);
  auto d = m.sub(b.f[0], a.f[0]);
  State<A> both{};
  both.f[0] = m.add(a.f[0], m.mul(d, share));
  both.f[1] = m.zero();
  both.f[2] = m.add(m.add(a.f[2], b.f[2]), m.mul(m.mul(d, d), m.mul(na, share)));
  both.f[3] = n;
  return both;
}

// A state as merge_settled() takes it, of the same elements: most merges of many then need one
// division in place of three.
template <Reduction K, class A>
NUMBUS_INLINE State<A> settle(A& m, const State<A>& s) {
  if constexpr (K == Reduction::Var)
    return pick<K>(m, m.equal(s.f[3], m.zero()), s, centred(m, s));
  else
    return s;
}

template <Reduction K, class A>
NUMBUS_INLINE State<A> merge(A& m, const State<A>& a, const State<A>& b);

// What merge() gives, bit by bit, of states that settle() gave or that were merged from such.
template <Reduction K, class A>
NUMBUS_INLINE State<A> merge_settled(A& m, const State<A>& a, const State<A>& b) {
  if constexpr (K == Reduction::Var)
    return pick<K>(m, m.equal(b.f[3], m.zero()), a,
                   pick<K>(m, m.equal(a.f[3], m.zero()), b, merge_centred(m, a, b)));
  else
    return merge<K>(m, a, b);
}

// The state of the elements of a and of b.
template <Reduction K, class A>
NUMBUS_INLINE State<A> merge(A& m, const State<A>& a, const State<A>& b) {
  State<A> s{};
  if constexpr (K == Reduction::Sum) {
    for (int k = 0; k < number_fields<K>(m.complex); ++k) s.f[k] = m.add(a.f[k], b.f[k]);
  } else if constexpr (K == Reduction::Prod) {
    s.f[0] = m.mul(a.f[0], b.f[0]);
    if (m.complex) {
      s.f[0] = m.sub(s.f[0], m.mul(a.f[1], b.f[1]));
      s.f[1] = m.add(m.mul(a.f[0], b.f[1]), m.mul(a.f[1], b.f[0]));
    }
  } else if constexpr (K == Reduction::Min || K == Reduction::Max) {
    constexpr bool kLeast = K == Reduction::Min;
    if (!m.complex) {
      s.f[0] = kLeast ? m.minimum(a.f[0], b.f[0]) : m.maximum(a.f[0], b.f[0]);
      return s;
    }
    // By the real parts, then by the imaginary ones; a NaN in either part goes before all numbers.
    auto an = m.either(m.is_nan(a.f[0]), m.is_nan(a.f[1]));
    auto bn = m.either(m.is_nan(b.f[0]), m.is_nan(b.f[1]));
    const State<A>&low = kLeast ? a : b, &high = kLeast ? b : a;
    auto order =
        m.either(m.less(low.f[0], high.f[0]),
                 m.both(m.equal(low.f[0], high.f[0]),
                        m.either(m.less(low.f[1], high.f[1]), m.equal(low.f[1], high.f[1]))));
    s = pick<K>(m, m.either(an, m.both(m.negate(bn), order)), a, b);
  } else if constexpr (K == Reduction::Any) {
    s.f[0] = m.any_of(a.f[0], b.f[0]);
  } else if constexpr (K == Reduction::All) {
    s.f[0] = m.all_of(a.f[0], b.f[0]);
  } else if constexpr (needs_position(K)) {
    s = pick<K>(m, replaces<K>(m, a, b), b, a);
  } else {
    static_assert(K == Reduction::Var);
    const State<A> both = merge_centred(m, centred(m, a), centred(m, b));
    s = pick<K>(m, m.equal(b.f[3], m.zero()), a, pick<K>(m, m.equal(a.f[3], m.zero()), b, both));
  }
  return s;
}

// The state after one more element. `at`: its index in NumPy's order, for argmin and argmax; in
// order, it comes after those of the state, which has one.
template <Reduction K, bool in_order = false, class A>
NUMBUS_INLINE State<A> step(A& m, const State<A>& s, Element<A> e, typename A::Index at) {
  State<A> one{};
  one.f[0] = e.re;
  if constexpr (K == Reduction::Var) {
    // The first element of each lane is its pivot, so that the squares do not cancel.
    auto pivot = m.select(m.equal(s.f[3], m.zero()), e.re, s.f[0]), d = m.sub(e.re, pivot);
    one.f[0] = pivot;
    one.f[1] = m.add(s.f[1], d);
    one.f[2] = m.add(s.f[2], m.mul(d, d));
    one.f[3] = m.add(s.f[3], m.one());
    return one;
  } else {
    if (m.complex) one.f[1] = e.im;
    one.index = at;
    if constexpr (in_order && needs_position(K))
      return pick<K>(m, replaces<K, true>(m, s, one), one, s);
    else
      return merge<K>(m, s, one);
  }
}

// The result, except that a Place's is its index.
template <Reduction K, class A>
NUMBUS_INLINE Element<A> finish(A& m, const State<A>& s, [[maybe_unused]] typename A::Number ddof) {
  Element<A> r{s.f[0], s.f[1]};
  if constexpr (K == Reduction::Var) {
    auto zero = m.zero(), count = s.f[3];
    auto off = m.mul(s.f[1], m.div(s.f[1], count));
    auto squares = m.sub(s.f[2], m.select(m.equal(count, zero), zero, off));
    squares = m.select(m.less(squares, zero), zero, squares);
    // Without degrees of freedom: as a division by zero.
    auto n = m.sub(count, ddof);
    r.re = m.div(squares, m.select(m.less(zero, n), n, zero));
  }
  return r;
}

#undef NUMBUS_INLINE

}  // namespace numbus::reductions
