// Which combinations of argument types threads are compiling at the moment.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "convert.h"

namespace numbus::bindings {

// Compiling calls Python, which lets other threads run: they must neither see half of what is being
// made nor make the same. Whoever holds an instance of Turn compiles; the lock is never held while
// Python is called.
class InProgress {
 public:
  // Waits while another thread compiles for the same key. After the wait the caller looks whether
  // the code is there by now.
  class Claim {
   public:
    Claim(InProgress& all, const std::string& key) : all_(all), key_(key) {
      std::unique_lock<std::mutex> lock(all_.mutex_);
      if (!all_.busy(key_)) {
        all_.by_.emplace(key_, std::this_thread::get_id());
        return;
      }
      lock.unlock();
      nb::gil_scoped_release others;
      lock.lock();
      // Not for ever: the other thread may wait for something that this one holds, such as the
      // lock of an import. Then both compile, and the first to end wins.
      all_.ended_.wait_for(lock, std::chrono::seconds(2), [&] { return !all_.busy(key_); });
      all_.by_.emplace(key_, std::this_thread::get_id());
      lock.unlock();
    }
    ~Claim() {
      std::lock_guard<std::mutex> lock(all_.mutex_);
      auto [it, end] = all_.by_.equal_range(key_);
      while (it->second != std::this_thread::get_id()) ++it;
      all_.by_.erase(it);
      all_.ended_.notify_all();
    }
    Claim(const Claim&) = delete;

   private:
    InProgress& all_;
    const std::string key_;
  };

 private:
  bool busy(const std::string& key) const {
    auto [it, end] = by_.equal_range(key);
    for (; it != end; ++it)
      if (it->second != std::this_thread::get_id()) return true;
    return false;
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::multimap<std::string, std::thread::id> by_;
};

// The number of a function, as its globals are now: from a number, or from what gives one.
inline int function_number(nb::handle of) {
  return nb::cast<int>(nb::isinstance<nb::int_>(of) ? nb::borrow(of) : of());
}

}  // namespace numbus::bindings
