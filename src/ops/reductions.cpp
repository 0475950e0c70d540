// Names and types of the reductions.
#include "ops/reductions.h"

namespace numbus {

using reductions::Fields;
using reductions::Types;

std::optional<Reduction> reduction_named(std::string_view name) {
  uint8_t n = 0;
  for (const reductions::Row& r : reductions::kRows) {
    if (r.name == name) return static_cast<Reduction>(n);
    ++n;
  }
  return {};
}

std::optional<Reduction> reduction_by(Op op) {
  switch (op) {
    case Op::add: return Reduction::Sum;
    case Op::multiply: return Reduction::Prod;
    case Op::minimum: return Reduction::Min;
    case Op::maximum: return Reduction::Max;
    case Op::logical_or: return Reduction::Any;
    case Op::logical_and: return Reduction::All;
    default: return {};
  }
}

ReductionTypes resolve(Reduction kind, DType in, std::optional<DType> dtype) {
  DType t = dtype.value_or(in);
  // Half floats are too coarse for a state; comparisons of them are the same in float32.
  switch (row(kind).types) {
    case Types::Total:
      if (!dtype && (t == DType::Bool || (is_integer(t) && itemsize(t) < 8)))
        t = numbus::kind(t) == Kind::UInt ? DType::U64 : DType::I64;
      return {kind, t == DType::Bool ? DType::I64 : computed_in(t), t};
    case Types::Truth: return {kind, DType::Bool, DType::Bool};
    case Types::Index: return {kind, computed_in(t), DType::I64};
    case Types::Spread: {
      if (!is_inexact(t)) t = DType::F64;
      // One pass from a pivot cancels where the pivot is an outlier: twice the digits make up for
      // it.
      return {kind, is_complex(t) ? t : DType::F64, t};
    }
    case Types::Extreme: break;
  }
  if (t == DType::Bool) kind = kind == Reduction::Min ? Reduction::All : Reduction::Any;
  return {kind, computed_in(t), t};
}

std::vector<DType> reduction_fields(Reduction kind, DType loop) {
  const DType r = real_of(loop);
  switch (row(kind).state) {
    case Fields::Position: return {r, DType::I64};
    case Fields::Moments: return {r, r, r, r};
    case Fields::Parts: break;
  }
  if (is_complex(loop)) return {r, r};
  return {r};
}

}  // namespace numbus
