// Libraries loaded at first use: where Python says to look, and what came of it.
#include "vendor/library.h"

#include <nanobind/stl/vector.h>

#include "convert.h"

namespace numbus::bindings {

void bind_vendor(nb::module_& m) {
  m.def(
      "set_library_candidates",
      [](const std::string& name, std::vector<std::string> paths) {
        vendor::set_candidates(name, std::move(paths));
      },
      nb::arg("name"), nb::arg("paths"),
      "The paths or file names to try for 'blas', 'cublas' and so on, until one has loaded.");
  m.def(
      "require_library",
      [](const std::string& name) {
        nb::gil_scoped_release released;
        return vendor::require(name).path();
      },
      nb::arg("name"), "Loads a library and returns its path; raises RuntimeError with a remedy.");
  m.def(
      "library_report",
      [](const std::string& name) {
        vendor::LibraryReport report;
        {
          nb::gil_scoped_release released;
          report = vendor::library_report(name);
        }
        nb::list tried;
        for (const vendor::TriedPath& one : report.tried)
          tried.append(nb::make_tuple(one.path, one.outcome));
        nb::object found = report.found.empty() ? nb::none() : nb::cast(report.found);
        return nb::make_tuple(found, tried);
      },
      nb::arg("name"), "(path or None, [(path tried, outcome)]); loads the library to find out.");
}

}  // namespace numbus::bindings
