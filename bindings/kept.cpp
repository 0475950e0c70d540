// The module `_kept`, of the same library as `_core`: code of hot loops that is on disk, run
// without NumPy and without the core's arrays, which scripts of pure Python need not wait for
// (python/numbus/loops/kept.py).
#include <nanobind/stl/string.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "compile/compiler.h"
#include "compile/disk_cache.h"
#include "compile/leave.h"
#include "compile/runtime.h"
#include "device/counts.h"
#include "frontend.h"
#include "lazy/background.h"

namespace numbus::bindings {
namespace {

// The memory of arguments for as long as a call takes.
class Buffers {
 public:
  Buffers() = default;
  ~Buffers() {
    for (Py_buffer& b : all_) PyBuffer_Release(&b);
  }
  Buffers(const Buffers&) = delete;

  void reserve(size_t n) { all_.reserve(n); }
  // Appends the words of an array: its address, no owner, extents, strides.
  void add(nb::handle o, std::vector<int64_t>& words) {
    Py_buffer b;
    if (PyObject_GetBuffer(o.ptr(), &b, PyBUF_C_CONTIGUOUS) < 0) throw nb::python_error();
    all_.push_back(b);
    words.push_back(reinterpret_cast<int64_t>(b.buf));
    words.push_back(0);
    words.insert(words.end(), b.shape, b.shape + b.ndim);
    words.insert(words.end(), b.strides, b.strides + b.ndim);
  }

 private:
  std::vector<Py_buffer> all_;
};

// Code whose arguments are arrays without gaps in the host's memory, of types that the caller
// knows.
class KeptCode {
 public:
  explicit KeptCode(compile::HostFunction function) : function_(function) {}

  void call(const nb::args& args) const {
    Buffers buffers;
    buffers.reserve(args.size());
    std::vector<int64_t> words;
    for (nb::handle a : args) buffers.add(a, words);
    int64_t context[compile::kContextWords] = {};
    compile::Output output;
    context[compile::kOutput] = reinterpret_cast<int64_t>(&output);
    static const std::vector<frontend::Site> sites;
    context[compile::kSites] = reinterpret_cast<int64_t>(&sites);
    int64_t results[kMostKeptResults];
    ++work_counts().user_launches;
    const int32_t status =
        compile::interruptible([&] { return function_(context, words.data(), results); });
    if (status == compile::kInterrupted) raise_interrupted(output.text);
    // Loops are left before a statement that fails, so that they note no errors of their own.
    if (status) raise(ErrorKind::Runtime, "[loops] compiled code ended with an error");
  }

 private:
  compile::HostFunction function_;
};

std::string_view view(const nb::bytes& b) { return {b.c_str(), b.size()}; }

std::string own_key(const nb::bytes& key) {
  return "kept" + compile::build_identity() + std::string(view(key));
}

}  // namespace

// How the core asks Python about signals (base/interrupt.h); from threads with and without the GIL.
void set_interrupt_hooks() {
  if (interrupt::has_hooks()) return;
  interrupt::Hooks hooks;
  hooks.run_handlers = [] {
    nb::gil_scoped_acquire python;
    return PyErr_CheckSignals() != 0;
  };
  hooks.raises_only = [] {
    nb::gil_scoped_acquire python;
    static const nb::object* raises =
        new nb::object(nb::module_::import_("_signal").attr("default_int_handler"));
    static const nb::object* handler =
        new nb::object(nb::module_::import_("_signal").attr("getsignal"));
    return (*handler)(SIGINT).is(*raises);
  };
  interrupt::set_hooks(hooks);
  interrupt::chain_handler();
  // When the interpreter ends, arrays and streams go while Python can be asked nothing any more.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    interrupt::set_hooks({});
    set_compile_beside(false);
    wait_for_compiling();
  }));
}

NB_MODULE(_kept, m) {
  m.doc() = "Code of hot loops that is on disk, and lists as what it computes with.";
  nb::set_leak_warnings(false);
  set_interrupt_hooks();
  bind_loop_lists(m);
  m.def(
      "forget_interrupts",
      [] {
        // signal.signal() has put Python's handler back where the program, or what loads modules
        // in the middle of it, has called it.
        interrupt::chain_handler();
        interrupt::forget();
      },
      "Forgets a signal that came in before; Python runs its handler before the next call.");
  nb::class_<KeptCode>(m, "Code", "Code from the disk, called with contiguous arrays.")
      .def("__call__", &KeptCode::call);
  m.def(
      "code",
      [](const nb::bytes& key) -> nb::object {
        const compile::CompiledFunction found = compile::stored_function(std::string(view(key)));
        return found.function ? nb::cast(KeptCode(found.function)) : nb::none();
      },
      "The code that is known by a key, or None.");
  m.def(
      "room", [](Py_ssize_t n) { return nb::steal(PyByteArray_FromStringAndSize(nullptr, n)); },
      "A bytearray of so many bytes, of which none is set.");
  m.def(
      "load",
      [](const nb::bytes& key) {
        const std::string found = compile::disk_load(own_key(key));
        return nb::bytes(found.data(), found.size());
      },
      "The bytes that this build of Numbus has stored for a key; none where there are none.");
  m.def(
      "store",
      [](const nb::bytes& key, const nb::bytes& value) {
        compile::disk_store(own_key(key), view(value));
      },
      "Stores bytes for a key.");
}

}  // namespace numbus::bindings
