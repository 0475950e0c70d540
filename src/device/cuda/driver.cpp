// Finds libcuda, resolves its entry points, initialises it once.
#include "device/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "device/cuda/driver_times.h"

namespace numbus::cuda {
namespace {

constexpr int kOldestDriver = 11000;

struct State {
  DriverApi api;
  DriverInfo info;
};

std::mutex load_mutex;
// Null until the first use. Never deleted: other threads may be in a call.
std::atomic<const State*> loaded{nullptr};
std::atomic<bool> forked_after_init{false};

std::vector<std::string> candidate_paths() {
  if (const char* chosen = std::getenv("NUMBUS_CUDA_DRIVER"); chosen && *chosen) return {chosen};
  return {
      "libcuda.so.1",
      "/usr/lib/wsl/lib/libcuda.so.1",
      "/usr/local/nvidia/lib64/libcuda.so.1",
      "/usr/lib64-nvidia/libcuda.so.1",
      "/usr/lib64/nvidia/libcuda.so.1",
      "/run/opengl-driver/lib/libcuda.so.1",
      "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
      "libcuda.so",
  };
}

std::string describe(const DriverApi& api, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (api.cuGetErrorName) api.cuGetErrorName(result, &name);
  if (api.cuGetErrorString) api.cuGetErrorString(result, &text);
  return std::string(name ? name : "CUDA_ERROR_UNKNOWN") + " (" + std::to_string(result) +
         "): " + (text ? text : "the driver has no description of this error");
}

void* open_library(DriverInfo* info) {
  for (const std::string& path : candidate_paths()) {
    dlerror();
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char* error = handle ? nullptr : dlerror();
    info->tried.push_back({path, handle ? "loaded" : error ? error : "not found"});
    if (handle == nullptr) continue;
    info->library = path;
    return handle;
  }
  return nullptr;
}

std::string resolve(void* handle, DriverApi* api) {
#define NUMBUS_RESOLVE(member, symbol, arguments)                                \
  api->member = reinterpret_cast<decltype(api->member)>(dlsym(handle, #symbol)); \
  if (api->member == nullptr) return #symbol;
  NUMBUS_CUDA_ENTRY_POINTS(NUMBUS_RESOLVE)
#undef NUMBUS_RESOLVE
#define NUMBUS_RESOLVE(member, symbol, arguments) \
  api->member = reinterpret_cast<decltype(api->member)>(dlsym(handle, #symbol));
  NUMBUS_CUDA_OPTIONAL_ENTRY_POINTS(NUMBUS_RESOLVE)
#undef NUMBUS_RESOLVE
  return "";
}

// Says why CUDA cannot be used, or nothing.
std::string initialise(DriverApi* api, DriverInfo* info) {
  void* handle = open_library(info);
  if (handle == nullptr) {
    return "no CUDA driver library was found on " + std::to_string(info->tried.size()) +
           " paths (python -m numbus info lists them)";
  }
  if (std::string missing = resolve(handle, api); !missing.empty()) {
    return info->library + " has no " + missing + "; expected the driver of CUDA 11.0 or newer";
  }
  time_driver_where_asked(api);
  if (Result result = api->cuInit(0)) return "cuInit failed; got " + describe(*api, result);
  if (Result result = api->cuDriverGetVersion(&info->version)) {
    return "cuDriverGetVersion failed; got " + describe(*api, result);
  }
  if (info->version < kOldestDriver) {
    return "the driver is too old; got CUDA " + version_text(info->version) +
           "; expected 11.0 or newer";
  }
  if (Result result = api->cuDeviceGetCount(&info->devices)) {
    return "cuDeviceGetCount failed; got " + describe(*api, result);
  }
  if (info->devices == 0) return "the driver sees no GPU";
  return "";
}

const State& state() {
  if (const State* known = loaded.load(std::memory_order_acquire)) return *known;
  std::lock_guard<std::mutex> lock(load_mutex);
  if (const State* known = loaded.load(std::memory_order_acquire)) return *known;
  static bool watching_forks = false;
  if (!watching_forks) {
    watching_forks = true;
    pthread_atfork(nullptr, nullptr, [] {
      const State* known = loaded.load();
      // cuInit alone already breaks the driver in a child.
      if (known && known->info.version != 0) forked_after_init = true;
    });
  }
  auto fresh = std::make_unique<State>();
  fresh->info.reason = initialise(&fresh->api, &fresh->info);
  const State* made = fresh.release();
  loaded.store(made, std::memory_order_release);
  return *made;
}

constexpr const char* kForked =
    "CUDA was used before this process was forked; start workers with the 'spawn' method";

}  // namespace

bool in_forked_child() { return forked_after_init.load(std::memory_order_relaxed); }

bool cuda_available() { return state().info.reason.empty() && !in_forked_child(); }

DriverInfo driver_info() {
  DriverInfo info = state().info;
  if (info.reason.empty() && in_forked_child()) info.reason = kForked;
  return info;
}

const DriverApi& driver() {
  const State& current = state();
  if (!current.info.reason.empty() || in_forked_child()) [[unlikely]] {
    raise(ErrorKind::Runtime, "[cuda] no GPU can be used; " + driver_info().reason);
  }
  return current.api;
}

DeviceProperties device_properties(int ordinal) {
  DeviceProperties found;
  DeviceHandle device = 0;
  auto doing = [&] { return "reading the properties of GPU " + std::to_string(ordinal); };
  NUMBUS_CUDA(doing(), cuDeviceGet, &device, ordinal);
  char name[256] = {};
  NUMBUS_CUDA(doing(), cuDeviceGetName, name, sizeof(name) - 1, device);
  found.name = name;
  NUMBUS_CUDA(doing(), cuDeviceTotalMem, &found.total_memory, device);
  auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    NUMBUS_CUDA(doing(), cuDeviceGetAttribute, &value, which, device);
    return value;
  };
  found.compute_major = attribute(kComputeMajor);
  found.compute_minor = attribute(kComputeMinor);
  found.multiprocessors = attribute(kMultiprocessors);
  found.warp_size = attribute(kWarpSize);
  found.max_threads_per_block = attribute(kMaxThreadsPerBlock);
  found.max_threads_per_multiprocessor = attribute(kMaxThreadsPerMultiprocessor);
  found.registers_per_multiprocessor = attribute(kRegistersPerMultiprocessor);
  found.shared_per_block = attribute(kMaxSharedPerBlock);
  found.shared_per_block_opt_in = attribute(kMaxSharedPerBlockOptIn);
  found.shared_per_multiprocessor = attribute(kSharedPerMultiprocessor);
  found.clock_khz = attribute(kClockKhz);
  found.memory_clock_khz = attribute(kMemoryClockKhz);
  found.memory_bus_bits = attribute(kMemoryBusBits);
  found.cooperative_launch = attribute(kCooperativeLaunch) != 0;
  found.l2_bytes = static_cast<size_t>(attribute(kL2Bytes));
  found.driver_version = state().info.version;
  return found;
}

int ptx_version_of(int driver_version) {
  // The release history of the PTX ISA: the first CUDA release that has each version.
  struct Row {
    int driver, ptx;
  };
  static constexpr Row kTable[] = {
      {11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76},
      {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84},
      {12050, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}, {13010, 91},
  };
  int newest = 0;
  for (const Row& row : kTable) {
    if (driver_version >= row.driver) newest = row.ptx;
  }
  return newest;
}

int max_ptx_version() { return ptx_version_of(state().info.version); }

std::string version_text(int driver_version) {
  return std::to_string(driver_version / 1000) + "." + std::to_string(driver_version % 1000 / 10);
}

std::string info_text() {
  DriverInfo info = driver_info();
  std::string text;
  for (const TriedPath& tried : info.tried) {
    text += "cuda: tried " + tried.path + ": " + tried.outcome + "\n";
  }
  if (info.version != 0) {
    text += "cuda: driver for CUDA " + version_text(info.version) + ", PTX up to " +
            std::to_string(ptx_version_of(info.version) / 10) + "." +
            std::to_string(ptx_version_of(info.version) % 10) + "\n";
  }
  if (!info.reason.empty()) return text + "cuda: not usable: " + info.reason + "\n";
  for (int i = 0; i < info.devices; ++i) {
    DeviceProperties device = device_properties(i);
    text += "cuda:" + std::to_string(i) + ": " + device.name + ", sm_" +
            std::to_string(device.compute_capability()) + ", " +
            std::to_string(device.multiprocessors) + " multiprocessors, " +
            std::to_string(device.total_memory >> 20) + " MiB, L2 " +
            std::to_string(device.l2_bytes >> 20) + " MiB\n";
  }
  return text;
}

void raise_driver_error(Result result, const char* call, const std::string& doing) {
  std::string text = std::string("[cuda] ") + call + " failed while " + doing + "; got " +
                     describe(state().api, result);
  // These end the context and are reported by whichever call comes next.
  if (result >= kErrorIllegalAddress && result <= kErrorLaunchFailed) {
    text += "; a kernel launched before may be the cause: CUDA_LAUNCH_BLOCKING=1 finds it";
  }
  raise(result == kErrorOutOfMemory ? ErrorKind::Memory : ErrorKind::Runtime, text);
}

ContextScope::ContextScope(ContextHandle context) {
  NUMBUS_CUDA("reading the current context", cuCtxGetCurrent, &previous_);
  if (previous_ == context) return;
  NUMBUS_CUDA("choosing a context", cuCtxSetCurrent, context);
  // A thread without a context keeps ours: there is nobody to restore it for.
  changed_ = previous_ != nullptr;
}

ContextScope::~ContextScope() {
  // Not by driver(), which raises where CUDA has become unusable meanwhile: in a forked child.
  if (changed_ && cuda_available()) state().api.cuCtxSetCurrent(previous_);
}

void reset_driver_for_tests() {
  std::lock_guard<std::mutex> lock(load_mutex);
  static auto* dead = new std::vector<const State*>;
  dead->push_back(loaded.exchange(nullptr));
  forked_after_init = false;
}

}  // namespace numbus::cuda
