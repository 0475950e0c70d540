// The CPU memory pool and the null device: classes, reuse, statistics, limits, errors.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "device/cpu/memory.h"
#include "device/device.h"
#include "device/null/null_device.h"

namespace numbus {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

template <class Body>
std::string memory_error(Body body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Memory);
    return error.what();
  }
  return "no error";
}

bool aligned(const void* block, size_t to) { return reinterpret_cast<uintptr_t>(block) % to == 0; }

}  // namespace

TEST_CASE("memory pool: sizes lose at most 12.5 percent, alignment is 64") {
  MemoryPool pool;
  for (size_t bytes = 1; bytes < 40 * kMiB; bytes += 1 + bytes / 7) {
    size_t rounded = MemoryPool::rounded_size(bytes);
    CHECK(rounded >= bytes);
    if (bytes > 512) CHECK(rounded - bytes <= bytes / 8);
    void* block = pool.allocate(bytes);
    CHECK(aligned(block, bytes > 2 * kMiB ? 2 * kMiB : 64));
    static_cast<char*>(block)[0] = 1;
    static_cast<char*>(block)[bytes - 1] = 1;
    CHECK(pool.stats().used_bytes == rounded);
    pool.free(block, bytes);
  }
  CHECK(pool.stats().used_bytes == 0);
}

TEST_CASE("memory pool: freed blocks serve smaller requests before new pages do") {
  MemoryPool pool;
  char* large = static_cast<char*>(pool.allocate(1000 << 10));
  pool.free(large, 1000 << 10);
  // A class of its own, down to half of the size.
  char* smaller = static_cast<char*>(pool.allocate(600 << 10));
  CHECK(smaller == large);
  CHECK(pool.stats().used_bytes == MemoryPool::rounded_size(1000 << 10));
  char* other = static_cast<char*>(pool.allocate(1000 << 10));
  CHECK((other >= smaller + (600 << 10) || other + (1000 << 10) <= smaller));
  pool.free(smaller, 600 << 10);
  pool.free(other, 1000 << 10);
  CHECK(pool.stats().used_bytes == 0);
  char* half = static_cast<char*>(pool.allocate(400 << 10));
  CHECK(half != large);
  CHECK(half != other);
  pool.free(half, 400 << 10);
  // What is less than a page stays in its class.
  char* few = static_cast<char*>(pool.allocate(3000));
  pool.free(few, 3000);
  char* fewer = static_cast<char*>(pool.allocate(2000));
  CHECK(fewer != few);
  pool.free(fewer, 2000);
  CHECK(pool.stats().used_bytes == 0);
}

TEST_CASE("memory pool: zero bytes give a valid block") {
  MemoryPool pool;
  void* a = pool.allocate(0);
  void* b = pool.allocate(0);
  CHECK(a != nullptr);
  CHECK(a != b);
  pool.free(a, 0);
  pool.free(b, 0);
  pool.free(nullptr, 0);
  CHECK(pool.stats().used_bytes == 0);
}

TEST_CASE("memory pool: freed blocks are reused, small and large") {
  MemoryPool pool;
  for (size_t bytes : {size_t{8}, size_t{1000}, 3 * kMiB / 2, 2 * kMiB, 2 * kMiB + 1, 64 * kMiB}) {
    void* first = pool.allocate(bytes);
    pool.free(first, bytes);
    void* second = pool.allocate(bytes);
    CHECK(first == second);
    pool.free(second, bytes);
  }
  // A large block serves a request that is a little smaller, not one that is much smaller.
  MemoryPool other;
  void* big = other.allocate(64 * kMiB);
  other.free(big, 64 * kMiB);
  void* near = other.allocate(60 * kMiB);
  CHECK(near == big);
  other.free(near, 60 * kMiB);
  void* far = other.allocate(32 * kMiB);
  CHECK(far != big);
  other.free(far, 32 * kMiB);
}

TEST_CASE("memory pool: statistics and trim") {
  MemoryPool pool;
  CHECK(pool.stats().pooled_bytes == 0);
  void* a = pool.allocate(10 * kMiB);
  void* b = pool.allocate(100);
  MemoryStats stats = pool.stats();
  CHECK(stats.used_bytes == 10 * kMiB + 128);
  CHECK(stats.peak_bytes == stats.used_bytes);
  CHECK(stats.pooled_bytes == 0);
  CHECK(stats.overhead_bytes > 0);
  pool.free(a, 10 * kMiB);
  stats = pool.stats();
  CHECK(stats.used_bytes == 128);
  CHECK(stats.pooled_bytes == 10 * kMiB);
  CHECK(stats.peak_bytes == 10 * kMiB + 128);
  pool.trim();
  CHECK(pool.stats().pooled_bytes == 0);
  CHECK(pool.stats().used_bytes == 128);
  pool.free(b, 100);
  CHECK(pool.stats().pooled_bytes == 128);
  pool.trim();
  CHECK(pool.stats().pooled_bytes == 0);
}

TEST_CASE("memory pool: the cache is bounded and gives back the oldest first") {
  MemoryPool pool;
  pool.set_cache_limit(40 * kMiB);
  void *a = pool.allocate(16 * kMiB), *b = pool.allocate(20 * kMiB), *c = pool.allocate(24 * kMiB);
  pool.free(b, 20 * kMiB);
  pool.free(a, 16 * kMiB);
  CHECK(pool.stats().pooled_bytes == 36 * kMiB);
  pool.free(c, 24 * kMiB);  // 60 MiB: b, the oldest, goes
  CHECK(pool.stats().pooled_bytes == 40 * kMiB);
  void* again = pool.allocate(16 * kMiB);
  CHECK(again == a);
  pool.free(again, 16 * kMiB);
}

TEST_CASE("memory pool: the limit is an error with numbers, and other blocks stay intact") {
  MemoryPool pool;
  pool.set_limit(64 * kMiB);
  auto* kept = static_cast<unsigned char*>(pool.allocate(30 * kMiB));
  std::memset(kept, 7, 30 * kMiB);
  CHECK(memory_error([&] { pool.allocate(40 * kMiB); }) ==
        "[allocate] out of memory; got a request of 41943040 bytes; expected at most 35651584");
  CHECK(kept[0] == 7);
  CHECK(kept[30 * kMiB - 1] == 7);
  CHECK(pool.stats().used_bytes == 30 * kMiB);
  // Pooled blocks make room before a request fails.
  void* b = pool.allocate(20 * kMiB);
  pool.free(b, 20 * kMiB);
  void* c = pool.allocate(32 * kMiB);
  CHECK(pool.stats().used_bytes == 62 * kMiB);
  CHECK(pool.stats().pooled_bytes == 0);
  pool.free(c, 32 * kMiB);
  // Small blocks obey it, too.
  std::vector<void*> small;
  std::string text = memory_error([&] {
    while (true) small.push_back(pool.allocate(50000));
  });
  CHECK(text.rfind("[allocate] out of memory; got a request of 50000 bytes; expected at most ",
                   0) == 0);
  MemoryStats stats = pool.stats();
  CHECK(stats.used_bytes + stats.pooled_bytes <= stats.limit);
  CHECK(small.size() > 500);
  for (void* block : small) pool.free(block, 50000);
  pool.free(kept, 30 * kMiB);
  // Empty spans of one class make room for another class.
  std::vector<void*> other;
  memory_error([&] {
    while (true) other.push_back(pool.allocate(7000));
  });
  CHECK(other.size() > 8500);
  for (void* block : other) pool.free(block, 7000);
}

TEST_CASE("memory pool: absurd sizes are memory errors") {
  MemoryPool pool;
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2, size_t{1} << 60, size_t{1} << 46}) {
    CHECK(memory_error([&] {
            pool.allocate(bytes);
          }).rfind("[allocate] out of memory; got a request of " + std::to_string(bytes), 0) == 0);
  }
  // The limit is raised beyond the machine: mmap itself refuses.
  pool.set_limit(SIZE_MAX / 2);
  CHECK(memory_error([&] { pool.allocate(size_t{1} << 60); }) != "no error");
  CHECK(pool.stats().used_bytes == 0);
  CHECK(pool.stats().pooled_bytes == 0);
}

TEST_CASE("memory pool: random use keeps contents and counts") {
  MemoryPool pool;
  struct Block {
    unsigned char* data;
    size_t bytes;
    unsigned char mark;
  };
  std::mt19937_64 random(1);
  std::vector<Block> blocks;
  for (int i = 0; i < 20000; ++i) {
    if (blocks.size() < 200 && random() % 2 == 0) {
      size_t bytes = size_t{1} << (random() % 23);
      bytes += random() % bytes;
      auto* data = static_cast<unsigned char*>(pool.allocate(bytes));
      auto mark = static_cast<unsigned char>(i);
      data[0] = data[bytes / 2] = data[bytes - 1] = mark;
      blocks.push_back({data, bytes, mark});
    } else if (!blocks.empty()) {
      size_t at = random() % blocks.size();
      Block block = blocks[at];
      REQUIRE(block.data[0] == block.mark);
      REQUIRE(block.data[block.bytes / 2] == block.mark);
      REQUIRE(block.data[block.bytes - 1] == block.mark);
      pool.free(block.data, block.bytes);
      blocks[at] = blocks.back();
      blocks.pop_back();
    }
    if (i % 1000 == 999) pool.trim();
  }
  for (const Block& block : blocks) pool.free(block.data, block.bytes);
  CHECK(pool.stats().used_bytes == 0);
  pool.trim();
  CHECK(pool.stats().pooled_bytes == 0);
}

TEST_CASE("memory pool: several threads, blocks freed by another") {
  MemoryPool pool;
  std::atomic<bool> sound{true};
  std::vector<std::atomic<void*>> mailbox(64);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 20000; ++i) {
        size_t slot = random() % 64;
        size_t bytes = slot % 8 == 0 ? 3 * kMiB : 64 + slot * 300;  // the slot determines the size
        void* mine = pool.allocate(bytes);
        static_cast<size_t*>(mine)[0] = slot;
        void* other = mailbox[slot].exchange(mine);
        if (other != nullptr) {
          if (static_cast<size_t*>(other)[0] != slot) sound = false;
          pool.free(other, bytes);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(sound);
  for (size_t slot = 0; slot < 64; ++slot) {
    pool.free(mailbox[slot].load(), slot % 8 == 0 ? 3 * kMiB : 64 + slot * 300);
  }
  CHECK(pool.stats().used_bytes == 0);
}

TEST_CASE("memory pool: the device's pool survives a fork under load") {
  Device& device = cpu_device();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) device.free(device.allocate(100), 100);
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (int k = 0; k < 1000; ++k) device.free(device.allocate(100), 100);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  stop = true;
  busy.join();
}

TEST_CASE("cpu device: copies of every size") {
  Device& device = cpu_device();
  CHECK(device.kind() == DeviceKind::Cpu);
  CHECK_FALSE(device.name().empty());
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{4097}, 4 * kMiB, 9 * kMiB + 13}) {
    std::vector<unsigned char> source(bytes), target(bytes);
    for (size_t i = 0; i < bytes; ++i) source[i] = static_cast<unsigned char>(i * 31 + i / 256);
    void* a = device.allocate(bytes);
    void* b = device.allocate(bytes);
    device.copy_from_host(a, source.data(), bytes);
    device.copy_within(b, a, bytes);
    device.copy_to_host(target.data(), b, bytes);
    device.synchronize();
    CHECK(source == target);
    device.free(a, bytes);
    device.free(b, bytes);
  }
}

TEST_CASE("null device: counts, has no memory behind it, keeps a limit") {
  NullDevice device;
  CHECK(device.kind() == DeviceKind::Null);
  size_t huge = device.memory_stats().limit / 4;  // terabytes cost nothing
  void* a = device.allocate(huge);
  void* b = device.allocate(1);
  CHECK(a != b);
  char host[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  device.copy_from_host(a, host, 8);
  device.copy_to_host(host, a, 8);
  CHECK(host[3] == 0);
  device.launch(100, 20);
  device.launch(1, 2);
  device.synchronize();
  CHECK(device.counts().launches == 2);
  CHECK(device.counts().read_bytes == 101);
  CHECK(device.counts().written_bytes == 22);
  CHECK(device.counts().copies == 2);
  CHECK(device.counts().copied_bytes == 16);
  CHECK(device.counts().synchronizations == 1);
  CHECK(device.memory_stats().used_bytes == huge + 64);
  device.free(a, huge);
  device.free(b, 1);
  CHECK(device.memory_stats().used_bytes == 0);
  CHECK(device.memory_stats().peak_bytes == huge + 64);
  device.set_memory_limit(1000);
  CHECK(memory_error([&] { device.allocate(2000); }) ==
        "[allocate] out of memory; got a request of 2000 bytes; expected at most 1000");
  CHECK(memory_error([&] { device.allocate(SIZE_MAX); }) != "no error");
  CHECK(&null_device() == &null_device_counts());
}

}  // namespace numbus
