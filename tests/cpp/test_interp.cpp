// The block interpreter: kernels of random steps over strided arguments give at every point what
// the steps give there one by one.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

#include "interp/program.h"
#include "ir/kernel.h"
#include "sampling.h"

using namespace numbus;
using namespace numbus::test;
using ir::kNone;
using ir::Val;

namespace {

constexpr int kArgs = 3;  // the last one is written

struct Case {
  std::mt19937_64 engine;
  ir::Kernel kernel;
  std::vector<Op> ops;
  Val condition = kNone, result = kNone;

  int64_t pick(int64_t n) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(n)); }

  explicit Case(uint64_t seed) : engine(seed) {
    kernel.rank = 1 + static_cast<int>(pick(2));
    for (int a = 0; a < kArgs; ++a)
      kernel.args.push_back({DType::I64, ir::Inner::Strided, a == kArgs - 1, false});
    kernel.scalars = {DType::I64};
    ir::Builder b(kernel);
    std::vector<Val> numbers, truths;
    for (int a = 0; a + 1 < kArgs; ++a)
      numbers.push_back(b.emit(Op::load, DType::I64, kNone, kNone, kNone, a));
    numbers.push_back(b.emit(Op::scalar, DType::I64, kNone, kNone, kNone, 0));
    for (int d = 0; d < kernel.rank; ++d)
      numbers.push_back(b.emit(Op::index, DType::I64, kNone, kNone, kNone, d));
    numbers.push_back(b.constant(DType::I64, Scalar::from_int(pick(9) - 4)));
    auto some = [&](const std::vector<Val>& all) {
      return all[pick(static_cast<int64_t>(all.size()))];
    };
    for (int64_t n = 3 + pick(12); n > 0; --n) {
      const Op two[] = {Op::add,         Op::subtract, Op::multiply, Op::bitwise_and,
                        Op::bitwise_xor, Op::maximum,  Op::minimum};
      const Op test[] = {Op::less, Op::less_equal, Op::equal, Op::not_equal};
      switch (pick(4)) {
        case 0:
          truths.push_back(b.emit(test[pick(4)], DType::Bool, some(numbers), some(numbers)));
          break;
        case 1:
          if (truths.empty()) break;
          numbers.push_back(
              b.emit(Op::select, DType::I64, some(truths), some(numbers), some(numbers)));
          break;
        default: numbers.push_back(b.emit(two[pick(7)], DType::I64, some(numbers), some(numbers)));
      }
    }
    result = numbers.back();
    if (!truths.empty() && pick(2)) condition = truths.back();
    b.emit(Op::store, DType::I64, result, condition, kNone, kArgs - 1);
    ir::verify(kernel);
  }

  int64_t at(Val v, const int64_t* loaded, int64_t scalar, const int64_t* index) const {
    const ir::Inst& i = kernel.body[v];
    auto x = [&](Val o) { return o == kNone ? 0 : at(o, loaded, scalar, index); };
    auto whole = [](uint64_t u) { return static_cast<int64_t>(u); };
    int64_t a = i.op == Op::load ? 0 : x(i.a), b = x(i.b), c = x(i.c);
    auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    switch (i.op) {
      case Op::load: return loaded[i.imm];
      case Op::scalar: return scalar;
      case Op::index: return index[i.imm];
      case Op::constant: return i.imm;
      case Op::add: return whole(ua + ub);
      case Op::subtract: return whole(ua - ub);
      case Op::multiply: return whole(ua * ub);
      case Op::bitwise_and: return a & b;
      case Op::bitwise_xor: return a ^ b;
      case Op::maximum: return std::max(a, b);
      case Op::minimum: return std::min(a, b);
      case Op::less: return a < b;
      case Op::less_equal: return a <= b;
      case Op::equal: return a == b;
      case Op::not_equal: return a != b;
      case Op::select: return a ? b : c;
      default: throw std::logic_error("a step that is not made");
    }
  }
};

}  // namespace

TEST_CASE("the block interpreter computes each point as its steps do") {
  for (uint64_t seed : seeds(3000)) {
    CAPTURE(seed);
    Case c(seed);
    int rank = c.kernel.rank;
    // More columns than a block holds, now and then.
    int64_t rows = rank == 1 ? 1 : 1 + c.pick(4), columns = c.pick(5) ? 1 + c.pick(40) : 2000;
    std::vector<int64_t> memory[kArgs];
    std::vector<int64_t> words(c.kernel.param_words());
    if (rank == 2) words[c.kernel.param_shape(0)] = rows;
    words[c.kernel.param_shape(rank - 1)] = columns;
    int64_t step[kArgs], row[kArgs];
    for (int a = 0; a < kArgs; ++a) {
      bool written = a == kArgs - 1;
      step[a] = written ? 1 + c.pick(2) : c.pick(3);
      row[a] = written ? columns * step[a] : c.pick(2) * columns * 2;
      memory[a].resize(rows * columns * 3);
      for (int64_t& v : memory[a]) v = c.pick(20) - 10;
      words[c.kernel.param_arg(a)] = reinterpret_cast<int64_t>(memory[a].data());
      if (rank == 2) words[c.kernel.param_arg(a) + 1] = row[a] * 8;
      words[c.kernel.param_arg(a) + rank] = step[a] * 8;
    }
    int64_t scalar = c.pick(20) - 10;
    words[c.kernel.param_scalar(0)] = scalar;
    std::vector<int64_t> expected = memory[kArgs - 1];
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t n = 0; n < columns; ++n) {
        int64_t loaded[kArgs], index[2] = {rank == 1 ? n : r, n};
        for (int a = 0; a < kArgs; ++a) loaded[a] = memory[a][r * row[a] + n * step[a]];
        if (c.condition != kNone && !c.at(c.condition, loaded, scalar, index)) continue;
        expected[r * row[kArgs - 1] + n * step[kArgs - 1]] = c.at(c.result, loaded, scalar, index);
      }
    interp::Program program(c.kernel);
    // In pieces, as threads take them.
    int64_t cut = c.pick(columns + 1);
    program.run(words.data(), 0, rows, 0, cut, nullptr, 0);
    program.run(words.data(), 0, rows, cut, columns, nullptr, 0);
    REQUIRE(memory[kArgs - 1] == expected);
  }
}
