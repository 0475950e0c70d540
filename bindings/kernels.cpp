// Launching kernels from Python: arguments on their device, faults.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "device/cuda/cuda_device.h"
#include "frontend.h"
#include "in_progress.h"
#include "launch/kernel.h"
#include "lazy/spill.h"
#include "routines/kernels.h"

namespace numbus::bindings {

using frontend::Type;

void check_noted(int queue) {
  try {
    check_faults(queue);
  } catch (const Fault& f) {
    raise_noted(*f.sites, f.record, true);
  }
}

namespace {

// What two threads of a checked kernel do that does not fit together.
[[noreturn]] void raise_conflict(const Fault& f) {
  using namespace compile;
  auto position = [&](int64_t number) -> nb::object {
    if (number <= 0) return nb::none();
    const frontend::Site& s = f.sites->at(static_cast<size_t>(number - 1));
    return nb::make_tuple(s.file, s.function, s.line);
  };
  auto three = [&](int w) { return nb::make_tuple(f.record[w], f.record[w + 1], f.record[w + 2]); };
  bool race = f.record[kSite] == kRace;
  auto does = [&](int64_t what) -> nb::object {
    if (what < 0) return nb::none();
    return nb::str(ir::intrinsic_name(static_cast<ir::Intrinsic>(what)));
  };
  auto access = [](int64_t how) {
    static const char* const kNames[] = {"read", "write", "atomic"};
    return nb::str(kNames[how & 3]);
  };
  int64_t first = f.record[kFirst], second = f.record[kSecond];
  nb::object one = race ? access(second) : does(first);
  nb::object two = race ? access(second >> 4) : does(second);
  nb::list index;
  for (int64_t i : f.index) index.append(i);
  nb::module_::import_("numbus.kernels._errors")
      .attr("raise_conflict")(
          race ? nb::object(nb::make_tuple(f.array, index)) : nb::none(),
          nb::make_tuple(one, three(kThread), position(f.record[kPosition])),
          nb::make_tuple(two, three(kOtherThread), position(f.record[kOtherPosition])),
          three(kBlock));
  throw nb::python_error();
}

[[noreturn]] void raise_fault(const Fault& f) {
  int64_t site = f.record[compile::kSite];
  if (site == compile::kRace || site == compile::kDivergence) raise_conflict(f);
  raise_noted(*f.sites, f.record, true);
}

compile::Geometry geometry(nb::tuple grid, nb::tuple block, int64_t shared) {
  compile::Geometry g{};
  for (int d = 0; d < 3; ++d) {
    g.grid[d] = nb::cast<int64_t>(grid[d]);
    g.block[d] = nb::cast<int64_t>(block[d]);
  }
  g.dynamic_bytes = shared;
  return g;
}

// A kernel, compiled for each combination of argument types it is launched with.
class Kernel {
 public:
  // `function`: its number, or what gives it for the globals and closure of the moment.
  Kernel(nb::object function, nb::object options, std::string name)
      : function_(std::move(function)), name_(std::move(name)), options_(to_options(options)) {
    options_.kernel = true;
    auto number = [&](const char* key) {
      return nb::cast<int>(options.attr("get")(key, nb::int_(0)));
    };
    max_threads_ = number("max_threads");
    min_blocks_ = number("min_blocks");
    max_registers_ = number("max_registers");
    link_ = options.attr("get")("link", nb::none());
    links_ = nb::cast<bool>(options.attr("get")("links", nb::bool_(false)));
  }
  Kernel(const Kernel&) = delete;

  GridKernel& code(const std::vector<Type>& types, const std::string& key) {
    auto it = codes_.find(key);
    if (it != codes_.end()) return *it->second.code;
    InProgress::Claim claim(in_progress_, key);
    it = codes_.find(key);  // another thread may have made it
    if (it != codes_.end()) return *it->second.code;
    std::unique_ptr<GridKernel> made;
    int function = function_number(function_);
    try {
      frontend::Result r = frontend::compile(PythonProgram::get(), function, types, options_);
      r.module.max_threads = max_threads_;
      r.module.min_blocks = min_blocks_;
      r.module.max_registers = max_registers_;
      made = std::make_unique<GridKernel>(std::move(r));
    } catch (const frontend::CompileError& e) {
      raise_compile_error(e);
    }
    // Never replaced: other threads may be launching what is there.
    it = codes_.try_emplace(key, Compiled{types, std::move(made)}).first;
    last_ = it->second.code.get();
    return *last_;
  }

  // For declared signatures: a mistake in the kernel is told at once.
  void compile_for(nb::list types) {
    std::vector<Type> all;
    std::string key;
    for (nb::handle t : types) {
      all.push_back(to_type(t));
      frontend::put_key(key, all.back());
    }
    code(all, key);
  }

  // Compiles for these types and makes that the routines' kernel of this name and type.
  void add_to_routines(const std::string& routine, nb::object dtype, nb::list types, int64_t tile,
                       int64_t threads, int64_t shared_bytes) {
    std::vector<Type> all;
    std::string key;
    for (nb::handle t : types) {
      all.push_back(to_type(t));
      frontend::put_key(key, all.back());
    }
    routines::add_device_kernel(routine, to_dtype(dtype.ptr()),
                                {&code(all, key), tile, threads, shared_bytes});
  }

  void launch(const compile::Geometry& g, nb::handle stream, nb::tuple args) {
    const InPlace operands;
    Device& device = default_device();
    Arguments a;
    const bool apart = device.runs_on_host() && !device.host_readable();
    a.device = device.runs_ptx() || apart ? &device : nullptr;
    Queue* queue = queue_of(stream, device);
    a.wants_reach = device.has_queues();
    a.types.reserve(nb::len(args));
    a.words.reserve(8 * nb::len(args));
    for (nb::handle v : args) a.add(v, name_.c_str());
    GridKernel& k = code(a.types, a.key);
    link(k, device);
    std::string printed;
    try {
      const DeviceWork working(device);
      if (a.wants_reach)
        k.launch(device, g, a.words, &printed, queue, a.uses(k.result().written));
      else
        k.launch(device, g, a.words, &printed);
    } catch (const Fault& f) {
      if (!printed.empty()) write(printed);
      raise_fault(f);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Interrupted) throw;
      raise_interrupted(printed);
    }
    if (!printed.empty()) write(printed);
    a.copy_back(k.result().written);
    a.give_back(k.result().written);
  }

  // `aligned`: for arrays as a launch mostly finds them, which reads and writes wider.
  std::string ptx(nb::list types, int sm, int version, bool aligned) {
    std::vector<Type> all;
    std::string key;
    for (nb::handle t : types) {
      all.push_back(to_type(t));
      all.back().aligned = aligned && all.back().is_array();
      frontend::put_key(key, all.back());
    }
    return code(all, key).ptx(sm, version);
  }

  nb::object inspect(const std::string& what, int sm, int version) {
    nb::list all;
    for (auto& [key, c] : codes_)
      all.append(nb::make_tuple(described(c.types), what == "llvm"  ? c.code->host_ir()
                                                    : what == "asm" ? c.code->host_assembly()
                                                    : what == "ir"
                                                        ? ir::print(c.code->result().module)
                                                        : c.code->ptx(sm, version)));
    return all;
  }

  // (PTX, result type) of the function as one that others' code calls, see device_function_ptx();
  // `result`: its type where it is declared.
  nb::tuple device_ptx(nb::list types, nb::object result, const std::string& name, bool c_abi,
                       int sm, int version) {
    std::vector<Type> all;
    std::vector<int> items;
    for (nb::handle t : types) {
      all.push_back(to_type(t));
      items.push_back(all.back().is_array() ? itemsize(all.back().dtype) : 0);
    }
    frontend::Options options = options_;
    options.device = true;
    if (!result.is_none()) options.returns = to_type(result);
    int function = function_number(function_);
    try {
      GridKernel made(frontend::compile(PythonProgram::get(), function, all, options));
      const frontend::Result& r = made.result();
      expect_result(name_, r.result, options.returns);
      if (compile::has_recursion(r.module))
        raise(ErrorKind::NotImplemented, name_, "not yet: recursion in code that others call",
              "device=True", "a kernel");
      std::string ptx = compile::device_function_ptx(r.module, name, items, c_abi, sm, version);
      return nb::make_tuple(ptx, described({r.result})[0]);
    } catch (const frontend::CompileError& e) {
      raise_compile_error(e);
    }
  }

  nb::object report(int threads, size_t shared) {
    nb::dict d;
    if (!last_) return nb::none();
    if (default_device().runs_ptx()) link(*last_, default_device());
    KernelReport r = last_->report(default_device(), threads, shared);
    d["registers"] = r.registers;
    d["shared_bytes"] = r.shared_bytes;
    d["local_bytes"] = r.local_bytes;
    d["max_threads"] = r.max_threads;
    d["blocks_per_multiprocessor"] = r.blocks_per_multiprocessor;
    return d;
  }

 private:
  // Before a kernel is loaded that calls other code, or is to be linked with it.
  void link(GridKernel& k, Device& device) {
    const auto& names = k.result().module.externals;
    if ((!links_ && names.empty()) || k.linked()) return;
    if (!device.runs_ptx())
      raise(ErrorKind::Runtime, name_, "linked code runs on a GPU only", device_label(device),
            "cuda as the device");
    nb::list numbers;
    for (int n : k.result().links) numbers.append(n);
    std::vector<cuda::LinkInput> inputs;
    for (nb::handle i : nb::list(link_(numbers, nb::cast(names)))) {
      auto data = nb::cast<nb::bytes>(i[2]);
      inputs.push_back({static_cast<cuda::LinkKind>(nb::cast<int>(i[0])),
                        nb::cast<std::string>(i[1]), std::string(data.c_str(), data.size())});
    }
    if (!names.empty() && compile::has_recursion(k.result().module))
      raise(ErrorKind::NotImplemented, name_,
            "not yet: recursion in a kernel that calls linked code", names[0], "a loop");
    k.link_with(std::move(inputs));
  }

  static void write(const std::string& text) {
    nb::module_::import_("sys").attr("stdout").attr("write")(text);
  }

  nb::object function_;
  std::string name_;
  frontend::Options options_;
  int max_threads_, min_blocks_, max_registers_;
  struct Compiled {
    std::vector<Type> types;
    std::unique_ptr<GridKernel> code;
  };
  std::unordered_map<std::string, Compiled> codes_;
  InProgress in_progress_;
  GridKernel* last_ = nullptr;
  nb::object link_;     // what gives the code that kernels are linked with
  bool links_ = false;  // the program names some, whatever the kernel calls
};

cuda::CudaDevice& gpu() {
  Device& d = default_device();
  if (!d.runs_ptx())
    raise(ErrorKind::Runtime, "cuda", "no GPU is the device", device_label(d), "cuda");
  return static_cast<cuda::CudaDevice&>(d);
}

}  // namespace

void bind_kernels(nb::module_& m) {
  nb::class_<compile::Geometry>(m, "Geometry");  // NOLINT(bugprone-unused-raii)
  m.def("geometry", &geometry, "A grid as a program names it, once for all launches that use it.");
  nb::class_<Kernel>(m, "Kernel")
      .def(nb::init<nb::object, nb::object, std::string>())
      .def("launch", &Kernel::launch, nb::arg("geometry"), nb::arg("stream").none(),
           nb::arg("args"))
      .def("compile_for", &Kernel::compile_for)
      .def("add_to_routines", &Kernel::add_to_routines)
      .def("ptx", &Kernel::ptx, nb::arg("types"), nb::arg("sm"), nb::arg("version"),
           nb::arg("aligned") = false)
      .def("device_ptx", &Kernel::device_ptx, nb::arg("types"), nb::arg("result").none(),
           nb::arg("name"), nb::arg("c_abi"), nb::arg("sm"), nb::arg("version"))
      .def("inspect", &Kernel::inspect)
      .def("report", &Kernel::report);
  m.def("check_faults", [] { check_noted(kAnyQueue); }, "Raises what kernels have noted.");
  m.def("cuda_properties", [] {
    const cuda::DeviceProperties& p = gpu().properties();
    nb::dict d;
    d["name"] = p.name;
    d["compute_capability"] = nb::make_tuple(p.compute_major, p.compute_minor);
    d["MULTIPROCESSOR_COUNT"] = p.multiprocessors;
    d["WARP_SIZE"] = p.warp_size;
    d["MAX_THREADS_PER_BLOCK"] = p.max_threads_per_block;
    d["MAX_SHARED_MEMORY_PER_BLOCK"] = p.shared_per_block;
    d["total_memory"] = p.total_memory;
    return d;
  });
  m.def("is_default_gpu", [] { return default_device().runs_ptx(); });
}

}  // namespace numbus::bindings
