// A graph fits where the operands of library calls lie at the same addresses as when it was
// captured, as they do every one or two steps of a program that does the same again; parameters of
// our own kernels are changed in the graph where they differ.
#include "lazy/replay_gpu.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "device/cuda/graph.h"
#include "lazy/entries.h"
#include "lazy/runtime.h"

namespace numbus {
namespace {

constexpr size_t kVariants = 4;   // graphs of a run, by the addresses of its calls
constexpr size_t kAddresses = 8;  // that are remembered
constexpr int kBefore = 2;        // launches at these addresses before they are worth a graph
constexpr int kCaptures = 16;     // of a run, at most

class GpuReplay;
// Under Python's lock.
std::unordered_set<GpuReplay*>& all_replays() {
  static auto* all = new std::unordered_set<GpuReplay*>;
  return *all;
}

// Runs come one after the other in the device's stream: what dies in each of them shares memory
// with what dies in the others.
struct Arena {
  char* data = nullptr;
  size_t bytes = 0;
  bool taken = false;
};

Arena& arena_of(cuda::CudaDevice& d) {
  static auto* all = new std::unordered_map<cuda::CudaDevice*, Arena>;
  return (*all)[&d];
}

class GpuReplay final : public Replay {
 public:
  char* take_arena(size_t bytes) override {
    Arena& a = arena_of(device_);
    if (a.taken) return nullptr;
    const MemoryStats stats = device_.memory_stats();
    if (a.bytes < bytes && stats.used_bytes + 2 * bytes > stats.limit / 4 * 3) return nullptr;
    if (a.bytes < bytes || !a.data) {
      // An arena that grows gets more than is asked for, so that the next run does not move it.
      const size_t wanted = std::max<size_t>(bytes + (a.data ? bytes / 2 : 0), 256);
      char* fresh = static_cast<char*>(device_.allocate(wanted));
      if (a.data) device_.free(a.data, a.bytes);
      a.data = fresh;
      a.bytes = wanted;
    }
    a.taken = true;
    return a.data;
  }
  void give_arena_back() override { arena_of(device_).taken = false; }

  GpuReplay(cuda::CudaDevice& d, GpuLaunches& launches)
      : Replay(d), device_(d), made_by_(launches) {
    all_replays().insert(this);
  }
  ~GpuReplay() override {
    all_replays().erase(this);
    drop();
  }

  bool holds_memory() const {
    return std::ranges::any_of(variants_, [](const auto& v) { return !v->kept.empty(); });
  }

  void drop() override {
    for (const auto& v : variants_) release(*v);
    variants_.clear();
  }

  bool launch(Runtime& rt, std::span<KernelStep> steps) override {
    calls_.clear();
    for (const KernelStep& step : steps)
      if (step.call) calls_.insert(calls_.end(), step.params.begin(), step.params.end());
    const auto known =
        std::ranges::find_if(variants_, [&](const auto& v) { return v->calls == calls_; });
    if (known != variants_.end()) {
      if (update(rt, **known, steps)) {
        std::rotate(variants_.begin(), known, known + 1);
        variants_.front()->graph.launch(device_.stream());
        ++rt.stats.replays;
        return true;
      }
      release(**known);
      variants_.erase(known);
      return false;
    }
    return is_worth_it() && capture(rt, steps);
  }

 private:
  struct Node {
    cuda::NodeHandle handle = nullptr;
    const cuda::Function* function = nullptr;
    std::vector<int64_t> given;  // what the launch was made of
  };
  struct Variant {
    explicit Variant(cuda::ContextHandle c) : graph(c) {}
    std::vector<int64_t> calls;
    cuda::Graph graph;
    std::vector<Node> nodes;  // one a step; without a handle: a call
    std::vector<cuda::CudaDevice::Kept> kept;
  };

  void release(Variant& v) {
    for (const auto& k : v.kept) device_.free(k.block, k.bytes);
    v.kept.clear();
  }

  // Parameters, results and other memory, which tell a step's launch from its others.
  void read(const KernelStep& step, std::vector<int64_t>& given) {
    given.assign(step.params.begin(), step.params.end());
    for (const char* r : step.results) given.push_back(reinterpret_cast<int64_t>(r));
    given.push_back(reinterpret_cast<int64_t>(step.late));
    given.push_back(reinterpret_cast<int64_t>(made_by_.scratch(device_)));
  }

  // Whether the graph is that of the steps now.
  bool update(Runtime& rt, Variant& v, std::span<KernelStep> steps) {
    for (size_t k = 0; k < steps.size(); ++k) {
      Node& node = v.nodes[k];
      if (!node.handle) continue;
      read(steps[k], given_);
      if (given_ == node.given) continue;
      made_by_.prepare(rt, device_, steps[k], launch_);
      if (launch_.function != node.function ||
          !v.graph.set(node.handle, *launch_.function, launch_.grid, launch_.block,
                       launch_.parameters()))
        return false;
      node.given = given_;
    }
    return true;
  }

  bool is_worth_it() {
    if (captures_ >= kCaptures) return false;
    const uint64_t hash =
        hash_words(reinterpret_cast<const uint64_t*>(calls_.data()), calls_.size());
    for (auto& [seen, times] : addresses_)
      if (seen == hash) return ++times > kBefore;
    if (addresses_.size() < kAddresses)
      addresses_.emplace_back(hash, 1);
    else
      addresses_[next_++ % kAddresses] = {hash, 1};
    return false;
  }

  bool capture(Runtime& rt, std::span<KernelStep> steps) {
    ++captures_;
    // All code is loaded, and all scratch memory there, before it begins.
    std::vector<GpuLaunch> launches(steps.size());
    for (size_t k = 0; k < steps.size(); ++k)
      if (!steps[k].call) made_by_.prepare(rt, device_, steps[k], launches[k]);
    auto v = std::make_unique<Variant>(device_.context());
    v->calls = calls_;
    v->nodes.resize(steps.size());
    variants_.reserve(variants_.size() + 1);
    const cuda::Stream& stream = device_.stream();
    v->graph.begin(stream);
    device_.begin_capture();
    bool all = true;
    try {
      for (size_t k = 0; k < steps.size() && all; ++k) {
        if (steps[k].call) {
          run_call(rt, device_, steps[k]);
          continue;
        }
        if (!launches[k].function) continue;
        launches[k].start(stream);
        Node& node = v->nodes[k];
        node.handle = v->graph.last_node(stream);
        node.function = launches[k].function;
        read(steps[k], node.given);
        all = node.handle != nullptr;
      }
    } catch (const std::exception&) {
      all = false;
    }
    const bool ended = v->graph.end(stream);
    v->kept = device_.end_capture();
    if (!all || !ended) {
      release(*v);
      captures_ = kCaptures;
      return false;
    }
    v->graph.launch(stream);
    ++rt.stats.captures;
    if (variants_.size() >= kVariants) {
      release(*variants_.back());
      variants_.pop_back();
    }
    variants_.insert(variants_.begin(), std::move(v));
    return true;
  }

  cuda::CudaDevice& device_;
  GpuLaunches& made_by_;
  std::vector<std::unique_ptr<Variant>> variants_;  // the latest used first
  std::vector<std::pair<uint64_t, int>> addresses_;
  size_t next_ = 0;
  int captures_ = 0;
  std::vector<int64_t> calls_, given_;
  GpuLaunch launch_;
};

}  // namespace

std::unique_ptr<Replay> make_gpu_replay(cuda::CudaDevice& device, GpuLaunches& launches) {
  if (!cuda::Graph::available()) return nullptr;
  return std::make_unique<GpuReplay>(device, launches);
}

bool drop_gpu_replays(cuda::CudaDevice& device) {
  bool any = false;
  if (Arena& a = arena_of(device); a.data && !a.taken) {
    device.free(a.data, a.bytes);
    a = {};
    any = true;
  }
  for (GpuReplay* r : all_replays())
    if (&r->device() == &device && r->holds_memory()) {
      r->drop();
      any = true;
    }
  return any;
}

}  // namespace numbus
