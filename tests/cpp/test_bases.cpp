// The table of bases of a program, beside the standard library's.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "program/bases.h"

using namespace numbus;
using namespace numbus::program;

TEST_CASE("a table of bases keeps what is known, whatever comes and goes") {
  std::mt19937_64 draw(20261128);
  for (const uint64_t kinds : {uint64_t{7}, uint64_t{300}, ~uint64_t{0}}) {
    Bases table;
    std::unordered_map<uint64_t, std::vector<int64_t>> wanted;
    std::vector<uint64_t> ids;
    for (int step = 0; step < 20'000; ++step) {
      CAPTURE(step);
      if (ids.empty() || draw() % 3) {
        // Ids that begin alike meet in the table.
        const uint64_t id = draw() % kinds * 64 + 1;
        if (!wanted.contains(id)) ids.push_back(id);
        const auto value = static_cast<int64_t>(draw() >> 1);
        table.of(id).writers.push_back(value);
        wanted[id].push_back(value);
      } else {
        const size_t at = draw() % ids.size();
        KnownBase* const known = table.find(ids[at]);
        REQUIRE(known);
        known->writers.clear();
        table.tidy(ids[at]);
        wanted.erase(ids[at]);
        ids[at] = ids.back();
        ids.pop_back();
      }
      if (step % 97 && step > 50) continue;
      size_t count = 0;
      table.each([&](const KnownBase& known) {
        ++count;
        const auto found = wanted.find(known.id);
        REQUIRE(found != wanted.end());
        CHECK(std::vector<int64_t>(known.writers.begin(), known.writers.end()) == found->second);
      });
      CHECK(count == wanted.size());
      for (const uint64_t id : ids) CHECK(table.find(id));
      CHECK(!table.find(0x123456789abcdefull * 2));
    }
  }
}

TEST_CASE("a vector of few keeps its elements in order") {
  std::mt19937_64 draw(7);
  Few<int64_t, 2> few;
  std::vector<int64_t> wanted;
  for (int step = 0; step < 5000; ++step) {
    const auto value = static_cast<int64_t>(draw() % 10);
    if (draw() % 4) {
      few.push_back(value);
      wanted.push_back(value);
    } else {
      few.erase_if([&](int64_t x) { return x == value; });
      std::erase(wanted, value);
    }
    if (draw() % 16 == 0) {
      Few<int64_t, 2> other = std::move(few);
      CHECK(few.empty());  // NOLINT(bugprone-use-after-move): as it promises
      few.push_back(1);
      few = std::move(other);
    }
    CHECK(std::vector<int64_t>(few.begin(), few.end()) == wanted);
    CHECK(few.contains(value) == (std::ranges::find(wanted, value) != wanted.end()));
  }
}
