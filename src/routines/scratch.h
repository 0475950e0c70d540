// Memory for the length of one call, from the CPU's pool.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/memory.h"

namespace numbus::routines {

// Room for n elements of a trivial type, not initialised. Up to kInside bytes lie in the object.
template <class T, size_t kInside = 0>
class Scratch {
 public:
  explicit Scratch(int64_t n) : bytes_(static_cast<size_t>(n) * sizeof(T)) {
    data_ = bytes_ <= kInside ? reinterpret_cast<T*>(inside_)
                              : static_cast<T*>(cpu_memory_pool().allocate(bytes_));
  }
  ~Scratch() {
    if (bytes_ > kInside) cpu_memory_pool().free(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() { return data_; }
  T& operator[](int64_t i) { return data_[i]; }

 private:
  size_t bytes_;
  T* data_;
  alignas(64) unsigned char inside_[kInside ? kInside : 1];
};

}  // namespace numbus::routines
