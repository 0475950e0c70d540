// What work in one stream has to wait for in another: who last wrote and who reads each range of
// memory. Knows no device, so that it can be tested alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

namespace numbus {

// The bytes [begin, end) that a piece of work reads or, if `written`, may also write.
struct Use {
  std::uintptr_t begin, end;
  bool written;
};

// A device has a main stream and any number of side streams. Work in a side stream is followed by a
// mark of its own, so that others wait for it and nothing after it. Work in the main stream, which
// is most work, only counts: a mark is made when a side stream has to wait, and stands for all that
// the main stream has been given by then.
class StreamOrder {
 public:
  static constexpr int kMain = 0;
  // A point in a stream, after what has been queued there.
  using Mark = std::shared_ptr<void>;

  class Streams {
   public:
    virtual ~Streams() = default;
    virtual Mark mark(int stream) = 0;
    virtual void wait(int stream, const Mark& mark) = 0;
    virtual bool reached(const Mark& mark) = 0;
  };

  explicit StreamOrder(Streams& streams) : streams_(streams) {}
  StreamOrder(const StreamOrder&) = delete;

  // A new stream starts after all that the main stream has been given: uses are noted from here on
  // only.
  void add_stream(int stream);
  void remove_stream(int stream);
  bool has_side_streams();
  // Whether uses have to be told. If not, only the main stream has work.
  bool active();

  // Around the queueing of a piece of work: makes the stream wait for conflicting uses in others,
  // and notes its own.
  void before(int stream, std::span<const Use> uses);
  void after(int stream, std::span<const Use> uses);

  // The main stream is about to write to the range, in work that is queued before anybody asks: for
  // calls of libraries, where there is no after().
  void claim(std::uintptr_t begin, std::uintptr_t end);

  // Whether a side stream may still use the range, as far as the main stream's order tells.
  bool busy(std::uintptr_t begin, std::uintptr_t end);
  // The range goes back to a pool whose next user comes after the main stream's work so far.
  void release(std::uintptr_t begin, std::uintptr_t end);
  // After these the range is nobody's: what side streams still do with it, and what the main
  // stream has been given.
  std::vector<Mark> side_marks(std::uintptr_t begin, std::uintptr_t end);
  Mark main_mark();

  size_t segments();  // that are remembered

 private:
  struct Point {
    int stream = -1;
    int64_t ticket = 0;
    Mark mark;  // none for the main stream
  };
  struct Segment {
    std::uintptr_t end;
    Point write;
    std::vector<Point> reads;  // since the write, the last one of each stream
  };
  using Segments = std::map<std::uintptr_t, Segment>;

  Segments::iterator first_in(std::uintptr_t begin);
  void split_at(std::uintptr_t address);
  void erase(std::uintptr_t begin, std::uintptr_t end);
  void note(const Use& use, const Point& point);
  bool passed(int stream, const Point& point);
  const Mark& main_mark_for(int64_t ticket);
  void drop_passed();
  int64_t slowest_side() const;

  Streams& streams_;
  std::mutex mutex_;
  Segments segments_;
  std::set<int> sides_;
  std::map<std::pair<int, int>, int64_t> waited_;  // (stream, other): up to the other's ticket
  std::map<int, int64_t> tickets_;
  Mark main_mark_;
  int64_t main_marked_ = -1, main_done_ = -1;
  size_t prune_at_ = 256;
};

}  // namespace numbus
