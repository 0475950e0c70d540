// A graph fits where the operands of library calls lie at the same addresses as when it was
// captured, as they do every one or two steps of a program that does the same again; parameters of
// our own kernels are changed in the graph where they differ. Operands that lie elsewhere each
// time, as the batches of a loop do, are copied to a place of the graph first: the source of a copy
// can be changed. Steps of a graph wait for those that waits.h names, and not for each other.
#include "lazy/replay_gpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "device/cuda/graph.h"
#include "lazy/early_gpu.h"
#include "lazy/entries.h"
#include "lazy/runtime.h"
#include "lazy/waits.h"

namespace numbus {
namespace {

constexpr size_t kVariants = 4;   // graphs of a run, by the addresses of its calls
constexpr size_t kAddresses = 8;  // that are remembered
constexpr int kBefore = 2;        // launches at these addresses before they are worth a graph
constexpr int kCaptures = 16;     // of a run, at most
constexpr int kSeveral = 4;       // captures after which operands of little are copied sooner
constexpr size_t kMostMoved = size_t{256} << 20;  // bytes of an operand that is copied each time
constexpr size_t kLittleMoved = size_t{16} << 20;
// Libraries choose other code for operands that are aligned less.
constexpr int64_t kAlignment = 16;
// Calls of so many bytes have the GPU to themselves in any case, and share their scratch memory.
constexpr int64_t kLargeCall = 32 << 20;
constexpr size_t kMostScratch = size_t{256} << 20;  // of all calls of a graph, if each has its own
constexpr int kMoves = 4;  // of memory that made steps wait for others than before: then each waits

// Memory beside the storages that steps write to.
constexpr unsigned kReductions = 1, kProducts = 2, kLargeCalls = 4;

// NUMBUS_REPLAY=line has each step of a graph wait for the one before.
bool may_branch() {
  static const bool may = [] {
    const char* said = std::getenv("NUMBUS_REPLAY");
    return !said || std::strcmp(said, "line") != 0;
  }();
  return may;
}

bool is_large(const CallStep& call) {
  int64_t bytes = 0;
  for (const Layout* l : call.layouts) bytes += l->size() * l->itemsize();
  return bytes >= kLargeCall;
}

// own: calls that are not large have scratch memory of their own.
unsigned shared_by(const KernelStep& step, bool own) {
  if (!step.call) return !step.reduces.empty() && !step.keeps ? kReductions : 0;
  // cuBLAS has one workspace for all calls.
  const Routine routine = step.call->routine;
  if (routine == Routine::matmul || routine == Routine::affine) return kProducts;
  const bool shares = routine != Routine::convolve || is_large(*step.call) || !own;
  return shares ? kLargeCalls : 0;
}

// A graph keeps the scratch memory of its calls: that of a large sort, as much as its operand, is
// worth more than the launches that the graph saves.
bool keeps_much(const KernelStep& step) {
  return step.call && is_large(*step.call) &&
         (step.call->routine == Routine::sort || step.call->routine == Routine::argsort);
}

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

  bool launch(Runtime& rt, Run& run, const Window& w) override {
    early_.clear();
    const std::span<KernelStep> steps = run.steps;
    if (std::ranges::any_of(steps, keeps_much)) return false;
    calls_.clear();
    for (const KernelStep& step : steps)
      if (step.call) calls_.insert(calls_.end(), step.params.begin(), step.params.end());
    const auto known = std::ranges::find_if(variants_, [&](const auto& v) { return fits(*v); });
    bool again = false;
    if (known != variants_.end()) {
      again = (*known)->wanted != wanted_ && captures_ < kCaptures;
      if (!again && keeps_order(**known, run, w) && update(rt, **known, steps) && move(**known) &&
          update_early(**known, run, w)) {
        std::rotate(variants_.begin(), known, known + 1);
        variants_.front()->graph.launch(device_.stream());
        give_early(*variants_.front());
        ++rt.stats.replays;
        return true;
      }
      release(**known);
      variants_.erase(known);
      if (!again) return false;
    }
    note_moves(steps);
    if (!again && !is_worth_it()) return false;
    const bool apart = branches_ && now_.read(run, w);
    if (apart) now_.compare();
    ++captures_;
    if (capture(rt, run, w, apart)) return true;
    if (apart) {  // the driver may be too old for it
      branches_ = false;
      if (capture(rt, run, w, false)) return true;
    }
    captures_ = kCaptures;
    return false;
  }

 private:
  struct Node {
    cuda::NodeHandle handle = nullptr;
    const cuda::Function* function = nullptr;
    std::vector<int64_t> given;  // what the launch was made of
  };
  // An operand that is copied to `buffer` first: word of the calls' addresses, node of the copy.
  struct Moved {
    size_t word = 0;
    char* buffer = nullptr;
    cuda::NodeHandle node = nullptr;
    cuda::CopyParameters copy;
  };
  // A value that the host has early: after which step the kernel that writes it comes.
  struct EarlyNode {
    int slot = 0;
    size_t step = 0;
    cuda::NodeHandle node = nullptr;
    std::shared_ptr<GpuEarlyValue> value;
  };
  struct Variant {
    explicit Variant(cuda::ContextHandle c) : graph(c) {}
    std::vector<int64_t> calls;
    cuda::Graph graph;
    std::vector<Node> nodes;  // one a step; without a handle: a call
    std::vector<cuda::CudaDevice::Kept> kept;
    std::vector<Moved> moved;
    std::vector<int> wanted;  // slots whose values come early, as far as there are such
    std::vector<EarlyNode> early;
    std::optional<StorageRanges> ranges;  // nothing: each step waits for the one before
  };

  // Whether steps still have to wait for those alone that the graph has them wait for.
  bool keeps_order(Variant& v, const Run& run, const Window& w) {
    if (!v.ranges) return true;
    if (now_.read(run, w) && v.ranges->follows(now_)) return true;
    branches_ = ++moves_ < kMoves;
    return false;
  }

  bool fits(const Variant& v) const {
    if (v.calls.size() != calls_.size()) return false;
    auto moved = v.moved.begin();
    for (size_t w = 0; w < calls_.size(); ++w) {
      if (moved != v.moved.end() && moved->word == w) {
        if (calls_[w] % kAlignment != 0) return false;
        ++moved;
      } else if (calls_[w] != v.calls[w]) {
        return false;
      }
    }
    return true;
  }

  // The bytes of an operand of a call; 0: it cannot be copied as a whole.
  static size_t bytes_of(const CallStep& call, size_t operand) {
    if (operand >= static_cast<size_t>(call.operands())) return 0;
    const Layout& l = call.in(static_cast<int>(operand));
    int64_t last = 0;
    for (int d = 0; d < l.ndim(); ++d) {
      if (l.stride(d) < 0 || l.shape(d) == 0) return 0;
      last += (l.shape(d) - 1) * l.stride(d);
    }
    const auto bytes = static_cast<size_t>(last + l.itemsize());
    return bytes <= kMostMoved && last + l.itemsize() == l.size() * l.itemsize() ? bytes : 0;
  }

  // Which operands have been at more addresses than there are graphs for; once several graphs have
  // been made, those of few bytes at more than one: with those of others they make too many.
  void note_moves(std::span<KernelStep> steps) {
    if (places_.size() != calls_.size()) places_.assign(calls_.size(), {});
    size_t w = 0;
    for (const KernelStep& step : steps) {
      for (size_t operand = 0; step.call && operand < step.params.size(); ++operand, ++w) {
        Places& p = places_[w];
        if (p.moves) continue;
        if (std::ranges::find(p.seen, calls_[w]) == p.seen.end()) p.seen.push_back(calls_[w]);
        const bool many = p.seen.size() > kVariants;
        if (!many && (p.seen.size() == 1 || captures_ < kSeveral)) continue;
        const size_t bytes = bytes_of(*step.call, operand);
        if (!many && bytes > kLittleMoved) continue;
        p.moves =
            bytes > 0 && std::ranges::all_of(p.seen, [](int64_t a) { return a % kAlignment == 0; });
        p.bytes = bytes;
        p.seen.clear();
      }
    }
  }

  // Another source for the copies whose operands lie elsewhere now.
  bool move(Variant& v) {
    for (Moved& m : v.moved) {
      const auto source = static_cast<cuda::DevicePointer>(calls_[m.word]);
      if (m.copy.from.device == source) continue;
      m.copy.from.device = source;
      if (!v.graph.set_copy(m.node, m.copy)) return false;
    }
    return true;
  }

  // The last step that writes to what the slot holds in the end.
  static std::optional<size_t> writer_of(const Run& run, int slot) {
    const int storage = run.plan->final_storage[slot];
    for (size_t k = run.steps.size(); k-- > 0;) {
      const KernelStep& step = run.steps[k];
      if (std::ranges::any_of(step.patches,
                              [&](const Patch& p) { return p.storage == storage && p.written; }) ||
          std::ranges::any_of(step.reduces,
                              [&](const ReduceStep& r) { return r.storage == storage; }))
        return k;
    }
    return {};
  }

  void find_early(Runtime& rt, Variant& v, const Run& run) {
    v.wanted = wanted_;
    try {
      for (const int slot : wanted_) {
        const std::optional<size_t> step = writer_of(run, slot);
        if (!step) continue;
        if (auto value = gpu_early_value(rt, device_))
          v.early.push_back({slot, *step, nullptr, std::move(value)});
      }
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
      // Without memory that both reach the value is read as others are.
    }
  }

  static GpuLaunch& next_early(const EarlyNode& e, const Run& run, const Window& w) {
    return e.value->next(run.data[run.plan->final_storage[e.slot]], w.slots_[e.slot].base->nbytes);
  }

  static bool update_early(Variant& v, const Run& run, const Window& w) {
    return std::ranges::all_of(v.early, [&](const EarlyNode& e) {
      GpuLaunch& l = next_early(e, run, w);
      return v.graph.set(e.node, *l.function, l.grid, l.block, l.parameters());
    });
  }

  void give_early(const Variant& v) {
    for (const EarlyNode& e : v.early) early_.push_back({e.slot, e.value});
  }

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
    std::vector<int64_t> at_rest = calls_;
    for (size_t w = 0; w < at_rest.size(); ++w)
      if (places_[w].moves) {
        if (at_rest[w] % kAlignment != 0) return false;
        at_rest[w] = 0;
      }
    const uint64_t hash =
        hash_words(reinterpret_cast<const uint64_t*>(at_rest.data()), at_rest.size());
    for (auto& [seen, times] : addresses_)
      if (seen == hash) return ++times > kBefore;
    if (addresses_.size() < kAddresses)
      addresses_.emplace_back(hash, 1);
    else
      addresses_[next_++ % kAddresses] = {hash, 1};
    return false;
  }

  // What the next step waits for in the graph, given the last nodes of each step before it.
  using Ends = std::vector<std::vector<cuda::NodeHandle>>;
  bool wait_for(Variant& v, const std::vector<int>& before, const Ends& ends,
                std::vector<cuda::NodeHandle>& nodes) {
    nodes.clear();
    for (int j : before) nodes.insert(nodes.end(), ends[j].begin(), ends[j].end());
    std::ranges::sort(nodes);
    nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
    return v.graph.wait_for(device_.stream(), nodes);
  }

  // The steps that no other waits for.
  static std::vector<int> last_of(const std::vector<std::vector<int>>& waits) {
    std::vector<char> waited(waits.size());
    for (const auto& before : waits)
      for (int j : before) waited[j] = 1;
    std::vector<int> last;
    for (size_t k = 0; k < waits.size(); ++k)
      if (!waited[k]) last.push_back(static_cast<int>(k));
    return last;
  }

  // Captures the steps in a graph and launches it. If `apart`, each step waits only for those
  // before it that use the same memory, which `now_` tells; otherwise it waits for the one before.
  bool capture(Runtime& rt, Run& run, const Window& w, bool apart) {
    const std::span<KernelStep> steps = run.steps;
    // All code is loaded, and all scratch memory there, before it begins.
    std::vector<GpuLaunch> launches(steps.size());
    for (size_t k = 0; k < steps.size(); ++k)
      if (!steps[k].call) made_by_.prepare(rt, device_, steps[k], launches[k]);
    auto v = std::make_unique<Variant>(device_.context());
    v->calls = calls_;
    v->nodes.resize(steps.size());
    find_early(rt, *v, run);
    std::vector<std::vector<int>> waits;
    Ends ends(steps.size() + v->early.size());
    std::vector<cuda::NodeHandle> nodes;
    if (apart) {
      std::vector<unsigned> shared;
      for (const KernelStep& step : steps) shared.push_back(shared_by(step, own_scratch_));
      waits = waits_of(steps, now_, shared);
      v->ranges = now_;
      // Of several nodes that wait for nothing the first step's may be the last to begin.
      for (size_t k = 1; k < waits.size(); ++k)
        if (waits[k].empty()) waits[k].push_back(0);
    }
    for (size_t w = 0; w < calls_.size(); ++w) {
      if (!places_[w].moves) continue;
      Moved& m = v->moved.emplace_back();
      m.word = w;
      m.buffer = static_cast<char*>(device_.allocate(places_[w].bytes));
      v->kept.push_back({m.buffer, places_[w].bytes, false});
    }
    variants_.reserve(variants_.size() + 1);
    const cuda::Stream& stream = device_.stream();
    v->graph.begin(stream);
    device_.begin_capture();
    bool all = true;
    size_t word = 0;
    try {
      for (size_t k = 0; k < steps.size() && all; ++k) {
        all = !apart || wait_for(*v, waits[k], ends, nodes);
        if (!all) break;
        if (steps[k].call) {
          const bool own = apart && own_scratch_ && !is_large(*steps[k].call);
          if (own) device_.keep_apart();
          all = capture_call(rt, *v, steps[k], word);
          if (own) device_.keep_apart();
          word += steps[k].params.size();
        } else if (launches[k].function) {
          launches[k].start(stream);
          Node& node = v->nodes[k];
          node.handle = v->graph.last_node(stream);
          node.function = launches[k].function;
          read(steps[k], node.given);
          all = node.handle != nullptr;
        }
        all = all && v->graph.last_nodes(stream, ends[k]);
        for (size_t n = 0; n < v->early.size() && all; ++n) {
          EarlyNode& e = v->early[n];
          if (e.step != k) continue;
          if (apart) all = wait_for(*v, {static_cast<int>(k)}, ends, nodes);
          next_early(e, run, w).start(stream);
          e.node = v->graph.last_node(stream);
          all = all && e.node && v->graph.last_nodes(stream, ends[steps.size() + n]);
        }
      }
      if (all && apart) {
        std::vector<int> last = last_of(waits);
        for (size_t n = 0; n < v->early.size(); ++n)
          last.push_back(static_cast<int>(steps.size() + n));
        all = wait_for(*v, last, ends, nodes);
      }
    } catch (const std::exception&) {
      all = false;
    }
    const bool ended = v->graph.end(stream);
    for (const auto& k : device_.end_capture()) v->kept.push_back(k);
    if (!all || !ended) {
      release(*v);
      return false;
    }
    size_t scratch = 0;
    for (const auto& k : v->kept) scratch += k.bytes;
    if (apart && own_scratch_ && scratch > kMostScratch) {
      release(*v);
      own_scratch_ = false;
      return capture(rt, run, w, apart);
    }
    v->graph.launch(stream);
    give_early(*v);
    ++rt.stats.captures;
    if (variants_.size() >= kVariants) {
      release(*variants_.back());
      variants_.pop_back();
    }
    variants_.insert(variants_.begin(), std::move(v));
    return true;
  }

  // A call whose operands' addresses are the words of `calls_` from `word` on.
  bool capture_call(Runtime& rt, Variant& v, KernelStep& step, size_t word) {
    struct Restored {
      KernelStep& step;
      std::vector<int64_t> params;
      ~Restored() { std::ranges::copy(params, step.params.begin()); }
    } const before{step, {step.params.begin(), step.params.end()}};
    for (Moved& m : v.moved) {
      if (m.word < word || m.word >= word + step.params.size()) continue;
      int64_t& address = step.params[m.word - word];
      device_.copy_in_order(m.buffer, reinterpret_cast<const void*>(address),
                            places_[m.word].bytes);
      m.node = v.graph.last_node(device_.stream());
      if (!m.node || !v.graph.copy_of(m.node, &m.copy)) return false;
      address = reinterpret_cast<int64_t>(m.buffer);
    }
    run_call(rt, device_, step);
    return true;
  }

  // Of each address of an operand of a call: where it was, until that is known to change.
  struct Places {
    std::vector<int64_t> seen;
    bool moves = false;
    size_t bytes = 0;
  };

  cuda::CudaDevice& device_;
  GpuLaunches& made_by_;
  std::vector<Places> places_;
  std::vector<std::unique_ptr<Variant>> variants_;  // the latest used first
  std::vector<std::pair<uint64_t, int>> addresses_;
  size_t next_ = 0;
  int captures_ = 0;
  std::vector<int64_t> calls_, given_;
  StorageRanges now_;
  bool branches_ = may_branch();
  bool own_scratch_ = true;
  int moves_ = 0;
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
