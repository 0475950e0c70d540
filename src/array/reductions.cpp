// Reductions: one recorded instruction, or a few where a result is composed of others.
#include <array>
#include <limits>

#include "array/array.h"
#include "array/at_once.h"
#include "base/error.h"
#include "lazy/float_errors.h"
#include "lazy/reduce.h"

namespace numbus {

Array reduce(Reduction kind, const Array& a, uint64_t axes, bool keepdims,
             std::optional<DType> dtype, const Array* where, double ddof, const Array* out) {
  if (where) require_boolean(*where, std::string(reduction_name(kind)).c_str());
  const bool needs_some = needs_elements(kind);
  const ReductionTypes types = resolve(kind, a.dtype, dtype);
  const DType loop = types.loop, result = types.result;
  kind = types.kind;
  if (is_complex(loop) && (needs_position(kind) || kind == Reduction::Var))
    raise(ErrorKind::NotImplemented, "reduce", "not yet available for complex numbers",
          std::string(name(loop)), "real types");
  std::vector<int64_t> shape;
  int64_t reduced = 1;
  for (int d = 0; d < a.ndim(); ++d) {
    if (axes >> d & 1) {
      reduced *= a.layout->shape(d);
      if (keepdims) shape.push_back(1);
    } else {
      shape.push_back(a.layout->shape(d));
    }
  }
  Array r;
  if (out) {
    if (!std::equal(shape.begin(), shape.end(), out->shape().begin(), out->shape().end()))
      raise(ErrorKind::Value, "reduce", "out has the wrong shape", shape_string(*out->layout),
            shape_string(shape));
    r = *out;
    require_writeable(r, "reduce");
  } else if (shape.size() < 2 || (a.layout->c_contiguous() && a.size() > 0) ||
             needs_position(kind)) {
    r = empty(shape, result, a.base->device);
  } else {
    // The axes that are left keep the operand's order in memory.
    const Array* operand = &a;
    std::vector<int> order, index(a.ndim(), -1);
    for (int d = 0, at = 0; d < a.ndim(); ++d)
      if (keepdims || !(axes >> d & 1)) index[d] = at++;
    for (int d : iteration_order({&operand, 1}, a.ndim()))
      if (index[d] >= 0) order.push_back(index[d]);
    r = fresh(dense_layout(shape, order, itemsize(result)), result, a.base->device);
  }
  if (reduced == 0) {
    if (needs_some)
      raise(ErrorKind::Value, "reduce", "zero-size array to a reduction without identity",
            shape_string(*a.layout), "at least one element");
    Arg v;
    v.weak = true;
    v.scalar = kind == Reduction::Var ? Scalar::from_float(std::numeric_limits<double>::quiet_NaN())
                                      : Scalar::from_int(row(kind).start == reductions::Start::one);
    assign(r, v);
    return r;
  }
  if (r.size() == 0) return r;
  if (axes == 0 && kind != Reduction::Var && !needs_position(kind) && !where) {
    Arg v(&a);
    assign(r, v);                                        // nothing to reduce: a conversion
    if (kind == Reduction::Sum && is_inexact(result)) {  // 0 + -0 is 0
      Arg zero;
      zero.weak = true;
      zero.scalar = Scalar::from_int(0);
      Arg sum[2] = {Arg(&r), zero};
      Options to;
      to.out = &r;
      numbus::apply(Op::add, sum, to);
    }
    return r;
  }
  Instr i;
  i.code = Instr::Reduce;
  i.reduction = kind;
  i.op = Op::add;
  i.nin = 1;
  i.loop = loop;
  i.axes = axes;
  i.param = ddof;
  ViewRef views[2] = {a.view()};
  Window::Input in[2];
  in[0].view = &views[0];
  LayoutRef hold;
  if (where) {
    const Layout* l = broadcast_layout(*where, a.layout.get(), "where");
    hold = LayoutRef(l);
    views[1] = {where->base.get(), l, where->offset, DType::Bool};
    in[1].view = &views[1];
    i.predicated = true;
  }
  if (reduce_at_once(i, a, in[1].view, r)) return r;
  record(i, r, in, where ? 2 : 1);
  return r;
}

namespace {

// What all forms of a reduction share.
struct Over {
  const Array& a;
  uint64_t axes;
  bool keepdims;
  std::optional<DType> dtype;
  const Array* where;
  double ddof;

  Array take(Reduction kind, const Array& of, std::optional<DType> t,
             const Array* out = nullptr) const {
    return reduce(kind, of, axes, keepdims, t, where, ddof, out);
  }
};

Array variance(const Over& o, const Array* out) {
  if (!is_complex(o.a.dtype)) return o.take(Reduction::Var, o.a, o.dtype, out);
  // The variances of the parts add.
  auto of = [&](bool imaginary) {
    const float_errors::ToldAs name(imaginary ? float_errors::kOfImaginary : float_errors::kOfReal);
    return o.take(Reduction::Var, part(o.a, imaginary), {});
  };
  Array re = of(false), im = of(true);
  Options to;
  to.out = out;
  return numbus::apply(Op::add, std::array<Arg, 2>{Arg(&re), Arg(&im)}, to);
}

// How many elements each sum of a mean has: a number, or where a mask decides an array.
Arg elements(const Over& o, Array& hold) {
  Arg count;
  if (!o.where) {
    int64_t n = 1;
    for (int d = 0; d < o.a.ndim(); ++d)
      if (o.axes >> d & 1) n *= o.a.layout->shape(d);
    count.scalar = Scalar::from_int(n);
    count.weak = true;
    return count;
  }
  const Array ones = broadcast_to(*o.where, o.a.shape());
  hold = reduce(Reduction::Sum, ones, o.axes, o.keepdims, DType::I64, nullptr, 0);
  return Arg(&hold);
}

Array mean(const Over& o, const Array* out) {
  DType loop = o.dtype.value_or(is_inexact(o.a.dtype) ? o.a.dtype : DType::F64);
  DType result = loop;
  loop = computed_in(loop);
  Array sum = o.take(Reduction::Sum, o.a, loop), count;
  Arg args[2] = {Arg(&sum), elements(o, count)};
  Options to;
  to.out = out;
  to.casting = Casting::Unsafe;
  // NumPy's scalars of these types are no operands of its scalar division.
  const bool by_ufunc = loop == DType::F32 || loop == DType::C64;
  const float_errors::ToldAs name(by_ufunc ? "divide" : nullptr);
  Array r = numbus::apply(Op::divide, args, to);
  return out || r.dtype == result ? r : copy(r, result);
}

}  // namespace

Array reduce(std::string_view name, const Array& a, uint64_t axes, bool keepdims,
             std::optional<DType> dtype, const Array* where, double ddof, const Array* out) {
  Over o{a, axes, keepdims, dtype, where, ddof};
  if (name == "mean") return mean(o, out);
  if (name == "var") return variance(o, out);
  if (name == "std") {
    Array v = variance(o, nullptr);
    Arg x(&v);
    Options to;
    to.out = out;
    return numbus::apply(Op::sqrt, {&x, 1}, to);
  }
  if (auto kind = reduction_named(name)) return o.take(*kind, a, dtype, out);
  raise(ErrorKind::Value, "reduce", "unknown reduction", std::string(name),
        "sum, prod, min, max, any, all, argmin, argmax, mean, var or std");
}

Array reduce(std::string_view name, Masked& m, uint64_t axes, bool keepdims,
             std::optional<DType> dtype, const Array* where, double ddof, const Array* out) {
  const auto kind = reduction_named(name);
  // Whether there is an element at all is known once the mask is.
  if (!m.mask || where || keepdims || axes != 1 || (kind && needs_elements(*kind)))
    return reduce(name, m.settled(), axes, keepdims, dtype, where, ddof, out);
  const Array full = m.full, under = m.mask->array;
  const uint64_t all = all_axes(full.ndim());
  return reduce(name, full, all, false, dtype, &under, ddof, out);
}

}  // namespace numbus
