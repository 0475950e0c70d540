// A map of blocks by address.
#include "device/host_memory.h"

#include <atomic>
#include <map>
#include <mutex>

namespace numbus {
namespace {

std::mutex mutex;
// Copies ask for every address: mostly there are no blocks at all.
std::atomic<size_t> count{0};

std::map<std::uintptr_t, HostBlock>& blocks() {
  static auto* all = new std::map<std::uintptr_t, HostBlock>;
  return *all;
}

}  // namespace

void add_host_block(const HostBlock& block) {
  std::lock_guard<std::mutex> lock(mutex);
  blocks()[block.begin] = block;
  count = blocks().size();
}

void remove_host_block(std::uintptr_t begin) {
  std::lock_guard<std::mutex> lock(mutex);
  blocks().erase(begin);
  count = blocks().size();
}

bool any_host_blocks() { return count.load(std::memory_order_relaxed) != 0; }

bool find_host_block(const void* address, size_t bytes, HostBlock* found) {
  if (!any_host_blocks()) return false;
  auto at = reinterpret_cast<std::uintptr_t>(address);
  std::lock_guard<std::mutex> lock(mutex);
  auto it = blocks().upper_bound(at);
  if (it == blocks().begin()) return false;
  --it;
  const HostBlock& block = it->second;
  if (at - block.begin > block.bytes || bytes > block.bytes - (at - block.begin)) return false;
  *found = block;
  return true;
}

}  // namespace numbus
