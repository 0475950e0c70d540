// What is kept for programs that make functions and kernels without end: the most recently used,
// and what something still needs.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <vector>

#include "array/array.h"
#include "base/recent.h"

using namespace numbus;

namespace {

// x + c
ir::Function adding(double c) {
  ir::Function f;
  f.name = "adding";
  f.params = f.results = {DType::F64};
  auto step = [&](Op op, ir::Val a, ir::Val b, int64_t imm) {
    ir::Inst i;
    i.op = op;
    i.type = DType::F64;
    i.a = a;
    i.b = b;
    i.imm = imm;
    f.body.push_back(i);
  };
  step(Op::param, ir::kNone, ir::kNone, 0);
  step(Op::constant, ir::kNone, ir::kNone, std::bit_cast<int64_t>(c));
  step(Op::add, 0, 1, 0);
  step(Op::give, 2, ir::kNone, 0);
  return f;
}

Array line(int64_t n) { return arange(0, 1, 0, 0, n, DType::F64, &cpu_device()); }

double sum_of(const Array& a) {
  const auto* at = reinterpret_cast<const double*>(data_of(a, "test"));
  return std::accumulate(at, at + a.size(), 0.0);
}

double apply_once(double c, int64_t n = 4) {
  auto f = recordable(adding(c));
  Array x = line(n);
  Arg arg(&x);
  return sum_of(record_apply(*f, {&arg, 1}));
}

std::weak_ptr<KernelCode> code_of_latest() {
  std::weak_ptr<KernelCode> code;
  for (const KernelStep& s : Runtime::get().last_run()->steps) code = s.code;
  return code;
}

struct InMode {
  Mode before = Runtime::get().mode;
  explicit InMode(Mode m) { Runtime::get().mode = m; }
  ~InMode() { Runtime::get().mode = before; }
};

}  // namespace

TEST_CASE("the least recently used value goes when another one comes") {
  Recent<int> r(3);
  for (int n = 0; n < 3; ++n) r.keep(std::to_string(n), n);
  CHECK(*r.find("0") == 0);
  r.keep("3", 3);
  CHECK(r.size() == 3);
  CHECK(r.find("1") == nullptr);
  for (int n : {0, 2, 3}) CHECK(*r.find(std::to_string(n)) == n);
}

TEST_CASE("functions and kernels without end leave no memory, and none is taken for another") {
  Runtime& rt = Runtime::get();
  rt.forget_plans();
  std::weak_ptr<const Recordable> first = recordable(adding(0.5)), pending;
  InMode interpreted(Mode::Interp);
  Array x = line(5), waiting;
  {
    auto f = recordable(adding(0.25));
    pending = f;
    Arg arg(&x);
    waiting = record_apply(*f, {&arg, 1});
  }
  for (int n = 0; n < 1100; ++n) recordable(adding(1e6 + n));
  CHECK(first.expired());
  CHECK(!pending.expired());  // a window that has not run needs it
  CHECK(sum_of(waiting) == 11.25);
  CHECK(pending.expired());
  // Plans, kernels, and runs by their windows: 4,096 of each. Functions take the memory of others
  // that are gone.
  std::vector<std::weak_ptr<KernelCode>> kernels;
  for (int n = 0; n < 10000; ++n) {
    if (apply_once(n + 1) != 6.0 + 4.0 * (n + 1)) FAIL("function " << n << " was another one");
    kernels.push_back(code_of_latest());
  }
  auto alive =
      std::count_if(kernels.begin(), kernels.end(), [](const auto& k) { return !k.expired(); });
  CHECK(alive >= 4096);
  CHECK(alive <= 2 * 4096 + 1);
  for (int n = 0; n < 50; ++n) CHECK(apply_once(n + 1) == 6.0 + 4.0 * (n + 1));
  rt.forget_plans();
  for (int n = 0; n < 4200; ++n) kernels.push_back((apply_once(3e6 + n), code_of_latest()));
  CHECK(std::all_of(kernels.begin(), kernels.begin() + 10000,
                    [](const auto& k) { return k.expired(); }));
}

TEST_CASE("native code that a plan needs stays while others come and go") {
  InMode compiled(Mode::Compiled);
  CHECK(apply_once(0.125) == 6.5);
  auto code = code_of_latest();
  REQUIRE(!code.expired());
  const auto before = code.lock()->native;
  REQUIRE((before != nullptr));
  const std::weak_ptr<void> memory = code.lock()->native_memory;
  Runtime::get().mode = Mode::Interp;
  // Used now and then, its plan is never the oldest. The kernel's own entry is, and goes.
  for (int n = 0; n < 4200; ++n) {
    apply_once(2e6 + n);
    if (n % 500 == 0) CHECK(apply_once(0.125) == 6.5);
  }
  REQUIRE(!code.expired());
  // Another size is another window: its run is found by the plan.
  CHECK(apply_once(0.125, 5) == 10.625);
  CHECK(code_of_latest().lock() == code.lock());
  CHECK(!memory.expired());
  CHECK((code.lock()->native == before));
  Runtime::get().mode = Mode::Compiled;
  CHECK(apply_once(0.125) == 6.5);
  Runtime::get().mode = Mode::Interp;
  Runtime::get().forget_plans();
  apply_once(0.75);  // what ran last is held until something else has
  CHECK(memory.expired());
}
