// Linear algebra by the inner loops of NumPy's ufuncs, and the calls that are recorded.
#include <algorithm>
#include <string>

#include "array/array.h"
#include "ops/routines.h"
#include "ufuncs_inside.h"
#include "vendor/linalg.h"

namespace numbus::bindings {
namespace {

bool take(nb::handle object, vendor::Linalg what, bool other) {
  const Ufunc& u = Ufunc::of(object);
  auto signature = nb::cast<std::string>(object.attr("signature"));
  std::erase(signature, ' ');
  if (!u.is_as_declared(object) || signature != vendor::form_of(what, other).signature)
    return false;
  int found = 0;
  for (int k = 0; k < u.count; ++k) {
    const char* types = u.types + ptrdiff_t{u.arguments} * k;
    const char first = types[0];
    if (first != Ufunc::kDouble && first != Ufunc::kComplexDouble) continue;
    // Either in each argument, and nothing else.
    for (int n = 0; n < u.arguments; ++n)
      if (types[n] != Ufunc::kDouble && types[n] != Ufunc::kComplexDouble) return false;
    const DType t = first == Ufunc::kDouble ? DType::F64 : DType::C128;
    vendor::set_linalg_loop(what, other, t, u.loops[k], u.data_of(k));
    ++found;
  }
  return found == 2;
}

Routine routine_named(const std::string& name) {
  for (size_t k = 0; k < std::size(kRoutines); ++k)
    if (kRoutines[k].name == name) return static_cast<Routine>(k);
  throw nb::value_error("no such routine");
}

}  // namespace

void bind_linalg(nb::module_& m) {
  m.def(
      "take_linalg_loops",
      [](nb::object module, nb::object ufunc) {
        for (size_t k = 0; k < vendor::kLinalgs; ++k)
          for (const bool other : {false, true}) {
            const auto what = static_cast<vendor::Linalg>(k);
            const char* name = vendor::form_of(what, other).ufunc;
            if (!name) continue;
            nb::object found = nb::getattr(module, name, nb::none());
            if (!found.type().is(ufunc) || !take(found, what, other)) return false;
          }
        return true;
      },
      nb::arg("module"), nb::arg("ufunc"),
      "Takes the loops of NumPy's ufuncs of linear algebra, which are never freed; whether they "
      "are as declared.");
  m.def(
      "linalg",
      [](const std::string& name, bool other, nb::args operands) {
        std::vector<Array> given;
        for (nb::handle o : operands) given.push_back(to_array(o.ptr()));
        mark_line();
        const std::vector<Array> made = linalg(routine_named(name), other, given);
        nb::list all;
        for (const Array& a : made) all.append(nb::steal(wrap(Array(a))));
        return nb::tuple(all);
      },
      "The results of a routine of linear algebra (ops/routines.def), or of its other form.");
}

}  // namespace numbus::bindings
