// Derivatives by tensors that are views, apart from those by what else shows their memory.
//
// A tensor that a function makes of another one's memory gets a number, and what reads elements
// says through which tensor it sees them (Array::through). Where the derivative by a view is asked
// for, the contributions of what was read through it, or through views of it, are added up once
// more, in memory that stands for its base.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "program/adjoints.h"

namespace numbus::program {

class Tape;

// Who is told of the derivative by a view, and may replace it.
struct ToldView {
  Region region;
  KnownView view;
  Entry::Told told;
  std::function<bool()> alive;  // whether the tensor is still there; empty: nobody asks
};

// What is computed on the way to some tensors, whose hooks alone a pass for these calls.
class Way {
 public:
  Way(const Tape& tape, std::span<const Array> targets);
  bool leads_over(const Entry& e) const;
  bool leads_over(const ToldView& v) const;

 private:
  struct Target {
    uint64_t base, view;  // view: zero, it is the base's own tensor
  };
  bool is_seen(const Region& r) const;

  const Tape& tape_;
  std::vector<Target> targets_;
  std::unordered_set<uint64_t> made_;  // bases that depend on targets
};

class ViewsApart final : public Adjoints::Listener {
 public:
  ViewsApart(const Tape& tape, std::vector<ToldView> views);
  // The numbers of views, from one to the memory's own tensor; the last one is the base's where all
  // are known.
  static std::vector<uint64_t> from(const Tape& tape, uint64_t base, uint64_t number);
  bool empty() const { return asked_.empty(); }
  bool hears_of(uint64_t base) const override;
  // Raises where it is not known what was read through a view, or where its elements have been
  // written to since it was made.
  void add(Adjoints& adjoints, const Region& r, const Array& contribution) override;
  // The entries from number `entry` on have been passed.
  void passed(Adjoints& adjoints, int64_t entry);

 private:
  struct Asked {
    ToldView of;
    uint64_t stands_for;  // the number of memory of its own
  };
  const Tape& tape_;
  std::vector<Asked> asked_;  // those first that were made last
  size_t next_ = 0;
};

}  // namespace numbus::program
