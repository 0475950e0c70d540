// Copies to a GPU by a thread and a stream of their own, through pinned memory.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "device/uploads.h"

namespace numbus::cuda {

std::unique_ptr<Upload> upload_ahead(CudaDevice& device, std::vector<HostPiece> pieces);

}  // namespace numbus::cuda
