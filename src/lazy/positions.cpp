// Reading a window's positions.
#include "lazy/positions.h"

#include "base/hash.h"
#include "lazy/window.h"

namespace numbus {

int Numbering::find(uint64_t key) const {
  if (!filled_) {
    for (size_t n = 0; n < keys_.size(); ++n)
      if (keys_[n] == key) return static_cast<int>(n);
    return -1;
  }
  size_t mask = table_.size() - 1, i = mix(0, key) & mask;
  for (; table_[i] >= 0; i = (i + 1) & mask)
    if (keys_[table_[i]] == key) return table_[i];
  return -1;
}

void Numbering::fill() {
  size_t size = 64;
  while (size < 4 * keys_.size()) size *= 2;
  table_.assign(size, -1);
  for (size_t n = 0; n < keys_.size(); ++n) {
    size_t i = mix(0, keys_[n]) & (size - 1);
    while (table_[i] >= 0) i = (i + 1) & (size - 1);
    table_[i] = static_cast<int32_t>(n);
  }
  filled_ = true;
}

int Numbering::add(uint64_t key) {
  int known = find(key);
  if (known >= 0) return known;
  auto n = static_cast<int32_t>(keys_.size());
  keys_.push_back(key);
  if (!filled_) {
    if (keys_.size() > kFew) fill();
    return n;
  }
  if (2 * keys_.size() > table_.size()) {
    fill();
    return n;
  }
  size_t mask = table_.size() - 1, i = mix(0, key) & mask;
  while (table_[i] >= 0) i = (i + 1) & mask;
  table_[i] = n;
  return n;
}

void Positions::read(const Window& w) {
  layouts.clear();
  offsets.clear();
  slots.clear();
  key.clear();
  layout_numbers_.clear();
  offset_numbers_.clear();
  auto operand = [&](const Operand& o) {
    int l = layout_numbers_.add(reinterpret_cast<uint64_t>(o.layout));
    if (l == static_cast<int>(layouts.size())) layouts.push_back(o.layout);
    int at = offset_numbers_.add(offset_key(o.slot, o.offset));
    if (at == static_cast<int>(offsets.size())) offsets.push_back({o.slot, o.offset});
    if (o.slot == static_cast<int>(slots.size())) {
      int64_t bytes = w.slots_[o.slot].base->nbytes;
      slots.push_back({bytes, l, o.layout->size() * o.layout->itemsize() == bytes});
    }
    key.push_back(static_cast<uint64_t>(o.slot) | static_cast<uint64_t>(l) << 16 |
                  static_cast<uint64_t>(at) << 32 | static_cast<uint64_t>(o.dtype) << 48 |
                  static_cast<uint64_t>(o.offset == 0) << 56);
  };
  for (const Instr& i : w.instrs_) {
    append_header(i, key);
    for (int n = 0; n < i.nin + i.predicated; ++n) {
      if (i.in[n].slot >= 0)
        operand(i.in[n]);
      else
        key.push_back(~static_cast<uint64_t>(i.in[n].dtype));
    }
    operand(i.out);
    for (int n = i.inputs(); n < i.inputs() + i.more; ++n) operand(i.in[n]);
  }
  for (const Layout* l : layouts) {
    const Layout::Kind& kind = l->kind();
    key.push_back(kind.words[0]);
    key.push_back(kind.words[1]);
    // Many dimensions are rare: such a plan serves its own layout only.
    if (!kind.exact) key.push_back(reinterpret_cast<uint64_t>(l));
  }
  for (size_t s = 0; s < slots.size(); ++s)
    key.push_back(liveness(w.slots_[s]) | static_cast<uint64_t>(slots[s].whole) << 8);
  append_requests(w, key);
  key.push_back(w.key_.back());  // repeats, device
  hash = hash_words(key.data(), key.size());
}

}  // namespace numbus
