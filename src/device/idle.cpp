// The highest use of each of the last seconds.
#include "device/idle.h"

#include <algorithm>

namespace numbus {

int64_t IdlePolicy::number_of(Time t) {
  return std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count();
}

void IdlePolicy::use(size_t bytes, Time now) {
  const int64_t number = number_of(now);
  Second& second = seconds_[static_cast<size_t>(number) % kSeconds];
  if (second.number != number) second = {number, 0};
  // What was in use until now counts, too.
  second.most = std::max({second.most, used_, bytes});
  used_ = bytes;
}

size_t IdlePolicy::peak(Time now) const {
  const int64_t number = number_of(now);
  size_t most = used_;
  for (const Second& s : seconds_)
    if (s.number > number - kSeconds && s.number <= number) most = std::max(most, s.most);
  return most;
}

size_t IdlePolicy::kept(Time now) const { return std::max(kFloor, peak(now) / 10); }

}  // namespace numbus
