// Side streams of a CUDA device on the fake driver, which runs a stream only when somebody waits
// for it: random programs, memory that is freed in flight, memory of the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "fake_cuda_driver.h"

namespace numbus {
namespace {

using Bytes = std::vector<unsigned char>;

Use use_of(const void* at, size_t bytes, bool written) {
  auto begin = reinterpret_cast<std::uintptr_t>(at);
  return {begin, begin + bytes, written};
}

// Pinned memory that the device knows, as the bindings make it.
struct Pinned {
  Pinned(Device& d, size_t n, HostKind kind = HostKind::Pinned)
      : device(d), block(d.allocate_host(n, kind, false)) {
    add_host_block(block);
    std::memset(data(), 0, n);
  }
  ~Pinned() {
    remove_host_block(block.begin);
    device.free_host(block);
  }
  unsigned char* data() const { return reinterpret_cast<unsigned char*>(block.begin); }
  Device& device;
  HostBlock block;
};

}  // namespace

TEST_CASE("cuda queues: random programs in several streams keep the program's order") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  std::string ptx = ".version 8.4 .target sm_90";
  cuda::Module module = device->load_module(ptx.data(), ptx.size());
  cuda::Function add_one = module.function("add_one");
  std::mt19937 random(17);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  constexpr size_t kBytes = 3000;

  for (int program = 0; program < 60; ++program) {
    struct Buffer {
      unsigned char* data;
      Bytes expected;
    };
    struct Host {
      std::unique_ptr<Pinned> memory;
      Bytes expected;
    };
    std::vector<Buffer> buffers;
    std::vector<Host> hosts;
    std::vector<std::unique_ptr<Queue>> queues;
    auto fresh = [&](bool of_host) {
      if (of_host) {
        hosts.push_back({std::make_unique<Pinned>(*device, kBytes), Bytes(kBytes)});
      } else {
        auto* data = static_cast<unsigned char*>(device->allocate(kBytes));
        device->fill_bytes(data, 7, kBytes);
        buffers.push_back({data, Bytes(kBytes, 7)});
      }
    };
    for (int i = 0; i < 3; ++i) fresh(false), fresh(true);
    queues.push_back(nullptr);  // the device's own
    for (size_t i = below(4); i-- > 0;) queues.push_back(device->create_queue({}));

    for (int step = 0; step < 150; ++step) {
      Queue* queue = queues[below(queues.size())].get();
      Buffer& b = buffers[below(buffers.size())];
      Host& h = hosts[below(hosts.size())];
      size_t low = below(kBytes), n = 1 + below(kBytes - low);
      Bytes pageable(n);
      switch (below(10)) {
        case 0:
        case 1:  // from pinned memory
          if (queue) {
            device->upload(b.data + low, h.memory->data() + low, n, *queue);
          } else {
            device->copy_from_host(b.data + low, h.memory->data() + low, n);
          }
          std::copy_n(h.expected.begin() + low, n, b.expected.begin() + low);
          break;
        case 2:
        case 3:  // to pinned memory
          if (queue) {
            device->download(h.memory->data() + low, b.data + low, n, *queue);
          } else {
            device->copy_to_host(h.memory->data() + low, b.data + low, n);
          }
          std::copy_n(b.expected.begin() + low, n, h.expected.begin() + low);
          break;
        case 4: {  // a kernel
          unsigned char* data = b.data + low;
          auto count = static_cast<int64_t>(n);
          void* parameters[] = {&data, &count};
          Use uses[] = {use_of(data, n, true)};
          Ordered order(*device, queue, uses);
          add_one.launch({1}, {32}, 0, device->stream_of(queue), parameters);
          for (size_t i = low; i < low + n; ++i) ++b.expected[i];
          break;
        }
        case 5:
          device->fill_bytes(b.data + low, static_cast<unsigned char>(step), n, queue);
          std::fill_n(b.expected.begin() + low, n, static_cast<unsigned char>(step));
          break;
        case 6: {
          Buffer& other = buffers[below(buffers.size())];
          if (other.data == b.data) break;
          device->copy_within(b.data + low, other.data + low, n);
          std::copy_n(other.expected.begin() + low, n, b.expected.begin() + low);
          break;
        }
        case 7: {  // pageable memory, either way, is the caller's again at once
          std::fill(pageable.begin(), pageable.end(), static_cast<unsigned char>(step));
          if (queue) {
            device->upload(b.data + low, pageable.data(), n, *queue);
          } else {
            device->copy_from_host(b.data + low, pageable.data(), n);
          }
          std::fill_n(b.expected.begin() + low, n, static_cast<unsigned char>(step));
          std::fill(pageable.begin(), pageable.end(), 0);
          Buffer& other = buffers[below(buffers.size())];
          if (queue) {
            device->download(pageable.data(), other.data + low, n, *queue);
          } else {
            device->copy_to_host(pageable.data(), other.data + low, n);
          }
          REQUIRE(std::equal(pageable.begin(), pageable.end(), other.expected.begin() + low));
          break;
        }
        case 8:  // what is in use goes, and its place may be another's at once
          if (below(2)) {
            size_t gone = below(buffers.size());
            device->free(buffers[gone].data, kBytes);
            buffers.erase(buffers.begin() + static_cast<int64_t>(gone));
            fresh(false);
          } else {
            hosts.erase(hosts.begin() + static_cast<int64_t>(below(hosts.size())));
            fresh(true);
          }
          break;
        default:
          if (queue == nullptr) {
            if (below(3) == 0) device->synchronize();
          } else if (below(3) == 0) {
            queue->synchronize();
          } else if (below(4) == 0) {  // a stream goes, another one comes
            size_t at = 1 + below(queues.size() - 1);
            queues[at] = device->create_queue({below(2) == 1, -1, 0});
          }
      }
    }
    device->synchronize();
    for (Host& h : hosts)
      REQUIRE(std::equal(h.expected.begin(), h.expected.end(), h.memory->data()));
    for (Buffer& b : buffers) {
      Bytes now(kBytes);
      device->copy_to_host(now.data(), b.data, kBytes);
      REQUIRE(now == b.expected);
      device->free(b.data, kBytes);
    }
    queues.clear();
    device->synchronize();
    CHECK_FALSE(device->has_queues());
  }
  device->trim();
  CHECK(fake.used() == 0);
}

TEST_CASE("cuda queues: copies in a stream are only queued, and others do not wait") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  constexpr size_t kBytes = 1 << 20;
  auto a = device->create_queue({}), b = device->create_queue({});
  Pinned from(*device, kBytes), to(*device, kBytes);
  std::memset(from.data(), 3, kBytes);
  void* block = device->allocate(kBytes);
  int waits = fake.calls("cuStreamWaitEvent"),
      syncs = fake.calls("cuStreamSynchronize") + fake.calls("cuEventSynchronize");
  device->upload(block, from.data(), kBytes, *a);
  device->download(to.data(), block, kBytes, *a);
  CHECK(fake.calls("cuStreamWaitEvent") == waits);
  CHECK_FALSE(a->done());
  CHECK(b->done());
  CHECK(to.data()[5] == 0);
  b->synchronize();
  CHECK(to.data()[5] == 0);
  CHECK(fake.calls("cuStreamSynchronize") + fake.calls("cuEventSynchronize") == syncs + 1);
  a->synchronize();
  CHECK(to.data()[kBytes - 1] == 3);

  // Out of memory: blocks that a stream still uses are waited for.
  fake.set(64 << 20, 12040, 1);
  device->set_memory_limit(40 << 20);
  void* large = device->allocate(20 << 20);
  device->fill_bytes(large, 1, 20 << 20, a.get());
  device->free(large, 20 << 20);
  CHECK_FALSE(a->done());
  void* next = device->allocate(22 << 20);
  CHECK(a->done());
  device->free(next, 22 << 20);
  device->free(block, kBytes);
}

TEST_CASE("cuda queues: a program that uses streams no more pays for them no more") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  void* block = device->allocate(100);
  CHECK_FALSE(device->has_queues());
  auto queue = device->create_queue({});
  CHECK(device->has_queues());
  device->fill_bytes(block, 1, 100, queue.get());
  queue.reset();
  CHECK(device->has_queues());  // its work is not done
  unsigned char byte = 0;
  device->copy_to_host(&byte, block, 1);
  CHECK(byte == 1);
  device->free(device->allocate(100), 100);
  CHECK_FALSE(device->has_queues());
  int records = fake.calls("cuEventRecord"), waits = fake.calls("cuStreamWaitEvent");
  for (int i = 0; i < 10; ++i) {
    device->fill_bytes(block, 2, 100);
    device->copy_from_host(block, &byte, 1);
  }
  CHECK(fake.calls("cuEventRecord") == records);
  CHECK(fake.calls("cuStreamWaitEvent") == waits);
  device->free(block, 100);
}

TEST_CASE("cuda queues: pageable uploads of several streams share the ring") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  std::mt19937 random(2);
  std::vector<std::unique_ptr<Queue>> queues;
  for (int i = 0; i < 3; ++i) queues.push_back(device->create_queue({}));
  constexpr size_t kBytes = 30000, kCount = 100;
  auto* all = static_cast<unsigned char*>(device->allocate(kBytes * kCount));
  for (size_t i = 0; i < kCount; ++i) {
    Bytes part(kBytes, static_cast<unsigned char>(i + 1));
    if (random() % 4 == 0) {
      device->copy_from_host(all + i * kBytes, part.data(), kBytes);
    } else {
      device->upload(all + i * kBytes, part.data(), kBytes, *queues[random() % 3]);
    }
    if (random() % 20 == 0) queues[random() % 3] = device->create_queue({});
  }
  Bytes now(kBytes * kCount);
  device->copy_to_host(now.data(), all, now.size());
  size_t wrong = 0;
  for (size_t i = 0; i < now.size(); ++i) wrong += now[i] != i / kBytes + 1;
  CHECK(wrong == 0);
  device->free(all, now.size());
}

TEST_CASE("cuda queues: events, priorities and streams of others") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  auto plain = device->create_queue({}), urgent = device->create_queue({true, -100, 0});
  CHECK(plain->priority() == 0);
  CHECK(urgent->priority() == -5);
  CHECK(plain->handle() != urgent->handle());
  int destroyed = fake.calls("cuStreamDestroy");
  {
    auto other = device->create_queue({false, 0, plain->handle()});
  }
  CHECK(fake.calls("cuStreamDestroy") == destroyed);
  auto start = device->create_marker(true), end = device->create_marker(true);
  void* block = device->allocate(100);
  start->record(plain.get());
  device->fill_bytes(block, 1, 100, plain.get());
  end->record(plain.get());
  CHECK_FALSE(end->done());
  end->hold(urgent.get());
  CHECK_FALSE(urgent->done());
  end->hold(nullptr);
  end->synchronize();
  CHECK(end->done());
  CHECK(end->milliseconds_since(*start) == doctest::Approx(1.5));
  urgent->synchronize();
  device->free(block, 100);
}

TEST_CASE("cuda queues: memory of the host") {
  FakeDriver fake;
  cuda::CudaDevice* device = cuda::device(0);
  REQUIRE(device != nullptr);
  auto queue = device->create_queue({});
  void* block = device->allocate(1000);
  int freed = fake.calls("cuMemFreeHost");
  {
    Pinned memory(*device, 1000);
    device->upload(block, memory.data(), 1000, *queue);
  }
  CHECK(fake.calls("cuMemFreeHost") == freed);  // the copy still reads it
  device->synchronize();
  CHECK(fake.calls("cuMemFreeHost") == freed + 1);

  Bytes array(1000, 9);
  HostBlock known, registered = device->register_host(array.data(), 1000, HostKind::Mapped);
  add_host_block(registered);
  CHECK(registered.device_address == registered.begin);
  CHECK(find_host_block(array.data() + 10, 990, &known));
  CHECK_FALSE(find_host_block(array.data() + 10, 991, &known));
  device->upload(block, array.data(), 1000, *queue);
  CHECK_FALSE(queue->done());
  remove_host_block(registered.begin);
  device->unregister_host(registered);
  CHECK(queue->done());

  Pinned managed(*device, 1000, HostKind::Managed), mapped(*device, 1000, HostKind::Mapped);
  CHECK(managed.block.device_address != 0);
  CHECK(mapped.block.device_address != 0);
  device->copy_from_host(managed.data(), array.data(), 1000);
  device->copy_to_host(array.data(), managed.data(), 1000);
  CHECK(array == Bytes(1000, 9));
  fake.fail_next("cuMemHostRegister", 1);
  CHECK_THROWS_WITH_AS(device->register_host(array.data(), 1000, HostKind::Pinned),
                       doctest::Contains("pinning 1000 bytes of an array"), Error);
  fake.fail_next("cuMemHostRegister", 712);
  CHECK(device->register_host(array.data(), 1000, HostKind::Pinned).begin == 0);
  fake.fail_next("cuMemHostRegister", 712);
  CHECK_THROWS_AS(device->register_host(array.data(), 1000, HostKind::Mapped), Error);
  fake.fail_next("cuMemHostAlloc", 2);
  CHECK_THROWS_WITH_AS(device->allocate_host(1000, HostKind::Pinned, false),
                       doctest::Contains("allocating 1000 bytes of the host's memory"), Error);
  device->free(block, 1000);
}

}  // namespace numbus
