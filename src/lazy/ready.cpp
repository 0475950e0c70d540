// Kernels of single elementwise instructions over dense blocks.
#include "lazy/ready.h"

#include <unordered_map>

#include "lazy/executor.h"
#include "lazy/inline_function.h"
#include "passes/expand.h"
#include "passes/pipeline.h"

namespace numbus::small {
namespace {

using ir::kNone;
using ir::Val;

DType type_of(const Window::Input& in) { return in.view ? in.view->dtype : in.dtype; }

uint64_t key_of(const Instr& i, DType out, const Window::Input* in, int count) {
  uint64_t key = static_cast<uint64_t>(i.op);
  auto add = [&](uint64_t what) { key = key << 6 | what; };
  add(static_cast<uint64_t>(i.loop));
  add(static_cast<uint64_t>(out));
  add(static_cast<uint64_t>(i.predicated));
  for (int n = 0; n < count; ++n)
    add(static_cast<uint64_t>(type_of(in[n])) << 1 | (in[n].view != nullptr));
  return key << 3 | static_cast<uint64_t>(count);
}

}  // namespace

ir::Kernel ready_ir(const Instr& i, DType out, const Window::Input* in, int count) {
  ir::Kernel k;
  ir::Builder b(k);
  Val given[4] = {kNone, kNone, kNone, kNone};
  for (int n = 0; n < count; ++n) {
    const DType t = type_of(in[n]);
    if (in[n].view) {
      given[n] = b.emit(Op::load, t, kNone, kNone, kNone, std::ssize(k.args));
      k.args.push_back({t, ir::Inner::Contiguous, false, false});
    } else {
      given[n] = b.emit(Op::scalar, t, kNone, kNone, kNone, std::ssize(k.scalars));
      k.scalars.push_back(t);
    }
  }
  auto operand = [&](int n, DType t) { return convert(b, given[n], t); };
  const Val where = i.predicated ? operand(i.nin, DType::Bool) : kNone;
  const Val made = i.op == Op::apply ? inline_function(b, *i.function, operand, where)
                                     : map_value(b, i.op, i.loop, out, i.nin, operand);
  const Val v = convert(b, made, out);
  b.emit(Op::store, out, v, where, kNone, std::ssize(k.args));
  k.args.push_back({out, ir::Inner::Contiguous, true, false});
  lower(k);
  ir::verify(k);
  return k;
}

namespace {

ReadyKernel make(const Instr& i, DType out, const Window::Input* in, int count) {
  ir::Kernel k = ready_ir(i, out, in, count);
  ReadyKernel made;
  made.params.assign(k.param_words(), 0);
  for (size_t a = 0; a < k.args.size(); ++a)
    made.params[k.param_arg(static_cast<int>(a)) + 1] = itemsize(k.args[a].dtype);
  made.code = kernel_code(std::move(k));
  return made;
}

}  // namespace

ReadyKernel& ready_kernel(const Instr& i, DType out, const Window::Input* in, int count) {
  // One entry per operation and types: thousands at the most. Python's lock is held. Functions are
  // many, and go: the last one is kept until the next.
  if (i.op == Op::apply) {
    static auto& last = *new ReadyKernel;
    return last = make(i, out, in, count);
  }
  static auto& known = *new std::unordered_map<uint64_t, ReadyKernel>;
  const uint64_t key = key_of(i, out, in, count);
  auto at = known.find(key);
  if (at == known.end()) at = known.emplace(key, make(i, out, in, count)).first;
  return at->second;
}

void run(ReadyKernel& kernel, const Window::Input* in, int count, int64_t n, char* out,
         const char* const* operands) {
  KernelCode& code = *kernel.code;
  const ir::Kernel& k = code.ir;
  int64_t* params = kernel.params.data();
  params[k.param_shape(0)] = n;
  int args = 0, scalars = 0;
  for (int a = 0; a < count; ++a) {
    if (in[a].view)
      params[k.param_arg(args++)] = reinterpret_cast<int64_t>(operands[a]);
    else
      store_scalar(in[a].scalar, in[a].dtype, params + k.param_scalar(scalars++));
  }
  params[k.param_arg(args)] = reinterpret_cast<int64_t>(out);
  Runtime& rt = Runtime::get();
  const auto steps = std::ssize(k.body);
  // Such kernels are few, and who calls one some hundred times goes on: it is worth a thread's
  // time soon.
  const bool often = code.interpreted_ns > 300'000 && compiles_beside();
  if (compiled(rt, code, often ? kWorthCompiling : steps * n)) {
    code.native(params, 0, 1, 0, n, nullptr, 0);
    return;
  }
  code.program->run(params, 0, 1, 0, n, nullptr, 0);
  ++rt.stats.interpreted;
  // About what that took, in ns: reading a clock takes as long as several steps.
  code.interpreted_ns += steps * (6 + n / 2);
}

}  // namespace numbus::small
