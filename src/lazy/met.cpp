// Lines of reductions, scans and products, computed again for the sake of their flags.
#include "lazy/met.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/float_flags.h"
#include "lazy/calls.h"
#include "lazy/examine.h"
#include "vendor/fft.h"

namespace numbus::float_errors {
namespace {

// So many elements of lines are computed again at least, and at most; between, a part of all.
constexpr int64_t kLeastLook = int64_t{1} << 16, kMostLook = int64_t{1} << 22;
constexpr int64_t kPart = 64;
// NumPy is asked about products of at most so many multiplications.
constexpr int64_t kMostAsked = int64_t{1} << 18;

// A line of elements; of complex ones, both parts lie side by side.
struct Line {
  DType type;
  const char* at;
  int64_t stride;
  int64_t count;
  bool closest = true;  // whether no other axis has its elements closer to each other
};

DType part_of(DType t) { return t == DType::C128 ? DType::F64 : t == DType::C64 ? DType::F32 : t; }

template <class T>
struct Cell {
  T re = 0, im = 0;
};

// An element of any type as T computes with it.
template <class T>
Cell<T> read(DType type, const char* at) {
  const Scalar s = load_scalar(type, at);
  if (s.kind == Kind::Complex) return {static_cast<T>(s.f[0]), static_cast<T>(s.f[1])};
  return {static_cast<T>(s.real()), 0};
}

// The logarithm of the sum of exponentials, by comparisons that NaNs are told of in, as NumPy's.
template <class T>
void add_exponents(T& x, T y) {
  const T difference = x - y;
  if (x == y)
    x += static_cast<T>(0.6931471805599453);
  else if (difference > 0)
    x += std::log1p(std::exp(-difference));
  else if (difference <= 0)
    x = y + std::log1p(std::exp(difference));
  else
    x = difference;
}

template <class T>
void apply(Op op, bool complex, Cell<T>& x, const Cell<T>& y) {
  switch (op) {
    case Op::add:
      x.re += y.re;
      if (complex) x.im += y.im;
      return;
    case Op::subtract:
      x.re -= y.re;
      if (complex) x.im -= y.im;
      return;
    case Op::divide: x.re /= y.re; return;
    case Op::logaddexp: return add_exponents(x.re, y.re);
    default: break;
  }
  if (!complex) {
    x.re *= y.re;
    return;
  }
  const T re = x.re * y.re - x.im * y.im;
  x.im = x.re * y.im + x.im * y.re;
  x.re = re;
}

template <class T>
bool has_ended(const Cell<T>& x, bool complex) {
  return std::isnan(x.re) && (!complex || std::isnan(x.im));
}

// Nothing of what stands before and after it is moved across it by the compiler.
inline void fence() { asm volatile("" : : : "memory"); }

// The flags of f, whose result is kept where the compiler cannot leave it out.
template <class F>
unsigned flags_of(F&& f) {
  flags::clear();
  fence();
  f();
  fence();
  const unsigned met = flags::raised();
  flags::clear();
  return met;
}

bool can_apply(Op op, DType type) {
  return op == Op::add || op == Op::subtract || op == Op::multiply ||
         ((op == Op::divide || op == Op::logaddexp) && !is_complex(type));
}

// Results of half floats are rounded once.
template <class T>
void round_half(DType type, const Cell<T>& x) {
  if (is_half(type) && std::isfinite(x.re) && std::fabs(x.re) >= T(half_overflow(type)))
    flags::raise(flags::Overflow);
}

// Of a line folded from its first element on.
template <class T>
unsigned fold_in(Op op, DType type, const Line& l, bool rounds_each) {
  const bool complex = is_complex(type);
  [[maybe_unused]] static thread_local volatile T kept;
  return flags_of([&] {
    Cell<T> x = read<T>(l.type, l.at);
    for (int64_t k = 1; k < l.count; ++k) {
      if (has_ended(x, complex) && op != Op::logaddexp) break;
      apply(op, complex, x, read<T>(l.type, l.at + k * l.stride));
      if (rounds_each && is_half(type)) {
        round_half(type, x);
        x.re = static_cast<T>(rounded_to_half(type, static_cast<float>(x.re)));
      }
    }
    round_half(type, x);
    kept = x.re;
    kept = x.im;
  });
}

// The sum of n elements in NumPy's order, on which it depends what meets what: blocks of at most
// 128 numbers have eight sums (four of complex numbers), longer lines are halved. `at` gives an
// element.
template <class T, class At>
Cell<T> pairwise(bool complex, int64_t from, int64_t n, const At& at) {
  const int64_t lanes = complex ? 4 : 8;
  Cell<T> sum;
  auto add = [&](Cell<T>& to, const Cell<T>& x) { apply(Op::add, complex, to, x); };
  if (n < lanes) {
    for (int64_t k = 0; k < n; ++k) add(sum, at(from + k));
    return sum;
  }
  if (n > 16 * lanes) {
    const int64_t half = complex ? (n - n % 8) / 2 : n / 2 - n / 2 % 8;
    sum = pairwise<T>(complex, from, half, at);
    add(sum, pairwise<T>(complex, from + half, n - half, at));
    return sum;
  }
  Cell<T> r[8];
  const int64_t whole = n - n % lanes;
  for (int64_t k = 0; k < lanes; ++k) r[k] = at(from + k);
  for (int64_t k = lanes; k < whole; ++k) add(r[k % lanes], at(from + k));
  for (int64_t step = 1; step < lanes; step *= 2)
    for (int64_t k = 0; k < lanes; k += 2 * step) add(r[k], r[k + step]);
  for (int64_t k = whole; k < n; ++k) add(r[0], at(from + k));
  return r[0];
}

// As many elements are cast at once.
constexpr int64_t kBuffer = 8192;

// The sum of a line as NumPy makes it: of the axis whose elements lie closest to each other as
// above, of others one element after the other.
template <class T, class At>
Cell<T> sum_of(bool complex, const Line& l, bool casts, const At& at) {
  Cell<T> sum;
  const int64_t part = !l.closest ? 1 : casts ? kBuffer : l.count;
  for (int64_t k = 0; k < l.count; k += part)
    apply(Op::add, complex, sum, pairwise<T>(complex, k, std::min(part, l.count - k), at));
  return sum;
}

template <class T>
unsigned met_by_sum(DType type, const Line& l) {
  const bool complex = is_complex(type);
  [[maybe_unused]] static thread_local volatile T kept;
  return flags_of([&] {
    const Cell<T> sum = sum_of<T>(complex, l, l.type != type,
                                  [&](int64_t k) { return read<T>(l.type, l.at + k * l.stride); });
    round_half(type, sum);
    kept = sum.re;
    kept = sum.im;
  });
}

unsigned fold(Op op, DType type, const Line& l, bool rounds_each) {
  const unsigned met = part_of(type) == DType::F64 ? fold_in<double>(op, type, l, false)
                                                   : fold_in<float>(op, type, l, rounds_each);
  return met;
}

template <class T>
unsigned dot_in(DType type, const Line& x, const Line& y) {
  const bool complex = is_complex(type);
  [[maybe_unused]] static thread_local volatile T kept;
  return flags_of([&] {
    Cell<T> sum;
    for (int64_t k = 0; k < x.count; ++k) {
      Cell<T> term = read<T>(x.type, x.at + k * x.stride);
      apply(Op::multiply, complex, term, read<T>(y.type, y.at + k * y.stride));
      kept = term.re;
      kept = term.im;
      apply(Op::add, complex, sum, term);
    }
    kept = sum.re;
    kept = sum.im;
  });
}

unsigned dot(DType type, const Line& x, const Line& y) {
  return part_of(type) == DType::F64 ? dot_in<double>(type, x, y) : dot_in<float>(type, x, y);
}

// Of a variance: of the sum, the mean, the differences, their squares and the sum of these.
struct MetByVar {
  unsigned sum = 0, mean = 0, difference = 0, square = 0, total = 0;
};

// complex: the line is that of one part of complex numbers, whose sums are divided as such; other:
// that of the other part.
template <class T>
MetByVar var_in(DType type, const Line& l, bool complex, const Line* other) {
  [[maybe_unused]] static thread_local volatile T kept;
  MetByVar met;
  auto at = [&](int64_t k) { return read<T>(l.type, l.at + k * l.stride); };
  T sum = 0;
  met.sum = flags_of([&] {
    sum = sum_of<T>(complex, l, l.type != type, at).re;
    round_half(type, Cell<T>{sum, 0});
    kept = sum;
  });
  if (is_half(type)) sum = rounded_to_half(type, static_cast<float>(sum));
  // NumPy multiplies the other part by zero.
  if (complex && std::isinf(sum)) met.mean = flags::Invalid;
  T mean = sum / static_cast<T>(l.count);
  if (other)
    mean += 0 * sum_of<T>(true, *other, false, [&](int64_t k) {
                  return read<T>(other->type, other->at + k * other->stride);
                }).re;
  if (is_half(type)) mean = rounded_to_half(type, static_cast<float>(mean));
  met.difference = flags_of([&] {
    for (int64_t k = 0; k < l.count; ++k) {
      const T d = at(k).re - mean;
      round_half(type, Cell<T>{d, 0});
      kept = d;
    }
  });
  met.square = flags_of([&] {
                 for (int64_t k = 0; k < l.count; ++k) {
                   const T d = at(k).re - mean, square = d * d;
                   round_half(type, Cell<T>{square, 0});
                   kept = square;
                 }
               }) &
               ~met.difference;
  met.total = flags_of([&] {
                const T total = sum_of<T>(false, l, false, [&](int64_t k) {
                                  const T d = at(k).re - mean;
                                  return Cell<T>{d * d, 0};
                                }).re;
                round_half(type, Cell<T>{total, 0});
                kept = total;
              }) &
              ~(met.difference | met.square);
  return met;
}

bool is_special(DType type, const char* at) { return any_special({type, at, true}, 1); }

class Search {
 public:
  Search(const Instr& i, std::vector<Finding>& found) : i_(i), found_(found) {}

  void reduction(const ViewRef& from, const ViewRef* where, const ViewRef& out) {
    // Variances have states of a wider type than NumPy computes in.
    const bool var = i_.reduction == Reduction::Var;
    const DType type = var || is_half(out.dtype) ? out.dtype : i_.loop;
    const Op op = i_.reduction == Reduction::Prod ? Op::multiply : Op::add;
    // The axes of a line, the first of which is walked in `line`; the others one after the other.
    const Layout& l = *from.layout;
    int along = -1, closest = -1;
    int64_t elements = 1;
    for (int d = 0; d < l.ndim(); ++d) {
      if (l.shape(d) > 1 && (closest < 0 || std::abs(l.stride(d)) < std::abs(l.stride(closest))))
        closest = d;
      if (!(i_.axes >> d & 1)) continue;
      elements *= l.shape(d);
      if (along < 0 || l.shape(d) > l.shape(along)) along = d;
    }
    if (elements == 0) return;
    set_work(l.size());
    unsigned met = 0;
    MetByVar of_var;
    each_result(out, from, where, [&](const char* first, const char* takes) {
      // Lines of several axes are taken together, in the order of their memory.
      std::vector<char> together;
      Line line{from.dtype, first, along < 0 ? 0 : l.stride(along), elements,
                closest < 0 || (i_.axes >> closest & 1)};
      if (where || (along >= 0 && l.shape(along) != elements)) {
        together = collected(l, first, where ? where->layout : nullptr, takes, elements);
        line.at = together.data();
        line.stride = l.itemsize();
        line.count = std::ssize(together) / l.itemsize();
        if (line.count == 0) return;
      }
      if (var) {
        const bool imaginary = i_.told_as == std::data(kOfImaginary);
        const bool complex = imaginary || i_.told_as == std::data(kOfReal);
        Line part = line;
        part.at += imaginary ? -l.itemsize() : l.itemsize();
        const Line* other =
            complex && together.empty() && line.stride >= 2 * l.itemsize() ? &part : nullptr;
        const MetByVar more = part_of(type) == DType::F64
                                  ? var_in<double>(type, line, complex, other)
                                  : var_in<float>(type, line, complex, other);
        of_var.sum |= more.sum;
        of_var.mean |= more.mean;
        of_var.difference |= more.difference;
        of_var.square |= more.square;
        of_var.total |= more.total;
      } else if (op == Op::add) {
        met |= part_of(type) == DType::F64 ? met_by_sum<double>(type, line)
                                           : met_by_sum<float>(type, line);
      } else {
        met |= fold(op, type, line, false);
      }
    });
    add("reduce", met | of_var.sum | of_var.total);
    add("divide", of_var.mean);
    add("subtract", of_var.difference);
    add("square", of_var.square);
  }

  void scan(const ViewRef& from, const ViewRef& out) {
    const Layout &l = *from.layout, &m = *out.layout;
    const int64_t count = m.shape(1);
    if (count == 0 || !can_apply(i_.op, i_.loop)) return;
    set_work(m.size());
    unsigned met = 0;
    const char *read = from.base->data + from.offset, *made = out.base->data + out.offset;
    for (int64_t a = 0; a < m.shape(0); ++a)
      for (int64_t b = 0; b < m.shape(2); ++b) {
        // What is infinite or no number stays so until the end.
        if (!is_special(out.dtype,
                        made + a * m.stride(0) + b * m.stride(2) + (count - 1) * m.stride(1)))
          continue;
        if (!may_look(count)) return add("accumulate", met);
        met |=
            fold(i_.op, i_.loop,
                 {from.dtype, read + a * l.stride(0) + b * l.stride(2), l.stride(1), count}, true);
      }
    add("accumulate", met);
  }

  // Of whole lines, which are one segment each.
  void segments(const ViewRef& from, const ViewRef& out) {
    const Layout &l = *from.layout, &m = *out.layout;
    if (m.shape(1) != 1 || !can_apply(i_.op, i_.loop)) return;
    set_work(l.size());
    unsigned met = 0;
    for (int64_t a = 0; a < m.shape(0); ++a)
      for (int64_t b = 0; b < m.shape(2); ++b) {
        const char* made = out.base->data + out.offset + a * m.stride(0) + b * m.stride(2);
        if (!is_special(out.dtype, made) || !may_look(l.shape(1))) continue;
        const char* read = from.base->data + from.offset + a * l.stride(0) + b * l.stride(2);
        met |= fold(i_.op, i_.loop, {from.dtype, read, l.stride(1), l.shape(1)}, true);
      }
    add("reduceat", met);
  }

  void transform(const ViewRef& x, const ViewRef& out) {
    const vendor::Transform t = {x.dtype, out.dtype, i_.routine == Routine::ifft, x.layout,
                                 out.layout};
    // As NumPy's ufuncs are called.
    static constexpr const char* kNames[] = {"fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft"};
    if (any_in(out))
      add(kNames[static_cast<size_t>(vendor::kind_of(t))],
          vendor::fft_flags(t, static_cast<vendor::FftScale>(i_.attributes[0]),
                            i_.attributes[1] != 0, x.base->data + x.offset,
                            out.base->data + out.offset));
  }

  // slogdet: `out` is the logarithms.
  void determinant(const ViewRef& x, const ViewRef& out) {
    if (!any_in(out)) return;
    vendor::LinalgCall c{linalg_of(i_.routine), false, x.dtype, {x.layout, out.layout}, {}};
    c.data = {x.base->data + x.offset, out.base->data + out.offset};
    add(i_.routine == Routine::det ? "det" : "slogdet", vendor::linalg_flags(c));
  }

  void product(const ViewRef& x, const ViewRef& y, const ViewRef& out) {
    const Layout &a = *x.layout, &b = *y.layout, &c = *out.layout;
    // On a host products of half floats are those of float32, which are cast.
    if (is_half(i_.loop) || is_half(out.dtype) || !any_in(out)) return;
    if (c.shape(0) == 1 && ask_product(i_, x, y, c.shape(1), a.shape(2), c.shape(2), found_))
      return;
    unsigned met = 0;
    set_work(c.size() * a.shape(2));
    auto at = [](const ViewRef& v, int64_t n, int64_t row, int64_t column) {
      const Layout& l = *v.layout;
      return v.base->data + v.offset + (l.shape(0) > 1 ? n * l.stride(0) : 0) + row * l.stride(1) +
             column * l.stride(2);
    };
    for (int64_t n = 0; n < c.shape(0); ++n)
      for (int64_t r = 0; r < c.shape(1); ++r)
        for (int64_t k = 0; k < c.shape(2); ++k) {
          if (!is_special(out.dtype, at(out, n, r, k))) continue;
          if (!may_look(a.shape(2))) return add("matmul", met);
          met |= dot(i_.loop, {x.dtype, at(x, n, r, 0), a.stride(2), a.shape(2)},
                     {y.dtype, at(y, n, 0, k), b.stride(1), a.shape(2)});
        }
    add("matmul", met);
  }

 private:
  void set_work(int64_t elements) {
    left_ = std::min(kMostLook, std::max(kLeastLook, elements / kPart));
  }
  bool may_look(int64_t elements) {
    left_ -= elements;
    return left_ + elements > 0;  // one line in any case
  }

  static bool any_in(const ViewRef& v) {
    if (v.layout->c_contiguous())
      return any_special({v.dtype, v.base->data + v.offset}, v.layout->size());
    return true;
  }

  // Calls f with the address of the first element of the line of each special result.
  template <class F>
  void each_result(const ViewRef& out, const ViewRef& from, const ViewRef* where, F&& f) {
    const Layout &l = *from.layout, &m = *out.layout;
    const bool keeps = m.ndim() == l.ndim();
    int64_t index[kMaxDims] = {};
    const char *at = out.base->data + out.offset, *first = from.base->data + from.offset;
    const char* takes = where ? where->base->data + where->offset : nullptr;
    int source[kMaxDims] = {};
    for (int d = 0, to = 0; d < l.ndim(); ++d) {
      const bool reduced = i_.axes >> d & 1;
      if (keeps)
        source[d] = reduced ? -1 : d;
      else if (!reduced)
        source[to++] = d;
    }
    for (int64_t left = m.size(); left > 0; --left) {
      if (is_special(out.dtype, at)) {
        if (!may_look(l.size() / std::max<int64_t>(1, m.size()))) return;
        f(first, takes);
      }
      for (int d = m.ndim(); d-- > 0;) {
        const int64_t step = source[d] < 0 ? 0 : l.stride(source[d]);
        const int64_t other = source[d] < 0 || !where ? 0 : where->layout->stride(source[d]);
        at += m.stride(d);
        first += step;
        takes += other;
        if (++index[d] < m.shape(d)) break;
        at -= m.stride(d) * m.shape(d);
        first -= step * m.shape(d);
        takes -= other * m.shape(d);
        index[d] = 0;
      }
    }
  }

  // The elements of a line of several axes, or of those that take part, side by side.
  std::vector<char> collected(const Layout& l, const char* at, const Layout* where,
                              const char* takes, int64_t elements) const {
    const auto size = static_cast<size_t>(l.itemsize());
    std::vector<char> all(static_cast<size_t>(elements) * size);
    int64_t index[kMaxDims] = {};
    char* to = all.data();
    for (; elements > 0; --elements) {
      if (!where || *takes) {
        std::memcpy(to, at, size);
        to += size;
      }
      for (int d = l.ndim(); d-- > 0;) {
        if (!(i_.axes >> d & 1)) continue;
        at += l.stride(d);
        if (where) takes += where->stride(d);
        if (++index[d] < l.shape(d)) break;
        at -= l.stride(d) * l.shape(d);
        if (where) takes -= where->stride(d) * l.shape(d);
        index[d] = 0;
      }
    }
    all.resize(static_cast<size_t>(to - all.data()));
    return all;
  }

  void add(const char* name, unsigned met) {
    if (!(met & i_.told)) return;
    Finding f;
    f.name = i_.told_as && *i_.told_as ? i_.told_as : name;
    f.kinds = i_.told;
    f.line = i_.line;
    f.by_name = true;
    f.kinds_met = met;
    found_.push_back(std::move(f));
  }

  const Instr& i_;
  std::vector<Finding>& found_;
  int64_t left_ = 0;
};

}  // namespace

bool ask_product(const Instr& i, const ViewRef& x, const ViewRef& y, int64_t rows, int64_t terms,
                 int64_t columns, std::vector<Finding>& found) {
  if (rows * terms * columns > kMostAsked || (rows + columns) * terms > kMostAsked) return false;
  Finding f;
  f.name = "matmul";
  f.shown = i.told_as && *i.told_as ? i.told_as : f.name;
  f.kinds = i.told;
  f.line = i.line;
  f.loop = f.out = i.loop;
  f.product[0] = rows;
  f.product[1] = terms;
  f.product[2] = columns;
  for (const ViewRef* v : {&x, &y}) {
    const Layout& l = *v->layout;
    std::vector<char> bytes;
    int64_t index[kMaxDims] = {};
    const char* at = v->base->data + v->offset;
    for (int64_t left = l.size(); left > 0; --left) {
      bytes.insert(bytes.end(), at, at + l.itemsize());
      for (int d = l.ndim(); d-- > 0;) {
        at += l.stride(d);
        if (++index[d] < l.shape(d)) break;
        at -= l.stride(d) * l.shape(d);
        index[d] = 0;
      }
    }
    f.operands.emplace_back(v->dtype, std::move(bytes));
  }
  found.push_back(std::move(f));
  return true;
}

void find_met(const Instr& i, const ViewRef* const* in, const ViewRef& out,
              std::vector<Finding>& found) {
  if (!i.told || !is_inexact(out.dtype) || out.layout->size() == 0) return;
  for (int n = 0; n < i.inputs(); ++n)
    if (!in[n] || in[n]->base == out.base || !in[n]->base->data) return;
  Search search(i, found);
  if (i.code == Instr::Reduce) {
    const bool looks = i.reduction == Reduction::Sum || i.reduction == Reduction::Prod ||
                       i.reduction == Reduction::Var;
    if (looks) search.reduction(*in[0], i.predicated ? in[1] : nullptr, out);
  } else if (i.code == Instr::Call && i.routine == Routine::accumulate) {
    search.scan(*in[0], out);
  } else if (i.code == Instr::Call && i.routine == Routine::reduceat) {
    search.segments(*in[0], out);
  } else if (i.code == Instr::Call && i.routine == Routine::matmul) {
    search.product(*in[0], *in[1], out);
  } else if (i.code == Instr::Call && (i.routine == Routine::fft || i.routine == Routine::ifft)) {
    search.transform(*in[0], out);
  } else if (i.code == Instr::Call &&
             (i.routine == Routine::det || i.routine == Routine::slogdet)) {
    search.determinant(*in[0], out);
  }
}

}  // namespace numbus::float_errors
