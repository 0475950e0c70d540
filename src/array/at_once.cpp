// Small elementwise operations with nothing pending: carried out at once by the interpreter's
// loops, without a window and a plan.
#include "array/at_once.h"

#include <algorithm>
#include <cstring>

#include "interp/blocks.h"
#include "interp/loops.h"

namespace numbus {
namespace {

using interp::Loop;
using interp::loops;

constexpr int64_t kMost = kMostAtOnce;
struct alignas(64) Block {
  char bytes[kMost * 8];
};

// Moves the elements of a strided view, in C order, between its memory and a dense block.
template <bool kGather>
void move(int size, const Layout& l, char* memory, char* block) {
  const int last = l.ndim() - 1;
  if (last < 0) return interp::move<kGather>(size, memory, 0, block, 1);
  int64_t index[kMaxDims] = {};
  for (int d = last; d >= 0; block += l.shape(last) * size) {
    interp::move<kGather>(size, memory, l.stride(last), block, l.shape(last));
    for (d = last - 1; d >= 0; --d) {
      memory += l.stride(d);
      if (++index[d] < l.shape(d)) break;
      memory -= l.shape(d) * l.stride(d);
      index[d] = 0;
    }
  }
}

// The loop that converts, or none: half precision and complex numbers take several steps.
Loop conversion(DType from, DType to) {
  if (to == DType::Bool) return loops().row(Op::not_equal, from);
  return from == DType::F16 || to == DType::F16 ? nullptr : loops().cast(from, to);
}
void convert(Loop loop, DType to, void* out, const void* from, int64_t n) {
  static const Block zeros{};
  loop(out, from, to == DType::Bool ? zeros.bytes : nullptr, nullptr, n);
}

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

bool at_rest(const Base& b, const Device* device) {
  return b.device == device && !b.pending() && !b.failure;
}
// What is pending may read it, too, but not write it.
bool readable(const Base& b, const Device* device) {
  if (b.device != device || b.flights > 0 || b.other_windows > 0 || b.failure) return false;
  return !b.window || !b.window->writes(b);
}

}  // namespace

bool carry_out_at_once(const Instr& i, DType result, const Array& out, const Window::Input* in,
                       int count) {
  Runtime& rt = Runtime::get();
  const Layout& domain = *out.layout;
  const int64_t n = domain.size();
  if (n > rt.at_once || rt.mode != Mode::Auto || rt.explanation || i.predicated || i.gathers() ||
      i.scatters())
    return false;
  Base& target = *out.base.get();
  Device* device = target.device;
  if (!device->host_readable() || !at_rest(target, device) || target.mask) return false;
  for (int k = 0; k < count; ++k)
    if (in[k].view && !readable(*in[k].view->base, device)) return false;

  // What the loop reads and makes.
  Loop loop = nullptr;
  bool copies = false, twice = false;
  Block line;
  DType made = result, reads[3] = {i.loop, i.loop, i.loop};
  if (i.op == Op::index) {
    if (domain.ndim() != 1 || !progression(i.loop, in[0].scalar, in[1].scalar, line.bytes, n))
      return false;
    made = i.loop;
    copies = true;
    count = 0;
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
  if (!loop && !copies) return false;
  if (itemsize(made) > 8) return false;
  const Loop store = made == out.dtype ? nullptr : conversion(made, out.dtype);
  if (made != out.dtype && !store) return false;
  Loop load[3] = {};
  for (int k = 0; k < count; ++k) {
    DType t = in[k].view ? in[k].view->dtype : in[k].dtype;
    if (itemsize(t) > 8) return false;
    if (t == reads[k]) continue;
    load[k] = conversion(t, reads[k]);
    if (!load[k]) return false;
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
  const void* operand[3] = {line.bytes};
  for (int k = 0; k < count; ++k) {
    char* block = blocks[k].bytes;
    if (!in[k].view) {
      uint64_t bits = 0;
      store_scalar(in[k].scalar, in[k].dtype, &bits);
      interp::fill(&bits, itemsize(in[k].dtype), block, n);
      operand[k] = block;
    } else {
      const ViewRef& v = *in[k].view;
      v.base->ensure_data();
      char* from = v.base->data + v.offset;
      bool dense = by_f ? v.layout->f_contiguous() : v.layout->c_contiguous();
      const char* memory_end = v.base->data + v.base->nbytes;
      // What is overwritten meanwhile is read first, unless each element is written where it is
      // read.
      bool overlaps = target.data < memory_end && v.base->data < target.data + target.nbytes &&
                      !(from == to && v.layout == out.layout.get() && !store && !load[k]);
      operand[k] = from;
      if (!dense) {
        move<true>(itemsize(v.dtype), *v.layout, from, block);
        operand[k] = block;
      } else if (overlaps && !load[k]) {
        std::memcpy(block, from, static_cast<size_t>(n * itemsize(v.dtype)));
        operand[k] = block;
      }
      if (v.dtype == DType::Bool) {
        interp::normalise(static_cast<const char*>(operand[k]), block, n);
        operand[k] = block;
      }
    }
    if (!load[k]) continue;
    Block wide;
    convert(load[k], reads[k], wide.bytes, operand[k], n);
    std::memcpy(block, wide.bytes, static_cast<size_t>(n * itemsize(reads[k])));
    operand[k] = block;
  }
  if (twice) operand[1] = operand[0];
  const bool direct = as_in_memory && !store;
  char* into = direct ? to : blocks[3].bytes;
  if (copies) {
    if (direct)
      std::memcpy(into, operand[0], static_cast<size_t>(n * itemsize(made)));
    else
      into = static_cast<char*>(const_cast<void*>(operand[0]));
  } else if (i.op == Op::cast) {
    convert(loop, made, into, operand[0], n);
  } else {
    loop(into, operand[0], operand[1], operand[2], n);
  }
  if (store) {
    Block narrow;
    char* stored = as_in_memory ? to : narrow.bytes;
    convert(store, out.dtype, stored, into, n);
    if (!as_in_memory) move<false>(itemsize(out.dtype), domain, to, stored);
  } else if (!as_in_memory) {
    move<false>(itemsize(made), domain, to, into);
  }
  target.changed();
  ++rt.stats.at_once;
  return true;
}

}  // namespace numbus
