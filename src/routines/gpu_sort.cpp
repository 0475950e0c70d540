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

}  // namespace

void sort_gpu(Device& device, DType t, const char* in, char* out, int64_t lines, int64_t n,
              bool descending) {
  if (lines == 0 || n == 0) return;
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
  if (sort_short(device, "argsort_short", t, in, nullptr, out, lines, n, descending)) return;
  check_length("argsort", n);
  int64_t size = itemsize(t), total = lines * n;
  Parts p(device, "radix_pairs", t, lines, n);
  Counts counts(device, p);
  // Each pass but the last goes to one of two buffers; the last one leaves the indices alone.
  int64_t words = size > 1 ? total * size : 0, indices = size > 1 ? total * 4 : 0;
  int64_t second = size > 2 ? 1 : 0;
  Scratch first_words(device, words), first_at(device, indices);
  Scratch second_words(device, second * words), second_at(device, second * indices);
  const char *from = in, *from_at = nullptr;
  for (int64_t pass = 0; pass < size; ++pass) {
    bool last = pass + 1 == size;
    char* to = pass % 2 ? second_words.data() : first_words.data();
    char* to_at = pass % 2 ? second_at.data() : first_at.data();
    counts.count(t, from, 8 * pass, pass ? kWords : kCanonical, descending);
    KernelLaunch launch(device, "radix_pairs", t);
    launch.in(from, total, size).in(from_at, pass ? total : 0, 4);
    launch.out(to, last ? 0 : total, size).out(to_at, last ? 0 : total, 4);
    launch.out(out, total, 8);
    counts.give(launch);
    launch.number(n).number(p.chunk).number(p.blocks).number(8 * pass);
    launch.number(pass == 0).number(last).number(descending);
    launch.run(lines * p.blocks, kThreads);
    from = to;
    from_at = to_at;
  }
}

}  // namespace numbus::routines
