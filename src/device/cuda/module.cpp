// Modules and launches through the driver; its JIT's log goes into the error.
#include "device/cuda/module.h"

#include <cstring>
#include <vector>

#include "base/error.h"

namespace numbus::cuda {
namespace {

// The options that make the driver's assembler write its messages here.
class JitLog {
 public:
  JitLog() : errors_(8192, 0), infos_(4096, 0) {}
  unsigned count() const { return 4; }
  int* options() { return options_; }
  void** values() { return values_; }

  [[noreturn]] void raise_error(Result result, const char* call, const std::string& doing,
                                const char* who = "assembler") const {
    try {
      raise_driver_error(result, call, doing);
    } catch (const Error& error) {
      std::string text = error.what();
      std::string log = errors_.data();
      while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.pop_back();
      if (!log.empty()) text += std::string("; the ") + who + " says:\n" + log;
      if (result == kErrorUnsupportedPtxVersion) {
        text += "; expected at most PTX " + std::to_string(max_ptx_version() / 10) + "." +
                std::to_string(max_ptx_version() % 10);
      }
      raise(error.kind(), text);
    }
  }

 private:
  static void* number(size_t value) { return reinterpret_cast<void*>(value); }

  std::vector<char> errors_, infos_;
  int options_[4] = {kJitErrorLog, kJitErrorLogBytes, kJitInfoLog, kJitInfoLogBytes};
  void* values_[4] = {errors_.data(), number(errors_.size() - 1), infos_.data(),
                      number(infos_.size() - 1)};
};

std::string text_of(Dim3 size) {
  return "(" + std::to_string(size.x) + ", " + std::to_string(size.y) + ", " +
         std::to_string(size.z) + ")";
}

}  // namespace

Function::Function(ContextHandle context, FunctionHandle handle, std::string name)
    : context_(context), handle_(handle), name_(std::move(name)) {}

int Function::attribute(FunctionAttribute which) const {
  ContextScope scope(context_);
  int value = 0;
  NUMBUS_CUDA("reading the attributes of '" + name_ + "'", cuFuncGetAttribute, &value, which,
              handle_);
  return value;
}

FunctionAttributes Function::attributes() const {
  FunctionAttributes found;
  found.max_threads = attribute(kFunctionMaxThreads);
  found.registers = attribute(kFunctionRegisters);
  found.shared_bytes = attribute(kFunctionSharedBytes);
  found.local_bytes = attribute(kFunctionLocalBytes);
  found.binary_version = attribute(kFunctionBinaryVersion);
  return found;
}

std::optional<std::vector<size_t>> Function::parameter_sizes() const {
  const auto info = driver().cuFuncGetParamInfo;
  if (info == nullptr) return {};
  ContextScope scope(context_);
  std::vector<size_t> sizes;
  for (;;) {
    size_t offset = 0, bytes = 0;
    const Result result = info(handle_, sizes.size(), &offset, &bytes);
    if (result == kErrorInvalidValue) return sizes;  // there are no more
    if (result != kSuccess)
      raise_driver_error(result, "cuFuncGetParamInfo", "reading the parameters of '" + name_ + "'");
    sizes.push_back(bytes);
  }
}

int Function::blocks_per_multiprocessor(int threads, size_t shared_bytes) const {
  ContextScope scope(context_);
  allow_shared(shared_bytes);
  int blocks = 0;
  NUMBUS_CUDA("computing the occupancy of '" + name_ + "'",
              cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, handle_, threads, shared_bytes);
  return blocks;
}

void Function::allow_shared(size_t bytes) const {
  if (bytes <= allowed_shared_) return;
  NUMBUS_CUDA("giving '" + name_ + "' " + std::to_string(bytes) + " bytes of shared memory",
              cuFuncSetAttribute, handle_, kFunctionMaxDynamicShared, static_cast<int>(bytes));
  allowed_shared_ = bytes;
}

void Function::launch(Dim3 grid, Dim3 block, size_t shared_bytes, const Stream& stream,
                      void** parameters, bool cooperative) const {
  ContextScope scope(context_);
  allow_shared(shared_bytes);
  const DriverApi& api = driver();
  auto shared = static_cast<unsigned>(shared_bytes);
  Result result =
      cooperative ? api.cuLaunchCooperativeKernel(handle_, grid.x, grid.y, grid.z, block.x, block.y,
                                                  block.z, shared, stream.handle(), parameters)
                  : api.cuLaunchKernel(handle_, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                       shared, stream.handle(), parameters, nullptr);
  if (result != kSuccess) [[unlikely]] {
    raise_launch_error(result, grid, block, shared_bytes);
  }
}

void Function::raise_launch_error(Result result, Dim3 grid, Dim3 block, size_t shared_bytes) const {
  raise_driver_error(result, "cuLaunchKernel",
                     "launching '" + name_ + "' with grid " + text_of(grid) + ", block " +
                         text_of(block) + ", " + std::to_string(shared_bytes) +
                         " bytes of shared memory");
}

std::string link(ContextHandle context, const std::string& ptx,
                 const std::vector<LinkInput>& inputs) {
  const DriverApi& api = driver();
  if (!api.cuLinkCreate || !api.cuLinkAddData || !api.cuLinkComplete || !api.cuLinkDestroy)
    raise(ErrorKind::Runtime, "[cuda] the driver has no linker; expected one of CUDA 5.5 or later");
  ContextScope scope(context);
  JitLog log;
  LinkHandle state = nullptr;
  auto check = [&](Result result, const char* call, const std::string& doing) {
    if (result != kSuccess) log.raise_error(result, call, doing, "linker");
  };
  check(api.cuLinkCreate(log.count(), log.options(), log.values(), &state), "cuLinkCreate",
        "linking a kernel");
  // The log and the machine code live as long as the linker.
  struct Linker {
    const DriverApi& api;
    LinkHandle state;
    ~Linker() { api.cuLinkDestroy(state); }
  } const linker{api, state};
  auto add = [&](LinkKind kind, const std::string& name, std::string data) {
    // PTX ends in a zero byte, which counts.
    const size_t bytes = data.size() + (kind == kLinkPtx ? 1 : 0);
    check(api.cuLinkAddData(state, kind, data.data(), bytes, name.c_str(), 0, nullptr, nullptr),
          "cuLinkAddData", "linking '" + name + "'");
  };
  add(kLinkPtx, "the kernel", ptx);
  for (const LinkInput& i : inputs) add(i.kind, i.name, i.data);
  void* code = nullptr;
  size_t bytes = 0;
  check(api.cuLinkComplete(state, &code, &bytes), "cuLinkComplete", "linking a kernel");
  return std::string(static_cast<const char*>(code), bytes);
}

Module::Module(ContextHandle context, const void* image, size_t bytes) : context_(context) {
  // The driver reads PTX up to a zero byte.
  std::string copy(static_cast<const char*>(image), bytes);
  ContextScope scope(context_);
  JitLog log;
  Result result =
      driver().cuModuleLoadDataEx(&handle_, copy.c_str(), log.count(), log.options(), log.values());
  if (result != kSuccess) log.raise_error(result, "cuModuleLoadDataEx", "loading GPU code");
}

Module::~Module() {
  if (handle_ == nullptr || !cuda_available()) return;
  try {
    ContextScope scope(context_);
    driver().cuCtxSynchronize();  // a kernel of it may be under way, in any stream
    driver().cuModuleUnload(handle_);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The process ends or the GPU is lost; the module is gone with its context.
  }
}

Function Module::function(const std::string& name) const {
  ContextScope scope(context_);
  FunctionHandle found = nullptr;
  NUMBUS_CUDA("looking for the kernel '" + name + "'", cuModuleGetFunction, &found, handle_,
              name.c_str());
  return Function(context_, found, name);
}

std::pair<DevicePointer, size_t> Module::global(const std::string& name) const {
  ContextScope scope(context_);
  DevicePointer address = 0;
  size_t bytes = 0;
  NUMBUS_CUDA("looking for the variable '" + name + "'", cuModuleGetGlobal, &address, &bytes,
              handle_, name.c_str());
  return {address, bytes};
}

}  // namespace numbus::cuda
