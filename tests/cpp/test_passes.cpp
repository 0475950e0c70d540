// The front end and every pass over functions: random functions mean after each of them what they
// mean in Python, and the verifier accepts what each leaves.
#include <doctest/doctest.h>

#include "evaluate.h"
#include "passes/bounds.h"
#include "passes/end_together.h"
#include "passes/expand_function.h"
#include "passes/flat_branches.h"
#include "passes/forward_sets.h"
#include "passes/indices.h"
#include "passes/inline_functions.h"
#include "passes/straighten.h"
#include "programs.h"
#include "sampling.h"

using namespace numbus;
using namespace numbus::test;
using frontend::Type;

namespace {

struct Input {
  std::vector<int64_t> numbers;
  std::vector<int64_t> x, y;
};

std::vector<Input> inputs(uint64_t seed, bool arrays) {
  std::mt19937_64 random(seed);
  auto small = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  std::vector<Input> all;
  for (int n = 0; n < 6; ++n) {
    Input in;
    for (int k = 0; k < 3; ++k) in.numbers.push_back(small(n < 3 ? 0 : -4, 6));
    for (auto* a : {&in.x, &in.y}) {
      a->resize(arrays ? small(n == 0 ? 0 : 1, 7) : 0);
      for (int64_t& v : *a) v = small(-5, 9);
    }
    all.push_back(in);
  }
  return all;
}

struct Meaning {
  Outcome outcome;
  std::vector<int64_t> x, y;
  bool operator==(const Meaning&) const = default;
};

Meaning meaning(const ir::Module& m, const ir::Function& f, const Input& given, bool arrays) {
  Input in = given;
  std::vector<int64_t> words = in.numbers;
  Evaluator e(m);
  if (arrays) {
    for (auto* a : {&in.x, &in.y}) {
      auto size = static_cast<int64_t>(a->size());
      words.insert(words.end(), {reinterpret_cast<int64_t>(a->data()), 0, size, 8});
      e.allow(a->data(), a->size() * sizeof(int64_t));
    }
  }
  Meaning r;
  r.outcome = e.run(f, words);
  r.x = in.x;
  r.y = in.y;
  return r;
}

struct Case {
  ProgramMaker program;
  frontend::Result compiled;
  std::vector<Input> given;
  std::vector<Meaning> before;
  bool arrays;

  Case(uint64_t seed, bool with_arrays)
      : program(seed, with_arrays), given(inputs(seed, with_arrays)), arrays(with_arrays) {
    std::vector<Type> types(3, Type::number_of(DType::I64, true));
    if (arrays) types.insert(types.end(), 2, Type::array_of(DType::I64, 1));
    compiled = frontend::compile(program, 0, types, {});
    ir::verify(compiled.module);
    for (const Input& in : given)
      before.push_back(meaning(compiled.module, compiled.module.functions[0], in, arrays));
  }

  void same_after(const char* pass, const ir::Module& m, const ir::Function& f) {
    CAPTURE(pass);
    ir::verify(f, m);
    for (size_t n = 0; n < given.size(); ++n) {
      CAPTURE(n);
      bool same = meaning(m, f, given[n], arrays) == before[n];
      if (!same) MESSAGE(std::string(program.text() + ir::print(m)));
      REQUIRE(same);
    }
  }
};

}  // namespace

TEST_CASE("functions mean after the front end what they mean in Python") {
  int raised = 0, returned = 0;
  for (uint64_t seed : seeds(2000)) {
    bool arrays = seed % 4 != 0;
    CAPTURE(seed);
    Case c(seed, arrays);
    for (size_t n = 0; n < c.given.size(); ++n) {
      Interpreter python(c.program);
      python.arrays = {{"x", c.given[n].x}, {"y", c.given[n].y}};
      const Meaning& got = c.before[n];
      std::string text = c.program.text();
      CAPTURE(text);
      CAPTURE(n);
      try {
        int64_t expected = python.call(0, c.given[n].numbers);
        REQUIRE(!got.outcome.failed);
        REQUIRE(got.outcome.status == 0);
        REQUIRE(got.outcome.results.at(0) == expected);
        ++returned;
      } catch (const Interpreter::Raised& r) {
        REQUIRE(got.outcome.failed);
        REQUIRE(got.outcome.status != 0);
        REQUIRE(c.compiled.sites.at(got.outcome.site).exception == r.exception);
        ++raised;
      }
      REQUIRE(got.x == python.arrays["x"]);
      REQUIRE(got.y == python.arrays["y"]);
    }
  }
  // Both ways to end are tested, whatever the generator makes of its seeds.
  CHECK(raised > returned / 50);
  CHECK(returned > raised / 4);
}

TEST_CASE("the passes of every function keep its meaning") {
  size_t dropped = 0;
  for (uint64_t seed : seeds(2000)) {
    CAPTURE(seed);
    Case c(seed, seed % 4 != 0);
    ir::Module& m = c.compiled.module;
    auto checks = [&] {
      size_t n = 0;
      for (const ir::Inst& i : m.functions[0].body) n += i.op == Op::branch && i.imm == ir::kBounds;
      return n;
    };
    expand(m);
    c.same_after("expand", m, m.functions[0]);
    simplify_indices(m);
    c.same_after("simplify_indices", m, m.functions[0]);
    size_t before = checks();
    decide_bounds(m);
    c.same_after("decide_bounds", m, m.functions[0]);
    dropped += checks() != before;

    std::optional<ir::Function> f = inlined(m, m.functions[0]);
    REQUIRE(f);
    c.same_after("inlined", m, *f);
    ir::Function portion = *f;
    forward_sets(*f);
    c.same_after("forward_sets", m, *f);
    end_together(*f);
    c.same_after("end_together", m, *f);
    flatten_branches(*f);
    c.same_after("flatten_branches", m, *f);
    end_together(portion);
    c.same_after("end_together, of a portion", m, portion);
    flatten_branches(portion);
    c.same_after("flatten_branches, of a portion", m, portion);
  }
  CHECK(dropped > 20);
}

TEST_CASE("straightened functions compute the same") {
  int straight = 0;
  std::vector<DType> params(3, DType::I64);
  for (uint64_t seed : seeds(3000)) {
    CAPTURE(seed);
    Case c(seed, false);
    const ir::Module& m = c.compiled.module;
    std::optional<ir::Function> f = inlined(m, m.functions[0]);
    REQUIRE(f);
    flatten_branches(*f);
    c.same_after("flatten_branches", m, *f);
    std::optional<ir::Function> steps = straightened(*f, params, DType::I64);
    if (!steps) continue;
    ++straight;
    c.same_after("straightened", m, *steps);
  }
  CHECK(straight > 0);
}

TEST_CASE("the verifier refuses what breaks its rules") {
  using ir::kNone;
  auto refuses = [](const std::vector<ir::Inst>& body, const std::string& why) {
    ir::Module m;
    m.functions.push_back({"f", {DType::I64, DType::Bool}, {DType::I64}, body});
    CAPTURE(why);
    try {
      ir::verify(m);
      FAIL("accepted");
    } catch (const std::exception& e) {
      CHECK(std::string(e.what()).find(why) != std::string::npos);
    }
  };
  ir::Inst x{Op::param, DType::I64, kNone, kNone, kNone, 0};
  ir::Inst p{Op::param, DType::Bool, kNone, kNone, kNone, 1};
  ir::Inst zero{Op::constant, DType::I32};
  auto ret = [](ir::Val v) { return ir::Inst{Op::ret, DType::I32, v}; };
  refuses({x, {Op::add, DType::I64, 0, 2}, zero, ret(2)}, "before its use");
  refuses({x, {Op::add, DType::I64, 0}, zero, ret(2)}, "missing");
  refuses({x, zero, {Op::add, DType::I64, 0, 1}, ret(1)}, "types differ");
  refuses({x, {Op::less, DType::I64, 0, 0}, zero, ret(2)}, "no bool");
  refuses({x, {Op::sqrt, DType::I64, 0}, zero, ret(2)}, "no float");
  refuses({p,
           {Op::branch, DType::Bool, 0},
           x,
           {Op::end_branch, DType::Bool, 1},
           {Op::negative, DType::I64, 2},
           zero,
           ret(5)},
          "scope that is closed");
  refuses({p,
           {Op::branch, DType::Bool, 0},
           x,
           {Op::branch_else, DType::Bool, 1},
           {Op::negative, DType::I64, 2},
           {Op::end_branch, DType::Bool, 1},
           zero,
           ret(6)},
          "scope that is closed");
  refuses({p, {Op::branch, DType::Bool, 0}, zero, ret(2)}, "stays open");
  refuses({{Op::loop, DType::I64}, {Op::end_branch, DType::Bool, 0}, zero, ret(2)}, "wrong kind");
  refuses({{Op::loop, DType::I64},
           {Op::end_loop, DType::I64, 0},
           {Op::break_loop, DType::I64, 0},
           zero,
           ret(3)},
          "no such loop");
  refuses({{Op::loop, DType::I64},
           {Op::loop_next, DType::I64, 0},
           {Op::continue_loop, DType::I64, 0},
           {Op::end_loop, DType::I64, 0},
           zero,
           ret(4)},
          "last part");
  refuses({x, {Op::give, DType::I64, 0}, zero, ret(2), {Op::negative, DType::I64, 0}},
          "does not end by returning");
  refuses({x, {Op::argument, DType::I64, 0}, zero, ret(2)}, "argument without its call");
  refuses({x, {Op::write, DType::I64, 0, 0}, zero, ret(2)}, "missing");
}
