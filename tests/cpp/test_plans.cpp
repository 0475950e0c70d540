// Plans without positions: a plan that accepts another window must be the plan that would have been
// made for it, kernels, storage and every parameter.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>

#include "lazy/run.h"

using namespace numbus;

namespace {

// A window of random views: `structure` decides what is done with which arrays, `positions` how
// large they are and where the views begin.
struct RandomWindow {
  Window window;
  std::vector<Base*> bases;
  std::vector<LayoutRef> keep;

  RandomWindow(uint64_t structure, uint64_t positions) {
    std::mt19937_64 s(structure), p(positions);
    auto pick = [](std::mt19937_64& r, int64_t n) {
      return static_cast<int64_t>(r() % static_cast<uint64_t>(n));
    };
    int rank = 1 + static_cast<int>(pick(s, 2));
    std::vector<int64_t> full, box;
    for (int d = 0; d < rank; ++d) {
      full.push_back(4 + pick(p, 40));
      box.push_back(1 + pick(p, full[d] - 1));
    }
    int count = 2 + static_cast<int>(pick(s, 3));
    for (int b = 0; b < count; ++b) {
      int64_t bytes = 8;
      for (int64_t e : full) bytes *= e;
      bases.push_back(Base::create(null_device(), bytes));
      bases.back()->ref();
      if (pick(s, 3)) bases.back()->data = reinterpret_cast<char*>(0x1000);  // it has storage
      bases.back()->owned = pick(s, 4) > 0 || !bases.back()->data;
      if (pick(s, 2)) ++bases.back()->handles;
    }
    bool boxes = pick(s, 2);
    auto view = [&](int b) -> ViewRef {
      bool whole = !boxes;
      const Layout* all = Layout::contiguous(full, 8);
      if (whole) {
        keep.emplace_back(all);
        return {bases[b], all, 0, DType::F64};
      }
      std::vector<int64_t> strides(all->strides(), all->strides() + rank);
      int64_t offset = 0;
      bool back = pick(s, 6) == 0;
      for (int d = 0; d < rank; ++d) {
        int64_t at = pick(p, full[d] - box[d] + 1);
        if (pick(s, 3) == 0) at = 0;
        if (back) at += box[d] - 1;
        offset += at * strides[d];
        if (back) strides[d] = -strides[d];
      }
      const Layout* l = Layout::get(box, strides, 8);
      keep.emplace_back(l);
      return {bases[b], l, offset, DType::F64};
    };
    int length = 1 + static_cast<int>(pick(s, 5));
    for (int n = 0; n < length; ++n) {
      Instr i;
      i.loop = DType::F64;
      i.line = static_cast<uint64_t>(pick(s, 4));
      ViewRef x = view(static_cast<int>(pick(s, count))),
              y = view(static_cast<int>(pick(s, count)));
      Window::Input in[2] = {{&x, {}, DType::F64}, {&y, {}, DType::F64}};
      if (pick(s, 5) == 0) {
        i.code = Instr::Reduce;
        i.reduction = Reduction::Sum;
        i.nin = 1;
        i.axes = 1ull << pick(s, rank);
        std::vector<int64_t> kept;
        for (int d = 0; d < rank; ++d)
          if (!(i.axes >> d & 1)) kept.push_back(x.layout->shape(d));
        const Layout* l = Layout::contiguous(kept, 8);
        keep.emplace_back(l);
        bases.push_back(Base::create(null_device(), std::max<int64_t>(1, l->size()) * 8));
        bases.back()->ref();
        ++bases.back()->handles;
        window.record(i, {bases.back(), l, 0, DType::F64}, in, 1);
        continue;
      }
      i.op = pick(s, 2) ? Op::add : Op::multiply;
      i.nin = 2;
      window.record(i, view(static_cast<int>(pick(s, count))), in, 2);
    }
    window.complete_key();
  }
  ~RandomWindow() {
    window.clear();
    for (Base* b : bases) {
      b->data = nullptr;
      b->unref();
    }
  }
};

std::vector<int64_t> numbers(const KernelStep& s) {
  std::vector<int64_t> all;
  for_numbers(s, [&](int64_t n) { all.push_back(n); });
  return all;
}

// The first difference between two runs; empty: none.
std::string difference(const Run& a, const Run& b) {
  if (a.steps.size() != b.steps.size()) return "number of steps";
  if (a.plan->final_storage != b.plan->final_storage) return "final storages";
  if (a.storages.size() != b.storages.size()) return "number of storages";
  for (size_t n = 0; n < a.storages.size(); ++n)
    if (a.storages[n].nbytes != b.storages[n].nbytes ||
        a.storages[n].needed != b.storages[n].needed)
      return "storage " + std::to_string(n);
  for (size_t n = 0; n < a.steps.size(); ++n) {
    const KernelStep &x = a.steps[n], &y = b.steps[n];
    std::string step = "step " + std::to_string(n) + ": ";
    if (x.code != y.code) return step + "kernel";
    if (x.takes != y.takes || x.free_after != y.free_after) return step + "storage";
    if (x.keeps != y.keeps || x.serial != y.serial || x.tail != y.tail) return step + "form";
    if (numbers(x) != numbers(y)) return step + "numbers";
  }
  return "";
}

}  // namespace

TEST_CASE("a plan that accepts a window is the plan of that window") {
  int accepted = 0, refused = 0, other_key = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    RandomWindow a(seed, 2 * seed), b(seed, 2 * seed + 1);
    Positions at_a, at_b;
    at_a.read(a.window);
    at_b.read(b.window);
    Run ours(make_plan(a.window, at_a));
    REQUIRE(ours.fill(a.window, at_a));
    if (at_a.key != at_b.key) {
      ++other_key;
      continue;
    }
    if (!ours.fill(b.window, at_b)) {
      ++refused;
      continue;
    }
    ++accepted;
    Run theirs(make_plan(b.window, at_b));
    REQUIRE(theirs.fill(b.window, at_b));
    REQUIRE(difference(ours, theirs) == "");
    // And back: what the first run left in the second window's numbers is forgotten.
    Run again(make_plan(a.window, at_a));
    REQUIRE(again.fill(a.window, at_a));
    REQUIRE(ours.fill(a.window, at_a));
    REQUIRE(difference(ours, again) == "");
  }
  MESSAGE("accepted " << accepted << ", refused " << refused << ", another key " << other_key);
  CHECK(accepted > 300);
  CHECK(refused > 100);
}

TEST_CASE("numbers fold what answers have shown") {
  RandomWindow w(1, 2);
  Positions p;
  p.read(w.window);
  Questions q(p);
  const PlanLayout* l = q.layout(p.layouts[0]);
  Number e = l->shape(0);
  CHECK(e - e == 0);
  CHECK(e * 0 + 3 == 3);
  CHECK(abs(e) == e);
  CHECK(!(e < 0));
  Formulas none = q.finish({});
  CHECK(none.questions() == 0);
}

namespace {

// A program's window at one of many positions, on the null device.
struct MovingWindow {
  Window window;
  std::vector<Base*> bases;
  std::vector<LayoutRef> keep;

  int array(int64_t elements, bool stored) {
    bases.push_back(Base::create(null_device(), 8 * elements));
    bases.back()->ref();
    ++bases.back()->handles;
    if (stored) bases.back()->data = reinterpret_cast<char*>(0x1000);
    return static_cast<int>(bases.size()) - 1;
  }
  ViewRef view(int base, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
               int64_t offset) {
    keep.emplace_back(Layout::get(shape, strides, 8));
    return {bases[base], keep.back().get(), offset, DType::F64};
  }
  void map(Op op, ViewRef out, ViewRef x, ViewRef y) {
    Instr i;
    i.op = op;
    i.nin = 2;
    i.loop = DType::F64;
    i.line = window.instrs_.size();
    Window::Input in[2] = {{&x, {}, DType::F64}, {&y, {}, DType::F64}};
    window.record(i, out, in, 2);
  }
  void sum(ViewRef out, ViewRef x) {
    Instr i;
    i.code = Instr::Reduce;
    i.nin = 1;
    i.loop = DType::F64;
    i.axes = 1;
    i.line = window.instrs_.size();
    Window::Input in[1] = {{&x, {}, DType::F64}};
    window.record(i, out, in, 1);
  }
  ~MovingWindow() {
    window.clear();
    for (Base* b : bases) {
      b->data = nullptr;
      b->unref();
    }
  }
};

constexpr int64_t kRow = 1000;

// r = a[p : p + n] op b[q : q + n], and on with r: `count` times.
void slices(MovingWindow& w, int count, int64_t at) {
  const int a = w.array(kRow, true), b = w.array(kRow, true);
  const int64_t n = 200 + at;
  ViewRef x = w.view(a, {n}, {8}, 8 * (3 + 8 * at));
  for (int k = 0; k < count; ++k) {
    const ViewRef out = w.view(w.array(n, false), {n}, {8}, 0);
    w.map(k % 2 ? Op::multiply : Op::add, out, x, w.view(b, {n}, {8}, 8 * (5 + 8 * at + k)));
    x = out;
  }
}
// a[p : p + n] += a[q : q + n] of one array, parts that do not meet.
void in_place(MovingWindow& w, int count, int64_t at) {
  const int a = w.array(8 * kRow, true);
  const int64_t n = 200 + at;
  for (int k = 0; k < count; ++k) {
    const ViewRef out = w.view(a, {n}, {8}, 8 * (kRow * (2 * k) + 8 * at));
    w.map(Op::add, out, out, w.view(a, {n}, {8}, 8 * (kRow * (2 * k + 1) + 16 * at)));
  }
}
// B[i, j] += (A[i, :j] * B[i, :j]).sum(): three instructions, and one more on its result.
void rows(MovingWindow& w, int count, int64_t at) {
  const int a = w.array(100 * kRow, true), b = w.array(100 * kRow, true);
  const int64_t j = 200 + at, row = 8 * kRow * (1 + at);
  const ViewRef product = w.view(w.array(j, false), {j}, {8}, 0);
  w.map(Op::multiply, product, w.view(a, {j}, {8}, row), w.view(b, {j}, {8}, row));
  const ViewRef total = w.view(w.array(1, false), {}, {}, 0);
  if (count > 1) w.sum(total, product);
  const ViewRef element = w.view(b, {}, {}, row + 64 * (40 + at));
  for (int k = 2; k < count; ++k) w.map(Op::add, element, element, total);
}

// The median, over runs, of the ns that f(window) takes.
template <class F>
double nanoseconds(int windows, F&& f) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> all;
  for (int run = 0; run < 2000; ++run) {
    const auto begin = Clock::now();
    for (int n = 0; n < windows; ++n) f(n);
    all.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / windows);
  }
  std::nth_element(all.begin(), all.begin() + 1000, all.end());
  return all[1000];
}

}  // namespace

// build/numbus_tests --no-skip -tc="measure: a plan hit"
TEST_CASE("measure: a plan hit" * doctest::skip()) {
  using Make = void (*)(MovingWindow&, int, int64_t);
  for (const auto& [name, make] :
       {std::pair<std::string, Make>{"slices", slices}, {"in place", in_place}, {"rows", rows}}) {
    for (int count = 1; count <= 4; ++count) {
      constexpr int kWindows = 32;
      std::vector<std::unique_ptr<MovingWindow>> windows;
      std::vector<Positions> at(kWindows);
      for (int n = 0; n < kWindows; ++n) {
        windows.push_back(std::make_unique<MovingWindow>());
        make(*windows[n], count, n + 1);
        windows[n]->window.complete_key();
        at[n].read(windows[n]->window);
        REQUIRE(at[n].key == at[0].key);
      }
      Run run(make_plan(windows[0]->window, at[0]));
      std::vector<int64_t> values = run.plan->formulas.constants();
      int same = 0;
      for (int n = 0; n < kWindows; ++n) same += run.plan->formulas.evaluate(at[n], values.data());
      REQUIRE(same == kWindows);
      Positions scratch;
      const double read = nanoseconds(kWindows, [&](int n) { scratch.read(windows[n]->window); }),
                   asked = nanoseconds(
                       kWindows, [&](int n) { run.plan->formulas.evaluate(at[n], values.data()); }),
                   filled =
                       nanoseconds(kWindows, [&](int n) { run.fill(windows[n]->window, at[n]); });
      MESSAGE(name << ", " << count << " instructions, " << run.plan->formulas.questions()
                   << " questions: positions and key " << read << " ns, formulas and questions "
                   << asked << " ns, with parameters filled in " << filled << " ns");
    }
  }
}
