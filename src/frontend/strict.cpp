// Steps of loops that follow CPython to the letter (python/numbus/loops).
#include <algorithm>
#include <iterator>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

constexpr const char* kStrict[] = {"add_overflows", "sub_overflows", "mul_overflows", "interrupted",
#define X(name) #name,
                                   NUMBUS_C_FUNCTIONS(X)
#undef X
};

}  // namespace

Value Lower::strict(const Call& c, const std::string& what) {
  if (u_.options.kernel) not_yet(c.n, "this function in a kernel");
  const auto number = std::ranges::find(kStrict, what) - std::begin(kStrict);
  const auto which = static_cast<ir::Strict>(number);
  const auto count = static_cast<size_t>(ir::strict_operands(which));
  expect(c, what, count, count);
  const bool is_c = which > ir::Strict::interrupted;
  std::vector<Val> v(2, ir::kNone);
  for (size_t k = 0; k < count; ++k) {
    if (c.args[k].unknown()) return {};
    v[k] = is_c ? as(c.args[k], DType::F64) : index_value(c.n, c.args[k]);
  }
  Val r = intrinsic(ir::Intrinsic::strict, is_c ? DType::F64 : DType::Bool, v[0], v[1], ir::kNone,
                    ir::Space::Global, number);
  return is_c ? Lower::number(r, DType::F64, true) : boolean(r);
}

}  // namespace numbus::frontend
