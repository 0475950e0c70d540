// The tape of tensors for Python.
#include <nanobind/stl/vector.h>

#include <optional>
#include <unordered_map>

#include "array/capture.h"
#include "program/rules.h"
#include "tensors.h"

namespace numbus::bindings {
namespace {

using program::Tape;

constexpr const char* kSwitched = "a tensor comes to require a gradient, or no longer does";

// wrap(function(*args, **keywords)), of which the tape sees the function.
nb::object record(nb::handle function, nb::handle args, nb::handle keywords, nb::handle wrap) {
  const int64_t since = Tape::get().now();
  const Recording now;
  nb::object made;
  {
    const Seen seen;
    made = nb::steal(
        PyObject_Call(function.ptr(), args.ptr(), keywords.is_none() ? nullptr : keywords.ptr()));
  }
  if (made.is_valid())
    made = nb::steal(PyObject_CallFunctionObjArgs(wrap.ptr(), made.ptr(), nullptr));
  if (made.is_valid()) {
    Tape::get().settle(since);
    return made;
  }
  nb::python_error error;
  Tape::get().settle(since);
  throw error;
}

struct QuietBlock {
  std::unique_ptr<Quiet> quiet;
};

struct NoGradBlock {
  std::optional<Quiet> quiet;
  std::optional<NotRecording> off;

  void enter() {
    quiet.emplace();
    off.emplace();
  }
  void exit() {
    off.reset();
    quiet.reset();
  }
};

struct Found {
  std::shared_ptr<program::Adjoints> adjoints;
};

// Who is told of a derivative, and may replace it.
program::Entry::Told told_by(nb::object function) {
  return [held = held_by_python(std::move(function))](const Array& g) -> std::optional<Array> {
    nb::object made = (*held)(wrapped(g));
    if (made.is_none()) return {};
    return answered(made);
  };
}

// milestones: (numbers of memory, function), which is called with a Found once the derivatives by
// that memory are complete.
// apart: (view, function), likewise with the derivative by the view alone. targets: whose
// derivatives alone are asked for; none: all are.
nb::object backward(nb::handle outputs, nb::handle seeds, bool keep, bool again,
                    nb::list milestones, nb::list apart, nb::handle targets) {
  mark_line();
  const NoWarnings silent;
  Capture::spoil_open("derivatives are taken inside of it, and its result has one, too");
  const std::vector<Array> of = all_given(outputs);
  const DeviceOfNew follow(of.empty() ? nullptr : of[0].base->device);
  const std::vector<Array> by = all_given(seeds);  // known numbers become arrays here
  std::unique_ptr<Seen> seen;
  if (again) seen = std::make_unique<Seen>();
  std::vector<Tape::Milestone> told;
  for (nb::handle m : milestones) {
    nb::object function = m[1];
    told.push_back({nb::cast<std::vector<uint64_t>>(m[0]),
                    [function](const std::shared_ptr<program::Adjoints>& adjoints) {
                      function(nb::cast(Found{adjoints}));
                    }});
  }
  std::vector<program::ToldView> views;
  for (nb::handle v : apart) {
    const Array a = given(v[0]);
    const program::KnownView* const known = Tape::get().view(a.base->id, a.through);
    if (!known) raise(ErrorKind::Runtime, "backward", "no view", "an array", "a view of a tensor");
    views.push_back({program::Region(a.view()), *known, told_by(v[1]), {}});
  }
  const std::vector<Array> alone = all_given(targets);
  return nb::cast(
      Found{Tape::get().backward(of, by, keep, told, nullptr, std::move(views), alone)});
}

constexpr const char* kHooked = "a hook is registered, or a gradient retained";

void tell(int64_t writer, nb::handle array, nb::object function) {
  Capture::spoil_open(kHooked);
  Tape::get().tell(writer, given(array), told_by(std::move(function)));
}

// tensor: a weak reference.
void tell_view(nb::handle array, nb::object function, nb::object tensor) {
  Capture::spoil_open(kHooked);
  auto alive = [known = held_by_python(std::move(tensor))] { return !(*known)().is_none(); };
  Tape::get().tell_view(given(array), told_by(std::move(function)), std::move(alive));
}

// The number of the view that a tensor's array is; 0: it is none; -1: that is not known. Raises
// where its memory was written to since.
int64_t view_number(nb::handle array) {
  const Array a = given(array);
  if (a.through == a.base->id) return 0;
  const program::KnownView* const known = Tape::get().view(a.base->id, a.through);
  // What shows an element repeatedly has a derivative by each showing, which adjoints sum up.
  if (!known || !a.layout->injective()) return -1;
  Tape::get().require_unwritten(a.base->id, *known);
  return static_cast<int64_t>(a.through >> 1);
}

// What is recorded, entry by entry: its name, the memory that it writes to, and of each operand
// None, where nothing depends on it, or its memory and the entry that wrote it last (-1: none).
// Where elements stay as they were these are the last operand.
nb::list graph() {
  nb::list all;
  std::unordered_map<uint64_t, int64_t> writers;
  int64_t number = 0;
  for (const program::Entry& e : Tape::get().entries()) {
    if (e.gone()) continue;
    nb::list operands;
    auto add = [&](uint64_t base) {
      const auto found = writers.find(base);
      operands.append(nb::make_tuple(base, found == writers.end() ? -1 : found->second));
    };
    for (const program::Operand& o : e.operands) {
      if (o.active)
        add(o.region.base);
      else if (&o != e.predicate())
        operands.append(nb::none());
    }
    nb::list results;
    for (const program::Operand& o : e.results) {
      const uint64_t base = o.region.base;
      results.append(base);
      if ((e.predicate() || !o.region.whole()) &&
          (writers.contains(base) || Tape::get().watched(base)))
        add(base);
    }
    for (const program::Operand& o : e.results) writers[o.region.base] = number;
    all.append(nb::make_tuple(e.title(), results, operands));
    ++number;
  }
  return all;
}

}  // namespace

void bind_tape(nb::module_& m) {
  nb::class_<QuietBlock>(m, "quiet", "A block whose results are constants for all that watches.")
      .def(nb::init<>())
      .def("__enter__", [](QuietBlock& q) { q.quiet = std::make_unique<Quiet>(); })
      .def("__exit__", [](QuietBlock& q, nb::args) { q.quiet.reset(); });
  nb::class_<NoGradBlock>(m, "no_grad_block", "A block in which nothing is recorded.")
      .def(nb::init<>())
      .def("__enter__", &NoGradBlock::enter)
      .def("__exit__", [](NoGradBlock& b, nb::args) { b.exit(); });
  nb::class_<Found>(m, "Found", "Derivatives by the memory of tensors.")
      .def("bases", [](const Found& f) { return nb::tuple(nb::cast(f.adjoints->bases())); })
      .def(
          "of",
          [](Found& f, nb::handle array, bool alone) -> nb::object {
            mark_line();
            const Array a = given(array);
            const program::Region r(a.view());
            if (alone)
              if (std::optional<Array> own = f.adjoints->take(r))
                return nb::steal(wrap(std::move(*own)));
            const std::optional<Array> g = f.adjoints->of(r);
            if (!g) return nb::none();
            return nb::steal(wrap(program::own_copy(a, g)));
          },
          nb::arg("array"), nb::arg("alone") = false);
  m.def(
      "lazy_array",
      [](nb::handle x) {
        if (is_array(x.ptr())) return nb::borrow(x);
        return nb::steal(wrap(Array(given(x))));
      },
      nb::arg("x"), "An array, or a 0-d value as an array of the same memory, pending or not.");
  m.def("record_on_tape", &record, nb::arg("function"), nb::arg("args"), nb::arg("keywords").none(),
        nb::arg("wrap"));
  m.def(
      "tape_watch",
      [](nb::handle a) {
        Capture::spoil_open(kSwitched);
        Tape::get().watch(given(a));
      },
      nb::arg("array"));
  m.def(
      "tape_unwatch",
      [](nb::handle a) {
        Capture::spoil_open(kSwitched);
        Tape::get().unwatch(given(a));
      },
      nb::arg("array"));
  m.def(
      "tape_depends", [](nb::handle a) { return Tape::get().depends(given(a)); }, nb::arg("array"));
  m.def("tape_settle", [](int64_t since) { Tape::get().settle(since); }, nb::arg("since"));
  m.def("tape_now", [] { return Tape::get().now(); });
  m.def("tape_length", [] { return Tape::get().entries().size(); });
  m.def(
      "tape_drop_circles", [](bool always) { Tape::get().drop_circles(always); },
      nb::arg("always") = true);
  m.def("tape_begin_pulling", [] { Tape::get().begin_pulling(); });
  m.def("tape_end_pulling", [] { Tape::get().end_pulling(); });
  m.def("tape_keeps", [] { return Tape::get().keeps(); });
  m.def("tape_writer", [](nb::handle a) { return Tape::get().writer(given(a)); }, nb::arg("array"));
  m.def(
      "tape_reads",
      [](int64_t writer, nb::handle a) { return Tape::get().reads(writer, given(a)); },
      nb::arg("writer"), nb::arg("array"),
      "Whether entries after a number read anything of the memory of an array.");
  m.def(
      "tape_reached_from", [](nb::handle a) { return Tape::get().reached_from(given(a)); },
      nb::arg("array"), "The memory that derivatives of an array would reach.");
  m.def("tape_tell_view", &tell_view, nb::arg("array"), nb::arg("function"), nb::arg("tensor"));
  m.def("tape_view_number", &view_number, nb::arg("array"));
  m.def("tape_tell", &tell, nb::arg("writer"), nb::arg("array"), nb::arg("function"));
  m.def("tape_backward", &backward, nb::arg("outputs"), nb::arg("seeds"), nb::arg("keep"),
        nb::arg("again"), nb::arg("milestones") = nb::list(), nb::arg("apart") = nb::list(),
        nb::arg("targets") = nb::list());
  m.def("tape_graph", &graph);
  m.def("tape_text", [] { return program::print(Tape::get()); });
}

}  // namespace numbus::bindings
