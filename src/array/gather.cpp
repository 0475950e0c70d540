// Indexing by integer arrays: one element per point of the indices' shared shape.
#include <algorithm>
#include <atomic>

#include "array/at_once_calls.h"
#include "array/placement.h"
#include "base/error.h"
#include "device/cpu/thread_pool.h"
#include "interp/loops.h"

namespace numbus {
namespace {

// The shapes of an indexing: of the indices, and of its domain, in which they stand at `place`
// among the dimensions that are not indexed.
struct Domain {
  std::vector<int64_t> indices, shape;
  const Layout* layout = nullptr;

  Domain(const Array& a, uint64_t axes, std::span<const Array> index, int first_axis) {
    std::vector<const Array*> all;
    for (const Array& i : index) all.push_back(&i);
    indices = broadcast_shape(all, "index");
    for (int d = 0; d < a.ndim(); ++d)
      if (!(axes >> d & 1)) shape.push_back(a.layout->shape(d));
    shape.insert(shape.begin() + first_axis, indices.begin(), indices.end());
    if (shape.size() > kMaxDims)
      raise(ErrorKind::Index, "index", "too many dimensions", std::to_string(shape.size()),
            "at most " + std::to_string(kMaxDims));
  }

  // An index over the whole domain: it does not change along the other dimensions.
  const Layout* spread(const Array& index, int first_axis) const {
    std::vector<int64_t> strides(shape.size(), 0);
    int n = static_cast<int>(indices.size()), extra = n - index.ndim();
    for (int d = 0; d < index.ndim(); ++d)
      if (index.layout->shape(d) != 1) strides[first_axis + extra + d] = index.layout->stride(d);
    return Layout::get(shape, strides, itemsize(index.dtype));
  }
};

// Indices whose values are known are looked at now, so that a wrong one is an error of the call.
// Gives whether that goes for all of them.
bool check_known(const Array& a, uint64_t axes, std::span<const Array> index) {
  size_t n = 0;
  bool all = true;
  for (int d = 0; d < a.ndim(); ++d) {
    if (!(axes >> d & 1)) continue;
    const Array& i = index[n++];
    Base* b = i.base.get();
    if (b->pending() || !b->data || !b->device->host_readable() || i.dtype != DType::I64 ||
        !i.layout->c_contiguous()) {
      all = false;
      continue;
    }
    const auto* v = reinterpret_cast<const int64_t*>(b->data + i.offset);
    int64_t extent = a.layout->shape(d);
    std::atomic<int64_t> wrong{-1};
    parallel_for_each(i.size(), 1 << 16, [&](int64_t begin, int64_t end, int) {
      if (interp::loops().within(v + begin, end - begin, extent)) return;
      const int64_t* bad = std::find_if(
          v + begin, v + end, [&](int64_t index) { return index >= extent || index < -extent; });
      wrong = bad - v;
    });
    if (wrong >= 0) throw wrong_index(v[wrong], d, extent);
  }
  return all;
}

void add_indices(Instr& i, const Domain& domain, std::span<const Array> index, int first_axis,
                 ViewRef* views, LayoutRef* hold, Window::Input* in) {
  for (const Array& x : index) {
    int n = ++i.nin;
    const Layout* l = domain.spread(x, first_axis);
    hold[n] = LayoutRef(l);
    views[n] = {x.base.get(), l, x.offset, x.dtype};
    in[n].view = &views[n];
  }
  ++i.nin;
}

// The layout of a result as NumPy has it.
const Layout* result_layout(const Domain& domain, const Array& a, uint64_t axes,
                            std::span<const Array> index, int first_axis) {
  // NumPy walks the indices first, in their own order, then the other axes by their strides, and
  // moves dimensions afterwards.
  std::vector<const Array*> all;
  for (const Array& i : index) all.push_back(&i);
  int n = static_cast<int>(domain.shape.size()), many = static_cast<int>(domain.indices.size());
  std::vector<int> outer_first = iteration_order(all, many), rest;
  for (int& d : outer_first) d += first_axis;
  std::vector<int64_t> strides(n, 0);
  for (int d = 0, at = 0; d < a.ndim(); ++d) {
    if (axes >> d & 1) continue;
    if (at == first_axis) at += many;
    strides[at] = a.layout->shape(d) == 1 ? 0 : std::abs(a.layout->stride(d));
    rest.push_back(at++);
  }
  std::stable_sort(rest.begin(), rest.end(), [&](int x, int y) { return strides[x] > strides[y]; });
  outer_first.insert(outer_first.end(), rest.begin(), rest.end());
  const Layout* l = dense_layout(domain.shape, outer_first, itemsize(a.dtype));
  if (l->size() == 0) l = Layout::get(domain.shape, std::vector<int64_t>(n, 0), itemsize(a.dtype));
  return l;
}

Array gather(const Array& a, uint64_t axes, std::span<const Array> index, int first_axis,
             Instr::Bounds bounds, bool in_rows = false) {
  Domain domain(a, axes, index, first_axis);
  const Layout* l = in_rows ? Layout::contiguous(domain.shape, itemsize(a.dtype))
                            : result_layout(domain, a, axes, index, first_axis);
  Array out;
  out.layout = LayoutRef(l);
  out.base = Handle(Base::create(*a.base->device, l->size() * l->itemsize()));
  out.dtype = a.dtype;
  note_made(out);
  if (l->size() == 0) {
    // NumPy looks at the indices also where the other axes leave nothing to be read.
    if (bounds == Instr::Report) check_indices(a, axes, index);
    return out;
  }
  if (bounds == Instr::Report && check_known(a, axes, index)) bounds = Instr::Sure;
  Instr i;
  i.op = Op::gather;
  i.bounds = bounds;
  i.loop = a.dtype;
  i.axes = axes;
  i.first_axis = static_cast<uint8_t>(first_axis);
  ViewRef views[kMaxOperands] = {a.view()};
  LayoutRef hold[kMaxOperands];
  Window::Input in[kMaxOperands];
  in[0].view = &views[0];
  add_indices(i, domain, index, first_axis, views, hold, in);
  record(i, out, in, i.nin);
  return out;
}

// What is read must not change on the way.
std::vector<Array> kept_from(const Array& to, std::span<const Array> index) {
  std::vector<Array> kept(index.begin(), index.end());
  for (Array& x : kept)
    if (x.base.get() == to.base.get()) x = copy(x, x.dtype, true);
  return kept;
}

void scatter(const Array& to, uint64_t axes, std::span<const Array> kept, int first_axis,
             const Arg& value, const Scatter& how, Instr::Bounds bounds) {
  const Array* where = how.where;
  Domain domain(to, axes, kept, first_axis);
  LayoutRef whole(Layout::contiguous(domain.shape, itemsize(to.dtype)));
  Array from;
  LayoutRef hold[kMaxOperands];
  ViewRef views[kMaxOperands];
  Window::Input in[kMaxOperands];
  if (value.is_array()) {
    from = *value.array();
    // An assignment, and nothing else, leaves out axes that the target has not. NumPy reshapes to
    // the last axes: the others may be of any extent where nothing is assigned.
    const bool assigns = how.op == Op::scatter && how.by == Op::cast;
    if (assigns && from.ndim() > whole->ndim()) {
      Array last = last_axes(from, whole->ndim());
      if (last.size() == from.size()) from = last;
    }
    const Layout* l = broadcast_layout(from, whole.get(), "setitem");
    if (from.base.get() == to.base.get()) {
      from = copy(from, from.dtype, true);
      l = broadcast_layout(from, whole.get(), "setitem");
    }
    hold[0] = LayoutRef(l);
    views[0] = {from.base.get(), l, from.offset, from.dtype, from.through};
    in[0].view = &views[0];
  } else {
    in[0].scalar = value.scalar;
    in[0].dtype = value.weak ? to.dtype : value.dtype;
  }
  if (whole->size() == 0) {
    if (bounds == Instr::Report) check_indices(to, axes, kept);
    return;
  }
  Instr i;
  i.op = how.op;
  i.by = how.by;
  i.bounds = bounds;
  i.loop = how.by == Op::cast ? to.dtype : how.loop;
  i.axes = axes;
  i.first_axis = static_cast<uint8_t>(first_axis);
  add_indices(i, domain, kept, first_axis, views, hold, in);
  if (where) {
    int n = i.nin;
    hold[n] = LayoutRef(broadcast_layout(*where, whole.get(), "setitem"));
    views[n] = {where->base.get(), hold[n].get(), where->offset, DType::Bool};
    in[n].view = &views[n];
    i.predicated = true;
  }
  record(i, to, in, i.nin + i.predicated);
}

// Where threads write in any order: the points that come last at their place. Each leaves its
// number there, and the largest stays.
Array last_of_equal(const Array& to, uint64_t axes, std::span<const Array> index,
                    Instr::Bounds bounds) {
  std::vector<int64_t> extents, points;
  for (int d = 0; d < to.ndim(); ++d)
    if (axes >> d & 1) extents.push_back(to.layout->shape(d));
  std::vector<const Array*> all;
  for (const Array& i : index) all.push_back(&i);
  points = broadcast_shape(all, "index");
  int64_t count = 1;
  for (int64_t e : points) count *= e;
  uint64_t whole = (1ull << extents.size()) - 1;
  Array winner = empty(extents, DType::I64, to.base->device);
  Array number = reshape(arange(0, 1, 0, 1, count, DType::I64, to.base->device), points);
  Arg none;
  none.weak = true;
  none.scalar = Scalar::from_int(-1);
  scatter(winner, whole, index, 0, none, {}, bounds);
  scatter(winner, whole, index, 0, Arg(&number), {.op = Op::scatter_max}, bounds);
  Array found = gather(winner, whole, index, 0, bounds);
  Arg both[2] = {Arg(&found), Arg(&number)};
  return apply(Op::equal, both);
}

}  // namespace

void check_indices(const Array& a, uint64_t axes, std::span<const Array> index) {
  if (check_known(a, axes, index)) return;
  size_t n = 0;
  for (int d = 0; d < a.ndim(); ++d) {
    if (!(axes >> d & 1)) continue;
    const Array i = copy(index[n++], DType::I64);
    if (i.size() == 0) continue;
    const int64_t extent = a.layout->shape(d);
    const uint64_t all = (uint64_t{1} << i.ndim()) - 1;
    for (auto [kind, low] : {std::pair{Reduction::Min, true}, std::pair{Reduction::Max, false}}) {
      const int64_t v = read_element(reduce(kind, i, all, false, {}, nullptr, 0), 0).i;
      if (low ? v < -extent : v >= extent) throw wrong_index(v, d, extent);
    }
  }
}

Array gather(const Array& a, uint64_t axes, std::span<const Array> index, int first_axis) {
  if (axes == uint64_t{1} << first_axis && index.size() == 1)
    if (std::optional<Array> taken = take_at_once(a, first_axis, index[0]))
      return std::move(*taken);
  return gather(a, axes, index, first_axis, Instr::Report);
}

Array gather_in_rows(const Array& a, uint64_t axes, std::span<const Array> index, int first_axis) {
  return gather(a, axes, index, first_axis, Instr::Report, true);
}

void scatter(const Array& to, uint64_t axes, std::span<const Array> index, int first_axis,
             const Arg& value, const Scatter& how) {
  require_writeable(to, "setitem");
  if (how.by == Op::cast) require_value(value, to.dtype, "setitem");
  if (axes == uint64_t{1} << first_axis && index.size() == 1 && how.op == Op::scatter &&
      how.by == Op::cast && !how.where && put_at_once(to, first_axis, index[0], value))
    return;
  const placement::Work work(to.base->device);
  std::vector<Array> kept = kept_from(to, index);
  const bool sure = (how.distinct && !how.late) || check_known(to, axes, kept);
  // Of late ones a gather at the same indices tells, on which the values depend: those that are
  // wrong are left out, so that no host has to wait for the look at them.
  auto bounds = sure ? Instr::Sure : how.late ? Instr::Skip : Instr::Report;
  bool in_order = to.base->device->scatters_in_order(), many = value.is_array();
  if (how.op != Op::scatter || how.distinct || in_order || !many)
    return scatter(to, axes, kept, first_axis, value, how, bounds);
  Array last = last_of_equal(to, axes, kept, bounds == Instr::Sure ? bounds : Instr::Skip);
  // Over the domain, in which the indices stand at `place`.
  std::vector<int64_t> shape(last.shape().begin(), last.shape().end());
  int indexed = static_cast<int>(kept.size());
  shape.insert(shape.end(), to.ndim() - indexed - first_axis, 1);
  last = reshape(last, shape);
  scatter(to, axes, kept, first_axis, value, {.where = &last}, bounds);
}

}  // namespace numbus
