// Runs the IR of functions step by step, as its comments define it: what passes are tested against.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "interp/loops.h"
#include "ir/function.h"

namespace numbus::test {

// What a call leaves. Values are bit patterns in 64-bit words, as a kernel's constants are.
struct Outcome {
  int64_t status = 0;
  std::vector<int64_t> results;
  // The first error that was noted.
  bool failed = false;
  int64_t site = 0, first = 0, second = 0;

  bool operator==(const Outcome& o) const {
    if (status != o.status || failed != o.failed) return false;
    if (failed) return site == o.site && first == o.first && second == o.second;
    return results == o.results;
  }
};

class Evaluator {
 public:
  explicit Evaluator(const ir::Module& m) : m_(m) {}

  // Every read and write has to lie in one of these.
  void allow(void* begin, size_t bytes) { memory_.push_back({static_cast<char*>(begin), bytes}); }

  Outcome run(const ir::Function& f, const std::vector<int64_t>& params) {
    outcome_ = {};
    steps_ = 0;
    std::vector<int64_t> results;
    int64_t status = call(f, params, results);
    outcome_.status = ended_ ? 1 : status;
    outcome_.results = std::move(results);
    ended_ = false;
    return outcome_;
  }

 private:
  struct Block {
    char* begin;
    size_t bytes;
  };
  // Where control goes after a step.
  enum class Flow { On, Break, Continue, Return };

  static constexpr int64_t kMostSteps = 4'000'000;

  struct Frame {
    const ir::Function& f;
    const std::vector<int64_t>& params;
    std::vector<int64_t>& results;
    std::vector<int64_t> at;  // per step: its value; of a variable what it holds
    std::vector<std::vector<int64_t>> called;
    std::vector<int64_t> arguments;
    std::vector<size_t> end, middle;
    ir::Val target = ir::kNone;  // of a break or continue
    int64_t status = 0;
  };

  int64_t call(const ir::Function& f, const std::vector<int64_t>& params,
               std::vector<int64_t>& results) {
    size_t n = f.body.size();
    Frame r{f,
            params,
            results,
            std::vector<int64_t>(n),
            {},
            {},
            std::vector<size_t>(n),
            std::vector<size_t>(n)};
    r.called.resize(n);
    results.assign(f.results.size(), 0);
    for (size_t v = 0; v < n; ++v) {
      const ir::Inst& i = f.body[v];
      if (i.op == Op::branch_else || i.op == Op::loop_next) r.middle[i.a] = v;
      if (i.op == Op::end_branch || i.op == Op::end_loop || i.op == Op::end_if ||
          i.op == Op::end_repeat)
        r.end[i.a] = v;
    }
    range(r, 0, n);
    return r.status;
  }

  Flow range(Frame& r, size_t from, size_t to) {
    for (size_t v = from; v < to; ++v) {
      if (++steps_ > kMostSteps) throw std::runtime_error("the function does not end");
      const ir::Inst& i = r.f.body[v];
      Flow flow = Flow::On;
      switch (i.op) {
        case Op::branch: {
          size_t middle = r.middle[v] ? r.middle[v] : r.end[v];
          if (r.at[i.a] & 1)
            flow = range(r, v + 1, middle);
          else if (r.middle[v])
            flow = range(r, middle + 1, r.end[v]);
          v = r.end[v];
          break;
        }
        case Op::loop: flow = loop(r, v); break;
        case Op::if_any:
          if (r.at[i.a] & 1) range(r, v + 1, r.end[v]);
          v = r.end[v];
          break;
        case Op::repeat: repeat(r, v); break;
        case Op::break_loop:
        case Op::continue_loop:
          r.target = i.a;
          return i.op == Op::break_loop ? Flow::Break : Flow::Continue;
        case Op::ret: r.status = r.at[i.a]; return Flow::Return;
        default: step(r, v, i);
      }
      if (ended_) return Flow::Return;
      if (flow != Flow::On) return flow;
    }
    return Flow::On;
  }

  // Leaves v at the loop's end.
  Flow loop(Frame& r, size_t& v) {
    auto begin = static_cast<ir::Val>(v);
    size_t end = r.end[v], middle = r.middle[v] ? r.middle[v] : end;
    v = end;
    for (;;) {
      Flow flow = range(r, begin + 1, middle);
      if (flow == Flow::On || (flow == Flow::Continue && r.target == begin))
        flow = middle < end ? range(r, middle + 1, end) : Flow::On;
      if (flow == Flow::On) continue;
      if (flow == Flow::Break && r.target == begin) return Flow::On;
      return flow;
    }
  }

  void repeat(Frame& r, size_t& v) {
    size_t begin = v, end = r.end[v], first = begin + 1;
    const auto& body = r.f.body;
    v = end;
    while (body[first].op == Op::carry) {
      r.at[first] = r.at[body[first].a];
      ++first;
    }
    int64_t count = body[begin].a == ir::kNone ? 0 : r.at[body[begin].a];
    for (;;) {
      range(r, first, end);
      if (ended_) return;
      std::vector<std::pair<ir::Val, int64_t>> next;
      for (size_t n = first; n < end; ++n) {
        if (body[n].op == Op::repeat) n = r.end[n];
        if (body[n].op == Op::carry_next) next.emplace_back(body[n].a, r.at[body[n].b]);
      }
      for (auto [carry, value] : next) r.at[carry] = value;
      bool again = body[begin].a == ir::kNone ? (r.at[body[end].b] & 1) != 0 : --count > 0;
      if (!again) return;
    }
  }

  static int64_t narrow(DType t, int64_t bits) {
    return itemsize(t) >= 8 ? bits : bits & ((int64_t{1} << (8 * itemsize(t))) - 1);
  }

  void step(Frame& r, size_t v, const ir::Inst& i) {
    auto at = [&](ir::Val o) { return r.at[o]; };
    int64_t& to = r.at[v];
    switch (i.op) {
      case Op::constant: to = narrow(i.type, i.imm); return;
      case Op::param: to = r.params[i.imm]; return;
      case Op::variable:
      case Op::carry:
      case Op::carry_next:
      case Op::end_if: return;
      case Op::get: to = at(i.a); return;
      case Op::set: r.at[i.a] = at(i.b); return;
      case Op::give: r.results[i.imm] = at(i.a); return;
      case Op::if_result: to = at(i.c) & 1 ? at(i.b) : at(i.a); return;
      case Op::select: to = at(i.a) & 1 ? at(i.b) : at(i.c); return;
      case Op::bits: to = at(i.a); return;
      case Op::argument: r.arguments.push_back(at(i.a)); return;
      case Op::call: {
        std::vector<int64_t> arguments = std::move(r.arguments);
        r.arguments.clear();
        to = call(m_.functions.at(i.imm), arguments, r.called[v]);
        return;
      }
      case Op::call_result: to = r.called[i.a].at(i.imm); return;
      case Op::read: {
        to = 0;
        std::memcpy(&to, address(at(i.a) + at(i.b), itemsize(i.type)), itemsize(i.type));
        return;
      }
      case Op::write:
        std::memcpy(address(at(i.b) + at(i.c), itemsize(i.type)), &r.at[i.a], itemsize(i.type));
        return;
      case Op::intrinsic: intrinsic(r, i); return;
      default: break;
    }
    if (i.op == Op::floor_divide || i.op == Op::remainder) {
      to = divided(i.op, i.type, at(i.a), at(i.b));
      return;
    }
    interp::Loop f = i.op == Op::cast ? interp::loops().cast(r.f.body[i.a].type, i.type)
                                      : interp::loops().row(i.op, r.f.body[i.a].type);
    if (!f) throw std::runtime_error("no evaluation of " + std::string(op_name(i.op)));
    int64_t operands[3] = {};
    for (int n = 0; ir::Val o : {i.a, i.b, i.c}) {
      if (o != ir::kNone) operands[n] = at(o);
      ++n;
    }
    int64_t out[2] = {};
    f(out, &operands[0], i.b == ir::kNone ? nullptr : &operands[1],
      i.c == ir::kNone ? nullptr : &operands[2], 1);
    to = narrow(i.type, out[0]);
  }

  // NumPy's division of int64 numbers: rounded down, zero by zero.
  static int64_t divided(Op op, DType t, int64_t a, int64_t b) {
    if (t != DType::I64) throw std::runtime_error("no evaluation of a division of this type");
    bool rest = op == Op::remainder;
    if (b == 0) return 0;
    if (b == -1) return rest ? 0 : static_cast<int64_t>(0 - static_cast<uint64_t>(a));
    bool down = a % b != 0 && (a % b < 0) != (b < 0);
    return rest ? a % b + (down ? b : 0) : a / b - (down ? 1 : 0);
  }

  void intrinsic(Frame& r, const ir::Inst& i) {
    if (ir::intrinsic_of(i) != ir::Intrinsic::fail)
      throw std::runtime_error(std::string("no evaluation of ") +
                               ir::intrinsic_name(ir::intrinsic_of(i)));
    if (!outcome_.failed) {
      outcome_.failed = true;
      outcome_.site = r.at[i.a];
      outcome_.first = i.b == ir::kNone ? 0 : r.at[i.b];
      outcome_.second = i.c == ir::kNone ? 0 : r.at[i.c];
    }
    ended_ = ended_ || ir::number_of(i) == 1;
  }

  char* address(int64_t at, int bytes) const {
    auto* p = reinterpret_cast<char*>(at);  // NOLINT(performance-no-int-to-ptr)
    for (const Block& b : memory_)
      if (p >= b.begin && p + bytes <= b.begin + b.bytes) return p;
    throw std::runtime_error("memory that no array has");
  }

  const ir::Module& m_;
  std::vector<Block> memory_;
  Outcome outcome_;
  int64_t steps_ = 0;
  bool ended_ = false;  // all lanes, by an error
};

}  // namespace numbus::test
