// Included by reduce_*.cpp inside their target pragma: reduction states in memory, in the numbers
// of the host. (Not a header of its own: it must see the pragma.)

namespace numbus {
namespace {

// The numbers of the host, as ops/reduction_bodies.h asks for them. Integers wrap around.
template <class T, bool is_complex>
struct Host {
  using Number = T;
  using Index = int64_t;
  using Bool = bool;
  using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                               std::type_identity<T>>::type;
  static constexpr bool complex = is_complex, floating = std::is_floating_point_v<T>;

  T zero() const { return T(0); }
  T one() const { return T(1); }
  T highest() const {
    return floating ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  T lowest() const {
    return floating ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  }
  int64_t index(int64_t n) const { return n; }
  T add(T x, T y) const { return static_cast<T>(Wrapping(x) + Wrapping(y)); }
  T sub(T x, T y) const { return static_cast<T>(Wrapping(x) - Wrapping(y)); }
  T mul(T x, T y) const {
    // A product of small numbers is one of int, which may overflow.
    using Wide = std::conditional_t<floating, T, std::common_type_t<Wrapping, unsigned>>;
    return static_cast<T>(Wide(Wrapping(x)) * Wide(Wrapping(y)));
  }
  T div(T x, T y) const { return static_cast<T>(x / y); }
  // Not 0 / 0 without elements: its flag would be taken for one of the program's.
  T mean(T sum, T n) const { return div(sum, static_cast<T>(n + static_cast<T>(n == 0))); }
  T part(T, T nb, T n) const { return mean(nb, n); }
  T minimum(T x, T y) const { return is_nan(x) || x <= y ? x : y; }
  T maximum(T x, T y) const { return is_nan(x) || x >= y ? x : y; }
  T any_of(T x, T y) const { return static_cast<T>(x || y); }
  T all_of(T x, T y) const { return static_cast<T>(x && y); }
  bool less(T x, T y) const { return x < y; }
  bool equal(T x, T y) const { return x == y; }
  bool is_nan(T x) const { return x != x; }
  bool index_less(int64_t x, int64_t y) const { return x < y; }
  bool either(bool x, bool y) const { return x | y; }
  bool both(bool x, bool y) const { return x & y; }
  bool negate(bool x) const { return !x; }
  T select(bool c, T x, T y) const { return c ? x : y; }
  int64_t select_index(bool c, int64_t x, int64_t y) const { return c ? x : y; }
};

// A state array: `width` values per field, one field after the other. A compact state is one of
// width 1 whose fields stand 8 bytes apart.
template <Reduction K, class M>
struct Lanes {
  using T = typename M::Number;
  using State = reductions::State<M>;
  static constexpr int kFields = reductions::number_fields<K>(M::complex);
  T* f[kFields];
  int64_t* index;

  Lanes(char* state, size_t field_bytes) {
    for (int k = 0; k < kFields; ++k) f[k] = reinterpret_cast<T*>(state + k * field_bytes);
    index = reinterpret_cast<int64_t*>(state + field_bytes);
  }
  State get(int i) const {
    State s{};
    for (int k = 0; k < kFields; ++k) s.f[k] = f[k][i];
    if constexpr (needs_position(K)) s.index = index[i];
    return s;
  }
  void put(int i, const State& s) const {
    for (int k = 0; k < kFields; ++k) f[k][i] = s.f[k];
    if constexpr (needs_position(K)) index[i] = s.index;
  }
};
constexpr size_t kCompactField = 8;

// Calls f.operator()<K, M>() for the reduction and the numbers of elements of type `in`.
template <class F>
void dispatch(Reduction kind, DType in, F&& f) {
  reductions::with(kind, [&]<Reduction K>() {
    auto call = [&]<class T, bool complex>() {
      // Truth values are bytes; moments are those of floats, positions those of real numbers.
      constexpr bool kTruth = row(K).types == reductions::Types::Truth;
      constexpr bool kSpread = row(K).types == reductions::Types::Spread;
      if constexpr ((!kTruth || std::is_same_v<T, uint8_t>) &&
                    (!kSpread || std::is_floating_point_v<T>) &&
                    (!complex || row(K).state == reductions::Fields::Parts))
        return f.template operator()<K, Host<T, complex>>();
      raise(ErrorKind::Runtime, "reduction: no state of " + std::string(reduction_name(K)) +
                                    " for " + std::string(name(in)));
    };
    switch (in) {
      case DType::Bool:
      case DType::U8: return call.template operator()<uint8_t, false>();
      case DType::I8: return call.template operator()<int8_t, false>();
      case DType::I16: return call.template operator()<int16_t, false>();
      case DType::I32: return call.template operator()<int32_t, false>();
      case DType::I64: return call.template operator()<int64_t, false>();
      case DType::U16: return call.template operator()<uint16_t, false>();
      case DType::U32: return call.template operator()<uint32_t, false>();
      case DType::U64: return call.template operator()<uint64_t, false>();
      case DType::F32: return call.template operator()<float, false>();
      case DType::F64: return call.template operator()<double, false>();
      case DType::C64: return call.template operator()<float, true>();
      case DType::C128: return call.template operator()<double, true>();
      default: raise(ErrorKind::Runtime, "reduction: no state for " + std::string(name(in)));
    }
  });
}

template <class T>
Scalar scalar_of(DType in, T re, T im) {
  if (is_complex(in)) return Scalar::from_complex(static_cast<double>(re), static_cast<double>(im));
  if (in == DType::Bool) return Scalar::from_bool(re != 0);
  if constexpr (std::is_floating_point_v<T>)
    return Scalar::from_float(static_cast<double>(re));
  else if constexpr (std::is_unsigned_v<T>)
    return Scalar::from_uint(re);
  else
    return Scalar::from_int(re);
}

void init_state(Reduction kind, DType in, char* state, int width) {
  dispatch(kind, in, [&]<Reduction K, class M>() {
    M m;
    Lanes<K, M> lanes(state, static_cast<size_t>(width) * sizeof(typename M::Number));
    const auto empty = reductions::init<K>(m);
    for (int i = 0; i < width; ++i) lanes.put(i, empty);
  });
}

// Merges lanes h, … of 2h lanes into lanes 0, …, in halves down to one. The extents are constants
// and the fields local, so that this, which ends every short row, becomes vector code.
template <int h, Reduction K, class M>
void merge_halves(M& m, typename M::Number (*f)[ir::kLanes]) {
  constexpr int kFields = Lanes<K, M>::kFields;
  auto at = [&](int i) {
    reductions::State<M> s{};
    for (int k = 0; k < kFields; ++k) s.f[k] = f[k][i];
    return s;
  };
  for (int i = 0; i < h; ++i) {
    const auto s = reductions::merge<K>(m, at(i), at(i + h));
    for (int k = 0; k < kFields; ++k) f[k][i] = s.f[k];
  }
  if constexpr (h > 1) merge_halves<h / 2, K>(m, f);
}

// The first index at which the extreme stands, which is what merging one by one would find: a loop
// over the numbers and one over the indices, since numbers and indices of different widths make
// poor vector code together.
template <Reduction K, class M>
void merge_positions(M& m, const Lanes<K, M>& lanes) {
  constexpr Reduction kExtreme = K == Reduction::ArgMin ? Reduction::Min : Reduction::Max;
  constexpr int kChains = 4;
  typename M::Number f[1][ir::kLanes];
  std::copy_n(lanes.f[0], ir::kLanes, f[0]);
  merge_halves<ir::kLanes / 2, kExtreme>(m, f);
  const auto extreme = f[0][0];
  const bool nan = m.is_nan(extreme);
  uint64_t first[kChains];
  std::fill_n(first, kChains, ~uint64_t{0});
  for (int i = 0; i < ir::kLanes; i += kChains)
    for (int j = 0; j < kChains; ++j) {
      const auto x = lanes.f[0][i + j];
      const bool here = m.either(m.equal(x, extreme), m.both(nan, m.is_nan(x)));
      // An index that does not count becomes the largest.
      first[j] =
          std::min(first[j], static_cast<uint64_t>(lanes.index[i + j]) | (uint64_t{here} - 1));
    }
  lanes.f[0][0] = extreme;
  lanes.index[0] = static_cast<int64_t>(*std::min_element(first, first + kChains));
}

// Merges all lanes into lane 0.
template <Reduction K, class M>
void merge_all(M& m, const Lanes<K, M>& lanes, int64_t row) {
  constexpr int kLanes = ir::kLanes;
  if constexpr (needs_position(K)) {
    merge_positions<K>(m, lanes);
  } else if (row <= ir::kShortRow && short_rows_in_order(K, M::complex)) {
    auto s = lanes.get(0);
    for (int i = 1; i < row; ++i) s = reductions::merge<K>(m, s, lanes.get(i));
    lanes.put(0, s);
  } else {
    typename M::Number f[Lanes<K, M>::kFields][kLanes];
    for (int k = 0; k < Lanes<K, M>::kFields; ++k) std::copy_n(lanes.f[k], kLanes, f[k]);
    merge_halves<kLanes / 2, K>(m, f);
    for (int k = 0; k < Lanes<K, M>::kFields; ++k) lanes.f[k][0] = f[k][0];
  }
}

// Steps the states of `lines` lines, side by side, with `count` elements each. Fields stand in
// arrays, as they do not become vector code, nor stay in registers, as parts of a state.
template <Reduction K, class M, int kWidth>
void step_lines(M& m, typename M::Number (*f)[kWidth], const typename M::Number* values,
                const char* where, int64_t lines, int64_t line, int64_t count, int64_t step) {
  using T = typename M::Number;
  constexpr int kFields = Lanes<K, M>::kFields;
  auto one = [&](reductions::State<M>& s, T value) {
    s = reductions::step<K>(m, s, {value, T()}, 0);
  };
  if (where) {
    for (int64_t e = 0; e < count; ++e)
      for (int64_t l = 0; l < lines; ++l) {
        if (!where[e * step + l * line]) continue;
        reductions::State<M> s{};
        for (int k = 0; k < kFields; ++k) s.f[k] = f[k][l];
        one(s, values[e * step + l * line]);
        for (int k = 0; k < kFields; ++k) f[k][l] = s.f[k];
      }
    return;
  }
  if (lines == 1) {
    reductions::State<M> s{};
    T held[kFields];
    for (int k = 0; k < kFields; ++k) held[k] = f[k][0];
    for (int64_t e = 0; e < count; ++e) {
      for (int k = 0; k < kFields; ++k) s.f[k] = held[k];
      one(s, values[e * step]);
      for (int k = 0; k < kFields; ++k) held[k] = s.f[k];
    }
    for (int k = 0; k < kFields; ++k) f[k][0] = held[k];
    return;
  }
  auto across = [&](auto distance) {
    for (int64_t e = 0; e < count; ++e) {
      const T* from = values + e * step;
      for (int64_t l = 0; l < lines; ++l) {
        reductions::State<M> s{};
        for (int k = 0; k < kFields; ++k) s.f[k] = f[k][l];
        one(s, from[l * distance]);
        for (int k = 0; k < kFields; ++k) f[k][l] = s.f[k];
      }
    }
  };
  if (line == 1)
    across(std::integral_constant<int64_t, 1>());
  else
    across(line);
}

// The states of up to kLanes lines.
template <Reduction K, class M>
void reduce_some(M& m, typename M::Number (*f)[ir::kLanes], int64_t first, int64_t lines,
                 const Lines& over) {
  constexpr int kFields = Lanes<K, M>::kFields, kLanes = ir::kLanes;
  const auto empty = reductions::init<K>(m);
  for (int k = 0; k < kFields; ++k) std::fill_n(f[k], kLanes, empty.f[k]);
  const auto* values = reinterpret_cast<const typename M::Number*>(over.values) + first * over.line;
  const char* where = over.where ? over.where + first * over.line : nullptr;
  const int64_t n = over.count;
  if (!over.in_lanes || (n <= ir::kShortRow && short_rows_in_order(K, false)))
    return step_lines<K>(m, f, values, where, lines, over.line, n, over.step);
  for (int64_t l = 0; l < lines; ++l) {
    alignas(64) typename M::Number lane[kFields][kLanes];
    for (int k = 0; k < kFields; ++k) std::fill_n(lane[k], kLanes, empty.f[k]);
    const int64_t full = n / kLanes, rest = n % kLanes, at = l * over.line,
                  after = at + full * kLanes * over.step;
    step_lines<K>(m, lane, values + at, where ? where + at : nullptr, kLanes, over.step, full,
                  kLanes * over.step);
    step_lines<K>(m, lane, values + after, where ? where + after : nullptr, rest, over.step, 1, 0);
    merge_halves<kLanes / 2, K>(m, lane);
    for (int k = 0; k < kFields; ++k) f[k][l] = lane[k][0];
  }
}

// The index of the first extreme.
template <Reduction K, class M>
int64_t place_in(M& m, const typename M::Number* line, int64_t n, int64_t step) {
  reductions::State<M> held{}, one{};
  held.f[0] = line[0];
  int64_t place = 0;
  for (int64_t i = 1; i < n; ++i) {
    one.f[0] = line[i * step];
    if (!reductions::replaces<K, true>(m, held, one)) continue;
    held.f[0] = one.f[0];
    place = i;
  }
  return place;
}

template <Reduction K, class M>
void store_result(M& m, const reductions::State<M>& s, DType in, double ddof, DType out, char* to) {
  if constexpr (needs_position(K)) {
    store_scalar(Scalar::from_int(s.index), out, to);
  } else {
    const auto r = reductions::finish<K>(m, s, static_cast<typename M::Number>(ddof));
    if (!M::complex && in == out && in != DType::Bool)
      std::memcpy(to, &r.re, sizeof r.re);
    else
      store_scalar(scalar_of(in, r.re, r.im), out, to);
    // Rounding to half floats sets no flag by itself.
    if (is_half(out) && std::isfinite(r.re) &&
        std::abs(static_cast<double>(r.re)) >= half_overflow(out))
      flags::raise(flags::Overflow);
  }
}

void merge_lanes(Reduction kind, DType in, char* state, int64_t row) {
  dispatch(kind, in, [&]<Reduction K, class M>() {
    M m;
    Lanes<K, M> lanes(state, ir::kLanes * sizeof(typename M::Number));
    merge_all<K>(m, lanes, row);
  });
}

template <Reduction K, class M>
void finish_row(DType in, char* state, int64_t row, double ddof, DType out, char* to) {
  M m;
  Lanes<K, M> lanes(state, ir::kLanes * sizeof(typename M::Number));
  merge_all<K>(m, lanes, row);
  store_result<K>(m, lanes.get(0), in, ddof, out, to);
}

FinishRow row_finisher(Reduction kind, DType in) {
  FinishRow f = nullptr;
  dispatch(kind, in, [&]<Reduction K, class M>() { f = finish_row<K, M>; });
  return f;
}

void reduce_lines(Reduction kind, DType in, const Lines& over, double ddof, DType out, char* to,
                  int64_t stride) {
  dispatch(kind, in, [&]<Reduction K, class M>() {
    if constexpr (!M::complex) {
      M m;
      reductions::State<M> s{};
      if constexpr (needs_position(K)) {
        const auto* values = reinterpret_cast<const typename M::Number*>(over.values);
        for (int64_t l = 0; l < over.lines; ++l) {
          s.index = place_in<K>(m, values + l * over.line, over.count, over.step);
          store_result<K>(m, s, in, ddof, out, to + l * stride);
        }
      } else {
        alignas(64) typename M::Number f[Lanes<K, M>::kFields][ir::kLanes];
        for (int64_t begin = 0; begin < over.lines; begin += ir::kLanes) {
          const int64_t lines = std::min<int64_t>(ir::kLanes, over.lines - begin);
          reduce_some<K>(m, f, begin, lines, over);
          for (int64_t l = 0; l < lines; ++l) {
            for (int k = 0; k < Lanes<K, M>::kFields; ++k) s.f[k] = f[k][l];
            store_result<K>(m, s, in, ddof, out, to + (begin + l) * stride);
          }
        }
      }
    }
  });
}

// Elements that stand apart, side by side.
template <class T>
const T* side_by_side(const T* from, int64_t step, int64_t n, T* block) {
  if (step == 1) return from;
  if (step == -1) {
    for (int64_t i = 0; i < n; ++i) block[i] = from[-i];
  } else {
    for (int64_t i = 0; i < n; ++i) block[i] = from[i * step];
  }
  return block;
}

// Lane i sums the products i, i + kLanes, …; a short row is summed in order. Steps of a sum are
// additions, and its empty state is that of the kernel, too.
void sum_of_products(DType in, const Factors& factors, char* to) {
  dispatch(Reduction::Sum, in, [&]<Reduction K, class M>() {
    if constexpr (K == Reduction::Sum && !M::complex) {
      using T = typename M::Number;
      constexpr int kLanes = ir::kLanes;
      constexpr int64_t kBlock = 16 * kLanes;
      M m;
      alignas(64) T lane[1][kLanes], left[kBlock], right[kBlock];
      reductions::State<M> s = reductions::init<K>(m);
      std::fill_n(lane[0], kLanes, s.f[0]);
      const int64_t n = factors.count;
      const auto *x = reinterpret_cast<const T*>(factors.x),
                 *y = reinterpret_cast<const T*>(factors.y);
      for (int64_t begin = 0; begin < n; begin += kBlock) {
        const int64_t some = std::min(kBlock, n - begin);
        const T* a = side_by_side(x + begin * factors.x_step, factors.x_step, some, left);
        const T* b = side_by_side(y + begin * factors.y_step, factors.y_step, some, right);
        if (n <= ir::kShortRow) {
          for (int64_t i = 0; i < n; ++i)
            s = reductions::step<K>(m, s, {m.mul(a[i], b[i]), T()}, 0);
          break;
        }
        int64_t i = 0;
        for (; i + kLanes <= some; i += kLanes)
          for (int l = 0; l < kLanes; ++l)
            lane[0][l] = m.add(lane[0][l], m.mul(a[i + l], b[i + l]));
        for (int l = 0; i + l < some; ++l)
          lane[0][l] = m.add(lane[0][l], m.mul(a[i + l], b[i + l]));
      }
      if (n > ir::kShortRow) {
        merge_halves<kLanes / 2, K>(m, lane);
        s.f[0] = lane[0][0];
      }
      std::memcpy(to, s.f, sizeof(T));
    }
  });
}

void merge_states(Reduction kind, DType in, char* into, const char* from) {
  dispatch(kind, in, [&]<Reduction K, class M>() {
    M m;
    Lanes<K, M> a(into, kCompactField), b(const_cast<char*>(from), kCompactField);
    a.put(0, reductions::merge<K>(m, a.get(0), b.get(0)));
  });
}

void merge_units(Reduction kind, DType in, char* states, int64_t units, size_t each) {
  for (int64_t gap = 1; gap < units; gap *= 2)
    for (int64_t u = 0; u + gap < units; u += 2 * gap)
      merge_states(kind, in, states + static_cast<size_t>(u) * each,
                   states + static_cast<size_t>(u + gap) * each);
}

void extract_state(Reduction kind, DType in, const char* state, int width, int i, char* to) {
  dispatch(kind, in, [&]<Reduction K, class M>() {
    Lanes<K, M> from(const_cast<char*>(state),
                     static_cast<size_t>(width) * sizeof(typename M::Number));
    Lanes<K, M>(to, kCompactField).put(0, from.get(i));
  });
}

void finish_state(Reduction kind, DType in, const char* state, double ddof, DType out, char* to) {
  dispatch(kind, in, [&]<Reduction K, class M>() {
    M m;
    const auto s = Lanes<K, M>(const_cast<char*>(state), kCompactField).get(0);
    store_result<K>(m, s, in, ddof, out, to);
  });
}

void finish_columns(Reduction kind, DType in, const char* state, int width, int64_t n, double ddof,
                    DType out, char* to, int64_t stride) {
  auto size = static_cast<size_t>(itemsize(out));
  const char* plain = nullptr;  // results that stand there as they are
  if (needs_position(kind) && out == DType::I64)
    plain = state + static_cast<size_t>(width) * itemsize(in);
  else if (!is_complex(in) && !needs_position(kind) && kind != Reduction::Var && in == out)
    plain = state;
  if (plain && stride == itemsize(out)) {
    std::memcpy(to, plain, static_cast<size_t>(n) * size);
  } else if (plain) {
    for (int64_t c = 0; c < n; ++c) std::memcpy(to + c * stride, plain + c * itemsize(out), size);
  } else if (kind == Reduction::Var && in == out) {
    dispatch(kind, in, [&]<Reduction K, class M>() {
      M m;
      using T = typename M::Number;
      Lanes<K, M> lanes(const_cast<char*>(state), static_cast<size_t>(width) * sizeof(T));
      for (int64_t c = 0; c < n; ++c) {
        const T r = reductions::finish<K>(m, lanes.get(static_cast<int>(c)), T(ddof)).re;
        std::memcpy(to + c * stride, &r, sizeof r);
      }
    });
  } else {
    char compact[kCompactBytes];
    for (int64_t c = 0; c < n; ++c) {
      extract_state(kind, in, state, width, static_cast<int>(c), compact);
      finish_state(kind, in, compact, ddof, out, to + c * stride);
    }
  }
}

}  // namespace
}  // namespace numbus

#include "lazy/extremes_body.h"
