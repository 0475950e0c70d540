// Notes of uses, and what orders them.
#include "compile/races.h"

#include <algorithm>

namespace numbus::compile {

using ir::Access;

RaceCheck::RaceCheck(int64_t bytes, int granule, int64_t threads)
    : granule_(granule),
      elements_(static_cast<size_t>((bytes + granule - 1) / granule)),
      clock_(static_cast<size_t>(threads), 1),
      fenced_(static_cast<size_t>(threads), 0),
      seen_(static_cast<size_t>(threads) * 32, 0) {}

bool RaceCheck::ordered(const Use& before, int64_t thread) const {
  if (before.epoch != epoch_ || before.thread == thread) return true;
  if (before.clock <= fenced_[before.thread]) return true;
  return before.thread / 32 == thread / 32 &&
         before.clock <= seen_[static_cast<size_t>(thread) * 32 + before.thread % 32];
}

// What each lane knows of the others becomes what all that take part know.
void RaceCheck::warp(int64_t first, uint32_t lanes) {
  uint32_t joined[32] = {};
  auto each = [&](auto&& f) {
    for (int l = 0; l < 32; ++l)
      if (lanes >> l & 1) f(static_cast<size_t>(l));
  };
  auto base = static_cast<size_t>(first);
  each([&](size_t l) {
    for (size_t k = 0; k < 32; ++k) joined[k] = std::max(joined[k], seen_[(base + l) * 32 + k]);
    joined[l] = std::max(joined[l], clock_[base + l]);
  });
  each([&](size_t l) {
    std::copy(joined, joined + 32, &seen_[(base + l) * 32]);
    ++clock_[base + l];
  });
}

void RaceCheck::fence(int64_t thread) {
  fenced_[static_cast<size_t>(thread)] = clock_[static_cast<size_t>(thread)]++;
}

void RaceCheck::keep(Use (&two)[2], const Use& now) const {
  for (Use& u : two)
    if (ordered(u, now.thread)) {
      u = now;
      return;
    }
  if (two[0].thread / 32 == two[1].thread / 32 && now.thread / 32 != two[0].thread / 32)
    two[1] = now;
}

const Use* RaceCheck::use(int64_t thread, Access how, int64_t position, int64_t offset, int bytes,
                          bool same_value) {
  Use now{epoch_, clock_[static_cast<size_t>(thread)], static_cast<int32_t>(position),
          static_cast<uint16_t>(thread), how};
  const Use* against = nullptr;
  auto meet = [&](const Use& before) {
    if (!against && !ordered(before, thread)) {
      found_ = before;
      against = &found_;
    }
  };
  for (int64_t at = offset / granule_; at * granule_ < offset + bytes; ++at) {
    if (at < 0 || at >= static_cast<int64_t>(elements_.size())) continue;
    Element& e = elements_[static_cast<size_t>(at)];
    if (!(how == Access::Write && same_value)) meet(e.write);
    if (how != Access::Read)
      for (const Use& u : e.read) meet(u);
    if (how != Access::Atomic)
      for (const Use& u : e.atomic) meet(u);
    if (how == Access::Write)
      e.write = now;
    else
      keep(how == Access::Read ? e.read : e.atomic, now);
  }
  return against;
}

}  // namespace numbus::compile
