// The array API as the bindings call it: random programs of views, assignments that overlap, masks,
// reductions, gathers and scatters, against loops over plain vectors.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

#include "array/array.h"
#include "base/error.h"
#include "compile/compiler.h"
#include "points.h"
#include "sampling.h"

using namespace numbus;
using namespace numbus::test;

namespace {

using Index = std::vector<int64_t>;

// A view of a vector, and the array that should equal it.
struct Pair {
  std::shared_ptr<std::vector<int64_t>> memory;
  int64_t offset = 0;
  Index shape, strides;  // in elements
  Array array;

  int64_t& at(const Index& i) const {
    int64_t n = offset;
    for (size_t d = 0; d < i.size(); ++d) n += i[d] * strides[d];
    return memory->at(static_cast<size_t>(n));
  }
  // Of an operand that is broadcast to a shape.
  int64_t spread(const Index& i) const {
    Index own(shape.size());
    for (size_t d = 0; d < own.size(); ++d)
      own[d] = shape[d] == 1 ? 0 : i[i.size() - own.size() + d];
    return at(own);
  }
  std::vector<int64_t> values() const {
    std::vector<int64_t> all;
    each_point(shape, [&](const Index& i) { all.push_back(at(i)); });
    return all;
  }
};

std::vector<int64_t> values(const Array& a) {
  std::vector<int64_t> all;
  std::shared_ptr<char> first = host_view(a, "test");
  each_point({a.shape().begin(), a.shape().end()}, [&](const Index& i) {
    int64_t n = 0;
    for (size_t d = 0; d < i.size(); ++d) n += i[d] * a.layout->stride(static_cast<int>(d));
    all.push_back(a.dtype == DType::Bool ? first.get()[n] != 0
                                         : *reinterpret_cast<int64_t*>(first.get() + n));
  });
  return all;
}

class Program {
 public:
  explicit Program(uint64_t seed) : r_(seed) {
    for (int n = 0; n < 3; ++n) make();
    int64_t steps = 3 + pick(10);
    for (int64_t n = 0; n < steps; ++n) step();
  }

  // The first array that differs, or -1.
  int difference() const {
    for (size_t n = 0; n < all_.size(); ++n) {
      const Pair& p = all_[n];
      Index shape(p.array.shape().begin(), p.array.shape().end());
      if (shape != p.shape || values(p.array) != p.values()) return static_cast<int>(n);
    }
    return -1;
  }

 private:
  int64_t pick(int64_t n) { return static_cast<int64_t>(r_() % static_cast<uint64_t>(n)); }
  Pair& any() { return all_[static_cast<size_t>(pick(static_cast<int64_t>(all_.size())))]; }

  static Pair dense(const Index& shape) {
    Pair p;
    int64_t size = 1;
    p.shape = shape;
    p.strides.resize(shape.size());
    for (size_t d = shape.size(); d-- > 0; size *= shape[d]) p.strides[d] = size;
    p.memory = std::make_shared<std::vector<int64_t>>(static_cast<size_t>(size));
    return p;
  }
  // A dense array of what a function gives, beside ours.
  void keep(const Index& shape, Array array, const std::function<int64_t(const Index&)>& f) {
    Pair p = dense(shape);
    p.array = std::move(array);
    each_point(shape, [&](const Index& i) { p.at(i) = f(i); });
    all_.push_back(std::move(p));
  }
  void make() {
    Index shape{2 + pick(4), 1 + pick(4)};
    int64_t size = shape[0] * shape[1], first = pick(20) - 10, by = 1 + pick(3);
    Array line = arange(0, 0, first, by, size, DType::I64, &cpu_device());
    keep(shape, reshape(line, shape),
         [&](const Index& i) { return first + by * (i[0] * shape[1] + i[1]); });
  }

  Pair view_of_any() {
    Pair p = any();
    switch (pick(3)) {
      case 0:
        if (p.shape.size() == 2) {
          int axes[] = {1, 0};
          std::swap(p.shape[0], p.shape[1]);
          std::swap(p.strides[0], p.strides[1]);
          p.array = transpose(p.array, axes);
        }
        return p;
      default: {
        // A slice with a step, also backwards. Ours may lie otherwise in memory.
        Index strides;
        int64_t offset = p.array.offset;
        for (size_t d = 0; d < p.shape.size(); ++d) {
          int64_t step = 1 + pick(2), from = pick(p.shape[d]);
          int64_t count = (p.shape[d] - from + step - 1) / step;
          if (pick(4) == 0) {
            step = -step;
            count = (from - step) / -step;
          }
          int64_t stride = p.array.layout->stride(static_cast<int>(d));
          offset += from * stride;
          strides.push_back(stride * step);
          p.offset += from * p.strides[d];
          p.strides[d] *= step;
          p.shape[d] = count;
        }
        LayoutRef layout(Layout::get(p.shape, strides, 8));
        p.array = view_of(p.array, layout.get(), offset);
        return p;
      }
    }
  }

  // An operand of that shape, or one that is broadcast to it.
  Pair like(const Index& shape) {
    for (int tries = 0; tries < 20; ++tries) {
      Pair p = pick(2) ? view_of_any() : any();
      bool fits = p.shape.size() <= shape.size();
      for (size_t d = 0; fits && d < p.shape.size(); ++d) {
        int64_t e = shape[shape.size() - p.shape.size() + d];
        fits = p.shape[d] == e || p.shape[d] == 1;
      }
      if (fits) return p;
    }
    Pair p = dense(Index(shape.size(), 1));
    p.memory->at(0) = pick(9);
    p.array = full(p.shape, DType::I64, Scalar::from_int(p.memory->at(0)));
    return p;
  }

  static int64_t run(Op op, int64_t x, int64_t y) {
    switch (op) {
      case Op::add:
        return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
      case Op::subtract:
        return static_cast<int64_t>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
      case Op::minimum: return std::min(x, y);
      default: return std::max(x, y);
    }
  }

  void step() {
    constexpr Op kOps[] = {Op::add, Op::subtract, Op::minimum, Op::maximum};
    switch (pick(8)) {
      case 0: all_.push_back(view_of_any()); break;
      case 1: {  // a new array
        Pair x = view_of_any(), y = like(x.shape);
        Op op = kOps[pick(4)];
        Arg args[] = {Arg(&x.array), Arg(&y.array)};
        keep(x.shape, apply(op, args),
             [&](const Index& i) { return run(op, x.at(i), y.spread(i)); });
        break;
      }
      case 2: {  // in place, where operands may overlap
        Pair to = view_of_any(), x = like(to.shape), y = like(to.shape);
        Op op = kOps[pick(4)];
        Arg args[] = {Arg(&x.array), Arg(&y.array)};
        Options o;
        o.out = &to.array;
        apply(op, args, o);
        store(to, [&](const Index& i) { return run(op, x.spread(i), y.spread(i)); });
        break;
      }
      case 3: {
        Pair to = view_of_any(), from = like(to.shape);
        assign(to.array, Arg(&from.array));
        store(to, [&](const Index& i) { return from.spread(i); });
        break;
      }
      case 4: {  // where a mask holds
        Pair to = view_of_any(), from = like(to.shape), other = like(to.shape);
        Arg args[] = {Arg(&to.array), Arg(&other.array)};
        Array mask = apply(Op::less, args);
        assign(to.array, Arg(&from.array), &mask);
        store(to, [&](const Index& i) {
          return to.at(i) < other.spread(i) ? from.spread(i) : to.at(i);
        });
        break;
      }
      case 5: {
        Pair x = view_of_any();
        if (x.shape.empty()) break;
        int64_t axis = pick(static_cast<int64_t>(x.shape.size()));
        bool sums = pick(2);
        Array got = reduce(sums ? Reduction::Sum : Reduction::Max, x.array, 1ull << axis, false, {},
                           nullptr, 0);
        Index left = x.shape;
        left.erase(left.begin() + axis);
        keep(left, got, [&](const Index& i) {
          int64_t r = sums ? 0 : INT64_MIN;
          for (int64_t k = 0; k < x.shape[static_cast<size_t>(axis)]; ++k) {
            Index at = i;
            at.insert(at.begin() + axis, k);
            r = run(sums ? Op::add : Op::maximum, r, x.at(at));
          }
          return r;
        });
        break;
      }
      case 6: {  // rows by their numbers, and back into rows
        Pair x = view_of_any();
        if (x.shape.empty()) break;
        int64_t count = 1 + pick(5);
        std::vector<int64_t> rows;
        for (int64_t n = 0; n < count; ++n) rows.push_back(pick(x.shape[0]));
        Pair index = dense({count});
        *index.memory = rows;
        Array numbers = empty(index.shape, DType::I64, &cpu_device());
        std::copy(rows.begin(), rows.end(), reinterpret_cast<int64_t*>(data_of(numbers, "test")));
        if (pick(2)) {
          Index shape = x.shape;
          shape[0] = count;
          keep(shape, gather(x.array, 1, {&numbers, 1}, 0), [&](const Index& i) {
            Index at = i;
            at[0] = rows[static_cast<size_t>(i[0])];
            return x.at(at);
          });
        } else {
          int64_t value = pick(100);
          scatter(x.array, 1, {&numbers, 1}, 0, Arg(Scalar::from_int(value), DType::I64));
          each_point(x.shape, [&](const Index& i) {
            if (std::find(rows.begin(), rows.end(), i[0]) != rows.end()) x.at(i) = value;
          });
        }
        break;
      }
      default: {
        Pair x = view_of_any(), y = view_of_any();
        if (x.shape.size() != y.shape.size() || x.shape.empty()) break;
        for (size_t d = 1; d < x.shape.size(); ++d)
          if (x.shape[d] != y.shape[d]) return;
        Array both[] = {x.array, y.array};
        Index shape = x.shape;
        shape[0] += y.shape[0];
        keep(shape, concatenate(both, 0, false, "concatenate", {}, Casting::SameKind, nullptr),
             [&](const Index& i) {
               Index at = i;
               at[0] -= i[0] < x.shape[0] ? 0 : x.shape[0];
               return i[0] < x.shape[0] ? x.at(at) : y.at(at);
             });
      }
    }
  }
  // All is read before anything is written.
  void store(const Pair& to, const std::function<int64_t(const Index&)>& f) {
    std::vector<int64_t> results;
    each_point(to.shape, [&](const Index& i) { results.push_back(f(i)); });
    size_t n = 0;
    each_point(to.shape, [&](const Index& i) { to.at(i) = results[n++]; });
  }

  std::mt19937_64 r_;
  std::vector<Pair> all_;
};

struct InMode {
  explicit InMode(Mode m) : before(Runtime::get().mode), device(&default_device()) {
    Runtime::get().mode = m;
    set_default_device(cpu_device());
  }
  ~InMode() {
    Runtime::get().mode = before;
    set_default_device(*device);
  }
  Mode before;
  Device* device;
};

}  // namespace

TEST_CASE("random programs of arrays leave what loops over vectors leave") {
  for (Mode mode : {Mode::Interp, Mode::Eager}) {
    InMode in(mode);
    for (uint64_t seed : seeds(4000)) {
      Program p(seed);
      int wrong = p.difference();
      CAPTURE(seed);
      CAPTURE(static_cast<int>(mode));
      CHECK(wrong == -1);
    }
  }
}

TEST_CASE("reshape gives a view where memory allows it, with the elements in C order") {
  InMode in(Mode::Interp);
  Array line = arange(0, 0, 0, 1, 24, DType::I64, &cpu_device());
  Array a = reshape(line, {4, 6});
  CHECK(reshape_view(a, {2, 12}).has_value());
  CHECK(reshape(a, {-1, 8}).layout->shape(0) == 3);
  int axes[] = {1, 0};
  Array t = transpose(a, axes);
  CHECK(!reshape_view(t, {24}).has_value());
  CHECK(reshape_view(t, {6, 2, 2}).has_value());
  std::vector<int64_t> wanted;
  for (int64_t j = 0; j < 6; ++j)
    for (int64_t i = 0; i < 4; ++i) wanted.push_back(6 * i + j);
  CHECK(values(reshape(t, {24})) == wanted);
  CHECK_THROWS_AS(reshape(a, {5, 5}), Error);
}

TEST_CASE("a mask is the one that was asked for, also after its array has changed") {
  InMode in(Mode::Interp);
  int64_t shape[] = {6};
  Array x = arange(0, 0, 0, 1, 6, DType::I64, &cpu_device());
  Array limit = full(shape, DType::I64, Scalar::from_int(3));
  Arg args[] = {Arg(&x), Arg(&limit)};
  Array mask = apply(Op::less, args);
  Masked few = compress(x, mask);
  assign(mask, Arg(Scalar::from_bool(true), DType::Bool));
  CHECK(values(few.settled()) == std::vector<int64_t>{0, 1, 2});
}

TEST_CASE(
    "large work is interpreted in a build without a compiler, unless the mode asks for code") {
  constexpr int64_t kElements = 1 << 18;  // of any of these a build with a compiler compiles
  const int64_t begins[] = {0, kElements / 2};
  const Array x = arange(0, 0, 0, 1, kElements, DType::I64, &cpu_device());
  const Arg args[] = {Arg(&x), Arg(&x)};
  struct Work {
    const char* name;
    std::function<Array()> record;
    int64_t last;
    bool waits = false;  // with its code until the interpreter has taken some milliseconds
  };
  const Work all[] = {
      {"elementwise", [&] { return apply(Op::add, args); }, 2 * (kElements - 1)},
      {"scan", [&] { return accumulate(Op::add, x, 0, {}, nullptr); },
       kElements * (kElements - 1) / 2, true},
      {"segments", [&] { return reduceat(Op::maximum, x, begins, 0, {}, nullptr); }, kElements - 1},
  };
  const Stats& stats = Runtime::get().stats;
  const bool beside = set_compile_beside(false);
  for (Mode mode : {Mode::Auto, Mode::Eager, Mode::Compiled}) {
    InMode in(mode);
    for (const Work& w : all) {
      CAPTURE(w.name);
      CAPTURE(static_cast<int>(mode));
      const int64_t before = stats.interpreted;
      if (mode == Mode::Compiled && !compile::has_compiler()) {
        CHECK_THROWS_AS(values(w.record()), Error);
        continue;
      }
      CHECK(values(w.record()).back() == w.last);
      const bool interprets = !compile::has_compiler() || (w.waits && mode != Mode::Compiled);
      CHECK((stats.interpreted > before) == interprets);
    }
  }
  set_compile_beside(beside);
}
