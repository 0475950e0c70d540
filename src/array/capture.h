// What one call of a pure function recorded, to be recorded again for other operands without the
// function's own code.
//
// A function may be captured whose instructions depend on nothing but the layouts and types of its
// operands and on its other arguments. The capture notes each instruction; what it may not see,
// such as elements that were read or work that others did, spoils it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "array/array.h"

namespace numbus {

class Capture;
extern constinit thread_local Capture* capture_now;

class Capture {
 public:
  explicit Capture(std::span<const Array> given);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Before an instruction is recorded; `seen`: an observer is told of it.
  void note(const Instr& i, const Array& out, const Window::Input* in, int count, bool seen);
  static void spoil() {
    if (capture_now) [[unlikely]]
      capture_now->spoiled_ = true;
  }
  size_t size() const { return steps_.size(); }
  // Operand `operand` of the instruction is number `number` of those that come with each recording;
  // false: it is none.
  bool set_number(size_t step, size_t operand, int number);
  // Observers that are there are told of nothing, until the number is what it was.
  static int& hidden() {
    static constinit thread_local int none = 0;
    return capture_now ? capture_now->hidden_ : none;
  }

 private:
  friend class Recipe;
  struct View {
    size_t base;
    LayoutRef layout;
    int64_t offset;
    DType dtype;
  };
  struct Input {
    std::optional<View> view;  // none: a number
    Scalar scalar;
    DType dtype;
    int number = -1;  // of a number that comes with each recording
  };
  struct Step {
    Instr instr;
    std::shared_ptr<const Recordable> function;
    View out;
    std::vector<Input> in;  // of the operands and of further results
    int count;
    bool seen;
  };
  struct Known {
    enum Kind : uint8_t { Given, Fresh, Constant } kind;
    size_t at;       // of the operand
    int64_t nbytes;  // of a fresh one
    Handle base;     // of a constant
    uint64_t id;
  };
  View view_of(const ViewRef& v, bool written);

  std::vector<Step> steps_;
  std::vector<Known> bases_;
  bool spoiled_ = false;
  int hidden_ = 0;
  const bool watched_ = observer() != nullptr;
  Capture* before_;
};

// While it lives, nothing is captured.
class Uncaptured {
 public:
  Uncaptured() : before_(std::exchange(capture_now, nullptr)) {}
  ~Uncaptured() { capture_now = before_; }
  Uncaptured(const Uncaptured&) = delete;

 private:
  Capture* before_;
};

// The instructions, and which arrays are the results.
class Recipe {
 public:
  // Null where the capture is spoiled, or a result is no array of its own.
  static std::shared_ptr<const Recipe> of(Capture& c, std::span<const Array> results);
  // Records them for other operands; gives the results.
  std::vector<Array> record(std::span<const Array> given,
                            std::span<const double> numbers = {}) const;

 private:
  std::vector<Capture::Step> steps_;
  std::vector<Capture::Known> bases_;
  std::vector<Capture::View> results_;
};

}  // namespace numbus
