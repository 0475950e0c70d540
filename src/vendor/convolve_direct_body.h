// The loops of convolve_direct.h; kBytes is how long vectors are. Included by one file for each
// kind of processor, in an unnamed namespace.

template <class T>
using Vector __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias)) = T;

// Results of kCount filters at kVectors vectors of positions, which stay in registers.
template <class T, int kCount, int kVectors>
void strip(const T* in, const int64_t* offsets, int64_t steps, const T* weights, int64_t stride,
           T* out, int64_t line) {
  constexpr int kItems = kBytes / static_cast<int>(sizeof(T));
  Vector<T> sums[kCount][kVectors] = {};
  for (int64_t s = 0; s < steps; ++s, weights += stride) {
    const T* const at = in + offsets[s];
    Vector<T> x[kVectors];
    for (int v = 0; v < kVectors; ++v) x[v] = *reinterpret_cast<const Vector<T>*>(at + v * kItems);
    for (int o = 0; o < kCount; ++o)
      for (int v = 0; v < kVectors; ++v) sums[o][v] += weights[o] * x[v];
  }
  for (int o = 0; o < kCount; ++o)
    for (int v = 0; v < kVectors; ++v)
      *reinterpret_cast<Vector<T>*>(out + o * line + v * kItems) = sums[o][v];
}

// Registers hold this many results at two vectors each.
constexpr int kAtOnce = kBytes == 64 ? 12 : 6;

template <class T, int kCount>
void strips(const T* in, const int64_t* offsets, int64_t steps, const T* weights, int stride,
            T* out, int64_t line, int64_t positions) {
  constexpr int kVectors = kCount == 1 ? 8 : kCount <= 3 ? 4 : 2;
  constexpr int64_t kItems = kVectors * (kBytes / static_cast<int64_t>(sizeof(T)));
  static_assert(numbus::vendor::kStrip % kItems == 0);
  for (int64_t p = 0; p < positions; p += kItems)
    strip<T, kCount, kVectors>(in + p, offsets, steps, weights, stride, out + p, line);
}

template <class T, int kCount>
void some_results(int count, const T* in, const int64_t* offsets, int64_t steps, const T* weights,
                  int stride, T* out, int64_t line, int64_t positions) {
  if (count == kCount)
    return strips<T, kCount>(in, offsets, steps, weights, stride, out, line, positions);
  if constexpr (kCount > 1)
    some_results<T, kCount - 1>(count, in, offsets, steps, weights, stride, out, line, positions);
}

template <class T>
void sum_steps(const T* in, const int64_t* offsets, int64_t steps, const T* weights, int count,
               T* out, int64_t line, int64_t positions) {
  for (int first = 0; first < count; first += kAtOnce)
    some_results<T, kAtOnce>(count - first < kAtOnce ? count - first : kAtOnce, in, offsets, steps,
                             weights + first, count, out + first * line, line, positions);
}

template <class T, int kCount, int kSteps>
void dots(const T* in, const int64_t* offsets, const T* of, T* out, int64_t steps, int64_t line) {
  constexpr int kItems = kBytes / static_cast<int>(sizeof(T));
  Vector<T> sums[kCount][kSteps] = {};
  for (int64_t p = 0; p < line; p += kItems) {
    Vector<T> x[kSteps];
    for (int s = 0; s < kSteps; ++s)
      x[s] = *reinterpret_cast<const Vector<T>*>(in + offsets[s] + p);
    for (int o = 0; o < kCount; ++o) {
      const Vector<T> y = *reinterpret_cast<const Vector<T>*>(of + o * line + p);
      for (int s = 0; s < kSteps; ++s) sums[o][s] += y * x[s];
    }
  }
  for (int o = 0; o < kCount; ++o)
    for (int s = 0; s < kSteps; ++s) {
      T sum = 0;
      for (int k = 0; k < kItems; ++k) sum += sums[o][s][k];
      out[o * steps + s] += sum;
    }
}

template <class T, int kCount>
void dots_of(const T* in, const int64_t* offsets, int64_t steps, const T* of, T* out,
             int64_t line) {
  int64_t s = 0;
  if constexpr (kCount == 1)
    for (; s + 9 <= steps; s += 9) dots<T, 1, 9>(in, offsets + s, of, out + s, steps, line);
  for (; s + 3 <= steps; s += 3) dots<T, kCount, 3>(in, offsets + s, of, out + s, steps, line);
  for (; s < steps; ++s) dots<T, kCount, 1>(in, offsets + s, of, out + s, steps, line);
}

template <class T>
void sum_positions(const T* in, const int64_t* offsets, int64_t steps, const T* of, int64_t count,
                   T* out, int64_t line) {
  int64_t o = 0;
  for (; o + 4 <= count; o += 4)
    dots_of<T, 4>(in, offsets, steps, of + o * line, out + o * steps, line);
  for (; o < count; ++o) dots_of<T, 1>(in, offsets, steps, of + o * line, out + o * steps, line);
}
