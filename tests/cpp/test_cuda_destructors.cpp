// What lets go of streams, events, memory and modules never throws, whatever the driver answers.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "compile/gpu_code.h"
#include "device/cuda/cuda_device.h"
#include "fake_cuda_driver.h"

namespace numbus {
namespace {

// Every entry point that work, waiting and giving back may call.
const char* const kEntries[] = {
    "cuCtxGetCurrent",   "cuCtxSetCurrent",     "cuCtxSynchronize",  "cuEventCreate",
    "cuEventDestroy",    "cuEventQuery",        "cuEventRecord",     "cuEventSynchronize",
    "cuLaunchKernel",    "cuMemAlloc",          "cuMemFree",         "cuMemFreeHost",
    "cuMemHostRegister", "cuMemHostUnregister", "cuMemcpyDtoDAsync", "cuMemcpyDtoHAsync",
    "cuMemcpyHtoDAsync", "cuMemsetD8Async",     "cuModuleUnload",    "cuStreamDestroy",
    "cuStreamQuery",     "cuStreamSynchronize", "cuStreamWaitEvent", "cuMemGetInfo",
};

struct Everything {
  explicit Everything(cuda::CudaDevice& d) : device(d) {
    for (bool independent : {false, true}) queues.push_back(d.create_queue({independent, 0, 0}));
    for (bool timing : {false, true}) markers.push_back(d.create_marker(timing));
    for (auto& m : markers) m->record(queues[0].get());
    pinned = d.allocate_host(4096, HostKind::Pinned, false);
    add_host_block(pinned);
    ours.resize(4096);
    registered = d.register_host(ours.data(), ours.size(), HostKind::Pinned);
    std::string ptx = ".version 8.4 .target sm_90";
    module.emplace(d.load_module(ptx.data(), ptx.size()));
    for (size_t bytes : {256, 3000, 3 << 20}) blocks.push_back({d.allocate(bytes), bytes});
  }
  // Leaves work in all queues: what is freed then is freed late.
  void work() {
    for (auto& q : queues)
      for (auto& [at, bytes] : blocks) {
        Use use{reinterpret_cast<std::uintptr_t>(at), reinterpret_cast<std::uintptr_t>(at) + bytes,
                true};
        Ordered order(device, q.get(), {&use, 1});
      }
    // Copies that the fake driver would make after their memory is gone are left out.
    unsigned char few[64] = {};
    device.copy_from_host(blocks[1].first, few, sizeof few);
  }
  ~Everything() {
    for (auto& [at, bytes] : blocks) device.free(at, bytes);
    remove_host_block(pinned.begin);
    device.free_host(pinned);
    module.reset();
    markers.clear();
    queues.clear();
  }

  cuda::CudaDevice& device;
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<std::unique_ptr<Marker>> markers;
  HostBlock pinned, registered;
  std::vector<unsigned char> ours;
  std::optional<cuda::Module> module;
  std::vector<std::pair<void*, size_t>> blocks;
};

template <class F>
void attempt(F&& f) {
  try {
    f();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace

TEST_CASE("cuda destructors: no driver call that fails gets out of one") {
  FakeDriver fake;
  for (const char* entry : kEntries)
    for (int result : {2, 700, 4}) {  // out of memory, an illegal address, the driver is ending
      for (bool before : {false, true}) {
        CAPTURE(entry);
        CAPTURE(result);
        cuda::CudaDevice* device = cuda::device(0);
        REQUIRE(device != nullptr);
        {
          Everything all(*device);
          if (before) fake.break_entry(entry, result);
          attempt([&] { all.work(); });
          fake.break_entry(entry, result);
          attempt([&] { device->unregister_host(all.registered); });
        }
        attempt([&] { device->synchronize(); });
        attempt([&] { device->trim(); });
        fake.break_entry(entry, 0);
        attempt([&] { device->synchronize(); });
        // The device goes on once the driver does.
        void* block = nullptr;
        attempt([&] { block = device->allocate(1 << 20); });
        CHECK(block != nullptr);
        device->free(block, 1 << 20);
      }
    }
}

TEST_CASE("cuda destructors: another library's context comes back, or nothing is thrown") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  int other = 0;
  fake.set_current(&other);
  {
    auto queue = device->create_queue({false, 0, 0});
    fake.break_entry("cuCtxSetCurrent", 4);
    attempt([&] { queue->synchronize(); });
    fake.break_entry("cuCtxSetCurrent", 0);
    CHECK_NOTHROW(queue->synchronize());
    CHECK(fake.current() == &other);
    fake.break_entry("cuCtxGetCurrent", 4);
  }
  fake.break_entry("cuCtxGetCurrent", 0);
  CHECK_NOTHROW(device->synchronize());
}

TEST_CASE("cuda modules: unloaded once nobody holds them, after their kernels") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  {
    compile::GpuModules modules(2);
    int built = 0;
    auto code = [&](const char* name) {
      return modules.code(*device, name, [&](int, int) {
        ++built;
        return std::string(".version 8.4 // ") + name;
      });
    };
    {
      compile::GpuCode first = code("one");
      CHECK(code("one").from == compile::GpuCode::Memory);
      code("two");
      code("three");
      CHECK(fake.calls("cuModuleUnload") == 0);  // its function keeps the first
      CHECK(built == 3);
      code("four");
      CHECK(fake.calls("cuModuleUnload") == 1);
    }
    CHECK(fake.calls("cuModuleUnload") == 2);
    CHECK(fake.calls("cuCtxSynchronize") == 2);
    CHECK(code("four").from == compile::GpuCode::Memory);
    CHECK(code("one").from == compile::GpuCode::Compiler);
  }
  CHECK(fake.calls("cuModuleUnload") == 5);
}

}  // namespace numbus
