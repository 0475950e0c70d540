// The running system: modes, counters, the caches of plans and kernels, and carrying out windows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "lazy/late.h"
#include "lazy/recorder.h"
#include "lazy/run.h"
#include "lazy/window.h"

namespace numbus {

enum class Mode { Auto, Eager, Interp, Compiled };

struct Stats {
  int64_t instructions = 0, flushes = 0, plan_hits = 0, plan_misses = 0, compiles = 0,
          disk_hits = 0, launches = 0, interpreted = 0, contracted_bytes = 0, bytes_moved = 0,
          fallbacks = 0, flops = 0, bytes_to_device = 0, bytes_to_host = 0, at_once = 0,
          moved_to_device = 0, moved_to_host = 0, direct = 0, spills = 0, spilled_bytes = 0,
          brought_back = 0, captures = 0, replays = 0, early_reads = 0;
  double compile_ms = 0;
};

// A line of the Python program; no file: unknown.
struct SourceLine {
  std::string file;
  int line = 0;
};

class Explanation;
class LaunchQueue;

// An index beyond an axis; `where` it was recorded, if that is not the call.
Error wrong_index(int64_t index, int axis, int64_t extent, const std::string& where = "");
// What an error adds about the line of the program that a recorded line token stands for.
std::string recorded_at(uint64_t line);
// An integer to the power of `exponent`; `where` it was asked for, if that is not the call.
Error negative_power(int64_t exponent, const std::string& where = "");

// The exception that is being handled, as an error of ours; of memory, where there is none for it.
std::shared_ptr<const Error> present_error() noexcept;

// While it lives, Python's lock is free: nothing that Python can reach may be touched.
class WithoutPython {
 public:
  explicit WithoutPython(bool wanted);
  ~WithoutPython();
  WithoutPython(const WithoutPython&) = delete;
  WithoutPython& operator=(const WithoutPython&) = delete;

 private:
  void* state_ = nullptr;
};

class Runtime {
 public:
  static Runtime& get();

  // Carries out what all threads have pending.
  void flush(const char* reason) { flush_all(reason); }
  // After this the base has storage that holds its current value, on the device where it was.
  // Unless it `waits`, late checks may still be open.
  void materialize(Base* b, const char* reason, bool waits = true) {
    if (b->pending()) settle(*b, reason);
    if (b->suspicions) late::resolve(*b, waits);
    if (b->failure) throw Error(*b->failure);
    b->ensure_data();
  }
  // The same, on whichever device it then is.
  void materialize_anywhere(Base* b, const char* reason) {
    if (b->pending()) settle_base(*b, reason);
    if (b->suspicions) late::resolve(*b, true);
    if (b->failure) throw Error(*b->failure);
    b->ensure_data();
  }
  static bool may_come_early(const Base& b) {
    return b.nbytes <= kEarlyBytes && !b.device->host_readable();
  }
  // Some bytes of a base, from `offset` on, if a device gives them before the run that computes
  // them has ended; false: they have to be read as others are, and come early from the next runs
  // on.
  bool read_early(Base& b, const char* reason, int64_t offset, size_t bytes, char* to) {
    if (!may_come_early(b)) return false;
    if (b.pending()) settle_base(b, reason);
    return read_settled_early(b, offset, bytes, to);
  }
  // Finds or makes the plan of a detached window and runs it.
  void carry_out(Flight& flight, const char* reason);

  // Where devices are chosen by cost (array/placement.h): chooses that of a window before it runs,
  // and has a base lie where it lay before. `wanted`: the base that a flush is for.
  void (*settle_window)(Window&) = nullptr;
  void (*bring_back)(Base&, Device&) = nullptr;
  static constinit thread_local Base* wanted;

  // Lets other threads of Python run while a long kernel does; set by the bindings.
  void* (*leave_python)() = nullptr;
  void (*enter_python)(void*) = nullptr;
  // Whether this thread has Python's lock; null: there is none.
  bool (*holds_python)() = nullptr;

  // What the program's thread may do before it waits for an early value; set by the bindings.
  void (*while_waiting)() = nullptr;

  // Names the line of the program that a recorded line token stands for; set by the bindings.
  SourceLine (*describe_line)(uint64_t) = nullptr;

  Mode mode = Mode::Auto;
  // Operations of so many elements and fewer are carried out at once where nothing that they use is
  // pending.
  int64_t at_once = 0;
  WithoutPlan without_plan = WithoutPlan::Estimated;
  // Whether code may be compiled. A build without a compiler interprets, unless the mode asks for
  // compiled code, which is an error there.
  bool may_compile() const;
  Stats stats;
  // Elements went from one device's memory to another's.
  void note_copy(int64_t bytes, bool to_host);
  // An array goes to another device for good (array/placement.h).
  void note_move(int64_t bytes, bool to_device);
  std::unique_ptr<Explanation> explanation;  // of what runs, while somebody asks for it
  void forget_plans() {
    plans_.clear();
    direct_.clear();
  }
  const Run* last_run() const { return last_.get(); }

 private:
  // Of which base, holding which value.
  struct EarlyBase {
    uint64_t id = 0, value = 0;
    const char* data = nullptr;
    std::shared_ptr<EarlyValue> given;
    int64_t launch = 0;
  };
  void settle(Base& b, const char* reason);
  void begin(Flight& flight, const char* reason);
  void run(const Window& w, Run& run);
  void run(const Window& w, Direct& direct);
  void run_part(const Window& w, const Instr& i, Window& part, bool& begun);
  const EarlyBase* early_of(const Base& b) const;
  bool read_settled_early(const Base& b, int64_t offset, size_t bytes, char* to);
  void note_early(const Window& w, std::shared_ptr<Run> run);
  Error error_of(const Window& w, const Check& c, int64_t value) const;
  void run_step(const Window& w, KernelStep& step, char** data, LaunchQueue& queue);
  PlanCache plans_;
  DirectWindows direct_;
  std::shared_ptr<Run> last_;
  bool launched_together_ = false;  // the launches of the run that is carried out
  // Of the latest runs whose launches were queued together: what they give early, and the little
  // bases, whose values may be asked for.
  std::array<EarlyBase, 2 * kEarlyValues> early_;
  size_t next_early_ = 0;
  struct Queued {
    std::shared_ptr<Run> run;
    std::array<std::pair<uint64_t, int>, 8 * kEarlyValues> little;  // ids, slots
    size_t count = 0;
  };
  std::array<Queued, 4> queued_;
  size_t next_queued_ = 0;
};

}  // namespace numbus
