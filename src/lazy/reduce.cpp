// The steps of reductions in those of a kernel, and which code of their states this processor runs.
#include "lazy/reduce.h"

#include "interp/loops.h"
#include "ir/reduction_steps.h"
#include "ops/reduction_bodies.h"
#include "passes/expand_complex.h"

namespace numbus {

const ReduceSet& reduce_set() {
  static const ReduceSet& set = &interp::loops() == &interp::kLoopsV3 ? kReduceV3 : kReduceBaseline;
  return set;
}

void emit_reduction_step(ir::Builder& b, Reduction kind, int field, ir::Val value,
                         ir::Val predicate, ir::Val position) {
  const DType loop = b.type(value);
  ir::ReductionSteps m(b, loop);
  reductions::with(kind, [&]<Reduction K>() {
    reductions::State<ir::ReductionSteps> s{};
    const auto held = reductions::fields<K>(m, s);
    for (int k = 0; k < std::ssize(held); ++k)
      *held[k] = b.emit(Op::acc_load, b.kernel().acc_fields[field + k], ir::kNone, ir::kNone,
                        ir::kNone, field + k);
    reductions::Element<ir::ReductionSteps> e{value, ir::kNone};
    if (is_complex(loop)) e = {real_part(b, value), imag_part(b, value)};
    s = reductions::step<K>(m, s, e, position);
    for (int k = 0; k < std::ssize(held); ++k)
      b.emit(Op::acc_store, b.type(*held[k]), *held[k], predicate, ir::kNone, field + k);
  });
}

}  // namespace numbus
