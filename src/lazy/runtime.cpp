// Flushing: find or make the window's plan, give it storage, run it.
#include "lazy/runtime.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/float_flags.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/printing.h"
#include "base/recent.h"
#include "compile/compiler.h"
#include "device/counts.h"
#include "lazy/executor.h"
#include "lazy/explain.h"
#include "lazy/float_errors.h"
#include "lazy/launch_queue.h"
#include "lazy/live.h"
#include "lazy/look_again.h"
#include "lazy/planner.h"
#include "lazy/run_memory.h"
#include "lazy/spill.h"
#include "passes/pipeline.h"

namespace numbus {
namespace {

// As much memory costs nothing where it is not that of an operand which dies.
constexpr size_t kFewBytes = 4096;

// Those that plans need live on in them.
constexpr size_t kKernels = 4096;
Recent<std::shared_ptr<KernelCode>>& kernels() {
  static auto* k = new Recent<std::shared_ptr<KernelCode>>(kKernels);
  return *k;
}

// Bases that a call needs beyond the life of its window.
struct Bases {
  std::vector<Base*> all;
  void add(Base* b) {
    all.push_back(b);
    b->ref();
  }
  Bases() = default;
  Bases(const Bases&) = delete;
  ~Bases() {
    for (Base* b : all) b->unref();
  }
};

// The memory of the window's bases, for queues beside the device's own. What dies may be written
// to: a result may take its storage.
std::vector<Use> uses_of(const Window& w) {
  std::vector<Use> uses;
  for (const Slot& s : w.slots_) {
    auto begin = reinterpret_cast<std::uintptr_t>(s.base->data);
    if (begin != 0)
      uses.push_back({begin, begin + static_cast<size_t>(s.base->nbytes),
                      s.written() || s.base->handles == 0});
  }
  return uses;
}

}  // namespace

namespace {

std::shared_ptr<const Error> no_memory() noexcept {
  // Runtime::get() calls this first. NOLINTNEXTLINE(bugprone-unhandled-exception-at-new)
  static const auto* error = new std::shared_ptr<const Error>(std::make_shared<Error>(
      ErrorKind::Memory, message("allocate", "the system has no memory left", "a request beyond it",
                                 "smaller arrays")));
  return *error;
}

std::shared_ptr<const Error> not_computed() noexcept {
  try {
    return std::make_shared<Error>(interrupt::not_computed());
  } catch (...) {
    return present_error();
  }
}

}  // namespace

namespace {

// Python knows the lines of arrays, and its lock guards all that is asked here.
bool has_lock() {
  const Runtime& rt = Runtime::get();
  return !rt.holds_python || rt.holds_python();
}

bool make_room(Device& d, size_t bytes) {
  LaunchQueue::close_present();
  if (has_lock() && executor_of(d).drop_replays(d)) return true;
  return has_lock() && spill::make_room(d, bytes);
}

std::string advice(const Device& d) { return has_lock() ? largest_arrays(d) : ""; }

}  // namespace

Runtime& Runtime::get() {
  static Runtime* r = [] {
    no_memory();  // while there is some
    Device::relief = {make_room, advice, false};
    return new Runtime;
  }();
  return *r;
}

bool Runtime::may_compile() const {
  return mode == Mode::Compiled || (mode != Mode::Interp && compile::has_compiler());
}

std::shared_ptr<KernelCode> kernel_code(ir::Kernel k) {
  std::string key = k.key();
  if (auto* known = kernels().find(key)) return *known;
  auto made = std::make_shared<KernelCode>();
  made->ir = std::move(k);
  made->program = std::make_unique<interp::Program>(made->ir);
  compile::Compiled carried = compile::load_prebuilt(key);
  made->native = carried.function;
  made->native_memory = std::move(carried.memory);
  return kernels().keep(std::move(key), std::move(made));
}

WithoutPython::WithoutPython(bool wanted) {
  if (wanted && Runtime::get().leave_python) state_ = Runtime::get().leave_python();
}
WithoutPython::~WithoutPython() {
  if (state_) Runtime::get().enter_python(state_);
}

std::shared_ptr<const Error> present_error() noexcept {
  try {
    try {
      throw;
    } catch (const Error& e) {
      return std::make_shared<Error>(e);
    } catch (const std::bad_alloc&) {
      return no_memory();
    } catch (const std::exception& e) {
      return std::make_shared<Error>(ErrorKind::Runtime, e.what());
    }
  } catch (...) {
    return no_memory();
  }
}

constinit thread_local Base* Runtime::wanted = nullptr;

void Runtime::settle(Base& b, const char* reason) {
  if (!bring_back) return settle_base(b, reason);
  Device& device = *b.device;
  struct Wanted {
    Base* before = wanted;
    explicit Wanted(Base* b) { wanted = b; }
    ~Wanted() { wanted = before; }
  };
  {
    const Wanted here(&b);
    settle_base(b, reason);
  }
  bring_back(b, device);
}

// All that comes before the first step.
void Runtime::begin(Flight& flight, const char* reason) {
  Window& w = *flight.window;
  bool& known = flight.known;
  if (prints(Stage::Window))
    print_stage(std::string("window, flushed by ") + reason + ":", print(w));
  if (verifies_passes()) verify(w);
  if (settle_window) settle_window(w);
  w.complete_key();
  const bool always = without_plan == WithoutPlan::Always;
  if (!always) flight.run = plans_.find(w);
  if (!flight.run && direct_.take(w, plans_.structure(), known)) {
    flight.direct = std::make_unique<Direct>(w);
    ++stats.direct;
    return;
  }
  if (always) flight.run = plans_.find(w);
  known = flight.run != nullptr;
  if (!known) flight.run = plans_.make(w);
  Device& device = *w.slots_[0].base->device;
  if (!explanation && is_too_large(w, *flight.run, device) &&
      std::none_of(w.slots_.begin(), w.slots_.end(),
                   [](const Slot& s) { return s.base->failure != nullptr; })) {
    flight.run.reset();
    flight.direct = std::make_unique<Direct>(w);
    ++stats.direct;
    return;
  }
  flight.run->busy = true;
  last_ = flight.run;
  ++(known ? stats.plan_hits : stats.plan_misses);
  if (explanation) explanation->flush(reason, w, !known);
  if (device.has_queues()) device.queues_before(nullptr, uses_of(w));
}

void Runtime::carry_out(Flight& flight, const char* reason) {
  ++stats.flushes;
  const flags::Apart apart;  // a call that waits for this has flags of its own
  release_ended_works();
  interrupt::ArrayWork work;
  const Window& w = *flight.window;
  try {
    begin(flight, reason);
  } catch (...) {
    // Nothing is computed: whoever reads what should have been has to hear of it.
    auto failure = present_error();
    for (const Slot& s : w.slots_)
      if (s.written()) s.base->failure = failure;
    throw Error(*failure);
  }
  launched_together_ = false;
  if (flight.direct)
    run(w, *flight.direct);
  else
    run(w, *flight.run);
  if (flight.run && launched_together_) note_early(w, flight.run);
}

// One instruction of a window, by a plan of its own, which others of its kind have in common.
void Runtime::run_part(const Window& w, const Instr& given, Window& part, bool& begun) {
  struct Part {
    Window& window;
    std::shared_ptr<Run> run;
    ~Part() {
      if (run) run->busy = false;
      window.clear();
    }
  } here{part, nullptr};
  const Recorded recorded(w, given);
  Instr i = given;
  // Value numbers stay those that the program's next instructions were numbered by.
  Base* results[1 + kMaxMore] = {recorded.out.base};
  for (int n = 0; n < i.more; ++n) results[1 + n] = recorded.in[recorded.count + n].view->base;
  uint64_t values[1 + kMaxMore];
  for (int n = 0; n <= i.more; ++n) values[n] = results[n]->value;
  part.record(i, recorded.out, recorded.in, recorded.count);
  part.detach();
  for (int n = 0; n <= i.more; ++n) results[n]->value = values[n];
  if (verifies_passes()) verify(part);
  part.complete_key();
  here.run = plans_.find(part);
  ++(here.run ? stats.plan_hits : stats.plan_misses);
  if (!here.run) here.run = plans_.make(part);
  here.run->busy = true;
  Device& device = *part.slots_[0].base->device;
  if (device.has_queues()) device.queues_before(nullptr, uses_of(part));
  begun = true;
  run(part, *here.run);
}

void Runtime::run(const Window& w, Direct& direct) {
  std::shared_ptr<const Error> failure;
  bool interrupted = false;
  auto at = static_cast<int32_t>(0);
  for (const Instr& i : w.instrs_) {
    const int operands = i.inputs() + i.more;
    Base* out = w.slots_[i.out.slot].base;
    auto lose_results = [&](const std::shared_ptr<const Error>& e) {
      out->failure = e;
      for (int n = i.inputs(); n < operands; ++n) w.slots_[i.in[n].slot].base->failure = e;
    };
    const bool whole = overwrites(i, *out);
    std::shared_ptr<const Error> lost;
    for (int n = 0; n < i.inputs(); ++n)
      if (i.in[n].slot >= 0 && !lost) lost = w.slots_[i.in[n].slot].base->failure;
    if (!whole && !lost) lost = out->failure;
    interrupted = interrupted || interrupt::wanted();
    if (interrupted && !failure) failure = not_computed();
    if (interrupted || lost) {
      lose_results(lost ? lost : failure);
    } else {
      bool begun = false;  // a plan, which says itself what is lost
      float_errors::Collect collect(i);
      try {
        if (!out->device->host_readable() || !run_directly(w, i))
          run_part(w, i, direct.part, begun);
        if (collect.met()) float_errors::add(std::move(collect.finding()));
        if (whole) out->failure = nullptr;
      } catch (...) {
        std::shared_ptr<const Error> e = present_error();
        interrupted = interrupted || e->kind() == ErrorKind::Interrupted;
        if (!failure) failure = interrupted ? not_computed() : e;
        if (!begun) lose_results(failure);
      }
    }
    // What is dead gives its memory to the next instructions.
    auto give_back = [&](int32_t slot) {
      if (slot < 0 || direct.last[slot] != at) return;
      direct.held[slot] = Handle();
      Base* b = w.slots_[slot].base;
      if (b->handles == 0) spill::drop(*b);
      if (b->handles > 0 || !b->data || !b->owned || b->outside()) return;
      b->device->free(b->data, static_cast<size_t>(b->nbytes));
      b->data = nullptr;
    };
    give_back(i.out.slot);
    for (int n = 0; n < operands; ++n) give_back(i.in[n].slot);
    ++at;
  }
  if (interrupted) interrupt::raise_interrupted();
  if (failure) throw Error(*failure);
}

void Runtime::run(const Window& w, Run& run) {
  stats.contracted_bytes += run.contracted_bytes;
  char** data = run.data.data();
  size_t n = run.storages.size();
  Device& device = *w.slots_[0].base->device;
  const DeviceWork work(device);
  RunMemory memory(w, run, device);
  for (size_t s = 0; s < n; ++s) {
    const Storage& st = run.storages[s];
    bool is_slot_initial = st.slot == static_cast<int>(s) && s < w.slots_.size();
    data[s] = is_slot_initial ? w.slots_[st.slot].base->data : nullptr;
    // A kernel would read another memory's address.
    if (data[s] && w.slots_[st.slot].base->device != &device) [[unlikely]]
      raise(ErrorKind::Runtime, "flush", "internal error: operands of one window on two devices",
            w.slots_[st.slot].base->device->label() + " and " + device.label(), "one device");
  }
  // A step that fails poisons what it would have written and all that depends on it; the others
  // still run. So do those that meet what a wrong value has spoiled: they may have other work too.
  enum : char { kLost = 1, kSpoiled = 2 };
  std::vector<char>& lost = run.lost;
  std::fill(lost.begin(), lost.end(), 0);
  std::shared_ptr<const Error> failure;
  // What is read here may have been lost before, or by another thread's flush. What is overwritten
  // as a whole gets storage of its own, as a call that nobody waits for may still write to the old
  // one.
  std::shared_ptr<const Error> known;
  LateRun::look(w);
  LateRun late(w, run, device);
  for (size_t s = 0; s < w.slots_.size(); ++s) {
    Base* b = w.slots_[s].base;
    if (!b->failure) continue;
    if (!run.storages[s].overwritten) {
      lost[s] = kLost;
      if (!known) known = b->failure;
    } else if (b->data && b->owned && !b->outside()) {
      device.free(b->data, static_cast<size_t>(b->nbytes));
      b->data = data[s] = nullptr;
    } else {
      spill::drop(*b);
    }
  }
  bool refused = false;  // the next step is a scatter that must not be done
  bool told = false;     // errors of floating-point numbers are warned of
  for (const Instr& i : w.instrs_) told = told || i.told;
  told = told && device.runs_on_host();
  bool interrupted = false;
  auto lose_outputs = [&](const KernelStep& step) {
    for (const Patch& p : step.patches)
      if (p.storage >= 0 && p.written) lost[p.storage] |= kLost;
    for (const ReduceStep& r : step.reduces) lost[r.storage] |= kLost;
    if (!step.guards) return;
    refused = true;
    for (const Check& c : step.checks)
      for (int s : c.spoils) lost[s] |= kSpoiled;
  };
  // What is lost is never written to again, so that a call may go on writing there.
  auto set_reach = [&](KernelStep& step) {
    auto bases = std::make_shared<Bases>();
    for (const Patch& p : step.patches) {
      if (p.storage < 0) continue;
      int slot = run.storages[p.storage].slot;
      Base* b = slot < 0 ? nullptr : w.slots_[slot].base;
      if (b && p.written && (!b->owned || b->shared > 0)) return step.reach.clear();
      if (b) bases->add(b);
      step.reach.push_back({data[p.storage], memory.bytes(p.storage)});
    }
    step.bases = std::move(bases);
  };
  std::vector<int>& taken = run.taken;
  auto lose_step = [&](KernelStep& step) {
    const std::shared_ptr<const Error> e = present_error();
    interrupted = interrupted || e->kind() == ErrorKind::Interrupted;
    if (!failure) failure = interrupted ? not_computed() : e;
    lose_outputs(step);
  };
  struct Losses final : LaunchQueue::Losses {
    decltype(lose_step)& losing;
    explicit Losses(decltype(lose_step)& l) : losing(l) {}
    void lose(KernelStep& step) override { losing(step); }
  } losses(lose_step);
  LaunchQueue queue(*this, device, run, w, told, losses);
  for (KernelStep& step : run.steps) {
    bool poisoned = false;
    taken.clear();
    for (const Patch& p : step.patches)
      poisoned = poisoned || (p.storage >= 0 && lost[p.storage] & kLost);
    interrupted = interrupted || interrupt::wanted();
    if (interrupted && !failure) failure = not_computed();
    if (refused) {
      refused = false;
    } else if (poisoned || interrupted) {
      queue.close();
      if (!failure) failure = known;
      lose_outputs(step);
    } else {
      memory.begin(step);
      step.watched = told && !step.call;
      step.raised = 0;
      step.special = false;
      for (auto [fresh, dying] : step.takes) {
        // Its instructions may be looked at again; where flags say enough, few of them are.
        if (step.watched &&
            (!step.exact || (step.works.size() > 1 && memory.bytes(fresh) <= kFewBytes)))
          break;
        const Storage& from = run.storages[dying];
        bool ours = from.slot < 0 || w.slots_[from.slot].base->owned;
        if (data[fresh] || memory.is_away(fresh) || !data[dying] || !ours || run.arena ||
            memory.bytes(dying) != memory.bytes(fresh))
          continue;
        data[fresh] = data[dying];
        taken.push_back(dying);
      }
      Stats before = explanation ? stats : Stats();
      try {
        for (const Patch& p : step.patches)
          if (p.storage >= 0) memory.need(p.storage);
        for (const ReduceStep& r : step.reduces) memory.need(r.storage);
        if (step.call && device.runs_on_host()) {
          step.reach.clear();
          step.bases.reset();
          if (is_long(*step.call, step.flops)) set_reach(step);
        }
        run_step(w, step, data, queue);
        late.pass(step);
        if (step.watched)
          look_again(w, run, step);
        else if (told && step.call)
          look_at_call(w, step);
        bool wrong = false;
        for (size_t c = 0; c < step.checks.size() && !step.late; ++c) {
          if (!step.report[2 * c]) continue;
          wrong = true;
          refused = step.guards;
          for (int s : step.checks[c].spoils) lost[s] |= kSpoiled;
          if (!failure)
            failure = std::make_shared<Error>(error_of(w, step.checks[c], step.report[2 * c + 1]));
        }
        if (explanation) explanation->step(*this, w, step, before, wrong);
      } catch (...) {
        queue.close();
        lose_step(step);
        try {
          if (explanation) explanation->step(*this, w, step, before, true);
        } catch (...) {
          explanation = nullptr;  // it could not tell all
        }
      }
    }
    for (int s : step.free_after) {
      const Storage& st = run.storages[s];
      if (!data[s]) {
        memory.forget(s);
        continue;
      }
      if (s < static_cast<int>(w.slots_.size())) {
        Base* b = w.slots_[st.slot].base;
        if (!b->owned) continue;
        if (b->data) b->data = nullptr;
      }
      if (std::find(taken.begin(), taken.end(), s) == taken.end() && !run.in_arena(data[s]))
        queue.free(data[s], memory.bytes(s));
      data[s] = nullptr;
    }
  }
  launched_together_ = queue.launch();
  for (size_t slot = 0; slot < w.slots_.size(); ++slot) {
    Base* b = w.slots_[slot].base;
    int last = run.plan->final_storage[slot];
    char* now = data[last];
    if (!lost[last])
      b->failure = nullptr;
    else if (failure)
      b->failure = failure;
    if (memory.hand_over(last, *b)) continue;
    if (b->data == now || now == nullptr) continue;  // in place, contracted or already freed
    spill::drop(*b);
    if (b->data && b->owned) device.free(b->data, static_cast<size_t>(b->nbytes));
    b->data = now;
  }
  late.end(w, run);
  if (device.has_queues()) device.queues_after(nullptr, uses_of(w));
  if (interrupted) interrupt::raise_interrupted();
  if (failure) throw Error(*failure);
}

void Runtime::run_step(const Window& w, KernelStep& step, char** data, LaunchQueue& queue) {
  auto address = [&](int storage, int64_t offset) { return data[storage] + offset; };
  for (const Patch& p : step.patches) {
    if (p.storage >= 0)
      step.params[p.word] = reinterpret_cast<int64_t>(address(p.storage, p.offset));
    else
      store_scalar(w.scalars_[p.scalar], p.dtype, &step.params[p.word]);
  }
  if (!step.tail) {
    ++stats.launches;
    stats.bytes_moved += step.bytes;
    stats.flops += step.flops;
  }
  for (size_t r = 0; r < step.results.size(); ++r)
    step.results[r] = address(step.reduces[r].storage, step.reduces[r].offset);
  if (queue.take()) return;
  Device& device = *w.slots_[0].base->device;
  KernelTimer timer(device);
  executor_of(device).launch(*this, device, step);
}

void Runtime::note_early(const Window& w, std::shared_ptr<Run> run) {
  auto holds = [&](size_t slot) {
    const Base& b = *w.slots_[slot].base;
    return b.nbytes <= kEarlyBytes && b.data && !b.failure &&
           b.data == run->data[run->plan->final_storage[slot]];
  };
  for (const Replay::Early& e : run->replay->early()) {
    const Base& b = *w.slots_[e.slot].base;
    if (!holds(static_cast<size_t>(e.slot))) continue;
    early_[next_early_++ % early_.size()] = {b.id, b.value, b.data, e.value, e.value->launch()};
  }
  Queued& q = queued_[next_queued_++ % queued_.size()];
  q.count = 0;
  for (size_t slot = 0; slot < w.slots_.size() && q.count < q.little.size(); ++slot)
    if (w.slots_[slot].written() && holds(slot))
      q.little[q.count++] = {w.slots_[slot].base->id, static_cast<int>(slot)};
  q.run = std::move(run);
}

const Runtime::EarlyBase* Runtime::early_of(const Base& b) const {
  if (!b.data || b.failure || b.outside()) return nullptr;
  for (const EarlyBase& e : early_)
    if (e.given && e.id == b.id && e.value == b.value && e.data == b.data &&
        e.launch == e.given->launch())
      return &e;
  return nullptr;
}

bool Runtime::read_settled_early(const Base& b, int64_t offset, size_t bytes, char* to) {
  if (early_of(b) && while_waiting) while_waiting();
  if (const EarlyBase* e = early_of(b)) {
    if (!e->given->wait() || !late::is_silent(b)) return false;
    std::memcpy(to, e->given->bytes() + offset, bytes);
    ++stats.early_reads;
    return true;
  }
  for (const Queued& q : queued_)
    for (size_t n = 0; n < q.count; ++n)
      if (q.little[n].first == b.id && q.run->replay) q.run->replay->want_early(q.little[n].second);
  return false;
}

void Runtime::note_copy(int64_t bytes, bool to_host) {
  (to_host ? stats.bytes_to_host : stats.bytes_to_device) += bytes;
  if (explanation) explanation->copied(bytes, to_host);
}

void Runtime::note_move(int64_t bytes, bool to_device) {
  ++(to_device ? stats.moved_to_device : stats.moved_to_host);
  if (explanation) explanation->moved(bytes, to_device);
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

std::string recorded_at(uint64_t line) {
  const Runtime& rt = Runtime::get();
  const SourceLine at = rt.describe_line ? rt.describe_line(line) : SourceLine();
  if (at.file.empty()) return "";
  return " (recorded at " + at.file + ", line " + std::to_string(at.line) + ")";
}

Error Runtime::error_of(const Window& w, const Check& c, int64_t value) const {
  const Instr& i = w.instrs_[c.source];
  const std::string where = recorded_at(i.line);
  const Error e = c.kind == Check::NegativePower ? negative_power(value, where)
                                                 : wrong_index(value, c.axis, c.extent, where);
  return e.of_tensors(i.of_tensors);
}

}  // namespace numbus
