// What the library's random numbers are made of (python/numbus/kernels/library/random.py).
#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::random(const Call& c, const std::string& what) {
  auto step = [&](ir::Random r, DType t, Val a = ir::kNone) {
    return intrinsic(ir::Intrinsic::random, t, a, ir::kNone, ir::kNone, ir::Space::Global,
                     static_cast<int64_t>(r));
  };
  if (what == "bits") return number(step(ir::Random::Bits, DType::U32), DType::U32);
  if (what == "unit") return number(step(ir::Random::Unit, DType::F64), DType::F64);
  if (what == "kept") {
    Value r;
    r.type = Type::array_of(DType::F64, 1);
    r.v = {step(ir::Random::Kept, DType::I64), ci(0), ci(2), ci(8)};
    return r;
  }
  expect(c, "seed", 1, 1);
  step(what == "seed" ? ir::Random::Seed : ir::Random::PythonSeed, DType::I64,
       index_value(c.n, c.args[0]));
  Value none;
  none.type = Type::of(Type::Tag::None);
  return none;
}

}  // namespace numbus::frontend
