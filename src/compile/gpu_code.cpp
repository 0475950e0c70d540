// Modules by device and identity, cubins in the disk cache.
#include "compile/gpu_code.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "compile/compiler.h"
#include "compile/disk_cache.h"

namespace numbus::compile {

GpuCode gpu_code(cuda::CudaDevice& d, const std::string& identity,
                 const std::function<std::string(int, int)>& build) {
  static auto* modules =
      new std::unordered_map<cuda::CudaDevice*,
                             std::unordered_map<std::string, std::shared_ptr<cuda::Module>>>;
  auto start = std::chrono::steady_clock::now();
  int sm = d.properties().compute_capability(), ptx = cuda::max_ptx_version();
  std::string key = "gpu/" + std::to_string(sm) + "/" +
                    std::to_string(d.properties().driver_version) + "/" + build_identity() +
                    identity;
  // Loaded by two threads at once, the first one's is kept.
  static std::mutex lock;
  std::shared_ptr<cuda::Module> known;
  {
    std::lock_guard guard(lock);
    known = (*modules)[&d][key];
  }
  GpuCode r;
  if (!known) {
    std::string image = disk_load(key);
    r.from = image.empty() ? GpuCode::Compiler : GpuCode::Disk;
    if (image.empty()) {
      image = d.assemble_ptx(build(sm, ptx));
      disk_store(key, image);
    }
    auto made = std::make_shared<cuda::Module>(d.load_module(image.data(), image.size()));
    {
      std::lock_guard guard(lock);
      auto& kept = (*modules)[&d][key];
      if (!kept) kept = std::move(made);
      known = kept;
    }
    r.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  r.function = known->function("k");
  return r;
}

}  // namespace numbus::compile
