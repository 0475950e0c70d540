// Small elementwise operations with nothing pending: carried out at once by a loop of the
// interpreter or a kernel made for the operation, without a window and a plan.
#include "array/at_once.h"

#include <cmath>

#include "array/at_once_blocks.h"
#include "array/at_once_calls.h"
#include "lazy/examine.h"
#include "lazy/float_errors.h"
#include "lazy/single.h"

namespace numbus {

namespace {

// Where a mask tells which elements take part, those that NumPy may warn of are kept: it could not
// be asked about them afterwards.
bool map_some_now(const Instr& i, DType result, const Array& out, const Window::Input* in,
                  int count) {
  Instr told = i;
  told.told = float_errors::state.told;
  told.told_as = float_errors::state.told_as;
  told.out.layout = out.layout.get();
  told.out.dtype = out.dtype;
  float_errors::Collect collect(told);
  if (!small::map_now(i, result, out.view(), in, count)) return false;
  if (!collect.met()) return true;
  collect.finding().line = current_line();
  float_errors::add(std::move(collect.finding()));
  return true;
}

}  // namespace

bool carry_out_at_once(const Instr& i, DType result, const Array& out, const Window::Input* in,
                       int count) {
  const int64_t n = out.layout->size();
  Base& target = *out.base.get();
  // A flush may move the target elsewhere: it has to rest where the question was asked.
  Device* device = target.device;
  if (!small::may_run(n, *device) || target.mask || i.gathers() || i.scatters() ||
      i.op == Op::apply)
    return false;
  const bool resting = small::rests(*device, [&] {
    if (!small::at_rest(target, device)) return false;
    for (int k = 0; k < count; ++k)
      if (in[k].view && !small::readable(*in[k].view->base, device)) return false;
    return true;
  });
  if (!resting) return false;

  if (i.predicated && float_errors::state.told) {
    if (!map_some_now(i, result, out, in, count)) return false;
  } else if (!small::map_now(i, result, out.view(), in, count)) {
    return false;
  }
  target.changed();
  ++Runtime::get().stats.at_once;
  return true;
}

namespace {

// How an operation is computed of float64 numbers.
struct OfNumbers {
  enum : uint8_t { Unknown, None, BySingle, ByKernel } how = Unknown;
  Instr instr;
  float_errors::Evidence evidence = float_errors::Evidence::Flags;
  small::Single single;
  Window::Input in[3];
  small::ReadyKernel* kernel = nullptr;

  void find(Op op) {
    constexpr DType kAll[3] = {DType::F64, DType::F64, DType::F64};
    const Row& r = row(op);
    how = None;
    Resolved loop;
    try {
      loop = resolve(op, {kAll, r.nin});
    } catch (const Error&) {  // it takes no floats
      return;
    }
    if (loop.out != DType::F64) return;
    for (int k = 0; k < r.nin; ++k) {
      if (loop.in[k] != DType::F64) return;
      in[k].dtype = DType::F64;
    }
    instr.op = loop.op;
    instr.loop = DType::F64;
    instr.nin = r.nin;
    evidence = float_errors::evidence_of(instr, DType::F64);
    how = single.find(instr, DType::F64, DType::F64, in, r.nin) ? BySingle : ByKernel;
    if (how == ByKernel) kernel = &small::ready_kernel(instr, DType::F64, in, r.nin);
  }
};

}  // namespace

std::optional<double> number_at_once(Op op, const double* x) {
  static auto* known = new OfNumbers[kNumRows];
  if (Runtime::get().at_once < 1 || !may_work_at_once()) return {};
  OfNumbers& way = known[static_cast<int>(op)];
  if (way.how == OfNumbers::Unknown) way.find(op);
  if (way.how == OfNumbers::None) return {};
  const int count = way.instr.nin;
  alignas(64) double result = 0;
  auto* into = reinterpret_cast<char*>(&result);
  if (way.how == OfNumbers::BySingle) {
    const char* given[3] = {};
    for (int k = 0; k < count; ++k) given[k] = reinterpret_cast<const char*>(x + k);
    way.single.run(way.instr, count, 1, given, into);
  } else {
    const char* none[3] = {};
    for (int k = 0; k < count; ++k) way.in[k].scalar = Scalar::from_float(x[k]);
    small::run(*way.kernel, way.in, count, 1, into, none);
  }
  // Our own steps set flags or leave them out.
  if (float_errors::state.watched && way.evidence != float_errors::Evidence::Flags) {
    flags::clear();
    if (!std::isfinite(result)) flags::raise(flags::kAll);
  }
  ++Runtime::get().stats.at_once;
  return result;
}

}  // namespace numbus
