// Adjoints of bases: what is differentiated, by each of their elements, as far as it is known.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program/program.h"

namespace numbus::program {

// A contribution's view of memory is the view of the values: adjoints lie as the values do, so that
// slices, transposes and parts of complex numbers need no rules of their own.
class Adjoints {
 public:
  bool has(const Region& r) const { return has(r.base); }
  bool has(uint64_t base) const { return all_.contains(base); }
  // Of a region, nothing where it is zero. What it gives is never changed afterwards; last: because
  // the region is all of its base and is cleared next.
  std::optional<Array> of(const Region& r, bool last = false);
  // The same as an array of the caller's own, who is the only one to ask for it; nothing where a
  // copy is needed.
  std::optional<Array> take(const Region& r);
  // Adds an array of the region's shape; elements that the region shows repeatedly get sums.
  void add(const Region& r, const Array& contribution);
  // The region, or where a mask holds, had other values before: their adjoint is that, or zero.
  void set(const Region& r, const Array& value, const Array* where);
  void clear(const Region& r, const Array* where);
  // The bases that have any, in the order in which they got it: the order in which gradients are
  // made is part of what is recorded, and equal tapes have it in common whatever their bases are.
  std::vector<uint64_t> bases() const {
    std::vector<std::pair<size_t, uint64_t>> found;
    for (const auto& [base, adjoint] : all_) found.emplace_back(adjoint.number, base);
    std::ranges::sort(found);
    std::vector<uint64_t> bases;
    for (const auto& [number, base] : found) bases.push_back(base);
    return bases;
  }
  // To be changed in place; the region shows no element repeatedly.
  Array memory(const Region& r);
  // Is shown contributions to some bases before they are added.
  class Listener {
   public:
    virtual bool hears_of(uint64_t base) const = 0;
    virtual void add(Adjoints& adjoints, const Region& r, const Array& contribution) = 0;

   protected:
    ~Listener() = default;
  };
  Listener* listener = nullptr;
  bool is_heard(const Region& r) const { return listener && listener->hears_of(r.base); }

 private:
  struct Adjoint {
    Region region;                // of all its elements that are not zero, in case of `value`
    std::optional<Array> value;   // never changed
    std::optional<Array> memory;  // of the base's size, changed in place
    size_t number = 0;            // how many there were before it
  };
  Adjoint& of_base(uint64_t base, bool* first = nullptr);
  Array& settle(const Region& r, Adjoint& a);

  std::unordered_map<uint64_t, Adjoint> all_;
  size_t made_ = 0;
};

Array part_of(const Array& memory, const Region& r);
Arg zero();

}  // namespace numbus::program
