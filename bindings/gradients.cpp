// Programs and their derivatives for Python.
#include <memory>

#include "array/placement.h"
#include "given.h"
#include "nanobind/stl/vector.h"
#include "program/class_losses.h"
#include "program/program.h"
#include "program/rules.h"
#include "program/tiles.h"

namespace numbus::bindings {
namespace {

struct Watching {
  program::Program program;
  bool on = false;

  void enter() {
    program::begin(program);
    on = true;
  }
  void leave() {
    if (on) program::end(program);
    on = false;
  }
  Watching() = default;
  ~Watching() { leave(); }
  Watching(const Watching&) = delete;
};

nb::list gradient(Watching& w, nb::handle outputs, nb::handle seeds, nb::handle inputs,
                  bool zeros) {
  mark_line();
  const std::vector<Array> of = all_given(outputs);
  const DeviceOfNew follow(of.empty() ? nullptr : of[0].base->device);
  // Known numbers become arrays here.
  const std::vector<Array> by = all_given(seeds), in = all_given(inputs);
  if (of.size() != by.size())
    raise(ErrorKind::Value, "grad", "not a seed for each output", std::to_string(by.size()),
          std::to_string(of.size()));
  std::vector<std::optional<Array>> found = program::gradient(w.program, of, by, in);
  nb::list result;
  for (size_t k = 0; k < found.size(); ++k) {
    if (!found[k] && zeros) found[k] = program::own_copy(in[k], std::nullopt);
    if (found[k])
      result.append(wrapped(std::move(*found[k])));
    else
      result.append(nb::none());
  }
  return result;
}

program::Pullback pullback_of(nb::object function) {
  auto held = held_by_python(std::move(function));
  return [held](std::span<const std::optional<Array>> g) {
    nb::list adjoints;
    for (const auto& a : g) {
      if (a)
        adjoints.append(wrapped(*a));
      else
        adjoints.append(nb::none());
    }
    nb::object made = (*held)(*nb::tuple(adjoints));
    std::vector<std::optional<Array>> found;
    for (nb::handle o : nb::borrow<nb::list>(nb::list(made)))
      found.push_back(o.is_none() ? std::nullopt : std::optional(answered(o)));
    return found;
  };
}

// What watches while a library works.
struct Paused {
  std::unique_ptr<Unobserved> pause;
};

struct Reading {
  std::unique_ptr<program::Constants> constants;
};

// A function of elements whose derivative is a function of Python's: (operand, adjoint of the
// result) to the adjoint of the operand.
struct ElementWork final : program::DerivedWork {
  ElementWork(std::string n, uint64_t which, nb::object back)
      : name_(std::move(n)), number_(which), back_(held_by_python(std::move(back))) {}
  std::string name() const override { return name_; }
  std::vector<uint64_t> key() const override { return {2, number_}; }
  program::Pullback pullback(std::span<const Array> operands) const override {
    return [back = back_, x = operands[0]](std::span<const std::optional<Array>> g) {
      std::vector<std::optional<Array>> found(1);
      if (g[0]) found[0] = answered((*back)(wrapped(x), wrapped(*g[0])));
      return found;
    };
  }

 private:
  std::string name_;
  uint64_t number_;
  std::shared_ptr<nb::object> back_;
};

struct Closing {
  std::string name;
  std::unique_ptr<program::Closed> closed;
};

}  // namespace

Array filled_like(const Array& a, double value) {
  Array made = empty(a.shape(), a.dtype, a.base->device);
  // Where cost chooses, few elements by themselves would be made on the host.
  if (placement::on && a.base->pinned) placement::pin(made);
  assign(made, Arg(Scalar::from_float(value), DType::F64));
  return made;
}

void bind_gradients(nb::module_& m) {
  nb::class_<Watching>(m, "Program",
                       "The instructions that are recorded in its block and depend on watched "
                       "arrays, with the values that derivatives need.")
      .def(nb::init<>())
      .def("__enter__",
           [](nb::object self) {
             nb::cast<Watching&>(self).enter();
             return self;
           })
      .def("__exit__", [](Watching& w, nb::args) { w.leave(); })
      .def("watch", [](Watching& w, nb::handle a) { w.program.watch(given(a)); })
      .def("depends",
           [](Watching& w, nb::handle a) { return is_ours(a) && w.program.depends(given(a)); })
      .def("gradient", &gradient, nb::arg("outputs"), nb::arg("seeds"), nb::arg("inputs"),
           nb::arg("zeros") = true)
      .def("verify", [](Watching& w) { program::verify(w.program); })
      .def("__len__", [](Watching& w) { return w.program.entries().size(); })
      .def("__str__", [](Watching& w) { return program::print(w.program); });
  nb::class_<Paused>(m, "unobserved", "A block that no program sees.")
      .def(nb::init<>())
      .def("__enter__", [](Paused& p) { p.pause = std::make_unique<Unobserved>(); })
      .def("__exit__", [](Paused& p, nb::args) { p.pause.reset(); });
  m.def(
      "detect_anomalies",
      [](int which) {
        return static_cast<int>(program::detect_anomalies(static_cast<program::Anomalies>(which)));
      },
      "Has this thread look for NaN: 0 not, 1 in derivatives, 2 in what operations make, too. "
      "Gives "
      "what it did before.");
  nb::class_<Reading>(m, "constants",
                      "A block in which elements that depend on what is differentiated are read.")
      .def(nb::init<>())
      .def("__enter__", [](Reading& r) { r.constants = std::make_unique<program::Constants>(); })
      .def("__exit__", [](Reading& r, nb::args) { r.constants.reset(); });
  nb::class_<Closing>(m, "closed",
                      "A block that no program sees and that may use nothing they see.")
      .def("__init__", [](Closing* c, std::string name) { new (c) Closing{std::move(name), {}}; })
      .def("__enter__", [](Closing& c) { c.closed = std::make_unique<program::Closed>(c.name); })
      .def("__exit__", [](Closing& c, nb::args) { c.closed.reset(); });
  m.def(
      "copy_of",
      [](nb::handle x) {
        mark_line();
        const Array a = given(x);
        return nb::steal(wrap(copy(a, a.dtype)));
      },
      nb::arg("x"), "An array of its own with the elements of `x`, in their order in memory.");
  m.def(
      "filled_like",
      [](nb::handle x, double value) {
        mark_line();
        return nb::steal(wrap(filled_like(given(x), value)));
      },
      nb::arg("x"), nb::arg("value"),
      "An array of a number, of the shape, dtype and device of `x`.");
  m.def("watching", &program::watching, "Whether a program watches this thread.");
  m.def(
      "enter_largest_of_tiles",
      [](nb::handle x, nb::handle y, nb::handle place, const std::vector<int64_t>& extents) {
        const Array of = given(x), made = given(y), at = given(place);
        if (made.ndim() != of.ndim() || at.ndim() != of.ndim() || at.dtype != DType::I8 ||
            extents.size() > static_cast<size_t>(of.ndim()))
          raise(ErrorKind::Value, "enter_largest_of_tiles", "results that do not fit",
                shape_string(*made.layout), "one for each window");
        program::enter_largest_of_tiles(of, made, at, extents);
      },
      nb::arg("x"), nb::arg("y"), nb::arg("place"), nb::arg("extents"),
      "Gives `y` the derivative of the largest element of each window of `x`, at `place` in it.");
  m.def(
      "enter_class_losses",
      [](nb::handle x, nb::handle exponents, nb::handle sums, nb::handle own, nb::handle counts,
         nb::handle weights, nb::handle losses, int axis) {
        const Array of = given(x), made = given(losses);
        const program::ClassLosses parts{given(exponents), given(sums),    given(own),
                                         given(counts),    given(weights), axis};
        if (axis < 0 || axis >= of.ndim() || !parts.own.layout->same_shape(*of.layout) ||
            !parts.counts.layout->same_shape(*made.layout) ||
            !parts.weights.layout->same_shape(*made.layout) || made.ndim() + 1 != of.ndim())
          raise(ErrorKind::Value, "enter_class_losses", "results that do not fit",
                shape_string(*made.layout), "one for each target");
        program::enter_class_losses(of, parts, made);
      },
      nb::arg("x"), nb::arg("exponents"), nb::arg("sums"), nb::arg("own"), nb::arg("counts"),
      nb::arg("weights"), nb::arg("losses"), nb::arg("axis"),
      "Gives `losses` the derivative of cross entropy by `x`: weights times softmax(x) - own, of "
      "what counts.");
  m.def(
      "depends", [](nb::handle a) { return is_ours(a) && program::depends(given(a)); },
      nb::arg("x"), "Whether an array depends on what is differentiated.");
  m.def(
      "add_work",
      [](const std::string& name, nb::handle operands, nb::handle results, nb::object pullback) {
        program::add_work(name, all_given(operands), all_given(results),
                          pullback_of(std::move(pullback)));
      },
      nb::arg("name"), nb::arg("operands"), nb::arg("results"), nb::arg("pullback"));
  m.def(
      "enter_element",
      [](const std::string& name, uint64_t number, nb::object back, nb::handle x, nb::handle made) {
        const Array of = given(x);
        tell_work(std::make_shared<ElementWork>(name, number, std::move(back)), {&of, 1},
                  given(made));
      },
      nb::arg("name"), nb::arg("number"), nb::arg("back"), nb::arg("x"), nb::arg("made"),
      "Gives `made`, a function of the elements of `x`, its derivative `back`, of that number.");
  m.def(
      "stop_gradient",
      [](nb::handle x) {
        const Unobserved alone;
        mark_line();
        const Array a = given(x);
        return wrapped(copy(a, a.dtype));
      },
      nb::arg("x"));
}

}  // namespace numbus::bindings
