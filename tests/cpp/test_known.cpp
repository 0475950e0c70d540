// Ranges and proofs about integers hold for every number that the facts allow, wherever 64-bit
// arithmetic runs over: functions of random steps are computed for all choices of their parameters.
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "ir/kernel.h"
#include "passes/known.h"
#include "sampling.h"

using namespace numbus;
using namespace numbus::test;
using ir::kNone;
using ir::Val;

namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
// What parameters are: all triples of these.
constexpr int64_t kChoices[] = {kLeast, kLeast + 2, -(int64_t{1} << 31), -7,        -1,   0, 1, 2,
                                5,      300,        int64_t{1} << 40,    kMost - 1, kMost};
constexpr int kParams = 3;

struct Function {
  ir::Function f;
  std::vector<Val> integers, conditions;

  explicit Function(uint64_t seed) {
    std::mt19937_64 r(seed);
    auto pick = [&](size_t n) { return static_cast<size_t>(r() % n); };
    ir::Builder b(f.body);
    auto put = [&](Val v) { integers.push_back(v); };
    for (int p = 0; p < kParams; ++p) {
      f.params.push_back(DType::I64);
      put(b.emit(Op::param, DType::I64, kNone, kNone, kNone, p));
    }
    for (int64_t k : {int64_t{0}, int64_t{1}, static_cast<int64_t>(pick(20)) - 6})
      put(b.constant(DType::I64, Scalar::from_int(k)));
    auto any = [&] { return integers[pick(integers.size())]; };
    auto truth = [&] {
      constexpr Op kOps[] = {Op::less,          Op::less_equal, Op::greater,
                             Op::greater_equal, Op::equal,      Op::not_equal};
      Val v = b.emit(kOps[pick(6)], DType::Bool, any(), any());
      if (pick(5) == 0) v = b.emit(Op::logical_not, DType::Bool, v);
      if (!conditions.empty() && pick(4) == 0)
        v = b.emit(pick(2) ? Op::logical_and : Op::logical_or, DType::Bool, v, conditions.back());
      conditions.push_back(v);
      return v;
    };
    for (int n = 0; n < 10; ++n) {
      Val x = any(), y = any();
      auto emit = [&](Op op) { put(b.emit(op, DType::I64, x, y)); };
      auto number = [&](int64_t k) { return b.constant(DType::I64, Scalar::from_int(k)); };
      switch (pick(12)) {
        case 0:
        case 1:
        case 2: emit(Op::add); break;
        case 3:
        case 4: emit(Op::subtract); break;
        case 5: emit(Op::multiply); break;
        case 6: emit(pick(2) ? Op::minimum : Op::maximum); break;
        case 7: put(b.emit(Op::select, DType::I64, truth(), x, y)); break;
        case 8: {
          Val narrow = b.cast(x, pick(2) ? DType::I32 : DType::U8);
          put(b.cast(narrow, DType::I64));
          break;
        }
        case 9:
          put(b.emit(Op::right_shift, DType::I64, x, number(static_cast<int64_t>(pick(8)))));
          break;
        case 10:
          put(b.emit(Op::int_div, DType::I64, x, number(1 + static_cast<int64_t>(pick(9)))));
          break;
        default: emit(Op::bitwise_and); break;
      }
    }
    while (conditions.size() < 4) truth();
  }

  // All values, as the processor computes them.
  std::vector<int64_t> values(const int64_t (&params)[kParams]) const {
    std::vector<int64_t> at(f.body.size());
    for (size_t n = 0; n < f.body.size(); ++n) {
      const ir::Inst& i = f.body[n];
      int64_t x = i.a == kNone ? 0 : at[i.a], y = i.b == kNone ? 0 : at[i.b];
      auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
      auto& r = at[n];
      switch (i.op) {
        case Op::param: r = params[i.imm]; break;
        case Op::constant: r = i.imm; break;
        case Op::add: r = static_cast<int64_t>(ux + uy); break;
        case Op::subtract: r = static_cast<int64_t>(ux - uy); break;
        case Op::multiply: r = static_cast<int64_t>(ux * uy); break;
        case Op::minimum: r = std::min(x, y); break;
        case Op::maximum: r = std::max(x, y); break;
        case Op::select: r = x ? y : at[i.c]; break;
        case Op::cast:
          r = i.type == DType::I32  ? static_cast<int32_t>(x)
              : i.type == DType::U8 ? static_cast<uint8_t>(x)
                                    : x;
          break;
        case Op::right_shift: r = x >> y; break;
        case Op::int_div: r = x / y; break;
        case Op::bitwise_and: r = x & y; break;
        case Op::less: r = x < y; break;
        case Op::less_equal: r = x <= y; break;
        case Op::greater: r = x > y; break;
        case Op::greater_equal: r = x >= y; break;
        case Op::equal: r = x == y; break;
        case Op::not_equal: r = x != y; break;
        case Op::logical_not: r = !x; break;
        case Op::logical_and: r = x && y; break;
        case Op::logical_or: r = x || y; break;
        default: FAIL("a step that this test does not know");
      }
    }
    return at;
  }
};

template <class F>
void each_choice(F&& f) {
  for (int64_t x : kChoices)
    for (int64_t y : kChoices)
      for (int64_t z : kChoices) f({x, y, z});
}

}  // namespace

TEST_CASE("ranges and proofs hold for all numbers that the facts allow") {
  size_t narrowed = 0, proofs = 0, cases = 0;
  for (uint64_t seed : seeds(3000)) {
    CAPTURE(seed);
    Function function(seed);
    std::mt19937_64 r(seed);
    auto pick = [&](size_t n) { return static_cast<size_t>(r() % n); };
    const int64_t witness[kParams] = {kChoices[3 + pick(8)], kChoices[3 + pick(8)],
                                      kChoices[3 + pick(8)]};
    std::vector<int64_t> seen = function.values(witness);
    Values values(function.f, false);
    Known known(values);
    size_t before = known.size();
    std::vector<Val> assumed;
    for (Val c : function.conditions)
      if (pick(3)) assumed.push_back(c);
    for (Val c : assumed) known.assume(values.of[c], seen[c] != 0);
    std::vector<std::vector<int64_t>> all;
    each_choice([&](const int64_t(&params)[kParams]) {
      std::vector<int64_t> at = function.values(params);
      for (Val c : assumed)
        if (at[c] != seen[c]) return;
      all.push_back(std::move(at));
    });
    REQUIRE(!all.empty());
    size_t wrong = 0;
    for (Val v : function.integers) {
      Range range = known.range(values.of[v]);
      narrowed += range.low > kLeast || range.high < kMost;
      for (auto& at : all) wrong += at[v] < range.low || at[v] > range.high;
    }
    CHECK(wrong == 0);
    auto side = [&] { return pick(8) ? function.integers[pick(function.integers.size())] : kNone; };
    for (int n = 0; n < 40; ++n) {
      Val a = side(), b = side();
      int64_t k = static_cast<int64_t>(pick(9)) - 4;
      Bound bound{a == kNone ? kUnknown : values.of[a], b == kNone ? kUnknown : values.of[b], k};
      ++cases;
      if (!known.proves(bound)) continue;
      ++proofs;
      for (auto& at : all) wrong += Wide{a == kNone ? 0 : at[a]} - (b == kNone ? 0 : at[b]) + k > 0;
    }
    CHECK(wrong == 0);
    known.forget(before);
    CHECK(known.size() == before);
  }
  // Something is shown, and not everything.
  CHECK(narrowed > 100);
  CHECK(proofs > 100);
  CHECK(proofs < cases);
}

TEST_CASE("proofs that loops need") {
  ir::Function f;
  f.params = {DType::I64, DType::I64, DType::I64};
  ir::Builder b(f.body);
  auto param = [&](int n) { return b.emit(Op::param, DType::I64, kNone, kNone, kNone, n); };
  auto number = [&](int64_t k) { return b.constant(DType::I64, Scalar::from_int(k)); };
  Val i = param(0), n = param(1), m = param(2);
  Val at_least = b.emit(Op::less_equal, DType::Bool, number(0), i);
  Val below = b.emit(Op::less, DType::Bool, i, n);
  Val smaller = b.emit(Op::less_equal, DType::Bool, n, m);
  Val small = b.emit(Op::less, DType::Bool, m, number(1000));
  Val next = b.emit(Op::add, DType::I64, i, number(1));
  Val twice = b.emit(Op::multiply, DType::I64, i, number(2));
  Values values(f, false);
  Known known(values);
  auto proves = [&](Val x, Val y, int64_t k) {
    return known.proves(
        {x == kNone ? kUnknown : values.of[x], y == kNone ? kUnknown : values.of[y], k});
  };
  CHECK(!proves(i, n, 1));
  known.assume(values.of[at_least], true);
  known.assume(values.of[below], true);
  CHECK(proves(i, n, 1));      // i < n
  CHECK(proves(next, n, 0));   // i + 1 <= n: it cannot run over
  CHECK(proves(kNone, n, 1));  // 0 < n
  CHECK(!proves(i, m, 1));
  size_t kept = known.size();
  known.assume(values.of[smaller], true);
  CHECK(proves(i, m, 1));  // i < n <= m
  CHECK(!proves(twice, m, 0));
  known.assume(values.of[small], true);
  Range range = known.range(values.of[i]);
  CHECK(range.low == 0);
  CHECK(range.high < 1000);
  known.forget(kept);
  CHECK(!proves(i, m, 1));
  known.assume(values.of[smaller], false);  // n > m
  CHECK(proves(m, n, 1));
}
