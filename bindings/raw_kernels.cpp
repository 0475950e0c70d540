// CUDA C++ compiled by NVRTC, modules of GPU code, launches with the program's own arguments.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>

#include "convert.h"
#include "device/cuda/cuda_device.h"
#include "frontend.h"
#include "lazy/spill.h"
#include "vendor/nvrtc.h"

namespace numbus::bindings {
namespace {

cuda::CudaDevice& gpu(const char* op) {
  Device& d = default_device();
  if (!d.runs_ptx())
    raise(ErrorKind::Runtime, op, "CUDA C++ needs a GPU as the device", device_label(d), "cuda");
  return static_cast<cuda::CudaDevice&>(d);
}

vendor::NvrtcImage compile(const std::string& source, const std::string& name,
                           std::vector<std::string> options,
                           const std::vector<std::string>& expressions) {
  int sm = vendor::names_architecture(options) ? 0 : gpu("nvrtc").properties().compute_capability();
  nb::module_::import_("numbus.core.libraries").attr("offer")("nvrtc");
  nb::gil_scoped_release released;
  return vendor::nvrtc_compile(source, name, std::move(options), sm, expressions);
}

nb::bytes to_bytes(const std::string& s) { return nb::bytes(s.data(), s.size()); }

// The values of a launch's arguments, each at its own address.
class Parameters {
 public:
  Parameters(cuda::CudaDevice& device, const std::string& kernel)
      : device_(device), kernel_(kernel) {}

  void add(nb::handle value) {
    PyObject* o = value.ptr();
    if (is_array(o)) return add_array(as_array(o));
    if (is_generic(o)) {
      Generic& g = as_generic(o);
      char bytes[16] = {};
      DType t = g.known ? g.dtype : g.array.dtype;
      store_scalar(value_of(g), t, bytes);
      return add_bytes(bytes, static_cast<size_t>(itemsize(t)));
    }
    if (PyBytes_Check(o)) {
      return add_bytes(PyBytes_AsString(o), static_cast<size_t>(PyBytes_Size(o)));
    }
    if (is_numpy_value(o)) {
      Py_buffer b;
      if (PyObject_GetBuffer(o, &b, PyBUF_SIMPLE) != 0) throw nb::python_error();
      add_bytes(b.buf, static_cast<size_t>(b.len));
      PyBuffer_Release(&b);
      return;
    }
    if (PyBool_Check(o)) return add_value<char>(o == Py_True);
    if (PyLong_CheckExact(o)) return add_integer(o);
    if (PyFloat_CheckExact(o)) return add_value(PyFloat_AsDouble(o));
    if (PyComplex_CheckExact(o)) {
      double both[2] = {PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)};
      return add_bytes(both, sizeof both);
    }
    if (nb::hasattr(value, "__cuda_array_interface__")) {
      nb::dict d = nb::cast<nb::dict>(value.attr("__cuda_array_interface__"));
      auto first = nb::cast<uint64_t>(d["data"][nb::int_(0)]);
      if (device_.has_queues()) add_foreign(d, first);
      return add_value(first);
    }
    raise(ErrorKind::Type, kernel_, "a kernel cannot take this argument",
          nb::cast<std::string>(nb::str(value.type())),
          "arrays on " + device_label(device_) + ", NumPy scalars, bytes or Python numbers");
  }

  std::span<const Use> uses() const { return uses_; }

  // `sizes` is what the kernel reads, where that is known.
  void** addresses(const std::optional<std::vector<size_t>>& sizes) {
    if (sizes && sizes->size() != values_.size())
      raise(ErrorKind::Type, kernel_, "wrong number of arguments", std::to_string(values_.size()),
            std::to_string(sizes->size()));
    addresses_.clear();
    for (size_t n = 0; n < values_.size(); ++n) {
      const Value& v = values_[n];
      if (sizes && (*sizes)[n] != v.bytes)
        raise(ErrorKind::Type, kernel_, "argument " + std::to_string(n) + " has another size",
              std::to_string(v.bytes) + " bytes", std::to_string((*sizes)[n]) + " bytes");
      addresses_.push_back(v.data.get());
    }
    return addresses_.data();
  }

 private:
  // A NumPy scalar, structures included.
  static bool is_numpy_value(PyObject* o) {
    static PyObject* type =
        nb::object(nb::module_::import_("numpy").attr("generic")).release().ptr();
    return PyObject_IsInstance(o, type) == 1;
  }

  void add_array(Array& a) {
    if (a.base->device != &device_)
      raise(ErrorKind::Value, kernel_, "an array is on another device",
            device_label(*a.base->device), device_label(device_));
    // What pending work writes to it runs now, and a mask made of it keeps its old values: the
    // kernel counts as a write.
    before_write(a);
    a.base->changed();
    char* data = data_of(a, "passed to a kernel");
    // A pointer may be used far from the view: the whole storage counts.
    auto begin = reinterpret_cast<std::uintptr_t>(a.base->data);
    uses_.push_back({begin, begin + static_cast<size_t>(a.base->nbytes), true});
    add_value(reinterpret_cast<uint64_t>(data));
  }

  // Another library's memory, taken to be in one piece.
  void add_foreign(nb::dict described, uint64_t first) {
    uint64_t bytes =
        static_cast<uint64_t>(itemsize(to_dtype(nb::object(described["typestr"]).ptr())));
    for (nb::handle extent : described["shape"]) bytes *= nb::cast<uint64_t>(extent);
    uses_.push_back({first, first + bytes, true});
  }

  void add_integer(PyObject* o) {
    int overflow = 0;
    long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) return add_value(static_cast<int64_t>(n));
    uint64_t large = PyLong_AsUnsignedLongLong(o);
    if (PyErr_Occurred()) throw nb::python_error();
    add_value(large);
  }

  template <class T>
  void add_value(T value) {
    add_bytes(&value, sizeof value);
  }

  void add_bytes(const void* from, size_t bytes) {
    // Rounded up to what the widest scalar parameter reads.
    std::unique_ptr<char[]> copy(new char[(bytes + 15) / 16 * 16 + 16]());
    std::memcpy(copy.get(), from, bytes);
    values_.push_back({std::move(copy), bytes});
  }

  cuda::CudaDevice& device_;
  const std::string& kernel_;
  struct Value {
    std::unique_ptr<char[]> data;
    size_t bytes;
  };
  std::vector<Value> values_;
  std::vector<Use> uses_;
  std::vector<void*> addresses_;
};

struct LoadedModule {
  cuda::CudaDevice& device;
  cuda::Module module;
};

struct RawFunction {
  RawFunction(std::shared_ptr<LoadedModule> owner, cuda::Function function)
      : owner(std::move(owner)),
        function(std::move(function)),
        sizes(this->function.parameter_sizes()) {}

  std::shared_ptr<LoadedModule> owner;
  cuda::Function function;
  std::optional<std::vector<size_t>> sizes;  // of the parameters, in bytes

  nb::dict attributes() const {
    nb::dict d;
    const std::pair<const char*, cuda::FunctionAttribute> all[] = {
        {"max_threads_per_block", cuda::kFunctionMaxThreads},
        {"shared_size_bytes", cuda::kFunctionSharedBytes},
        {"const_size_bytes", cuda::kFunctionConstantBytes},
        {"local_size_bytes", cuda::kFunctionLocalBytes},
        {"num_regs", cuda::kFunctionRegisters},
        {"ptx_version", cuda::kFunctionPtxVersion},
        {"binary_version", cuda::kFunctionBinaryVersion},
        {"cache_mode_ca", cuda::kFunctionCachesGlobals},
        {"max_dynamic_shared_size_bytes", cuda::kFunctionMaxDynamicShared},
        {"preferred_shared_memory_carveout", cuda::kFunctionSharedCarveout},
    };
    for (auto [name, which] : all) d[name] = function.attribute(which);
    return d;
  }

  void launch(nb::tuple grid, nb::tuple block, int64_t shared, nb::sequence args, bool cooperative,
              nb::handle stream) {
    const InPlace operands;
    Queue* queue = queue_of(stream, owner->device);
    Parameters parameters(owner->device, function.name());
    for (nb::handle one : args) parameters.add(one);
    if (shared < 0)
      raise(ErrorKind::Value, function.name(), "a negative size of shared memory",
            std::to_string(shared), "bytes");
    void** addresses = parameters.addresses(sizes);
    cuda::Dim3 blocks = extents(grid, "grid"), threads = extents(block, "block");
    Ordered order(owner->device, queue, parameters.uses());
    function.launch(blocks, threads, static_cast<size_t>(shared), owner->device.stream_of(queue),
                    addresses, cooperative);
  }

 private:
  cuda::Dim3 extents(nb::tuple given, const char* what) const {
    unsigned n[3] = {1, 1, 1};
    bool good = nb::len(given) <= 3;
    for (size_t d = 0; good && d < nb::len(given); ++d) {
      int64_t extent = nb::cast<int64_t>(nb::int_(given[d]));
      good = extent >= 1 && extent <= 2147483647;
      n[d] = static_cast<unsigned>(extent);
    }
    if (!good)
      raise(ErrorKind::Value, function.name(), std::string("not the extents of a ") + what,
            nb::cast<std::string>(nb::repr(given)), "at most 3 positive numbers");
    return {n[0], n[1], n[2]};
  }
};

struct RawModule {
  std::shared_ptr<LoadedModule> loaded;

  explicit RawModule(nb::bytes image) {
    cuda::CudaDevice& device = gpu("CudaModule");
    loaded = std::make_shared<LoadedModule>(
        LoadedModule{device, device.load_module(image.c_str(), image.size())});
  }
};

}  // namespace

void bind_raw_kernels(nb::module_& m) {
  m.def(
      "nvrtc_compile",
      [](const std::string& source, const std::string& name, std::vector<std::string> options) {
        return to_bytes(compile(source, name, std::move(options), {}).code);
      },
      nb::arg("source"), nb::arg("name"), nb::arg("options") = std::vector<std::string>(),
      "CUDA C++ compiled to a cubin, or to PTX where the options name a virtual architecture; "
      "where they name none, for the device in use. Raises RuntimeError with the compiler's log.");
  m.def(
      "nvrtc_compile_named",
      [](const std::string& source, const std::string& name, std::vector<std::string> options,
         const std::vector<std::string>& expressions) {
        vendor::NvrtcImage image = compile(source, name, std::move(options), expressions);
        nb::dict symbols;
        for (size_t n = 0; n < expressions.size(); ++n)
          symbols[expressions[n].c_str()] = image.symbols[n];
        return nb::make_tuple(to_bytes(image.code), symbols);
      },
      nb::arg("source"), nb::arg("name"), nb::arg("options"), nb::arg("expressions"),
      "Like nvrtc_compile(), with {expression: symbol} for C++ names such as 'f<float>'.");
  nb::class_<RawFunction>(m, "CudaFunction")
      .def_prop_ro("name", [](const RawFunction& f) { return f.function.name(); })
      .def_prop_ro("attributes", &RawFunction::attributes)
      .def("blocks_per_multiprocessor",
           [](const RawFunction& f, int threads, size_t shared) {
             return f.function.blocks_per_multiprocessor(threads, shared);
           })
      .def("launch", &RawFunction::launch, nb::arg("grid"), nb::arg("block"),
           nb::arg("shared_bytes"), nb::arg("args"), nb::arg("cooperative") = false,
           nb::arg("stream") = nb::none(),
           "Returns at once. Arrays are passed as pointers and count as written; NumPy scalars and "
           "bytes by value; Python numbers as int64, double, bool and two doubles. cooperative: "
           "all blocks run at "
           "once, or the launch fails.");
  nb::class_<RawModule>(m, "CudaModule")
      .def(nb::init<nb::bytes>(), nb::arg("image"), "Loads a cubin or PTX on the device in use.")
      .def("function",
           [](const RawModule& m, const std::string& name) {
             return RawFunction(m.loaded, m.loaded->module.function(name));
           })
      .def(
          "global_pointer",
          [](const RawModule& m, const std::string& name) { return m.loaded->module.global(name); },
          "(address, bytes) of a __device__ or __constant__ variable.");
}

}  // namespace numbus::bindings
