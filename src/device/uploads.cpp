// Which devices copy beside their work, and what.
#include "device/uploads.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "device/cuda/uploads.h"
#include "device/host_memory.h"

namespace numbus {
namespace {

// What a thread would take as long to hear of as to copy. These copies come after the device's
// work, whose memory they may be given: that is when those of a thread come, too.
constexpr size_t kLittle = size_t{512} << 10;

class Done final : public Upload {
 public:
  void join() override {}
};

}  // namespace

std::unique_ptr<Upload> upload_ahead(Device& device, std::vector<HostPiece> pieces) {
  const size_t bytes = std::transform_reduce(pieces.begin(), pieces.end(), size_t{0}, std::plus<>(),
                                             [](const HostPiece& p) { return p.bytes; });
  // Of pinned memory a copy is direct, and would have to be waited for.
  const bool pinned = std::ranges::any_of(pieces, [](const HostPiece& p) {
    HostBlock block;
    return find_host_block(p.from, p.bytes, &block) && block.pinned();
  });
  if (device.kind() == DeviceKind::Cuda && (bytes > kLittle || pinned))
    return cuda::upload_ahead(static_cast<cuda::CudaDevice&>(device), std::move(pieces));
  for (const HostPiece& p : pieces) device.copy_from_host(p.to, p.from, p.bytes);
  return std::make_unique<Done>();
}

}  // namespace numbus
