// Flushing: find or make the window's plan, give it storage, run it.
#include "lazy/runtime.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "device/counts.h"
#include "lazy/executor.h"
#include "lazy/explain.h"
#include "lazy/planner.h"

namespace numbus {
namespace {

std::unordered_map<std::string, std::shared_ptr<KernelCode>>& kernels() {
  static auto* k = new std::unordered_map<std::string, std::shared_ptr<KernelCode>>;
  return *k;
}

// The memory of the window's bases, for queues beside the device's own. What dies may be written
// to: a result may take its storage.
std::vector<Use> uses_of(const Window& w) {
  std::vector<Use> uses;
  for (const Slot& s : w.slots_) {
    auto begin = reinterpret_cast<std::uintptr_t>(s.base->data);
    if (begin != 0)
      uses.push_back(
          {begin, begin + static_cast<size_t>(s.base->nbytes), s.written || s.base->handles == 0});
  }
  return uses;
}

}  // namespace

Runtime& Runtime::get() {
  static Runtime* r = new Runtime;
  return *r;
}

std::shared_ptr<KernelCode> kernel_code(ir::Kernel k) {
  std::string key = k.key();
  auto it = kernels().find(key);
  if (it != kernels().end()) return it->second;
  auto made = std::make_shared<KernelCode>();
  made->ir = std::move(k);
  made->program = std::make_unique<interp::Program>(made->ir);
  kernels().emplace(std::move(key), made);
  return made;
}

void Runtime::recorded() {
  ++stats.instructions;
  if (mode == Mode::Eager) return flush("eager mode");
  int n = static_cast<int>(signatures_.size());
  if (n >= kMaxWindow - 2) return flush("many operations are pending");
  if (folding_) {
    cut_due_ = (n - first_) % period_ == 0 && n + period_ > kMaxWindow - 2;  // no room for a turn
    if (n == first_ + 2 * period_ + 1) cut_due_ = window_.keeps_turns(first_, period_);
    return;
  }
  find_period();
  // Two turns of a loop. Either they fold into a loop inside the kernel, the more the better, or
  // the window is cut after as many as make a decent kernel.
  if (period_ && matching_ >= period_ && matching_ % period_ == 0 && matching_ + period_ >= 16) {
    first_ = n - matching_ - period_;
    folding_ = window_.may_fold(first_, period_);
    cut_due_ = !folding_;
  }
}

// period_: the distance at which the last `matching_` signatures repeat.
void Runtime::find_period() {
  constexpr int kSure = 3;  // equal neighbours that tell one place in a loop's body from another
  const uint64_t* s = signatures_.data();
  int n = static_cast<int>(signatures_.size());
  if (period_ && s[n - 1] == s[n - 1 - period_]) {
    ++matching_;
    return;
  }
  period_ = matching_ = 0;
  if (n <= kSure) return;
  for (int at = n - 2; at >= kSure - 1; --at) {
    if (s[at] != s[n - 1] || s[at - 1] != s[n - 2] || s[at - 2] != s[n - 3]) continue;
    period_ = n - 1 - at;
    matching_ = kSure;
    return;
  }
}

WithoutPython::WithoutPython(bool wanted) {
  if (wanted && Runtime::get().leave_python) state_ = Runtime::get().leave_python();
}
WithoutPython::~WithoutPython() {
  if (state_) Runtime::get().enter_python(state_);
}

void Runtime::wait_for_flush() {
  while (flushing_ && flusher_ != std::this_thread::get_id()) {
    WithoutPython others(true);
    flushing_.wait(true);
  }
}

void Runtime::flush(const char* reason) {
  wait_for_others();
  cut_due_ = false;
  if (folding_) {
    int count = (static_cast<int>(signatures_.size()) - first_) / period_;
    if (count >= 3 && window_.same_scalars(first_, period_, count))
      window_.repeats_ = {first_, period_, count};
  }
  folding_ = false;
  period_ = matching_ = 0;
  signatures_.clear();
  if (window_.empty() || flushing_) {
    if (!flushing_) window_.clear();
    return;
  }
  ++stats.flushes;
  window_.complete_key();
  struct Done {  // references go whatever happens
    Runtime* r;
    ~Done() {
      if (r->last_) r->last_->busy = false;
      r->flushing_ = false;
      r->flushing_.notify_all();
      r->window_.clear();
    }
  } done{this};
  flusher_ = std::this_thread::get_id();
  flushing_ = true;
  bool known = false;
  last_.reset();
  last_ = plans_.find(window_, known);
  last_->busy = true;
  ++(known ? stats.plan_hits : stats.plan_misses);
  if (explanation) explanation->flush(reason, window_, !known);
  run(*last_);
}

void Runtime::run(Run& run) {
  stats.contracted_bytes += run.contracted_bytes;
  char* few[32];
  std::vector<char*> many;
  char** data = few;
  size_t n = run.storages.size();
  if (n > 32) {
    many.resize(n);
    data = many.data();
  }
  Device& device = *window_.slots_[0].base->device;
  auto bytes = [&](const Storage& st) {
    return static_cast<size_t>(st.slot >= 0 ? window_.slots_[st.slot].base->nbytes : st.nbytes);
  };
  for (size_t s = 0; s < n; ++s) {
    const Storage& st = run.storages[s];
    bool is_slot_initial = st.slot == static_cast<int>(s) && s < window_.slots_.size();
    data[s] = is_slot_initial ? window_.slots_[st.slot].base->data : nullptr;
  }
  if (device.has_queues()) device.queues_before(nullptr, uses_of(window_));
  // A step that fails poisons what it would have written and all that depends on it; the others
  // still run. So do those that meet what a wrong value has spoiled: they may have other work too.
  enum : char { kLost = 1, kSpoiled = 2 };
  std::vector<char> lost(n, 0);
  std::shared_ptr<const Error> failure;
  bool refused = false;  // the next step is a scatter that must not be done
  auto lose_outputs = [&](const KernelStep& step) {
    for (const Patch& p : step.patches)
      if (p.storage >= 0 && p.written) lost[p.storage] |= kLost;
    for (const ReduceStep& r : step.reduces) lost[r.storage] |= kLost;
    if (!step.guards) return;
    refused = true;
    for (const Check& c : step.checks)
      for (int s : c.spoils) lost[s] |= kSpoiled;
  };
  std::vector<int> taken;  // storages that now are others'
  for (KernelStep& step : run.steps) {
    bool poisoned = false;
    taken.clear();
    for (const Patch& p : step.patches)
      poisoned = poisoned || (p.storage >= 0 && lost[p.storage] & kLost);
    if (refused) {
      refused = false;
    } else if (poisoned) {
      lose_outputs(step);
    } else {
      for (auto [fresh, dying] : step.takes) {
        const Storage& from = run.storages[dying];
        bool ours = from.slot < 0 || window_.slots_[from.slot].base->owned;
        if (data[fresh] || !data[dying] || !ours || bytes(from) != bytes(run.storages[fresh]))
          continue;
        data[fresh] = data[dying];
        taken.push_back(dying);
      }
      Stats before = explanation ? stats : Stats();
      auto failed = [&](const Error& e) {
        if (!failure) failure = std::make_shared<Error>(e);
        lose_outputs(step);
        if (explanation) explanation->step(*this, window_, step, before, true);
      };
      try {
        auto need = [&](int s) {
          if (!data[s]) data[s] = static_cast<char*>(device.allocate(bytes(run.storages[s])));
        };
        for (const Patch& p : step.patches)
          if (p.storage >= 0) need(p.storage);
        for (const ReduceStep& r : step.reduces) need(r.storage);
        run_step(step, data);
        bool wrong = false;
        for (size_t c = 0; c < step.checks.size(); ++c) {
          if (!step.report[2 * c]) continue;
          wrong = true;
          refused = step.guards;
          if (!failure)
            failure = std::make_shared<Error>(error_of(step.checks[c], step.report[2 * c + 1]));
          for (int s : step.checks[c].spoils) lost[s] |= kSpoiled;
        }
        if (explanation) explanation->step(*this, window_, step, before, wrong);
      } catch (const Error& e) {
        failed(e);
      } catch (const std::bad_alloc&) {
        failed(Error(ErrorKind::Memory, message("allocate", "the system has no memory left",
                                                "a request beyond it", "smaller arrays")));
      }
    }
    for (int s : step.free_after) {
      const Storage& st = run.storages[s];
      if (!data[s]) continue;
      if (s < static_cast<int>(window_.slots_.size())) {
        Base* b = window_.slots_[st.slot].base;
        if (!b->owned) continue;
        if (b->data) b->data = nullptr;
      }
      if (std::find(taken.begin(), taken.end(), s) == taken.end()) device.free(data[s], bytes(st));
      data[s] = nullptr;
    }
  }
  for (size_t slot = 0; slot < window_.slots_.size(); ++slot) {
    Base* b = window_.slots_[slot].base;
    int last = run.plan->final_storage[slot];
    char* now = data[last];
    if (lost[last]) b->failure = failure;
    if (b->data == now || now == nullptr) continue;  // in place, contracted or already freed
    if (b->data && b->owned) device.free(b->data, static_cast<size_t>(b->nbytes));
    b->data = now;
  }
  if (device.has_queues()) device.queues_after(nullptr, uses_of(window_));
  if (failure) throw Error(*failure);
}

void Runtime::run_step(KernelStep& step, char** data) {
  auto address = [&](int storage, int64_t offset) { return data[storage] + offset; };
  for (const Patch& p : step.patches) {
    if (p.storage >= 0)
      step.params[p.word] = reinterpret_cast<int64_t>(address(p.storage, p.offset));
    else
      store_scalar(window_.scalars_[p.scalar], p.dtype, &step.params[p.word]);
  }
  if (!step.tail) {
    ++stats.launches;
    stats.bytes_moved += step.bytes;
    stats.flops += step.flops;
  }
  Device& device = *window_.slots_[0].base->device;
  KernelTimer timer(device);
  if (step.call) return executor_of(device).call(device, step);
  std::vector<char*> results;
  for (const ReduceStep& r : step.reduces) results.push_back(address(r.storage, r.offset));
  executor_of(device).run(*this, device, step, results.data());
}

void Runtime::note_copy(int64_t bytes, bool to_host) {
  (to_host ? stats.bytes_to_host : stats.bytes_to_device) += bytes;
  if (explanation) explanation->copied(bytes, to_host);
}

Error negative_power(int64_t exponent, const std::string& where) {
  return Error(
      ErrorKind::Value,
      message("power", "integers to negative integer powers are not allowed" + where,
              "exponent " + std::to_string(exponent), "a float base, or an exponent >= 0"));
}

Error wrong_index(int64_t index, int axis, int64_t extent, const std::string& where) {
  std::string size = std::to_string(extent);
  return Error(
      ErrorKind::Index,
      message("index",
              "out of bounds for axis " + std::to_string(axis) + " with size " + size + where,
              "index " + std::to_string(index), "-" + size + " to " + std::to_string(extent - 1)));
}

Error Runtime::error_of(const Check& c, int64_t value) const {
  SourceLine at = describe_line ? describe_line(c.line) : SourceLine();
  std::string where;
  if (!at.file.empty())
    where = " (recorded at " + at.file + ", line " + std::to_string(at.line) + ")";
  if (c.kind == Check::NegativePower) return negative_power(value, where);
  return wrong_index(value, c.axis, c.extent, where);
}

}  // namespace numbus
