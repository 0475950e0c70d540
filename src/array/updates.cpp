// ufunc.at: elements at integer indices combined with values, repeated indices repeatedly.
#include <algorithm>

#include "array/array.h"
#include "array/placement.h"
#include "base/error.h"
#include "passes/expand_complex.h"

namespace numbus {
namespace {

std::string title(Op op) { return std::string(op_name(op)) + ".at"; }

Arg number(int64_t n) {
  Arg a;
  a.weak = true;
  a.scalar = Scalar::from_int(n);
  return a;
}

Array computed(Op op, const Arg& x, const Arg& y) {
  const Arg both[2] = {x, y};
  return apply(op, both);
}

// One index for each point of the indices' shared shape: into the indexed axes of `to` in C order.
Array flat_indices(const Array& to, uint64_t axes, std::span<const Array> index) {
  Array flat;
  size_t n = 0;
  for (int d = 0; d < to.ndim(); ++d) {
    if (!(axes >> d & 1)) continue;
    const Array i = copy(index[n++], DType::I64);
    const int64_t extent = to.layout->shape(d);
    const Array negative = computed(Op::less, Arg(&i), number(0));
    const Array shift = computed(Op::multiply, Arg(&negative), number(extent));
    const Array sane = computed(Op::add, Arg(&i), Arg(&shift));
    if (n == 1) {
      flat = sane;
      continue;
    }
    const Array scaled = computed(Op::multiply, Arg(&flat), number(extent));
    flat = computed(Op::add, Arg(&scaled), Arg(&sane));
  }
  return reshape(flat, {flat.size()});
}

// Between the domain of an indexing, where the dimensions of the indices stand at `place`, and an
// order in which they come first.
struct IndexedDomain {
  std::vector<int64_t> indices, domain;
  int first_axis;

  IndexedDomain(const Array& to, uint64_t axes, std::span<const Array> index, int first_axis)
      : first_axis(first_axis) {
    std::vector<const Array*> all;
    for (const Array& i : index) all.push_back(&i);
    indices = broadcast_shape(all, "index");
    for (int d = 0; d < to.ndim(); ++d)
      if (!(axes >> d & 1)) domain.push_back(to.layout->shape(d));
    domain.insert(domain.begin() + first_axis, indices.begin(), indices.end());
  }
  // Dense, in `t`: (points, the rest).
  Array lines(const Array& over_domain, int64_t points, DType t) const {
    const Array whole = broadcast_to(over_domain, domain);
    const Array first = transpose(whole, order());
    const Array dense = first.dtype == t && t != DType::Bool && first.layout->c_contiguous()
                            ? first
                            : copy(first, t, true);
    return reshape(dense, {points, dense.size() / points});
  }
  Array back(const Array& lines) const {
    std::vector<int64_t> shape;
    const std::vector<int> from = order();
    for (int d : from) shape.push_back(domain[static_cast<size_t>(d)]);
    std::vector<int> inverse(from.size());
    for (size_t k = 0; k < from.size(); ++k)
      inverse[static_cast<size_t>(from[k])] = static_cast<int>(k);
    return transpose(reshape(lines, shape), inverse);
  }

 private:
  std::vector<int> order() const {
    std::vector<int> all;
    const int many = static_cast<int>(indices.size()), n = static_cast<int>(domain.size());
    for (int d = first_axis; d < first_axis + many; ++d) all.push_back(d);
    for (int d = 0; d < n; ++d)
      if (d < first_axis || d >= first_axis + many) all.push_back(d);
    return all;
  }
};

// Where threads write in any order: indices are sorted, which keeps the order of equal ones, one
// thread folds all values of an element, and the last of them is where the result is written from.
void update_sorted(const Resolved& loop, const Array& to, uint64_t axes,
                   std::span<const Array> index, int first_axis, const Array* value, bool late) {
  Device& device = *to.base->device;
  if (!late) check_indices(to, axes, index);
  const Array flat = flat_indices(to, axes, index);
  const int64_t points = flat.size();
  if (load_device_kernels) load_device_kernels(device, Routine::argsort, DType::I64);
  if (load_fold_kernels)
    load_fold_kernels(device, Routine::fold_runs, loop.op, to.dtype, loop.in[0]);
  const int64_t ascending = 0;
  const Array order = along_lines(Routine::argsort, flat, 0, true, {&ascending, 1});
  const Array keys = gather(flat, 1, {&order, 1}, 0);
  const IndexedDomain spread(to, axes, index, first_axis);
  const Array old = spread.lines(gather(to, axes, index, first_axis), points, to.dtype);
  const Array values = value ? spread.lines(*value, points, loop.in[0]) : old;
  const Array result = empty(old.shape(), to.dtype, &device),
              last = empty({&points, 1}, DType::Bool, &device);
  Instr i;
  i.routine = Routine::fold_runs;
  i.op = loop.op;
  i.loop = loop.in[0];
  record_call(i, {{&keys, &order, &old, &values}}, {{&result, &last}});
  std::vector<int64_t> shape = spread.indices;
  shape.insert(shape.end(), to.ndim() - std::ssize(index) - first_axis, 1);
  const Array where = reshape(last, shape), back = spread.back(result);
  scatter(to, axes, index, first_axis, Arg(&back),
          {.where = &where, .distinct = true, .late = late});
}

}  // namespace

void update(Op op, const Array& to, uint64_t axes, std::span<const Array> index, int first_axis,
            const Arg* value, const Update& how) {
  require_writeable(to, title(op).c_str());
  const DType types[2] = {
      to.dtype, value ? value->is_array() ? value->array()->dtype : value->dtype : DType::Bool};
  const Resolved loop = resolve(op, {types, value ? 2U : 1U});
  if ((is_complex(loop.in[0]) && !has_complex_expansion(loop.op)) ||
      (is_complex(loop.out) && !is_complex(to.dtype) && !to.base->device->host_readable()))
    raise(ErrorKind::NotImplemented, title(op), "not yet available for complex numbers",
          std::string(name(loop.in[0])), "real types");
  const placement::Work work(to.base->device);
  // What is read must not change on the way.
  std::vector<Array> kept(index.begin(), index.end());
  for (Array& x : kept)
    if (x.base.get() == to.base.get()) x = copy(x, x.dtype, true);
  const IndexedDomain spread(to, axes, kept, first_axis);
  if (value && value->is_array()) {
    const LayoutRef whole(Layout::contiguous(spread.domain, 1));
    broadcast_layout(*value->array(), whole.get(), title(op).c_str());
  }
  if (loop.op == Op::power && kind(loop.in[0]) == Kind::Int) {
    const Array exponents =
        value->is_array() ? *value->array() : full({}, value->dtype, value->scalar);
    require_exponents(copy(exponents, loop.in[0]), title(op));
  }
  const Arg none(Scalar::from_bool(false), DType::Bool);
  const Arg& given = value ? *value : none;
  if (to.base->device->scatters_in_order() && how.in_order)
    return scatter(to, axes, kept, first_axis, given,
                   {.distinct = how.distinct, .by = loop.op, .loop = loop.in[0]});
  const auto empty_shape = [](const std::vector<int64_t>& shape) {
    return std::ranges::count(shape, 0) > 0;
  };
  if (empty_shape(spread.domain)) {
    check_indices(to, axes, kept);
    return;
  }
  Array number_as_array;
  if (value && !value->is_array()) number_as_array = full({}, value->dtype, value->scalar);
  const Array* values = !value ? nullptr : value->is_array() ? value->array() : &number_as_array;
  if (!how.distinct) return update_sorted(loop, to, axes, kept, first_axis, values, how.late);
  const Array old = gather(to, axes, kept, first_axis);
  const Arg both[2] = {Arg(&old), values ? Arg(values) : none};
  const Array now = apply(op, {both, values ? 2U : 1U});
  const Array cast = now.dtype == to.dtype ? now : copy(now, to.dtype);
  scatter(to, axes, kept, first_axis, Arg(&cast), {.distinct = true});
}

}  // namespace numbus
