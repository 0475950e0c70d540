// Temporary module that proves the build: compiles one function with LLVM and calls it.
#include <nanobind/nanobind.h>

int numbus_probe(int x);

NB_MODULE(_core, m) { m.def("probe", &numbus_probe); }
