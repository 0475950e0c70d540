// Which arrays go to the host's memory where their device has no room, and that they come back.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"
#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "fake_cuda_driver.h"
#include "lazy/live.h"
#include "lazy/spill.h"

using namespace numbus;

namespace {

constexpr int64_t kExtent = 1 << 15;
constexpr size_t kBytes = 8 * kExtent;

// Lines of float64 on the fenced device, 0, 1, 2, …, and room for so many of them.
struct Lines {
  Device& device = fenced_device();
  std::vector<Array> all;
  explicit Lines(int count, int room) {
    for (int k = 0; k < count; ++k) all.push_back(arange(k, 1, 0, 0, kExtent, DType::F64, &device));
    Runtime::get().flush("test");
    device.set_memory_limit(device.memory_stats().used_bytes +
                            static_cast<size_t>(room - count) * kBytes);
  }
  ~Lines() { device.set_memory_limit(0); }
  Base& operator[](int k) { return *all[static_cast<size_t>(k)].base.get(); }
  std::string away() {
    std::string s;
    for (size_t k = 0; k < all.size(); ++k)
      if (all[k].base->away) s += std::to_string(k);
    return s;
  }
  bool right(int k) {
    const auto held = host_view(all[static_cast<size_t>(k)], "test");
    const auto* x = reinterpret_cast<const double*>(held.get());
    for (int64_t n = 0; n < kExtent; ++n)
      if (x[n] != static_cast<double>(n + k)) return false;
    return true;
  }
};

Array one_more(Device& d) {
  const int64_t n = kExtent;
  Array made = empty({&n, 1}, DType::F64, &d);
  made.base->ensure_data();
  return made;
}

}  // namespace

TEST_CASE("spilling: the array that was used least recently goes, and comes back") {
  Lines lines(4, 4);
  const Stats before = Runtime::get().stats;
  lines[0].ensure_data();
  Array more = one_more(lines.device);
  CHECK(lines.away() == "1");
  CHECK(!lines[1].data);
  CHECK(lines[1].has_elements());
  CHECK(spill::waiting_bytes(lines.device) == kBytes);
  Array another = one_more(lines.device);
  CHECK(lines.away() == "12");
  CHECK(lines.right(1));  // for which 3 goes
  CHECK(lines.away() == "23");
  for (int k = 0; k < 4; ++k) CHECK(lines.right(k));
  const Stats& now = Runtime::get().stats;
  CHECK(now.spilled_bytes - before.spilled_bytes ==
        static_cast<int64_t>(kBytes) * (now.spills - before.spills));
  CHECK(now.brought_back - before.brought_back == now.spills - before.spills -
                                                      static_cast<int64_t>(lines.away().size()) -
                                                      more.base->away - another.base->away);
  // What is dropped while it is away takes its copy along.
  more = another = Array();
  lines.all.clear();
  CHECK(spill::waiting_bytes(lines.device) == 0);
}

TEST_CASE("spilling: what somebody has the address of stays") {
  Lines lines(4, 4);
  ++lines[0].shared;
  lines[1].exposed = true;
  {
    InPlace here;
    data_of(lines.all[2], "test");
    const Array more = one_more(lines.device);
    CHECK(lines.away() == "3");
    here.add(*more.base.get());
    CHECK_THROWS_AS(lines[3].ensure_data(), Error);
  }
  CHECK(lines[2].live->held == 0);
  --lines[0].shared;
  CHECK(lines.right(3));
  const Array more = one_more(lines.device);
  CHECK(lines.away().find('1') == std::string::npos);
  for (int k = 0; k < 4; ++k) CHECK(lines.right(k));
}

TEST_CASE("spilling: what a pending window reads goes last") {
  Lines lines(3, 3);
  Arg args[2] = {Arg(&lines.all[0]), Arg(&lines.all[0])};
  Array twice = apply(Op::add, args, {});
  CHECK(lines[0].pending());
  const Array more = one_more(lines.device), another = one_more(lines.device);
  CHECK(lines.away() == "12");
  {
    InPlace here;
    here.add(*more.base.get());
    here.add(*another.base.get());
    const Array last = one_more(lines.device);
    CHECK(lines.away() == "012");
  }
  const auto held = host_view(twice, "test");
  const auto* x = reinterpret_cast<const double*>(held.get());
  CHECK(x[7] == 14.0);
  for (int k = 0; k < 3; ++k) CHECK(lines.right(k));
}

TEST_CASE("spilling: nothing goes for what does not fit anyway") {
  Lines lines(3, 4);
  lines[0].exposed = true;
  const int64_t n = 4 * kExtent;
  const Array large = empty({&n, 1}, DType::F64, &lines.device);
  CHECK_THROWS_WITH_AS(large.base->ensure_data(),
                       doctest::Contains("The largest arrays on fenced, where"), Error);
  CHECK(lines.away().empty());
  const int64_t fits = 3 * kExtent;
  const Array less = empty({&fits, 1}, DType::F64, &lines.device);
  less.base->ensure_data();
  CHECK(lines.away() == "12");
}

TEST_CASE("spilling: on a GPU, through pinned memory that is used again") {
  FakeDriver fake;
  constexpr size_t kMiB = size_t{1} << 20, kLarge = 18 * kMiB;
  fake.set(64 * kMiB, 12040, 1);
  Device* device = cuda_device(0);
  REQUIRE(device != nullptr);
  std::vector<Handle> all;
  std::vector<unsigned char> given(kLarge), found(kLarge);
  const Stats before = Runtime::get().stats;
  for (int k = 0; k < 5; ++k) {
    all.emplace_back(Base::create(*device, kLarge));
    all.back()->ensure_data();
    std::memset(given.data(), k + 1, kLarge);
    device->copy_from_host(all.back()->data, given.data(), kLarge);
    // Queued, and not done when the array goes.
    device->fill_bytes(all.back()->data, static_cast<unsigned char>(k + 100), kMiB, nullptr);
  }
  CHECK(spill::waiting_bytes(*device) == 2 * kLarge);
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 5; ++k) {
      all[k]->ensure_data();
      device->copy_to_host(found.data(), all[k]->data, kLarge);
      std::memset(given.data(), k + 1, kLarge);
      std::memset(given.data(), k + 100, kMiB);
      CHECK(found == given);
    }
  }
  CHECK(Runtime::get().stats.spills - before.spills > 10);
  CHECK(fake.calls("cuMemHostAlloc") <= 6);  // two that wait, the one on its way, the staging ring
  // Neither a copy to the host nor one back may lose the elements.
  for (const char* entry : {"cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync", "cuMemHostAlloc"}) {
    spill::trim(*device);
    fake.break_entry(entry, 2);
    for (Handle& b : all) {
      try {
        b->ensure_data();
      } catch (const Error&) {
        CHECK(b->away);
      }
    }
    fake.break_entry(entry, 0);
  }
  for (int k = 0; k < 5; ++k) {
    all[k]->ensure_data();
    device->copy_to_host(found.data(), all[k]->data, kLarge);
    CHECK(found[0] == k + 100);
    CHECK(found[kLarge - 1] == k + 1);
  }
  all.clear();
  CHECK(spill::waiting_bytes(*device) == 0);
  device->trim();
  CHECK(fake.used() == 0);
}
