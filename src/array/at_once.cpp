// Small elementwise operations with nothing pending: carried out at once by a loop of the
// interpreter or a kernel made for the operation, without a window and a plan.
#include "array/at_once.h"

#include <array>
#include <cmath>

#include "array/at_once_blocks.h"
#include "array/at_once_calls.h"
#include "array/placement.h"
#include "interp/blocks.h"
#include "lazy/examine.h"
#include "lazy/float_errors.h"
#include "lazy/single.h"
#include "lazy/watch.h"
#include "passes/expand_complex.h"

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

namespace {

// How an operation is computed of dense arrays of some types, and of float64 numbers.
struct OfBlocks {
  uint64_t key = 0;
  bool possible = false;
  Instr instr;
  DType result;
  small::Single single;
  small::ReadyKernel* kernel = nullptr;

  void find(Op op, const Window::Input* in, int count) {
    possible = false;
    DType types[3];
    for (int k = 0; k < count; ++k) types[k] = in[k].view ? in[k].view->dtype : in[k].dtype;
    if (row(op).rule == Rule::Compare && types[0] != types[1]) return;
    Resolved loop;
    try {
      loop = resolve(op, {types, static_cast<size_t>(count)});
    } catch (const Error&) {  // which the usual way says
      return;
    }
    const DType t = loop.in[0];
    // Exponents are looked at first, and a dropped imaginary part is told.
    if ((loop.op == Op::power && kind(t) == Kind::Int) ||
        (is_complex(t) && !has_complex_expansion(loop.op)))
      return;
    for (int k = 0; k < count; ++k) {
      if (is_complex(types[k]) && !is_complex(loop.in[k])) return;
      if (!in[k].view && loop.in[k] != DType::F64) return;
    }
    instr = Instr();
    instr.op = loop.op;
    instr.loop = t;
    instr.nin = static_cast<uint8_t>(count);
    result = loop.out;
    single = small::Single();
    kernel = nullptr;
    if (!single.find(instr, result, result, in, count))
      kernel = &small::ready_kernel(instr, result, in, count);
    possible = true;
  }
};

}  // namespace

std::optional<Array> map_alike_at_once(Op op, std::span<const Arg> args) {
  constexpr uint64_t kNumber = kNumDTypes;
  static_assert(kNumDTypes < 63);
  Window::Input in[3];
  ViewRef views[3];
  const Array* first = nullptr;
  uint64_t key = static_cast<uint64_t>(op) << 2 | args.size();  // then six bits for each of three
  int count = 0;
  for (const Arg& a : args) {
    if (const Array* x = a.full()) {
      const Layout& l = *x->layout;
      if (a.mask() || !l.c_contiguous() || !small::readable(*x->base.get(), x->base->device))
        return {};
      if (!first)
        first = x;
      else if (x->base->device != first->base->device ||
               (x->layout.get() != first->layout.get() && !l.same_shape(*first->layout)))
        return {};
      views[count] = x->view();
      in[count].view = &views[count];
      key = key << 6 | static_cast<uint64_t>(x->dtype);
    } else {
      if (a.weak ? a.huge : a.dtype != DType::F64) return {};
      if (a.scalar.kind == Kind::Float)
        in[count].scalar = a.scalar;
      else if (a.scalar.kind == Kind::Int)
        in[count].scalar = Scalar::from_float(static_cast<double>(a.scalar.i));
      else
        return {};
      in[count].dtype = DType::F64;
      key = key << 6 | kNumber;
    }
    ++count;
  }
  if (!first || first->ndim() == 0) return {};
  key <<= 6 * (3 - count);
  const int64_t n = first->size();
  Device* device = first->base->device;
  if (n == 0 || n > small::kBlock / 2 || !small::may_run(n, *device) || placement::on) return {};

  // Python's lock is held.
  static auto& known = *new std::array<OfBlocks, 256>;
  OfBlocks& way = known[(key ^ key >> 7 ^ key >> 14) & 255];
  if (way.key != key) {
    way.find(op, in, count);
    way.key = key;
  }
  if (!way.possible) return {};
  // A number's type yields to that of arrays.
  if (count < 3 && !(in[0].view && (count == 1 || in[1].view)))
    if (first->dtype != DType::F64) return {};

  Array made;
  made.layout = LayoutRef(first->layout->contiguous_like(itemsize(way.result)));
  made.base = Handle(Base::create(*device, n * itemsize(way.result)));
  made.dtype = way.result;
  note_made(made);
  made.base->ensure_data();
  float_errors::Watch watch(way.instr, way.result, in);
  small::Block numbers;
  small::Block whole;  // booleans whose bytes are 0 or 1
  const char* given[3] = {};
  for (int k = 0; k < count; ++k) {
    if (in[k].view) {
      in[k].view->base->ensure_data();
      given[k] = in[k].view->base->data + in[k].view->offset;
      if (views[k].dtype == DType::Bool && !way.kernel) {
        char* into = whole.bytes + k * small::kBlock;
        interp::normalise(given[k], into, n);
        given[k] = into;
      }
    } else if (!way.kernel) {
      interp::fill(in[k].scalar.f, 8, numbers.bytes, n);
      given[k] = numbers.bytes;
    }
  }
  if (way.kernel)
    small::run(*way.kernel, in, count, n, made.base->data, given);
  else
    way.single.run(way.instr, count, n, given, made.base->data);
  watch.look(n, made.base->data, given);
  made.base->changed();
  ++Runtime::get().stats.at_once;
  return made;
}

}  // namespace numbus
