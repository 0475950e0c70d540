// Interned shape-and-strides descriptors: equal layouts are one object, so comparing them is
// comparing pointers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace numbus {

constexpr int kMaxDims = 64;

// The axes of an array as bits, all of them.
inline uint64_t all_axes(int ndim) { return ndim >= 64 ? ~uint64_t{0} : (uint64_t{1} << ndim) - 1; }

// Immutable; reference counted and interned under the Python GIL. Strides are in bytes.
class Layout {
 public:
  int ndim() const { return ndim_; }
  int64_t size() const { return size_; }
  const int64_t* shape() const { return data_; }
  const int64_t* strides() const { return data_ + ndim_; }
  int64_t shape(int d) const { return data_[d]; }
  int64_t stride(int d) const { return data_[ndim_ + d]; }
  int itemsize() const { return itemsize_; }
  bool c_contiguous() const { return c_contiguous_; }
  bool f_contiguous() const { return f_contiguous_; }
  // Byte range touched relative to the view's first element: [low, high).
  int64_t low() const { return low_; }
  int64_t high() const { return high_; }
  // No two index tuples reach overlapping bytes (false for zero strides on extents above one).
  bool injective() const { return injective_; }
  bool same_shape(const Layout& o) const;

  // What plans are told apart by, instead of by extents and strides: rank, item size, the order of
  // dimensions, which extents are 0 or 1, which strides 0, negative or the item's size.
  struct Kind {
    uint64_t words[2];
    bool exact;    // the words say all of this (up to 16 dimensions)
    bool c_order;  // strides are those of a dense array in C's order, extents of one included
    bool f_order;  // likewise in Fortran's
  };
  const Kind& kind() const { return kind_; }
  // Of the shape, the strides and the item size; the same for as long as the process lives.
  uint64_t hash() const { return hash_; }

  void ref() const { ++refs_; }
  void unref() const {
    if (--refs_ == 0) park();
  }

  // Not owned: it stays as long as 255 other layouts are not let go, so that a LayoutRef to it can
  // be made.
  static const Layout* get(std::span<const int64_t> shape, std::span<const int64_t> strides,
                           int itemsize);
  static const Layout* contiguous(std::span<const int64_t> shape, int itemsize);
  // The C-contiguous layout of the same shape with another item size (cached on the layout).
  const Layout* contiguous_like(int itemsize) const;

 private:
  void classify();
  void park() const;
  void renew() const;
  void destroy() const;
  mutable int32_t refs_ = 0;
  mutable int32_t parked_ = -1;  // its position among the layouts that may be destroyed
  int32_t ndim_ = 0;
  int64_t size_ = 1, low_ = 0, high_ = 0;
  int32_t itemsize_ = 0;
  bool c_contiguous_ = true, f_contiguous_ = true, injective_ = true;
  Kind kind_{};
  mutable const Layout* like_[2] = {nullptr, nullptr};  // owned; only set on non-contiguous layouts
  uint64_t hash_ = 0;
  int64_t data_[];
};

// An owning handle.
class LayoutRef {
 public:
  LayoutRef() = default;
  LayoutRef(const Layout* p) : p_(p) {  // NOLINT: implicit on purpose
    if (p_) p_->ref();
  }
  LayoutRef(const LayoutRef& o) : LayoutRef(o.p_) {}
  LayoutRef(LayoutRef&& o) noexcept : p_(o.p_) { o.p_ = nullptr; }
  LayoutRef& operator=(LayoutRef o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~LayoutRef() {
    if (p_) p_->unref();
  }
  const Layout* get() const { return p_; }
  const Layout* operator->() const { return p_; }
  const Layout& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  const Layout* p_ = nullptr;
};

std::string shape_string(std::span<const int64_t> shape);
std::string shape_string(const Layout& layout);

// A layout that need not be interned.
struct StridedBytes {
  explicit StridedBytes(const Layout& l);
  StridedBytes(std::span<const int64_t> shape, std::span<const int64_t> strides, int itemsize);
  std::span<const int64_t> shape, strides;
  int64_t low = 0, high = 0;  // as Layout's
  int itemsize;
};

// Whether two strided byte sets share a byte: bounds first, then a bounded Diophantine search;
// unknown counts as yes.
bool may_overlap(int64_t offset_a, const StridedBytes& a, int64_t offset_b, const StridedBytes& b);
inline bool may_overlap(int64_t offset_a, const Layout& a, int64_t offset_b, const Layout& b) {
  return may_overlap(offset_a, StridedBytes(a), offset_b, StridedBytes(b));
}

}  // namespace numbus
