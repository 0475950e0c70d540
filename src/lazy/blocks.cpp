// Few elements between strided memory and dense blocks, and between types.
#include "lazy/blocks.h"

#include <cstring>

#include "interp/blocks.h"

namespace numbus::small {
namespace {

template <bool kGather>
void move(int size, const Box& box, const int64_t* strides, char* memory, char* block) {
  const int last = box.rank - 1;
  if (last < 0) return interp::move<kGather>(size, memory, 0, block, 1);
  const int64_t n = box.shape[last], stride = strides[last];
  int64_t index[kMaxDims];
  for (int d = 0; d < last; ++d) index[d] = 0;
  for (int d = last; d >= 0; block += n * size) {
    if (stride == size)
      std::memcpy(kGather ? block : memory, kGather ? memory : block,
                  static_cast<size_t>(n * size));
    else
      interp::move<kGather>(size, memory, stride, block, n);
    for (d = last - 1; d >= 0; --d) {
      memory += strides[d];
      if (++index[d] < box.shape[d]) break;
      memory -= box.shape[d] * strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

void gather(int size, const Box& box, const int64_t* strides, const char* memory, char* block) {
  move<true>(size, box, strides, const_cast<char*>(memory), block);
}
void scatter(int size, const Box& box, const int64_t* strides, char* memory, const char* block) {
  move<false>(size, box, strides, memory, const_cast<char*>(block));
}

interp::Loop conversion(DType from, DType to) {
  if (is_complex(from) || is_complex(to)) return nullptr;
  if (to == DType::Bool) return interp::loops().row(Op::not_equal, from);
  return is_half(from) || is_half(to) ? nullptr : interp::loops().cast(from, to);
}
void convert(interp::Loop loop, DType to, void* out, const void* from, int64_t n) {
  static const Block zeros{};
  loop(out, from, to == DType::Bool ? zeros.bytes : nullptr, nullptr, n);
}

}  // namespace numbus::small
