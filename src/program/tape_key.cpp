// What tells one tape from others.
#include <algorithm>
#include <bit>

#include "program/tape.h"

namespace numbus::program {
namespace {

// Bases by their numbers, in the order in which they are met.
class Numbers {
 public:
  explicit Numbers(std::vector<uint64_t>& bases) : bases_(bases), table_(kLeast) {}

  uint64_t of(uint64_t base) {
    if (2 * bases_.size() >= table_.size()) grow();
    size_t at = slot(base);
    if (table_[at] == 0) {
      bases_.push_back(base);
      table_[at] = static_cast<uint32_t>(bases_.size());
    }
    return table_[at] - 1;
  }

 private:
  static constexpr size_t kLeast = 256;

  // Where the base is, or would be; bases are numbered as they are made.
  size_t slot(uint64_t base) const {
    size_t at = base & (table_.size() - 1);
    while (table_[at] != 0 && bases_[table_[at] - 1] != base) at = (at + 1) & (table_.size() - 1);
    return at;
  }
  void grow() {
    table_.assign(4 * table_.size(), 0);
    for (size_t n = 0; n < bases_.size(); ++n)
      table_[slot(bases_[n])] = static_cast<uint32_t>(n + 1);
  }

  std::vector<uint64_t>& bases_;
  std::vector<uint32_t> table_;  // one more than the number; zero: free
};

class Reader {
 public:
  Reader(TapeKey& key, bool own) : key_(key), own_(own), numbers_(key.bases) {}

  bool add(const Entry& e) {
    if (!e.told.empty() || (e.pullback && e.key.empty())) return false;
    if (e.pullback) {
      key_.words.push_back(~uint64_t{0});
      key_.words.push_back(e.key.size());
      key_.words.insert(key_.words.end(), e.key.begin(), e.key.end());
      for (const Array& a : e.held) add_saved(a);
    } else {
      append_header(e.instr, key_.words);
    }
    key_.words.push_back(e.operands.size() << 32 | e.results.size());
    for (const auto* all : {&e.operands, &e.results})
      for (const Operand& o : *all) add(o);
    return true;
  }
  void add(const Region& r) {
    key_.words.push_back(numbers_.of(r.base) << 16 | static_cast<uint64_t>(r.dtype));
    add(*r.layout.get(), r.layout);
    key_.words.push_back(static_cast<uint64_t>(r.offset));
    key_.words.push_back(static_cast<uint64_t>(r.nbytes));
    key_.words.push_back(reinterpret_cast<uint64_t>(r.device));
  }

 private:
  void add(const Layout& l, const LayoutRef& held) {
    key_.words.push_back(reinterpret_cast<uint64_t>(&l));
    if (own_) key_.layouts.push_back(held);
  }
  void add(const Operand& o) {
    key_.words.push_back(
        uint64_t{o.number} | uint64_t{o.active} << 1 | uint64_t{o.saved.has_value()} << 2 |
        static_cast<uint64_t>(o.scalar.kind) << 8 | static_cast<uint64_t>(o.region.dtype) << 16);
    if (o.number) {
      key_.words.push_back(std::bit_cast<uint64_t>(o.scalar.f[0]));
      key_.words.push_back(std::bit_cast<uint64_t>(o.scalar.f[1]));
    } else {
      add(o.region);
    }
    if (o.saved) add_saved(*o.saved);
  }
  void add_saved(const Array& a) {
    key_.saved.push_back(a);
    key_.words.push_back(numbers_.of(a.base->id) << 16 | static_cast<uint64_t>(a.dtype));
    add(*a.layout.get(), a.layout);
    key_.words.push_back(static_cast<uint64_t>(a.offset));
    key_.words.push_back(static_cast<uint64_t>(a.base->nbytes));
    key_.words.push_back(reinterpret_cast<uint64_t>(a.base->device));
  }

  TapeKey& key_;
  const bool own_;
  Numbers numbers_;
};

}  // namespace

bool Tape::read(TapeKey& key, const Array& output, bool own) const {
  if (!told_views_.empty()) return false;
  key.words.reserve(64 * (entries_.size() - gone_));
  Reader reader(key, own);
  reader.add(Region(output.view()));
  // What lies on other devices alone is no part of a pass that begins on this one: where elements
  // move between devices there is an entry on both.
  auto elsewhere = [&](const Operand& o) {
    return o.region.device && o.region.device != output.base->device;
  };
  for (size_t n = 0; n < entries_.size(); ++n) {
    if (entries_[n].gone()) continue;
    if (std::ranges::all_of(entries_[n].operands,
                            [&](const Operand& o) { return o.number || elsewhere(o); }) &&
        std::ranges::all_of(entries_[n].results, elsewhere))
      continue;
    if (!reader.add(entries_[n])) return false;
    key.entries.push_back(first_ + static_cast<int64_t>(n));
  }
  return true;
}

}  // namespace numbus::program
