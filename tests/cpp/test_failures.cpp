// Memory that runs out: each allocation of recording, planning and running fails in turn. What
// depends on the failure raises when it is read, everything else is right, and the next run works.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "array/array.h"
#include "base/error.h"
#include "lines.h"

namespace {

// While it is not negative: how many allocations of this thread succeed before one fails.
thread_local int64_t left = -1;
thread_local bool all_after = false;  // those after it fail, too
thread_local bool failed = false;
thread_local int64_t alive = 0;  // allocations of this thread less what it has freed

void* allocate(std::size_t n) {
  if (left == 0 || (failed && all_after)) {
    left = -1;
    failed = true;
    throw std::bad_alloc();
  }
  if (left > 0) --left;
  void* p = std::malloc(n ? n : 1);
  if (!p) throw std::bad_alloc();
  ++alive;
  return p;
}
void release(void* p) noexcept {
  if (p) --alive;
  std::free(p);
}

}  // namespace

void* operator new(std::size_t n) { return allocate(n); }
// std::stable_sort takes its buffer so: it sorts without where there is none.
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  try {
    return allocate(n);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }

using namespace numbus;

namespace {

// While it lives, allocation `n` of this thread fails, and all after it where `lasting`.
struct Failing {
  Failing(int64_t n, bool lasting) {
    failed = false;
    all_after = lasting;
    left = n;
  }
  ~Failing() { stop(); }
  // Whether it has failed.
  bool stop() {
    left = -1;
    all_after = false;
    return failed;
  }
};

Values values(const Array& a) {
  const auto* at = reinterpret_cast<const double*>(data_of(a, "test"));
  return Values(at, at + a.size());
}
Array slice(const Array& a, int64_t from, int64_t n) {
  return view_of(a, Layout::contiguous({&n, 1}, 8), a.offset + 8 * from);
}
Arg number(double v) { return Arg(Scalar::from_float(v), DType::F64); }
Array sum(const Array& a) { return reduce("sum", a, 1, false, {}, nullptr, 0); }

// The arrays of a program, each with the values that it should have.
struct Arrays {
  std::vector<Array> made = std::vector<Array>(8);
  std::vector<Values> wanted = std::vector<Values>(8);
};
struct Operation {
  int to;
  std::function<void(Arrays&)> record, model;
};
struct Case {
  std::string name;
  std::vector<Operation> operations;
};

Operation binary(int to, Op op, int x, int y, double (*f)(double, double)) {
  return {to,
          [=](Arrays& a) {
            Arg args[2] = {Arg(&a.made[x]), Arg(&a.made[y])};
            a.made[to] = apply(op, args);
          },
          [=](Arrays& a) {
            Values r;
            for (size_t k = 0; k < a.wanted[x].size(); ++k)
              r.push_back(f(a.wanted[x][k], a.wanted[y][k]));
            a.wanted[to] = r;
          }};
}
double plus(double x, double y) { return x + y; }
double times(double x, double y) { return x * y; }

// x[to : to + n] = x[from : from + n] of one array.
Operation move(int x, int64_t to, int64_t from, int64_t n) {
  return {x,
          [=](Arrays& a) {
            Array source = slice(a.made[x], from, n);
            assign(slice(a.made[x], to, n), Arg(&source));
          },
          [=](Arrays& a) {
            Values before = a.wanted[x];
            std::copy_n(before.begin() + from, n, a.wanted[x].begin() + to);
          }};
}
Operation fill_masked(int x, int y, double v) {  // x[y > 2] = v
  return {x,
          [=](Arrays& a) {
            Arg args[2] = {Arg(&a.made[y]), number(2)};
            Array mask = apply(Op::greater, args);
            assign(a.made[x], number(v), &mask);
          },
          [=](Arrays& a) {
            for (size_t k = 0; k < a.wanted[x].size(); ++k)
              if (a.wanted[y][k] > 2) a.wanted[x][k] = v;
          }};
}
Operation total(int to, int x) {
  return {to, [=](Arrays& a) { a.made[to] = sum(a.made[x]); },
          [=](Arrays& a) {
            a.wanted[to] = {std::accumulate(a.wanted[x].begin(), a.wanted[x].end(), 0.0)};
          }};
}
Operation cumulate(int to, int x) {
  return {to, [=](Arrays& a) { a.made[to] = accumulate(Op::add, a.made[x], 0, {}, nullptr); },
          [=](Arrays& a) {
            Values r(a.wanted[x].size());
            std::partial_sum(a.wanted[x].begin(), a.wanted[x].end(), r.begin());
            a.wanted[to] = r;
          }};
}
Operation reverse(int to, int x) {  // to = x[n - 1 - arange(n)], x[...] = to
  return {to,
          [=](Arrays& a) {
            const int64_t n = a.made[x].size();
            Array index = arange(0, 0, n - 1, -1, n, DType::I64, &cpu_device());
            a.made[to] = gather(a.made[x], 1, {&index, 1}, 0);
            Array other = a.made[to];
            scatter(other, 1, {&index, 1}, 0, Arg(&a.made[x]));
          },
          [=](Arrays& a) {
            a.wanted[to] = a.wanted[x];
            std::reverse(a.wanted[to].begin(), a.wanted[to].end());
          }};
}
Operation in_place(int x, int y) {  // x += y
  return {x,
          [=](Arrays& a) {
            Arg args[2] = {Arg(&a.made[x]), Arg(&a.made[y])};
            Options o;
            o.out = &a.made[x];
            apply(Op::add, args, o);
          },
          [=](Arrays& a) {
            for (size_t k = 0; k < a.wanted[x].size(); ++k) a.wanted[x][k] += a.wanted[y][k];
          }};
}
Operation compressed(int to, int x, int y) {  // to = x[y > 2], and y is written after it
  return {to,
          [=](Arrays& a) {
            Arg args[2] = {Arg(&a.made[y]), number(2)};
            Array mask = apply(Op::greater, args);
            Masked few = compress(a.made[x], mask);
            assign(mask, Arg(Scalar::from_bool(true), DType::Bool));
            a.made[to] = std::move(few);
          },
          [=](Arrays& a) {
            Values r;
            for (size_t k = 0; k < a.wanted[x].size(); ++k)
              if (a.wanted[y][k] > 2) r.push_back(a.wanted[x][k]);
            a.wanted[to] = r;
          }};
}

std::vector<Case> cases() {
  std::vector<Operation> loop;
  for (int n = 0; n < 24; ++n) loop.push_back(in_place(0, 1));
  return {
      {"elementwise",
       {binary(2, Op::add, 0, 1, plus), binary(3, Op::multiply, 2, 0, times), total(4, 3)}},
      {"overlapping", {move(0, 2, 0, 5), move(0, 0, 1, 6), move(1, 1, 0, 7), total(2, 0)}},
      {"masked", {fill_masked(0, 1, 9), binary(2, Op::add, 0, 1, plus), fill_masked(2, 0, -1)}},
      {"indices", {binary(2, Op::add, 0, 1, plus), binary(3, Op::add, 0, 0, plus), total(4, 3)}},
      {"reversed", {reverse(2, 0), total(3, 2)}},
      {"routine", {binary(2, Op::add, 0, 1, plus), cumulate(3, 2), in_place(3, 0)}},
      {"selected", {compressed(2, 0, 1), in_place(0, 1)}},
      {"loop", loop},
  };
}

Arrays start() {
  Arrays a;
  for (int n = 0; n < 2; ++n) {
    for (int k = 0; k < 8; ++k) a.wanted[n].push_back(n ? 7 - k : k * k);
    a.made[n] = line(a.wanted[n]);
  }
  return a;
}

// Runs a case while allocation `n` fails; says whether it did. The program ends with the operation
// that raises: the others are right or raise when they are read.
bool run(const Case& c, int64_t n, bool lasting) {
  Arrays a = start();
  int unknown = -1;
  size_t done = 0;
  bool fired = false, of_memory = true;
  auto guarded = [&](auto&& work) {
    try {
      work();
      return true;
    } catch (const Error& e) {
      of_memory = of_memory && e.kind() == ErrorKind::Memory;  // a check would allocate
    } catch (const std::bad_alloc&) {                          // NOLINT(bugprone-empty-catch)
    }
    return false;
  };
  {
    Failing failing(n, lasting);
    for (; done < c.operations.size() && unknown < 0; ++done)
      if (!guarded([&] { c.operations[done].record(a); })) unknown = c.operations[done].to;
    guarded([] { Runtime::get().flush("test"); });
    fired = failing.stop();
  }
  for (size_t k = 0; k + (unknown >= 0) < done; ++k) c.operations[k].model(a);
  CHECK((guarded([] { Runtime::get().flush("test"); }) || fired));
  for (int k = 0; k < static_cast<int>(a.made.size()); ++k) {
    if (!a.made[k].base.get()) continue;
    Values got;
    bool read = guarded([&] { got = values(a.made[k]); });
    CHECK((read || fired));
    if (read && k != unknown) CHECK(got == a.wanted[k]);
  }
  CHECK((unknown < 0 || fired));
  CHECK(of_memory);
  return fired;
}

}  // namespace

TEST_CASE("each allocation that fails is an error for what depends on it and for nothing else") {
  Runtime& rt = Runtime::get();
  const Mode before = rt.mode;
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    for (Mode mode : {Mode::Interp, Mode::Eager}) {
      rt.mode = mode;
      for (bool known : {false, true}) {
        for (bool lasting : {false, true}) {
          CAPTURE(known);
          CAPTURE(lasting);
          CHECK(!run(c, -1, false));
          const size_t used = cpu_device().memory_stats().used_bytes;
          if (!known) rt.forget_plans();
          CHECK(!run(c, -1, false));
          const int64_t held = alive;
          int64_t n = 0;
          for (bool fired = true; fired; ++n) {
            CAPTURE(n);
            if (!known) rt.forget_plans();
            fired = run(c, n, lasting);
            CHECK(!run(c, -1, false));
            CHECK(cpu_device().memory_stats().used_bytes == used);
          }
          CHECK(n > (known ? 0 : 20));
          // The first sweep fills caches, of which some grow by a few entries in the second one (18
          // were seen in 1,300 failures); what each failure, or one in twenty, leaves is found.
          if (lasting) CHECK(alive <= held + 10 + n / 20);
        }
      }
    }
  }
  rt.mode = before;
}
