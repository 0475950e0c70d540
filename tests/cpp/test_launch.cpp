// Kernels of users: threads that launch one for the first time, at the same moment.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "ir/function.h"
#include "ir/kernel.h"
#include "launch/kernel.h"

using namespace numbus;
using ir::Intrinsic;
using ir::Val;

namespace {

// out[i] = number * i + 1, of the thread i of the grid; the parameters are out's address and how
// many there are.
frontend::Result kernel(int64_t number) {
  frontend::Result r;
  r.module.kernel = true;
  ir::Function f;
  f.name = "kernel";
  f.params = {DType::I64, DType::I64};
  ir::Builder b(f.body);
  auto i64 = [&](int64_t k) { return b.constant(DType::I64, Scalar::from_int(k)); };
  auto at = [&](Intrinsic i) {
    Val v =
        b.emit(Op::intrinsic, DType::I32, ir::kNone, ir::kNone, ir::kNone, ir::intrinsic_imm(i));
    return b.cast(b.emit(Op::bits, DType::U32, v), DType::I64);
  };
  Val out = b.emit(Op::param, DType::I64, ir::kNone, ir::kNone, ir::kNone, 0);
  Val count = b.emit(Op::param, DType::I64, ir::kNone, ir::kNone, ir::kNone, 1);
  Val first = b.emit(Op::multiply, DType::I64, at(Intrinsic::ctaid_x), at(Intrinsic::ntid_x));
  Val i = b.emit(Op::add, DType::I64, first, at(Intrinsic::tid_x));
  Val inside = b.emit(Op::less, DType::Bool, i, count);
  Val begin = b.emit(Op::branch, DType::Bool, inside);
  b.open_scope(begin);
  Val value = b.emit(Op::multiply, DType::I64, i, i64(number));
  value = b.emit(Op::add, DType::I64, value, i64(1));
  b.emit(Op::write, DType::I64, value, out, b.emit(Op::multiply, DType::I64, i, i64(8)));
  b.close_scope();
  b.emit(Op::end_branch, DType::Bool, begin);
  b.emit(Op::ret, DType::I32, b.constant(DType::I32, Scalar::from_int(0)));
  r.module.functions.push_back(std::move(f));
  return r;
}

}  // namespace

TEST_CASE("threads launch a kernel for the first time at once") {
  constexpr int kThreads = 4, kElements = 1000;
  for (int64_t round = 0; round < 12; ++round) {
    GridKernel k(kernel(round + 3));
    std::atomic<int> waiting{kThreads}, wrong{0};
    std::vector<std::vector<int64_t>> out(kThreads, std::vector<int64_t>(kElements));
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        --waiting;
        while (waiting.load() > 0) {
        }
        // Each width of a block is an entry of its own, of two pieces of code.
        for (int64_t n = 0; n < 32; ++n) {
          int64_t width = 32 + (t % 2 ? 31 - n : n);
          std::vector<int64_t> words{reinterpret_cast<int64_t>(out[t].data()), kElements};
          std::fill(out[t].begin(), out[t].end(), 0);
          k.launch(cpu_device(), {{(kElements + width - 1) / width, 1, 1}, {width, 1, 1}, 0}, words,
                   nullptr);
          for (int64_t i = 0; i < kElements; ++i)
            if (out[t][static_cast<size_t>(i)] != (round + 3) * i + 1) ++wrong;
        }
      });
    for (std::thread& t : threads) t.join();
    CHECK(wrong.load() == 0);
  }
}
