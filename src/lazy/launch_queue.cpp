// While steps wait, memory is given out as if they had been launched: their order stays, so that
// only what the host itself does with memory has to come after them. What they give back is given
// back after they have been launched.
#include "lazy/launch_queue.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "device/counts.h"
#include "lazy/executor.h"
#include "lazy/runtime.h"

namespace numbus {
namespace {

constinit thread_local LaunchQueue* present = nullptr;

constexpr int kRunsBefore = 2;  // of a plan whose kernels have not been loaded, too

// NUMBUS_REPLAY=0 has each kernel launched by itself.
bool is_wanted() {
  static const bool wanted = [] {
    const char* said = std::getenv("NUMBUS_REPLAY");
    return !said || std::strcmp(said, "0") != 0;
  }();
  return wanted;
}

bool may_wait(const Runtime& rt, const Device& device, const Run& run, const Window& w) {
  if (rt.explanation || work_counts().timing || device.has_queues() || Device::relief.always)
    return false;
  return std::none_of(w.slots_.begin(), w.slots_.end(),
                      [](const Slot& s) { return s.base->failure || s.base->away; }) &&
         std::all_of(run.steps.begin(), run.steps.end(),
                     [](const KernelStep& s) { return s.checks.empty() || s.late; });
}

}  // namespace

LaunchQueue::LaunchQueue(Runtime& runtime, Device& device, Run& run, const Window& w, bool told,
                         Losses& losses)
    : runtime_(runtime), device_(device), run_(run), window_(w), losses_(losses), before_(present) {
  present = this;
  if (told || !run.repeatable || !is_wanted() || device.host_readable() ||
      !may_wait(runtime, device, run, w) || ++run.repeats <= kRunsBefore)
    return;
  try {
    open();
  } catch (const std::exception&) {
    // There is no memory for what the queue needs: each step is launched by itself.
    run.places.clear();
  }
}

void LaunchQueue::open() {
  if (run_.replay && &run_.replay->device() != &device_) run_.replay.reset();
  if (!run_.replay) run_.replay = executor_of(device_).make_replay(device_);
  if (!run_.replay) return;
  if (run_.places.empty()) run_.place(window_);
  run_.arena = run_.replay->take_arena(static_cast<size_t>(run_.arena_bytes));
  freed_.reserve(run_.storages.size());
  open_ = run_.arena != nullptr;
}

void LaunchQueue::free(char* block, size_t bytes) {
  if (open_)
    freed_.emplace_back(block, bytes);  // there is room: one for each storage
  else
    device_.free(block, bytes);
}

void LaunchQueue::free_all() {
  for (const auto& [block, bytes] : freed_) device_.free(block, bytes);
  freed_.clear();
}

LaunchQueue::~LaunchQueue() {
  present = before_;
  free_all();
  if (!run_.arena) return;
  run_.arena = nullptr;
  run_.replay->give_arena_back();
}

void LaunchQueue::close() {
  if (!std::exchange(open_, false)) return;
  launch_each();
  free_all();
}

void LaunchQueue::launch_each() {
  Executor& executor = executor_of(device_);
  std::vector<int> order;
  if (count_ == run_.steps.size()) order = run_.replay->order(run_, window_);
  for (size_t k = 0; k < count_; ++k) {
    KernelStep& step = run_.steps[order.empty() ? k : static_cast<size_t>(order[k])];
    try {
      executor.launch(runtime_, device_, step);
    } catch (...) {
      losses_.lose(step);
    }
  }
}

bool LaunchQueue::launch() {
  if (!std::exchange(open_, false)) return false;
  bool done = false;
  try {
    done = count_ == run_.steps.size() && run_.replay->launch(runtime_, run_, window_);
  } catch (...) {  // none of them has been launched: each says for itself what is wrong
    run_.repeatable = false;
  }
  if (!done) {
    launch_each();
    run_.replay->launched_each(run_, window_);
  }
  free_all();
  return true;
}

void LaunchQueue::close_present() {
  if (present) present->close();
}

}  // namespace numbus
