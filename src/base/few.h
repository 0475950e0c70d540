// A vector whose first elements lie in itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace numbus {

template <class T, uint32_t N>
class Few {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Few() = default;
  Few(const Few&) = delete;
  Few(Few&& o) noexcept { take(o); }
  Few& operator=(Few&& o) noexcept {
    if (this != &o) {
      std::free(more_);
      take(o);
    }
    return *this;
  }
  ~Few() { std::free(more_); }

  T* begin() { return more_ ? more_ : own_; }
  T* end() { return begin() + size_; }
  const T* begin() const { return more_ ? more_ : own_; }
  const T* end() const { return begin() + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }
  const T& operator[](size_t n) const { return begin()[n]; }
  void clear() { size_ = 0; }

  void push_back(T value) {
    if (size_ == room_) grow();
    begin()[size_++] = value;
  }
  // Those for which it holds go; the others keep their order.
  template <class F>
  void erase_if(F&& goes) {
    size_ = static_cast<uint32_t>(std::remove_if(begin(), end(), goes) - begin());
  }
  bool contains(const T& value) const { return std::find(begin(), end(), value) != end(); }

 private:
  void take(Few& o) {
    more_ = std::exchange(o.more_, nullptr);
    size_ = std::exchange(o.size_, 0);
    room_ = std::exchange(o.room_, N);
    if (!more_) std::copy_n(o.own_, size_, own_);
  }
  void grow() {
    auto* const larger = static_cast<T*>(std::malloc(2 * sizeof(T) * room_));
    if (!larger) throw std::bad_alloc();
    std::copy(begin(), end(), larger);
    std::free(more_);
    more_ = larger;
    room_ *= 2;
  }

  T* more_ = nullptr;
  uint32_t size_ = 0, room_ = N;
  T own_[N] = {};
};

}  // namespace numbus
