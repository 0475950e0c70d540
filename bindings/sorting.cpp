// Routines of the table that work on lines, by name.
#include "ops/routines.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>
#include <tuple>

#include "array/placement.h"
#include "convert.h"
#include "lazy/entries.h"

namespace numbus::bindings {
namespace {

PyObject* loader = nullptr;  // compiles the device kernels of a routine for a dtype

// Kernels are compiled before the routine is recorded: what runs it may not call Python.
void load_kernels(const Device& device, Routine r, DType t) {
  static bool loaded[std::size(kRoutines)][kNumDTypes];
  bool& known = loaded[static_cast<int>(r)][static_cast<int>(t)];
  // A routine with one entry for all devices runs its kernel as a grid on the host.
  const bool one = entries_of(r).cpu == entries_of(r).gpu;
  if (known || !loader || device.counts_only() || !(one || device.runs_ptx())) return;
  const nb::handle load = loader;
  load(nb::str(row(r).name.data(), row(r).name.size()), nb::handle(dtype_object(t)));
  known = true;
}

// Of a kernel that stands for a routine's operation, kind of numbers or shape.
void load_kernel(Routine r, const std::string& kernel, DType t) {
  static std::set<std::tuple<Routine, std::string, DType>> loaded;
  if (!loader || loaded.contains({r, kernel, t})) return;
  const nb::handle load = loader;
  load(std::string(row(r).name) + "." + kernel, nb::handle(dtype_object(t)));
  loaded.insert({r, kernel, t});
}

// Their name says which operation they apply.
void load_folds(const Device& device, Routine r, Op op, DType t, DType loop) {
  if (!device.runs_ptx()) return;
  std::string name(op_name(op));
  if (loop != t) name += "." + std::string(numbus::name(loop));
  load_kernel(r, name, t);
}

Routine routine_of(const std::string& name, const char* op = "routine") {
  for (size_t n = 0; n < std::size(kRoutines); ++n)
    if (kRoutines[n].name == name) return static_cast<Routine>(n);
  raise(ErrorKind::Value, op, "no row of that name", name, "a name of routines.def");
}

}  // namespace

void bind_sorting(nb::module_& m) {
  load_device_kernels = load_kernels;
  load_device_kernel = load_kernel;
  load_fold_kernels = load_folds;
  m.def("routine_names", [] {
    nb::list names;
    for (const RoutineRow& r : kRoutines) names.append(nb::str(r.name.data(), r.name.size()));
    return names;
  });
  m.def(
      "set_kernel_loader", [](nb::object f) { loader = nb::object(f).release().ptr(); },
      "f(routine, dtype) makes device kernels known before a GPU first runs a routine.");
  m.def(
      "along_lines",
      [](const std::string& name, nb::handle a, int axis, bool indices,
         std::vector<int64_t> attributes) {
        mark_line();
        const Routine r = routine_of(name);
        if (attributes.size() != row(r).attributes)
          raise(ErrorKind::Value, name, "wrong number of attributes",
                std::to_string(attributes.size()), std::to_string(row(r).attributes));
        Array operand = to_array(a.ptr());
        load_kernels(placement::home(operand), r,
                     operand.dtype == DType::Bool ? DType::U8 : operand.dtype);
        return nb::steal(wrap(along_lines(r, operand, axis, indices, attributes)));
      },
      nb::arg("name"), nb::arg("a"), nb::arg("axis"), nb::arg("indices"), nb::arg("attributes"),
      "The routine of that name along lines of `a`, for int64 indices or elements of its dtype.");
  m.def(
      "select_ranks",
      [](nb::handle a, int axis, std::vector<int64_t> ranks) {
        mark_line();
        Array operand = to_array(a.ptr());
        load_kernels(placement::home(operand), Routine::select, operand.dtype);
        return nb::steal(wrap(select(operand, axis, ranks)));
      },
      nb::arg("a"), nb::arg("axis"), nb::arg("ranks"),
      "The elements of these ranks of each line, in their order; the axis becomes the last one.");
  m.def(
      "search",
      [](nb::handle sorted, nb::handle values, bool right) {
        mark_line();
        Array line = to_array(sorted.ptr()), v = to_array(values.ptr());
        if (line.dtype != v.dtype)
          raise(ErrorKind::Type, "searchsorted", "two dtypes",
                std::string(name(line.dtype)) + " and " + std::string(name(v.dtype)), "one");
        load_kernels(placement::home(v), Routine::search, line.dtype);
        return nb::steal(wrap(search(line, v, right)));
      },
      nb::arg("sorted"), nb::arg("values"), nb::arg("right"),
      "Where values belong in a sorted line of the same dtype, int64.");
  m.def(
      "interp",
      [](nb::handle x, nb::handle xp, nb::handle fp, nb::handle ends) {
        mark_line();
        Array at = to_array(x.ptr()), points = to_array(xp.ptr()), values = to_array(fp.ptr());
        load_kernels(placement::home(at), Routine::interp, DType::F64);
        return nb::steal(wrap(interpolate(at, points, values, to_array(ends.ptr()))));
      },
      nb::arg("x"), nb::arg("xp"), nb::arg("fp"), nb::arg("ends"),
      "The values at `x` of the lines between points, and before and after them those of `ends`.");
  m.def(
      "bincount",
      [](nb::handle x, int64_t bins, nb::object weights) {
        mark_line();
        Array values = to_array(x.ptr());
        std::optional<Array> by;
        if (!weights.is_none()) by = to_array(weights.ptr());
        load_kernels(placement::home(values), by ? Routine::weigh : Routine::bincount,
                     values.dtype);
        return nb::steal(wrap(bincount(values, bins, by ? &*by : nullptr)));
      },
      nb::arg("x"), nb::arg("bins"), nb::arg("weights").none() = nb::none(),
      "Counts of integers in [0, bins), or sums of their float64 weights.");
  m.def(
      "draw",
      [](const std::string& name, const std::vector<uint64_t>& state, int64_t n, nb::handle dtype,
         nb::handle device) {
        mark_line();
        Device* const there =
            device.is_none() ? nullptr : &resolve_device(nb::cast<std::string>(device));
        return nb::steal(
            wrap(draw(routine_of(name, "draw"), state, n, to_dtype(dtype.ptr()), there)));
      },
      nb::arg("name"), nb::arg("state"), nb::arg("n"), nb::arg("dtype"),
      nb::arg("device") = nb::none(),
      "n random numbers on the device of that name, None: the default one, from the words of a "
      "state: philox, the key's two "
      "and the counter's four; pcg64, the state's two, the upper one first, the increment's, "
      "whether "
      "half a word is left from before and which; normal, the key and the counter.");
  m.def(
      "draw_on",
      [](const std::string& name, nb::handle state, int64_t n, nb::handle dtype) {
        mark_line();
        const Array& from = as_array(state.ptr());
        return nb::steal(wrap(draw_on(routine_of(name, "draw"), from, n, to_dtype(dtype.ptr()))));
      },
      nb::arg("name"), nb::arg("state"), nb::arg("n"), nb::arg("dtype"),
      "The same of a state, an array of uint64, on its device, of philox or normal; the counter in "
      "it grows, as recorded work, to that of the numbers after these.");
  m.def(
      "draws_from",
      [](nb::handle name) -> nb::object {
        if (name.is_none() && placement::on) return nb::none();
        Device& d = name.is_none() ? default_device() : resolve_device(nb::cast<std::string>(name));
        if (d.host_readable() || d.counts_only()) return nb::none();
        return nb::str(device_label(d).c_str());
      },
      nb::arg("name").none(),
      "The name of a device, None: the default one, if random numbers are drawn there from a state "
      "of its own; else None.");
  m.def(
      "draws_apart",
      [](int64_t n) {
        const Array numbers = empty({&n, 1}, DType::F64);
        const Device& there = placement::home(numbers);
        return !there.host_readable() && !there.counts_only();
      },
      nb::arg("n"), "Whether so many random numbers are drawn on a device apart from the host.");
  m.def(
      "sample",
      [](const std::string& name, const std::string& kind, const std::vector<uint64_t>& state,
         int64_t n, int64_t units, nb::handle dtype) {
        mark_line();
        const DType t = to_dtype(dtype.ptr());
        const Routine r = routine_of(name, "sample");
        if (r != Routine::pcg64_sample && r != Routine::philox_sample)
          raise(ErrorKind::Value, "sample", "a routine that draws no samples", name,
                "pcg64_sample or philox_sample");
        if (!default_device().counts_only()) load_kernel(r, kind, sample_type(t));
        auto [values, report] = sample(r, kind, state, n, units, t);
        return nb::make_tuple(nb::steal(wrap(std::move(values))),
                              nb::steal(wrap(std::move(report))));
      },
      nb::arg("name"), nb::arg("kind"), nb::arg("state"), nb::arg("n"), nb::arg("units"),
      nb::arg("dtype"),
      "n random numbers on the default device of which some are drawn again, from the words of a "
      "state, and where they end in the stream; see numbus/core/streams.py.");
  m.def(
      "histogram",
      [](nb::handle x, nb::handle edges, bool uniform) {
        mark_line();
        Array values = to_array(x.ptr()), limits = to_array(edges.ptr());
        load_kernels(placement::home(values), Routine::histogram, values.dtype);
        return nb::steal(wrap(histogram(values, limits, uniform)));
      },
      nb::arg("x"), nb::arg("edges"), nb::arg("uniform"),
      "How many of `x` lie in each bin between edges that do not decrease: of equal width, in a "
      "floating-point dtype, or any, in the dtype of `x`.");
}

}  // namespace numbus::bindings
