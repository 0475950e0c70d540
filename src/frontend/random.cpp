// What the library's random numbers are made of (python/numbus/kernels/library/random.py), and the
// calls that it makes of the layers above.
#include <algorithm>

#include "base/host_call.h"
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

// Words: the dtype of the first array, and of each argument the address or the number.
Value Lower::host_call(const Call& c, const std::string& what) {
  if (u_.options.kernel) not_yet(c.n, "this function in a kernel");
  const auto* found = std::ranges::find(kHostCalls, what);
  std::vector<Val> words{ci(0)};
  bool typed = false;
  for (const Value& a : c.args) {
    if (a.unknown()) return {};
    if (!a.type.is_array()) {
      words.push_back(index_value(c.n, a));
      continue;
    }
    if (!typed) words[0] = ci(static_cast<int64_t>(a.type.dtype));
    typed = true;
    words.push_back(a.v[0]);
    written_ |= origin_of(a);
  }
  for (Val w : words) b_->emit(Op::argument, DType::I64, w);
  return integer(intrinsic(ir::Intrinsic::host_call, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                           ir::Space::Global, found - std::begin(kHostCalls)));
}

}  // namespace numbus::frontend
