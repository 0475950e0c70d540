// The numbers of a window, told apart from its structure: which layouts and offsets there are, in
// order of appearance, and a key that holds everything else that a plan depends on.
#pragma once

#include <cstdint>
#include <vector>

#include "base/layout.h"

namespace numbus {

class Window;

// Numbers keys in order of appearance.
class Numbering {
 public:
  void clear() { keys_.clear(), filled_ = false; }
  // The key's number; a new key gets the next one.
  int add(uint64_t key);
  int find(uint64_t key) const;  // negative: there is none
  int size() const { return static_cast<int>(keys_.size()); }

 private:
  void fill();
  static constexpr size_t kFew = 12;  // so many are looked for one by one
  std::vector<uint64_t> keys_;
  std::vector<int32_t> table_;  // open addressing, once there are more
  bool filled_ = false;
};

struct Positions {
  struct Offset {
    int32_t slot;
    int64_t bytes;  // from the start of the base
  };
  struct Slot {
    int64_t bytes;   // of the base
    int32_t layout;  // of the first access
    bool whole;      // which is as large as the base
  };
  std::vector<const Layout*> layouts;  // kept alive by the window
  std::vector<Offset> offsets;         // the first of each slot comes before its others
  std::vector<Slot> slots;
  std::vector<uint64_t> key;  // operations, dtypes, ranks, kinds of layouts, liveness
  uint64_t hash = 0;

  // Reads a window; what was there before is dropped, its memory kept.
  void read(const Window& w);
  int number_of(const Layout* l) const {
    return layout_numbers_.find(reinterpret_cast<uint64_t>(l));
  }
  int number_of(int slot, int64_t bytes) const {
    return offset_numbers_.find(offset_key(slot, bytes));
  }

 private:
  static uint64_t offset_key(int slot, int64_t bytes) {
    return static_cast<uint64_t>(slot) << 48 ^ static_cast<uint64_t>(bytes);
  }
  Numbering layout_numbers_, offset_numbers_;
};

}  // namespace numbus
