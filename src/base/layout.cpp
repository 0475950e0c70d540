// The intern table of layouts, and the overlap test between strided sets.
#include "base/layout.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace numbus {
namespace {

struct Key {
  std::span<const int64_t> shape, strides;
  int itemsize;
  uint64_t hash;
};

uint64_t hash_key(std::span<const int64_t> shape, std::span<const int64_t> strides, int itemsize) {
  uint64_t h = mix(0x452821E638D01377ull, static_cast<uint64_t>(itemsize) * 131 + shape.size());
  for (int64_t v : shape) h = mix(h, static_cast<uint64_t>(v));
  for (int64_t v : strides) h = mix(h, static_cast<uint64_t>(v));
  return h;
}

// Open addressing with linear probing and tombstones; the table only holds weak pointers.
struct Table {
  std::vector<const Layout*> slots = std::vector<const Layout*>(1024, nullptr);
  size_t used = 0;  // live entries and tombstones
  size_t live = 0;
};
const Layout* const kTombstone = reinterpret_cast<const Layout*>(8);

Table& table() {
  static Table* t = new Table;  // never destroyed: arrays may outlive static destructors
  return *t;
}

}  // namespace

bool Layout::same_shape(const Layout& o) const {
  return this == &o ||
         (ndim_ == o.ndim_ && std::memcmp(data_, o.data_, ndim_ * sizeof(int64_t)) == 0);
}

const Layout* Layout::get(std::span<const int64_t> shape, std::span<const int64_t> strides,
                          int itemsize) {
  uint64_t hash = hash_key(shape, strides, itemsize);
  Table& t = table();
  if (t.used * 2 > t.slots.size()) {  // grow, or sweep tombstones
    std::vector<const Layout*> old(
        t.live * 4 > t.slots.size() ? t.slots.size() * 2 : t.slots.size(), nullptr);
    old.swap(t.slots);
    t.used = t.live;
    for (const Layout* l : old) {
      if (!l || l == kTombstone) continue;
      size_t i = l->hash_ & (t.slots.size() - 1);
      while (t.slots[i]) i = (i + 1) & (t.slots.size() - 1);
      t.slots[i] = l;
    }
  }
  size_t n = shape.size(), mask = t.slots.size() - 1, i = hash & mask;
  for (; t.slots[i]; i = (i + 1) & mask) {
    const Layout* l = t.slots[i];
    if (l == kTombstone || l->hash_ != hash || l->ndim_ != static_cast<int>(n) ||
        l->itemsize_ != itemsize)
      continue;
    if (std::equal(shape.begin(), shape.end(), l->shape()) &&
        std::equal(strides.begin(), strides.end(), l->strides())) {
      if (l->refs_ == 0) l->renew();
      return l;
    }
  }
  if (n > kMaxDims) {
    raise(ErrorKind::Value, "shape", "too many dimensions", std::to_string(n),
          "at most " + std::to_string(kMaxDims));
  }
  auto* l = new (std::malloc(sizeof(Layout) + 2 * n * sizeof(int64_t))) Layout;
  l->ndim_ = static_cast<int>(n);
  l->itemsize_ = itemsize;
  l->hash_ = hash;
  std::copy(shape.begin(), shape.end(), l->data_);
  std::copy(strides.begin(), strides.end(), l->data_ + n);
  int64_t expect = itemsize;
  for (int d = static_cast<int>(n) - 1; d >= 0; --d) {
    l->size_ *= shape[d];
    if (shape[d] != 1 && strides[d] != expect) l->c_contiguous_ = false;
    expect *= shape[d];
  }
  expect = itemsize;
  for (size_t d = 0; d < n; ++d) {
    if (shape[d] != 1 && strides[d] != expect) l->f_contiguous_ = false;
    expect *= shape[d];
  }
  if (l->size_ == 0) {
    l->c_contiguous_ = l->f_contiguous_ = true;
  } else {
    for (size_t d = 0; d < n; ++d) {
      int64_t extent = (shape[d] - 1) * strides[d];
      (extent < 0 ? l->low_ : l->high_) += extent;
    }
    l->high_ += itemsize;
    // Sorted by stride, each must step over all that the smaller ones span: sufficient, and true of
    // every slice.
    std::vector<std::pair<int64_t, int64_t>> dims;
    for (size_t d = 0; d < n; ++d)
      if (shape[d] > 1) dims.emplace_back(std::abs(strides[d]), shape[d]);
    std::sort(dims.begin(), dims.end());
    int64_t span = itemsize;
    for (auto [stride, extent] : dims) {
      if (stride < span) l->injective_ = false;
      span += stride * (extent - 1);
    }
  }
  l->classify();
  t.slots[i] = l;
  ++t.used;
  ++t.live;
  return l;
}

void Layout::classify() {
  kind_.exact = ndim_ <= 16;
  int64_t expect = itemsize_;
  kind_.c_order = kind_.f_order = size_ > 0;
  for (int d = ndim_ - 1; d >= 0; --d, expect *= shape(d + 1))
    kind_.c_order = kind_.c_order && stride(d) == expect;
  expect = itemsize_;
  for (int d = 0; d < ndim_; expect *= shape(d++))
    kind_.f_order = kind_.f_order && stride(d) == expect;
  uint64_t empty = 0, ones = 0, still = 0, dense = 0, back = 0;
  for (int d = 0; d < std::min<int>(ndim_, 16); ++d) {
    empty |= static_cast<uint64_t>(shape(d) == 0) << d;
    ones |= static_cast<uint64_t>(shape(d) == 1) << d;
    still |= static_cast<uint64_t>(stride(d) == 0) << d;
    dense |= static_cast<uint64_t>(stride(d) == itemsize_) << d;
    back |= static_cast<uint64_t>(stride(d) < 0) << d;
  }
  kind_.words[0] = static_cast<uint64_t>(ndim_) | static_cast<uint64_t>(itemsize_) << 8 |
                   static_cast<uint64_t>(kind_.c_order) << 16 |
                   static_cast<uint64_t>(kind_.f_order) << 17 |
                   static_cast<uint64_t>(injective_) << 18 |
                   static_cast<uint64_t>(kind_.exact) << 19 | empty << 32;
  kind_.words[1] = ones | still << 16 | dense << 32 | back << 48;
}

namespace {

// A loop of the program makes the same views again and again: the last layouts that nobody refers
// to stay in the table.
constexpr size_t kParked = 256;
const Layout* last_parked[kParked];
size_t next_parked = 0;

}  // namespace

void Layout::park() const {
  if (parked_ >= 0) return;
  parked_ = static_cast<int32_t>(next_parked++ % kParked);
  const Layout* oldest = std::exchange(last_parked[parked_], this);
  if (!oldest) return;
  oldest->parked_ = -1;
  if (oldest->refs_ == 0) oldest->destroy();
}

// What get() gives has no owner yet. Were it the oldest, the next layout that is let go would
// destroy it before its caller refers to it.
void Layout::renew() const {
  if (parked_ < 0) return;
  last_parked[std::exchange(parked_, -1)] = nullptr;
  park();
}

void Layout::destroy() const {
  Table& t = table();
  size_t mask = t.slots.size() - 1, i = hash_ & mask;
  while (t.slots[i] != this) i = (i + 1) & mask;
  t.slots[i] = kTombstone;
  --t.live;
  for (const Layout* l : like_)
    if (l && l != this) l->unref();
  this->~Layout();
  std::free(const_cast<Layout*>(this));
}

const Layout* Layout::contiguous(std::span<const int64_t> shape, int itemsize) {
  int64_t strides[kMaxDims];
  if (shape.size() > kMaxDims) {
    raise(ErrorKind::Value, "shape", "too many dimensions", std::to_string(shape.size()),
          "at most 64");
  }
  __int128 step = itemsize;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] < 0)
      raise(ErrorKind::Value, "shape", "negative dimensions are not allowed", shape_string(shape),
            "sizes >= 0");
    strides[d] = static_cast<int64_t>(step);
    // NumPy keeps the strides of an empty array as if the zero extent were one.
    step *= std::max<int64_t>(shape[d], 1);
    if (step > INT64_MAX) {
      raise(ErrorKind::Value, "shape", "array is too big", shape_string(shape),
            "a total size below 2**63 bytes");
    }
  }
  return get(shape, {strides, shape.size()}, itemsize);
}

const Layout* Layout::contiguous_like(int size) const {
  if (c_contiguous_ && size == itemsize_ && size_ > 0) {
    // A contiguous layout may carry odd strides on extents of one: results get the canonical ones.
    bool canonical = true;
    int64_t expect = size;
    for (int d = ndim_ - 1; d >= 0 && canonical; --d) {
      canonical = stride(d) == expect;
      expect *= shape(d);
    }
    if (canonical) return this;
  }
  for (const Layout* l : like_)
    if (l && l->itemsize_ == size) return l;
  const Layout* l = contiguous({data_, static_cast<size_t>(ndim_)}, size);
  if (l == this) return l;
  // Only a layout that is not its own target may own another, so that owners form no cycle: a
  // contiguous layout refers to no layout at all.
  if (!c_contiguous_) {
    const Layout*& slot = like_[0] ? like_[1] : like_[0];
    if (!slot) {
      l->ref();
      slot = l;
    }
  }
  return l;
}

std::string shape_string(std::span<const int64_t> shape) {
  std::string s = "(";
  for (size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + std::to_string(shape[i]);
  return s + (shape.size() == 1 ? ",)" : ")");
}
std::string shape_string(const Layout& l) {
  return shape_string({l.shape(), static_cast<size_t>(l.ndim())});
}

namespace {

// Is there x with 0 <= x[i] <= bound[i] and sum coef[i]*x[i] == rhs? Depth-first with bound pruning
// and a work cap.
struct Diophantine {
  std::vector<std::pair<int64_t, int64_t>>
      terms;                  // (coefficient > 0, bound), largest coefficient first
  std::vector<int64_t> rest;  // largest sum the terms from i on can give
  std::vector<int64_t> gcds;  // gcd of the coefficients from i on
  int work = 2000;

  bool solve(size_t i, int64_t rhs) {
    if (rhs == 0) return true;
    if (rhs < 0 || i == terms.size() || rhs > rest[i]) return false;
    if (rhs % gcds[i] != 0) return false;
    auto [c, bound] = terms[i];
    int64_t tail = i + 1 < terms.size() ? rest[i + 1] : 0;
    int64_t hi = std::min(bound, rhs / c), lo = rhs > tail ? (rhs - tail + c - 1) / c : 0;
    for (int64_t x = hi; x >= lo; --x) {
      if (--work < 0) return true;
      if (solve(i + 1, rhs - c * x)) return true;
    }
    return false;
  }
};

}  // namespace

StridedBytes::StridedBytes(const Layout& l)
    : shape(l.shape(), static_cast<size_t>(l.ndim())),
      strides(l.strides(), static_cast<size_t>(l.ndim())),
      low(l.low()),
      high(l.high()),
      itemsize(l.itemsize()) {}

StridedBytes::StridedBytes(std::span<const int64_t> shape, std::span<const int64_t> strides,
                           int itemsize)
    : shape(shape), strides(strides), itemsize(itemsize) {
  for (int64_t e : shape)
    if (e == 0) return;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t extent = (shape[d] - 1) * strides[d];
    (extent < 0 ? low : high) += extent;
  }
  high += itemsize;
}

bool may_overlap(int64_t offset_a, const StridedBytes& a, int64_t offset_b, const StridedBytes& b) {
  if (a.low == a.high || b.low == b.high) return false;  // no element
  int64_t low_a = offset_a + a.low, low_b = offset_b + b.low;
  if (low_a >= offset_b + b.high || low_b >= offset_a + a.high) return false;
  // Bytes: low_a + sum|s|x + u == low_b + sum|t|y + v with 0<=u<size_a, 0<=v<size_b. Substituting y
  // -> bound - y moves all terms to one side with positive coefficients.
  Diophantine p;
  int64_t rhs = low_b - low_a;
  auto add = [&](const StridedBytes& l, bool flip) {
    for (size_t d = 0; d < l.shape.size(); ++d) {
      int64_t c = std::abs(l.strides[d]), bound = l.shape[d] - 1;
      if (c == 0 || bound == 0) continue;
      p.terms.emplace_back(c, bound);
      if (flip) rhs += c * bound;
    }
    p.terms.emplace_back(1, l.itemsize - 1);
    if (flip) rhs += l.itemsize - 1;
  };
  add(a, false);
  add(b, true);
  std::sort(p.terms.rbegin(), p.terms.rend());
  p.rest.resize(p.terms.size());
  p.gcds.resize(p.terms.size());
  int64_t total = 0, g = 0;
  for (size_t i = p.terms.size(); i-- > 0;) {
    total += p.terms[i].first * p.terms[i].second;
    g = std::__gcd(g, p.terms[i].first);
    p.rest[i] = total;
    p.gcds[i] = g;
  }
  return p.solve(0, rhs);
}

}  // namespace numbus
