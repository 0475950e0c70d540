// Work of a library that nothing can stop, on a thread of its own: Ctrl-C ends the wait for it, and
// the work goes on until its end. Until then it keeps the memory that it reads and writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace numbus {

struct Reach {
  const char* begin;
  size_t bytes;
};

// Runs work() and waits for it; raises what it raises. On the main thread of Python, Ctrl-C raises
// Interrupted before the work has ended; `memory` of the CPU's pool that is freed after that goes
// back to the pool when the work has ended, and `held` is let go by release_ended_works() after
// that. work() must not need anything else that may end.
void run_apart(std::function<void()> work, std::vector<Reach> memory, std::shared_ptr<void> held);

// Lets go what works held that have ended, on this thread.
void release_ended_works();

// How many works go on that nobody waits for.
extern std::atomic<int> abandoned_works;

// Takes a block of the pool that is being freed, where such a work reaches it.
bool keep_for_work(void* block, size_t bytes) noexcept;

}  // namespace numbus
