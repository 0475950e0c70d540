// Highway's vectorised quicksort, compiled for each instruction set and chosen when first called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace numbus::routines {

// A key of 64 bits with the index of its element, compared as one number of 128 bits.
struct KeyIndex {
  uint64_t index;
  uint64_t key;
  friend bool operator<(const KeyIndex& a, const KeyIndex& b) {
    return a.key < b.key || (a.key == b.key && a.index < b.index);
  }
  friend bool operator==(const KeyIndex&, const KeyIndex&) = default;
};

// Ascending. Equal keys cannot be told apart, so there is no stability to speak of. These neither
// poll nor use the thread pool: callers pass no more than some hundred thousand keys at a time.
void vqsort(int32_t* keys, size_t n);
void vqsort(int64_t* keys, size_t n);
void vqsort(KeyIndex* keys, size_t n);

// Moves keys so that for each k of `kth` (ascending, distinct, in [0, n)) keys[k] is the one that
// sorting puts there, none before it is larger and none after it is smaller.
void vqselect(int32_t* keys, size_t n, std::span<const int64_t> kth);
void vqselect(int64_t* keys, size_t n, std::span<const int64_t> kth);
void vqselect(KeyIndex* keys, size_t n, std::span<const int64_t> kth);

// Splitting by a few values: bucket b holds the keys that are not below exactly b of the `buckets`
// - 1 ascending splitters. count_parts adds to counts[b]; move_parts appends the keys to to[b], in
// their order, and writes nothing at limit[b] or after it.
constexpr size_t kMaxParts = 16;
void count_parts(const int32_t* keys, size_t n, const int32_t* splitters, size_t buckets,
                 int64_t* counts);
void count_parts(const int64_t* keys, size_t n, const int64_t* splitters, size_t buckets,
                 int64_t* counts);
void move_parts(const int32_t* keys, size_t n, const int32_t* splitters, size_t buckets,
                int32_t** to, int32_t* const* limit);
void move_parts(const int64_t* keys, size_t n, const int64_t* splitters, size_t buckets,
                int64_t** to, int64_t* const* limit);

}  // namespace numbus::routines
