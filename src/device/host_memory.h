// Memory of the host that a device knows, found by its address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace numbus {

// Pinned: the device copies from and to it directly. Mapped: pinned, and kernels reach it through
// the link. Managed: moves to where it is used.
enum class HostKind { Pinned, Mapped, Managed };

struct HostBlock {
  std::uintptr_t begin = 0;
  size_t bytes = 0;
  HostKind kind = HostKind::Pinned;
  std::uintptr_t device_address = 0;  // of `begin`, for kernels; 0: out of their reach
  bool ours = true;                   // allocated here, not only registered

  bool pinned() const { return kind != HostKind::Managed; }
};

// The blocks of all devices; thread-safe.
void add_host_block(const HostBlock& block);
void remove_host_block(std::uintptr_t begin);
bool any_host_blocks();
// Whether a block holds all of these bytes, and which.
bool find_host_block(const void* address, size_t bytes, HostBlock* found);

}  // namespace numbus
