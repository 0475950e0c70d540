// The extension module numbus._core.
#include <nanobind/nanobind.h>

NB_MODULE(_core, m) { m.doc() = "The C++ core of Numbus."; }
