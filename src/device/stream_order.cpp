// Segments of memory with their last uses; tickets count a stream's pieces of work.
#include "device/stream_order.h"

#include <algorithm>
#include <limits>

namespace numbus {

void StreamOrder::add_stream(int stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t ticket = ++tickets_[kMain];
  const Mark& mark = main_mark_for(ticket);
  if (!streams_.reached(mark)) streams_.wait(stream, mark);
  waited_[{stream, kMain}] = ticket;
  sides_.insert(stream);
}

void StreamOrder::remove_stream(int stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  sides_.erase(stream);
  tickets_.erase(stream);
  std::erase_if(waited_,
                [&](const auto& w) { return w.first.first == stream || w.first.second == stream; });
}

bool StreamOrder::has_side_streams() {
  std::lock_guard<std::mutex> lock(mutex_);
  return !sides_.empty();
}

bool StreamOrder::active() {
  std::lock_guard<std::mutex> lock(mutex_);
  drop_passed();
  if (!sides_.empty()) return true;
  // Without side streams nobody asks where the main stream is.
  std::erase_if(segments_, [](const auto& s) {
    return s.second.write.stream <= kMain &&
           std::all_of(s.second.reads.begin(), s.second.reads.end(),
                       [](const Point& p) { return p.stream == kMain; });
  });
  return !segments_.empty();
}

// The first segment that ends after `begin`.
StreamOrder::Segments::iterator StreamOrder::first_in(std::uintptr_t begin) {
  auto it = segments_.upper_bound(begin);
  if (it != segments_.begin() && std::prev(it)->second.end > begin) --it;
  return it;
}

void StreamOrder::split_at(std::uintptr_t address) {
  auto it = first_in(address);
  if (it == segments_.end() || it->first >= address) return;
  Segment tail = it->second;
  it->second.end = address;
  segments_.emplace(address, std::move(tail));
}

void StreamOrder::erase(std::uintptr_t begin, std::uintptr_t end) {
  split_at(begin);
  split_at(end);
  segments_.erase(segments_.lower_bound(begin), segments_.lower_bound(end));
}

// Whether what `stream` is given from now on comes after the point anyway.
bool StreamOrder::passed(int stream, const Point& point) {
  if (point.stream < 0 || point.stream == stream) return true;
  auto known = waited_.find({stream, point.stream});
  if (known != waited_.end() && known->second >= point.ticket) return true;
  if (point.stream == kMain) return point.ticket <= main_done_;
  return streams_.reached(point.mark);
}

// A mark in the main stream after work with this ticket. Tickets still to come stand for work that
// has been queued without being told, such as that of temporaries.
const StreamOrder::Mark& StreamOrder::main_mark_for(int64_t ticket) {
  int64_t& now = tickets_[kMain];
  now = std::max(now, ticket);
  if (!main_mark_ || main_marked_ < now) {
    main_mark_ = streams_.mark(kMain);
    main_marked_ = now;
  }
  return main_mark_;
}

void StreamOrder::before(int stream, std::span<const Use> uses) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::map<int, Point> latest;  // of each other stream
  auto need = [&](const Point& p) {
    if (passed(stream, p)) return;
    Point& known = latest[p.stream];
    if (known.stream < 0 || known.ticket < p.ticket) known = p;
  };
  for (const Use& use : uses) {
    for (auto it = first_in(use.begin); it != segments_.end() && it->first < use.end; ++it) {
      need(it->second.write);
      if (!use.written) continue;
      for (const Point& p : it->second.reads) need(p);
    }
  }
  for (auto& [other, point] : latest) {
    if (other == kMain) {
      streams_.wait(stream, main_mark_for(point.ticket));
      waited_[{stream, kMain}] = main_marked_;
    } else {
      streams_.wait(stream, point.mark);
      waited_[{stream, other}] = point.ticket;
    }
  }
}

void StreamOrder::after(int stream, std::span<const Use> uses) {
  std::lock_guard<std::mutex> lock(mutex_);
  Point point{stream, ++tickets_[stream], nullptr};
  if (stream != kMain) point.mark = streams_.mark(stream);
  for (const Use& use : uses)
    if (use.begin < use.end) note(use, point);
  if (segments_.size() <= prune_at_) return;
  drop_passed();
  if (segments_.size() > prune_at_ / 2) {
    // Mostly the main stream's. Where all side streams wait for it once, its past is settled.
    for (int side : sides_) {
      streams_.wait(side, main_mark_for(0));
      waited_[{side, kMain}] = main_marked_;
    }
    drop_passed();
  }
  prune_at_ = std::max<size_t>(256, 2 * segments_.size());
}

void StreamOrder::note(const Use& use, const Point& point) {
  if (use.written) {
    // Whoever waits for this write waits for all that it waited for.
    erase(use.begin, use.end);
    segments_.emplace(use.begin, Segment{use.end, point, {}});
    return;
  }
  split_at(use.begin);
  split_at(use.end);
  std::uintptr_t at = use.begin;
  auto it = first_in(at);
  while (at < use.end) {
    std::uintptr_t next = it == segments_.end() ? use.end : std::min(it->first, use.end);
    if (at < next) {  // a gap
      it = segments_.emplace_hint(it, at, Segment{next, {}, {}});
    }
    auto& reads = it->second.reads;
    auto mine = std::find_if(reads.begin(), reads.end(),
                             [&](const Point& p) { return p.stream == point.stream; });
    if (mine != reads.end())
      *mine = point;
    else
      reads.push_back(point);
    at = it->second.end;
    ++it;
  }
}

bool StreamOrder::busy(std::uintptr_t begin, std::uintptr_t end) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = first_in(begin); it != segments_.end() && it->first < end; ++it) {
    if (!passed(kMain, it->second.write)) return true;
    for (const Point& p : it->second.reads)
      if (!passed(kMain, p)) return true;
  }
  return false;
}

void StreamOrder::claim(std::uintptr_t begin, std::uintptr_t end) {
  Use use{begin, end, true};
  before(kMain, {&use, 1});
  release(begin, end);  // with a ticket that is still to come
}

void StreamOrder::release(std::uintptr_t begin, std::uintptr_t end) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (begin >= end) return;
  note({begin, end, true}, {kMain, tickets_[kMain] + 1, nullptr});
}

std::vector<StreamOrder::Mark> StreamOrder::side_marks(std::uintptr_t begin, std::uintptr_t end) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Mark> all;
  auto add = [&](const Point& p) {
    if (p.stream > kMain && !streams_.reached(p.mark)) all.push_back(p.mark);
  };
  for (auto it = first_in(begin); it != segments_.end() && it->first < end; ++it) {
    add(it->second.write);
    for (const Point& p : it->second.reads) add(p);
  }
  return all;
}

StreamOrder::Mark StreamOrder::main_mark() {
  std::lock_guard<std::mutex> lock(mutex_);
  return main_mark_for(tickets_[kMain] + 1);
}

// The main stream's ticket that all side streams have waited for.
int64_t StreamOrder::slowest_side() const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int side : sides_) {
    auto known = waited_.find({side, kMain});
    least = std::min(least, known == waited_.end() ? -1 : known->second);
  }
  return sides_.empty() ? -1 : least;
}

// Forgets what nobody has to wait for any more.
void StreamOrder::drop_passed() {
  if (main_mark_ && main_marked_ > main_done_ && streams_.reached(main_mark_))
    main_done_ = main_marked_;
  int64_t main_passed = std::max(main_done_, slowest_side());
  auto gone = [&](const Point& p) {
    if (p.stream < 0) return true;
    return p.stream == kMain ? p.ticket <= main_passed : streams_.reached(p.mark);
  };
  for (auto it = segments_.begin(); it != segments_.end();) {
    Segment& s = it->second;
    if (gone(s.write)) s.write = {};
    std::erase_if(s.reads, gone);
    it = s.write.stream < 0 && s.reads.empty() ? segments_.erase(it) : std::next(it);
  }
}

size_t StreamOrder::segments() {
  std::lock_guard<std::mutex> lock(mutex_);
  return segments_.size();
}

}  // namespace numbus
