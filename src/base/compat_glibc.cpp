// Definitions of newer glibc functions that LLVM calls, so that the module loads on older glibc.
#include <sys/random.h>

#include <cstddef>
#include <cstdint>

// glibc has arc4random from 2.36 on only. <stdlib.h> is left out on purpose: its declaration would
// make ours visible. LLVM uses it for names of temporary files.
extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() {
  std::uint32_t value = 0;
  auto* bytes = reinterpret_cast<unsigned char*>(&value);
  for (std::size_t filled = 0; filled < sizeof value;) {
    const auto got = getrandom(bytes + filled, sizeof value - filled, 0);
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return value;
}
