// What the library's random numbers are made of (python/numbus/kernels/library/random.py), and the
// calls that it makes of the layers above.
#include <algorithm>
#include <unordered_map>

#include "base/host_call.h"
#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::random(const Call& c, const std::string& what) {
  auto step = [&](ir::Random r, DType t, Val a = ir::kNone, Val b = ir::kNone) {
    return intrinsic(ir::Intrinsic::random, t, a, b, ir::kNone, ir::Space::Global,
                     static_cast<int64_t>(r));
  };
  static const std::unordered_map<std::string, ir::Random> kOfC = {
      {"log1p", ir::Random::Log1p}, {"exp", ir::Random::Exp},       {"log", ir::Random::Log},
      {"expm1", ir::Random::Expm1}, {"cos", ir::Random::Cos},       {"acos", ir::Random::Acos},
      {"pow", ir::Random::Pow},     {"log1pf", ir::Random::Log1pf}, {"expf", ir::Random::Expf},
      {"logf", ir::Random::Logf},   {"powf", ir::Random::Powf}};
  if (what == "bits") return number(step(ir::Random::Bits, DType::U32), DType::U32);
  if (what == "unit") return number(step(ir::Random::Unit, DType::F64), DType::F64);
  if (what == "word" || what == "half" || what == "unit64") {
    const ir::Random r = what == "word"   ? ir::Random::Word
                         : what == "half" ? ir::Random::Half
                                          : ir::Random::Unit64;
    const DType t = what == "word" ? DType::U64 : what == "half" ? DType::U32 : DType::F64;
    return number(step(r, t, index_value(c.n, c.args[0])), t);
  }
  if (auto f = kOfC.find(what); f != kOfC.end()) {
    const DType t = f->second >= ir::Random::Log1pf ? DType::F32 : DType::F64;
    const Val second = c.args.size() > 1 ? as(c.args[1], t) : ir::kNone;
    return number(step(f->second, t, as(c.args[0], t), second), t);
  }
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

// A number that was drawn is Python's, unless it is an item of an array or integers() gives it,
// whose type is an argument.
Value Lower::drawn(const Call& c, const std::string& name, Value v) {
  if (!v.type.is_number()) return v;
  auto pythons = [](const Value& t) { return t.type.is(Type::Tag::Function); };  // dtype=int
  const bool typed = name == "integers" || name == "random_integers";
  if (typed && !std::ranges::any_of(c.keywords, [&](const auto& k) { return pythons(k.second); }))
    return v;
  if (name == "choice" && !c.args.empty() && !c.args[0].type.is_number()) return v;
  for (const auto& [k, a] : c.keywords)
    if (name == "choice" && k == "a" && !a.type.is_number()) return v;
  const DType t = is_float(v.type.dtype) ? DType::F64 : DType::I64;
  return number(as(v, t), t, true);
}

// A method of numpy.random.Generator, which is the address of its bits' source.
Value Lower::generator_method(const Call& c, const Value& self, const std::string& name) {
  refuse_in_kernel(c.n, "numpy.random.Generator");
  // Its draws have an order, and its state no lock here.
  if (u_.options.parallel)
    not_yet(c.n, "numpy.random.Generator with parallel=True", "np.random.random() and its like");
  int method = u_.program.library("generator " + name);
  if (method < 0) method = u_.program.library("drawn " + name);
  if (method < 0) not_yet(c.n, "Generator." + name + "()");
  Call all = c;
  all.args.insert(all.args.begin(), self.items[0]);
  return drawn(c, name, call_function(all, method));
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
