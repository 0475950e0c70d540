// What one call of a pure function recorded, to be recorded again for other operands without the
// function's own code.
//
// A function may be captured whose instructions depend on nothing but the layouts and types of its
// operands and on its other arguments. The capture notes each instruction; what it may not see,
// such as elements that were read or work that others did, spoils it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "array/array.h"

namespace numbus {

struct HiddenWork;
class Capture;
extern constinit thread_local Capture* capture_now;

class Capture {
 public:
  // Whole: of a step of a program. What is neither given nor new is kept: it may be read and
  // written, and is taken to be the same memory at each recording. Open: of a step whose results
  // are still to be differentiated, so that observers see it again at each recording.
  enum class Of : uint8_t { Function, Whole, Open };
  explicit Capture(std::span<const Array> given, Of of = Of::Function);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Before an instruction is recorded; `seen`: an observer is told of it.
  void note(const Instr& i, const Array& out, const Window::Input* in, int count, bool seen);
  // Of work that observers are told of.
  void note_work(const std::shared_ptr<const HiddenWork>& w, std::span<const Array> operands,
                 const Array& result);
  static void spoil() { spoil("elements are read, or work is done that is not recorded"); }
  static void spoil(const char* why) {
    if (capture_now) [[unlikely]]
      capture_now->give_up(why);
  }
  // Before the host looks at, or writes, the memory of an array. What one capture has to do with
  // may be seen in the recording of a batch (`alone`): it is the same for all examples.
  static void touch(const Base& b) {
    if (capture_now && !(capture_now->alone_ && capture_now->is_apart(b))) [[unlikely]]
      spoil();
  }
  // What is captured is recorded once more, now, and nobody else observes this thread.
  void record_alone() { alone_ = true; }
  // Before work of which programs are told otherwise than by its instructions. Where nobody will be
  // told of these again, that is nothing to the capture.
  static void hide() {
    if (capture_now && !capture_now->alone_ && !(capture_now->whole_ && !capture_now->open_))
        [[unlikely]]
      spoil();
  }
  static bool alone() { return capture_now && capture_now->alone_; }
  // Of work that an observer keeps apart from its instructions.
  static void spoil_open(const char* why) {
    if (capture_now && capture_now->open_) [[unlikely]]
      capture_now->give_up(why);
  }
  size_t size() const { return steps_.size(); }
  // Whether the memory is kept: neither an operand's nor new.
  bool keeps(const Base& b) const { return is_constant(bases_, b); }
  // Whether the array's memory was made since, and all of it is the array's.
  bool makes(const Array& a) const;
  bool whole() const { return whole_; }
  bool open() const { return open_; }
  // Whether an operand was written to, or memory that is neither an operand's nor new.
  bool wrote_operands() const { return wrote_operands_; }
  bool wrote_others() const { return wrote_others_; }
  // Nothing is captured any more; what was stays.
  void end();
  bool ended() const { return ended_; }
  // Why it is spoiled, and the line of the program; null: it is not.
  const char* why() const { return why_; }
  uint64_t why_at() const { return why_at_; }
  // Numbers that come with each recording, `count` more; the first one's.
  int add_numbers(size_t count) {
    const size_t first = numbers_;
    numbers_ += count;
    return static_cast<int>(first);
  }
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
  friend class Repeat;
  friend class Batch;
  struct View {
    size_t base;
    LayoutRef layout;
    int64_t offset;
    DType dtype;
    // The operand that alone was seen as this view is (Array::through); -1: there is none.
    int operand = -1;
    // The array that it is of a recording's base.
    Array on(const Handle& b) const {
      Array a;
      a.base = b;
      a.layout = layout;
      a.offset = offset;
      a.dtype = dtype;
      a.owns = layout->size() * itemsize(dtype) == b->nbytes;
      return a;
    }
  };
  struct Input {
    std::optional<View> view;  // none: a number
    Scalar scalar;
    DType dtype;
    int number = -1;  // of a number that comes with each recording
  };
  struct Step {
    Instr instr;
    uint64_t line;  // of a whole step of a program
    std::shared_ptr<const Recordable> function;
    View out;
    std::vector<Input> in;  // of the operands and of further results
    int count;
    bool seen;
    std::shared_ptr<const HiddenWork> work;  // null: an instruction
  };
  struct Known {
    enum Kind : uint8_t { Given, Fresh, Constant } kind;
    size_t at;       // of the operand
    int64_t nbytes;  // of a fresh one
    Handle base;     // of a constant
    uint64_t id;
    bool pinned = false;  // a fresh one whose device was named, where cost chooses
  };
  static bool is_constant(const std::vector<Known>& all, const Base& b);
  View view_of(const ViewRef& v, bool written);
  bool is_apart(const Base& b) const;
  void give_up(const char* why);

  std::vector<Step> steps_;
  std::vector<Known> bases_;
  std::vector<std::pair<uint64_t, uint64_t>> given_;  // the operands' bases, and Array::through
  const bool whole_, open_;
  bool ended_ = false, alone_ = false;
  bool wrote_operands_ = false, wrote_others_ = false;
  const char* why_ = nullptr;
  uint64_t why_at_ = 0;
  size_t numbers_ = 0;
  Device* device_ = nullptr;
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
  // Null where the capture is spoiled, or a result is not all of memory that the capture made.
  static std::shared_ptr<const Recipe> of(Capture& c, std::span<const Array> results);
  // Records them for other operands; gives the results.
  // `ids`, if asked for: of the bases by their numbers.
  std::vector<Array> record(std::span<const Array> given, std::span<const double> numbers = {},
                            std::vector<uint64_t>* ids = nullptr) const {
    return record(given, numbers, ids, {});
  }
  // The same of an open step: `see` is told whether observers see what comes next as it is, or as
  // constants.
  std::vector<Array> record_open(std::span<const Array> given, std::span<const double> numbers,
                                 const std::function<void(bool)>& see) const {
    return record(given, numbers, nullptr, see);
  }
  // Null, or what tells it from another one of the same program.
  const char* differs(const Recipe& other) const;
  size_t numbers() const { return numbers_; }
  size_t size() const { return steps_.size(); }
  Device& device() const { return *device_; }
  // Whether the memory is kept: neither an operand's nor new.
  bool keeps(const Base& b) const { return Capture::is_constant(bases_, b); }
  // Whether it is an operand's.
  bool gives(const Base& b) const {
    return std::ranges::any_of(bases_, [&](const Capture::Known& known) {
      return known.kind == Capture::Known::Given && known.id == b.id;
    });
  }
  bool open() const { return open_; }

 private:
  friend class Repeat;
  friend class Batch;
  std::vector<Array> record(std::span<const Array> given, std::span<const double> numbers,
                            std::vector<uint64_t>* ids, const std::function<void(bool)>& see) const;
  void find_ends();

  std::vector<Capture::Step> steps_;
  std::vector<Capture::Known> bases_;
  std::vector<Capture::View> results_;
  // For each step of a function the new bases that neither later ones nor results have.
  std::vector<std::vector<size_t>> ends_;
  size_t numbers_ = 0;
  Device* device_ = nullptr;
  bool whole_ = false, open_ = false;
};

}  // namespace numbus
