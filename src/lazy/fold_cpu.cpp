// Rows folded by one operation: kernels that read what they wrote a row before.
#include "lazy/fold_cpu.h"

#include "lazy/executor.h"
#include "passes/expand.h"
#include "passes/pipeline.h"

namespace numbus {

bool order_free(Op op, DType t) {
  if (!compile::is_associative(op) || is_complex(t)) return false;
  return !is_inexact(t) || (op != Op::add && op != Op::multiply);
}

// A loop in the interpreter costs far more than an element: compile early.
bool worth_compiling(const Runtime& rt, bool already, int64_t points, int& runs) {
  if (!rt.may_compile()) return false;
  return already || rt.mode == Mode::Compiled || points >= 4096 || ++runs > 64;
}

compile::NativeFunction counted(Runtime& rt, const compile::Compiled& c) {
  if (c.milliseconds > 0) c.from_disk ? ++rt.stats.disk_hits : ++rt.stats.compiles;
  rt.stats.compile_ms += c.milliseconds;
  return c.function;
}

std::shared_ptr<KernelCode> fold_rows(Op op, DType in_type, DType type, const Layout& in,
                                      const Layout& out, int dim) {
  ir::Kernel k;
  k.rank = 2;
  k.boxes = 1;  // all rows but the first
  auto arg = [&](DType t, const Layout& l, bool written) {
    ir::Inner inner = l.stride(dim) == itemsize(t) || l.shape(dim) == 1 ? ir::Inner::Contiguous
                      : l.stride(dim) == 0                              ? ir::Inner::Uniform
                                                                        : ir::Inner::Strided;
    k.args.push_back({t, inner, written, false});
  };
  arg(type, out, true);
  arg(in_type, in, false);
  arg(type, out, true);
  ir::Builder b(k);
  using ir::kNone;
  ir::Val later = b.emit(Op::in_box, DType::Bool, kNone, kNone, kNone, 0);
  ir::Val before = b.emit(Op::load, type, later, kNone, kNone, 0);
  ir::Val x = convert(b, b.emit(Op::load, in_type, kNone, kNone, kNone, 1), type);
  ir::Val y = choose(b, later, expand(b, op, before, x), x);
  b.emit(Op::store, type, y, kNone, kNone, 2);
  lower(k);
  ir::verify(k);
  return kernel_code(std::move(k));
}

void compile_fold_rows(Runtime& rt, KernelCode& code) {
  if (!code.native) install(rt, code, compile::compile_native(code.ir));
}

void run_fold_rows(const KernelCode& code, bool native, const FoldRange& range,
                   const std::array<FoldArg, 3>& args) {
  const ir::Kernel& k = code.ir;
  std::array<int64_t, 32> words{};
  words[0] = range.rows, words[1] = range.columns;
  words[k.param_box(0, 0)] = 1, words[k.param_box(0, 0) + 1] = range.rows;
  words[k.param_box(0, 1)] = 0, words[k.param_box(0, 1) + 1] = range.columns;
  for (int a = 0; a < 3; ++a) {
    int64_t* w = &words[k.param_arg(a)];
    w[0] = args[a].address;
    w[1] = args[a].row_stride;
    w[2] = k.args[a].inner == ir::Inner::Contiguous ? itemsize(k.args[a].dtype)
                                                    : args[a].column_stride;
  }
  if (native) return code.native(words.data(), 0, range.rows, range.from, range.to, nullptr, 0);
  for (int64_t p = 0; p < range.rows; ++p)
    code.program->run(words.data(), p, p + 1, range.from, range.to, nullptr, 0);
}

}  // namespace numbus
