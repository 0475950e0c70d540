// Layouts against brute force: which bytes they touch, whether two elements share one, and whether
// two of them do.
#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

#include "base/layout.h"
#include "sampling.h"

using namespace numbus;
using namespace numbus::test;

namespace {

struct Random {
  std::mt19937_64 engine;
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1));
  }
};

LayoutRef random_layout(Random& r) {
  int64_t sizes[] = {1, 2, 4, 8};
  int itemsize = static_cast<int>(sizes[r.pick(0, 3)]);
  std::vector<int64_t> shape, strides;
  for (int64_t d = r.pick(0, 3); d > 0; --d) {
    shape.push_back(r.pick(0, 9) == 0 ? 0 : r.pick(1, 5));
    strides.push_back(r.pick(-12, 12) * (r.pick(0, 3) ? itemsize : 1));
  }
  return Layout::get(shape, strides, itemsize);
}

// The first byte of every element, relative to the view's own first.
std::vector<int64_t> elements(const Layout& l) {
  std::vector<int64_t> all;
  if (l.size() > 0) all.push_back(0);
  for (int d = 0; d < l.ndim() && l.size() > 0; ++d) {
    std::vector<int64_t> more;
    for (int64_t at : all)
      for (int64_t n = 0; n < l.shape(d); ++n) more.push_back(at + n * l.stride(d));
    all = std::move(more);
  }
  return all;
}

std::multiset<int64_t> bytes(const Layout& l, int64_t offset) {
  std::multiset<int64_t> all;
  for (int64_t at : elements(l))
    for (int b = 0; b < l.itemsize(); ++b) all.insert(offset + at + b);
  return all;
}

}  // namespace

TEST_CASE("a layout's range of bytes and whether elements share one") {
  for (uint64_t seed : seeds(20000)) {
    CAPTURE(seed);
    Random r{std::mt19937_64(seed)};
    LayoutRef l = random_layout(r);
    std::multiset<int64_t> all = bytes(*l, 0);
    if (all.empty()) continue;
    REQUIRE(l->low() == *all.begin());
    REQUIRE(l->high() == *all.rbegin() + 1);
    bool shares = false;
    for (int64_t b : all) shares = shares || all.count(b) > 1;
    REQUIRE(!(l->injective() && shares));
  }
}

TEST_CASE("equal layouts are one object") {
  for (uint64_t seed : seeds(2000)) {
    CAPTURE(seed);
    Random r{std::mt19937_64(seed)};
    LayoutRef a = random_layout(r);
    std::vector<int64_t> shape(a->shape(), a->shape() + a->ndim());
    std::vector<int64_t> strides(a->strides(), a->strides() + a->ndim());
    LayoutRef b = Layout::get(shape, strides, a->itemsize());
    REQUIRE(a.get() == b.get());
  }
}

TEST_CASE("a layout that is found again outlives those that are let go before it is referred to") {
  const auto line = [](int64_t n) {
    const int64_t stride = 8;
    return Layout::get({&n, 1}, {&stride, 1}, 8);
  };
  const auto let_go = [](const Layout* l) { const LayoutRef held(l); };
  for (int64_t others = 0; others < 256; ++others) {
    let_go(line(1'000'003));
    for (int64_t k = 0; k < others; ++k) let_go(line(2'000'000 + others * 256 + k));
    const Layout* found = line(1'000'003);
    for (int64_t k = 0; k < 200; ++k) let_go(line(3'000'000 + others * 256 + k));
    const LayoutRef held(found);
    CHECK(held->shape(0) == 1'000'003);
    CHECK(found == line(1'000'003));
  }
}

TEST_CASE("two layouts overlap where they share a byte") {
  int shared = 0, apart = 0, unsure = 0;
  for (uint64_t seed : seeds(40000)) {
    CAPTURE(seed);
    Random r{std::mt19937_64(seed)};
    LayoutRef a = random_layout(r), b = random_layout(r);
    int64_t offset_a = r.pick(-20, 20), offset_b = r.pick(-20, 20);
    std::multiset<int64_t> of_a = bytes(*a, offset_a), of_b = bytes(*b, offset_b);
    bool share = false;
    for (int64_t x : of_a) share = share || of_b.count(x) > 0;
    bool says = may_overlap(offset_a, *a, offset_b, *b);
    REQUIRE(says == may_overlap(offset_b, *b, offset_a, *a));
    // It may only err by saying yes.
    REQUIRE((says || !share));
    shared += share;
    apart += !share && !says;
    unsure += !share && says;
  }
  CHECK(shared > 0);
  CHECK(apart > 0);
  // Of layouts this small the search is exact.
  CHECK(unsure == 0);
}
