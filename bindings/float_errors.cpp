// np.errstate beyond warnings.
#include "float_errors.h"

namespace numbus::bindings {

constinit thread_local bool errors_are_checked = false;

PyObject* check(const char* name, nb::handle arguments) {
  const Unchecked inner;
  static nb::object* module = nullptr;
  if (!module) module = new nb::object(nb::module_::import_("numbus.core.float_errors"));
  const nb::object function = module->attr(name);
  return PyObject_CallObject(function.ptr(), arguments.ptr());
}

void bind_float_errors(nb::module_& m) {
  m.def(
      "check_float_errors", [](bool wanted) { errors_are_checked = wanted; }, nb::arg("wanted"),
      "Whether NumPy does this thread's operations first, for what np.errstate asks for.");
  m.def("checks_float_errors", [] { return errors_are_checked; });
}

}  // namespace numbus::bindings
