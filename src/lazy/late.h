// Checks whose outcome is read only when somebody needs what depends on it: a device of its own
// clock goes on working meanwhile.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lazy/base.h"
#include "lazy/plan.h"

namespace numbus {

class Window;
class Run;

// Where the kernels of one run report, two words a check: whether it failed, and a value that was
// wrong.
class LateWords {
 public:
  virtual ~LateWords() = default;
  // Of the device; they are zero.
  virtual int64_t* target() = 0;
  // All that reports has been queued.
  virtual void collect() = 0;
  // Whether what was reported is here.
  virtual bool arrived() = 0;
  virtual void wait() = 0;
  virtual const int64_t* words() const = 0;
};

// The checks of one run.
class LateReport {
 public:
  struct Item {
    Check::Kind kind;
    int axis;
    int64_t extent;
    uint64_t line;  // of the program, where it was asked for
    bool of_tensors;
  };
  LateReport(std::unique_ptr<LateWords> words, std::vector<Item> items)
      : words_(std::move(words)),
        items_(std::move(items)),
        errors_(items_.size()),
        found_(2 * items_.size()) {}
  // After all that reports has been queued.
  void collect() { words_->collect(); }
  // Whether it is known what failed; where `waits`, it is from then on. `asked`: which question
  // this is one of, if it is; the device is asked once for each.
  bool known(bool waits, uint64_t asked = 0);
  // Once that is known; null: it did not fail.
  std::shared_ptr<const Error> error(size_t check);
  // The first error, if nobody has heard of any; once that is known.
  std::shared_ptr<const Error> untold();
  bool failed() const;
  // Whether nothing has been reported so far: of a check that has been made, that it is fine.
  bool is_silent(size_t check) const {
    if (known_) return found_[2 * check] == 0;
    return static_cast<const volatile int64_t*>(words_->words())[2 * check] == 0;
  }

 private:
  std::unique_ptr<LateWords> words_;  // until it is known what failed
  std::vector<Item> items_;
  std::vector<std::shared_ptr<const Error>> errors_;
  std::vector<int64_t> found_;  // the words, once they are known
  bool known_ = false, told_ = false;
  uint64_t asked_ = 0;
};

// That a base's elements depend on a check. Bases of one run that depend on the same checks share
// their list, from which goes what is known not to have failed.
struct Suspicion {
  std::shared_ptr<LateReport> report;
  size_t check;
};

namespace late {

// Sets the base's failure where a check that it depends on is known to have failed; where `waits`,
// nothing is left open. `asked`: see LateReport.
void resolve(Base& b, bool waits, uint64_t asked = 0);
// Whether no check that the base depends on has reported anything; they have all been made.
bool is_silent(const Base& b);
// Waits for the checks of all runs; raises what nobody has heard of.
void tell();
// For tests: devices of tests have late checks, too, which arrive when somebody waits.
extern bool on_hosts;

}  // namespace late

// The late checks of a run, and what depends on those of runs before it. The memory that is needed
// is there before the first step, but for bases that depend on many different checks: without
// memory for these, their checks are waited for.
class LateRun {
 public:
  // Of bases that a run is about to use: what has arrived is known.
  static void look(const Window& w);
  LateRun(const Window& w, Run& run, Device& device);
  // What the step writes depends on what it reads.
  void pass(const KernelStep& step);
  // After the last step.
  void end(const Window& w, const Run& run);

 private:
  void begin(const Window& w, Run& run, Device& device);

  std::vector<Suspicion> all_;   // one bit each
  std::vector<uint64_t> masks_;  // one a storage
  // Lists of bases, by their bits; of those without bits the memory is there.
  struct Shared {
    uint64_t bits = 0;
    std::shared_ptr<std::vector<Suspicion>> list;
  };
  const std::shared_ptr<std::vector<Suspicion>>& list_of(uint64_t bits);
  std::vector<Shared> lists_;
  std::shared_ptr<LateReport> report_;
  size_t inherited_ = 0;
};

}  // namespace numbus
