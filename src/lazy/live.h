// Bases of some size: which of them were used last, what they are, and which are the largest.
#pragma once

#include <string>

#include "base/dtype.h"
#include "base/layout.h"
#include "device/host_memory.h"
#include "lazy/base.h"

namespace numbus {

// What is known of a base of `least` bytes or more, beside what every base has. All of them are in
// a list, the one that was used last in front. Under Python's lock, as bases are.
struct Live {
  static constexpr int64_t kLeast = int64_t{1} << 16;
  static constinit int64_t least;  // kLeast; tests choose another

  explicit Live(Base& b);
  ~Live();
  Live(const Live&) = delete;

  void touch();
  static Live* latest();
  static Live* oldest();

  Base& base;
  Live *older = nullptr, *newer = nullptr;
  // How it was made; no line or no layout: not known.
  uint64_t line = 0;
  LayoutRef layout;
  DType dtype = DType::U8;
  // Of one that may be spilled (lazy/spill.h): who has its address, and its elements while it is
  // away.
  int32_t held = 0;
  uint64_t touches = 0;
  HostBlock away;

 private:
  void link();
  void unlink();
};

// What an error of memory adds: the largest arrays that lie there.
std::string largest_arrays(const Device& d);

}  // namespace numbus
