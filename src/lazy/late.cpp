// What depends on a check is passed on from storage to storage as one bit of a word.
#include "lazy/late.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <utility>

#include "lazy/executor.h"
#include "lazy/run.h"
#include "lazy/runtime.h"
#include "lazy/window.h"

namespace numbus {
namespace {

constexpr size_t kBits = 64;      // suspicions of one run
constexpr size_t kMaxOpen = 256;  // reports that failed and that nobody has heard of
constexpr size_t kLists = 2;      // of bases of a run, which mostly depend on the same checks

// Under Python's lock.
std::deque<std::shared_ptr<LateReport>>& open_reports() {
  static auto* all = new std::deque<std::shared_ptr<LateReport>>;
  return *all;
}

void drop_settled(bool waits) {
  auto& open = open_reports();
  if (waits && !open.empty()) open.front()->known(true);
  while (!open.empty() && open.front()->known(false) && !open.front()->failed()) open.pop_front();
  while (open.size() > kMaxOpen) open.pop_front();
}

// A guard is waited for at once: it decides whether the scatter after it is launched.
bool is_late(const KernelStep& step) { return !step.checks.empty() && !step.guards; }

}  // namespace

bool late::on_hosts = false;

bool LateReport::known(bool waits, uint64_t asked) {
  if (known_) return true;
  if (waits) {
    words_->wait();
  } else {
    if (asked && std::exchange(asked_, asked) == asked) return false;
    if (!words_->arrived()) return false;
  }
  std::copy_n(words_->words(), found_.size(), found_.begin());
  words_.reset();
  return known_ = true;
}

bool LateReport::failed() const {
  for (size_t c = 0; c < items_.size(); ++c)
    if (found_[2 * c]) return true;
  return false;
}

std::shared_ptr<const Error> LateReport::error(size_t check) {
  if (!found_[2 * check]) return nullptr;
  told_ = true;
  if (errors_[check]) return errors_[check];
  const Item& i = items_[check];
  const int64_t value = found_[2 * check + 1];
  const std::string where = recorded_at(i.line);
  const Error e = i.kind == Check::NegativePower ? negative_power(value, where)
                                                 : wrong_index(value, i.axis, i.extent, where);
  return errors_[check] = std::make_shared<Error>(e.of_tensors(i.of_tensors));
}

std::shared_ptr<const Error> LateReport::untold() {
  if (told_) return nullptr;
  for (size_t c = 0; c < items_.size(); ++c)
    if (auto e = error(c)) return e;
  return nullptr;
}

void late::resolve(Base& b, bool waits, uint64_t asked) {
  const std::shared_ptr<std::vector<Suspicion>> all = b.suspicions;
  for (const Suspicion& x : *all) {
    if (!x.report->known(waits, asked)) continue;
    if (auto e = x.report->error(x.check)) {
      b.failure = std::move(e);
      b.suspicions.reset();
      return;
    }
  }
  // What has arrived meanwhile, and failed, stays.
  std::erase_if(*all, [&](const Suspicion& x) {
    return x.report->known(false, asked) && !x.report->error(x.check);
  });
  if (all->empty()) b.suspicions.reset();
}

bool late::is_silent(const Base& b) {
  return !b.suspicions || std::ranges::all_of(*b.suspicions, [](const Suspicion& x) {
    return x.report->is_silent(x.check);
  });
}

void late::tell() {
  auto& open = open_reports();
  std::shared_ptr<const Error> first;
  while (!open.empty()) {
    const std::shared_ptr<LateReport> report = open.front();
    report->known(true);
    open.pop_front();
    if (!first) first = report->untold();
  }
  if (first) throw Error(*first);
}

void LateRun::look(const Window& w) {
  static uint64_t looks = 0;  // under Python's lock
  ++looks;
  for (const Slot& s : w.slots_)
    if (s.base->suspicions) late::resolve(*s.base, false, looks);
}

LateRun::LateRun(const Window& w, Run& run, Device& device) {
  try {
    begin(w, run, device);
  } catch (const std::exception&) {
    // Without memory, or a GPU, for this nothing is late: who is lost is known before the first
    // step.
    all_.clear();
    inherited_ = 0;
    report_.reset();
    for (KernelStep& step : run.steps) step.late = nullptr;
    for (const Slot& s : w.slots_)
      if (s.base->suspicions) late::resolve(*s.base, true);
  }
}

void LateRun::begin(const Window& w, Run& run, Device& device) {
  size_t checks = 0;
  for (KernelStep& step : run.steps) {
    step.late = nullptr;
    if (is_late(step)) checks += step.checks.size();
  }
  // With more checks than bits, and while explain() describes each step, every step waits for its
  // own report.
  if (checks > kBits / 2 || Runtime::get().explanation) checks = 0;
  auto collect = [&](bool waits) {
    all_.clear();
    const void* last = nullptr;
    for (size_t s = 0; s < w.slots_.size(); ++s) {
      Base& b = *w.slots_[s].base;
      if (!b.suspicions) continue;
      if (waits) late::resolve(b, true);
      if (!b.suspicions || run.storages[s].overwritten || b.suspicions.get() == last) continue;
      last = b.suspicions.get();
      for (const Suspicion& x : *b.suspicions) {
        auto same = [&](const Suspicion& y) { return y.report == x.report && y.check == x.check; };
        if (std::none_of(all_.begin(), all_.end(), same)) all_.push_back(x);
      }
    }
  };
  collect(false);
  if (all_.size() + checks > kBits) collect(true);
  inherited_ = all_.size();
  if (checks) {
    drop_settled(false);
    auto words = executor_of(device).late_words(device, 2 * checks);
    if (!words) {  // the host is far ahead
      drop_settled(true);
      words = executor_of(device).late_words(device, 2 * checks);
    }
    if (words) {
      std::vector<LateReport::Item> items;
      int64_t* target = words->target();
      for (KernelStep& step : run.steps) {
        if (!is_late(step)) continue;
        step.late = target;
        target += 2 * step.checks.size();
        for (const Check& c : step.checks) {
          const Instr& i = w.instrs_[c.source];
          items.push_back({c.kind, c.axis, c.extent, i.line, i.of_tensors});
        }
      }
      report_ = std::make_shared<LateReport>(std::move(words), std::move(items));
      for (size_t c = 0; c < checks; ++c) all_.push_back({report_, c});
      open_reports().push_back(report_);
    }
  }
  if (all_.empty()) return;
  masks_.resize(run.storages.size());
  lists_.resize(kLists);
  for (Shared& l : lists_) {
    l.list = std::make_shared<std::vector<Suspicion>>();
    l.list->reserve(all_.size());
  }
  const void* last = nullptr;
  uint64_t its_bits = 0;
  for (size_t s = 0; s < w.slots_.size(); ++s) {
    const Base& b = *w.slots_[s].base;
    if (!b.suspicions || run.storages[s].overwritten) continue;
    if (b.suspicions.get() != last) {
      last = b.suspicions.get();
      its_bits = 0;
      for (const Suspicion& x : *b.suspicions)
        for (size_t n = 0; n < inherited_; ++n)
          if (all_[n].report == x.report && all_[n].check == x.check) its_bits |= uint64_t{1} << n;
    }
    masks_[s] |= its_bits;
  }
}

const std::shared_ptr<std::vector<Suspicion>>& LateRun::list_of(uint64_t bits) {
  Shared* found = nullptr;
  for (Shared& l : lists_) {
    if (l.bits == bits) return l.list;
    if (!found && l.bits == 0) found = &l;
  }
  if (!found) {
    found = &lists_.emplace_back();
    found->list = std::make_shared<std::vector<Suspicion>>();
    found->list->reserve(all_.size());
  }
  found->bits = bits;
  for (size_t n = 0; n < all_.size(); ++n)
    if (bits >> n & 1) found->list->push_back(all_[n]);
  return found->list;
}

void LateRun::pass(const KernelStep& step) {
  if (inherited_ == 0) return;
  uint64_t mask = 0;
  for (const Patch& p : step.patches)
    if (p.storage >= 0) mask |= masks_[p.storage];
  if (mask == 0) return;
  for (const Patch& p : step.patches)
    if (p.storage >= 0 && p.written) masks_[p.storage] |= mask;
  for (const ReduceStep& r : step.reduces) masks_[r.storage] |= mask;
}

void LateRun::end(const Window& w, const Run& run) {
  if (all_.empty()) {  // those that still have any are overwritten as a whole
    for (const Slot& s : w.slots_) s.base->suspicions.reset();
    return;
  }
  if (report_) {
    report_->collect();
    size_t n = inherited_;
    for (const KernelStep& step : run.steps) {
      if (!step.late) continue;
      for (const Check& c : step.checks) {
        for (int s : c.spoils) masks_[s] |= uint64_t{1} << n;
        ++n;
      }
    }
  }
  for (size_t s = 0; s < w.slots_.size(); ++s) {
    Base& b = *w.slots_[s].base;
    const uint64_t mask = masks_[run.plan->final_storage[s]];
    b.suspicions.reset();
    if (mask == 0 || b.failure) continue;
    try {
      b.suspicions = list_of(mask);
    } catch (const std::bad_alloc&) {
      for (size_t n = 0; n < all_.size() && !b.failure; ++n)
        if (mask >> n & 1 && all_[n].report->known(true))
          b.failure = all_[n].report->error(all_[n].check);
    }
  }
}

}  // namespace numbus
