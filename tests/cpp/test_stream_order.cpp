// The order of streams: random programs on simulated streams that run as late, and as mixed, as
// their waits allow, against the same programs run in order.
#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "device/device.h"
#include "device/stream_order.h"

namespace numbus {
namespace {

// Streams whose work runs when the test says so.
class Simulated final : public StreamOrder::Streams {
 public:
  struct Point {
    int stream;
    size_t position;
  };
  struct Work {
    std::function<void()> run;
    StreamOrder::Mark wait;  // or this
  };
  struct Stream {
    std::deque<Work> queue;
    size_t queued = 0, done = 0;
  };

  StreamOrder::Mark mark(int s) override {
    ++marks;
    return std::make_shared<Point>(Point{s, streams[s].queued});
  }
  void wait(int s, const StreamOrder::Mark& mark) override {
    ++waits;
    add(s, {nullptr, mark});
  }
  bool reached(const StreamOrder::Mark& mark) override {
    auto& p = *static_cast<Point*>(mark.get());
    return streams[p.stream].done >= p.position;
  }

  void add(int s, Work work) {
    streams[s].queue.push_back(std::move(work));
    ++streams[s].queued;
  }
  bool step(int s) {
    Stream& stream = streams[s];
    if (stream.queue.empty()) return false;
    Work& work = stream.queue.front();
    if (work.wait && !reached(work.wait)) return false;
    if (work.run) work.run();
    stream.queue.pop_front();
    ++stream.done;
    return true;
  }
  void run_all() {
    for (bool any = true; any;) {
      any = false;
      for (auto& [s, stream] : streams)
        while (step(s)) any = true;
    }
    for (auto& [s, stream] : streams) REQUIRE(stream.queue.empty());  // else they wait in a ring
  }

  std::map<int, Stream> streams;
  int marks = 0, waits = 0;
};

}  // namespace

TEST_CASE("stream order: random programs compute what they compute in order") {
  std::mt19937 random(11);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int program = 0; program < 400; ++program) {
    Simulated s;
    StreamOrder order(s);
    constexpr int kCells = 40;
    int sides = 1 + below(4), next = 1;
    std::vector<int> numbers{StreamOrder::kMain};
    std::vector<uint64_t> memory(kCells, 1), expected(kCells, 1);
    // Before there are side streams nobody is told of the main stream's work.
    auto work = [&](int stream, int a, int a_end, int b, int b_end, uint64_t salt) {
      // Reads [a, a_end), writes [b, b_end).
      auto body = [=](std::vector<uint64_t>& m) {
        uint64_t sum = salt;
        for (int i = a; i < a_end; ++i) sum = sum * 31 + m[static_cast<size_t>(i)];
        for (int i = b; i < b_end; ++i) m[static_cast<size_t>(i)] = sum + static_cast<uint64_t>(i);
      };
      body(expected);
      auto address = [](int cell) { return 1000 + 8 * static_cast<std::uintptr_t>(cell); };
      Use uses[] = {{address(a), address(a_end), false}, {address(b), address(b_end), true}};
      bool told = order.active();
      if (told) order.before(stream, uses);
      s.add(stream, {[&memory, body] { body(memory); }, nullptr});
      if (told) order.after(stream, uses);
    };
    for (int step = 0; step < 120; ++step) {
      if (step == 10 || (step > 10 && static_cast<int>(numbers.size()) <= sides && below(8) == 0)) {
        numbers.push_back(next);
        order.add_stream(next++);
      }
      if (numbers.size() > 1 && below(60) == 0) {  // goes with work in flight
        order.remove_stream(numbers.back());
        numbers.pop_back();
      }
      int stream = numbers[static_cast<size_t>(below(static_cast<int>(numbers.size())))];
      int a = below(kCells), b = below(kCells);
      int a_end = std::min(kCells, a + below(6)), b_end = std::min(kCells, b + below(6));
      work(stream, a, a_end, b, b_end, static_cast<uint64_t>(step));
      for (int some = below(4); some > 0; --some) {
        auto it = s.streams.begin();
        std::advance(it, below(static_cast<int>(s.streams.size())));
        s.step(it->first);
      }
    }
    s.run_all();
    REQUIRE(memory == expected);
  }
}

TEST_CASE(
    "stream order: blocks come back from streams in time, through a pool of the main stream's") {
  std::mt19937 random(5);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int program = 0; program < 200; ++program) {
    Simulated s;
    StreamOrder order(s);
    order.add_stream(1);
    order.add_stream(2);
    constexpr int kBlocks = 6;
    struct Block {
      int64_t value = 0;
      bool free = true, late = false;
      int64_t expected = 0;
    };
    std::vector<Block> blocks(kBlocks);
    auto range = [](int b) {
      return std::pair<std::uintptr_t, std::uintptr_t>(1000 + 100 * b, 1100 + 100 * b);
    };
    size_t wrong = 0;
    for (int step = 0; step < 200; ++step) {
      int b = below(kBlocks), stream = below(3);
      Block& block = blocks[static_cast<size_t>(b)];
      auto [begin, end] = range(b);
      if (block.late) {
        if (order.busy(begin, end)) continue;
        order.release(begin, end);
        block.late = false;
        block.free = true;
      }
      if (block.free) {  // a fresh owner writes first
        block.free = false;
        block.expected = step;
        Use use[] = {{begin, end, true}};
        order.before(stream, use);
        s.add(stream, {[&block, step] { block.value = step; }, nullptr});
        order.after(stream, use);
      } else if (below(3) == 0) {  // a temporary of the main stream's that nobody is told of
        block.late = true;
        if (!order.busy(begin, end)) {
          order.release(begin, end);
          s.add(StreamOrder::kMain, {[&block] { block.value = -1; }, nullptr});
          order.release(begin, end);
          block.late = false;
          block.free = true;
        }
      } else {
        Use use[] = {{begin, end, false}};
        int64_t want = block.expected;
        order.before(stream, use);
        s.add(stream, {[&block, &wrong, want] { wrong += block.value != want; }, nullptr});
        order.after(stream, use);
      }
      if (below(2) == 0) s.step(below(3));
    }
    s.run_all();
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("stream order: what does not conflict does not wait") {
  Simulated s;
  StreamOrder order(s);
  CHECK_FALSE(order.active());
  order.add_stream(1);
  order.add_stream(2);
  CHECK(order.active());
  int waits = s.waits, marks = s.marks;
  auto use = [&](int stream, std::uintptr_t begin, std::uintptr_t end, bool written) {
    Use u[] = {{begin, end, written}};
    order.before(stream, u);
    s.add(stream, {[] {}, nullptr});
    order.after(stream, u);
  };
  for (int i = 0; i < 10; ++i) {
    use(1, 0, 100, true);
    use(2, 100, 200, true);
    use(StreamOrder::kMain, 200, 300, true);
    use(1, 300, 400, false);
    use(2, 300, 400, false);
    use(StreamOrder::kMain, 300, 400, false);
  }
  CHECK(s.waits == waits);
  CHECK(s.marks == marks + 40);  // none for the main stream
  use(2, 0, 10, false);
  CHECK(s.waits == waits + 1);
  use(2, 50, 60, false);  // knows that it has waited
  CHECK(s.waits == waits + 1);
  use(1, 250, 260, false);  // the main stream is marked when somebody needs it
  CHECK(s.waits == waits + 2);
  CHECK(s.marks == marks + 44);
  use(StreamOrder::kMain, 300, 400, true);  // two streams have read it
  CHECK(s.waits == waits + 4);
  CHECK(order.busy(0, 10));  // its last reader is stream 2, and so far only that has waited
  s.run_all();
  CHECK_FALSE(order.busy(0, 400));
  use(2, 0, 400, true);  // all is done
  CHECK(s.waits <= waits + 5);
  order.remove_stream(1);
  order.remove_stream(2);
  CHECK(order.active());
  s.run_all();
  CHECK_FALSE(order.active());
  CHECK(order.segments() == 0);
}

TEST_CASE("stream order: the main stream claims memory for work that nobody is told of") {
  Simulated s;
  StreamOrder order(s);
  order.add_stream(1);
  int value = 0, seen = 0;
  Use use[] = {{100, 200, true}};
  order.before(1, use);
  s.add(1, {[&] { value = 1; }, nullptr});
  order.after(1, use);
  order.claim(100, 200);
  s.add(StreamOrder::kMain, {[&] { value = 2 * value + 1; }, nullptr});
  order.before(1, use);
  s.add(1, {[&] { seen = value; }, nullptr});
  order.after(1, use);
  CHECK_FALSE(s.step(StreamOrder::kMain));  // waits for stream 1
  s.run_all();
  CHECK(seen == 3);
}

TEST_CASE("stream order: what is remembered stays little") {
  Simulated s;
  StreamOrder order(s);
  order.add_stream(1);
  for (int i = 0; i < 20000; ++i) {
    Use u[] = {
        {static_cast<std::uintptr_t>(16 * i), static_cast<std::uintptr_t>(16 * i + 8), i % 2 == 0}};
    int stream = i % 7 == 0 ? 1 : 0;
    order.before(stream, u);
    s.add(stream, {[] {}, nullptr});
    order.after(stream, u);
    if (i % 100 == 99) s.run_all();
  }
  CHECK(order.segments() <= 1024);
}

TEST_CASE("devices without streams of their own do all at once") {
  for (Device* d : {&cpu_device(), &null_device()}) {
    auto queue = d->create_queue({});
    CHECK_FALSE(d->has_queues());
    CHECK(&queue->device() == d);
    CHECK(queue->number() != 0);
    CHECK(queue->done());
    queue->synchronize();
    auto start = d->create_marker(true), end = d->create_marker(true);
    start->record(queue.get());
    end->record(nullptr);
    end->hold(queue.get());
    CHECK(end->done());
    CHECK(end->milliseconds_since(*start) >= 0);
    HostBlock block = d->allocate_host(1000, HostKind::Mapped, false);
    CHECK(block.begin % 64 == 0);
    CHECK(block.device_address == 0);
    d->free_host(block);
  }
  char from[64] = "streams", to[64] = {};
  Device& cpu = cpu_device();
  auto queue = cpu.create_queue({});
  cpu.upload(to, from, sizeof from, *queue);
  CHECK(std::string(to) == "streams");
  cpu.fill_bytes(to, 'x', 7, queue.get());
  cpu.download(from, to, sizeof from, *queue);
  CHECK(std::string(from) == "xxxxxxx");
}

}  // namespace numbus
