// The table of bases.
#include "program/bases.h"

#include <utility>

namespace numbus::program {

KnownBase& Bases::of(uint64_t id) {
  if (2 * (count_ + 1) > all_.size()) grow();
  KnownBase& found = all_[place(id)];
  if (!found.id) {
    found.id = id;
    ++count_;
  }
  return found;
}

void Bases::grow() {
  constexpr size_t kLeast = 64;
  std::vector<KnownBase> before(all_.empty() ? kLeast : 2 * all_.size());
  all_.swap(before);
  for (KnownBase& known : before)
    if (known.id) all_[place(known.id)] = std::move(known);
}

// Those after it that it pushed on come nearer to where they belong.
void Bases::drop(uint64_t id) {
  const size_t mask = all_.size() - 1;
  size_t free = place(id);
  all_[free] = {};
  --count_;
  for (size_t at = (free + 1) & mask; all_[at].id != 0; at = (at + 1) & mask) {
    const size_t wanted = all_[at].id & mask;
    if (((at - wanted) & mask) < ((at - free) & mask)) continue;
    all_[free] = std::exchange(all_[at], {});
    free = at;
  }
}

}  // namespace numbus::program
