// The CUDA device's logic against a fake driver, its pool alone, and a real GPU where there is one.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "device/cuda/cuda_device.h"
#include "fake_cuda_driver.h"

namespace numbus {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

template <class Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

// Segments at invented addresses.
class TestSegments final : public cuda::SegmentSource {
 public:
  explicit TestSegments(size_t total) : total_(total) {}
  cuda::DevicePointer acquire(size_t bytes) override {
    if (used + bytes > total_) return 0;
    used += bytes;
    ++acquired;
    live[next_] = bytes;
    cuda::DevicePointer address = next_;
    next_ += bytes + 4096;
    return address;
  }
  void release(cuda::DevicePointer segment) noexcept override {
    used -= live[segment];
    live.erase(segment);
    ++released;
  }
  size_t total_bytes() const override { return total_; }
  size_t free_bytes() const override { return total_ - used; }

  size_t used = 0;
  int acquired = 0, released = 0;
  std::map<cuda::DevicePointer, size_t> live;

 private:
  size_t total_;
  cuda::DevicePointer next_ = 1 << 20;
};

}  // namespace

TEST_CASE("cuda pool: split, best fit and merge") {
  auto owned = std::make_unique<TestSegments>(1024 * kMiB);
  TestSegments& source = *owned;
  cuda::SegmentPool pool(std::move(owned));
  auto a = pool.allocate(1000), b = pool.allocate(1000), c = pool.allocate(1000);
  CHECK(source.acquired == 1);
  CHECK(b == a + 1024);
  CHECK(c == b + 1024);
  CHECK(pool.stats().used_bytes == 3072);
  CHECK(pool.stats().used_bytes + pool.stats().pooled_bytes == source.used);
  // A hole is filled by what fits it.
  pool.free(b);
  auto d = pool.allocate(900);
  CHECK(d == b);
  // Neighbours merge, in whichever order they are freed.
  pool.free(a);
  pool.free(c);
  pool.free(d);
  CHECK(pool.stats().used_bytes == 0);
  auto e = pool.allocate(3000);
  CHECK(e == a);
  pool.free(e);
  pool.trim();
  CHECK(source.used == 0);
  CHECK(source.released == 1);
  CHECK(pool.stats().pooled_bytes == 0);
  CHECK(pool.stats().peak_bytes == 3072);
}

TEST_CASE("cuda pool: a large block is reused by its like and not chopped up") {
  auto owned = std::make_unique<TestSegments>(1024 * kMiB);
  TestSegments& source = *owned;
  cuda::SegmentPool pool(std::move(owned));
  auto big = pool.allocate(400 * kMiB);
  pool.free(big);
  auto smaller = pool.allocate(380 * kMiB);
  CHECK(smaller == big);
  pool.free(smaller);
  auto small = pool.allocate(100);
  auto medium = pool.allocate(3 * kMiB);
  auto large = pool.allocate(20 * kMiB);
  auto again = pool.allocate(400 * kMiB);
  CHECK(again == big);
  CHECK(source.acquired == 4);
  // Without other memory it is split after all.
  pool.free(again);
  auto rest = pool.allocate(540 * kMiB);
  auto piece = pool.allocate(150 * kMiB);
  auto piece2 = pool.allocate(150 * kMiB);
  CHECK(piece == big);
  CHECK(piece2 == big + 150 * kMiB);
  for (auto block : {small, medium, large, rest, piece, piece2}) pool.free(block);
  pool.trim();
  CHECK(source.used == 0);
}

TEST_CASE("cuda pool: memory ends; it trims, retries and says what is possible") {
  auto owned = std::make_unique<TestSegments>(100 * kMiB);
  TestSegments& source = *owned;
  cuda::SegmentPool pool(std::move(owned));
  auto a = pool.allocate(60 * kMiB);
  pool.free(a);
  auto b = pool.allocate(90 * kMiB);  // the cached 60 MiB go back first
  CHECK(source.used == 90 * kMiB);
  CHECK(error_of([&] { pool.allocate(20 * kMiB); }) ==
        "[allocate] out of memory; got a request of 20971520 bytes; expected at most 10485760");
  // A whole 32 MiB segment does not fit, the bare size does.
  auto c = pool.allocate(9 * kMiB);
  CHECK(source.used == 100 * kMiB);
  pool.free(c);
  pool.free(b);
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - 100, size_t{1} << 60}) {
    CHECK(starts_with(error_of([&] { pool.allocate(bytes); }), "[allocate] out of memory"));
  }
  pool.set_limit(10 * kMiB);
  CHECK(pool.stats().limit == 10 * kMiB);
  CHECK(pool.stats().pooled_bytes == 0);
  CHECK(error_of([&] { pool.allocate(11 * kMiB); }) ==
        "[allocate] out of memory; got a request of 11534336 bytes; expected at most 10485760");
  auto d = pool.allocate(9 * kMiB);
  CHECK(source.used <= 10 * kMiB);
  pool.free(d);
  pool.set_limit(0);
  CHECK(pool.stats().limit == 100 * kMiB);
}

TEST_CASE("cuda pool: random use never overlaps and everything comes back") {
  auto owned = std::make_unique<TestSegments>(96 * kMiB);
  TestSegments& source = *owned;
  cuda::SegmentPool pool(std::move(owned));
  std::mt19937_64 random(2);
  std::map<cuda::DevicePointer, size_t> live;
  size_t used = 0;
  int refused = 0;
  for (int i = 0; i < 30000; ++i) {
    if (live.empty() || random() % 100 < 52) {
      size_t bytes = size_t{1} << (random() % 25);
      bytes += random() % bytes;
      cuda::DevicePointer block = 0;
      try {
        block = pool.allocate(bytes);
      } catch (const Error&) {
        ++refused;
        auto victim = live.begin();
        pool.free(victim->first);
        live.erase(victim);
        continue;
      }
      REQUIRE(block % 256 == 0);
      auto after = live.lower_bound(block);
      if (after != live.end()) REQUIRE(block + bytes <= after->first);
      if (after != live.begin()) {
        auto before = std::prev(after);
        REQUIRE(before->first + before->second <= block);
      }
      auto segment = std::prev(source.live.upper_bound(block));
      REQUIRE(block + bytes <= segment->first + segment->second);
      live[block] = bytes;
    } else {
      auto victim = live.lower_bound(random() % (live.rbegin()->first + 1));
      pool.free(victim->first);
      live.erase(victim);
    }
    MemoryStats stats = pool.stats();
    REQUIRE(stats.used_bytes + stats.pooled_bytes == source.used);
    used = stats.used_bytes;
  }
  CHECK(used > 0);
  CHECK(refused > 0);
  for (auto& [block, bytes] : live) pool.free(block);
  CHECK(pool.stats().used_bytes == 0);
  pool.trim();
  CHECK(source.used == 0);
}

TEST_CASE("cuda: without a driver the reason and every path are named") {
  setenv("NUMBUS_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
  cuda::reset_for_tests();
  CHECK_FALSE(cuda::cuda_available());
  CHECK(cuda_device(0) == nullptr);
  CHECK(cuda_unavailable_reason() ==
        "no CUDA driver library was found on 1 paths (python -m numbus info lists them)");
  CHECK(cuda::info_text().find("cuda: tried /nonexistent/libcuda.so: ") == 0);
  CHECK(starts_with(error_of([] { cuda::driver(); }), "[cuda] no GPU can be used; no CUDA driver"));
  CHECK(cuda::max_ptx_version() == 0);
  unsetenv("NUMBUS_CUDA_DRIVER");
  cuda::reset_for_tests();
  CHECK(cuda::driver_info().tried.size() >= 1);
}

TEST_CASE("cuda: the driver's version decides the PTX version") {
  CHECK(cuda::ptx_version_of(10020) == 0);
  CHECK(cuda::ptx_version_of(11080) == 78);
  CHECK(cuda::ptx_version_of(12000) == 80);
  CHECK(cuda::ptx_version_of(12040) == 84);
  CHECK(cuda::ptx_version_of(12060) == 85);
  CHECK(cuda::ptx_version_of(12080) == 87);
  CHECK(cuda::ptx_version_of(13000) == 90);
  CHECK(cuda::ptx_version_of(99000) >= 91);
}

TEST_CASE("cuda fake: what makes a driver unusable") {
  FakeDriver fake;
  auto reason = [] {
    cuda::reset_for_tests();
    CHECK(cuda_device(0) == nullptr);
    return cuda_unavailable_reason();
  };
  fake.fail_next("cuInit", 100);
  CHECK(reason() ==
        "cuInit failed; got CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected");
  fake.set(kMiB, 10020, 1);
  CHECK(reason() == "the driver is too old; got CUDA 10.2; expected 11.0 or newer");
  fake.set(kMiB, 12040, 0);
  CHECK(reason() == "the driver sees no GPU");
  fake.set(kMiB, 12040, 1);
  fake.fail_next("cuDevicePrimaryCtxRetain", 2);
  CHECK(reason() ==
        "[cuda] cuDevicePrimaryCtxRetain failed while opening GPU 0; got CUDA_ERROR_OUT_OF_MEMORY "
        "(2): out of memory");
  CHECK(cuda_device(0) != nullptr);
  CHECK(cuda_unavailable_reason() == "");
}

TEST_CASE("cuda fake: device, properties, a missing ordinal") {
  FakeDriver fake;
  Device* device = cuda_device(0);
  REQUIRE(device != nullptr);
  CHECK(device == cuda_device(0));
  CHECK(device->kind() == DeviceKind::Cuda);
  CHECK(device->name() == "Fake H200");
  CHECK(cuda::device(0)->properties().compute_capability() == 90);
  CHECK(cuda::device(0)->properties().multiprocessors == 132);
  CHECK(cuda::max_ptx_version() == 84);
  CHECK(cuda_device(3) == nullptr);
  CHECK(cuda_unavailable_reason() == "there is no GPU 3; the driver sees 1");
  CHECK(cuda::info_text().find("cuda:0: Fake H200, sm_90, 132 multiprocessors") !=
        std::string::npos);
}

TEST_CASE("cuda fake: stacks of recursion are raised once, and lowered where memory runs out") {
  FakeDriver fake;
  constexpr size_t kGiB = size_t{1} << 30, kThreads = 132 * 2048;
  SUBCASE("of a large GPU") {
    fake.set(200 * kGiB, 12040, 1);
    cuda::CudaDevice* device = cuda::device(0);
    REQUIRE(device != nullptr);
    for (int n = 0; n < 3; ++n) CHECK(device->stacks().for_recursion() == cuda::Stacks::kWanted);
    CHECK(fake.calls("cuCtxSetLimit") == 1);
    CHECK(fake.used() == (cuda::Stacks::kWanted - 1024) * kThreads);
  }
  SUBCASE("of a small GPU") {
    fake.set(5 * kGiB, 12040, 1);
    cuda::CudaDevice* device = cuda::device(0);
    REQUIRE(device != nullptr);
    CHECK(device->stacks().for_recursion() == 2048);
    size_t bytes = 4900 * kMiB;
    void* block = device->allocate(bytes);  // does not fit beside the stacks
    CHECK(fake.used() == bytes);
    CHECK(device->stacks().for_recursion() == 1024);
    device->free(block, bytes);
    device->trim();
    CHECK(device->stacks().for_recursion() == 2048);
    CHECK_THROWS_AS(device->allocate(6 * kGiB), Error);
  }
  SUBCASE("where memory is used already") {
    fake.set(200 * kGiB, 12040, 1);
    cuda::CudaDevice* device = cuda::device(0);
    REQUIRE(device != nullptr);
    fake.fail_next("cuCtxSetLimit", 2);
    CHECK(device->stacks().for_recursion() == cuda::Stacks::kWanted / 2);
    fake.fail_next("cuCtxSetLimit", 700);
    CHECK_THROWS_AS(device->stacks().for_recursion(), Error);
  }
}

TEST_CASE("cuda fake: memory and streams of other libraries") {
  FakeDriver fake;
  Device* device = cuda_device(0);
  REQUIRE(device != nullptr);
  CHECK(cuda_device_of(0x1000) == device);
  CHECK(cuda_device_of(0) == device);  // an empty array has no address
  fake.fail_next("cuPointerGetAttribute", 1);
  CHECK_THROWS_WITH_AS(cuda_device_of(0x1000), doctest::Contains("asking where memory is"), Error);
  int waits = fake.calls("cuStreamWaitEvent");
  device->wait_for_stream(2);
  CHECK(fake.calls("cuStreamWaitEvent") == waits + 1);
  CHECK(fake.calls("cuEventRecord") >= 1);
}

TEST_CASE("cuda fake: another library's context is restored") {
  FakeDriver fake;
  Device* device = cuda_device(0);
  REQUIRE(device != nullptr);
  void* other = reinterpret_cast<void*>(0x9999);
  fake.set_current(other);
  device->free(device->allocate(10), 10);
  device->synchronize();
  CHECK(fake.current() == other);
}

TEST_CASE("cuda fake: staged copies keep every byte in stream order") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  std::mt19937 random(3);
  size_t sizes[] = {0,        1,        100,       64 << 10,      (64 << 10) + 1,
                    kMiB + 7, 5 * kMiB, 16 * kMiB, 33 * kMiB + 5, 70 * kMiB,
                    12};
  for (size_t bytes : sizes) {
    std::vector<unsigned char> source(bytes), target(bytes);
    for (auto& byte : source) byte = static_cast<unsigned char>(random());
    std::vector<unsigned char> expected = source;
    void* a = device->allocate(bytes);
    void* b = device->allocate(bytes);
    device->copy_from_host(a, source.data(), bytes);
    std::fill(source.begin(), source.end(), 0);  // the source is the caller's again
    device->copy_within(b, a, bytes);
    device->copy_to_host(target.data(), b, bytes);
    CHECK(target == expected);
    device->free(a, bytes);
    device->free(b, bytes);
  }
  // Many small uploads without a wait pass through the ring many times.
  for (size_t bytes : {size_t{40}, size_t{5000}, 3 * kMiB}) {
    constexpr int kCount = 60;
    void* all = device->allocate(bytes * kCount);
    for (int i = 0; i < kCount; ++i) {
      std::vector<unsigned char> part(bytes, static_cast<unsigned char>(i + 1));
      device->copy_from_host(static_cast<char*>(all) + bytes * static_cast<size_t>(i), part.data(),
                             bytes);
    }
    std::vector<unsigned char> target(bytes * kCount);
    device->copy_to_host(target.data(), all, target.size());
    size_t wrong = 0;
    for (size_t i = 0; i < target.size(); ++i) wrong += target[i] != i / bytes + 1;
    CHECK(wrong == 0);
    device->free(all, bytes * kCount);
  }
  device->trim();
  CHECK(fake.used() == 0);
}

// Each poll finds a signal; one of them raises.
struct Interrupts {
  Interrupts() {
    left = 1 + static_cast<int>(next() % 400);
    before = std::signal(SIGINT, [](int) {});
    interrupt::Hooks hooks;
    hooks.run_handlers = [] {
      std::raise(SIGINT);
      return --left == 0;
    };
    interrupt::set_hooks(hooks);
    interrupt::chain_handler();
    std::raise(SIGINT);
  }
  ~Interrupts() {
    interrupt::set_hooks({});
    std::signal(SIGINT, before);
  }
  static uint32_t next() {
    static std::mt19937 random(11);
    return random();
  }
  static inline int left = 0;
  void (*before)(int);
};

TEST_CASE("cuda fake: copies that Ctrl-C ends leave the ring to those that come later") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  fake.set_patience(2);  // most polls are those of the host, while it copies
  size_t sizes[] = {300 << 10, kMiB + 7, 5 * kMiB, 20 * kMiB, 40 * kMiB};
  int interrupted = 0, wrong = 0;
  for (int n = 0; n < 150; ++n) {
    size_t bytes = sizes[Interrupts::next() % 5], other = sizes[Interrupts::next() % 5];
    std::vector<unsigned char> first(other, static_cast<unsigned char>(n)), lost(other, 0xee);
    std::vector<unsigned char> source(bytes, static_cast<unsigned char>(n + 100)), target(bytes);
    void* a = device->allocate(other);
    void* b = device->allocate(bytes);
    try {
      Interrupts now;
      interrupt::Inside inside;
      device->copy_from_host(a, first.data(), other);
      device->copy_to_host(lost.data(), a, other);
      wrong += lost != first;
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::Interrupted);
      ++interrupted;
    }
    device->copy_from_host(b, source.data(), bytes);
    device->copy_to_host(target.data(), b, bytes);
    wrong += target != source;
    device->free(a, other);
    device->free(b, bytes);
  }
  CHECK(wrong == 0);
  CHECK(interrupted > 3);
  CHECK(interrupted < 150);
}

TEST_CASE("cuda fake: copies work without pinned memory") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  fake.fail_next("cuMemHostAlloc", 2);
  std::vector<int> source(100000, 42), target(100000);
  size_t bytes = source.size() * sizeof(int);
  void* block = device->allocate(bytes);
  device->copy_from_host(block, source.data(), bytes);
  device->copy_to_host(target.data(), block, bytes);
  CHECK(target == source);
  CHECK(fake.calls("cuMemHostAlloc") == 1);
  int small = 0;
  device->copy_to_host(&small, block, sizeof(small));  // a little can still be pinned
  CHECK(small == 42);
  device->copy_from_host(block, source.data(), bytes);
  target.assign(target.size(), 0);
  device->copy_to_host(target.data(), block, bytes);
  CHECK(target == source);
  device->free(block, bytes);
}

TEST_CASE("cuda fake: launches, their attributes and their errors") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  std::string ptx = ".version 8.4 .target sm_90";
  cuda::Module module = device->load_module(ptx.data(), ptx.size());
  cuda::Function add_one = module.function("add_one");
  CHECK(add_one.attributes().max_threads == 512);
  CHECK(add_one.attributes().registers == 40);
  CHECK(add_one.blocks_per_multiprocessor(256, 0) == 8);

  constexpr size_t kBytes = 1000;
  void* block = device->allocate(kBytes);
  device->fill_bytes(block, 5, kBytes);
  int64_t count = kBytes;
  void* parameters[] = {&block, &count};
  add_one.launch({4}, {256}, 0, device->stream(), parameters);
  add_one.launch({4}, {256}, 100000, device->stream(), parameters);
  CHECK(fake.calls("cuFuncSetAttribute") == 1);
  CHECK(fake.pending() > 0);
  std::vector<unsigned char> target(kBytes);
  device->copy_to_host(target.data(), block, kBytes);
  CHECK(target == std::vector<unsigned char>(kBytes, 7));

  CHECK(error_of([&] { add_one.launch({1}, {32, 64}, 0, device->stream(), parameters); }) ==
        "[cuda] cuLaunchKernel failed while launching 'add_one' with grid (1, 1, 1), block "
        "(32, 64, 1), 0 bytes of shared memory; got CUDA_ERROR_INVALID_VALUE (1): invalid "
        "argument");
  CHECK(error_of([&] { module.function("missing"); }) ==
        "[cuda] cuModuleGetFunction failed while looking for the kernel 'missing'; got "
        "CUDA_ERROR_NOT_FOUND (500): named symbol not found");
  std::string bad = ".version 8.4\nBAD";
  CHECK(error_of([&] { device->load_module(bad.data(), bad.size()); }) ==
        "[cuda] cuModuleLoadDataEx failed while loading GPU code; got CUDA_ERROR_INVALID_PTX "
        "(218): a PTX JIT compilation failed; the assembler says:\nptxas application ptx input, "
        "line 3; fatal   : Parsing error near 'BAD'");
  std::string new_ptx = ".version 9.9";
  std::string text = error_of([&] { device->load_module(new_ptx.data(), new_ptx.size()); });
  CHECK(text.find("; expected at most PTX 8.4") != std::string::npos);

  using cuda::LinkInput;
  CHECK(device->link("one", {LinkInput{cuda::kLinkPtx, "a", "two"},
                             LinkInput{cuda::kLinkCubin, "b", "three"}}) == "one|two|three|");
  CHECK(error_of([&] { device->link("one", {LinkInput{cuda::kLinkObject, "b.o", "BAD"}}); }) ==
        "[cuda] cuLinkAddData failed while linking 'b.o'; got CUDA_ERROR_INVALID_PTX (218): a PTX "
        "JIT compilation failed; the linker says:\nerror   : Undefined reference to 'f' in 'b.o'");

  cuda::Event start = device->create_event(true), end = device->create_event(true);
  start.record(device->stream());
  add_one.launch({4}, {256}, 0, device->stream(), parameters);
  end.record(device->stream());
  CHECK_FALSE(end.done());
  end.synchronize();
  CHECK(end.done());
  CHECK(end.elapsed_since(start) == doctest::Approx(1.5));
  cuda::Stream side(device->context(), true);
  side.wait(end);

  device->free(block, kBytes);
  module.function("crash").launch({1}, {1}, 0, device->stream(), nullptr);
  CHECK(error_of([&] { device->synchronize(); }) ==
        "[cuda] cuStreamSynchronize failed while waiting for the GPU; got "
        "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered; a kernel "
        "launched before may be the cause: CUDA_LAUNCH_BLOCKING=1 finds it");
}

TEST_CASE("cuda fake: out of memory leaves other blocks usable") {
  FakeDriver fake;
  fake.set(64 * kMiB, 12040, 1);
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  CHECK(device->memory_stats().limit == 64 * kMiB);
  void* kept = device->allocate(20 * kMiB);
  device->fill_bytes(kept, 9, 20 * kMiB);
  CHECK(error_of([&] { device->allocate(50 * kMiB); }) ==
        "[allocate] out of memory; got a request of 52428800 bytes; expected at most 46137344");
  unsigned char byte = 0;
  device->copy_to_host(&byte, kept, 1);
  CHECK(byte == 9);
  fake.fail_next("cuMemAlloc", 700);
  std::string text = error_of([&] { device->allocate(30 * kMiB); });
  CHECK(starts_with(text, "[cuda] cuMemAlloc failed while allocating 31457280 bytes on the GPU"));
  device->free(kept, 20 * kMiB);
}

TEST_CASE("cuda fake: a forked child is told so") {
  FakeDriver fake;
  REQUIRE(cuda::cuda_available());
  Device* device = cuda_device(0);
  void* block = device->allocate(100);
  pid_t child = fork();
  if (child == 0) {
    bool good = !cuda::cuda_available() &&
                starts_with(cuda::driver_info().reason, "CUDA was used before this process was") &&
                starts_with(error_of([&] { device->synchronize(); }), "[cuda] no GPU can be used");
    device->free(block, 100);
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(cuda::cuda_available());
  device->free(block, 100);
}

TEST_CASE("cuda: a real GPU") {
  unsetenv("NUMBUS_CUDA_DRIVER");
  cuda::reset_for_tests();
  cuda::CudaDevice* device = cuda::device(0);
  if (device == nullptr) {
    MESSAGE("skipped: " << cuda_unavailable_reason());
    return;
  }
  // Adds 1.0f to each of n floats; PTX 6.0 is old enough for every driver that Numbus takes.
  std::string ptx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry add_one(.param .u64 data, .param .u32 n) {
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<3>;
  .reg .b64 %d<5>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  cvta.to.global.u64 %d2, %d1;
  mul.wide.u32 %d3, %r2, 4;
  add.u64 %d4, %d2, %d3;
  ld.global.f32 %f1, [%d4];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%d4], %f2;
  ret;
})";
  cuda::Module module = device->load_module(ptx.data(), ptx.size());
  cuda::Function add_one = module.function("add_one");
  CHECK(add_one.attributes().max_threads > 0);
  CHECK(add_one.blocks_per_multiprocessor(256, 0) > 0);
  for (unsigned count : {1u, 1000u, 20000000u}) {
    std::vector<float> source(count), target(count);
    for (unsigned i = 0; i < count; ++i) source[i] = static_cast<float>(i % 1000);
    size_t bytes = count * sizeof(float);
    void* block = device->allocate(bytes);
    device->copy_from_host(block, source.data(), bytes);
    void* parameters[] = {&block, &count};
    cuda::Event start = device->create_event(true), end = device->create_event(true);
    start.record(device->stream());
    add_one.launch({(count + 255) / 256}, {256}, 0, device->stream(), parameters);
    end.record(device->stream());
    device->copy_to_host(target.data(), block, bytes);
    size_t wrong = 0;
    for (unsigned i = 0; i < count; ++i) wrong += target[i] != source[i] + 1.0f;
    CHECK(wrong == 0);
    CHECK(end.elapsed_since(start) > 0);
    device->free(block, bytes);
  }
  std::string bad = ptx + "nonsense";
  std::string text = error_of([&] { device->load_module(bad.data(), bad.size()); });
  CHECK(text.find("the assembler says:") != std::string::npos);
  CHECK(starts_with(error_of([&] { device->allocate(size_t{1} << 45); }),
                    "[allocate] out of memory"));
}

}  // namespace numbus
