// Compiled GPU code: loading PTX or a cubin, functions, occupancy, launches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/stream.h"

namespace numbus::cuda {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

struct FunctionAttributes {
  int max_threads = 0;     // per block, as its registers allow
  int registers = 0;       // per thread
  int shared_bytes = 0;    // static, per block
  int local_bytes = 0;     // per thread; above zero it spills or has local arrays
  int binary_version = 0;  // 90 for sm_90
};

// Usable as long as its module lives, which it may keep.
class Function {
 public:
  Function() = default;
  Function(ContextHandle context, FunctionHandle handle, std::string name);

  void keep(std::shared_ptr<const void> module) { module_ = std::move(module); }
  const std::string& name() const { return name_; }
  FunctionHandle handle() const { return handle_; }
  FunctionAttributes attributes() const;
  int attribute(FunctionAttribute which) const;
  // Bytes of each parameter; nothing where the driver is too old to say (below CUDA 12.4).
  std::optional<std::vector<size_t>> parameter_sizes() const;
  // Blocks of this size that one multiprocessor runs at once.
  int blocks_per_multiprocessor(int threads, size_t shared_bytes) const;

  // `parameters` holds one pointer per kernel argument; the values are copied before it returns.
  // Dynamic shared memory above 48 KiB is opted into as needed. A cooperative launch fails unless
  // all its blocks fit on the GPU at once.
  void launch(Dim3 grid, Dim3 block, size_t shared_bytes, const Stream& stream, void** parameters,
              bool cooperative = false) const;

 private:
  [[noreturn]] void raise_launch_error(Result result, Dim3 grid, Dim3 block,
                                       size_t shared_bytes) const;
  void allow_shared(size_t bytes) const;

  ContextHandle context_ = nullptr;
  FunctionHandle handle_ = nullptr;
  std::string name_;
  std::shared_ptr<const void> module_;
  mutable size_t allowed_shared_ = size_t{48} << 10;
};

// Code that is linked with other code.
struct LinkInput {
  LinkKind kind;
  std::string name, data;  // the name is for messages
};

// Machine code of PTX and what it is linked with. The error of what does not fit together carries
// the linker's log.
std::string link(ContextHandle context, const std::string& ptx,
                 const std::vector<LinkInput>& inputs);

class Module {
 public:
  // A cubin, or PTX (which need not end in a zero byte). The error of a refused PTX carries the
  // assembler's log.
  Module(ContextHandle context, const void* image, size_t bytes);
  ~Module();
  Module(Module&& other) noexcept
      : context_(other.context_), handle_(std::exchange(other.handle_, nullptr)) {}
  Module& operator=(Module&&) = delete;

  Function function(const std::string& name) const;
  // Address and size of a __device__ or __constant__ variable.
  std::pair<DevicePointer, size_t> global(const std::string& name) const;

 private:
  ContextHandle context_;
  ModuleHandle handle_ = nullptr;
};

}  // namespace numbus::cuda
