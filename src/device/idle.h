// How much idle memory a pool may keep: bookkeeping of bytes and times that it is told, so that it
// can be tested without a device or a clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace numbus {

// A pool is a good neighbour of other libraries on its device: of its idle memory it keeps a tenth
// of what it has needed lately, and at least kFloor, for its next requests. The rest goes back once
// it has not been used for kPatience, or from one synchronisation to the next: a loop that
// synchronises after each iteration finds its memory again.
class IdlePolicy {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  static constexpr size_t kFloor = size_t{256} << 20;
  static constexpr Clock::duration kPatience = std::chrono::seconds(1);
  static constexpr int kSeconds = 4;  // how long "lately" is

  // When memory became idle.
  struct Stamp {
    Time time{};
    uint64_t interval = 0;  // between two synchronisations
  };

  // All that is in use, whenever that changes.
  void use(size_t bytes, Time now);
  // The device has done all its work.
  void synchronised() { ++interval_; }

  size_t peak(Time now) const;  // of what was in use lately
  size_t kept(Time now) const;
  Stamp stamp(Time now) const { return {now, interval_}; }
  // Whether memory that became idle then may go back.
  bool is_over(const Stamp& idle, Time now) const {
    return interval_ - idle.interval >= 2 || now - idle.time >= kPatience;
  }

 private:
  struct Second {
    int64_t number = -1;
    size_t most = 0;
  };
  static int64_t number_of(Time t);

  std::array<Second, kSeconds> seconds_;  // by number, modulo kSeconds
  size_t used_ = 0;
  uint64_t interval_ = 0;
};

}  // namespace numbus
