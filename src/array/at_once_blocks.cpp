// Few elements between strided memory and dense blocks, and between types.
#include "array/at_once_blocks.h"

#include "array/at_once_calls.h"
#include "interp/blocks.h"

namespace numbus::small {
namespace {

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

}  // namespace

bool may_run(int64_t n, const Device& device) {
  return n <= Runtime::get().at_once && may_work_at_once() && device.host_readable();
}

void gather(int size, const Layout& l, const char* memory, char* block) {
  move<true>(size, l, const_cast<char*>(memory), block);
}
void scatter(int size, const Layout& l, char* memory, const char* block) {
  move<false>(size, l, memory, const_cast<char*>(block));
}

interp::Loop conversion(DType from, DType to) {
  if (is_complex(from) || is_complex(to)) return nullptr;
  if (to == DType::Bool) return interp::loops().row(Op::not_equal, from);
  return from == DType::F16 || to == DType::F16 ? nullptr : interp::loops().cast(from, to);
}
void convert(interp::Loop loop, DType to, void* out, const void* from, int64_t n) {
  static const Block zeros{};
  loop(out, from, to == DType::Bool ? zeros.bytes : nullptr, nullptr, n);
}

}  // namespace numbus::small
