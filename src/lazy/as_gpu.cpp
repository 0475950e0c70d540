// Memory and reports of the host that stand in for those of a GPU.
#include "lazy/as_gpu.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "device/device.h"
#include "lazy/waits.h"

namespace numbus {
namespace {

class HostLateWords final : public LateWords {
 public:
  explicit HostLateWords(size_t words) : words_(words) {}
  int64_t* target() override { return words_.data(); }
  void collect() override {}
  bool arrived() override { return waited_; }
  void wait() override { waited_ = true; }
  const int64_t* words() const override { return words_.data(); }

 private:
  std::vector<int64_t> words_;
  bool waited_ = false;
};

// What the value was when its run ended, which is what a GPU gives.
class HostEarlyValue final : public EarlyValue {
 public:
  HostEarlyValue(const char* data, int64_t bytes) : bytes_(data, data + bytes) {}
  bool wait() override { return true; }
  const char* bytes() const override { return bytes_.data(); }
  int64_t launch() const override { return 0; }

 private:
  std::vector<char> bytes_;
};

class HostReplay final : public Replay {
 public:
  using Replay::Replay;
  ~HostReplay() override { drop(); }
  // Libraries take memory for themselves when their calls are launched, which is after the steps
  // have taken and given back theirs: none of it may be what a step still reads.
  bool launch(Runtime&, Run& run, const Window&) override {
    std::vector<std::pair<void*, size_t>> blocks;
    auto take = [&](size_t bytes) {
      if (bytes == 0) return;
      void* block = device().allocate(bytes);
      blocks.emplace_back(block, bytes);
      std::memset(block, 0xff, bytes);
    };
    for (const KernelStep& step : run.steps) {
      if (!step.call) continue;
      for (const Layout* l : step.call->layouts)
        take(static_cast<size_t>(l->size() * l->itemsize()));
    }
    for (const auto& [block, bytes] : blocks) device().free(block, bytes);
    return false;
  }
  // One of those that a graph's branches may take: the next step is any whose waits are over.
  std::vector<int> order(const Run& run, const Window& w) override {
    StorageRanges ranges;
    if (!ranges.read(run, w)) return {};
    ranges.compare();
    const std::vector<std::vector<int>> waits =
        waits_of(run.steps, ranges, std::vector<unsigned>(run.steps.size()));
    std::vector<int> order, ready;
    std::vector<char> done(waits.size());
    while (order.size() < waits.size()) {
      ready.clear();
      for (size_t k = 0; k < waits.size(); ++k)
        if (!done[k] && std::ranges::all_of(waits[k], [&](int j) { return done[j] != 0; }))
          ready.push_back(static_cast<int>(k));
      order.push_back(ready[random_() % ready.size()]);
      done[order.back()] = 1;
    }
    return order;
  }
  void launched_each(const Run& run, const Window& w) noexcept override {
    early_.clear();
    try {
      for (const int slot : wanted_)
        if (const char* data = run.data[run.plan->final_storage[slot]])
          early_.push_back(
              {slot, std::make_shared<HostEarlyValue>(data, w.slots_[slot].base->nbytes)});
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
      // Values without memory for them are read as others are.
    }
  }
  char* take_arena(size_t bytes) override {
    if (bytes > bytes_ || !data_) {
      drop();
      bytes_ = bytes + 256;
      data_ = static_cast<char*>(device().allocate(bytes_));
    }
    return data_;
  }
  void give_arena_back() override {}
  void drop() override {
    if (data_) device().free(data_, bytes_);
    data_ = nullptr;
  }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
  std::minstd_rand random_;
};

}  // namespace

std::unique_ptr<LateWords> host_late_words(size_t words) {
  return std::make_unique<HostLateWords>(words);
}

std::unique_ptr<Replay> host_replay(Device& device) { return std::make_unique<HostReplay>(device); }

}  // namespace numbus
