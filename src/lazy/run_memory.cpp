// What a plan says about the future tells which storage can wait longest.
#include "lazy/run_memory.h"

#include <algorithm>
#include <limits>

#include "lazy/live.h"
#include "lazy/spill.h"

namespace numbus {
namespace {

constinit thread_local RunMemory* latest = nullptr;

bool uses(const KernelStep& step, int storage) {
  return std::any_of(step.patches.begin(), step.patches.end(),
                     [&](const Patch& p) { return p.storage == storage; }) ||
         std::any_of(step.reduces.begin(), step.reduces.end(),
                     [&](const ReduceStep& r) { return r.storage == storage; });
}

size_t bytes_of(const Window& w, const Storage& s) {
  return static_cast<size_t>(s.slot >= 0 ? w.slots_[s.slot].base->nbytes : s.nbytes);
}

}  // namespace

RunMemory::RunMemory(const Window& w, Run& run, Device& device)
    : window_(w), run_(run), device_(device), spills_(device.spills()) {
  if (!spills_) return;
  for (size_t s = 0; s < w.slots_.size(); ++s) {
    Base& b = *w.slots_[s].base;
    if (!b.live) continue;
    b.live->touch();
    ++b.live->held;
    if (run.storages[s].overwritten) spill::drop(b);
  }
  before_ = latest;
  latest = this;
}

RunMemory::~RunMemory() {
  if (!spills_) return;
  latest = before_;
  for (const auto& [storage, block] : away_) spill::forget(device_, block, bytes(storage));
  for (const Slot& s : window_.slots_)
    if (s.base->live) --s.base->live->held;
}

size_t RunMemory::bytes(int storage) const { return bytes_of(window_, run_.storages[storage]); }

// The first storages are those that the window's bases have before it runs.
bool RunMemory::of_base(int storage) const {
  return storage < static_cast<int>(window_.slots_.size());
}

bool RunMemory::is_away(int storage) const {
  if (!spills_) return false;
  return (of_base(storage) && window_.slots_[storage].base->away) ||
         std::any_of(away_.begin(), away_.end(), [&](const auto& a) { return a.first == storage; });
}

void RunMemory::give(int storage) {
  char*& data = run_.data[storage];
  if (of_base(storage)) {
    Base& b = *window_.slots_[storage].base;
    if (b.away) {
      spill::bring_back(b);
      data = b.data;
      return;
    }
  }
  const size_t n = bytes(storage);
  if (run_.arena && run_.places[storage] >= 0 && n <= static_cast<size_t>(run_.rooms[storage])) {
    data = run_.arena + run_.places[storage];
    return;
  }
  char* fresh = static_cast<char*>(device_.allocate(n));
  auto away =
      std::find_if(away_.begin(), away_.end(), [&](const auto& a) { return a.first == storage; });
  if (away != away_.end()) {
    try {
      spill::load(device_, fresh, away->second, n);
    } catch (...) {
      device_.free(fresh, n);
      throw;
    }
    away_.erase(away);
  }
  data = fresh;
}

void RunMemory::forget(int storage) noexcept {
  if (!spills_) return;
  if (of_base(storage)) spill::drop(*window_.slots_[storage].base);
  auto away =
      std::find_if(away_.begin(), away_.end(), [&](const auto& a) { return a.first == storage; });
  if (away == away_.end()) return;
  spill::forget(device_, away->second, bytes(storage));
  away_.erase(away);
}

bool RunMemory::hand_over(int storage, Base& b) noexcept {
  auto away =
      std::find_if(away_.begin(), away_.end(), [&](const auto& a) { return a.first == storage; });
  if (away == away_.end()) return false;
  spill::drop(b);
  if (b.data && b.owned) device_.free(b.data, static_cast<size_t>(b.nbytes));
  b.data = nullptr;
  b.live->away = away->second;
  b.away = true;
  away_.erase(away);
  return true;
}

bool RunMemory::may_go(int storage) const {
  const char* data = run_.data[storage];
  const size_t n = bytes(storage);
  if (!data || n < static_cast<size_t>(Live::least) || (step_ && uses(*step_, storage)) ||
      run_.in_arena(data))
    return false;
  const int slot = run_.storages[storage].slot;
  if (slot >= 0) {
    const Base& b = *window_.slots_[slot].base;
    if (!b.owned || b.outside() || !b.live || b.live->held > 1) return false;
  }
  return !device_.in_use_beside(data, n);
}

// The number of the step; the largest number where none does.
size_t RunMemory::next_use(int storage) const {
  const size_t now = step_ ? static_cast<size_t>(step_ - run_.steps.data()) + 1 : 0;
  for (size_t k = now; k < run_.steps.size(); ++k)
    if (uses(run_.steps[k], storage)) return k;
  return std::numeric_limits<size_t>::max();
}

bool RunMemory::free_last_needed() {
  int chosen = -1;
  size_t when = 0;
  for (int s = 0; s < static_cast<int>(run_.storages.size()); ++s) {
    if (!may_go(s)) continue;
    const size_t next = next_use(s);
    if (chosen >= 0 && next <= when) continue;
    chosen = s;
    when = next;
  }
  if (chosen < 0) return false;
  const size_t n = bytes(chosen);
  char*& data = run_.data[chosen];
  away_.reserve(away_.size() + 1);
  const HostBlock block = spill::save(device_, data, n);
  Base* b = of_base(chosen) ? window_.slots_[chosen].base : nullptr;
  if (b && b->data == data) {
    b->live->away = block;
    b->away = true;
    b->data = nullptr;
  } else {
    away_.emplace_back(chosen, block);
  }
  device_.free(data, n);
  data = nullptr;
  return true;
}

bool RunMemory::free_one(Device& d) {
  return latest && &latest->device_ == &d && latest->free_last_needed();
}

size_t RunMemory::may_free(Device& d) {
  if (!latest || &latest->device_ != &d) return 0;
  size_t all = 0;
  for (int s = 0; s < static_cast<int>(latest->run_.storages.size()); ++s)
    if (latest->may_go(s)) all += latest->bytes(s);
  return all;
}

bool is_too_large(const Window& w, const Run& run, Device& d) {
  constexpr size_t kLittle = size_t{1} << 20;
  if (!d.spills() || w.instrs_.size() < 2) return false;
  size_t all = 0;
  for (const Storage& s : run.storages)
    if (s.needed) all += bytes_of(w, s);
  if (all < kLittle) return false;
  const MemoryStats stats = d.memory_stats();
  if (all <= stats.limit / 2) return false;
  // What has to stay is not to be had.
  const size_t movable = spill::movable_bytes(d);
  const size_t stays = stats.used_bytes - std::min(stats.used_bytes, movable);
  const size_t room = (stats.limit - std::min(stats.limit, stays)) / 16 * 15;
  std::vector<int> counted(run.storages.size(), -1);
  for (int k = 0; k < static_cast<int>(run.steps.size()); ++k) {
    size_t needs = 0;
    auto count = [&](int storage) {
      if (storage < 0 || counted[storage] == k) return;
      counted[storage] = k;
      needs += bytes_of(w, run.storages[storage]);
    };
    for (const Patch& p : run.steps[k].patches) count(p.storage);
    for (const ReduceStep& r : run.steps[k].reduces) count(r.storage);
    if (needs > room) return true;
  }
  return false;
}

}  // namespace numbus
