// A step waits for the steps before it that write to what it reads, or use what it writes to.
// Storages count as a whole, at their addresses: what dies gives its memory to others in one run.
#include "lazy/waits.h"

#include <algorithm>

namespace numbus {
namespace {

constexpr size_t kMostStorages = 1024;

struct StorageUse {
  int storage;
  bool written;
};

std::vector<StorageUse> uses_of(const KernelStep& step) {
  std::vector<StorageUse> uses;
  auto add = [&](int storage, bool written) {
    for (StorageUse& u : uses)
      if (u.storage == storage) {
        u.written = u.written || written;
        return;
      }
    uses.push_back({storage, written});
  };
  for (const Patch& p : step.patches)
    if (p.storage >= 0) add(p.storage, p.written);
  for (const ReduceStep& r : step.reduces) add(r.storage, true);
  return uses;
}

}  // namespace

bool StorageRanges::read(const Run& run, const Window& w) {
  if (run.storages.size() > kMostStorages) return false;
  ranges_.assign(run.storages.size(), {});
  bool known = true;
  auto note = [&](int storage, int64_t begin) {
    const Storage& s = run.storages[storage];
    const int64_t bytes = s.slot >= 0 ? w.slots_[s.slot].base->nbytes : s.nbytes;
    const Range r{begin, begin + bytes};
    Range& held = ranges_[storage];
    known = known && (held == Range() || held == r);
    held = r;
  };
  for (const KernelStep& step : run.steps) {
    for (const Patch& p : step.patches)
      if (p.storage >= 0) note(p.storage, step.params[p.word] - p.offset);
    for (size_t r = 0; r < step.reduces.size(); ++r)
      note(step.reduces[r].storage,
           reinterpret_cast<int64_t>(step.results[r]) - step.reduces[r].offset);
  }
  return known;
}

void StorageRanges::compare() {
  const int n = static_cast<int>(ranges_.size());
  overlaps_.assign(ranges_.size() * ranges_.size(), 0);
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) overlaps_[index(a, b)] = ranges_[a].meets(ranges_[b]);
}

bool StorageRanges::follows(const StorageRanges& now) {
  if (ranges_.size() != now.ranges_.size()) return false;
  const int n = static_cast<int>(ranges_.size());
  for (int a = 0; a < n; ++a) {
    if (ranges_[a] == now.ranges_[a]) continue;
    for (int b = 0; b < n; ++b)
      if (now.ranges_[a].meets(now.ranges_[b]) && !overlap(a, b)) return false;
  }
  ranges_ = now.ranges_;
  return true;
}

std::vector<std::vector<int>> waits_of(std::span<const KernelStep> steps,
                                       const StorageRanges& ranges,
                                       const std::vector<unsigned>& shared) {
  const size_t count = steps.size();
  std::vector<std::vector<StorageUse>> uses(count);
  for (size_t k = 0; k < count; ++k) uses[k] = uses_of(steps[k]);
  auto conflict = [&](size_t before, size_t after) {
    if (shared[before] & shared[after]) return true;
    if (after == before + 1 && steps[before].guards) return true;
    for (const StorageUse& x : uses[before])
      for (const StorageUse& y : uses[after])
        if ((x.written || y.written) && ranges.overlap(x.storage, y.storage)) return true;
    return false;
  };
  std::vector<std::vector<int>> waits(count);
  std::vector<std::vector<char>> follows(count);  // all that a step comes after
  for (size_t k = 0; k < count; ++k) {
    follows[k].assign(count, 0);
    for (size_t j = k; j-- > 0;) {
      if (follows[k][j] || !conflict(j, k)) continue;
      waits[k].push_back(static_cast<int>(j));
      follows[k][j] = 1;
      for (size_t i = 0; i < j; ++i) follows[k][i] |= follows[j][i];
    }
  }
  return waits;
}

}  // namespace numbus
