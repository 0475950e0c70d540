// Rows of a copy by their layouts: one element repeated, elements side by side; what remains,
// element by element.
#include "lazy/move_cpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "base/with_length.h"

namespace numbus {
namespace {

struct Pair {
  uint64_t low, high;
};

// A plane of rows and columns; strides in bytes.
struct Plane {
  char* to;
  const char* from;
  int64_t rows, cols, to_row, to_col, from_row, from_col;
};

// A truth value: bytes of foreign memory may be others than 0 and 1.
struct Truth {
  uint8_t byte;
};

template <class U>
U read(const char* at) {
  U v;
  std::memcpy(&v, at, sizeof v);
  if constexpr (std::is_same_v<U, Truth>) v.byte = v.byte != 0;
  return v;
}
template <class U>
void write(char* at, U v) {
  std::memcpy(at, &v, sizeof v);
}

// Each row is one element, `count` times.
template <class U, int count>
void repeat(const Plane& p) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const U v = read<U>(p.from + r * p.from_row);
    char* to = p.to + r * p.to_row;
    for (int c = 0; c < count; ++c) write(to + c * sizeof(U), v);
  }
}
template <class U>
void repeat(const Plane& p) {
  switch (p.cols) {
    case 2: return repeat<U, 2>(p);
    case 3: return repeat<U, 3>(p);
    case 4: return repeat<U, 4>(p);
    case 5: return repeat<U, 5>(p);
    case 6: return repeat<U, 6>(p);
    case 7: return repeat<U, 7>(p);
    case 8: return repeat<U, 8>(p);
    default: break;
  }
  for (int64_t r = 0; r < p.rows; ++r) {
    const U v = read<U>(p.from + r * p.from_row);
    char* to = p.to + r * p.to_row;
    for (int64_t c = 0; c < p.cols; ++c) write(to + c * sizeof(U), v);
  }
}

// The columns of two or four vectors as vectors.
using Wide [[gnu::vector_size(16)]] = uint64_t;
using Narrow [[gnu::vector_size(16)]] = uint32_t;

void turn(const Wide (&in)[2], Wide (&out)[2]) {
  out[0] = __builtin_shufflevector(in[0], in[1], 0, 2);
  out[1] = __builtin_shufflevector(in[0], in[1], 1, 3);
}
void turn(const Narrow (&in)[4], Narrow (&out)[4]) {
  const Narrow a = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5),
               b = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5),
               c = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7),
               d = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  out[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  out[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  out[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

// Elements that lie side by side along the rows of what is read: a line of memory is read as a
// whole, and written as parts of several rows.
template <class U>
void transpose(const Plane& p) {
  constexpr int64_t kSize = sizeof(U), kSide = 16 / kSize, kRows = 64 / kSize;
  using V = std::conditional_t<kSize == 8, Wide, Narrow>;
  int64_t r = 0;
  for (; r + kRows <= p.rows; r += kRows) {
    const char* from = p.from + r * kSize;
    char* to = p.to + r * p.to_row;
    int64_t c = 0;
    for (; c + kSide <= p.cols; c += kSide)
      for (int64_t k = 0; k < kRows; k += kSide) {
        V in[kSide], out[kSide];
        for (int64_t i = 0; i < kSide; ++i)
          std::memcpy(&in[i], from + k * kSize + (c + i) * p.from_col, 16);
        turn(in, out);
        for (int64_t i = 0; i < kSide; ++i)
          std::memcpy(to + (k + i) * p.to_row + c * kSize, &out[i], 16);
      }
    for (; c < p.cols; ++c)
      for (int64_t k = 0; k < kRows; ++k)
        write(to + k * p.to_row + c * kSize, read<U>(from + k * kSize + c * p.from_col));
  }
  for (; r < p.rows; ++r)
    for (int64_t c = 0; c < p.cols; ++c)
      write(p.to + r * p.to_row + c * kSize, read<U>(p.from + r * kSize + c * p.from_col));
}

template <class U>
void move_plane(const Plane& p) {
  constexpr int64_t kSize = sizeof(U);
  if constexpr (std::is_same_v<U, uint64_t> || std::is_same_v<U, uint32_t>)
    if (p.to_col == kSize && p.from_row == kSize && p.from_col != kSize) return transpose<U>(p);
  if (p.to_col == kSize && p.from_col == 0) return repeat<U>(p);
  if (p.to_col == kSize && p.from_col == kSize && !std::is_same_v<U, Truth>) {
    const auto bytes = static_cast<size_t>(p.cols * kSize);
    for (int64_t r = 0; r < p.rows; ++r)
      std::memcpy(p.to + r * p.to_row, p.from + r * p.from_row, bytes);
    return;
  }
  for (int64_t r = 0; r < p.rows; ++r) {
    const char* from = p.from + r * p.from_row;
    char* to = p.to + r * p.to_row;
    if (p.to_col == kSize && p.from_col == -kSize)
      for (int64_t c = 0; c < p.cols; ++c) write(to + c * kSize, read<U>(from - c * kSize));
    else
      for (int64_t c = 0; c < p.cols; ++c) write(to + c * p.to_col, read<U>(from + c * p.from_col));
  }
}

void move_plane(DType t, const Plane& p) {
  if (t == DType::Bool) return move_plane<Truth>(p);
  switch (itemsize(t)) {
    case 1: return move_plane<uint8_t>(p);
    case 2: return move_plane<uint16_t>(p);
    case 4: return move_plane<uint32_t>(p);
    case 8: return move_plane<uint64_t>(p);
    default: return move_plane<Pair>(p);
  }
}

}  // namespace

bool copies(const ir::Kernel& k) {
  return k.body.size() == 2 && k.args.size() == 2 && !k.boxes && k.acc == ir::Acc::None &&
         k.body[0].op == Op::load && k.body[0].a == ir::kNone && k.body[0].imm == 0 &&
         k.body[1].op == Op::store && k.body[1].a == 0 && k.body[1].b == ir::kNone &&
         k.body[1].imm == 1 && k.args[0].dtype == k.args[1].dtype;
}

bool gathers_only(const ir::Kernel& k) {
  // As KernelBuilder::spread_offset() has them.
  constexpr Op kSteps[] = {Op::constant, Op::load,   Op::scalar,   Op::add,    Op::less,
                           Op::select,   Op::scalar, Op::multiply, Op::gather, Op::store};
  return k.args.size() == 3 && k.scalars.size() == 2 && !k.boxes && k.acc == ir::Acc::None &&
         std::equal(std::begin(kSteps), std::end(kSteps), k.body.begin(), k.body.end(),
                    [](Op op, const ir::Inst& i) { return op == i.op; }) &&
         k.body[1].imm == 1 && k.args[1].dtype == DType::I64 && k.body[8].imm == 0 &&
         k.body[9].imm == 2 && k.args[0].dtype == k.args[2].dtype &&
         k.args[0].dtype != DType::Bool && k.args[0].inner == ir::Inner::Contiguous &&
         k.args[1].inner == ir::Inner::Uniform && k.args[2].inner == ir::Inner::Contiguous;
}

bool scatters_only(const ir::Kernel& k) {
  constexpr Op kSteps[] = {Op::constant, Op::load,   Op::scalar,   Op::add,  Op::less,
                           Op::select,   Op::scalar, Op::multiply, Op::load, Op::scatter};
  constexpr size_t kValue = 8;
  if (k.rank != 1 || k.boxes || k.acc != ir::Acc::None || k.body.size() != std::size(kSteps))
    return false;
  const bool number = k.body[kValue].op == Op::scalar;
  for (size_t n = 0; n < std::size(kSteps); ++n)
    if (k.body[n].op != kSteps[n] && !(n == kValue && number)) return false;
  const size_t index = number ? 0 : 1, to = index + 1;
  if (k.args.size() != to + 1 || k.scalars.size() != (number ? 3U : 2U) ||
      k.body[1].imm != static_cast<int64_t>(index) || k.body[1].a != ir::kNone ||
      k.args[index].dtype != DType::I64 || k.args[index].inner != ir::Inner::Contiguous ||
      k.body[9].imm != static_cast<int64_t>(to) || k.args[to].dtype == DType::Bool ||
      k.args[to].inner != ir::Inner::Uniform || k.body[9].type != k.args[to].dtype)
    return false;
  if (number) return itemsize(k.args[to].dtype) == 8 && k.body[kValue].type == k.args[to].dtype;
  return k.body[kValue].a == ir::kNone && k.body[kValue].imm == 0 &&
         k.args[0].dtype == k.args[to].dtype && k.args[0].inner == ir::Inner::Contiguous;
}

bool moves(const KernelStep& step) {
  constexpr int64_t kShort = 4096;  // columns
  if (step.puts && !step.serial) return true;
  if (step.takes_rows && !step.serial) return true;
  if (!step.copies || step.serial) return false;
  const ir::Kernel& k = step.code->ir;
  if (k.args[1].inner != ir::Inner::Contiguous || k.args[0].inner == ir::Inner::Strided) {
    // Elements across the order of memory are better read as vectors of a row.
    const int64_t* from = step.params.data() + k.param_arg(0);
    const int64_t size = itemsize(k.args[0].dtype);
    const bool transposed = k.args[1].inner == ir::Inner::Contiguous && (size == 4 || size == 8);
    if (transposed && k.rank > 1 && from[k.rank - 1] == size) return true;
    return k.rank == 1 || std::abs(from[k.rank - 1]) >= std::abs(from[k.rank]);
  }
  return k.args[0].inner == ir::Inner::Uniform || (k.rank > 1 && step.cols < kShort);
}

namespace {

// Elements [c0, c1), or one number, to their indices, in order.
template <class U>
void put(const KernelStep& step, int64_t c0, int64_t c1) {
  const ir::Kernel& k = step.code->ir;
  const size_t index = k.args.size() - 2;
  const int64_t *where = step.params.data() + k.param_arg(static_cast<int>(index)),
                *target = step.params.data() + k.param_arg(static_cast<int>(index) + 1);
  const int64_t extent = step.params[k.param_scalar(0)], stride = step.params[k.param_scalar(1)];
  const char* at = reinterpret_cast<const char*>(where[0]);
  char* to = reinterpret_cast<char*>(target[0]);
  auto each = [&](auto value) {
    for (int64_t c = c0; c < c1; ++c) {
      auto i = read<int64_t>(at + c * 8);
      i += i < 0 ? extent : 0;
      write(to + i * stride, value(c));
    }
  };
  if (index == 0) {
    const auto number = read<U>(reinterpret_cast<const char*>(&step.params[k.param_scalar(2)]));
    return each([&](int64_t) { return number; });
  }
  const auto* from = reinterpret_cast<const char*>(step.params[k.param_arg(0)]);
  each([&](int64_t c) { return read<U>(from + c * static_cast<int64_t>(sizeof(U))); });
}
void put(const KernelStep& step, int64_t c0, int64_t c1) {
  switch (itemsize(step.code->ir.args.back().dtype)) {
    case 1: return put<uint8_t>(step, c0, c1);
    case 2: return put<uint16_t>(step, c0, c1);
    case 4: return put<uint32_t>(step, c0, c1);
    case 8: return put<uint64_t>(step, c0, c1);
    default: return put<Pair>(step, c0, c1);
  }
}

// Rows of a plane, an index for each row.
void take_plane(const KernelStep& step, int64_t r0, int64_t r1, int64_t first, int64_t bytes) {
  const ir::Kernel& k = step.code->ir;
  const int64_t* words[3];
  for (int a = 0; a < 3; ++a) words[a] = step.params.data() + k.param_arg(a);
  const int64_t extent = step.params[k.param_scalar(0)], stride = step.params[k.param_scalar(1)];
  with_length(bytes, [&](auto length) {
    const char *from = reinterpret_cast<const char*>(words[0][0] + first),
               *at = reinterpret_cast<const char*>(words[1][0]);
    char* to = reinterpret_cast<char*>(words[2][0] + first);
    for (int64_t row = r0; row < r1; ++row) {
      auto i = read<int64_t>(at + row * words[1][1]);
      i += i < 0 ? extent : 0;
      std::memcpy(to + row * words[2][1], from + row * words[0][1] + i * stride,
                  static_cast<size_t>(length));
    }
  });
}

// Rows [r0, r1) of elements at indices, one for each row.
void take_rows(const KernelStep& step, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  const ir::Kernel& k = step.code->ir;
  const int64_t* words[3];
  for (int a = 0; a < 3; ++a) words[a] = step.params.data() + k.param_arg(a);
  const int64_t extent = step.params[k.param_scalar(0)], stride = step.params[k.param_scalar(1)];
  const int64_t size = itemsize(k.args[0].dtype);
  const auto bytes = static_cast<size_t>((c1 - c0) * size);
  if (k.rank == 2) return take_plane(step, r0, r1, c0 * size, (c1 - c0) * size);
  for (int64_t row = r0; row < r1; ++row) {
    int64_t at[3] = {words[0][0] + c0 * size, words[1][0], words[2][0] + c0 * size};
    int64_t rest = row;
    for (int d = k.rank - 2; d >= 0; --d) {
      int64_t index = rest;
      if (d > 0) {
        const int64_t n = step.params[k.param_shape(d)];
        rest = index / n;
        index -= rest * n;
      }
      for (int a = 0; a < 3; ++a) at[a] += index * words[a][1 + d];
    }
    auto index = read<int64_t>(reinterpret_cast<const char*>(at[1]));
    if (index < 0) index += extent;
    std::memcpy(reinterpret_cast<char*>(at[2]),
                reinterpret_cast<const char*>(at[0] + index * stride), bytes);
  }
}

}  // namespace

void move_points(const KernelStep& step, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  if (step.puts) return put(step, c0, c1);
  if (step.takes_rows) return take_rows(step, r0, r1, c0, c1);
  const ir::Kernel& k = step.code->ir;
  const int64_t *from = step.params.data() + k.param_arg(0),
                *to = step.params.data() + k.param_arg(1);
  const int outer = k.rank - 1, last = outer - 1;
  Plane p{};
  p.cols = c1 - c0;
  p.from_col = from[1 + outer];
  p.to_col = to[1 + outer];
  p.from_row = outer ? from[1 + last] : 0;
  p.to_row = outer ? to[1 + last] : 0;
  for (int64_t row = r0; row < r1; row += p.rows) {
    const int64_t extent = outer > 1 ? step.params[k.param_shape(last)] : r1;
    p.from = reinterpret_cast<const char*>(from[0]) + c0 * p.from_col;
    p.to = reinterpret_cast<char*>(to[0]) + c0 * p.to_col;
    int64_t rest = outer > 1 ? row / extent : 0;
    const int64_t first = row - rest * extent;
    p.rows = std::min(r1 - row, extent - first);
    p.from += first * p.from_row;
    p.to += first * p.to_row;
    for (int d = last - 1; d >= 0; --d) {
      const int64_t n = d ? step.params[k.param_shape(d)] : rest + 1;
      p.from += rest % n * from[1 + d];
      p.to += rest % n * to[1 + d];
      rest /= n;
    }
    move_plane(k.args[0].dtype, p);
  }
}

}  // namespace numbus
