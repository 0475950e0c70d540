// The reductions, each as one small template: init, step (as kernel IR), merge, finish.
#include "lazy/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "passes/expand.h"
#include "passes/expand_complex.h"

namespace numbus {
namespace {

template <class T>
T identity(Reduction kind) {
  switch (kind) {
    case Reduction::Prod: return T(1);
    case Reduction::Min:
    case Reduction::ArgMin:
      return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::max();
    case Reduction::Max:
    case Reduction::ArgMax:
      return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::lowest();
    case Reduction::All: return T(1);
    default: return T(0);
  }
}

// One lane's state in any field layout: pointers to its fields.
template <class T>
struct View {
  T* f[4];
  int64_t* index;
};

template <class T>
View<T> lane(char* state, int width, int i) {
  View<T> v;
  for (int k = 0; k < 4; ++k)
    v.f[k] = reinterpret_cast<T*>(state + static_cast<size_t>(k) * width * sizeof(T)) + i;
  v.index = reinterpret_cast<int64_t*>(state + static_cast<size_t>(width) * sizeof(T)) + i;
  return v;
}
template <class T>
View<T> compact(char* state) {
  View<T> v;
  for (int k = 0; k < 4; ++k) v.f[k] = reinterpret_cast<T*>(state + 8 * k);
  v.index = reinterpret_cast<int64_t*>(state + 8);
  return v;
}

template <class T>
bool is_nan(T x) {
  return x != x;
}

template <class T>
void merge(Reduction kind, bool complex, View<T> a, View<T> b) {
  switch (kind) {
    case Reduction::Sum:
      *a.f[0] += *b.f[0];
      if (complex) *a.f[1] += *b.f[1];
      break;
    case Reduction::Prod:
      if (complex) {
        T re = *a.f[0] * *b.f[0] - *a.f[1] * *b.f[1];
        *a.f[1] = *a.f[0] * *b.f[1] + *a.f[1] * *b.f[0];
        *a.f[0] = re;
      } else {
        *a.f[0] *= *b.f[0];
      }
      break;
    case Reduction::Min:
    case Reduction::Max:
      if (complex) {  // lexicographic, NaN first
        bool an = is_nan(*a.f[0]) || is_nan(*a.f[1]), bn = is_nan(*b.f[0]) || is_nan(*b.f[1]);
        bool less = *a.f[0] < *b.f[0] || (*a.f[0] == *b.f[0] && *a.f[1] <= *b.f[1]);
        bool more = *a.f[0] > *b.f[0] || (*a.f[0] == *b.f[0] && *a.f[1] >= *b.f[1]);
        if (an || (!bn && (kind == Reduction::Min ? less : more))) break;
        *a.f[0] = *b.f[0];
        *a.f[1] = *b.f[1];
        break;
      }
      *a.f[0] =
          is_nan(*a.f[0]) || (kind == Reduction::Min ? *a.f[0] <= *b.f[0] : *a.f[0] >= *b.f[0])
              ? *a.f[0]
              : *b.f[0];
      break;
    case Reduction::Any: *a.f[0] = *a.f[0] || *b.f[0]; break;
    case Reduction::All: *a.f[0] = *a.f[0] && *b.f[0]; break;
    case Reduction::ArgMin:
    case Reduction::ArgMax: {
      if (*b.index < 0) break;
      T x = *a.f[0], y = *b.f[0];
      bool better = kind == Reduction::ArgMin ? y < x : y > x;
      bool take = *a.index < 0 || (is_nan(y) && !is_nan(x)) || (!is_nan(x) && better) ||
                  ((x == y || (is_nan(x) && is_nan(y))) && *b.index < *a.index);
      if (!take) break;
      *a.f[0] = y;
      *a.index = *b.index;
      break;
    }
    case Reduction::Var: {
      // Fields: pivot, sum of x - pivot, sum of its squares, count. Chan, Golub and LeVeque's
      // pairwise update.
      T nb = *b.f[3], na = *a.f[3];
      if (nb == 0) break;
      if (na == 0) {
        for (int k = 0; k < 4; ++k) *a.f[k] = *b.f[k];
        break;
      }
      auto mean = [](View<T> v) { return *v.f[0] + *v.f[1] / *v.f[3]; };
      auto m2 = [](View<T> v) { return *v.f[2] - *v.f[1] * (*v.f[1] / *v.f[3]); };
      T ma = mean(a), d = mean(b) - ma, n = na + nb;
      T total = m2(a) + m2(b) + d * d * (na * (nb / n));
      *a.f[0] = ma + d * (nb / n);
      *a.f[1] = 0;
      *a.f[2] = total;
      *a.f[3] = n;
      break;
    }
  }
}

// Without degrees of freedom: as a division by zero.
template <class T>
T variance(View<T> v, double ddof) {
  T m2 = *v.f[2] - (*v.f[3] == 0 ? T(0) : *v.f[1] * (*v.f[1] / *v.f[3]));
  if (m2 < 0) m2 = 0;
  T n = *v.f[3] - static_cast<T>(ddof);
  if (n > 0) return m2 / n;
  return m2 > 0 ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
}

template <class F>
auto dispatch(DType in, F&& f) {
  switch (in) {
    case DType::Bool:
    case DType::U8: return f(uint8_t());
    case DType::I8: return f(int8_t());
    case DType::I16: return f(int16_t());
    case DType::I32: return f(int32_t());
    case DType::I64: return f(int64_t());
    case DType::U16: return f(uint16_t());
    case DType::U32: return f(uint32_t());
    case DType::U64: return f(uint64_t());
    case DType::F32:
    case DType::C64: return f(float());
    case DType::F64:
    case DType::C128: return f(double());
    default: raise(ErrorKind::Runtime, "reduction: no state for " + std::string(name(in)));
  }
}

}  // namespace

std::vector<DType> reduction_fields(Reduction kind, DType in) {
  DType r = real_of(in);
  if (needs_position(kind)) return {r, DType::I64};
  if (kind == Reduction::Var) return {r, r, r, r};
  if (is_complex(in)) return {r, r};
  return {r};
}

void emit_reduction_step(ir::Builder& b, Reduction kind, int field, ir::Val value,
                         ir::Val predicate, ir::Val position) {
  DType t = b.type(value), r = real_of(t);
  auto get = [&](int k) {
    return b.emit(Op::acc_load, b.kernel().acc_fields[field + k], ir::kNone, ir::kNone, ir::kNone,
                  field + k);
  };
  auto put = [&](int k, ir::Val v) {
    b.emit(Op::acc_store, b.type(v), v, predicate, ir::kNone, field + k);
  };
  auto real = [&](Op op, ir::Val x, ir::Val y) { return b.emit(op, r, x, y); };
  switch (kind) {
    case Reduction::Sum:
      if (is_complex(t)) {
        put(0, real(Op::add, get(0), real_part(b, value)));
        put(1, real(Op::add, get(1), imag_part(b, value)));
      } else {
        put(0, real(Op::add, get(0), value));
      }
      break;
    case Reduction::Prod:
      if (is_complex(t)) {
        ir::Val p = expand(b, Op::multiply, make_complex(b, get(0), get(1)), value);
        put(0, real_part(b, p));
        put(1, imag_part(b, p));
      } else {
        put(0, real(Op::multiply, get(0), value));
      }
      break;
    case Reduction::Min:
    case Reduction::Max: {
      Op op = kind == Reduction::Min ? Op::minimum : Op::maximum;
      if (is_complex(t)) {
        ir::Val m = expand(b, op, make_complex(b, get(0), get(1)), value);
        put(0, real_part(b, m));
        put(1, imag_part(b, m));
      } else {
        put(0, real(op, get(0), value));
      }
      break;
    }
    case Reduction::Any: put(0, b.emit(Op::logical_or, DType::Bool, get(0), value)); break;
    case Reduction::All: put(0, b.emit(Op::logical_and, DType::Bool, get(0), value)); break;
    case Reduction::ArgMin:
    case Reduction::ArgMax: {
      ir::Val x = get(0), i = get(1);
      auto test = [&](Op op, ir::Val p, ir::Val q) { return b.emit(op, DType::Bool, p, q); };
      ir::Val zero = b.constant(DType::I64, Scalar::from_int(0));
      ir::Val take = test(kind == Reduction::ArgMin ? Op::less : Op::greater, value, x);
      // Equal values, and NaNs among themselves: the one NumPy meets first, whatever the order of
      // the walk.
      ir::Val same = test(Op::equal, value, x);
      if (is_float(t)) {
        ir::Val nan = test(Op::not_equal, value, value), old_nan = test(Op::not_equal, x, x);
        take = test(Op::logical_or, take,
                    test(Op::logical_and, nan, b.emit(Op::logical_not, DType::Bool, old_nan)));
        same = test(Op::logical_or, same, test(Op::logical_and, nan, old_nan));
      }
      take = test(Op::logical_or, take, test(Op::logical_and, same, test(Op::less, position, i)));
      take = test(Op::logical_or, take, test(Op::less, i, zero));
      put(0, b.emit(Op::select, r, take, value, x));
      put(1, b.emit(Op::select, DType::I64, take, position, i));
      break;
    }
    case Reduction::Var: {
      // The first element of each lane is its pivot, so that the squares do not cancel.
      ir::Val n = get(3), zero = b.constant(r, Scalar::from_int(0)),
              one = b.constant(r, Scalar::from_int(1));
      ir::Val pivot = b.emit(Op::select, r, b.emit(Op::equal, DType::Bool, n, zero), value, get(0));
      ir::Val d = real(Op::subtract, value, pivot);
      put(0, pivot);
      put(1, real(Op::add, get(1), d));
      put(2, real(Op::add, get(2), real(Op::multiply, d, d)));
      put(3, real(Op::add, n, one));
      break;
    }
  }
}

void init_state(Reduction kind, DType in, char* state, int width) {
  dispatch(in, [&](auto zero) {
    using T = decltype(zero);
    std::memset(state, 0,
                static_cast<size_t>(width) * sizeof(T) *
                    (needs_position(kind) ? 1 : reduction_fields(kind, in).size()));
    View<T> first = lane<T>(state, width, 0);
    if (kind != Reduction::Var && kind != Reduction::Sum)
      std::fill_n(first.f[0], width, identity<T>(kind));
    if (is_complex(in) && (kind == Reduction::Min || kind == Reduction::Max))
      std::fill_n(first.f[1], width, identity<T>(kind));
    if (needs_position(kind)) std::fill_n(first.index, width, -1);
  });
}

// The first place of the extreme, or of the first NaN, among lanes that have met something; into
// lane 0. Several short chains without branches: this ends every short row.
template <class T>
void merge_positions(bool least, char* state, int width) {
  constexpr int kChains = 4;
  auto* value = reinterpret_cast<T*>(state);
  auto* place = reinterpret_cast<int64_t*>(state + static_cast<size_t>(width) * sizeof(T));
  // Lanes that have met nothing hold the identity and -1, the largest place without a sign.
  T extreme[kChains];
  bool nan = false;
  auto scan = [&](auto better) {
    for (int j = 0; j < kChains; ++j) extreme[j] = value[j];
    for (int i = 0; i < width; i += kChains)
      for (int j = 0; j < kChains; ++j) {
        extreme[j] = better(value[i + j], extreme[j]) ? value[i + j] : extreme[j];
        if constexpr (std::is_floating_point_v<T>) nan |= is_nan(value[i + j]);
      }
    for (int j = 1; j < kChains; ++j)
      extreme[0] = better(extreme[j], extreme[0]) ? extreme[j] : extreme[0];
  };
  least ? scan([](T a, T b) { return a < b; }) : scan([](T a, T b) { return a > b; });
  uint64_t first[kChains];
  std::fill_n(first, kChains, ~uint64_t{0});
  auto find = [&](auto here) {
    for (int i = 0; i < width; i += kChains)
      for (int j = 0; j < kChains; ++j) {
        // A place that does not count becomes the largest.
        auto at = static_cast<uint64_t>(place[i + j]) | (uint64_t{here(value[i + j])} - 1);
        first[j] = std::min(first[j], at);
      }
  };
  nan ? find([](T x) { return is_nan(x); }) : find([&](T x) { return x == extreme[0]; });
  if constexpr (std::is_floating_point_v<T>)
    if (nan) extreme[0] = std::numeric_limits<T>::quiet_NaN();
  value[0] = extreme[0];
  place[0] = static_cast<int64_t>(*std::min_element(first, first + kChains));
}

// merge() of variances for all lanes of a half at once, without branches: this, too, ends every
// short row. The bits are those of merge().
template <class T>
void merge_variances(char* state, int width) {
  auto* pivot = reinterpret_cast<T*>(state);
  T *sum = pivot + width, *squares = sum + width, *count = squares + width;
  for (int h = width / 2; h >= 1; h /= 2) {
    for (int i = 0; i < h; ++i) {
      T na = count[i], nb = count[i + h], n = na + nb;
      T ta = sum[i] / na, tb = sum[i + h] / nb, share = nb / n;
      T ma = pivot[i] + ta, d = pivot[i + h] + tb - ma;
      T total =
          squares[i] - sum[i] * ta + (squares[i + h] - sum[i + h] * tb) + d * d * (na * share);
      // Of a lane that has met nothing the other's state stays as it is.
      bool all = na != 0 && nb != 0, other = na == 0 && nb != 0;
      pivot[i] = all ? ma + d * share : other ? pivot[i + h] : pivot[i];
      sum[i] = all ? T(0) : other ? sum[i + h] : sum[i];
      squares[i] = all ? total : other ? squares[i + h] : squares[i];
      count[i] = all ? n : other ? nb : na;
    }
  }
}

void merge_lanes(Reduction kind, DType in, char* state, int width) {
  dispatch(in, [&](auto zero) {
    using T = decltype(zero);
    auto* field = reinterpret_cast<T*>(state);
    // Plain loops for the commonest ones.
    auto halves = [&](auto f) {
      for (int h = width / 2; h >= 1; h /= 2)
        for (int i = 0; i < h; ++i) field[i] = f(field[i], field[i + h]);
    };
    if (!is_complex(in) && kind == Reduction::Sum)
      return halves([](T a, T b) { return static_cast<T>(a + b); });
    if (!is_complex(in) && kind == Reduction::Prod)
      return halves([](T a, T b) { return static_cast<T>(a * b); });
    if (kind == Reduction::Any) return halves([](T a, T b) { return static_cast<T>(a || b); });
    if (kind == Reduction::All) return halves([](T a, T b) { return static_cast<T>(a && b); });
    if (!is_complex(in) && kind == Reduction::Min)
      return halves([](T a, T b) { return is_nan(a) || a <= b ? a : b; });
    if (!is_complex(in) && kind == Reduction::Max)
      return halves([](T a, T b) { return is_nan(a) || a >= b ? a : b; });
    if constexpr (std::is_floating_point_v<T>)
      if (kind == Reduction::Var && !is_complex(in)) return merge_variances<T>(state, width);
    if (needs_position(kind)) return merge_positions<T>(kind == Reduction::ArgMin, state, width);
    for (int h = width / 2; h >= 1; h /= 2)
      for (int i = 0; i < h; ++i)
        merge<T>(kind, is_complex(in), lane<T>(state, width, i), lane<T>(state, width, i + h));
  });
}

void merge_states(Reduction kind, DType in, char* into, const char* from) {
  dispatch(in, [&](auto zero) {
    using T = decltype(zero);
    merge<T>(kind, is_complex(in), compact<T>(into), compact<T>(const_cast<char*>(from)));
  });
}

void extract_state(Reduction kind, DType in, const char* state, int width, int i, char* to) {
  dispatch(in, [&](auto zero) {
    using T = decltype(zero);
    View<T> v = lane<T>(const_cast<char*>(state), width, i), c = compact<T>(to);
    if (needs_position(kind)) {
      *c.f[0] = *v.f[0];
      *c.index = *v.index;
      return;
    }
    for (size_t k = 0; k < reduction_fields(kind, in).size(); ++k) *c.f[k] = *v.f[k];
  });
}

void finish_state(Reduction kind, DType in, const char* state, double ddof, DType out, char* to) {
  dispatch(in, [&](auto zero) {
    using T = decltype(zero);
    View<T> v = compact<T>(const_cast<char*>(state));
    Scalar s;
    if (needs_position(kind)) {
      s = Scalar::from_int(*v.index);
    } else if (kind == Reduction::Var) {
      s = Scalar::from_float(variance(v, ddof));
    } else if (is_complex(in)) {
      s = Scalar::from_complex(static_cast<double>(*v.f[0]), static_cast<double>(*v.f[1]));
    } else if (in == DType::Bool) {
      s = Scalar::from_bool(*v.f[0] != 0);
    } else if constexpr (std::is_floating_point_v<T>) {
      s = Scalar::from_float(*v.f[0]);
    } else if constexpr (std::is_unsigned_v<T>) {
      s = Scalar::from_uint(*v.f[0]);
    } else {
      s = Scalar::from_int(*v.f[0]);
    }
    store_scalar(s, out, to);
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
    dispatch(in, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t c = 0; c < n; ++c) {
        T r = variance(lane<T>(const_cast<char*>(state), width, static_cast<int>(c)), ddof);
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

std::string_view reduction_name(Reduction kind) {
  static constexpr std::string_view kNames[] = {"sum", "prod",   "min",    "max", "any",
                                                "all", "argmin", "argmax", "var"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace numbus
