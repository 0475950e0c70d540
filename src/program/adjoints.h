// Adjoints of bases: what is differentiated, by each of their elements, as far as it is known.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>

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
  // The bases that have any, in an order that is theirs: the order in which gradients are made is
  // part of what is recorded, and steps that are compared with each other have it in common.
  std::vector<uint64_t> bases() const {
    std::vector<uint64_t> found;
    for (const auto& [base, adjoint] : all_) found.push_back(base);
    std::ranges::sort(found);
    return found;
  }
  // To be changed in place; the region shows no element repeatedly.
  Array memory(const Region& r);

 private:
  struct Adjoint {
    Region region;                // of all its elements that are not zero, in case of `value`
    std::optional<Array> value;   // never changed
    std::optional<Array> memory;  // of the base's size, changed in place
  };
  Array& settle(const Region& r, Adjoint& a);

  std::unordered_map<uint64_t, Adjoint> all_;
};

Array part_of(const Array& memory, const Region& r);
Arg zero();

}  // namespace numbus::program
