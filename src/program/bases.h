// What a program knows of bases, by their ids.
#pragma once

#include <cstdint>
#include <vector>

#include "base/few.h"

namespace numbus::program {

// The saved value of an operand of an entry; beyond the operands are the results.
struct Use {
  int64_t entry;
  int operand;
};

// A tensor that is a view of another one of its memory.
struct KnownView {
  uint64_t number;  // Array::through of what is seen through it
  uint64_t parent;  // likewise of the tensor that it was made of
  int64_t created;  // the number of the entry after it
  int64_t order;    // how many views were made before it
};

struct KnownBase {
  uint64_t id = 0;          // zero: the place is free
  int32_t references = 0;   // of a tape: tensors and entries
  bool active = false;      // it depends on what is watched
  bool watched = false;     // it was there before anything was recorded that made its elements
  bool spent = false;       // of a tape: the entries that made elements of it have gone
  Few<int64_t, 2> writers;  // of a tape: entries
  Few<Use, 2> saved;        // what shares its memory
  Few<KnownView, 1> views;  // of a tape
  bool idle() const {
    return references == 0 && !active && !watched && !spent && writers.empty() && saved.empty();
  }
};

// Open addressing: ids are hashes already. What is found stays where it is until another is added,
// or one is dropped.
class Bases {
 public:
  KnownBase* find(uint64_t id) {
    if (all_.empty()) return nullptr;
    KnownBase& found = all_[place(id)];
    return found.id ? &found : nullptr;
  }
  const KnownBase* find(uint64_t id) const { return const_cast<Bases*>(this)->find(id); }
  KnownBase& of(uint64_t id);
  // Forgets the base where nothing is known of it any more.
  void tidy(uint64_t id) {
    if (const KnownBase* const known = find(id); known && known->idle()) drop(id);
  }
  template <class F>
  void each(F&& f) {
    for (KnownBase& known : all_)
      if (known.id) f(known);
  }
  template <class F>
  void each(F&& f) const {
    for (const KnownBase& known : all_)
      if (known.id) f(known);
  }

 private:
  // Where the base is, or would be.
  size_t place(uint64_t id) const {
    size_t at = id & (all_.size() - 1);
    while (all_[at].id != 0 && all_[at].id != id) at = (at + 1) & (all_.size() - 1);
    return at;
  }
  void grow();
  void drop(uint64_t id);

  std::vector<KnownBase> all_;  // a power of two of them
  size_t count_ = 0;
};

}  // namespace numbus::program
