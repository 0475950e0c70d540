// Kernel IR: the builder folds only what means the same, whatever scopes it is in, and keys tell
// apart whatever makes other code.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "interp/program.h"
#include "ir/function.h"
#include "ir/kernel.h"
#include "sampling.h"

using namespace numbus;
using namespace numbus::test;
using ir::Builder;
using ir::kNone;
using ir::Val;

namespace {

constexpr int kNumbers = 3;  // arguments that are read
constexpr int64_t kPoints = 37;

// A program over numbered values, of which the first are the arguments. Its meaning is computed
// point by point here; the builder gets the same program.
struct Node {
  enum Kind { Step, Rare, Loop } kind = Step;
  Op op = Op::add;
  std::vector<int> of;     // operands; Rare: two that are compared; Loop: what is carried at first
  std::vector<Node> body;  // of Rare and Loop
  int to = -1;             // Step, Rare: the value that it gives; Loop: the first of the carried
  int inside = -1;         // Rare: the value of its body that counts where the mask holds
  int otherwise = -1;      // and the one that counts elsewhere
  std::vector<int> next;   // Loop: the carried values of the next iteration
  int64_t count = 1;
};

struct Program {
  std::mt19937_64 engine;
  std::vector<Node> nodes;
  int values = kNumbers;

  int64_t pick(int64_t n) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(n)); }
  explicit Program(uint64_t seed) : engine(seed) {
    std::vector<int> seen = {0, 1, 2};
    nodes = block(seen, 0);
  }

  // `seen` are the values that a step here may use. Few operations and operands, so that many steps
  // are asked for more than once.
  std::vector<Node> block(std::vector<int>& seen, int depth) {
    constexpr Op kOps[] = {Op::add, Op::subtract, Op::multiply, Op::maximum};
    std::vector<Node> made;
    auto some = [&] {
      const auto n = static_cast<int64_t>(seen.size());
      return seen[std::min(pick(n), pick(n))];
    };
    for (int64_t n = 2 + pick(5); n > 0; --n) {
      Node node;
      const int64_t kind = depth < 3 ? pick(6) : 0;
      if (kind == 4) {
        node.kind = Node::Rare;
        node.of = {some(), some()};
        node.otherwise = some();
        std::vector<int> inner = seen;
        node.body = block(inner, depth + 1);
        node.inside = inner.back();
        node.to = values++;
      } else if (kind == 5) {
        node.kind = Node::Loop;
        node.count = 1 + pick(3);
        std::vector<int> inner = seen;
        node.to = values;
        for (int64_t c = 1 + pick(2); c > 0; --c) {
          node.of.push_back(some());
          inner.push_back(values++);
        }
        node.body = block(inner, depth + 1);
        for (size_t c = 0; c < node.of.size(); ++c)
          node.next.push_back(inner[pick(static_cast<int64_t>(inner.size()))]);
        for (size_t c = 1; c < node.of.size(); ++c) seen.push_back(node.to + static_cast<int>(c));
      } else {
        node.op = kOps[pick(4)];
        node.of = {some(), some()};
        node.to = values++;
      }
      seen.push_back(node.to);
      made.push_back(std::move(node));
    }
    return made;
  }

  // The meaning at one point.
  static void run(const std::vector<Node>& nodes, std::vector<int64_t>& value) {
    for (const Node& n : nodes) {
      const int64_t a = value[n.of[0]], b = value[n.of.back()];
      const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
      if (n.kind == Node::Rare) {
        if (a < b) run(n.body, value);
        value[n.to] = a < b ? value[n.inside] : value[n.otherwise];
      } else if (n.kind == Node::Loop) {
        for (size_t c = 0; c < n.of.size(); ++c) value[n.to + c] = value[n.of[c]];
        for (int64_t k = 0; k < n.count; ++k) {
          run(n.body, value);
          std::vector<int64_t> next;
          for (int v : n.next) next.push_back(value[v]);
          for (size_t c = 0; c < next.size(); ++c) value[n.to + c] = next[c];
        }
      } else if (n.op == Op::maximum) {
        value[n.to] = std::max(a, b);
      } else {
        value[n.to] = static_cast<int64_t>(n.op == Op::add        ? ua + ub
                                           : n.op == Op::subtract ? ua - ub
                                                                  : ua * ub);
      }
    }
  }

  static void build(const std::vector<Node>& nodes, Builder& b, std::vector<Val>& value,
                    size_t& asked) {
    for (const Node& n : nodes) {
      if (n.kind == Node::Rare) {
        const Val mask = b.emit(Op::less, DType::Bool, value[n.of[0]], value[n.of[1]]);
        const Val begin = b.begin_if_any(mask);
        build(n.body, b, value, asked);
        b.end_if_any(begin);
        value[n.to] = b.emit(Op::if_result, DType::I64, value[n.otherwise], value[n.inside], mask);
      } else if (n.kind == Node::Loop) {
        const Val begin = b.begin_repeat(b.constant(DType::I64, Scalar::from_int(n.count)));
        for (size_t c = 0; c < n.of.size(); ++c) value[n.to + c] = b.carry(value[n.of[c]]);
        build(n.body, b, value, asked);
        std::vector<std::pair<Val, Val>> next;
        for (size_t c = 0; c < n.of.size(); ++c)
          next.emplace_back(value[n.to + c], value[n.next[c]]);
        b.end_repeat(begin, next);
      } else {
        ++asked;
        value[n.to] = b.emit(n.op, DType::I64, value[n.of[0]], value[n.of[1]]);
      }
    }
  }
};

}  // namespace

TEST_CASE("the builder folds steps in every scope without changing what they mean") {
  size_t folded = 0;
  for (uint64_t seed : seeds(4000)) {
    CAPTURE(seed);
    Program p(seed);
    ir::Kernel k;
    for (int a = 0; a <= kNumbers; ++a)
      k.args.push_back({DType::I64, ir::Inner::Contiguous, a == kNumbers, false});
    Builder b(k);
    std::vector<Val> value(p.values, kNone);
    for (int a = 0; a < kNumbers; ++a)
      value[a] = b.emit(Op::load, DType::I64, kNone, kNone, kNone, a);
    size_t asked = 0;
    Program::build(p.nodes, b, value, asked);
    b.emit(Op::store, DType::I64, value[p.nodes.back().to], kNone, kNone, kNumbers);
    ir::verify(k);
    size_t steps = 0;
    for (const ir::Inst& i : k.body)
      steps +=
          i.op == Op::add || i.op == Op::subtract || i.op == Op::multiply || i.op == Op::maximum;
    REQUIRE(steps <= asked);
    folded += asked - steps;

    std::vector<std::vector<int64_t>> memory(kNumbers + 1, std::vector<int64_t>(kPoints));
    for (int a = 0; a < kNumbers; ++a)
      for (int64_t& x : memory[a]) x = p.pick(7) - 3;
    std::vector<int64_t> expected;
    for (int64_t n = 0; n < kPoints; ++n) {
      std::vector<int64_t> at(p.values);
      for (int a = 0; a < kNumbers; ++a) at[a] = memory[a][n];
      Program::run(p.nodes, at);
      expected.push_back(at[p.nodes.back().to]);
    }
    std::vector<int64_t> words(k.param_words());
    words[k.param_shape(0)] = kPoints;
    for (int a = 0; a <= kNumbers; ++a) {
      words[k.param_arg(a)] = reinterpret_cast<int64_t>(memory[a].data());
      words[k.param_arg(a) + 1] = 8;
    }
    interp::Program(k).run(words.data(), 0, 1, 0, kPoints, nullptr, 0);
    CAPTURE(ir::print(k));
    REQUIRE(memory[kNumbers] == expected);
  }
  CHECK(folded > 100);
}

TEST_CASE("a kernel's key tells apart whatever makes other code") {
  ir::Kernel k;
  k.rank = 2;
  k.boxes = 1;
  k.args = {{DType::F64, ir::Inner::Contiguous, false, false},
            {DType::F64, ir::Inner::Contiguous, true, false}};
  k.scalars = {DType::F64};
  k.acc_fields = {DType::F64, DType::I64};
  const double two_tables[2][2] = {{1, 2}, {1, 3}};
  const int first = ir::intern_table(two_tables[0], 2), second = ir::intern_table(two_tables[1], 2);
  k.body = {{Op::load, DType::F64},
            {Op::scalar, DType::F64},
            {Op::add, DType::F64, 0, 1},
            {Op::index, DType::I64},
            {Op::table, DType::F64, 3, kNone, kNone, first},
            {Op::store, DType::F64, 2, kNone, kNone, 1}};
  const std::vector<std::function<void(ir::Kernel&)>> changes = {
      [](ir::Kernel&) {},
      [](ir::Kernel& x) { x.rank = 3; },
      [](ir::Kernel& x) { x.boxes = 2; },
      [](ir::Kernel& x) { x.acc = ir::Acc::Lanes; },
      [](ir::Kernel& x) { x.acc = ir::Acc::Columns; },
      [](ir::Kernel& x) { x.one_by_one = true; },
      [](ir::Kernel& x) { x.streaming = true; },
      [](ir::Kernel& x) { x.args[0].dtype = DType::I64; },
      [](ir::Kernel& x) { x.args[0].inner = ir::Inner::Strided; },
      [](ir::Kernel& x) { x.args[0].written = true; },
      [](ir::Kernel& x) { x.args[0].aligned = true; },
      [](ir::Kernel& x) { x.args.push_back(x.args[0]); },
      [](ir::Kernel& x) { x.scalars[0] = DType::F32; },
      [](ir::Kernel& x) { x.scalars.push_back(DType::F64); },
      [](ir::Kernel& x) { x.scalars.clear(); },
      [](ir::Kernel& x) { x.acc_fields[1] = DType::F64; },
      [](ir::Kernel& x) { x.acc_fields.pop_back(); },
      [](ir::Kernel& x) { std::swap(x.acc_fields[0], x.acc_fields[1]); },
      [](ir::Kernel& x) { x.body[2].op = Op::subtract; },
      [](ir::Kernel& x) { x.body[2].type = DType::F32; },
      [](ir::Kernel& x) { x.body[2].a = 1; },
      [](ir::Kernel& x) { x.body[2].b = 0; },
      [](ir::Kernel& x) { x.body[2].c = 0; },
      [](ir::Kernel& x) { x.body[0].imm = 1; },
      [](ir::Kernel& x) { x.body.pop_back(); },
      [&](ir::Kernel& x) { x.body[4].imm = second; },
  };
  std::set<std::string> keys;
  for (const auto& change : changes) {
    ir::Kernel changed = k;
    change(changed);
    keys.insert(changed.key());
  }
  CHECK(keys.size() == changes.size());
}

TEST_CASE("a module's key tells apart whatever makes other code") {
  ir::Module m;
  m.functions.push_back({"f", {DType::I64}, {DType::I64}, {{Op::param, DType::I64}}});
  m.functions.push_back({"g", {DType::I64}, {DType::I64}, {{Op::param, DType::I64}}});
  m.texts = {"one", "two"};
  m.constants = {"ab", "c"};
  const std::string one("one\0two", 7), size("\2\0\0\0\0\0\0\0ab", 10);
  const std::vector<std::function<void(ir::Module&)>> changes = {
      [](ir::Module&) {},
      [](ir::Module& x) { x.kernel = true; },
      [](ir::Module& x) { x.fastmath = true; },
      [](ir::Module& x) { x.debug = true; },
      [](ir::Module& x) { x.max_threads = 32; },
      [](ir::Module& x) { x.min_blocks = 2; },
      [](ir::Module& x) { x.max_registers = 64; },
      [](ir::Module& x) { x.functions.pop_back(); },
      [](ir::Module& x) { x.functions[0].params.push_back(DType::I64); },
      [](ir::Module& x) { x.functions[0].params[0] = DType::F64; },
      [](ir::Module& x) { x.functions[0].results.clear(); },
      [](ir::Module& x) { x.functions[0].results[0] = DType::F64; },
      [](ir::Module& x) { x.functions[0].portion = true; },
      [](ir::Module& x) { x.functions[0].body[0].imm = 1; },
      [](ir::Module& x) { x.texts = {"onetwo"}; },
      // Where one text ends and the next one begins, though texts may hold zeros.
      [&](ir::Module& x) { x.texts = {one}; },
      [](ir::Module& x) { x.texts = {"one"}; },
      [](ir::Module& x) { x.constants = {"abc"}; },
      [](ir::Module& x) { x.constants = {"a", "bc"}; },
      // A text that looks like a constant.
      [&](ir::Module& x) {
        x.texts = {"one", "two", size};
        x.constants = {"c"};
      },
  };
  std::set<std::string> keys;
  for (const auto& change : changes) {
    ir::Module changed = m;
    change(changed);
    keys.insert(changed.key());
  }
  CHECK(keys.size() == changes.size());
}
