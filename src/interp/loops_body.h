// Included by loops_*.cpp inside their target pragma: instantiates every loop from the table of
// operations. (Not a header of its own: it must see the pragma.)

namespace numbus::interp {
namespace {

template <class R, class T>
using Stored =
    std::conditional_t<std::is_same_v<R, bool> || std::is_same_v<R, uint8_t>, uint8_t, T>;

#define PRIM(name, nin, rule, bool_as, llvm, expr, ...) NUMBUS_LOOP(name, expr)
#define MATH(...)
#define INTERNAL(name, nin, rule, llvm, expr, dx) NUMBUS_LOOP(name, expr)
#define NUMBUS_LOOP(name, expr)                                                            \
  template <class T>                                                                       \
  void loop_##name(void* out, const void* pa, const void* pb, const void* pc, int64_t n) { \
    const T *va = static_cast<const T*>(pa), *vb = static_cast<const T*>(pb),              \
            *vc = static_cast<const T*>(pc);                                               \
    auto f = [](T a, [[maybe_unused]] T b, [[maybe_unused]] T c) { return expr; };         \
    using S = Stored<decltype(f(T(), T(), T())), T>;                                       \
    S* r = static_cast<S*>(out);                                                           \
    if (!vb) vb = va;                                                                      \
    if (!vc) vc = va;                                                                      \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) r[i] =                            \
        static_cast<S>(f(va[i], vb[i], vc[i]));                                            \
  }                                                                                        \
  template <class T>                                                                       \
  void scan_##name(char* out, int64_t out_stride, const char* in, int64_t in_stride,       \
                   const char* before, int64_t n) {                                        \
    auto f = [](T a, [[maybe_unused]] T b, [[maybe_unused]] T c) { return expr; };         \
    T state, next;                                                                         \
    std::memcpy(&state, before ? before : in, sizeof(T));                                  \
    int64_t k = 0;                                                                         \
    if (!before) std::memcpy(out, &state, sizeof(T)), k = 1;                               \
    for (; k < n; ++k) {                                                                   \
      std::memcpy(&next, in + k * in_stride, sizeof(T));                                   \
      state = static_cast<T>(f(state, next, next));                                        \
      std::memcpy(out + k * out_stride, &state, sizeof(T));                                \
    }                                                                                      \
  }
#include "ops/ops.def"
#undef NUMBUS_LOOP
#undef PRIM
#undef MATH
#undef INTERNAL

template <class T>
Loop row_loop(Op op) {
  switch (op) {
#define PRIM(name, nin, rule, bool_as, llvm, expr, ...) \
  case Op::name: return loop_##name<T>;
#define MATH(...)
#define INTERNAL(name, nin, rule, llvm, expr, dx) \
  case Op::name: return loop_##name<T>;
#include "ops/ops.def"
#undef PRIM
#undef MATH
#undef INTERNAL
    default: return nullptr;
  }
}

// clang-format off
#define NUMBUS_TYPES(X) \
  X(Bool, uint8_t) X(I8, int8_t) X(I16, int16_t) X(I32, int32_t) X(I64, int64_t) X(U8, uint8_t) \
  X(U16, uint16_t) X(U32, uint32_t) X(U64, uint64_t) X(F32, float) X(F64, double)
// clang-format on

Loop row(Op op, DType t) {
  switch (t) {
#define X(D, T) \
  case DType::D: return row_loop<T>(op);
    NUMBUS_TYPES(X)
#undef X
    default: return nullptr;
  }
}

template <class T>
ScanLoop scan_loop(Op op) {
  switch (op) {
    case Op::add: return scan_add<T>;
    case Op::multiply: return scan_multiply<T>;
    case Op::maximum: return scan_maximum<T>;
    case Op::minimum: return scan_minimum<T>;
    default: return nullptr;
  }
}

ScanLoop scan(Op op, DType t) {
  switch (t) {
#define X(D, T) \
  case DType::D: return DType::D == DType::Bool ? nullptr : scan_loop<T>(op);
    NUMBUS_TYPES(X)
#undef X
    default: return nullptr;
  }
}

template <class From, class To>
void loop_cast(void* out, const void* pa, const void*, const void*, int64_t n) {
  const From* a = static_cast<const From*>(pa);
  To* r = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) r[i] = ops::cast_<To, From>(a[i]);
}
void half_to_single(void* out, const void* pa, const void*, const void*, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = half_to_float(static_cast<const uint16_t*>(pa)[i]);
}
void single_to_half(void* out, const void* pa, const void*, const void*, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<uint16_t*>(out)[i] = float_to_half(static_cast<const float*>(pa)[i]);
}

void brain_to_single(void* out, const void* pa, const void*, const void*, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = brain_to_float(static_cast<const uint16_t*>(pa)[i]);
}
void single_to_brain(void* out, const void* pa, const void*, const void*, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<uint16_t*>(out)[i] = float_to_brain(static_cast<const float*>(pa)[i]);
}

bool within(const int64_t* numbers, int64_t n, int64_t extent) {
  int64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) outside |= (numbers[i] >= extent) | (numbers[i] < -extent);
  return !outside;
}

template <class From>
Loop cast_from(DType to) {
  switch (to) {
#define X(D, T) \
  case DType::D: return loop_cast<From, T>;
    NUMBUS_TYPES(X)
#undef X
    default: return nullptr;
  }
}

Loop cast(DType from, DType to) {
  if (from == DType::F16) return to == DType::F32 ? half_to_single : nullptr;
  if (to == DType::F16) return from == DType::F32 ? single_to_half : nullptr;
  if (from == DType::BF16) return to == DType::F32 ? brain_to_single : nullptr;
  if (to == DType::BF16) return from == DType::F32 ? single_to_brain : nullptr;
  switch (from) {
#define X(D, T) \
  case DType::D: return cast_from<T>(to);
    NUMBUS_TYPES(X)
#undef X
    default: return nullptr;
  }
}

template <class U>
void loop_select(void* out, const void* pa, const void* pb, const void* pc, int64_t n) {
  const uint8_t* m = static_cast<const uint8_t*>(pa);
  const U *b = static_cast<const U*>(pb), *c = static_cast<const U*>(pc);
  U* r = static_cast<U*>(out);
  // By bits: a branch would be mispredicted, and nothing would be vectorised.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    auto yes = static_cast<U>(-static_cast<U>(m[i] != 0));
    r[i] = static_cast<U>((b[i] & yes) | (c[i] & static_cast<U>(~yes)));
  }
}
Loop select(int size) {
  return size == 1   ? loop_select<uint8_t>
         : size == 2 ? loop_select<uint16_t>
         : size == 4 ? loop_select<uint32_t>
                     : loop_select<uint64_t>;
}

}  // namespace
}  // namespace numbus::interp
