// One elementwise instruction without a plan, block by block.
#include "lazy/single.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "interp/blocks.h"
#include "lazy/runtime.h"
#include "lazy/watch.h"

namespace numbus::small {
namespace {

using interp::Loop;
using interp::loops;

// start + index * step from index `first` on, as the recorded steps compute it.
template <class T>
void progression(char* out, T start, T step, int64_t first, int64_t n) {
  T* to = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const T distance = static_cast<T>(static_cast<T>(first + i) * step);
    to[i] = static_cast<T>(start + distance);
  }
}
void progression(DType t, const Scalar& start, const Scalar& step, char* out, int64_t first,
                 int64_t n) {
  if (t == DType::I64)  // what leaves int64 wraps around
    progression<uint64_t>(out, start.u, step.u, first, n);
  else if (t == DType::F32)
    progression(out, static_cast<float>(start.f[0]), static_cast<float>(step.f[0]), first, n);
  else
    progression(out, start.f[0], step.f[0], first, n);
}

// An array operand: its memory, and its strides along the dimensions of the walk.
struct Walked {
  char* at = nullptr;
  int size = 0;
  bool dense = false;  // within a block
  int64_t strides[kMaxDims];
};

// The elements of all operands in one order, that of the result's memory, in blocks: of whole rows
// of the outermost dimension of a block, or of a part of one row.
class Walk {
 public:
  Walk(const ViewRef& out, const Window::Input* in, int count, int64_t most)
      : arrays_(count), most_(most) {
    const Layout& l = *out.layout;
    bool dense = l.c_contiguous();
    for (int k = 0; k < count; ++k) {
      if (!in[k].view) continue;
      dense = dense && in[k].view->layout->c_contiguous();
      place(in_[k], *in[k].view);
    }
    place(out_, out);
    if (dense) {
      rank_ = 1;
      shape_[0] = l.size();
      each([](Walked& w) { w.strides[0] = w.size; });
    } else {
      order(l, out, in);
    }
    divide();
  }

  // Calls visit(first index, elements) for each block, whose box() and operands are then set.
  template <class Visit>
  void blocks(Visit&& visit) {
    int64_t index[kMaxDims];
    for (int d = 0; d < split_; ++d) index[d] = 0;
    for (int64_t first = 0;;) {
      for (int64_t row = 0; row < rows_all_; row += rows_) {
        shape_[split_] = std::min(rows_, rows_all_ - row);
        const int64_t n = shape_[split_] * inner_;
        visit(first, n);
        first += n;
        each([&](Walked& w) { w.at += shape_[split_] * w.strides[split_]; });
      }
      each([&](Walked& w) { w.at -= rows_all_ * w.strides[split_]; });
      int d = split_ - 1;
      for (; d >= 0; --d) {
        each([&](Walked& w) { w.at += w.strides[d]; });
        if (++index[d] < shape_[d]) break;
        each([&](Walked& w) { w.at -= shape_[d] * w.strides[d]; });
        index[d] = 0;
      }
      if (d < 0) return;
    }
  }
  bool one_block() const { return split_ == 0 && rows_ == rows_all_; }
  Box box() const { return {rank_ - split_, shape_ + split_}; }
  const int64_t* strides(const Walked& w) const { return w.strides + split_; }
  Walked& out() { return out_; }
  Walked& in(int k) { return in_[k]; }

 private:
  static void place(Walked& w, const ViewRef& v) {
    w.at = v.base->data + v.offset;
    w.size = itemsize(v.dtype);
  }
  template <class Do>
  void each(Do&& what) {
    what(out_);
    for (int k = 0; k < arrays_; ++k)
      if (in_[k].at) what(in_[k]);
  }
  // Dimensions by the strides of the result, and those merged that all operands walk as one.
  void order(const Layout& l, const ViewRef& out, const Window::Input* in) {
    int dims[kMaxDims], n = 0;
    for (int d = 0; d < l.ndim(); ++d) {
      if (l.shape(d) == 1) continue;
      int at = n++;
      for (; at > 0 && std::abs(l.stride(dims[at - 1])) < std::abs(l.stride(d)); --at)
        dims[at] = dims[at - 1];
      dims[at] = d;
    }
    auto stride = [&](int k, int d) {
      return (k < 0 ? out.layout : in[k].view->layout)->stride(d);
    };
    auto each_array = [&](auto&& what) {
      what(out_, -1);
      for (int k = 0; k < arrays_; ++k)
        if (in_[k].at) what(in_[k], k);
    };
    for (int at = 0; at < n; ++at) {
      const int d = dims[at];
      bool merges = rank_ > 0;
      each_array([&](Walked& w, int k) {
        merges = merges && w.strides[rank_ - 1] == stride(k, d) * l.shape(d);
      });
      if (merges) {
        shape_[rank_ - 1] *= l.shape(d);
      } else {
        shape_[rank_++] = l.shape(d);
      }
      each_array([&](Walked& w, int k) { w.strides[rank_ - 1] = stride(k, d); });
    }
    if (rank_ > 0) return;
    rank_ = 1;
    shape_[0] = 1;
    each([](Walked& w) { w.strides[0] = w.size; });
  }
  void divide() {
    split_ = rank_ - 1;
    inner_ = 1;
    while (split_ > 0 && inner_ * shape_[split_] <= most_) inner_ *= shape_[split_--];
    rows_all_ = shape_[split_];
    rows_ = std::min(rows_all_, most_ / inner_);
    each([&](Walked& w) {
      int64_t expected = w.size;
      w.dense = true;
      for (int d = rank_; d-- > split_; expected *= d == split_ ? 1 : shape_[d])
        w.dense = w.dense && w.strides[d] == expected;
    });
  }

  int arrays_, rank_ = 0, split_ = 0;
  int64_t most_, inner_ = 1, rows_ = 1, rows_all_ = 1;
  int64_t shape_[kMaxDims];
  Walked out_, in_[4];
};

// Whether the view shares bytes with the result otherwise than element by element.
enum class Meets { No, Alike, Apart };
Meets meets(const ViewRef& v, const ViewRef& out) {
  const char *from = v.base->data + v.offset, *to = out.base->data + out.offset;
  if (from + v.layout->high() <= to + out.layout->low() ||
      to + out.layout->high() <= from + v.layout->low())
    return Meets::No;
  return from == to && v.layout == out.layout ? Meets::Alike : Meets::Apart;
}

}  // namespace

bool Single::find(const Instr& i, DType result, DType out, const Window::Input* in, int count) {
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

void Single::run(const Instr& i, int count, int64_t n, const char* const* given, char* into) const {
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

bool map_now(const Instr& i, DType result, const ViewRef& out, const Window::Input* in, int count) {
  Block line;
  Single single;
  float_errors::Watch watch(i, out.dtype, in);
  const bool one_loop = single.find(i, result, out.dtype, in, count);
  ReadyKernel* kernel = nullptr;
  int64_t most = kBlock;
  const bool counts = i.op == Op::index;
  if (counts) {
    if (!one_loop || out.layout->ndim() != 1 ||
        (i.loop != DType::I64 && i.loop != DType::F32 && i.loop != DType::F64))
      return false;
    count = 0;
  } else if (!one_loop) {
    if (is_complex(i.loop) || is_complex(result) || is_complex(out.dtype)) most = kBlock / 2;
    for (int k = 0; k < count; ++k)
      if (in[k].view && is_complex(in[k].view->dtype)) most = kBlock / 2;
    // Exponents that nobody has looked at are found where they run.
    if (i.op == Op::power && kind(i.loop) == Kind::Int && in[1].view &&
        kind(in[1].view->dtype) == Kind::Int &&
        (i.predicated || !in[1].view->layout->c_contiguous()))
      return false;
    kernel = &ready_kernel(i, out.dtype, in, count);
  }

  out.base->ensure_data();
  for (int k = 0; k < count; ++k)
    if (in[k].view) in[k].view->base->ensure_data();
  if (out.layout->size() == 0) return true;
  Walk walk(out, in, count, most);
  Meets met[4] = {};
  for (int k = 0; k < count; ++k) {
    if (!in[k].view) continue;
    met[k] = meets(*in[k].view, out);
    // What is overwritten meanwhile has to be read first.
    if (met[k] == Meets::Apart && !walk.one_block()) return false;
  }
  const char* given[4] = {line.bytes};
  // Blocks of operands that are not read where they lie; most operations need none.
  Block blocks[4];
  for (int k = 0; k < count; ++k) {
    given[k] = blocks[k].bytes;
    if (in[k].view || kernel) continue;
    uint64_t bits = 0;
    store_scalar(in[k].scalar, in[k].dtype, &bits);
    interp::fill(&bits, itemsize(in[k].dtype), blocks[k].bytes,
                 std::min(out.layout->size(), kBlock));
  }
  Block made;
  Walked& to = walk.out();
  walk.blocks([&](int64_t first, int64_t n) {
    const Box box = walk.box();
    if (counts) progression(i.loop, in[0].scalar, in[1].scalar, line.bytes, first, n);
    for (int k = 0; k < count; ++k) {
      if (!in[k].view) continue;
      Walked& from = walk.in(k);
      char* block = blocks[k].bytes;
      const bool converted = !kernel && single.load[k];
      // Each element is written where it is read.
      const bool in_place = met[k] == Meets::Alike && !kernel && !single.store && !converted &&
                            !watch.needs_operands();
      if (!from.dense)
        gather(from.size, box, walk.strides(from), from.at, block);
      else if (met[k] != Meets::No && !in_place && !converted)
        std::memcpy(block, from.at, static_cast<size_t>(n * from.size));
      else
        block = from.at;
      given[k] = block;
      if (in[k].view->dtype == DType::Bool && !kernel) {
        interp::normalise(given[k], blocks[k].bytes, n);
        given[k] = blocks[k].bytes;
      }
    }
    char* into = to.dense && (kernel || !single.store) ? to.at : made.bytes;
    if (kernel) {
      // Elements that the predicate leaves out stay as they are.
      if (i.predicated && into != to.at) gather(to.size, box, walk.strides(to), to.at, into);
      run(*kernel, in, count, n, into, given);
    } else {
      single.run(i, count, n, given, into);
      if (single.store) {
        char* stored = to.dense ? to.at : line.bytes;
        convert(single.store, out.dtype, stored, into, n);
        into = stored;
      }
    }
    watch.look(n, into, given);
    if (into != to.at) scatter(to.size, box, walk.strides(to), to.at, into);
  });
  return true;
}

}  // namespace numbus::small
