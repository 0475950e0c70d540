// Steps of programs that are recorded again without their Python code (nb.compile).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/repeat.h"
#include "recipes.h"

namespace numbus::bindings {

// How a result is made of the arrays that a recipe gives.
struct Made {
  enum Kind : uint8_t { Constant, Tensor, Ndarray, Generic, Tuple, List, Dict } kind = Constant;
  bool open = false;      // a tensor that can still be differentiated
  bool constant = false;  // what is done with the tensor is not recorded
  size_t at = 0;          // of an array
  nb::object object;      // a constant; the keys of a dict, a tuple; the name of a tensor's maker
  std::vector<Made> items;

  // Adds the arrays in `o`; why it cannot be made again: null, it can. `opens`: results may be
  // differentiated.
  const char* read(PyObject* o, std::vector<Array>& arrays, bool opens, int depth = 0);
  nb::object make(std::vector<Array>& arrays) const;
};

// One call whose instructions are captured.
class StepCapture {
 public:
  StepCapture(const nb::args& args, const nb::kwargs& named);
  StepCapture(const StepCapture&) = delete;
  ~StepCapture() { end(); }

  bool known() const { return known_; }
  bool differentiated() const { return key_.differentiated(); }
  nb::bytes key() const;
  void begin(bool open);
  void end();
  // (why, file, line), or None.
  nb::object why() const;
  nb::list tensors() const;
  // Null, or why what was captured cannot be recorded again. `leaves`: tensors whose gradients it
  // made or removed.
  const char* finish(nb::handle result, const nb::list& leaves);
  const char* differs(const StepCapture& other) const;
  // Whether the step has kept a tensor's memory, which is no argument's and was not made by it.
  bool keeps(nb::handle tensor) const;
  // Whether the memory of an array or tensor is that of an argument.
  bool is_given(nb::handle array) const;
  // For the garbage collector.
  template <class F>
  int each(F&& visit) {
    for (const nb::object& o : key_.kept())
      if (const int stop = visit(o)) return stop;
    for (const nb::object& o : tensors_)
      if (const int stop = visit(o)) return stop;
    for (const auto& [o, at] : leaves_)
      if (const int stop = visit(o)) return stop;
    return 0;
  }
  void clear();

 private:
  friend class Steps;
  CallKey key_;
  bool known_ = false;
  std::optional<Capture> capture_;
  std::vector<nb::object> tensors_;
  std::vector<nb::object>* before_ = nullptr;
  std::shared_ptr<const Recipe> recipe_;
  Made made_;
  std::vector<std::pair<nb::object, std::optional<size_t>>> leaves_;  // and their gradients
};

// What has to be as it was when a step was captured.
struct Guard {
  enum Kind : int { Item, Attribute, Cell, Items, Gradient, Holds, Truth, Absent } kind;
  nb::object of, name, value;
  bool constant = false, leaf = false, active = false;  // of a tensor
  std::optional<Array> array;                           // of an array

  bool holds() const;
};

class Steps {
 public:
  Steps() = default;
  Steps(const Steps&) = delete;
  // What is not known is NotImplemented.
  nb::object answer(const nb::args& args, const nb::kwargs& named);
  // guards: (kind, of, name, value); renewals: functions that give numbers.
  void install(StepCapture& capture, const nb::list& guards, const nb::list& renewals);
  int64_t answers() const { return answers_; }
  template <class F>
  int each(F&& visit) {
    auto all = [&](const auto&... o) {
      int stop = 0;
      ((stop = stop ? stop : visit(o)), ...);
      return stop;
    };
    for (const auto& [hash, known] : all_)
      for (const auto& v : known) {
        for (const nb::object& o : v->kept)
          if (const int stop = visit(o)) return stop;
        for (const Guard& g : v->guards)
          if (const int stop = all(g.of, g.name, g.value)) return stop;
        for (const nb::object& o : v->renewals)
          if (const int stop = visit(o)) return stop;
        for (const auto& [o, at] : v->leaves)
          if (const int stop = visit(o)) return stop;
      }
    return 0;
  }
  void clear();

 private:
  struct Variant {
    std::vector<uint64_t> words;
    std::vector<nb::object> kept;
    std::vector<LayoutRef> layouts;
    std::shared_ptr<const Recipe> recipe;
    std::unique_ptr<Repeat> repeat;
    Made made;
    std::vector<Guard> guards;
    std::vector<nb::object> renewals;
    std::vector<std::pair<nb::object, std::optional<size_t>>> leaves;
  };
  // Those with guards that hold at different times, the latest first.
  std::unordered_map<uint64_t, std::vector<std::shared_ptr<Variant>>> all_;
  int64_t answers_ = 0;
  uint64_t kept_back_ = 0;  // calls in a row that the tape kept from being answered
};

}  // namespace numbus::bindings
