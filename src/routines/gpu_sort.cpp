// Radix sorts, least significant digit first: what python/numbus/primitives/sort.py runs, in order.
#include "routines/gpu_sort.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "routines/kernels.h"

namespace numbus::routines {
namespace {

constexpr int64_t kThreads = 256, kDigits = 256, kWarps = kThreads / 32;
// How a kernel makes words of what it reads.
enum LoadMode : int64_t { kWords, kOrdered, kCanonical };

// The parts of a line that blocks walk over.
struct Parts {
  int64_t lines, n, chunk, blocks;
  int64_t rows() const { return lines * kDigits; }

  Parts(Device& device, const char* kernel, DType t, int64_t lines_, int64_t n_)
      : lines(lines_), n(n_) {
    int64_t each = std::max<int64_t>(resident_blocks(device, kernel, t, kThreads) / lines, 1);
    chunk = round_up(divide_up(n, each), device_kernel(kernel, t).tile);
    blocks = divide_up(n, chunk);
  }
};

void check_length(const char* op, int64_t n) {
  if (n > std::numeric_limits<uint32_t>::max())
    raise(ErrorKind::NotImplemented, op, "lines as long as this are not sorted on a GPU yet",
          std::to_string(n) + " elements", "fewer than 2**32");
}

// Lines that fit in a block's shared memory: one launch. Says no where they do not.
bool sort_short(Device& device, const char* kernel, DType t, const char* in, char* out,
                int64_t* indices, int64_t lines, int64_t n, bool descending) {
  int64_t room = device_kernel(kernel, t).tile, levels = 0;
  if (n > room) return false;
  while (int64_t{1} << levels < n) ++levels;
  int64_t total = lines * n;
  KernelLaunch(device, kernel, t)
      .in(in, total, itemsize(t))
      .out(out, out ? total : 0, itemsize(t))
      .out(indices, indices ? total : 0, 8)
      .number(n)
      .number(total)
      .number(levels)
      .number(descending)
      .run(divide_up(lines, room >> levels), kThreads);
  return true;
}

// Where a pass reads the counts that its blocks start from.
class Counts {
 public:
  Counts(Device& device, const Parts& p)
      : device_(device),
        p_(p),
        table_(device, 4 * p.rows() * p.blocks),
        totals_(device, p.blocks > 1 ? 4 * p.rows() : 0) {}

  // Counts the digits of the words that are at x.
  void count(DType t, const char* x, int64_t shift, LoadMode mode, bool descending) {
    KernelLaunch(device_, "radix_count", t)
        .in(x, p_.lines * p_.n, itemsize(t))
        .out(table_.data(), p_.rows() * p_.blocks, 4)
        .number(p_.n)
        .number(p_.chunk)
        .number(p_.blocks)
        .number(shift)
        .number(mode)
        .number(descending)
        .run(p_.lines * p_.blocks, kThreads);
    if (p_.blocks == 1) return;
    KernelLaunch(device_, "radix_scan", DType::U32)
        .out(table_.data(), p_.rows() * p_.blocks, 4)
        .out(totals_.data(), p_.rows(), 4)
        .number(p_.blocks)
        .number(p_.rows())
        .run(divide_up(p_.rows(), kWarps), kThreads);
  }
  void give(KernelLaunch& launch) const {
    launch.in(table_.data(), p_.rows() * p_.blocks, 4);
    launch.in(p_.blocks > 1 ? totals_.data() : table_.data(), p_.rows(), 4);
  }

 private:
  Device& device_;
  const Parts& p_;
  Scratch table_, totals_;
};

// Words with indices, in one of two buffers each.
class Pairs {
 public:
  Pairs(Device& device, const Parts& p, DType t, bool descending)
      : device_(device),
        p_(p),
        t_(t),
        descending_(descending),
        counts_(device, p),
        total_(p.lines * p.n),
        words_{{device, total_ * itemsize(t)}, {device, total_ * itemsize(t)}},
        at_{{device, total_ * 4}, {device, total_ * 4}} {}

  char* words() const { return words_[now_].data(); }
  char* at() const { return at_[now_].data(); }

  // A pass over what is in the buffers, or over the elements at `in`, of which nothing is known
  // yet. With `result` it is the last one: the indices go there.
  void pass(const char* in, int64_t shift, int64_t* result) {
    const char* from = in ? in : words();
    int64_t size = itemsize(t_), next = in ? 0 : 1 - now_;
    counts_.count(t_, from, shift, in ? kCanonical : kWords, descending_);
    KernelLaunch launch(device_, "radix_pairs", t_);
    launch.in(from, total_, size).in(at(), total_, 4);
    launch.out(words_[next].data(), total_, size).out(at_[next].data(), total_, 4);
    launch.out(result, result ? total_ : 0, 8);
    counts_.give(launch);
    launch.number(p_.n).number(p_.chunk).number(p_.blocks).number(shift);
    launch.number(in != nullptr).number(result != nullptr).number(descending_);
    launch.run(p_.lines * p_.blocks, kThreads);
    now_ = next;
  }

 private:
  Device& device_;
  const Parts& p_;
  DType t_;
  bool descending_;
  Counts counts_;
  int64_t total_, now_ = 0;
  Scratch words_[2], at_[2];
};

void sort_pairs(Device& device, DType t, const char* in, int64_t* out, int64_t lines, int64_t n,
                int64_t bytes, bool descending) {
  Parts p(device, "radix_pairs", t, lines, n);
  Pairs pairs(device, p, t, descending);
  for (int64_t byte = 0; byte < bytes; ++byte)
    pairs.pass(byte ? nullptr : in, 8 * byte, byte + 1 == bytes ? out : nullptr);
}

// By the imaginary part, then the real one, then by where a NaN puts the number: each pass keeps
// the order of the ones before among equals.
void argsort_complex(Device& device, DType t, const char* in, int64_t* out, int64_t lines,
                     int64_t n, bool descending) {
  DType real = real_of(t);
  int64_t size = itemsize(real), total = lines * n;
  Parts p(device, "radix_pairs", real, lines, n);
  Pairs pairs(device, p, real, descending);
  for (int64_t part : {1, 0, 2}) {
    bool first = part == 1, last = part == 2;
    KernelLaunch(device, "complex_words", t)
        .in(in, 2 * total, size)
        .in(pairs.at(), total, 4)
        .out(pairs.words(), total, size)
        .out(pairs.at(), total, 4)
        .number(n)
        .number(total)
        .number(part)
        .number(first)
        .number(descending)
        .run(divide_up(total, kThreads), kThreads);
    for (int64_t byte = 0; byte < (last ? 1 : size); ++byte)
      pairs.pass(nullptr, 8 * byte, last ? out : nullptr);
  }
}

}  // namespace

void sort_gpu(Device& device, DType t, const char* in, char* out, int64_t lines, int64_t n,
              bool descending) {
  if (lines == 0 || n == 0) return;
  if (is_complex(t)) {
    int64_t size = itemsize(real_of(t)), total = lines * n;
    Scratch at(device, 8 * total);
    argsort_gpu(device, t, in, reinterpret_cast<int64_t*>(at.data()), lines, n, descending);
    KernelLaunch(device, "complex_take", t)
        .in(in, 2 * total, size)
        .in(at.data(), total, 8)
        .out(out, 2 * total, size)
        .number(n)
        .number(total)
        .run(divide_up(total, kThreads), kThreads);
    return;
  }
  if (sort_short(device, "sort_short", t, in, out, nullptr, lines, n, descending)) return;
  check_length("sort", n);
  int64_t size = itemsize(t), total = lines * n;
  Parts p(device, "radix_scatter", t, lines, n);
  Counts counts(device, p);
  Scratch other(device, size > 1 ? total * size : 0);
  const char* from = in;
  for (int64_t pass = 0; pass < size; ++pass) {
    bool last = pass + 1 == size;
    char* to = (size - pass) % 2 ? out : other.data();
    counts.count(t, from, 8 * pass, pass ? kWords : kOrdered, descending);
    KernelLaunch launch(device, "radix_scatter", t);
    launch.in(from, total, size).in(nullptr, 0, 4).out(to, total, size);
    launch.out(nullptr, 0, 4).out(nullptr, 0, 8);
    counts.give(launch);
    launch.number(n).number(p.chunk).number(p.blocks).number(8 * pass);
    launch.number(pass == 0).number(last).number(descending);
    launch.run(lines * p.blocks, kThreads);
    from = to;
  }
}

void argsort_gpu(Device& device, DType t, const char* in, int64_t* out, int64_t lines, int64_t n,
                 bool descending) {
  if (lines == 0 || n == 0) return;
  if (!is_complex(t) &&
      sort_short(device, "argsort_short", t, in, nullptr, out, lines, n, descending))
    return;
  check_length("argsort", n);
  if (is_complex(t)) return argsort_complex(device, t, in, out, lines, n, descending);
  sort_pairs(device, t, in, out, lines, n, itemsize(t), descending);
}

void argsort_low_bytes_gpu(Device& device, DType t, const char* in, int64_t* out, int64_t n,
                           int64_t bytes) {
  if (n == 0) return;
  check_length("argsort", n);
  sort_pairs(device, t, in, out, 1, n, bytes, false);
}

}  // namespace numbus::routines
