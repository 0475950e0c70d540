// Formulas of optimizers: elementwise steps that Python writes down once and that are recorded for
// each parameter.
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "given.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/tuple.h"
#include "nanobind/stl/vector.h"
#include "recipes.h"

namespace numbus::bindings {
namespace {

// What a step reads: an array, a number or an earlier step's result, by its position.
struct Source {
  enum Kind : int { Given, Number, Result } kind;
  size_t at;
};

struct Step {
  Op op;
  int into;  // the array that it overwrites; -1: the result is new
  std::vector<Source> in;
};

class Formula {
 public:
  using Written = std::tuple<std::string, int, std::vector<std::pair<int, int>>>;

  Formula(const Formula&) = delete;
  Formula(const std::vector<Written>& steps, int arrays, int numbers)
      : arrays_(static_cast<size_t>(arrays)), numbers_(static_cast<size_t>(numbers)) {
    for (const auto& [name, into, in] : steps) {
      Step s{row_named(name), into, {}};
      if (into >= arrays) fail();
      for (const auto& [kind, at] : in) {
        const size_t limits[] = {arrays_, numbers_, steps_.size()};
        if (kind < 0 || kind > 2 || at < 0 || static_cast<size_t>(at) >= limits[kind]) fail();
        s.in.push_back({static_cast<Source::Kind>(kind), static_cast<size_t>(at)});
      }
      steps_.push_back(std::move(s));
    }
  }

  // One line for each parameter: its arrays, and the numbers.
  void record(const nb::list& arrays, const nb::list& numbers) const {
    if (arrays.size() != numbers.size()) fail();
    mark_line();
    for (size_t k = 0; k < arrays.size(); ++k) record_one(arrays[k], numbers[k]);
  }

 private:
  [[noreturn]] static void fail() {
    raise(ErrorKind::Value, "formula", "a step names what is not there", "another position",
          "an array, a number or an earlier result");
  }

  void record_one(nb::handle of_arrays, nb::handle of_numbers) const {
    const auto numbers = nb::cast<std::vector<double>>(of_numbers);
    if (numbers.size() != numbers_ || !PyTuple_CheckExact(of_arrays.ptr())) fail();
    CallKey key;
    const bool known = key.read(of_arrays);
    if (Capture* const outer = capture_now) {
      // What a step of a program captures takes its numbers anew each time; other captures have
      // them for good.
      const size_t before = outer->size();
      record_each(all_given(of_arrays), numbers);
      if (!outer->whole() || !known || !takes_numbers(*outer, before, outer->add_numbers(numbers_)))
        Capture::spoil("the numbers of an optimizer's step are part of what is recorded");
      return;
    }
    if (!known) return record_each(all_given(of_arrays), numbers);
    if (const auto recipe = recipes_.known(key)) {
      recipe->record(key.arrays, numbers);
      return;
    }
    Capture capture(key.arrays);
    record_each(key.arrays, numbers);
    if (takes_numbers(capture, 0, 0)) recipes_.keep(key, Recipe::of(capture, {}));
  }

  // Whether each step has become one instruction from `before` on, whose numbers may be others
  // next time: those from `first` on.
  bool takes_numbers(Capture& c, size_t before, int first) const {
    if (c.size() != before + steps_.size()) return false;
    for (size_t k = 0; k < steps_.size(); ++k)
      for (size_t n = 0; n < steps_[k].in.size(); ++n)
        if (const Source& s = steps_[k].in[n];
            s.kind == Source::Number &&
            !c.set_number(before + k, n, first + static_cast<int>(s.at)))
          return false;
    return true;
  }

  void record_each(std::vector<Array> given, const std::vector<double>& numbers) const {
    if (given.size() != arrays_) fail();
    std::vector<Array> results(steps_.size());
    for (size_t k = 0; k < steps_.size(); ++k) {
      const Step& step = steps_[k];
      std::vector<Arg> args;
      for (const Source& s : step.in) {
        if (s.kind == Source::Number) {
          Arg& number = args.emplace_back();
          number.weak = true;
          number.scalar = Scalar::from_float(numbers[s.at]);
        } else {
          args.emplace_back(s.kind == Source::Given ? &given[s.at] : &results[s.at]);
        }
      }
      Options o;
      if (step.into >= 0) o.out = &given[static_cast<size_t>(step.into)];
      results[k] = apply(step.op, args, o);
    }
  }

  mutable Recipes recipes_;
  std::vector<Step> steps_;
  size_t arrays_, numbers_;
};

}  // namespace

void bind_formulas(nb::module_& m) {
  nb::class_<Formula>(m, "Formula", "Elementwise steps for arrays and numbers that come later.")
      .def(nb::init<const std::vector<Formula::Written>&, int, int>(), nb::arg("steps"),
           nb::arg("arrays"), nb::arg("numbers"))
      .def("record", &Formula::record, nb::arg("arrays"), nb::arg("numbers"),
           "Records the steps for each line of arrays and numbers.");
}

}  // namespace numbus::bindings
