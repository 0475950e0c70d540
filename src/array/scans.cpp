// Cumulative operations and folds of segments: NumPy's types, one recorded call on (outer, axis,
// inner).
#include <algorithm>
#include <cmath>
#include <limits>

#include "array/array.h"
#include "array/at_once.h"
#include "array/placement.h"
#include "base/error.h"
#include "compile/scan.h"
#include "lazy/float_errors.h"
#include "lazy/recorder.h"
#include "passes/expand_complex.h"

namespace numbus {
namespace {

std::string title(Op op, Routine r) {
  return std::string(op_name(op)) + "." + std::string(row(r).name);
}

// The loop of a type given by the caller, else of what the operand and `out` promote to; the result
// of a comparison says nothing of its operands.
Resolved loop_of(Op op, Routine r, const Array& a, std::optional<DType> dtype, const Array* out) {
  const bool compares = row(op).rule == Rule::Compare;
  DType t = dtype ? *dtype : out && !compares ? promote(a.dtype, out->dtype) : a.dtype;
  bool sums = op == Op::add || op == Op::multiply;
  if (sums && !dtype && !out && !is_inexact(t) && itemsize(t) < 8)
    t = kind(t) == Kind::UInt ? DType::U64 : DType::I64;
  DType both[2] = {t, t};
  Resolved loop = resolve(op, both);
  if (loop.in[0] != loop.out || (dtype && loop.out != t)) {
    raise(ErrorKind::Type, title(op, r), "no loop whose result can be its next operand",
          std::string(name(t)) + " -> " + std::string(name(loop.out)), "a loop of one type");
  }
  if (is_complex(loop.out) && !has_complex_expansion(loop.op)) {
    raise(ErrorKind::NotImplemented, title(op, r), "not yet available for complex numbers",
          std::string(name(loop.out)), "real types");
  }
  return loop;
}

// `x` and `y` as (outer, axis, inner), the other axes merged where both walk them as one; nothing
// where that leaves more than two.
std::optional<std::pair<Array, Array>> three_dimensional(const Array& x, const Array& y, int axis) {
  struct Axis {
    int64_t extent, x, y;
  };
  std::vector<Axis> rest;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != axis && x.layout->shape(d) != 1)
      rest.push_back({x.layout->shape(d), x.layout->stride(d), y.layout->stride(d)});
  std::stable_sort(rest.begin(), rest.end(),
                   [](const Axis& p, const Axis& q) { return std::abs(p.y) > std::abs(q.y); });
  std::vector<Axis> merged;
  for (const Axis& a : rest) {
    Axis* last = merged.empty() ? nullptr : &merged.back();
    if (last && last->x == a.x * a.extent && last->y == a.y * a.extent)
      *last = {last->extent * a.extent, a.x, a.y};
    else
      merged.push_back(a);
  }
  if (merged.size() > 2) return {};
  const Axis along{0, x.layout->stride(axis), y.layout->stride(axis)};
  Axis outer{1, 0, 0}, inner{1, 0, 0};
  if (merged.size() == 2)
    outer = merged[0], inner = merged[1];
  else if (merged.size() == 1)
    (std::abs(merged[0].y) < std::abs(along.y) ? inner : outer) = merged[0];
  auto view = [&](const Array& a, int64_t Axis::* stride) {
    int64_t shape[3] = {outer.extent, a.layout->shape(axis), inner.extent};
    int64_t strides[3] = {outer.*stride, along.*stride, inner.*stride};
    return view_of(a, Layout::get(shape, strides, itemsize(a.dtype)), a.offset);
  };
  return std::pair{view(x, &Axis::x), view(y, &Axis::y)};
}

void check(Op op, Routine r, const Array& a, int axis, std::span<const int64_t> shape,
           const Array* out) {
  if (row(op).nin != 2)
    raise(ErrorKind::Value, title(op, r), "not a binary ufunc", std::to_string(row(op).nin),
          "2 inputs");
  if (a.ndim() == 0)
    raise(ErrorKind::Type, title(op, r), "there is no axis in a scalar", "0-d", "1-d or more");
  if (axis < 0 || axis >= a.ndim())
    raise(ErrorKind::Axis, title(op, r), "axis out of bounds", std::to_string(axis),
          "below " + std::to_string(a.ndim()));
  if (!out) return;
  require_writeable(*out, title(op, r).c_str());
  if (!std::ranges::equal(out->shape(), shape))
    raise(ErrorKind::Value, title(op, r), "out has the wrong shape", shape_string(*out->layout),
          shape_string(shape));
}

// Elements that become exponents of integers must not be negative. The loop is `loop`; `folded`
// tells for each index along the axis whether its elements are right operands.
void check_exponents(const Resolved& loop, Routine r, const Array& a, int axis,
                     const std::vector<bool>& folded) {
  if (loop.op != Op::power || kind(loop.out) != Kind::Int) return;
  std::vector<int64_t> chosen;
  for (size_t k = 0; k < folded.size(); ++k)
    if (folded[k]) chosen.push_back(static_cast<int64_t>(k));
  if (chosen.empty() || a.size() == 0) return;
  const Array which = of_integers(chosen, *a.base->device);
  const Array whole = a.dtype == loop.out ? a : copy(a, loop.out);
  const Array exponents = gather(whole, uint64_t{1} << axis, {&which, 1}, 0);
  require_exponents(exponents, title(loop.op, r));
}

}  // namespace

void require_exponents(const Array& exponents, const std::string& title) {
  if (exponents.size() == 0) return;
  const uint64_t all = (uint64_t{1} << exponents.ndim()) - 1;
  const int64_t least =
      read_element(reduce(Reduction::Min, exponents, all, false, {}, nullptr, 0), 0).i;
  if (least < 0)
    raise(ErrorKind::Value, title, "integers to negative integer powers are not allowed",
          "exponent " + std::to_string(least), "a float base, or an exponent >= 0");
}

Array accumulate(Op op, const Array& x, int axis, std::optional<DType> dtype, const Array* out) {
  constexpr Routine kRoutine = Routine::accumulate;
  Array a = x;
  check(op, kRoutine, a, axis, a.shape(), out);
  Resolved loop = loop_of(op, kRoutine, a, dtype, out);
  DType t = loop.out;
  std::vector<bool> folded(static_cast<size_t>(op == Op::power ? a.layout->shape(axis) : 0), true);
  if (!folded.empty()) folded[0] = false;
  check_exponents(loop, kRoutine, a, axis, folded);
  // Whoever reads what it has written at another index reads too late.
  bool identical = out && a.base.get() == out->base.get() && a.offset == out->offset &&
                   a.layout.get() == out->layout.get() && a.dtype == out->dtype;
  bool apart = out && (a.base.get() != out->base.get() || identical ||
                       !may_overlap(a.offset, *a.layout, out->offset, *out->layout));
  bool direct = out && out->dtype == t && apart && out->layout->injective();
  Array result = direct ? *out : empty_like(a, t);
  if (a.size() == 0) return out ? *out : result;
  auto views = three_dimensional(a, result, axis);
  Array target = result;
  if (!views) {
    a = copy(a, a.dtype, true);
    target = empty(a.shape(), t, a.base->device);
    views = three_dimensional(a, target, axis);
  }
  Instr i;
  i.routine = kRoutine;
  i.op = loop.op;
  i.loop = t;
  if (!scan_at_once(i, views->first, views->second))
    record_call(i, {{&views->first}}, {{&views->second}});
  const Array& wanted = out ? *out : result;
  if (target.base.get() != wanted.base.get()) {
    Arg back(&target);
    assign(wanted, back);
  }
  return wanted;
}

namespace {

// Half floats whose folds NumPy computes in float32 and rounds once; extremes are the same there.
bool folds_wider(Op op, DType t) {
  if (!is_half(t)) return false;
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::maximum:
    case Op::minimum: return true;
    default: return false;
  }
}

// Where segments begin and end along an axis: first all beginnings, then all ends.
struct Segments {
  std::vector<int64_t> bounds;

  int64_t count() const { return std::ssize(bounds) / 2; }
  int64_t begin(int64_t k) const { return bounds[static_cast<size_t>(k)]; }
  int64_t end(int64_t k) const { return bounds[static_cast<size_t>(count() + k)]; }
  int64_t longest() const {
    int64_t most = 0;
    for (int64_t k = 0; k < count(); ++k) most = std::max(most, end(k) - begin(k));
    return most;
  }
};

// NumPy's rule: up to the next index, or one element where that is no larger; the last segment goes
// up to the end.
Segments segments_of(std::span<const int64_t> indices, int64_t n) {
  Segments s;
  s.bounds.reserve(2 * indices.size());
  s.bounds.assign(indices.begin(), indices.end());
  for (size_t k = 0; k < indices.size(); ++k) {
    const int64_t next = k + 1 < indices.size() ? indices[k + 1] : n;
    s.bounds.push_back(std::max(next, indices[k] + 1));
  }
  return s;
}

void record_segments(Op op, DType state, const Array& x, const Segments& s, const Array& result) {
  Instr i;
  i.routine = Routine::reduceat;
  i.op = op;
  i.loop = state;
  if (segments_at_once(i, x, s.bounds, result)) return;
  const Array bounds = of_integers(s.bounds, *x.base->device);
  record_call(i, {{&x, &bounds}}, {{&result}});
}

// On a device whose kernels take dense operands, a thread or a block a segment: long segments are
// cut into pieces of one length where the operation is associative, so that many blocks share them.
void reduce_dense(Op op, DType state, const Array& x, const Segments& s, const Array& result) {
  constexpr int64_t kPiece = 8192;
  if (!compile::is_associative(op) || s.longest() <= kPiece)
    return record_segments(op, state, x, s, result);
  Segments pieces, groups;
  std::vector<int64_t> ends, group_ends;
  for (int64_t k = 0; k < s.count(); ++k) {
    groups.bounds.push_back(std::ssize(pieces.bounds));
    for (int64_t at = s.begin(k); at < s.end(k); at += kPiece) {
      pieces.bounds.push_back(at);
      ends.push_back(std::min(at + kPiece, s.end(k)));
    }
    group_ends.push_back(std::ssize(pieces.bounds));
  }
  const int64_t shape[3] = {x.layout->shape(0), std::ssize(ends), x.layout->shape(2)};
  pieces.bounds.insert(pieces.bounds.end(), ends.begin(), ends.end());
  groups.bounds.insert(groups.bounds.end(), group_ends.begin(), group_ends.end());
  const Array totals = empty(shape, state, x.base->device);
  record_segments(op, state, x, pieces, totals);
  reduce_dense(op, state, totals, groups, result);
}

// While it lives, what is recorded warns of nothing.
struct NothingTold {
  uint8_t before = float_errors::state.told;
  explicit NothingTold(bool wanted) {
    if (wanted) float_errors::state.told = 0;
  }
  ~NothingTold() { float_errors::state.told = before; }
};

// Whether these results may be those that NumPy warns of: infinite, no number, or too large for the
// type that they are cast to.
bool may_warn(const Array& made, DType t) {
  if (made.base->pending()) Recorder::of(*made.base->device).flush("numbers that may be warned of");
  if (!made.layout->c_contiguous() && !made.layout->f_contiguous()) return false;
  const double most = is_half(t) ? half_overflow(t) : std::numeric_limits<double>::infinity();
  const char* at = made.base->data + made.offset;
  for (int64_t k = 0; k < made.size(); ++k, at += itemsize(made.dtype)) {
    const Scalar s = load_scalar(made.dtype, at);
    for (int part = 0; part < (s.kind == Kind::Complex ? 2 : 1); ++part)
      if (!(std::fabs(s.f[part]) < most)) return true;
  }
  return false;
}

// As NumPy's iterator, which the index has no stride for.
const Layout* layout_of_segments(const Array& a, int axis, std::span<const int64_t> shape,
                                 DType t) {
  std::vector<int64_t> strides(a.layout->strides(), a.layout->strides() + a.ndim());
  strides[static_cast<size_t>(axis)] = 0;
  const Array flat = view_of(a, Layout::get(a.shape(), strides, itemsize(a.dtype)), a.offset);
  const Array* operand = &flat;
  return dense_layout(shape, iteration_order({&operand, 1}, a.ndim()), itemsize(t));
}

}  // namespace

Array reduceat(Op op, const Array& x, std::span<const int64_t> indices, int axis,
               std::optional<DType> dtype, const Array* out) {
  constexpr Routine kRoutine = Routine::reduceat;
  Array a = x;
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  if (axis >= 0 && axis < a.ndim()) shape[static_cast<size_t>(axis)] = std::ssize(indices);
  check(op, kRoutine, a, axis, shape, out);
  const int64_t n = a.layout->shape(axis);
  for (int64_t k : indices)
    if (k < 0 || k >= n)
      raise(ErrorKind::Index, title(op, kRoutine), "an index is out of bounds", std::to_string(k),
            "0 to " + std::to_string(n - 1));
  const Resolved loop = loop_of(op, kRoutine, a, dtype, out);
  const DType t = loop.out, state = folds_wider(loop.op, t) ? DType::F32 : t;
  const Segments segments = segments_of(indices, n);
  if (op == Op::power) {
    std::vector<bool> folded(static_cast<size_t>(n), false);
    for (int64_t k = 0; k < segments.count(); ++k)
      std::fill(folded.begin() + segments.begin(k) + 1, folded.begin() + segments.end(k), true);
    check_exponents(loop, kRoutine, a, axis, folded);
  }
  Device* device = &placement::home(a);
  const placement::Work work(device);
  const bool direct = out && out->dtype == state && out->base.get() != a.base.get() &&
                      out->layout->injective() && device->runs_on_host();
  Array result = out ? *out : fresh(layout_of_segments(a, axis, shape, t), t, device);
  if (result.size() == 0) return result;
  // Of few elements NumPy says what was met: steps of ours set no flags, or those of the cast.
  constexpr int64_t kFew = 4096;
  const bool asks = float_errors::state.told && is_inexact(t) && a.size() <= kFew &&
                    device->host_readable() && !a.base->pending();
  const NothingTold silent(asks);
  if (state != t && a.dtype != t) a = copy(a, t, true);
  Array target = result;
  if (device->runs_on_host()) {
    if (!direct && (out || state != t))
      target = fresh(layout_of_segments(a, axis, shape, state), state, device);
    auto views = three_dimensional(a, target, axis);
    if (!views) {
      a = copy(a, a.dtype, true);
      target = empty(shape, state, device);
      views = three_dimensional(a, target, axis);
    }
    record_segments(loop.op, state, views->first, segments, views->second);
  } else {
    if (a.dtype != state || a.dtype == DType::Bool || !a.layout->c_contiguous())
      a = copy(a, state, true);
    if (load_fold_kernels) load_fold_kernels(*device, kRoutine, loop.op, state, state);
    const bool takes =
        result.dtype == state && result.layout->c_contiguous() && result.base.get() != a.base.get();
    if (!takes) target = empty(shape, state, device);
    int64_t outer = 1, inner = 1;
    for (int d = 0; d < axis; ++d) outer *= a.layout->shape(d);
    for (int d = axis + 1; d < a.ndim(); ++d) inner *= a.layout->shape(d);
    reduce_dense(loop.op, state, reshape(a, {outer, n, inner}), segments,
                 reshape(target, {outer, segments.count(), inner}));
  }
  if (target.base.get() != result.base.get()) {
    const Arg back(&target);
    assign(result, back);
  }
  if (asks && may_warn(target, t)) flags::raise(flags::kAll);
  return result;
}

}  // namespace numbus
