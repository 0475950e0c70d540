// Routines of the table that work on lines, by name.
#include "ops/routines.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"

namespace numbus::bindings {
namespace {

Routine routine_of(const std::string& name) {
  for (size_t n = 0; n < std::size(kRoutines); ++n)
    if (kRoutines[n].name == name) return static_cast<Routine>(n);
  raise(ErrorKind::Value, "routine", "no row of that name", name, "a name of routines.def");
}

}  // namespace

void bind_sorting(nb::module_& m) {
  m.def("routine_names", [] {
    nb::list names;
    for (const RoutineRow& r : kRoutines) names.append(nb::str(r.name.data(), r.name.size()));
    return names;
  });
  m.def(
      "along_lines",
      [](const std::string& name, nb::handle a, int axis, nb::object dtype,
         std::vector<int64_t> attributes, nb::object more) {
        mark_line();
        const Routine r = routine_of(name);
        if (attributes.size() != row(r).attributes)
          raise(ErrorKind::Value, name, "wrong number of attributes",
                std::to_string(attributes.size()), std::to_string(row(r).attributes));
        Array operand = to_array(a.ptr());
        std::optional<Array> second;
        if (!more.is_none()) second = to_array(more.ptr());
        const DType t = dtype.is_none() ? operand.dtype : to_dtype(dtype.ptr());
        return nb::steal(
            wrap(along_lines(r, operand, axis, t, attributes, second ? &*second : nullptr)));
      },
      nb::arg("name"), nb::arg("a"), nb::arg("axis"), nb::arg("dtype").none() = nb::none(),
      nb::arg("attributes") = std::vector<int64_t>(), nb::arg("more").none() = nb::none(),
      "The routine of that name along lines of `a`; the result has its shape, and `dtype`.");
}

}  // namespace numbus::bindings
