// Finding, capturing and repeating backward passes.
#include "known_passes.h"

#include <algorithm>
#include <array>

#include "array/placement.h"
#include "program/rules.h"
#include "recipes.h"

namespace numbus::bindings {

using program::Tape;
using program::TapeKey;

int64_t KnownPasses::answers = 0;

std::vector<nb::object> leaves_in(uint64_t base) {
  std::vector<nb::object> found;
  const Storage* const s = Storage::known(base);
  for (TensorObject* t = s ? s->first : nullptr; t; t = t->next)
    if (t->leaf) found.push_back(nb::borrow(reinterpret_cast<PyObject*>(t)));
  std::ranges::reverse(found);
  return found;
}

namespace {

constexpr size_t kMost = 16;  // passes that are remembered

program::Region region_of(const nb::object& leaf) {
  return program::Region(as_array(as_tensor(leaf.ptr()).array).view());
}

// Whether what is recorded for the output depends on the tape alone. On a CPU small operations are
// carried out at once, and where cost chooses a device it is decided later.
bool is_plain(const Array& of) {
  const float_errors::State& errors = float_errors::state;
  if (errors.checked || errors.watched || errors.finding) return false;
  if (program::detected_anomalies() != program::Anomalies::None) return false;
  return !of.base->device->host_readable() && (!placement::on || of.base->pinned);
}

}  // namespace

std::deque<KnownPasses::Passed>& KnownPasses::all() {
  static auto* const passes = new std::deque<Passed>;  // Python's lock guards it
  return *passes;
}

KnownPasses::Passed KnownPasses::known(const TapeKey& key) {
  std::deque<Passed>& passes = all();
  const auto found =
      std::ranges::find_if(passes, [&](const Passed& p) { return p->words == key.words; });
  if (found == passes.end()) return nullptr;
  std::rotate(passes.begin(), found, found + 1);
  return passes.front();
}

LeafGradients KnownPasses::found_by_rules(const Array& of, const TapeKey* key, Pass* noted) {
  Tape& tape = Tape::get();
  std::vector<int64_t> passed;
  const auto adjoints =
      tape.backward(std::array{of}, std::array{filled_like(of, 1)}, false, {}, &passed);
  LeafGradients found;
  std::vector<Ended> ended;
  for (const uint64_t base : adjoints->bases()) {
    const std::vector<nb::object> leaves = leaves_in(base);
    Ended end{0, {}, {}};
    if (key) {
      end.base = static_cast<size_t>(std::ranges::find(key->bases, base) - key->bases.begin());
      if (end.base == key->bases.size()) noted = nullptr;
    }
    for (const nb::object& leaf : leaves) {
      const Array own = as_array(as_tensor(leaf.ptr()).array);
      const program::Region region(own.view());
      std::optional<Array> g;
      if (leaves.size() == 1) g = adjoints->take(region);
      if (!g) {
        const std::optional<Array> shared = adjoints->of(region);
        if (shared) g = program::own_copy(own, shared);
      }
      end.leaves.push_back(region);
      end.has.push_back(g.has_value());
      if (g) found.emplace_back(leaf, std::move(*g));
    }
    ended.push_back(std::move(end));
  }
  if (!noted) return found;
  noted->ended = std::move(ended);
  for (const int64_t number : passed)
    noted->passed.push_back(
        static_cast<size_t>(std::ranges::lower_bound(key->entries, number) - key->entries.begin()));
  return found;
}

// Nothing where the leaves are others.
std::optional<LeafGradients> KnownPasses::made_by(const Pass& pass, const TapeKey& key) {
  Tape& tape = Tape::get();
  std::vector<nb::object> leaves;
  for (const Ended& end : pass.ended) {
    const uint64_t base = key.bases[end.base];
    if (tape.is_spent(base)) return {};
    const std::vector<nb::object> here = leaves_in(base);
    if (here.size() != end.leaves.size()) return {};
    for (size_t k = 0; k < here.size(); ++k) {
      if (!region_of(here[k]).same(end.leaves[k].at(base))) return {};
      if (end.has[k]) leaves.push_back(here[k]);
    }
  }
  std::vector<Array> made = pass.recipe->record(key.saved);
  std::vector<int64_t> passed;
  for (const size_t k : pass.passed) passed.push_back(key.entries[k]);
  tape.pass(passed);
  LeafGradients found;
  for (size_t k = 0; k < leaves.size(); ++k)
    found.emplace_back(std::move(leaves[k]), std::move(made[k]));
  ++answers;
  return found;
}

LeafGradients KnownPasses::derivatives(const Array& of) {
  const NotRecording quiet;
  const DeviceOfNew follow(of.base->device);
  TapeKey key;
  key.words.push_back(recording_settings());
  key.words.push_back(reinterpret_cast<uintptr_t>(&default_device()));
  if (!is_plain(of) || !Tape::get().read(key, of, false) ||
      std::ranges::any_of(key.saved,
                          [&](const Array& a) { return a.base->device != of.base->device; }))
    return found_by_rules(of, nullptr, nullptr);
  const Passed pass = known(key);
  if (!pass) {
    auto seen = std::make_shared<Pass>();
    seen->words = key.words;
    all().push_front(std::move(seen));
    if (all().size() > kMost) all().pop_back();
    return found_by_rules(of, nullptr, nullptr);
  }
  if (pass->recipe)
    if (std::optional<LeafGradients> made = made_by(*pass, key)) return std::move(*made);
  // What is captured by others belongs to them.
  if (pass->recipe || pass->hopeless || capture_now) return found_by_rules(of, nullptr, nullptr);
  TapeKey own;
  Tape::get().read(own, of, true);
  Pass noted;
  Capture capture(key.saved);
  LeafGradients found = found_by_rules(of, &key, &noted);
  std::vector<Array> results;
  for (const auto& [leaf, g] : found) results.push_back(g);
  pass->layouts = std::move(own.layouts);
  if (!noted.passed.empty()) pass->recipe = Recipe::of(capture, results);
  pass->passed = std::move(noted.passed);
  pass->ended = std::move(noted.ended);
  pass->hopeless = !pass->recipe;
  return found;
}

}  // namespace numbus::bindings
