// Identity, checking and printing of functions.
#include "ir/function.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/hash.h"

namespace numbus::ir {

const char* intrinsic_name(Intrinsic i) {
  static const char* const kNames[] = {"tid.x",
                                       "tid.y",
                                       "tid.z",
                                       "ntid.x",
                                       "ntid.y",
                                       "ntid.z",
                                       "ctaid.x",
                                       "ctaid.y",
                                       "ctaid.z",
                                       "nctaid.x",
                                       "nctaid.y",
                                       "nctaid.z",
                                       "laneid",
                                       "warpsize",
                                       "barrier",
                                       "barrier_count",
                                       "barrier_and",
                                       "barrier_or",
                                       "grid_barrier",
                                       "fence_block",
                                       "fence",
                                       "fence_system",
                                       "syncwarp",
                                       "activemask",
                                       "shfl_idx",
                                       "shfl_up",
                                       "shfl_down",
                                       "shfl_xor",
                                       "all_sync",
                                       "any_sync",
                                       "eq_sync",
                                       "ballot",
                                       "match_any",
                                       "match_all",
                                       "lanemask_lt",
                                       "clz",
                                       "brev",
                                       "ffs",
                                       "nanosleep",
                                       "shared_memory",
                                       "local_memory",
                                       "dynamic_shared",
                                       "constant_memory",
                                       "atomic_add",
                                       "atomic_sub",
                                       "atomic_and",
                                       "atomic_or",
                                       "atomic_xor",
                                       "atomic_inc",
                                       "atomic_dec",
                                       "atomic_exch",
                                       "atomic_max",
                                       "atomic_min",
                                       "atomic_nanmax",
                                       "atomic_nanmin",
                                       "atomic_cas",
                                       "fma",
                                       "allocate",
                                       "data_of",
                                       "retain",
                                       "release",
                                       "list",
                                       "resize",
                                       "fail",
                                       "parallel",
                                       "print_text",
                                       "print_int",
                                       "print_float",
                                       "print_end",
                                       "lane_index",
                                       "lane_count",
                                       "lane_merge",
                                       "watch",
                                       "leaves",
                                       "random"};
  static_assert(std::size(kNames) == static_cast<int>(Intrinsic::random) + 1);
  return kNames[static_cast<int>(i)];
}

std::string Module::key() const {
  std::string s;
  auto put = [&](const auto& v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(static_cast<int>(functions.size()));
  put(kernel);
  put(fastmath);
  put(debug);
  put(max_threads);
  put(min_blocks);
  put(max_registers);
  for (const std::string& t : texts) s += t + '\0';
  for (const std::string& c : constants) {
    put(c.size());
    s += c;
  }
  for (const Function& f : functions) {
    put(static_cast<int>(f.params.size()));
    for (DType t : f.params) put(t);
    put(static_cast<int>(f.results.size()));
    for (DType t : f.results) put(t);
    put(f.portion);
    put(static_cast<int>(f.body.size()));
    for (const Inst& i : f.body) put_step(s, i);
  }
  return s;
}

std::string print(const Module& m) {
  std::string s;
  for (const Function& f : m.functions) {
    s += "function " + f.name + "(";
    for (DType t : f.params) s += std::string(name(t)) + (&t == &f.params.back() ? "" : ", ");
    s += ") ->";
    for (DType t : f.results) s += " " + std::string(name(t));
    s += "\n" + print_steps(f.body);
  }
  return s;
}

void verify(const Module& m) {
  for (const Function& f : m.functions) {
    auto fail = [&](size_t v, const char* what) {
      raise(ErrorKind::Runtime, "verify: " + f.name + ", step " + std::to_string(v) + ": " + what +
                                    "\n" + print_steps(f.body));
    };
    std::vector<Val> open;
    for (size_t v = 0; v < f.body.size(); ++v) {
      const Inst& i = f.body[v];
      for (Val o : {i.a, i.b, i.c})
        if (o != kNone && (o < 0 || o >= static_cast<Val>(v)))
          fail(v, "operand not defined before its use");
      auto type = [&](Val o) { return f.body[o].type; };
      auto is = [&](Val o, Op op) { return o != kNone && f.body[o].op == op; };
      int op = static_cast<int>(i.op);
      if (op < kNumRows) {
        const Row& r = kRows[op];
        if ((r.nin >= 2 && type(i.a) != type(i.b)) || (r.nin >= 3 && type(i.a) != type(i.c)))
          fail(v, "operand types differ");
      }
      switch (i.op) {
        case Op::param:
          if (i.imm >= static_cast<int64_t>(f.params.size()) || f.params[i.imm] != i.type)
            fail(v, "parameter");
          break;
        case Op::get:
        case Op::set:
          if (!is(i.a, Op::variable) || type(i.a) != i.type) fail(v, "variable");
          if (i.op == Op::set && type(i.b) != i.type) fail(v, "type of the new value");
          break;
        case Op::branch:
          if (type(i.a) != DType::Bool) fail(v, "condition");
          [[fallthrough]];
        case Op::loop: open.push_back(static_cast<Val>(v)); break;
        case Op::branch_else:
        case Op::end_branch:
        case Op::loop_next:
        case Op::end_loop:
          if (open.empty() || open.back() != i.a) fail(v, "does not match what is open");
          if (is(i.a, Op::branch) != (i.op == Op::branch_else || i.op == Op::end_branch))
            fail(v, "matches the wrong kind");
          if (i.op == Op::end_branch || i.op == Op::end_loop) open.pop_back();
          break;
        case Op::break_loop:
        case Op::continue_loop:
          if (!is(i.a, Op::loop) || std::find(open.begin(), open.end(), i.a) == open.end())
            fail(v, "no such loop around it");
          break;
        case Op::give:
          if (f.results.at(i.imm) != type(i.a)) fail(v, "result type");
          break;
        case Op::ret:
          if (type(i.a) != DType::I32) fail(v, "status type");
          break;
        case Op::read:
          if (type(i.a) != DType::I64 || type(i.b) != DType::I64) fail(v, "address type");
          break;
        case Op::write:
          if (type(i.b) != DType::I64 || type(i.c) != DType::I64 || type(i.a) != i.type)
            fail(v, "address or value type");
          break;
        case Op::call:
          if (i.imm < 0 || i.imm >= static_cast<int64_t>(m.functions.size()))
            fail(v, "no such function");
          break;
        case Op::call_result:
          if (!is(i.a, Op::call) || m.functions[f.body[i.a].imm].results.at(i.imm) != i.type)
            fail(v, "result of a call");
          break;
        case Op::select:
          if (type(i.a) != DType::Bool || type(i.b) != i.type || type(i.c) != i.type)
            fail(v, "select types");
          break;
        default: break;
      }
    }
    if (!open.empty()) fail(f.body.size() - 1, "something stays open");
  }
}

}  // namespace numbus::ir
