// Kernels that do not compile: each compilation of a window fails in turn. What depends on that
// kernel raises when it is read, everything else is right, and the next run works.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <new>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "array/array.h"
#include "base/error.h"
#include "compile/scan.h"
#include "device/cpu/thread_pool.h"
#include "lazy/background.h"
#include "lines.h"

using namespace numbus;

namespace {

// What is compiled meanwhile, in order, and which of that fails how (CMakeLists.txt has the linker
// put the functions below before the compiler's). Other tests compile on a thread beside.
std::mutex mutex;
std::vector<std::string> compiled;
std::vector<ir::Kernel> kernels;
int64_t failing = -1;
std::function<void()> fail;

void begin(std::string key) {
  const std::lock_guard<std::mutex> guard(mutex);
  compiled.push_back(std::move(key));
  if (std::ssize(compiled) - 1 == failing) fail();
}

}  // namespace

compile::Compiled real_native(const ir::Kernel& k) asm(
    "__real__ZN6numbus7compile14compile_nativeERKNS_2ir6KernelE");
compile::Compiled wrapped_native(const ir::Kernel& k) asm(
    "__wrap__ZN6numbus7compile14compile_nativeERKNS_2ir6KernelE");
compile::Compiled real_scan(const compile::ScanCode& c) asm(
    "__real__ZN6numbus7compile19compile_native_scanERKNS0_8ScanCodeE");
compile::Compiled wrapped_scan(const compile::ScanCode& c) asm(
    "__wrap__ZN6numbus7compile19compile_native_scanERKNS0_8ScanCodeE");

compile::Compiled wrapped_native(const ir::Kernel& k) {
  begin(k.key());
  {
    const std::lock_guard<std::mutex> guard(mutex);
    kernels.push_back(k);
  }
  return real_native(k);
}
compile::Compiled wrapped_scan(const compile::ScanCode& c) {
  begin("scan " + c.key());
  return real_scan(c);
}

namespace {

// Has everything compiled again, also what the thread beside has compiled for an earlier test and
// nothing has taken yet.
void forget() {
  wait_for_compiling();
  Runtime::get().forget_plans();
  for (const ir::Kernel& k : kernels) {
    kernel_code(k)->native = nullptr;
    kernel_code(k)->compiling.reset();
  }
  kernels.clear();
  compiled.clear();
}

Values counted(int64_t n) {
  Values v(n);
  for (int64_t k = 0; k < n; ++k) v[k] = static_cast<double>((k * k + 3) % 17 + 1);
  return v;
}
Array binary(Op op, const Array& x, const Array& y) {
  Arg args[2] = {Arg(&x), Arg(&y)};
  return apply(op, args);
}

// Results of one window, of which none shares a kernel with another: their extents differ.
constexpr int kResults = 7;
struct Inputs {
  Array map = line(counted(1000)), sum = line(counted(777)), scan = line(counted(600)),
        segments = line(counted(5000)), cut = line(counted(1 << 18));
};
// The result with that number; number 5 is made of number 0.
Array record(int number, const Inputs& in, const Array* first) {
  const int64_t begins[] = {0, 500};
  switch (number) {
    case 0: return binary(Op::multiply, in.map, binary(Op::add, in.map, in.map));
    case 1: return reduce("sum", in.sum, 1, false, {}, nullptr, 0);
    case 2: return accumulate(Op::add, in.scan, 0, {}, nullptr);
    case 3: return reduceat(Op::add, in.segments, begins, 0, {}, nullptr);
    case 4: return accumulate(Op::maximum, in.cut, 0, {}, nullptr);
    case 5: return accumulate(Op::minimum, *first, 0, {}, nullptr);
    default: return reduce("max", in.scan, 1, false, {}, nullptr, 0);
  }
}
Values wanted(int number) {
  Values v = counted(number == 1 ? 777 : number == 3 ? 5000 : number == 4 ? 1 << 18 : 1000), r;
  switch (number) {
    case 0:
      for (double& x : v) x *= x + x;
      return v;
    case 1: return {std::accumulate(v.begin(), v.end(), 0.0)};
    case 2:
      v = counted(600);
      std::partial_sum(v.begin(), v.end(), v.begin());
      return v;
    case 3:
      return {std::accumulate(v.begin(), v.begin() + 500, 0.0),
              std::accumulate(v.begin() + 500, v.end(), 0.0)};
    case 4:
      for (size_t k = 1; k < v.size(); ++k) v[k] = std::max(v[k], v[k - 1]);
      return v;
    case 5:
      v = wanted(0);
      for (size_t k = 1; k < v.size(); ++k) v[k] = std::min(v[k], v[k - 1]);
      return v;
    default: v = counted(600); return {*std::max_element(v.begin(), v.end())};
  }
}

// Which results raise when they are read; the others are right. `only`: no others are recorded.
std::set<int> raising(const Inputs& in, int only = -1) {
  std::vector<Array> made(kResults);
  std::set<int> recorded;
  for (int n = 0; n < kResults; ++n) {
    if (only >= 0 && n != only && !(only == 5 && n == 0)) continue;
    made[n] = record(n, in, &made[0]);
    recorded.insert(n);
  }
  try {
    Runtime::get().flush("test");
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
  }
  std::set<int> raised;
  for (int n : recorded) {
    CAPTURE(n);
    try {
      const auto* at = reinterpret_cast<const double*>(data_of(made[n], "test"));
      CHECK(Values(at, at + made[n].size()) == wanted(n));
    } catch (const Error& e) {
      raised.insert(n);
      CHECK((std::string(e.what()).find("compile") == 0 || e.kind() == ErrorKind::Memory));
    }
  }
  return raised;
}

struct Compiling {
  Mode before = Runtime::get().mode;
  Compiling() { Runtime::get().mode = Mode::Compiled; }
  ~Compiling() {
    failing = -1;
    Runtime::get().mode = before;
  }
};

const std::function<void()> kWays[] = {
    [] { raise(ErrorKind::Runtime, "compile: no code for this kernel"); },
    [] { throw std::runtime_error("compile: the library below failed"); },
    [] { throw std::bad_alloc(); },
};

}  // namespace

TEST_CASE("each kernel that does not compile is an error for what depends on it") {
  Compiling compiling;
  Inputs in;
  // Which code each result needs, as it is when it is computed alone.
  std::vector<std::set<std::string>> needs(kResults);
  for (int n = 0; n < kResults; ++n) {
    forget();
    CHECK(raising(in, n).empty());
    needs[n].insert(compiled.begin(), compiled.end());
    CHECK(!needs[n].empty());
    // A long line is cut among threads, by three pieces of code.
    if (n == 4 && thread_pool().num_threads() > 1) CHECK(compiled.size() == 3);
  }
  forget();
  CHECK(raising(in).empty());
  const std::vector<std::string> all = compiled;
  CHECK(all.size() >= kResults);
  for (const std::string& key : all)  // of another result than what is made of it
    CHECK(std::count_if(needs.begin(), needs.begin() + 5,
                        [&](const auto& n) { return n.count(key) > 0; }) <= 1);
  const size_t used = cpu_device().memory_stats().used_bytes;
  for (const auto& way : kWays) {
    fail = way;
    for (failing = 0; failing < std::ssize(all);) {
      forget();
      CAPTURE(failing);
      std::set<int> expected;
      for (int n = 0; n < kResults; ++n)
        if (needs[n].count(all[failing])) expected.insert(n);
      CHECK(raising(in) == expected);
      CHECK(!expected.empty());
      // The same plan again: only what failed is compiled now.
      const int64_t next = failing + 1;
      failing = -1;
      CHECK(raising(in).empty());
      CHECK(cpu_device().memory_stats().used_bytes == used);
      failing = next;
    }
  }
}
