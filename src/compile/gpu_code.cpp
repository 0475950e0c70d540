// Modules by device and identity, their PTX in the disk cache.
//
// The driver makes machine code of PTX when it loads a module, and keeps that in a cache of its own
// (0.15 ms a module once it is there). Its linker gives machine code to keep, but as for a library:
// with more spills, a scan of 10^8 float64 took 0.80 ms instead of 0.58 on an NVIDIA H200.
#include "compile/gpu_code.h"

#include <chrono>

#include "compile/compiler.h"
#include "compile/disk_cache.h"

namespace numbus::compile {
namespace {

constexpr size_t kModules = 4096;

}  // namespace

GpuCode GpuModules::code(cuda::CudaDevice& d, const std::string& identity,
                         const std::function<std::string(int, int)>& build) {
  auto start = std::chrono::steady_clock::now();
  int sm = d.properties().compute_capability(), ptx = cuda::max_ptx_version();
  const std::string key = "gpu/" + std::to_string(sm) + "/" +
                          std::to_string(d.properties().driver_version) + "/" + build_identity() +
                          identity;
  // An address tells devices apart: they stay for the process.
  const std::string here = std::to_string(reinterpret_cast<uintptr_t>(&d)) + key;
  std::shared_ptr<cuda::Module> known;
  {
    std::lock_guard guard(lock_);
    if (auto* found = modules_.find(here)) known = *found;
  }
  GpuCode r;
  if (!known) {
    std::string image = disk_load(key);
    r.from = image.empty() ? GpuCode::Compiler : GpuCode::Disk;
    if (image.empty()) {
      image = build(sm, ptx);
      disk_store(key, image);
    }
    auto made = std::make_shared<cuda::Module>(d.load_module(image.data(), image.size()));
    {
      // Loaded by two threads at once, the first one's is kept.
      std::lock_guard guard(lock_);
      auto* kept = modules_.find(here);
      known = kept ? *kept : modules_.keep(here, made);
    }
    r.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  r.function = known->function("k");
  r.function.keep(known);
  return r;
}

GpuCode gpu_code(cuda::CudaDevice& d, const std::string& identity,
                 const std::function<std::string(int, int)>& build) {
  static auto* modules = new GpuModules(kModules);
  return modules->code(d, identity, build);
}

}  // namespace numbus::compile
