// Arrays whose copy on another device is begun before the program asks for it, as the batches of a
// loader are: to_device() finds the copy, unless the array has been changed since.
#pragma once

#include <memory>
#include <optional>

#include "array/array.h"
#include "device/uploads.h"

namespace numbus {

class Ahead {
 public:
  // Begins to copy to `target`; null: only notes where the array will be copied to. Copies are
  // begun only of whole arrays in C order in memory that the host reads, of which nobody outside
  // knows; `own`: nobody who does will change it.
  Ahead(const Array& source, Device* target, bool own);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // Where the program has copied the array to since; null: nowhere yet.
  Device* moved_to() const { return moved_to_; }
  bool begun() const { return upload_ != nullptr; }

  // The copy of `a` on a device, if one has been begun; each is given once.
  static std::optional<Array> take(const Array& a, Device& d);

 private:
  bool is_of(const Array& a) const;
  void join();
  Array give();

  Array source_;
  uint64_t value_ = 0;  // of the source's elements when the copy began
  int32_t shared_ = 0;
  Device* target_ = nullptr;
  Device* moved_to_ = nullptr;
  char* block_ = nullptr;
  std::unique_ptr<Upload> upload_;
  bool joined_ = false;
};

}  // namespace numbus
