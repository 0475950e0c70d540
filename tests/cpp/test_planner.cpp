// Which instructions may share a kernel: whatever order a kernel takes its points in, the planned
// groups leave in memory what the program means, each instruction reading all before it writes.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "lazy/planner.h"
#include "lazy/run.h"
#include "points.h"
#include "sampling.h"

using namespace numbus;
using namespace numbus::test;

namespace {

using Bytes = std::map<std::pair<int, int64_t>, uint64_t>;  // (storage, offset of an element)

uint64_t mixed(uint64_t op, uint64_t x, uint64_t y) {
  uint64_t h = (x * 0x9e3779b97f4a7c15ull) ^ (y + 0x7f4a7c15ull + (x << 6)) ^ op;
  return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
}
uint64_t first(int slot, int64_t at) { return mixed(77, static_cast<uint64_t>(slot), at); }

struct View {
  int base;
  int64_t offset;
  std::vector<int64_t> shape, strides;
};
struct Step {
  uint64_t op;
  View out, in[2];
};

// The program's own meaning, from what was recorded.
Bytes meaning(const std::vector<Step>& steps, const std::vector<int64_t>& sizes) {
  Bytes memory;
  for (size_t b = 0; b < sizes.size(); ++b)
    for (int64_t at = 0; at < sizes[b]; at += 8)
      memory[{static_cast<int>(b), at}] = first(static_cast<int>(b), at);
  auto address = [](const View& v, const std::vector<int64_t>& at) {
    int64_t offset = v.offset;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * v.strides[d];
    return std::pair{v.base, offset};
  };
  for (const Step& s : steps) {
    Bytes results;
    each_point(s.out.shape, [&](const std::vector<int64_t>& at) {
      results[address(s.out, at)] =
          mixed(s.op, memory.at(address(s.in[0], at)), memory.at(address(s.in[1], at)));
    });
    for (auto& [where, value] : results) memory[where] = value;
  }
  return memory;
}

// A program over a few arrays of one shape, and boxes of them; ops are numbered, so that each is
// its own.
struct Program {
  std::vector<int64_t> sizes;
  std::vector<Step> steps;
  std::vector<int64_t> full;

  explicit Program(uint64_t seed) {
    std::mt19937_64 r(seed);
    auto pick = [&](int64_t n) { return static_cast<int64_t>(r() % static_cast<uint64_t>(n)); };
    int rank = 1 + static_cast<int>(pick(2));
    for (int d = 0; d < rank; ++d) full.push_back(1 + pick(5));
    int bases = 2 + static_cast<int>(pick(3));
    int64_t all = 8;
    for (int64_t e : full) all *= e;
    for (int b = 0; b < bases; ++b) sizes.push_back(all);
    std::vector<int64_t> dense(full.size(), 8);
    for (size_t d = full.size() - 1; d-- > 0;) dense[d] = dense[d + 1] * full[d + 1];
    bool boxes = pick(3) > 0;
    auto view = [&](const std::vector<int64_t>& shape, bool spread) {
      View v{static_cast<int>(pick(bases)), 0, shape, dense};
      for (size_t d = 0; d < shape.size(); ++d) {
        int64_t at = pick(3) ? (full[d] - shape[d]) / 2 : pick(full[d] - shape[d] + 1);
        if (spread && pick(8) == 0) {
          v.strides[d] = 0;  // broadcast
        } else if (pick(8) == 0) {
          at += shape[d] - 1;
          v.strides[d] = -v.strides[d];
        }
        v.offset += at * dense[d];
        // Along an extent of one any stride is the same view.
        if (shape[d] == 1 && pick(2)) v.strides[d] = 8 * (pick(4) - 1);
      }
      if (spread && shape.size() == 2 && shape[0] + shape[1] <= full[1] && pick(3) == 0) {
        v.strides = {8, 8};  // windows that slide
        v.offset = 8 * pick(full[0] * full[1] - shape[0] - shape[1] + 2);
      }
      return v;
    };
    int count = 2 + static_cast<int>(pick(4));
    for (int n = 0; n < count; ++n) {
      std::vector<int64_t> shape = full;
      if (boxes)
        for (int64_t& e : shape)
          if (pick(2)) e = 1 + pick(e);
      steps.push_back({static_cast<uint64_t>(1 + pick(2)),
                       view(shape, false),
                       {view(shape, true), view(shape, true)}});
    }
  }
};

struct Planned {
  std::vector<Base*> bases;
  std::vector<LayoutRef> keep;
  Window window;
  Positions positions;

  explicit Planned(const Program& p) {
    for (int64_t bytes : p.sizes) {
      bases.push_back(Base::create(null_device(), static_cast<size_t>(bytes)));
      bases.back()->ref();
      bases.back()->data = reinterpret_cast<char*>(0x1000);
      ++bases.back()->handles;
    }
    uint64_t line = 0;
    for (const Step& s : p.steps) {
      auto view = [&](const View& v) -> ViewRef {
        keep.emplace_back(Layout::get(v.shape, v.strides, 8));
        return {bases[v.base], keep.back().get(), v.offset, DType::F64};
      };
      Instr i;
      i.loop = DType::F64;
      i.line = ++line;
      i.op = s.op == 1 ? Op::add : Op::multiply;
      i.nin = 2;
      ViewRef x = view(s.in[0]), y = view(s.in[1]);
      Window::Input in[2] = {{&x, {}, DType::F64}, {&y, {}, DType::F64}};
      window.record(i, view(s.out), in, 2);
    }
    verify(window);
    window.complete_key();
    positions.read(window);
  }
  ~Planned() {
    window.clear();
    for (Base* b : bases) {
      b->data = nullptr;
      b->unref();
    }
  }
};

int64_t address(const Access& a, const std::vector<int64_t>& at) {
  int64_t offset = a.offset.value();
  for (int d = 0; d < a.layout->ndim(); ++d) offset += at[d] * a.layout->stride(d).value();
  return offset;
}

// What the planned groups do, each group's points in an order of their own.
Bytes execution(const Planner& p, const Planned& w, uint64_t seed) {
  std::mt19937_64 r(seed);
  Bytes memory;
  for (size_t s = 0; s < w.window.slots_.size(); ++s) {
    auto base = std::find(w.bases.begin(), w.bases.end(), w.window.slots_[s].base);
    auto number = static_cast<int>(base - w.bases.begin());
    auto bytes = static_cast<int64_t>((*base)->nbytes);
    for (int64_t at = 0; at < bytes; at += 8) memory[{static_cast<int>(s), at}] = first(number, at);
  }
  for (const Group& g : p.groups) {
    std::vector<int64_t> shape;
    for (Number n : g.shape) shape.push_back(n.value());
    std::vector<std::vector<int64_t>> points;
    each_point(shape, [&](const std::vector<int64_t>& at) { points.push_back(at); });
    std::shuffle(points.begin(), points.end(), r);
    for (const std::vector<int64_t>& point : points)
      for (const Member& m : g.members) {
        const PlanInstr& i = p.instrs[m.instr];
        std::vector<int64_t> at = point;
        bool inside = true;
        for (size_t d = 0; d < at.size(); ++d) {
          at[d] -= m.at[d].value();
          inside = inside && at[d] >= 0 && at[d] < i.shape[d].value();
        }
        if (!inside) continue;
        auto in = [&](int k) { return memory[{i.in[k].storage, address(i.in[k], at)}]; };
        uint64_t value =
            i.instr.op == Op::cast ? in(0) : mixed(i.instr.op == Op::add ? 1 : 2, in(0), in(1));
        memory[{i.out.storage, address(i.out, at)}] = value;
      }
  }
  Bytes left;
  for (size_t s = 0; s < w.window.slots_.size(); ++s) {
    auto base = std::find(w.bases.begin(), w.bases.end(), w.window.slots_[s].base);
    auto number = static_cast<int>(base - w.bases.begin());
    for (int64_t at = 0; at < static_cast<int64_t>((*base)->nbytes); at += 8)
      left[{number, at}] = memory[{p.current[s], at}];
  }
  return left;
}

// Plans a program, compares, and gives the number of groups.
size_t groups_of(const Program& program, uint64_t seed) {
  Planned w(program);
  Questions questions(w.positions);
  Planner p(w.window, questions, {});
  p.rewrite();
  p.find_dependences();
  p.fuse();
  p.order();
  Bytes wanted = meaning(program.steps, program.sizes);
  size_t wrong = 0;
  for (uint64_t order = 0; order < 2; ++order)
    for (auto& [where, value] : execution(p, w, seed + order)) wrong += wanted.at(where) != value;
  CAPTURE(seed);
  CHECK(wrong == 0);
  return p.groups.size();
}

// One array of 6 x 5 after the other; a step reads x and y and writes out.
View box(int base, std::vector<int64_t> at, std::vector<int64_t> shape) {
  return {base, (at[0] * 5 + at[1]) * 8, std::move(shape), {40, 8}};
}
size_t groups_of(std::vector<Step> steps) {
  Program p(0);
  p.full = {6, 5};
  p.sizes.assign(4, 240);
  p.steps = std::move(steps);
  return groups_of(p, 0);
}

}  // namespace

TEST_CASE("groups mean what their instructions mean one after the other, in any order of points") {
  size_t programs = 0, steps = 0, groups = 0;
  for (uint64_t seed : seeds(20000)) {
    Program p(seed);
    ++programs;
    steps += p.steps.size();
    groups += groups_of(p, seed);
  }
  // Not by never sharing a kernel.
  CHECK(groups < steps);
  CHECK(groups > programs);
}

// Windows of a row that overlap: one element is several points of the domain that reads it, so that
// a row or column that is written, with the same strides, is at no one position in it.
TEST_CASE("windows that slide share no kernel with what writes below them") {
  for (uint64_t seed : seeds(4000)) {
    std::mt19937_64 r(seed);
    auto pick = [&](int64_t n) { return static_cast<int64_t>(r() % static_cast<uint64_t>(n)); };
    Program p(0);
    p.full = {12};
    p.sizes.assign(4, 8 * 12);
    int64_t rows = 1 + pick(3), columns = 1 + pick(3), length = 1 + pick(3);
    bool flat = pick(2);
    std::vector<int64_t> all{rows, columns}, line{flat ? 1 : length, flat ? length : 1};
    auto dense = [&](int base, const std::vector<int64_t>& shape, int64_t at) {
      return View{base, 8 * at, shape, {8 * columns, 8}};
    };
    View slides{0, 8 * pick(3), all, {8, 8}}, written{0, 8 * pick(5), line, {8, 8}};
    View kept = dense(1, all, 0), other = dense(2, all, pick(3));
    Step reads{1, kept, {slides, other}};
    Step writes{2, written, {dense(pick(2) ? 1 : 2, line, pick(3)), dense(3, line, 0)}};
    p.steps = pick(2) ? std::vector{reads, writes} : std::vector{writes, reads};
    if (pick(2)) p.steps.push_back({1, dense(3, all, 0), {other, slides}});
    groups_of(p, seed);
  }
}

TEST_CASE("accesses that are identical share a kernel") {
  View a = box(0, {0, 0}, {6, 5}), b = box(1, {0, 0}, {6, 5}), c = box(2, {0, 0}, {6, 5}),
       d = box(3, {0, 0}, {6, 5});
  CHECK(groups_of({{1, b, {a, a}}, {2, c, {b, a}}, {1, d, {c, b}}}) == 1);
  CHECK(groups_of({{1, b, {a, c}}, {2, a, {b, c}}}) == 1);  // a is read before it is written
}

TEST_CASE("an embedded box shares the kernel of the whole where its points are the same") {
  View a = box(0, {0, 0}, {6, 5}), b = box(1, {0, 0}, {6, 5});
  View inner = box(1, {1, 1}, {4, 3}), to = box(2, {1, 1}, {4, 3});
  CHECK(groups_of({{1, b, {a, a}}, {2, to, {inner, inner}}}) == 1);
  // The box is elsewhere in what it writes than in what it reads: the reads decide.
  CHECK(groups_of({{1, b, {a, a}}, {2, box(2, {0, 0}, {4, 3}), {inner, inner}}}) == 1);
  // Two positions at once are none.
  CHECK(groups_of({{1, b, {a, a}}, {2, to, {inner, box(1, {0, 0}, {4, 3})}}}) == 2);
  CHECK(groups_of({{1, b, {a, a}}, {2, to, {inner, box(1, {2, 1}, {4, 3})}}}) == 2);
}

TEST_CASE("a shifted read of what a kernel writes needs a kernel of its own") {
  View a = box(0, {0, 0}, {6, 5}), left = box(1, {0, 0}, {6, 4}), right = box(1, {0, 1}, {6, 4});
  View b = box(1, {0, 0}, {6, 5}), to = box(2, {0, 0}, {6, 4});
  CHECK(groups_of({{1, b, {a, a}}, {2, to, {left, right}}}) == 2);
  // Reads of what no one writes may be shifted.
  CHECK(groups_of({{1, to, {left, right}}, {2, box(3, {0, 0}, {6, 4}), {right, left}}}) == 1);
}
