// Chunks are counted first, so that each knows where its elements go.
#include "routines/compact.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "device/cpu/thread_pool.h"

namespace numbus::routines {
namespace {

constexpr int64_t kChunk = int64_t{1} << 15;

// Eight elements of a mask, one in each byte: 1 or 0, whatever stands for true in memory.
uint64_t eight(const bool* mask) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  uint64_t word;
  std::memcpy(&word, mask, 8);
  return (((word & kLow) + kLow) | word) >> 7 & 0x0101010101010101;
}
// The same for one: a bool that is neither 0 nor 1 may not be read as one.
bool one_of(const bool* mask, int64_t i) {
  unsigned char byte;
  std::memcpy(&byte, mask + i, 1);
  return byte != 0;
}

int64_t count_part(const bool* mask, int64_t begin, int64_t end) {
  int64_t sum = 0, i = begin;
  while (i + 8 <= end) {
    // Up to 255 words fit a byte's sum.
    uint64_t bytes = 0;
    int64_t stop = std::min(end - 7, i + 255 * 8);
    for (; i < stop; i += 8) bytes += eight(mask + i);
    for (int e = 0; e < 8; ++e) sum += (bytes >> (8 * e)) & 0xff;
  }
  for (; i < end; ++i) sum += one_of(mask, i);
  return sum;
}

// Calls one(index, k) for the k-th true element of the mask, from number `k` on and below `last`.
// Where eight more are to come it is called for elements that are not true, too, with the number of
// the next one that is: that takes no branch, which processors guess wrong.
template <class One, class Eight>
void visit(const bool* mask, int64_t begin, int64_t end, int64_t k, int64_t last, const One& one,
           const Eight& all_eight) {
  int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    uint64_t word = eight(mask + i);
    if (word == 0x0101010101010101) {
      all_eight(i, k);
      k += 8;
      continue;
    }
    if (word == 0) continue;
    if (last - k >= 8) {
      for (int e = 0; e < 8; ++e) {
        one(i + e, k);
        k += word >> (8 * (std::endian::native == std::endian::little ? e : 7 - e)) & 1;
      }
      continue;
    }
    for (; word != 0; word &= word - 1) {
      int byte = std::endian::native == std::endian::little ? std::countr_zero(word) / 8
                                                            : 7 - std::countr_zero(word) / 8;
      one(i + byte, k++);
    }
  }
  for (; i < end; ++i) {
    if (one_of(mask, i)) one(i, k++);
  }
}

// body(begin, end, how many elements before `begin` are true, and how many before `end`) for chunks
// of the mask.
template <class Body>
int64_t for_chunks(const bool* mask, int64_t n, const Body& body) {
  if (n <= kChunk) {
    const int64_t count = count_part(mask, 0, n);
    body(0, n, 0, count);
    return count;
  }
  std::vector<int64_t> starts(static_cast<size_t>((n + kChunk - 1) / kChunk));
  parallel_for_each(n, kChunk, [&](int64_t begin, int64_t end, int) {
    starts[static_cast<size_t>(begin / kChunk)] = count_part(mask, begin, end);
  });
  int64_t sum = 0;
  for (int64_t& start : starts) {
    int64_t count = start;
    start = sum;
    sum += count;
  }
  parallel_for_each(n, kChunk, [&](int64_t begin, int64_t end, int) {
    const auto chunk = static_cast<size_t>(begin / kChunk);
    body(begin, end, starts[chunk], chunk + 1 < starts.size() ? starts[chunk + 1] : sum);
  });
  return sum;
}

template <int kSize>
int64_t compact_of(const char* values, const bool* mask, int64_t n, char* out) {
  return for_chunks(mask, n, [=](int64_t begin, int64_t end, int64_t k, int64_t last) {
    visit(
        mask, begin, end, k, last,
        [=](int64_t i, int64_t to) { std::memcpy(out + to * kSize, values + i * kSize, kSize); },
        [=](int64_t i, int64_t to) {
          std::memcpy(out + to * kSize, values + i * kSize, 8 * kSize);
        });
  });
}

}  // namespace

int64_t count_true(const bool* mask, int64_t n) {
  if (n <= kChunk) return count_part(mask, 0, n);
  std::atomic<int64_t> sum{0};
  parallel_for_each(n, kChunk, [&](int64_t begin, int64_t end, int) {
    sum.fetch_add(count_part(mask, begin, end), std::memory_order_relaxed);
  });
  return sum.load();
}

int64_t compact(int itemsize, const char* values, const bool* mask, int64_t n, char* out) {
  switch (itemsize) {
    case 1: return compact_of<1>(values, mask, n, out);
    case 2: return compact_of<2>(values, mask, n, out);
    case 4: return compact_of<4>(values, mask, n, out);
    case 8: return compact_of<8>(values, mask, n, out);
    case 16: return compact_of<16>(values, mask, n, out);
    default: break;
  }
  auto size = static_cast<size_t>(itemsize);
  return for_chunks(mask, n, [=](int64_t begin, int64_t end, int64_t k, int64_t last) {
    visit(
        mask, begin, end, k, last,
        [=](int64_t i, int64_t to) {
          std::memcpy(out + to * itemsize, values + i * itemsize, size);
        },
        [=](int64_t i, int64_t to) {
          std::memcpy(out + to * itemsize, values + i * itemsize, 8 * size);
        });
  });
}

int64_t flatnonzero(const bool* mask, int64_t n, int64_t* out) {
  return for_chunks(mask, n, [=](int64_t begin, int64_t end, int64_t k, int64_t last) {
    visit(
        mask, begin, end, k, last, [=](int64_t i, int64_t to) { out[to] = i; },
        [=](int64_t i, int64_t to) {
          for (int e = 0; e < 8; ++e) out[to + e] = i + e;
        });
  });
}

}  // namespace numbus::routines
