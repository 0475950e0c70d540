// Radix sorts, least significant digit first: grids, memory and order of the kernels of
// python/numbus/primitives/sort.py and _radix.py.
#include "routines/gpu_sort.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "routines/kernels.h"

namespace numbus::routines {
namespace {

constexpr int64_t kThreads = 256, kDigits = 256;
// How a kernel makes words of what it reads.
enum LoadMode : int64_t { kWords, kOrdered, kCanonical };

void check_length(const char* op, int64_t n) {
  // A tile says in a word of 32 bits how many elements it has, or how many there are up to its end.
  if (n > std::numeric_limits<uint32_t>::max() - (int64_t{1} << 16))
    raise(ErrorKind::NotImplemented, op, "lines as long as this are not sorted on a GPU yet",
          std::to_string(n) + " elements", "at most 2**32 - 2**16");
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

// Lines that are a tile of a block: one launch. Says no where they are longer. `bytes`: how many of
// the lowest ones of a word there are or count.
bool sort_lines(Device& device, const char* kernel, DType t, const char* in, char* out,
                int64_t* indices, int64_t lines, int64_t n, int64_t bytes, bool descending) {
  DeviceKernel code = device_kernel(kernel, t);
  if (n > code.tile) return false;
  int64_t total = lines * n;
  KernelLaunch(device, kernel, t)
      .in(in, total, itemsize(t))
      .out(out, out ? total : 0, itemsize(t))
      .out(indices, indices ? total : 0, 8)
      .number(n)
      .number(bytes)
      .number(descending)
      .run(lines, code.threads, code.shared_bytes);
  return true;
}

// Counts the digits of `passes` passes over the words at x, from the lowest on, and makes of the
// counts where each digit begins in its line. `bins` holds zeros: for each line and pass the
// digits, then for each line and pass a word.
void count_digits(Device& device, DType t, const char* x, char* bins, int64_t lines, int64_t n,
                  int64_t passes, LoadMode mode, bool descending) {
  int64_t fit = resident_blocks(device, "radix_count", t, kThreads);
  int64_t each = std::max<int64_t>(fit / lines, 1), rows = lines * passes;
  int64_t chunk = round_up(divide_up(n, each), device_kernel("radix_count", t).tile);
  int64_t blocks = divide_up(n, chunk);
  KernelLaunch(device, "radix_count", t)
      .in(x, lines * n, itemsize(t))
      .out(bins, rows * (kDigits + 1), 4)
      .number(n)
      .number(chunk)
      .number(blocks)
      .number(passes)
      .number(mode)
      .number(descending)
      .run(lines * blocks, kThreads);
  KernelLaunch(device, "radix_starts", DType::U32)
      .out(bins, rows * (kDigits + 1), 4)
      .number(rows)
      .number(n)
      .run(rows, kThreads);
}

// Words of one digit: counts say all.
void sort_bytes(Device& device, DType t, const char* in, char* out, int64_t lines, int64_t n,
                bool descending) {
  Scratch bins(device, 4 * lines * (kDigits + 1));
  device.fill_bytes(bins.data(), 0, bins.bytes(), nullptr);
  count_digits(device, t, in, bins.data(), lines, n, 1, kOrdered, descending);
  int64_t blocks = divide_up(n, device_kernel("radix_fill", t).tile);
  KernelLaunch(device, "radix_fill", t)
      .in(bins.data(), lines * kDigits, 4)
      .out(out, lines * n, 1)
      .number(n)
      .number(blocks)
      .number(descending)
      .run(lines * blocks, kThreads);
}

// The passes over the same words: what their digits begin at, and what their tiles tell each other.
class Passes {
 public:
  Passes(Device& device, const char* kernel, DType t, int64_t lines, int64_t n, bool descending)
      : device_(device),
        kernel_(kernel),
        t_(t),
        code_(device_kernel(kernel, t)),
        lines_(lines),
        n_(n),
        tiles_(divide_up(n, code_.tile)),
        descending_(descending),
        state_(device, 2 * published() + 4 * (itemsize(t) + lines * itemsize(t) * (kDigits + 1))) {}

  // Counts the digits of `passes` passes over the words at x, from the lowest on.
  void count(const char* x, int64_t passes, LoadMode mode) {
    passes_ = passes;
    done_ = 0;
    // The first pass's publications, the tickets, the counts.
    device_.fill_bytes(state_.data() + published(), 0, state_.bytes() - size(published()), nullptr);
    count_digits(device_, t_, x, bins(), lines_, n_, passes, mode, descending_);
  }

  // The next of them. `load`: x holds elements and not words. `store`: what is written is elements,
  // or with indices these as int64, at `result`.
  void pass(const char* x, const char* x_at, char* out, char* out_at, int64_t* result, bool load,
            bool store) {
    auto some = [&](const void* p) { return p ? total() : 0; };
    // They take turns: a pass clears the other one's for the next.
    char* clean = state_.data() + (done_ % 2 ? 0 : published());
    char* cleared = state_.data() + (done_ % 2 ? published() : 0);
    KernelLaunch(device_, kernel_, t_)
        .in(x, total(), itemsize(t_))
        .in(x_at, some(x_at), 4)
        .out(out, some(out), itemsize(t_))
        .out(out_at, some(out_at), 4)
        .out(result, some(result), 8)
        .in(bins(), words_of_bins(), 4)
        .out(clean, published() / 4, 4)
        .out(cleared, published() / 4, 4)
        .out(tickets(), passes_, 4)
        .number(n_)
        .number(tiles_)
        .number(rows())
        .number(passes_)
        .number(done_)
        .number(8 * done_)
        .number(load)
        .number(store)
        .number(descending_)
        .run(lines_ * tiles_, code_.threads, code_.shared_bytes);
    ++done_;
  }

 private:
  static size_t size(int64_t bytes) { return static_cast<size_t>(bytes); }
  int64_t total() const { return lines_ * n_; }
  int64_t rows() const { return lines_ * passes_; }
  int64_t published() const { return 4 * lines_ * tiles_ * kDigits; }
  int64_t words_of_bins() const { return rows() * (kDigits + 1); }
  char* tickets() const { return state_.data() + 2 * published(); }
  char* bins() const { return tickets() + 4 * itemsize(t_); }

  Device& device_;
  const char* kernel_;
  DType t_;
  DeviceKernel code_;
  int64_t lines_, n_, tiles_, passes_ = 0, done_ = 0;
  bool descending_;
  Scratch state_;
};

// Words with indices, in one of two buffers each.
class Pairs {
 public:
  Pairs(Device& device, DType t, int64_t lines, int64_t n, bool descending)
      : passes_(device, "radix_pairs", t, lines, n, descending),
        words_{{device, lines * n * itemsize(t)}, {device, lines * n * itemsize(t)}},
        at_{{device, lines * n * 4}, {device, lines * n * 4}} {}

  char* words() const { return words_[now_].data(); }
  char* at() const { return at_[now_].data(); }

  // Orders what is in the buffers, or the elements at `in`, of which nothing is known yet, by their
  // lowest bytes. With `result` the indices go there, and the buffers are of no more use.
  void order(const char* in, int64_t bytes, int64_t* result) {
    passes_.count(in ? in : words(), bytes, in ? kCanonical : kWords);
    for (int64_t byte = 0; byte < bytes; ++byte) {
      bool load = in && byte == 0, store = result && byte + 1 == bytes;
      int64_t next = 1 - now_;
      passes_.pass(load ? in : words(), load ? nullptr : at(),
                   store ? nullptr : words_[next].data(), store ? nullptr : at_[next].data(),
                   store ? result : nullptr, load, store);
      now_ = next;
    }
  }

 private:
  Passes passes_;
  int64_t now_ = 0;
  Scratch words_[2], at_[2];
};

void sort_pairs(Device& device, DType t, const char* in, int64_t* out, int64_t lines, int64_t n,
                int64_t bytes, bool descending) {
  if (sort_lines(device, "radix_line_pairs", t, in, nullptr, out, lines, n, bytes, descending))
    return;
  Pairs(device, t, lines, n, descending).order(in, bytes, out);
}

// By the imaginary part, then the real one, then by where a NaN puts the number: each pass keeps
// the order of the ones before among equals.
void argsort_complex(Device& device, DType t, const char* in, int64_t* out, int64_t lines,
                     int64_t n, bool descending) {
  DType real = real_of(t);
  int64_t size = itemsize(real), total = lines * n;
  Pairs pairs(device, real, lines, n, descending);
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
    pairs.order(nullptr, last ? 1 : size, last ? out : nullptr);
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
  int64_t size = itemsize(t), total = lines * n;
  if (sort_lines(device, "radix_line", t, in, out, nullptr, lines, n, size, descending)) return;
  check_length("sort", n);
  if (size == 1) return sort_bytes(device, t, in, out, lines, n, descending);
  Passes passes(device, "radix_pass", t, lines, n, descending);
  Scratch other(device, total * size);
  passes.count(in, size, kOrdered);
  const char* from = in;
  for (int64_t pass = 0; pass < size; ++pass) {
    char* to = (size - pass) % 2 ? out : other.data();
    passes.pass(from, nullptr, to, nullptr, nullptr, pass == 0, pass + 1 == size);
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
