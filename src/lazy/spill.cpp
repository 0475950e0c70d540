// Which array goes, and the memory of the host that it waits in.
#include "lazy/spill.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "device/counts.h"
#include "device/cpu/cpu_info.h"
#include "lazy/live.h"
#include "lazy/run_memory.h"
#include "lazy/runtime.h"

namespace numbus {
namespace {

constinit thread_local InPlace* innermost = nullptr;

}  // namespace

InPlace::InPlace() : before_(innermost) { innermost = this; }

InPlace::~InPlace() {
  innermost = before_;
  for (Base* b : held_) {
    --b->live->held;
    b->unref();
  }
}

void InPlace::add(Base& b) {
  if (b.live && b.device->spills()) {
    held_.push_back(&b);
    ++b.live->held;
    b.ref();
  }
  b.ensure_data();
}

void InPlace::note(Base& b) {
  if (innermost) innermost->add(b);
}

namespace spill {
namespace {

// Making pinned memory takes longer than a copy to it: what is left over is used again, as long as
// anything waits.
struct Waiting {
  Device* device;
  size_t bytes = 0;  // of arrays
  size_t kept = 0;   // taken from the host
  std::vector<HostBlock> spare;
};

// Under Python's lock, as all of this. Never destroyed: arrays may outlive static destructors.
std::vector<Waiting>& all() {
  static auto* w = new std::vector<Waiting>;
  return *w;
}

Waiting& of(Device& d) {
  for (Waiting& w : all())
    if (w.device == &d) return w;
  return all().emplace_back(Waiting{&d, 0, 0, {}});
}

void free_block(Waiting& w, const HostBlock& block) noexcept {
  remove_host_block(block.begin);
  w.kept -= block.bytes;
  w.device->free_host(block);
}

void free_spare(Waiting& w) noexcept {
  for (const HostBlock& block : w.spare) free_block(w, block);
  w.spare.clear();
}

// Most of the host's memory may hold arrays of a device; the system ends a process that pins all.
size_t most_on_host() {
  static const size_t most = available_memory() / 4 * 3;
  return most;
}

HostBlock block_for(Device& d, size_t bytes) {
  Waiting& w = of(d);
  auto best = w.spare.end();
  for (auto it = w.spare.begin(); it != w.spare.end(); ++it)
    if (it->bytes >= bytes && it->bytes - bytes <= bytes / 8 &&
        (best == w.spare.end() || it->bytes < best->bytes))
      best = it;
  if (best != w.spare.end()) {
    const HostBlock found = *best;
    w.spare.erase(best);
    return found;
  }
  if (w.kept + bytes > most_on_host()) free_spare(w);
  if (w.kept + bytes > most_on_host())
    raise(ErrorKind::Memory, "spill", "the host has no memory for arrays of " + d.label(),
          std::to_string(bytes) + " bytes beside " + std::to_string(w.kept),
          "at most " + std::to_string(most_on_host()) + " bytes");
  w.spare.reserve(w.spare.size() + 1);  // load() has nothing left to allocate
  HostBlock block = d.allocate_host(bytes, HostKind::Pinned, false);
  try {
    add_host_block(block);
  } catch (...) {
    d.free_host(block);
    throw;
  }
  w.kept += block.bytes;
  return block;
}

// The block is not used by anything any more.
void put_aside(Waiting& w, const HostBlock& block) noexcept {
  if (w.bytes > 0 && w.spare.size() < w.spare.capacity())
    w.spare.push_back(block);
  else
    free_block(w, block);
  if (w.bytes == 0) free_spare(w);
}

bool may_go(const Live& l, Device& d) {
  const Base& b = l.base;
  return b.device == &d && b.data && b.owned && !b.outside() && l.held == 0 &&
         !d.in_use_beside(b.data, static_cast<size_t>(b.nbytes));
}

// Whether it is gone. Held meanwhile: what waits for the copy may run others' code.
bool go(Live& l) {
  Base& b = l.base;
  Device& d = *b.device;
  const auto bytes = static_cast<size_t>(b.nbytes);
  const Handle here(&b);
  const uint64_t touches = l.touches;
  const char* data = b.data;
  const HostBlock block = save(d, data, bytes);
  if (l.touches != touches || l.held > 0 || b.data != data || b.away) {
    forget(d, block, bytes);
    return false;
  }
  l.away = block;
  b.away = true;
  b.data = nullptr;
  d.free(const_cast<char*>(data), bytes);
  return true;
}

}  // namespace

HostBlock save(Device& d, const char* data, size_t bytes) {
  const HostBlock block = block_for(d, bytes);
  Waiting& w = of(d);
  try {
    const interrupt::ArrayWork work;
    CopyTimer timer;
    d.copy_to_host(reinterpret_cast<void*>(block.begin), data, bytes);
  } catch (...) {
    free_block(w, block);  // once what is under way is over
    throw;
  }
  w.bytes += bytes;
  Stats& stats = Runtime::get().stats;
  ++stats.spills;
  stats.spilled_bytes += static_cast<int64_t>(bytes);
  return block;
}

void load(Device& d, char* data, const HostBlock& block, size_t bytes) {
  {
    const interrupt::ArrayWork work;
    CopyTimer timer;
    d.copy_from_host(data, reinterpret_cast<const void*>(block.begin), bytes);
  }
  ++Runtime::get().stats.brought_back;
  Waiting& w = of(d);
  w.bytes -= bytes;
  put_aside(w, block);
}

void forget(Device& d, const HostBlock& block, size_t bytes) noexcept {
  Waiting& w = of(d);
  w.bytes -= bytes;
  put_aside(w, block);
}

void bring_back(Base& b) {
  Device& d = *b.device;
  const auto bytes = static_cast<size_t>(b.nbytes);
  const Handle here(&b);
  char* data = static_cast<char*>(d.allocate(bytes));
  try {
    if (b.away) load(d, data, b.live->away, bytes);
  } catch (...) {
    d.free(data, bytes);
    throw;
  }
  if (b.data) {
    d.free(data, bytes);  // it is back already
    return;
  }
  b.data = data;
  b.away = false;
}

void drop(Base& b) noexcept {
  if (!b.away) return;
  b.away = false;
  forget(*b.device, b.live->away, static_cast<size_t>(b.nbytes));
}

size_t movable_bytes(Device& d) {
  size_t all = 0;
  for (Live* l = Live::oldest(); l; l = l->newer)
    if (may_go(*l, d)) all += static_cast<size_t>(l->base.nbytes);
  return all;
}

bool make_room(Device& d, size_t bytes) {
  static bool busy = false;
  if (!d.spills() || busy) return false;
  const MemoryStats stats = d.memory_stats();
  if (bytes > stats.limit) return false;
  const size_t all = RunMemory::may_free(d) + movable_bytes(d);
  if (all == 0 || stats.used_bytes + bytes > stats.limit + all) return false;
  struct Busy {
    Busy() { busy = true; }
    ~Busy() { busy = false; }
  } here;
  try {
    for (bool pending : {false, true}) {
      for (Live* l = Live::oldest(); l; l = l->newer)
        if (may_go(*l, d) && (l->base.window || l->base.other_windows > 0) == pending)
          return go(*l);
      if (!pending && RunMemory::free_one(d)) return true;
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Memory) throw;  // the host is full as well
  }
  return false;
}

size_t waiting_bytes(const Device& d) {
  for (const Waiting& w : all())
    if (w.device == &d) return w.bytes;
  return 0;
}

void trim(Device& d) noexcept {
  for (Waiting& w : all())
    if (w.device == &d) free_spare(w);
}

}  // namespace spill
}  // namespace numbus
