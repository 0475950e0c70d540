// Windows that are kept are the recipe's windows with other bases: what tells plans apart is looked
// at each time, as it is in their keys.
#include "array/repeat.h"

#include <algorithm>
#include <unordered_map>

#include "lazy/recorder.h"
#include "lazy/runtime.h"

namespace numbus {
namespace {

constexpr int kFailures = 3;

void let_go(Base*& b) {
  if (b) std::exchange(b, nullptr)->unref();
}

}  // namespace

Repeat::~Repeat() { std::ranges::for_each(own_, let_go); }

bool Repeat::is_ready(std::span<const Array> given) const {
  const Runtime& rt = Runtime::get();
  if (rt.explanation || rt.mode != Mode::Auto || rt.without_plan == WithoutPlan::Always)
    return false;
  auto is_plain = [](const Base& b) {
    return !b.pending() && !b.outside() && b.owned && b.has_elements() && !b.failure && !b.mask;
  };
  for (const Capture::Known& known : recipe_->bases_) {
    if (known.kind == Capture::Known::Fresh) continue;
    const bool is_given = known.kind == Capture::Known::Given;
    const Base& b = is_given ? *given[known.at].base.get() : *known.base.get();
    if (!is_plain(b)) return false;
    // An operand that is one of those that are kept would be known by two names.
    if (is_given && recipe_->keeps(b)) return false;
  }
  return true;
}

std::optional<std::vector<Array>> Repeat::answer(std::span<const Array> given,
                                                 std::span<const double> numbers) {
  // Another thread may call while this one waits.
  if (busy_ || failures_ >= kFailures || !is_ready(given)) return {};
  struct Busy {
    bool& busy;
    explicit Busy(bool& b) : busy(b) { busy = true; }
    ~Busy() { busy = false; }
  } now(busy_);
  return parts_.empty() ? begin(given, numbers) : again(given, numbers);
}

// Records the recipe, and keeps the windows that it has become.
std::vector<Array> Repeat::begin(std::span<const Array> given, std::span<const double> numbers) {
  Recorder& recorder = Recorder::of(*recipe_->device_);
  std::vector<std::unique_ptr<Window>> kept;
  std::vector<uint64_t> ids;
  std::vector<Array> made;
  struct Bases {  // go whatever happens
    std::vector<std::unique_ptr<Window>>& kept;
    ~Bases() {
      for (auto& w : kept)
        if (w) w->clear();
    }
  } bases{kept};
  {
    const Recorder::Whole whole(recorder, &kept);
    made = recipe_->record(given, numbers, &ids);
    recorder.flush("a compiled step");
  }
  std::unordered_map<uint64_t, size_t> by_id;
  for (size_t k = 0; k < ids.size(); ++k) by_id[ids[k]] = k;
  std::vector<int> in_order;  // the numbers of scalars
  for (const Capture::Step& s : recipe_->steps_)
    for (const Capture::Input& in : s.in)
      if (!in.view) in_order.push_back(in.number);
  std::vector<Part> parts;
  size_t scalar = 0, instructions = 0;
  for (auto& w : kept) {
    Part part;
    for (const Slot& s : w->slots_) {
      const auto found = by_id.find(s.base->id);
      if (found == by_id.end()) break;
      part.bases.push_back(found->second);
    }
    for (size_t n = 0; n < w->scalars_.size() && scalar < in_order.size(); ++n, ++scalar)
      if (in_order[scalar] >= 0) part.numbers.emplace_back(n, in_order[scalar]);
    instructions += w->instrs_.size();
    if (part.bases.size() != w->slots_.size() || w->empty()) {
      ++failures_;
      return made;
    }
    w->release_bases();
    part.window = std::move(w);
    parts.push_back(std::move(part));
  }
  if (scalar != in_order.size() || instructions != recipe_->steps_.size()) {
    ++failures_;
    return made;
  }
  results_.assign(ids.size(), 0);
  pinned_.assign(ids.size(), 0);
  for (size_t n = 0; n < made.size(); ++n) {
    const size_t base = recipe_->results_[n].base;
    results_[base] = 1;
    pinned_[base] = made[n].base->pinned;
  }
  own_.assign(ids.size(), nullptr);
  parts_ = std::move(parts);
  return made;
}

std::vector<Array> Repeat::again(std::span<const Array> given, std::span<const double> numbers) {
  Recorder& recorder = Recorder::of(*recipe_->device_);
  const std::vector<Capture::Known>& all = recipe_->bases_;
  std::vector<Handle> bases(all.size());
  for (size_t k = 0; k < all.size(); ++k) {
    const Capture::Known& known = all[k];
    if (known.kind == Capture::Known::Given) {
      bases[k] = given[known.at].base;
    } else if (known.kind == Capture::Known::Constant) {
      bases[k] = known.base;
    } else if (results_[k]) {
      bases[k] = Handle(Base::create(*recipe_->device_, known.nbytes));
      bases[k]->pinned = pinned_[k] != 0;
    } else {
      Base*& own = own_[k];
      if (own && (own->has_elements() || own->failure || own->suspicions || own->pending()))
        let_go(own);
      if (!own) {
        own = Base::create(*recipe_->device_, known.nbytes);
        own->ref();
      }
      bases[k] = Handle(own);
    }
  }
  std::vector<Array> made;
  for (const Capture::View& v : recipe_->results_) {
    made.push_back(v.on(bases[v.base]));
    note_made(made.back());
  }
  for (size_t n = 0; n < parts_.size(); ++n) {
    Part& part = parts_[n];
    slots_.clear();
    for (const size_t k : part.bases) slots_.push_back(bases[k].get());
    for (const auto& [at, number] : part.numbers)
      part.window->scalars_[at] = Scalar::from_float(numbers[static_cast<size_t>(number)]);
    // As when it was recorded: what is no result is dead before the last window is carried out.
    if (n + 1 == parts_.size()) bases.clear();
    recorder.carry_out_again(part.window, slots_, "a compiled step");
  }
  return made;
}

}  // namespace numbus
