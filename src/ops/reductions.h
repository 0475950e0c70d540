// The table of reductions as data, and the rules that give a reduction its types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "ops/table.h"

namespace numbus {

enum class Reduction : uint8_t {
#define REDUCTION(Name, name, types, state, start, doc) Name,
#include "ops/reductions.def"
#undef REDUCTION
};

namespace reductions {

enum class Types : uint8_t { Total, Extreme, Truth, Index, Spread };
enum class Fields : uint8_t { Parts, Position, Moments };
enum class Start : uint8_t { zero, one, highest, lowest };

struct Row {
  std::string_view name;
  Types types;
  Fields state;
  Start start;
  std::string_view doc;
};

constexpr Row kRows[] = {
#define REDUCTION(Name, name, types, state, start, doc) \
  {#name, Types::types, Fields::state, Start::start, doc},
#include "ops/reductions.def"
#undef REDUCTION
};

}  // namespace reductions

constexpr const reductions::Row& row(Reduction r) { return reductions::kRows[static_cast<int>(r)]; }
constexpr std::string_view reduction_name(Reduction r) { return row(r).name; }
// The reduction of NumPy's name; none: it is no row of the table.
std::optional<Reduction> reduction_named(std::string_view name);

// The reduction that is a fold by the operation; none: it has no row.
std::optional<Reduction> reduction_by(Op op);

// Whether the result depends on the indices of the elements.
constexpr bool needs_position(Reduction r) { return row(r).state == reductions::Fields::Position; }
// Whether elements are needed for a result.
constexpr bool needs_elements(Reduction r) {
  return needs_position(r) || row(r).types == reductions::Types::Extreme;
}

// Whether rows of up to 32 elements add them one after the other: short code for short rows. Not
// products of complex numbers, as multiplying by one changes infinite parts.
constexpr bool short_rows_in_order(Reduction r, bool complex) {
  return row(r).state == reductions::Fields::Parts && !(r == Reduction::Prod && complex);
}

struct ReductionTypes {
  Reduction kind;  // differs from the one asked for where bool elements have a row of their own
  DType loop;      // elements are converted to this, and the state is made of it
  DType result;
};
// NumPy's choice for elements of type `in`, and for the caller's dtype if there is one.
ReductionTypes resolve(Reduction kind, DType in, std::optional<DType> dtype);

// Types of the fields of a state for elements of the type `loop`.
std::vector<DType> reduction_fields(Reduction kind, DType loop);

}  // namespace numbus
