// Recording: the pending window of one device and one thread, and when it is flushed.
//
// All of this happens under Python's lock. A flush detaches the window and may let other threads
// run while its kernels do; what it works on is in flight until then. A base may be read by the
// pending windows of several threads; a base that a window writes belongs to that window alone:
// whoever else wants to use it flushes that window first.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "lazy/direct.h"
#include "lazy/run.h"
#include "lazy/window.h"

namespace numbus {

// A detached window that is being carried out.
struct Flight {
  std::unique_ptr<Window> window;
  std::shared_ptr<Run> run;
  std::unique_ptr<Direct> direct;  // in place of a run
  bool known = false;              // the plan was, or the window was seen before
  std::thread::id thread = std::this_thread::get_id();
  // Whether it uses the base in a way that a reader, or a writer, has to wait for.
  bool blocks(const Base& b, bool writer) const;
};

class Recorder {
 public:
  // That of this thread.
  static Recorder& of(Device& device);
  // Another one of this thread, for what is carried out before the call returns: flushing it leaves
  // pending what nothing in it needs.
  static Recorder& aside(Device& device);

  explicit Recorder(Device& device);
  Recorder(const Recorder&) = delete;

  Window& window() { return *window_; }
  Device& device() const { return *device_; }

  // Appends an instruction. Windows of other threads that stand in its way are flushed before, and
  // this one where a loop repeats its body; afterwards this one where the mode or its length asks
  // for it. `signature` tells requests of one line in the program from those of others.
  void record(uint64_t signature, Instr& i, const ViewRef& out, const Window::Input* in, int count);
  // Carries out what is pending. An error that belongs to another thread waits for that thread.
  void flush(const char* reason);
  // Whether a small operation on what is pending had better carry it out: the next instruction
  // would, or the latest are so many small ones that they take longer when they are recorded.
  bool small_ones_follow() const { return cut_due_ || small_ones_ >= kSmallOnes; }
  // As flush, but an error of this thread's waits, too.
  void flush_quietly(const char* reason) noexcept;
  // Carries out a window that was carried out before, with these bases, and lets go of them. None
  // of them is pending.
  void carry_out_again(std::unique_ptr<Window>& w, std::span<Base* const> bases,
                       const char* reason);

  // While it lives, windows are not cut where a loop repeats its body; those that are carried out
  // are kept, with their bases. A loop that goes on when it begins ends there.
  class Whole {
   public:
    explicit Whole(Recorder& r, std::vector<std::unique_ptr<Window>>* keep = nullptr)
        : r_(ended(r)),
          whole_(std::exchange(r.whole_, true)),
          keep_(std::exchange(r.keep_, keep)) {}
    ~Whole() {
      r_.whole_ = whole_;
      r_.keep_ = keep_;
      r_.period_ = r_.matching_ = 0;  // nothing was compared meanwhile
    }
    Whole(const Whole&) = delete;

   private:
    static Recorder& ended(Recorder& r) {
      if (r.folding_ || r.cut_due_) r.flush("a loop repeats its body");
      return r;
    }

    Recorder& r_;
    bool whole_;
    std::vector<std::unique_ptr<Window>>* keep_;
  };

 private:
  friend class RecorderOwner;
  // More than the borders of an array have between two steps over all of it.
  static constexpr int kSmallOnes = 12;

  void carry_out(const char* reason);
  void wait_for(const Window& w);
  struct Landing;
  bool mine() const { return owner_ == std::this_thread::get_id(); }
  void recorded();
  void find_period();
  // A loop whose windows may be cut after each iteration: its body's length and first line.
  struct Loop {
    int length = 0;
    uint64_t head = 0;
    bool operator==(const Loop&) const = default;
  };
  Loop loop_in_window() const;
  bool iterations_alike();
  void learn(Loop loop, bool full, bool known);
  // Flushes the first window of another thread that may not stay pending beside these accesses.
  bool flush_one_in_the_way(const ViewRef& out, const Window::Input* in, int count);

  Device* device_;
  std::unique_ptr<Window> window_;
  std::vector<std::unique_ptr<Window>> spare_;  // their memory is used again
  size_t windows_ = 1;                          // the pending one, those in flight, and spare ones
  std::vector<uint64_t> signatures_;
  std::vector<uint64_t> lines_;  // signatures without extents and strides
  // Of signatures that are alike in their last bits: the one before each, and the last ones.
  std::vector<int> alike_before_;
  std::array<int, 256> alike_last_{};
  int period_ = 0, matching_ = 0, first_ = 0;
  int small_ones_ = 0;    // the latest instructions that are small
  bool folding_ = false;  // a loop from first_ on, to become a loop in one kernel, goes on
  bool cut_due_ = false;
  bool aside_ = false;
  bool whole_ = false;
  std::vector<std::unique_ptr<Window>>* keep_ = nullptr;
  // Positions that come in an order of their own make windows of several iterations new each time,
  // where those of one iteration are known: this loop's windows are cut so.
  Loop each_;
  uint64_t refused_ = 0;  // the head of a loop whose windows of one iteration were new as well
  int new_ones_ = 0, credit_ = 0;
  uint64_t latest_ = 0;  // the signatures of the latest window that was cut so
  int alike_ = 0;        // windows before it, in a row, that had the same
  std::thread::id owner_;
  std::atomic<bool> ownerless_ = false;  // its thread has ended
  std::shared_ptr<const Error> error_;   // found by another thread's flush
};

// Flushes the windows that use a base, and waits for the threads that work on it.
void settle_base(Base& b, const char* reason);
// Flushes all windows of all threads, and waits until nothing is in flight.
void flush_all(const char* reason);
// Flushes the windows that may warn of floating-point errors.
void flush_told(const char* reason);

}  // namespace numbus
