// The thread pool under stress: every unit once, nested calls, exceptions, other callers, fork.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "device/cpu/cpu_info.h"
#include "device/cpu/thread_pool.h"

namespace numbus {
namespace {

template <class Body>
void each(ThreadPool& pool, int64_t units, int64_t grain, Body body, int64_t expected = 0) {
  pool.parallel_for(
      units,
      [](void* context, int64_t begin, int64_t end, int worker) {
        (*static_cast<Body*>(context))(begin, end, worker);
      },
      &body, grain, expected);
}

}  // namespace

TEST_CASE("thread pool: every unit is done exactly once") {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t units : {0, 1, 2, 7, 64, 1000, 4097}) {
      for (int64_t grain : {0, 1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(units));
        std::atomic<bool> sound{true};
        each(pool, units, grain, [&](int64_t begin, int64_t end, int worker) {
          int64_t step = std::max<int64_t>(grain, 1);
          if (begin % step != 0 || end - begin > step || end <= begin) sound = false;
          if (worker < 0 || worker >= threads) sound = false;
          for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
        });
        CHECK(sound);
        int wrong = 0;
        for (auto& count : seen) wrong += count != 1;
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("thread pool: units near the end of int64 do not overflow") {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0}, calls{0};
  int64_t units = INT64_MAX;
  each(pool, units, units / 4, [&](int64_t begin, int64_t end, int) {
    total += end - begin;
    ++calls;
  });
  CHECK(total == units);
  CHECK(calls == 5);
}

TEST_CASE("thread pool: many short calls, some after the workers fell asleep") {
  ThreadPool pool(4);
  for (int i = 0; i < 20000; ++i) {
    std::atomic<int64_t> total{0};
    each(pool, 40, 4, [&](int64_t begin, int64_t end, int) {
      for (int64_t k = begin; k < end; ++k) total += k;
    });
    REQUIRE(total == 780);
    if (i % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("thread pool: little work by itself wakes nobody, and much work or more of it does") {
  ThreadPool pool(4);
  const auto caller = std::this_thread::get_id();
  auto others = [&](int64_t expected) {
    std::atomic<int> found{0};
    each(
        pool, 4, 1,
        [&](int64_t, int64_t, int) {
          if (std::this_thread::get_id() != caller) ++found;
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        },
        expected);
    return found.load();
  };
  auto rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  constexpr int64_t kLittle = 1'000, kMuch = 10'000'000;
  CHECK(others(0) > 0);  // nobody knows: all are woken
  rest();
  CHECK(others(kLittle) == 0);
  CHECK(others(kLittle) > 0);  // at once after the call before
  rest();
  CHECK(others(kMuch) > 0);
}

TEST_CASE("thread pool: sleepers of a wide pool take part where there is work for them") {
  ThreadPool pool(12);
  auto workers = [&](int64_t chunks) {
    std::mutex lock;
    std::set<int> found;
    each(pool, chunks, 1, [&](int64_t, int64_t, int worker) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      const std::lock_guard<std::mutex> guard(lock);
      found.insert(worker);
    });
    return found.size();
  };
  for (int round = 0; round < 3; ++round) {
    CHECK(workers(60) == 12);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(workers(2) == 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST_CASE("thread pool: worker numbers are unique within a call") {
  ThreadPool pool(4);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::atomic<int>> inside(4);
    std::atomic<bool> clash{false};
    each(pool, 64, 1, [&](int64_t, int64_t, int worker) {
      if (inside[static_cast<size_t>(worker)].fetch_add(1) != 0) clash = true;
      inside[static_cast<size_t>(worker)].fetch_sub(1);
    });
    REQUIRE_FALSE(clash);
  }
}

TEST_CASE("thread pool: a nested call runs serially on the same worker") {
  ThreadPool pool(4);
  std::atomic<int64_t> total{0};
  std::atomic<bool> moved{false};
  each(pool, 16, 1, [&](int64_t, int64_t, int outer) {
    each(pool, 100, 7, [&](int64_t begin, int64_t end, int inner) {
      if (inner != outer) moved = true;
      total += end - begin;
    });
  });
  CHECK(total == 1600);
  CHECK_FALSE(moved);
}

TEST_CASE("thread pool: an exception reaches the caller and the pool stays usable") {
  ThreadPool pool(4);
  for (int64_t bad : {0, 17, 99}) {
    std::string text;
    try {
      each(pool, 100, 1, [&](int64_t begin, int64_t, int) {
        if (begin == bad) raise(ErrorKind::Value, "[test] unit " + std::to_string(begin));
      });
    } catch (const Error& error) {
      text = error.what();
    }
    CHECK(text == "[test] unit " + std::to_string(bad));
    std::atomic<int> count{0};
    each(pool, 100, 1, [&](int64_t, int64_t, int) { ++count; });
    CHECK(count == 100);
  }
  // Nested: the inner call's exception passes through the outer one.
  CHECK_THROWS_AS(each(pool, 8, 1,
                       [&](int64_t, int64_t, int) {
                         each(pool, 8, 1,
                              [](int64_t, int64_t, int) { throw std::logic_error("inner"); });
                       }),
                  std::logic_error);
}

TEST_CASE("thread pool: several callers at once") {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        each(pool, 30, 3, [&](int64_t begin, int64_t end, int) { total += end - begin; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(total == 4 * 2000 * 30);
}

TEST_CASE("thread pool: idle workers sleep") {
  ThreadPool pool(2);
  each(pool, 2, 1, [](int64_t, int64_t, int) {});
  timespec before{}, after{};
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  double burnt =
      double(after.tv_sec - before.tv_sec) + 1e-9 * double(after.tv_nsec - before.tv_nsec);
  CHECK(burnt < 0.02);
}

TEST_CASE("thread pool: the global pool works in a forked child, before and after") {
  auto sum = [] {
    std::atomic<int64_t> total{0};
    parallel_for_each(10000, 10, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) total += i;
    });
    return total.load();
  };
  CHECK(sum() == 49995000);
  std::atomic<bool> stop{false};
  std::thread busy([&] {  // a call is often under way at the moment of the fork
    while (!stop) sum();
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      bool good = true;
      for (int k = 0; k < 20; ++k) good = good && sum() == 49995000;
      _exit(good ? 0 : 1);
    }
    REQUIRE(child > 0);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
  CHECK(sum() == 49995000);
}

TEST_CASE("thread pool: NUMBUS_NUM_THREADS is read and checked") {
  const char* saved = std::getenv("NUMBUS_NUM_THREADS");
  std::string restore = saved ? saved : "";
  setenv("NUMBUS_NUM_THREADS", "3", 1);
  CHECK(configured_threads() == 3);
  for (const char* bad : {"0", "-2", "two", "3x", "100000"}) {
    setenv("NUMBUS_NUM_THREADS", bad, 1);
    std::string text;
    try {
      configured_threads();
    } catch (const Error& error) {
      text = error.what();
      CHECK(error.kind() == ErrorKind::Value);
    }
    CHECK(text == "[num_threads] NUMBUS_NUM_THREADS is no usable number; got '" + std::string(bad) +
                      "'; expected a whole number from 1 to 1024");
  }
  unsetenv("NUMBUS_NUM_THREADS");
  CHECK(configured_threads() == available_cpus());
  CHECK(available_cpus() >= 1);
  if (saved) setenv("NUMBUS_NUM_THREADS", restore.c_str(), 1);
}

}  // namespace numbus
