// The routines' device kernels as Python sees them: loaded by name, and run on arrays for tests.
#include "convert.h"
#include "lazy/spill.h"
#include "routines/gpu_count.h"
#include "routines/gpu_fold.h"
#include "routines/gpu_random.h"
#include "routines/gpu_select.h"
#include "routines/gpu_sort.h"
#include "routines/kernels.h"

namespace numbus::bindings {
namespace {

// The operands of a routine on one device, with their memory.
struct Run {
  Device* device = nullptr;
  std::vector<char*> at;
  std::vector<Array*> arrays;
  nb::dict attributes;

  void add(nb::handle value, bool written) {
    if (!is_array(value.ptr()))
      raise(ErrorKind::Type, "run_routine", "an operand is no array of Numbus",
            nb::cast<std::string>(nb::str(value.type())), "arrays");
    Array& a = as_array(value.ptr());
    if (device && a.base->device != device)
      raise(ErrorKind::Value, "run_routine", "operands are on two devices",
            device_label(*device) + " and " + device_label(*a.base->device), "one");
    if (!a.layout->c_contiguous())
      raise(ErrorKind::Value, "run_routine", "an operand is not contiguous", "strides",
            "a dense array");
    device = a.base->device;
    if (written) a.base->changed();
    at.push_back(data_of(a, "run_routine"));
    arrays.push_back(&a);
  }
  int64_t number(const char* key, int64_t otherwise) const {
    return attributes.contains(key) ? nb::cast<int64_t>(attributes[key]) : otherwise;
  }
  const uint64_t* words(size_t k) const { return reinterpret_cast<uint64_t*>(at.at(k)); }
  int64_t* integers(size_t k) const { return reinterpret_cast<int64_t*>(at.at(k)); }
  DType dtype(size_t k) const { return arrays.at(k)->dtype; }
  int64_t size(size_t k) const { return arrays.at(k)->layout->size(); }
  // Of the first operand: the length of its lines, and how many there are.
  int64_t length() const {
    const Layout& l = *arrays.at(0)->layout;
    return l.ndim() ? l.shape(l.ndim() - 1) : 1;
  }
  int64_t lines() const { return length() ? size(0) / length() : 0; }
};

using Body = void (*)(const Run&);
struct Entry {
  const char* name;
  Body body;
};

const Entry kEntries[] = {
    {"sort",
     [](const Run& r) {
       routines::sort_gpu(*r.device, r.dtype(0), r.at[0], r.at[1], r.lines(), r.length(),
                          r.number("descending", 0));
     }},
    {"argsort",
     [](const Run& r) {
       routines::argsort_gpu(*r.device, r.dtype(0), r.at[0], r.integers(1), r.lines(), r.length(),
                             r.number("descending", 0));
     }},
    {"select",
     [](const Run& r) {
       routines::select_gpu(*r.device, r.dtype(0), r.at[0], r.lines(), r.length(),
                            {r.integers(1), static_cast<size_t>(r.size(1))}, r.at[2]);
     }},
    {"bincount",
     [](const Run& r) {
       routines::bincount_gpu(*r.device, r.dtype(0), r.at[0], r.size(0), r.size(1), r.integers(1));
     }},
    {"weighted_bincount",
     [](const Run& r) {
       routines::weighted_bincount_gpu(*r.device, r.dtype(0), r.at[0],
                                       reinterpret_cast<double*>(r.at[1]), r.size(0), r.size(2),
                                       reinterpret_cast<double*>(r.at[2]));
     }},
    {"histogram",
     [](const Run& r) {
       routines::histogram_gpu(*r.device, r.dtype(0), r.at[0], r.size(0),
                               reinterpret_cast<double*>(r.at[1]), r.size(2),
                               r.number("uniform", 0), r.integers(2));
     }},
    {"compact",
     [](const Run& r) {
       routines::compact_gpu(*r.device, itemsize(r.dtype(0)), r.at[0], r.at[1], r.size(1), r.at[2],
                             r.integers(3));
     }},
    {"flatnonzero",
     [](const Run& r) {
       routines::flatnonzero_gpu(*r.device, r.at[0], r.size(0), r.integers(1), r.integers(2));
     }},
    {"search",
     [](const Run& r) {
       routines::search_gpu(*r.device, r.dtype(0), r.at[0], r.size(0), r.at[1], r.size(1),
                            r.number("right", 0), r.integers(2));
     }},
    {"interp",
     [](const Run& r) {
       const auto real = [&](size_t k) { return reinterpret_cast<double*>(r.at[k]); };
       routines::interp_gpu(*r.device, real(0), r.size(0), real(1), real(2), r.size(1), real(3),
                            real(4));
     }},
    {"reduceat",
     [](const Run& r) {
       const Layout& l = *r.arrays.at(0)->layout;
       const Op op = row_of(nb::object(r.attributes["op"]).ptr());
       routines::fold_segments_gpu(*r.device, op, r.dtype(0), r.number("associative", 0),
                                   {l.shape(0), l.shape(1), l.shape(2)}, r.at[0], r.integers(1),
                                   r.size(1) / 2, r.at[2]);
     }},
    {"fold_runs",
     [](const Run& r) {
       const Op op = row_of(nb::object(r.attributes["op"]).ptr());
       const int64_t points = r.size(0);
       routines::fold_runs(*r.device, op, r.dtype(2), r.dtype(3), points, r.size(2) / points,
                           {r.integers(0), r.integers(1), r.at[2], r.at[3], r.at[4], r.at[5]});
     }},
    {"philox",
     [](const Run& r) {
       routines::philox_gpu(*r.device, r.dtype(1), r.words(0), r.size(1), r.at[1]);
     }},
    {"normal",
     [](const Run& r) {
       routines::philox_normal_gpu(*r.device, r.dtype(1), r.words(0), r.size(1), r.at[1]);
     }},
};

// Runs a routine's device code on dense arrays: inputs, then outputs that it fills.
void run_routine(const std::string& name, nb::list inputs, nb::list outputs, nb::dict attributes) {
  for (const Entry& e : kEntries) {
    if (name != e.name) continue;
    const InPlace operands;
    Run r;
    r.attributes = attributes;
    for (nb::handle i : inputs) r.add(i, false);
    for (nb::handle o : outputs) r.add(o, true);
    std::optional<DeviceWork> work;
    if (r.device) work.emplace(*r.device);
    e.body(r);
    return;
  }
  raise(ErrorKind::Value, "run_routine", "no such routine", name, "one of bindings/routines.cpp");
}

}  // namespace

void bind_routines(nb::module_& m) {
  m.def("run_routine", &run_routine, nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"),
        nb::arg("attributes"), "Runs the device code of a routine on dense arrays.");
}

}  // namespace numbus::bindings
