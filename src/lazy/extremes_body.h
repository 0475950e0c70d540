// Included by reduce_body.h, inside a target pragma: extremes of elements side by
// side. (Not a header of its own: it must see the pragma.)

namespace numbus {
namespace {

// A register of elements, wherever they stand; kWideBytes: what includes this says so.
template <class T>
using Wide [[gnu::vector_size(kWideBytes), gnu::aligned(1), gnu::may_alias]] = T;

template <class T>
const Wide<T>& wide(const T* at) {
  return *reinterpret_cast<const Wide<T>*>(at);
}

template <class V>
struct WordsOf {
  using Type [[gnu::vector_size(sizeof(V))]] = long long;
};

// Whether a lane of a comparison's result, 0 or -1, holds.
template <class V>
bool any_lane(V mask) {
  const auto w = reinterpret_cast<typename WordsOf<V>::Type>(mask);
  if constexpr (kWideBytes == 32)
    return !__builtin_ia32_ptestz256(w, w);
  else
    return (w[0] | w[1]) != 0;
}

template <bool kLeast, class V>
V better_of(V x, V y) {
  return kLeast ? (x < y ? x : y) : (x > y ? x : y);
}

// The index of the first element that holds in `is`, an element's and a vector's question; n where
// none does.
template <class T, class Is>
int64_t first_where(const T* p, int64_t n, Is&& is) {
  constexpr int kWide = kWideBytes / sizeof(T);
  int64_t i = 0;
  while (i + 4 * kWide <= n &&
         !any_lane((is(wide(p + i)) | is(wide(p + i + kWide))) |
                   (is(wide(p + i + 2 * kWide)) | is(wide(p + i + 3 * kWide)))))
    i += 4 * kWide;
  while (i + kWide <= n && !any_lane(is(wide(p + i)))) i += kWide;
  while (i < n && !is(p[i])) ++i;
  return i;
}

// The extreme of a block; false where a NaN is among its elements.
template <bool kLeast, class T>
bool extreme_of_block(const T* p, int64_t n, T& extreme) {
  constexpr int kWide = kWideBytes / sizeof(T), kChains = 4;
  if (n < kWide) {
    bool numbers = true;
    extreme = p[0];
    for (int64_t i = 0; i < n; ++i) {
      numbers = numbers && p[i] == p[i];
      extreme = better_of<kLeast>(p[i], extreme);
    }
    return numbers;
  }
  using V [[gnu::vector_size(kWideBytes)]] = T;
  V held[kChains];
  for (auto& h : held) h = wide(p);
  auto odd = held[0] != held[0];
  auto take = [&](int64_t i, int chain) {
    const V x = wide(p + i);
    held[chain] = better_of<kLeast>(x, held[chain]);
    if constexpr (std::is_floating_point_v<T>) odd |= x != x;
  };
  int64_t i = 0;
  for (; i + kChains * kWide <= n; i += kChains * kWide)
    for (int c = 0; c < kChains; ++c) take(i + c * kWide, c);
  for (; i + kWide <= n; i += kWide) take(i, 0);
  take(n - kWide, 1);
  if constexpr (std::is_floating_point_v<T>)
    if (any_lane(odd)) return false;
  T lane[kWide];
  const V one =
      better_of<kLeast>(better_of<kLeast>(held[0], held[1]), better_of<kLeast>(held[2], held[3]));
  std::memcpy(lane, &one, sizeof lane);
  for (int half = kWide / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lane[l] = better_of<kLeast>(lane[l], lane[l + half]);
  extreme = lane[0];
  return true;
}

// The index of the first extreme of elements side by side, or of their first NaN: the extremes of
// blocks, then a search in one block. Which of equal elements is held in between does not matter.
template <bool kLeast, class T>
int64_t first_extreme(const T* p, int64_t n, T& extreme) {
  constexpr int64_t kBlock = 4096 / sizeof(T);
  int64_t block = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    T x;
    const int64_t size = std::min(kBlock, n - begin);
    if (!extreme_of_block<kLeast>(p + begin, size, x)) {
      const int64_t at = begin + first_where(p + begin, size, [](auto v) { return v != v; });
      extreme = p[at];
      return at;
    }
    if (begin && !(kLeast ? x < extreme : x > extreme)) continue;
    extreme = x;
    block = begin;
  }
  using V [[gnu::vector_size(kWideBytes)]] = T;
  const T e = extreme;
  const V all = e - V{};
  return block + first_where(p + block, std::min(kBlock, n - block), [&](auto v) {
           if constexpr (std::is_same_v<decltype(v), T>)
             return v == e;
           else
             return v == all;
         });
}

// The extreme of elements side by side; false where its bits depend on the order in which they are
// met: of NaNs and of zeros.
template <bool kLeast, class T>
bool plain_extreme(const T* p, int64_t n, T& extreme) {
  constexpr int64_t kBlock = 16384 / sizeof(T);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    T x;
    if (!extreme_of_block<kLeast>(p + begin, std::min(kBlock, n - begin), x)) return false;
    extreme = begin ? better_of<kLeast>(x, extreme) : x;
  }
  return !std::is_floating_point_v<T> || extreme != 0;
}

template <Reduction K, class M>
bool find_extreme(DType in, const char* at, int64_t n, int64_t index, char* compact) {
  using T = typename M::Number;
  constexpr bool kLeast = K == Reduction::ArgMin || K == Reduction::Min;
  const T* p = reinterpret_cast<const T*>(at);
  reductions::State<M> s{};
  if constexpr (!needs_position(K)) {
    if (!plain_extreme<kLeast>(p, n, s.f[0])) return false;
  } else if (in == DType::Bool) {
    // The first that decides it; bytes other than 0 are true.
    s.index = first_where(p, n, [](auto v) { return kLeast ? v == 0 : v != 0; });
    s.f[0] = static_cast<T>((s.index < n) != kLeast);
    if (s.index == n) s.index = 0;
  } else {
    s.index = first_extreme<kLeast>(p, n, s.f[0]);
  }
  s.index += index;
  Lanes<K, M>(compact, kCompactField).put(0, s);
  return true;
}

FindExtreme extreme_finder(Reduction kind, DType in) {
  FindExtreme f = nullptr;
  dispatch(kind, in, [&]<Reduction K, class M>() {
    if constexpr ((needs_position(K) || K == Reduction::Min || K == Reduction::Max) && !M::complex)
      f = find_extreme<K, M>;
  });
  return f;
}

}  // namespace
}  // namespace numbus
