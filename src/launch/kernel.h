// Kernels that users write, on the device that runs them.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "compile/compiler.h"
#include "device/cuda/module.h"
#include "device/device.h"
#include "frontend/frontend.h"

namespace numbus {

// An error that a kernel noted as it ran.
struct Fault : std::exception {
  const std::vector<frontend::Site>* sites;
  int64_t record[compile::kContextWords];
  // Of a race: the array and the element.
  std::string array;
  std::vector<int64_t> index;
  const char* what() const noexcept override { return "a kernel noted an error"; }
};

struct KernelReport {
  int registers = 0, shared_bytes = 0, local_bytes = 0, constant_bytes = 0, max_threads = 0;
  int blocks_per_multiprocessor = 0;
};

// A kernel for given argument types; code for each device is made when it is first launched there.
// Threads may launch at the same time.
class GridKernel {
 public:
  explicit GridKernel(frontend::Result r);
  ~GridKernel();
  GridKernel(const GridKernel&) = delete;

  const frontend::Result& result() const { return result_; }
  // On a CPU the grid has run when this returns, and what it noted is raised; on a GPU see
  // check_faults(). `words` are the parameters', `uses` the memory that they give it; a null queue
  // is the device's own.
  void launch(Device& d, const compile::Geometry& g, std::vector<int64_t>& words,
              std::string* printed, Queue* queue = nullptr, std::span<const Use> uses = {});
  std::string ptx(int sm, int version) const {
    return compile::kernel_ptx(result_.module, sm, version);
  }
  std::string host_ir() const { return compile::function_ir(result_.module); }
  std::string host_assembly() const { return compile::function_assembly(result_.module); }
  // What its code for a GPU is linked with, before the first launch there.
  void link_with(std::vector<cuda::LinkInput> inputs) {
    inputs_ = std::move(inputs);
    linked_ = true;
  }
  bool linked() const { return linked_; }
  KernelReport report(Device& d, int threads, size_t shared);

 private:
  struct OnGpu;
  OnGpu& on_gpu(Device& d);
  const compile::HostKernel& on_host(int64_t block_x);

  frontend::Result result_;
  // Of the maps, whose entries stay where they are. Compiling under it calls no Python.
  std::mutex lock_;
  std::map<int64_t, compile::CompiledKernel> host_;  // by the block's extent in x, modulo 32
  std::map<Device*, std::unique_ptr<OnGpu>> gpu_;
  std::vector<cuda::LinkInput> inputs_;
  bool linked_ = false;
};

// Raises the first error that a kernel on a GPU has noted since the last call, once it is known:
// after a synchronisation. Of kernels in one queue, given by its number, or in all.
constexpr int kAnyQueue = -1;
void check_faults(int queue = kAnyQueue);

}  // namespace numbus
