// Derivatives of reductions.
#include "array/quantity.h"
#include "base/error.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

struct Reduced {
  const Entry& e;
  const Layout& domain;

  explicit Reduced(const Entry& e) : e(e), domain(*e.operands[0].region.layout) {}
  bool reduces(int d) const { return e.instr.axes >> d & 1; }
  int64_t count() const {
    int64_t n = 1;
    for (int d = 0; d < domain.ndim(); ++d)
      if (reduces(d)) n *= domain.shape(d);
    return n;
  }
  // A result over the operand's domain, where it does not change along the reduced axes.
  Array spread(const Array& r) const {
    const bool kept = r.ndim() == domain.ndim();
    std::vector<int64_t> strides;
    int at = 0;
    for (int d = 0; d < domain.ndim(); ++d) {
      if (reduces(d)) {
        strides.push_back(0);
        at += kept;
      } else {
        strides.push_back(r.layout->stride(at++));
      }
    }
    return view_of(r,
                   Layout::get({domain.shape(), static_cast<size_t>(domain.ndim())}, strides,
                               r.layout->itemsize()),
                   r.offset);
  }
  // A reduction of an array over the domain by the entry's own axes, over the domain.
  Array over(Reduction kind, const Array& x, DType t) const {
    const Operand* p = e.predicate();
    const Array* where = p ? &saved(*p) : nullptr;
    return spread(reduce(kind, x, e.instr.axes, false, t, where, 0));
  }
};

Quantity of_product(const Reduced& all, const Quantity& x, const Quantity& g) {
  const DType t = g.array.dtype;
  // Without the zeros, of which one takes part of the others' product, and two take all.
  const Quantity is_zero = of(Op::equal, x, 0.0);
  const Quantity zeros = Quantity(all.over(Reduction::Sum, is_zero.array, DType::I64));
  const Quantity rest = choose(is_zero, Quantity(full({}, t, Scalar::from_int(1))), x);
  const Quantity others = Quantity(all.over(Reduction::Prod, rest.array, t));
  const Quantity only = choose(of(Op::equal, zeros, 1.0), others, Quantity(0.0));
  const Quantity each = choose(of(Op::equal, zeros, 0.0), of(Op::divide, others, rest), 0.0);
  const Quantity factor = choose(is_zero, only, each);
  return of(Op::multiply, g, Quantity(conjugate(factor.array)));
}

}  // namespace

Contributions pull_reduction(const Entry& e, const Array& g_result) {
  const Reduced all(e);
  Contributions parts(e.operands.size());
  const Array over_domain = all.spread(g_result);
  Quantity g(over_domain), c = g;
  switch (e.instr.reduction) {
    case Reduction::Sum: break;
    case Reduction::Prod: c = of_product(all, Quantity(saved(e.operands[0])), g); break;
    case Reduction::Min:
    case Reduction::Max: {
      // Elements that are equally extreme share it.
      const Quantity x(saved(e.operands[0])), r(all.spread(saved(e.results[0])));
      const Quantity chosen = of(Op::equal, x, r);
      const Quantity how_many(all.over(Reduction::Sum, chosen.array, g_result.dtype));
      c = choose(chosen, of(Op::divide, g, how_many), Quantity(0.0));
      break;
    }
    case Reduction::Var: {
      const Quantity x(saved(e.operands[0]));
      const DType t = computed_in(e.instr.loop);
      const Operand* p = e.predicate();
      Quantity n(static_cast<double>(all.count()));
      if (p) {
        const Array ones =
            broadcast_to(saved(*p), {all.domain.shape(), static_cast<size_t>(all.domain.ndim())});
        n = Quantity(
            all.spread(reduce(Reduction::Sum, ones, e.instr.axes, false, DType::I64, nullptr, 0)));
      }
      const Quantity mean = of(Op::divide, Quantity(all.over(Reduction::Sum, x.array, t)), n);
      const Quantity free = n.is_number ? Quantity(n.number - e.instr.param)
                                        : of(Op::subtract, n, Quantity(e.instr.param));
      const Quantity twice = of(Op::divide, of(Op::multiply, Quantity(2.0), g), free);
      c = of(Op::multiply, twice, of(Op::subtract, x, mean));
      break;
    }
    default: no_derivative(e);
  }
  if (const Operand* p = e.predicate()) {
    const Array& where = saved(*p);
    c = choose(Quantity(where), c, Quantity(0.0));
  }
  parts[0] = c.array;
  return parts;
}

}  // namespace numbus::program
