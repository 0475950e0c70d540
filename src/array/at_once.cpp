// Small elementwise operations with nothing pending: carried out at once by a loop of the
// interpreter or a kernel made for the operation, without a window and a plan.
#include "array/at_once.h"

#include <cstring>

#include "array/at_once_blocks.h"
#include "array/at_once_calls.h"
#include "array/ready.h"
#include "interp/blocks.h"

namespace numbus {
namespace {

using interp::Loop;
using interp::loops;
using small::Block;
using small::conversion;
using small::convert;

// start + index * step, as the recorded steps compute it.
template <class T>
void progression(char* out, T start, T step, int64_t n) {
  T* to = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const T distance = static_cast<T>(static_cast<T>(i) * step);
    to[i] = static_cast<T>(start + distance);
  }
}
bool progression(DType t, const Scalar& start, const Scalar& step, char* out, int64_t n) {
  switch (t) {
    case DType::I64:
      // What leaves int64 wraps around.
      progression<uint64_t>(out, start.u, step.u, n);
      return true;
    case DType::F32:
      progression(out, static_cast<float>(start.f[0]), static_cast<float>(step.f[0]), n);
      return true;
    case DType::F64: progression(out, start.f[0], step.f[0], n); return true;
    default: return false;
  }
}

// What one loop of the interpreter makes of operands, each of which it may convert first.
struct Single {
  Loop loop = nullptr;
  DType made;  // the type of what it makes
  Loop load[3] = {}, store = nullptr;
  DType reads[3];
  bool copies = false;  // there is nothing to compute
  bool twice = false;   // the operand is the second one, too

  // False: the operation is no single loop.
  bool find(const Instr& i, DType result, DType out, const Window::Input* in, int count) {
    made = result;
    std::fill_n(reads, 3, i.loop);
    if (i.predicated || is_complex(i.loop)) return false;
    if (i.op == Op::index) {
      made = i.loop;
      copies = true;
    } else if (i.op == Op::cast) {
      made = i.loop;
      reads[0] = in[0].view ? in[0].view->dtype : in[0].dtype;
      copies = reads[0] == made;
      if (!copies) loop = conversion(reads[0], made);
    } else if (i.op == Op::select) {
      reads[0] = DType::Bool;
      if (itemsize(made) <= 8) loop = loops().select(itemsize(made));
    } else if (i.op == Op::square) {
      loop = loops().row(Op::multiply, i.loop);
      twice = true;
    } else if (static_cast<int>(i.op) < kNumRows) {
      loop = loops().row(i.op, i.loop);
    }
    if ((!loop && !copies) || is_complex(made)) return false;
    if (made != out) store = conversion(made, out);
    if (made != out && !store) return false;
    if (i.op == Op::index) return true;
    for (int k = 0; k < count; ++k) {
      const DType t = in[k].view ? in[k].view->dtype : in[k].dtype;
      if (t == reads[k]) continue;
      load[k] = conversion(t, reads[k]);
      if (!load[k]) return false;
    }
    return true;
  }

  void run(const Instr& i, int count, int64_t n, const char* const* given, char* into) const {
    Block wide[3];
    const char* operand[3] = {given[0], given[1], given[2]};
    for (int k = 0; k < count; ++k) {
      if (!load[k]) continue;
      convert(load[k], reads[k], wide[k].bytes, operand[k], n);
      operand[k] = wide[k].bytes;
    }
    if (twice) operand[1] = operand[0];
    if (copies)
      std::memcpy(into, operand[0], static_cast<size_t>(n * itemsize(made)));
    else if (i.op == Op::cast)
      convert(loop, made, into, operand[0], n);
    else
      loop(into, operand[0], operand[1], operand[2], n);
  }
};

}  // namespace

bool carry_out_at_once(const Instr& i, DType result, const Array& out, const Window::Input* in,
                       int count) {
  const Layout& domain = *out.layout;
  const int64_t n = domain.size();
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

  // What computes it.
  Block line;
  Single single;
  const bool one_loop = single.find(i, result, out.dtype, in, count);
  small::ReadyKernel* kernel = nullptr;
  if (i.op == Op::index) {
    if (!one_loop || domain.ndim() != 1 ||
        !progression(i.loop, in[0].scalar, in[1].scalar, line.bytes, n))
      return false;
    count = 0;
  } else if (!one_loop) {
    const bool wide = is_complex(i.loop) || is_complex(result) || is_complex(out.dtype);
    if (wide && n * 16 > std::ssize(line.bytes)) return false;
    // Exponents that nobody has looked at are found where they run.
    if (i.op == Op::power && kind(i.loop) == Kind::Int && in[1].view &&
        kind(in[1].view->dtype) == Kind::Int &&
        (i.predicated || !in[1].view->layout->c_contiguous()))
      return false;
    kernel = &small::ready_kernel(i, out.dtype, in, count);
  }

  target.ensure_data();
  char* to = target.data + out.offset;
  // One order for all: that of memory, where all are dense in the same one, else C's.
  bool as_in_memory = domain.c_contiguous();
  if (!as_in_memory && domain.f_contiguous()) {
    as_in_memory = true;
    for (int k = 0; k < count; ++k)
      as_in_memory = as_in_memory && (!in[k].view || in[k].view->layout->f_contiguous());
  }
  const bool by_f = as_in_memory && !domain.c_contiguous();
  Block blocks[4];
  const char* given[4] = {line.bytes};
  for (int k = 0; k < count; ++k) {
    char* block = blocks[k].bytes;
    given[k] = block;
    if (!in[k].view) {
      if (kernel) continue;
      uint64_t bits = 0;
      store_scalar(in[k].scalar, in[k].dtype, &bits);
      interp::fill(&bits, itemsize(in[k].dtype), block, n);
      continue;
    }
    const ViewRef& v = *in[k].view;
    v.base->ensure_data();
    const char *from = v.base->data + v.offset, *memory_end = v.base->data + v.base->nbytes;
    const bool dense = by_f ? v.layout->f_contiguous() : v.layout->c_contiguous();
    const bool converted = !kernel && single.load[k];
    // What is overwritten meanwhile is read first, unless each element is written where it is read.
    const bool in_place =
        from == to && v.layout == out.layout.get() && !kernel && !single.store && !converted;
    const bool overlaps =
        !in_place && target.data < memory_end && v.base->data < target.data + target.nbytes;
    if (!dense)
      small::gather(itemsize(v.dtype), *v.layout, from, block);
    else if (overlaps && !converted)
      std::memcpy(block, from, static_cast<size_t>(n * itemsize(v.dtype)));
    else
      given[k] = from;
    if (v.dtype == DType::Bool && !kernel) {
      interp::normalise(given[k], block, n);
      given[k] = block;
    }
  }

  Block made;
  char* into = as_in_memory && (kernel || !single.store) ? to : made.bytes;
  if (kernel) {
    // Elements that the predicate leaves out stay as they are.
    if (i.predicated && into != to) small::gather(itemsize(out.dtype), domain, to, into);
    small::run(*kernel, in, count, n, into, given);
  } else {
    single.run(i, count, n, given, into);
    if (single.store) {
      char* stored = as_in_memory ? to : line.bytes;
      convert(single.store, out.dtype, stored, into, n);
      into = stored;
    }
  }
  if (into != to) small::scatter(itemsize(out.dtype), domain, to, into);
  target.changed();
  ++Runtime::get().stats.at_once;
  return true;
}

namespace {

// How an operation is computed of float64 numbers.
struct OfNumbers {
  enum : uint8_t { Unknown, None, BySingle, ByKernel } how = Unknown;
  Instr instr;
  Single single;
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
  ++Runtime::get().stats.at_once;
  return result;
}

}  // namespace numbus
