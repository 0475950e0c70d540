// Interned shape-and-strides descriptors: equal layouts are one object, so comparing them is
// comparing pointers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace numbus {

constexpr int kMaxDims = 64;

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

  void ref() const { ++refs_; }
  void unref() const {
    if (--refs_ == 0) park();
  }

  static const Layout* get(std::span<const int64_t> shape, std::span<const int64_t> strides,
                           int itemsize);
  static const Layout* contiguous(std::span<const int64_t> shape, int itemsize);
  // The C-contiguous layout of the same shape with another item size (cached on the layout).
  const Layout* contiguous_like(int itemsize) const;

 private:
  void park() const;
  void destroy() const;
  mutable int32_t refs_ = 0;
  mutable bool parked_ = false;  // among the layouts that may be destroyed
  int32_t ndim_ = 0;
  int64_t size_ = 1, low_ = 0, high_ = 0;
  int32_t itemsize_ = 0;
  bool c_contiguous_ = true, f_contiguous_ = true, injective_ = true;
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

// Whether two strided byte sets share a byte: bounds first, then a bounded Diophantine search;
// unknown counts as yes.
bool may_overlap(int64_t offset_a, const Layout& a, int64_t offset_b, const Layout& b);

}  // namespace numbus
