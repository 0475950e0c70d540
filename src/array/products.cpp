// Matrix products: operands brought into a form that the library takes, then one recorded call.
#include <algorithm>

#include "array/array.h"
#include "array/placement.h"
#include "base/error.h"
#include "lazy/calls.h"

namespace numbus {
namespace {

std::span<const int64_t> stack_of(const Array& a) { return a.shape().first(a.ndim() - 2); }

// `a` as (stack, rows, columns), its own stack broadcast to `stack`; nothing where only a copy has
// such a form.
std::optional<Array> three_dimensional(const Array& a, const std::vector<int64_t>& stack) {
  int64_t count = 1;
  for (int64_t e : stack) count *= e;
  int64_t rows = a.layout->shape(a.ndim() - 2), cols = a.layout->shape(a.ndim() - 1);
  std::vector<int64_t> full = stack, flat = {count, rows, cols};
  full.push_back(rows);
  full.push_back(cols);
  if (std::all_of(stack_of(a).begin(), stack_of(a).end(), [](int64_t e) { return e == 1; })) {
    int64_t strides[3] = {0, a.layout->stride(a.ndim() - 2), a.layout->stride(a.ndim() - 1)};
    return view_of(a, Layout::get(flat, strides, itemsize(a.dtype)), a.offset);
  }
  return reshape_view(broadcast_to(a, full), flat);
}

}  // namespace

bool multiplies_halves(const Array& x, const Array& y) {
  const Array* const operands[2] = {&x, &y};
  const Device& d = placement::of_result(operands);
  if (d.runs_on_host()) return false;
  return !placement::on || x.base->pinned || y.base->pinned;
}

Array matmul(const Array& x, const Array& y, DType t, const Array* out, uint8_t part_of) {
  Array a = x, b = y;
  std::vector<int64_t> stack;
  {
    Array sa = view_of(a, Layout::contiguous(stack_of(a), 1), 0),
          sb = view_of(b, Layout::contiguous(stack_of(b), 1), 0);
    const Array* both[2] = {&sa, &sb};
    stack = broadcast_shape(both, "matmul");
  }
  std::vector<int64_t> shape = stack;
  int64_t rows = a.layout->shape(a.ndim() - 2), inner = a.layout->shape(a.ndim() - 1),
          cols = b.layout->shape(b.ndim() - 1);
  shape.push_back(rows);
  shape.push_back(cols);
  if (b.layout->shape(b.ndim() - 2) != inner)
    raise(ErrorKind::Value, "matmul", "inner extents differ",
          shape_string(*a.layout) + " and " + shape_string(*b.layout), "equal inner extents");
  const Array* const operands[2] = {&a, &b};
  Device* device = &placement::of_result(operands);
  Array result = out ? *out : empty(shape, t, device);
  if (out) {
    require_writeable(result, "matmul");
    if (result.dtype != t ||
        !std::equal(shape.begin(), shape.end(), result.shape().begin(), result.shape().end()))
      raise(ErrorKind::Value, "matmul", "out does not fit", shape_string(*result.layout),
            shape_string(shape) + " of " + std::string(name(t)));
  }
  if (result.size() == 0) return result;
  if (inner == 0) {
    Arg zero;
    zero.weak = true;
    zero.scalar = Scalar::from_int(0);
    assign(result, zero);
    return result;
  }
  if (a.dtype != t) a = copy(a, t, true);
  if (b.dtype != t) b = copy(b, t, true);
  auto into = three_dimensional(result, stack);
  // A stack that broadcasts into a stack of several axes has no three-dimensional view.
  auto form = [&](Array& operand) {
    auto v = three_dimensional(operand, stack);
    if (v) return *v;
    std::vector<int64_t> full = stack;
    full.insert(full.end(), operand.shape().end() - 2, operand.shape().end());
    operand = copy(broadcast_to(operand, full), t, true);
    return *three_dimensional(operand, stack);
  };
  Array left = form(a), right = form(b);
  auto takes = [&](const Array& l, const Array& r, const Array& o) {
    vendor::Product p = product_of(t, *l.layout, *r.layout, *o.layout);
    p.a.data += l.offset;
    p.b.data += r.offset;
    p.out.data += o.offset;
    // Where it is to run is not known yet, but for 16-bit operands (multiplies_halves).
    if (placement::on && !is_half(t))
      return std::ranges::all_of(placement::both(), [&](Device* d) {
        return d ? vendor::blas_takes(p, d->kind()) : vendor::blas_takes_on_gpus(p);
      });
    return vendor::blas_takes(p, o.base->device->kind());
  };
  LayoutRef plain(
      Layout::contiguous(std::vector<int64_t>{left.layout->shape(0), rows, cols}, itemsize(t)));
  Array fresh = empty({plain->shape(), 3}, t, result.base->device);
  // One operand after the other is judged beside operands in C order.
  auto in_c = [&](const Array& v) {
    return view_of(v, Layout::contiguous(v.shape(), itemsize(t)), 0);
  };
  if (!takes(left, in_c(right), fresh)) left = copy(left, t, true);
  if (!takes(in_c(left), right, fresh)) right = copy(right, t, true);
  bool direct = into && takes(in_c(left), in_c(right), *into) && into->layout->injective();
  Array target = direct ? *into : fresh;
  Instr i;
  i.routine = Routine::matmul;
  i.loop = t;
  if (t == DType::F32) i.attributes[0] = precision::allows(part_of);
  record_call(i, {{&left, &right}}, {{&target}});
  if (!direct) {
    Array back = *reshape_view(fresh, shape);
    Arg from(&back);
    assign(result, from);
  }
  return result;
}

}  // namespace numbus
