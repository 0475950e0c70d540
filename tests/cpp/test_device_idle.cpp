// What a pool keeps of its idle memory: the policy alone, a GPU's pool that follows it, the alarm.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "device/alarm.h"
#include "device/cuda/memory_pool.h"
#include "device/idle.h"

namespace numbus {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Time = IdlePolicy::Time;

constexpr size_t kMiB = size_t{1} << 20, kGiB = size_t{1} << 30;

// Segments at invented addresses of a device of 100 GiB.
class Segments final : public cuda::SegmentSource {
 public:
  explicit Segments(size_t* used) : used_(used) {}
  cuda::DevicePointer acquire(size_t bytes) override {
    if (*used_ + bytes > total_bytes()) return 0;
    *used_ += bytes;
    sizes_.push_back(bytes);
    return sizes_.size() << 40;
  }
  void release(cuda::DevicePointer segment) noexcept override {
    *used_ -= sizes_[(segment >> 40) - 1];
  }
  size_t total_bytes() const override { return 100 * kGiB; }
  size_t free_bytes() const override { return total_bytes() - *used_; }

 private:
  size_t* used_;
  std::vector<size_t> sizes_;
};

// A pool on such a device, whose clock is the real one plus what a test adds.
struct Pool {
  size_t taken = 0;
  std::vector<Time> looks;
  cuda::SegmentPool pool{std::make_unique<Segments>(&taken),
                         [this](Time at) { looks.push_back(at); }};
  static Time later(milliseconds by) { return IdlePolicy::Clock::now() + by; }
};

}  // namespace

TEST_CASE("idle memory: a tenth of what was used lately is kept, and a floor") {
  IdlePolicy p;
  const Time start{seconds(1000)};
  CHECK(p.peak(start) == 0);
  CHECK(p.kept(start) == IdlePolicy::kFloor);
  p.use(30 * kGiB, start);
  p.use(kGiB, start + milliseconds(10));
  CHECK(p.peak(start + milliseconds(10)) == 30 * kGiB);
  CHECK(p.kept(start + seconds(1)) == 3 * kGiB);
  // It is forgotten after some seconds, what is in use is not.
  CHECK(p.peak(start + seconds(IdlePolicy::kSeconds - 1)) == 30 * kGiB);
  CHECK(p.peak(start + seconds(IdlePolicy::kSeconds)) == kGiB);
  CHECK(p.kept(start + seconds(IdlePolicy::kSeconds)) == IdlePolicy::kFloor);
  // Use that lasted until now was lately.
  p.use(0, start + seconds(100));
  CHECK(p.peak(start + seconds(101)) == kGiB);
  CHECK(p.peak(start + seconds(200)) == 0);
}

TEST_CASE("idle memory: a second, or from one synchronisation to the next") {
  IdlePolicy p;
  const Time start{seconds(1000)};
  const auto idle = p.stamp(start);
  CHECK(!p.is_over(idle, start + milliseconds(999)));
  CHECK(p.is_over(idle, start + seconds(1)));
  p.synchronised();
  CHECK(!p.is_over(idle, start));
  const auto later = p.stamp(start);
  p.synchronised();
  CHECK(p.is_over(idle, start));
  CHECK(!p.is_over(later, start));
}

TEST_CASE("idle memory: a GPU's pool gives a large array back after a second") {
  Pool t;
  auto big = t.pool.allocate(80 * kGiB), small = t.pool.allocate(kMiB);
  t.pool.free(big);
  REQUIRE(t.looks.size() == 1);
  CHECK(t.looks[0] > Pool::later(milliseconds(500)));
  // Too early: it asks again.
  t.pool.look();
  CHECK(t.taken > 80 * kGiB);
  CHECK(t.looks.size() == 2);
  t.pool.look(Pool::later(milliseconds(1000)));
  CHECK(t.taken < kGiB);
  CHECK(t.looks.size() == 2);
  CHECK(t.pool.stats().used_bytes == kMiB);
  CHECK(t.pool.stats().used_bytes + t.pool.stats().pooled_bytes == t.taken);
  // What is used again meanwhile stays.
  auto again = t.pool.allocate(20 * kGiB);
  t.pool.free(again);
  again = t.pool.allocate(20 * kGiB);
  t.pool.look(Pool::later(milliseconds(1000)));
  CHECK(t.taken > 20 * kGiB);
  t.pool.free(again);
  t.pool.free(small);
  t.pool.look(Pool::later(seconds(10)));
  CHECK(t.pool.stats().pooled_bytes <= IdlePolicy::kFloor);
}

TEST_CASE("idle memory: a tenth of the peak stays in a GPU's pool") {
  Pool t;
  std::vector<cuda::DevicePointer> blocks;
  for (int k = 0; k < 40; ++k) blocks.push_back(t.pool.allocate(kGiB));
  for (auto b : blocks) t.pool.free(b);
  t.pool.look(Pool::later(milliseconds(1000)));
  CHECK(t.pool.stats().pooled_bytes == 4 * kGiB);
  t.pool.look(Pool::later(seconds(60)));
  CHECK(t.pool.stats().pooled_bytes == 0);
  // Below the floor nothing is asked for.
  const size_t asked = t.looks.size();
  t.pool.free(t.pool.allocate(200 * kMiB));
  CHECK(t.looks.size() == asked);
  CHECK(t.pool.stats().pooled_bytes >= 200 * kMiB);
}

TEST_CASE("idle memory: synchronising loops keep theirs, what they no longer use goes") {
  Pool t;
  for (int k = 0; k < 5; ++k) {
    t.pool.free(t.pool.allocate(10 * kGiB));
    t.pool.synchronised();
    CHECK(t.pool.stats().pooled_bytes == 10 * kGiB);
  }
  t.pool.synchronised();
  CHECK(t.pool.stats().pooled_bytes == 0);
  CHECK(t.taken == 0);
}

TEST_CASE("alarm: calls come at their time, on another thread, and not in a child") {
  static std::atomic<int> called{0};
  static std::atomic<std::thread::id> thread;
  const auto start = IdlePolicy::Clock::now();
  auto call = [](void* of) {
    called += *static_cast<int*>(of);
    thread = std::this_thread::get_id();
  };
  static int one = 1, ten = 10;
  call_at(start + milliseconds(250), call, &ten);
  call_at(start + milliseconds(20), call, &one);
  while (called == 0) std::this_thread::sleep_for(milliseconds(1));
  CHECK(called == 1);
  CHECK(thread.load() != std::this_thread::get_id());
  const pid_t child = fork();
  if (child == 0) {
    std::this_thread::sleep_for(milliseconds(300));
    const bool quiet = called == 1;
    call_at(start, call, &one);  // a thread of its own
    while (called != 2) std::this_thread::sleep_for(milliseconds(1));
    _exit(quiet ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  while (called != 11) std::this_thread::sleep_for(milliseconds(1));
  CHECK(IdlePolicy::Clock::now() >= start + milliseconds(250));
}

}  // namespace numbus
