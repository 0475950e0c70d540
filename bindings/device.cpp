// Devices: the default one, transfers, memory, and what `python -m numbus info` prints of them.
#include "device/device.h"

#include "array/ahead.h"
#include "array/placement.h"
#include "base/error.h"
#include "compile/compiler.h"
#include "convert.h"
#include "device/cpu/thread_pool.h"
#include "device/cuda/driver.h"
#include "device/opened.h"
#include "lazy/executor.h"
#include "lazy/live.h"
#include "lazy/runtime.h"
#include "lazy/spill.h"

namespace numbus::bindings {
namespace {

nb::dict memory_stats(const std::string& name) {
  const Device& device = resolve_device(name);
  MemoryStats s = device.memory_stats();
  nb::dict d;
  d["used_bytes"] = s.used_bytes;
  d["pooled_bytes"] = s.pooled_bytes;
  d["peak_bytes"] = s.peak_bytes;
  d["limit"] = s.limit;
  d["spilled_bytes"] = spill::waiting_bytes(device);
  return d;
}

void choose_gpu(int number) {
  if (number == current_gpu()) return;
  Device* next = cuda_device(number);
  if (next == nullptr)
    raise(ErrorKind::Runtime, "set_device", "the GPU cannot be used: " + cuda_unavailable_reason(),
          "cuda:" + std::to_string(number),
          "one of " + std::to_string(cuda::driver_info().devices) + " GPUs");
  Device* before = opened_cuda_device(current_gpu());
  if (placement::on && before && before->memory_stats().used_bytes > 0)
    raise(ErrorKind::Runtime, "set_device",
          "arrays lie on a GPU already, and devices are chosen by cost between the CPU and one GPU",
          device_label(*before), "the call before any work on a GPU");
  set_current_gpu(number);
  if (placement::on)
    placement::begin_with_gpu();
  else if (before && &default_device() == before)
    set_default_device(*next);
}

nb::dict device_info() {
  nb::dict d;
  d["default"] = device_label(default_device());
  d["cpu"] = compile::host_cpu_name();
  d["vector_bytes"] = compile::host_vector_bytes();
  d["llvm"] = "19";
  MemoryStats s = default_device().memory_stats();
  d["used_bytes"] = s.used_bytes;
  d["pooled_bytes"] = s.pooled_bytes;
  return d;
}

// A weak reference to what prepares something while this thread waits; null: nothing does.
constinit thread_local PyObject* prepares = nullptr;

void prepare_while_waiting() {
  if (!prepares) return;
  const nb::object weak = nb::steal(std::exchange(prepares, nullptr));
  const nb::object who = weak();
  if (!who.is_none()) who.attr("prepare")();
}

}  // namespace

void bind_devices(nb::module_& m) {
  m.def(
      "set_device",
      [](const std::string& name) {
        std::string before = default_label();
        if (name == "auto")
          choose_by_cost();
        else
          set_default_device(resolve_device(name));
        return before;
      },
      "Makes `name` the device of new arrays; returns the one before.");
  m.def("ask_for_gpu", ask_for_gpu,
        "Where no device was named, new arrays are the first usable GPU's from here on.");
  m.def("get_device", [] { return default_label(); }, "The device of new arrays.");
  m.def("num_threads", [] { return num_threads(); }, "The number of threads of this process.");
  m.def("limit_threads", limit_threads,
        "Work of this Python thread uses so many threads from here on; what was in force.");
  m.def("thread_limit", thread_limit, "How many threads work of this Python thread may use.");
  m.def(
      "thread_functions",
      [] {
        auto address = [](auto* f) { return reinterpret_cast<std::uintptr_t>(f); };
        return nb::make_tuple(address(&limit_threads), address(&thread_limit),
                              address(&thread_of_call));
      },
      "Addresses of limit_threads, thread_limit and thread_of_call, for compiled functions.");
  m.def(
      "set_placement",
      [](const std::string& far, int64_t few) {
        placement::begin(far.empty() ? nullptr : &resolve_device(far), few);
        if (!far.empty()) choose_by_cost();
      },
      "For tests: devices are chosen by cost between the CPU and `far`, where arrays of `few` "
      "bytes are made.");
  m.def(
      "far_windows",
      [] {
        nb::list all;
        for (const placement::FarWindows& f : placement::far_windows()) {
          const SourceLine at = Runtime::get().describe_line(f.line);
          all.append(nb::make_tuple(at.file, at.line, f.windows));
        }
        return all;
      },
      "(file, line, windows) of the lines whose work went to a GPU by choice.");
  m.def("placing", [] { return placement::on; }, "Whether devices are chosen by cost.");
  m.def(
      "work_on",
      [](const std::string& name) {
        Device* before = placement::Work::set(name.empty() ? nullptr : &resolve_device(name));
        return before ? device_label(*before) : std::string();
      },
      "Records this thread's work for that device, where devices are chosen by cost; empty: for "
      "any device. Returns what was set before.");
  m.def(
      "pin", [](nb::handle a) { placement::pin(as_array(a.ptr())); },
      "Keeps the array on its device, which the user named.");
  m.def(
      "is_pinned", [](nb::handle a) { return to_array(a.ptr()).base->pinned; },
      "Whether the user named the array's device.");
  m.def(
      "settle",
      [](nb::handle a) {
        Base& b = *to_array(a.ptr()).base.get();
        Runtime::get().materialize_anywhere(&b, "its device is asked for");
      },
      "Carries out what is pending on the array, which chooses its device.");
  m.def(
      "place",
      [](nb::list arrays, double near, double far, const std::string& library) {
        std::vector<Array> all;
        for (nb::handle a : arrays) all.push_back(to_array(a.ptr()));
        std::vector<const Array*> operands;
        for (const Array& a : all) operands.push_back(&a);
        Device& to =
            placement::chosen_for(operands, {near, far}, placement::library_named(library));
        nb::list placed;
        for (size_t n = 0; n < all.size(); ++n)
          placed.append(all[n].base->device == &to
                            ? nb::borrow(arrays[n])
                            : nb::steal(wrap(placement::brought(all[n], to))));
        return placed;
      },
      nb::arg("arrays"), nb::arg("near"), nb::arg("far"), nb::arg("library") = "",
      "The arrays, or copies of them, on the device where work of that cost in microseconds, near "
      "the host or far, is to run, there by a library (\"blas\", \"solver\", \"fft\"); while "
      "devices are chosen by cost.");
  m.def(
      "to_device",
      [](nb::object a, const std::string& name) -> nb::object {
        if (name == "auto") return is_array(a.ptr()) ? a : nb::steal(wrap(to_array(a.ptr())));
        Device& d = resolve_device(name);
        if (is_array(a.ptr()) && as_masked(a.ptr()).full.base->device == &d) return a;
        mark_line();
        Array moved = to_device(to_array(a.ptr()), d);
        placement::pin(moved);
        return nb::steal(wrap(std::move(moved)));
      },
      nb::arg("a"), nb::arg("name"),
      "The array on another device: itself where it already is, else a copy.");
  m.def(
      "beside",
      [](nb::handle a, const std::string& name) {
        mark_line();
        return nb::steal(wrap(to_device(to_array(a.ptr()), resolve_device(name))));
      },
      nb::arg("a"), nb::arg("name"),
      "The array on a device that the user has not named for it: what lies beside an operand.");
  nb::class_<Ahead>(m, "Ahead",
                    "A copy of an array on another device, begun before the program asks for it.")
      .def(
          "__init__",
          [](Ahead* self, nb::object a, nb::object target, bool own) {
            Device* to =
                target.is_none() ? nullptr : &resolve_device(nb::cast<std::string>(target));
            new (self) Ahead(to_array(a.ptr()), to, own);
          },
          nb::arg("a"), nb::arg("target").none() = nb::none(), nb::arg("own") = false)
      .def_prop_ro(
          "moved_to",
          [](const Ahead& self) -> nb::object {
            if (!self.moved_to()) return nb::none();
            return nb::cast(device_label(*self.moved_to()));
          },
          "The device that the program has copied the array to since; None: it has not yet.")
      .def_prop_ro("begun", &Ahead::begun, "Whether a copy is there that nobody has asked for.");
  m.def(
      "own_value", [](nb::handle a) { return own_value(to_array(a.ptr())); }, nb::arg("a"),
      "A number that stays as long as the elements do, in memory of the host that nobody outside "
      "can change; 0 for other arrays.");
  m.def(
      "while_waiting",
      [](nb::object weak) {
        Py_XDECREF(std::exchange(prepares, weak.release().ptr()));
        Runtime::get().while_waiting = prepare_while_waiting;
      },
      nb::arg("weak"),
      "Has `prepare` of what a weak reference leads to called once, before this thread waits for a "
      "value that a device gives early.");
  m.def(
      "reads_early", [] { return Runtime::get().stats.early_reads > 0; },
      "Whether a value was read before the run that computed it had ended.");
  m.def("may_have_gpu", may_have_gpu, "Whether there may be a usable GPU; opens nothing.");
  m.def("cuda_available", [] { return cuda_device(0) != nullptr; });
  m.def("cuda_reason", [] { return cuda_unavailable_reason(); });
  m.def(
      "cuda_info", [] { return cuda::info_text(); },
      "The driver, the paths tried for it, and the GPUs, as text.");
  m.def("current_gpu", current_gpu, "The number of the GPU that 'cuda' stands for.");
  m.def("set_current_gpu", choose_gpu, nb::arg("number"),
        "Has 'cuda' stand for another GPU, before arrays lie on the one it stood for.");
  m.def("cuda_count", [] { return cuda::driver_info().devices; });
  m.def("memory_stats", memory_stats,
        "used_bytes, pooled_bytes, peak_bytes and limit of a device; spilled_bytes: of its arrays "
        "that wait in the host's memory.");
  m.def("set_memory_limit", [](const std::string& name, int64_t bytes) {
    if (bytes < 0)
      raise(ErrorKind::Value, "set_limit", "negative limit", std::to_string(bytes),
            "a number of bytes, or 0 for all memory");
    resolve_device(name).set_memory_limit(static_cast<size_t>(bytes));
  });
  m.def("reset_peak", [](const std::string& name) {
    Runtime::get().flush("reset_peak");
    resolve_device(name).reset_peak();
  });
  m.def("trim", [](const std::string& name) {
    Runtime::get().flush("trim");
    Device& device = resolve_device(name);
    spill::trim(device);
    executor_of(device).drop_replays(device);
    device.trim();
  });
  m.def(
      "set_late_checks", [](bool on) { late::on_hosts = on; }, nb::arg("on"),
      "For tests: what a kernel finds out about indices on the fenced device is looked at when "
      "somebody waits, as on a GPU.");
  m.def(
      "set_spilling",
      [](int64_t least, bool always) {
        Live::least = least > 0 ? least : Live::kLeast;
        Runtime::get();
        Device::relief.always = always;
      },
      "For tests: arrays of so many bytes may wait on the host (0: as otherwise); always: one goes "
      "at each request for memory.");
  m.def("device_info", device_info);
}

}  // namespace numbus::bindings
