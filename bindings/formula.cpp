// Formulas of optimizers: elementwise steps that Python writes down once and that are recorded for
// each parameter.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "given.h"
#include "joined_steps.h"
#include "lazy/recorder.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/string.h"
#include "nanobind/stl/tuple.h"
#include "nanobind/stl/vector.h"
#include "recipes.h"
#include "tensors.h"

namespace numbus::bindings {
namespace {

using formula::Source;
using formula::Step;

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
    for (const DType t : {DType::F32, DType::F64})
      joined_.push_back({t, formula::joined(steps_, t)});
  }

  // One line for each parameter: its arrays, and the numbers.
  void record(const nb::list& arrays, const nb::list& numbers) const {
    if (arrays.size() != numbers.size()) fail();
    mark_line();
    const NoWarnings silent;
    // Parameters of one shape would look like the iterations of a loop, of which each few are
    // carried out by themselves; on a GPU all belong together.
    std::optional<Recorder::Whole> uncut;
    if (Device* const device = device_of_all(arrays); device && !device->host_readable())
      uncut.emplace(Recorder::of(*device));
    for (size_t k = 0; k < arrays.size(); ++k) record_one(arrays[k], numbers[k]);
  }

 private:
  // Null where they lie on several, or are none.
  static Device* device_of_all(const nb::list& arrays) {
    Device* found = nullptr;
    for (nb::handle line : arrays) {
      if (!PyTuple_CheckExact(line.ptr()) || PyTuple_Size(line.ptr()) == 0) return nullptr;
      PyObject* const first = PyTuple_GetItem(line.ptr(), 0);
      if (!is_array(first)) return nullptr;
      Device* const device = as_masked(first).full.base->device;
      if (found && found != device) return nullptr;
      found = device;
    }
    return found;
  }

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
      const std::vector<Array> given = all_given(of_arrays);
      const std::vector<Step>& steps = steps_for(given);
      record_each(steps, given, numbers);
      if (!outer->whole() || !known ||
          !takes_numbers(steps, *outer, before, outer->add_numbers(numbers_)))
        Capture::spoil("the numbers of an optimizer's step are part of what is recorded");
      return;
    }
    if (!known) {
      const std::vector<Array> given = all_given(of_arrays);
      return record_each(steps_for(given), given, numbers);
    }
    if (const auto recipe = recipes_.known(key)) {
      recipe->record(key.arrays, numbers);
      return;
    }
    Capture capture(key.arrays);
    const std::vector<Step>& steps = steps_for(key.arrays);
    record_each(steps, key.arrays, numbers);
    if (takes_numbers(steps, capture, 0, 0)) recipes_.keep(key, Recipe::of(capture, {}));
  }

  // As few instructions as possible, where nobody asks for derivatives by the steps. Those write to
  // arrays later than the steps do, which nobody sees whose memory is not theirs.
  const std::vector<Step>& steps_for(std::span<const Array> given) const {
    if (observer() || given.empty()) return steps_;
    for (size_t k = 1; k < given.size(); ++k)
      for (size_t n = 0; n < k; ++n)
        if (may_be_one(*given[n].base.get(), *given[k].base.get())) return steps_;
    for (const auto& [t, steps] : joined_)
      if (std::ranges::all_of(given, [&](const Array& a) {
            return a.dtype == t && a.layout->same_shape(*given[0].layout);
          }))
        return steps;
    return steps_;
  }

  static bool may_be_one(const Base& x, const Base& y) {
    return &x == &y || ((x.shared > 0 || !x.owned) && (y.shared > 0 || !y.owned));
  }

  // Whether each step has become one instruction from `before` on, whose numbers may be others
  // next time: those from `first` on.
  static bool takes_numbers(const std::vector<Step>& steps, Capture& c, size_t before, int first) {
    if (c.size() != before + steps.size()) return false;
    for (size_t k = 0; k < steps.size(); ++k)
      for (size_t n = 0; n < steps[k].in.size(); ++n)
        if (const Source& s = steps[k].in[n];
            s.kind == Source::Number &&
            !c.set_number(before + k, n, first + static_cast<int>(s.at)))
          return false;
    return true;
  }

  void record_each(const std::vector<Step>& steps, std::vector<Array> given,
                   const std::vector<double>& numbers) const {
    if (given.size() != arrays_) fail();
    std::vector<Array> results(steps.size());
    for (size_t k = 0; k < steps.size(); ++k) {
      const Step& step = steps[k];
      std::vector<Arg> args;
      for (const Source& s : step.in) {
        if (s.kind == Source::Number) {
          args.push_back(number(step, args.size(), numbers[s.at]));
        } else {
          args.emplace_back(s.kind == Source::Given ? &given[s.at] : &results[s.at]);
        }
      }
      Options o;
      if (step.into >= 0) o.out = &given[static_cast<size_t>(step.into)];
      if (step.function)
        results[k] = record_apply(*step.function, args, o).full;
      else
        results[k] = apply(step.op, args, o);
    }
  }

  static Arg number(const Step& step, size_t at, double x) {
    if (step.function) {
      const DType t = step.function->params[at];
      return {converted(Scalar::from_float(x), t), t};
    }
    Arg weak;
    weak.weak = true;
    weak.scalar = Scalar::from_float(x);
    return weak;
  }

  mutable Recipes recipes_;
  std::vector<Step> steps_;
  std::vector<std::pair<DType, std::vector<Step>>> joined_;
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
