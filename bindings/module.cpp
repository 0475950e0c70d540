// The extension module: functions of docs/design/core_interface.md.
#include <dlfcn.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <csignal>

#include "array/at_once.h"
#include "array/at_once_calls.h"
#include "array/in_use.h"
#include "array/precision.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "compile/disk_cache.h"
#include "compile/prebuilt.h"
#include "convert.h"
#include "device/counts.h"
#include "frontend.h"
#include "launch/kernel.h"
#include "lazy/executor.h"
#include "lazy/explain.h"
#include "lazy/float_errors.h"
#include "numpy_objects.h"
#include "quick.h"
#include "scalars.h"

using namespace numbus;
using namespace numbus::bindings;

namespace {

nb::object reduce_call(const std::string& name, nb::object source,
                       const std::optional<std::vector<int>>& axes, bool keepdims, nb::object dtype,
                       nb::object where, double ddof, nb::object out) {
  Masked made;
  if (!is_array(source.ptr())) made = to_array(source.ptr());
  Masked& a = is_array(source.ptr()) ? as_masked(source.ptr()) : made;
  const int ndim = a.ndim();
  uint64_t mask = axes ? 0 : all_axes(ndim);
  for (int d : axes.value_or(std::vector<int>())) {
    if (d < 0 || d >= std::max(ndim, 1))
      raise(ErrorKind::Axis, name, "axis out of bounds", std::to_string(d),
            "below " + std::to_string(ndim));
    mask |= 1ull << d;
  }
  if (ndim == 0) mask = 0;
  std::optional<DType> t;
  if (!dtype.is_none()) t = to_dtype(dtype.ptr());
  Array w, o;
  if (!where.is_none()) w = to_array(where.ptr());
  if (!out.is_none()) o = to_array(out.ptr());
  const Array* wp = where.is_none() ? nullptr : &w;
  const Array* op = out.is_none() ? nullptr : &o;
  mark_line();
  Array r = reduce(name, a, mask, keepdims, t, wp, ddof, op);
  return op ? out : nb::steal(wrap_result(std::move(r)));
}

// In a copy, unlike an element, Python's floats and complex numbers are cast as NumPy's are.
void cast_as_array(Arg& a) {
  if (!a.weak || a.huge || a.scalar.kind < Kind::Float) return;
  a.weak = false;
  a.dtype = a.scalar.kind == Kind::Float ? DType::F64 : DType::C128;
}

// A new array; fortran: the first index is the fastest.
Array uninitialised(nb::object shape, nb::object dtype, bool fortran) {
  std::vector<int64_t> extents = to_shape(shape.ptr());
  DType t = to_dtype(dtype.ptr());
  mark_line();
  if (!fortran || extents.size() < 2) return empty(extents, t);
  std::reverse(extents.begin(), extents.end());
  int n = static_cast<int>(extents.size());
  std::vector<int> axes(n);
  for (int d = 0; d < n; ++d) axes[d] = n - 1 - d;
  Array a = transpose(empty(extents, t), axes);
  a.owns = true;
  return a;
}

// Below this many elements an operation of its own costs less than what is saved where it is
// recorded and fused (docs/performance.md).
constexpr int64_t kAtOnce = 512;
int64_t set_at_once(int64_t elements) {
  return std::exchange(Runtime::get().at_once, std::clamp(elements, int64_t{0}, kMostAtOnce));
}

// By number: 0 never, 1 as costs are estimated, 2 always.
int set_without_plan(int when) {
  if (when < 0 || when > 2)
    raise(ErrorKind::Value, "set_without_plan", "unknown choice", std::to_string(when),
          "0, 1 or 2");
  return static_cast<int>(
      std::exchange(Runtime::get().without_plan, static_cast<WithoutPlan>(when)));
}

nb::dict stats() {
  const Stats& s = Runtime::get().stats;
  nb::dict d;
  d["instructions"] = s.instructions;
  d["at_once"] = s.at_once;
  d["flushes"] = s.flushes;
  d["unplanned"] = s.direct;
  d["plan_hits"] = s.plan_hits;
  d["plan_misses"] = s.plan_misses;
  d["compiles"] = s.compiles;
  d["disk_hits"] = s.disk_hits;
  d["launches"] = s.launches;
  d["interpreted"] = s.interpreted;
  d["contracted_bytes"] = s.contracted_bytes;
  d["bytes_moved"] = s.bytes_moved;
  d["flops"] = s.flops;
  d["fallbacks"] = s.fallbacks;
  d["bytes_to_device"] = s.bytes_to_device;
  d["moved_to_device"] = s.moved_to_device;
  d["moved_to_host"] = s.moved_to_host;
  d["bytes_to_host"] = s.bytes_to_host;
  d["spills"] = s.spills;
  d["spilled_bytes"] = s.spilled_bytes;
  d["brought_back"] = s.brought_back;
  d["captures"] = s.captures;
  d["replays"] = s.replays;
  d["early_reads"] = s.early_reads;
  const WorkCounts& w = work_counts();
  d["compile_ms"] = s.compile_ms + w.compile_ms.load();
  d["user_launches"] = w.user_launches.load();
  d["kernel_ns"] = w.kernel_ns.load();
  d["transfer_ns"] = w.transfer_ns.load();
  return d;
}

// Whether this thread holds Python's lock. Every Python has the function, the limited interface
// does not declare it.
bool holds_lock() {
  using Check = int();
  static auto* const check = reinterpret_cast<Check*>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
  return check && check() == 1;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The core of Numbus: arrays, the table of operations, recording and fusion.";
  nb::set_leak_warnings(false);
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& e) {
      set_error(e);
    }
  });
  if (const char* beside = std::getenv("NUMBUS_BACKGROUND"); beside && *beside == '0')
    set_compile_beside(false);
  const char* at_once = std::getenv("NUMBUS_AT_ONCE");
  set_at_once(at_once ? std::strtoll(at_once, nullptr, 10) : kAtOnce);
  if (const char* when = std::getenv("NUMBUS_WITHOUT_PLAN"))
    set_without_plan(static_cast<int>(std::strtol(when, nullptr, 10)));
  load_numpy();
  bind_scalars(m);
  bind_arrays(m);
  bind_ufuncs(m);
  bind_composed(m);
  bind_float_errors(m);
  bind_gradients(m);
  bind_rows(m);
  bind_fft_loops(m);
  bind_linalg(m);
  bind_formulas(m);
  bind_module_attributes(m);
  bind_recipes(m);
  bind_steps(m);
  bind_backward(m);
  bind_tape(m);
  bind_convolution(m);
  bind_tensors(m);
  bind_tensor_functions(m);
  bind_protocols(m);
  bind_sorting(m);
  bind_indexing(m);
  bind_devices(m);
  bind_dlpack(m);
  bind_vendor(m);
  bind_frontend(m);
  bind_containers(m);
  bind_caught();
  bind_object_mode();
  bind_c_entries(m);
  bind_generators(m);
  bind_callbacks(m);
  bind_kernels(m);
  bind_raw_kernels(m);
  bind_routines(m);
  bind_flat(m);
  bind_solver(m);
  bind_nccl(m);
  bind_streams(m);
  set_interrupt_hooks();
  m.def("chain_interrupts", &interrupt::chain_handler,
        "Puts the core's handler of SIGINT before Python's, once more where that was set anew.");
  Runtime::get().describe_line = describe_line;
  find_line = line_of_caller;
  Runtime::get().holds_python = holds_lock;
  Runtime::get().leave_python = [] { return static_cast<void*>(PyEval_SaveThread()); };
  Runtime::get().enter_python = [](void* state) {
    PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  };

  m.def(
      "empty",
      [](nb::object shape, nb::object t, bool fortran) {
        return nb::steal(wrap(uninitialised(shape, t, fortran)));
      },
      nb::arg("shape"), nb::arg("dtype"), nb::arg("fortran") = false);
  m.def(
      "full",
      [](nb::object shape, nb::object value, nb::object t, bool fortran) {
        Array a = uninitialised(shape, t, fortran);
        Operands ops;
        Arg v;
        if (!ops.convert(value.ptr(), v))
          raise(ErrorKind::Type, "full", "not a number", nb::cast<std::string>(nb::repr(value)),
                "a number");
        cast_as_array(v);
        assign(a, v);
        return nb::steal(wrap(std::move(a)));
      },
      nb::arg("shape"), nb::arg("value"), nb::arg("dtype"), nb::arg("fortran") = false);
  m.def("arange", [](nb::object start, nb::object step, int64_t n, nb::object t) {
    DType type = to_dtype(t.ptr());
    mark_line();
    if (is_inexact(type)) {
      return nb::steal(wrap(arange(nb::cast<double>(nb::float_(start)),
                                   nb::cast<double>(nb::float_(step)), 0, 0, n, type)));
    }
    return nb::steal(wrap(arange(0, 0, nb::cast<int64_t>(nb::int_(start)),
                                 nb::cast<int64_t>(nb::int_(step)), n, type)));
  });
  m.def(
      "from_numpy",
      [](nb::object x, const std::string& how) {
        return nb::steal(wrap(import_numpy(x.ptr(), how == "copy", how == "share")));
      },
      nb::arg("x"), nb::arg("how") = "share",
      "how: 'share' the memory with its owner, 'copy' it, or 'take' it (the caller promises that "
      "nobody else keeps it).");
  m.def(
      "from_list",
      [](nb::object x, nb::object t) -> nb::object {
        std::optional<DType> wanted;
        if (!t.is_none()) {
          wanted = find_dtype(t.ptr());
          if (!wanted) return nb::none();
        }
        auto made = from_list(x.ptr(), wanted);
        return made ? nb::steal(wrap(to_default_device(*made))) : nb::none();
      },
      nb::arg("x"), nb::arg("dtype").none(),
      "An array of plain Python numbers in even lists and tuples; None for anything else, and for "
      "numbers that the type, if one is asked for, has not.");
  m.def(
      "store",
      [](nb::object to, nb::object x) {
        if (!is_array(to.ptr()))
          raise(ErrorKind::Type, "store", "the target must be an array",
                nb::cast<std::string>(nb::str(to.type())), "numbus.ndarray");
        Array target = as_array(to.ptr());
        Array source = import_numpy(x.ptr(), false, false, target.base->device);
        Arg from(&source);
        mark_line();
        assign(target, from);
        Runtime::get().flush(
            "written from NumPy's memory");  // x may change as soon as this returns
      },
      nb::arg("a"), nb::arg("x"),
      "Writes the elements of a NumPy array into `a`, on whatever device `a` is.");
  m.def(
      "as_strided",
      [](nb::object x, nb::object shape, nb::object strides, int64_t offset) {
        Array a = to_array(x.ptr());
        auto sh = to_shape(shape.ptr()), st = to_shape(strides.ptr());
        const Layout* l = Layout::get(sh, st, itemsize(a.dtype));
        LayoutRef hold(l);
        int64_t at = a.offset + offset;
        if (l->size() > 0 && (at + l->low() < 0 || at + l->high() > a.base->nbytes)) {
          raise(ErrorKind::Value, "as_strided", "view reaches outside the storage",
                "bytes " + std::to_string(at + l->low()) + " to " + std::to_string(at + l->high()),
                "within 0 to " + std::to_string(a.base->nbytes));
        }
        return nb::steal(wrap_view(x.ptr(), view_of(a, l, at)));
      },
      nb::arg("a"), nb::arg("shape"), nb::arg("strides"), nb::arg("offset") = 0);
  m.def("broadcast_to", [](nb::object x, nb::object shape) {
    return nb::steal(wrap_view(x.ptr(), broadcast_to(to_array(x.ptr()), to_shape(shape.ptr()))));
  });
  m.def("relu", [](nb::object x) {
    const Array a = to_array(x.ptr());
    const Arg of(&a);
    mark_line();
    return nb::steal(wrap(apply(Op::relu, {&of, 1})));
  });
  m.def("where", [](nb::object c, nb::object x, nb::object y) {
    Operands ops;
    Arg a[3];
    PyObject* in[3] = {c.ptr(), x.ptr(), y.ptr()};
    for (int k = 0; k < 3; ++k)
      if (!ops.convert(in[k], a[k]))
        raise(ErrorKind::Type, "where", "unsupported operand",
              nb::cast<std::string>(nb::repr(nb::handle(in[k]))), "numbers or arrays");
    mark_line();
    return nb::steal(wrap(select(a[0], a[1], a[2])));
  });
  m.def(
      "copyto",
      [](nb::object dst, nb::object src, nb::object where, const std::string& casting) {
        if (!is_array(dst.ptr()))
          raise(ErrorKind::Type, "copyto", "dst must be an array",
                nb::cast<std::string>(nb::str(dst.type())), "numbus.ndarray");
        Array& to = as_array(dst.ptr());
        Array w;
        Operands ops;
        Arg from;
        if (!ops.convert(src.ptr(), from))
          raise(ErrorKind::Type, "copyto", "unsupported source",
                nb::cast<std::string>(nb::repr(src)), "numbers or arrays");
        bool has_where = !where.is_none() && where.ptr() != Py_True;
        if (has_where) w = to_array(where.ptr());
        cast_as_array(from);
        mark_line();
        assign(to, from, has_where ? &w : nullptr, to_casting(nb::str(casting.c_str()).ptr()));
      },
      nb::arg("dst"), nb::arg("src"), nb::arg("where").none() = nb::none(),
      nb::arg("casting") = "unsafe");
  m.def("reduce", reduce_call, nb::arg("name"), nb::arg("a"), nb::arg("axes").none() = nb::none(),
        nb::arg("keepdims") = false, nb::arg("dtype").none() = nb::none(),
        nb::arg("where").none() = nb::none(), nb::arg("ddof") = 0.0,
        nb::arg("out").none() = nb::none());
  m.def(
      "concatenate",
      [](nb::list parts, int axis, bool new_axis, nb::object t, nb::object casting,
         nb::object out) -> nb::object {
        std::vector<Array> arrays;
        arrays.reserve(parts.size());
        for (nb::handle p : parts) arrays.push_back(as_array(p.ptr()));
        std::optional<DType> dtype;
        if (!t.is_none()) dtype = to_dtype(t.ptr());
        Array o;
        if (!out.is_none()) o = to_array(out.ptr());
        mark_line();
        Array r = concatenate(arrays, axis, new_axis, new_axis ? "stack" : "concatenate", dtype,
                              to_casting(casting.ptr()), out.is_none() ? nullptr : &o);
        return out.is_none() ? nb::steal(wrap(std::move(r))) : out;
      },
      nb::arg("arrays"), nb::arg("axis"), nb::arg("new_axis"), nb::arg("dtype").none(),
      nb::arg("casting"), nb::arg("out").none());
  m.def("roll", [](nb::object source, nb::list moves) {
    const Array a = to_array(source.ptr());
    std::vector<int64_t> by(a.ndim());
    for (int d = 0; d < a.ndim(); ++d) by[d] = nb::cast<int64_t>(moves[d]);
    mark_line();
    return nb::steal(wrap(roll(a, by)));
  });
  m.def("gather",
        [](nb::object source, uint64_t axes, const std::vector<nb::object>& index, int first_axis) {
          std::vector<Array> arrays;
          for (const nb::object& o : index) arrays.push_back(to_array(o.ptr()));
          mark_line();
          return nb::steal(wrap(gather(to_array(source.ptr()), axes, arrays, first_axis)));
        });
  m.def(
      "update",
      [](nb::object op, nb::object target, uint64_t axes, const std::vector<nb::object>& index,
         int first_axis, nb::object value, bool distinct, bool in_order) {
        std::vector<Array> arrays;
        for (const nb::object& o : index) arrays.push_back(to_array(o.ptr()));
        Operands ops;
        Arg from;
        const bool given = !value.is_none();
        if (given && !ops.convert(value.ptr(), from)) from = Arg(&ops.keep(to_array(value.ptr())));
        // Python's numbers are arrays of their own type here, as NumPy has it.
        if (from.weak) {
          from.weak = false;
          from.dtype = from.scalar.kind == Kind::Complex ? DType::C128
                       : from.scalar.kind == Kind::Float ? DType::F64
                                                         : DType::I64;
        }
        mark_line();
        update(row_of(op.ptr()), as_array(target.ptr()), axes, arrays, first_axis,
               given ? &from : nullptr, {distinct, in_order});
      },
      nb::arg("ufunc"), nb::arg("target"), nb::arg("axes"), nb::arg("index"), nb::arg("place"),
      nb::arg("value").none(), nb::arg("distinct") = false, nb::arg("in_order") = true,
      "Elements become ufunc(element, value), repeated indices repeatedly, in order.");
  m.def(
      "scatter",
      [](nb::object target, uint64_t axes, const std::vector<nb::object>& index, int first_axis,
         nb::object value, const std::string& op, bool distinct, nb::object where) {
        std::vector<Array> arrays;
        for (const nb::object& o : index) arrays.push_back(to_array(o.ptr()));
        Operands ops;
        Arg from;
        if (!ops.convert(value.ptr(), from)) from = Arg(&ops.keep(to_array(value.ptr())));
        Array& to = as_array(target.ptr());
        Scatter how;
        for (Op o : {Op::scatter_add, Op::scatter_min, Op::scatter_max})
          if (op == op_name(combines_by(o))) how.op = o;
        how.distinct = distinct;
        Array w;
        if (!where.is_none()) {
          w = to_array(where.ptr());
          how.where = &w;
        }
        mark_line();
        scatter(to, axes, arrays, first_axis, from, how);
      },
      nb::arg("target"), nb::arg("axes"), nb::arg("index"), nb::arg("place"), nb::arg("value"),
      nb::arg("op") = "", nb::arg("distinct") = false, nb::arg("where").none() = nb::none(),
      "The last of values that meet stays, or they add up, or the smallest or largest stays (op: "
      "add, minimum, maximum).");
  m.def("is_chain_of_rows", is_chain_of_rows, nb::arg("rows"), nb::arg("terms"), nb::arg("cols"),
        "Whether a product of matrices of these extents is a chain of rows.");
  m.def(
      "multiplies_halves",
      [](nb::handle x, nb::handle y) {
        return multiplies_halves(as_array(x.ptr()), as_array(y.ptr()));
      },
      "Whether matmul() takes operands of 16 bits as they are.");
  m.def(
      "matmul",
      [](nb::object x, nb::object y, nb::object t, nb::object out) -> nb::object {
        Array a = to_array(x.ptr()), b = to_array(y.ptr()), o;
        if (!out.is_none()) o = to_array(out.ptr());
        mark_line();
        Array r = matmul(a, b, to_dtype(t.ptr()), out.is_none() ? nullptr : &o);
        return out.is_none() ? nb::steal(wrap(std::move(r))) : out;
      },
      nb::arg("x"), nb::arg("y"), nb::arg("dtype"), nb::arg("out").none());
  m.def(
      "set_tf32",
      [](bool products, bool convolutions) {
        precision::tf32 = static_cast<uint8_t>((products ? precision::kProducts : 0) |
                                               (convolutions ? precision::kConvolutions : 0));
      },
      nb::arg("products"), nb::arg("convolutions"),
      "Whether what is recorded from now on may be computed in TF32 where it is float32.");
  m.def(
      "set_new_tensors", [](uint32_t number) { precision::new_tensors = number; },
      nb::arg("number"));
  m.def("tf32", [] {
    return nb::make_tuple(precision::allows(precision::kProducts),
                          precision::allows(precision::kConvolutions));
  });
  m.def(
      "fft",
      [](nb::object x, int rank, bool inverse, nb::object t, int64_t last, int scale, bool wide) {
        Array a = to_array(x.ptr());
        mark_line();
        return nb::steal(wrap(fft(a, rank, inverse, to_dtype(t.ptr()), last, scale, wide)));
      },
      nb::arg("x"), nb::arg("rank"), nb::arg("inverse"), nb::arg("dtype"), nb::arg("last"),
      nb::arg("scale") = 0, nb::arg("wide") = false,
      "Transforms over the last `rank` axes, the last of the result `last` long, unscaled; on a "
      "CPU "
      "of one axis, and multiplied by 1 / n (1) or its root (2) for n points, where `wide` in "
      "float64.");
  m.def(
      "accumulate",
      [](nb::object op, nb::object x, int axis, nb::object t, nb::object out) -> nb::object {
        Array a = to_array(x.ptr()), o;
        if (!out.is_none()) o = to_array(out.ptr());
        std::optional<DType> dtype;
        if (!t.is_none()) dtype = to_dtype(t.ptr());
        mark_line();
        Array r = accumulate(row_of(op.ptr()), a, axis, dtype, out.is_none() ? nullptr : &o);
        return out.is_none() ? nb::steal(wrap(std::move(r))) : out;
      },
      nb::arg("ufunc"), nb::arg("x"), nb::arg("axis"), nb::arg("dtype").none(),
      nb::arg("out").none());
  m.def(
      "reduceat",
      [](nb::object op, nb::object x, nb::object indices, int axis, nb::object t, nb::object out,
         bool reduces) -> nb::object {
        const float_errors::ToldAs here(reduces ? "reduce" : nullptr);
        Array a = to_array(x.ptr()), o;
        if (!out.is_none()) o = to_array(out.ptr());
        std::optional<DType> dtype;
        if (!t.is_none()) dtype = to_dtype(t.ptr());
        Py_buffer line;
        if (PyObject_GetBuffer(indices.ptr(), &line, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0)
          throw nb::python_error();
        const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> held(&line, PyBuffer_Release);
        if (from_format(line.format, line.itemsize) != DType::I64 || line.ndim != 1)
          raise(ErrorKind::Type, "reduceat", "indices of another kind", line.format,
                "a line of int64");
        const auto count = static_cast<size_t>(line.len) / sizeof(int64_t);
        mark_line();
        Array r = reduceat(row_of(op.ptr()), a, {static_cast<const int64_t*>(line.buf), count},
                           axis, dtype, out.is_none() ? nullptr : &o);
        return out.is_none() ? nb::steal(wrap(std::move(r))) : out;
      },
      nb::arg("ufunc"), nb::arg("x"), nb::arg("indices"), nb::arg("axis"), nb::arg("dtype").none(),
      nb::arg("out").none(), nb::arg("reduces") = false,
      "reduces: a reduction is made of it, as which it is told of.");
  m.def("result_type", [](nb::args args) {
    Operands ops;
    std::vector<Arg> in(args.size());
    for (size_t k = 0; k < args.size(); ++k) {
      nb::handle h = args[k];
      if (ops.convert(h.ptr(), in[k])) continue;
      in[k] = Arg();
      in[k].dtype = to_dtype(h.ptr());
    }
    return nb::borrow(dtype_object(common_dtype(in)));
  });
  m.def(
      "flush", [](const char* reason) { Runtime::get().flush(reason); },
      nb::arg("reason") = "flush()");
  m.def(
      "synchronize",
      [](bool told) {
        Runtime::get().flush("synchronize()");
        Device* device = device_in_use();
        // Without one nothing has run in a queue of its own, and a GPU takes long to open.
        if (device) {
          interrupt::Inside inside;  // handlers of signals may run while it waits
          {
            nb::gil_scoped_release released;
            device->synchronize();
          }
          if (told) device->check_trusted();
          late::tell();
        }
        if (told) check_noted(kAnyQueue);
      },
      nb::arg("told") = true,
      "Runs all pending work and waits for it; unless `told`, what a lost rank leaves undone "
      "and what kernels have noted raise only where they are read.");
  m.def("stats", stats);
  m.def("disk_cache", [] {
    const compile::DiskCache& cache = compile::disk_cache();
    nb::dict d;
    d["directory"] = cache.directory();
    d["limit"] = cache.limit();
    d["problem"] = cache.problem();
    return d;
  });
  m.def("reset_stats", [] {
    Runtime::get().stats = Stats();
    WorkCounts& w = work_counts();
    w.user_launches = w.kernel_ns = w.transfer_ns = 0;
    w.compile_ms = 0;
  });
  m.def("set_compile_beside", set_compile_beside, nb::arg("on"),
        "Whether kernels are compiled on a thread while the interpreter runs them (as it is, where "
        "there is more than one processor); gives the setting before.");
  m.def("wait_for_compiling", wait_for_compiling, nb::call_guard<nb::gil_scoped_release>(),
        "Returns when no thread compiles a kernel.");
  m.def("prebuilt_count", compile::prebuilt_count,
        "How many kernels the library carries as machine code for this processor.");
  m.def("set_without_plan", set_without_plan, nb::arg("when"),
        "When windows are carried out without a plan: 0 never, 1 where a plan is estimated to cost "
        "more, 2 always. Returns the choice before.");
  m.def("works_at_once", may_work_at_once,
        "Whether operations of few elements are carried out at once.");
  m.def("set_at_once", set_at_once, nb::arg("elements"),
        "Operations of so many elements and fewer (0 to 1024; NUMBUS_AT_ONCE) are carried out at "
        "once where nothing that they use is pending. Gives what it was before.");
  m.def(
      "counts_few",
      [](nb::handle operand, nb::handle result, nb::object axes, double less) {
        if (!is_array(operand.ptr()) || as_masked(operand.ptr()).mask) return false;
        const bool pending =
            is_generic(result.ptr()) || (is_array(result.ptr()) && !at_rest(result.ptr()));
        const Array& a = as_masked(operand.ptr()).full;
        int64_t count = 1;
        if (axes.is_none())
          count = a.size();
        else
          for (nb::handle d : axes) count *= a.layout->shape(nb::cast<int>(d));
        return pending && static_cast<double>(count) - less <= 0;
      },
      nb::arg("operand"), nb::arg("result"), nb::arg("axes").none(), nb::arg("less"),
      "Whether a pending average is over no element, or over no more than `less`.");
  m.def("time_kernels", [](bool on) { work_counts().timing = on; });
  m.def("count_fallback", [](const std::string& name) {
    Runtime& r = Runtime::get();
    ++r.stats.fallbacks;
    if (r.explanation) r.explanation->left_for_numpy(name);
  });
  m.def(
      "explain_begin",
      [](bool ir) { Runtime::get().explanation = std::make_unique<Explanation>(ir); },
      nb::arg("ir") = false, "From here on, what runs is noted down.");
  m.def(
      "explain_end",
      [] {
        auto explanation = std::exchange(Runtime::get().explanation, nullptr);
        return explanation ? explanation->text() : std::string();
      },
      "What has run since explain_begin(), as text.");
  m.def(
      "ptx",
      [](int sm, int ptx) {
        Runtime::get().flush("ptx");
        const Run* run = Runtime::get().last_run();
        nb::list texts;
        if (run)
          for (const std::string& t : ptx_of(*run, sm, ptx)) texts.append(t);
        return texts;
      },
      nb::arg("sm") = 90, nb::arg("ptx") = 80, "PTX of the kernels of the last flush.");
  m.def(
      "forget_plans",
      [] {
        Runtime::get().flush("forget_plans");
        Runtime::get().forget_plans();
      },
      "Drops the cache of plans: what follows is planned anew.");
  m.def("set_mode", [](const std::string& mode) {
    Runtime& r = Runtime::get();
    r.flush("mode");
    if (mode == "auto")
      r.mode = Mode::Auto;
    else if (mode == "eager")
      r.mode = Mode::Eager;
    else if (mode == "interp")
      r.mode = Mode::Interp;
    else if (mode == "compiled")
      r.mode = Mode::Compiled;
    else
      raise(ErrorKind::Value, "set_mode", "unknown mode", mode, "auto, eager, interp or compiled");
  });
}
