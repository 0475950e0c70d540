// A run: one plan with the numbers of one window filled in, and the cache that finds or makes both.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lazy/plan.h"
#include "lazy/replay.h"

namespace numbus {

class Run {
 public:
  explicit Run(std::shared_ptr<const Plan> plan);
  // Fills in the window's numbers; false (and the run serves the window that it served before)
  // where the plan does not fit.
  bool fill(const Window& w, const Positions& p);
  bool serves(const Window& w) const { return key_ == w.key_; }
  // Whether the arrays of its calls are laid out as in the window that it serves.
  bool has_layouts(const Positions& p) const;

  const std::shared_ptr<const Plan> plan;
  std::vector<KernelStep> steps;
  std::vector<Storage> storages;
  int64_t contracted_bytes = 0;
  bool busy = false;  // carrying out a window
  // Memory of storages that die before it ends, while the launches are queued together: the same
  // each time. `places`: their offsets in it, -1 for others; empty: not yet known.
  char* arena = nullptr;
  std::vector<int64_t> places, rooms;  // rooms: how many bytes each has there
  int64_t arena_bytes = 0;
  bool in_arena(const char* p) const { return arena && p >= arena && p < arena + arena_bytes; }
  void place(const Window& w);

  // Whether its steps read nothing back, so that a device may launch all of them as one; how often
  // it has been carried out as such a run; what the device made of it.
  bool repeatable = false;
  int repeats = 0;
  std::unique_ptr<Replay> replay;
  bool used = false;  // since its plan was looked at as the one to drop
  // Of the window that it carries out, one for each storage: memory, and what is wrong with it.
  // Here so that nothing is left to allocate once the first step has begun.
  std::vector<char*> data;
  std::vector<char> lost;
  std::vector<int> taken;  // storages whose memory a step has given to others

 private:
  struct Target {
    int64_t* to;
    int32_t from;
    bool place;  // where in a storage something lies, which says nothing of how much there is
  };
  struct LayoutTarget {
    const Layout** to;
    const PlanLayout* from;
  };
  std::vector<int64_t> values_;
  std::vector<Target> targets_;
  std::vector<LayoutTarget> layout_targets_;
  std::vector<uint64_t> key_;       // of the window that it is filled for
  std::vector<LayoutRef> layouts_;  // that the key and the calls name
};

// Plans by the structure of windows, and the latest runs by windows as a whole.
class PlanCache {
 public:
  // A run that serves the window, whose key is complete; null: its plan is not there.
  std::shared_ptr<Run> find(const Window& w);
  // Right after find() gave null: the structure of that window, and a run of a new plan for it.
  uint64_t structure() const { return positions_.hash; }
  std::shared_ptr<Run> make(const Window& w);
  size_t plans() const { return entries_.size(); }
  void clear();

 private:
  struct Entry {
    std::shared_ptr<const Plan> plan;
    uint64_t hash;
    std::vector<std::shared_ptr<Run>> runs;  // the next one is filled
    size_t next = 0;
  };
  using Entries = std::list<Entry>;  // the latest used first
  std::shared_ptr<Run> free_run(Entry& e, const Window& w);
  void drop_oldest();
  std::shared_ptr<Run>& recent(const Window& w);

  Entries entries_;
  std::unordered_map<uint64_t, std::vector<Entries::iterator>> by_hash_;  // latest used first
  std::vector<std::shared_ptr<Run>> recent_;                              // by the window's hash
  Positions positions_;
};

}  // namespace numbus
