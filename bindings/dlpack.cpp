// DLPack both ways, and __cuda_array_interface__ to here, for memory on any device; the CPU's own
// exchange with NumPy goes through the buffer protocol.
#include <nanobind/ndarray.h>

#include "base/error.h"
#include "convert.h"

namespace numbus::bindings {
namespace {

nb::dlpack::dtype dlpack_type(DType t) {
  auto code = is_complex(t)           ? nb::dlpack::dtype_code::Complex
              : t == DType::BF16      ? nb::dlpack::dtype_code::Bfloat
              : is_inexact(t)         ? nb::dlpack::dtype_code::Float
              : t == DType::Bool      ? nb::dlpack::dtype_code::Bool
              : kind(t) == Kind::UInt ? nb::dlpack::dtype_code::UInt
                                      : nb::dlpack::dtype_code::Int;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * itemsize(t)), 1};
}

DType from_dlpack_type(nb::dlpack::dtype d) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (dlpack_type(static_cast<DType>(i)) == d) return static_cast<DType>(i);
  raise(ErrorKind::Type, "from_dlpack", "element type not available in Numbus",
        std::to_string(d.bits) + " bits of DLPack code " + std::to_string(d.code),
        "a boolean, integer, float or complex type");
}

// Keeps the storage alive and marked as shared while the other side has it.
struct Lent {
  Handle base;
  explicit Lent(const Handle& b) : base(b) { ++base->shared; }
  ~Lent() {
    --base->shared;
    base->changed();
  }
};

nb::object lend(nb::object o) {
  Array& a = nb::cast<Array&>(o);
  before_write(a);  // before the flush, which runs the copy it records
  char* data = data_of(a, "DLPack");
  if (!a.writeable)
    raise(ErrorKind::Type, "dlpack", "a read-only array cannot be lent", "a read-only array",
          "a copy of it");
  Device& d = *a.base->device;
  if (d.counts_only())
    raise(ErrorKind::Type, "dlpack", "the null device has no memory to lend", "null",
          "cpu or cuda");
  size_t shape[kMaxDims];
  int64_t strides[kMaxDims];
  for (int k = 0; k < a.ndim(); ++k) {
    shape[k] = static_cast<size_t>(a.layout->shape(k));
    strides[k] = a.layout->stride(k) / itemsize(a.dtype);
    if (a.layout->stride(k) % itemsize(a.dtype) != 0 && a.layout->shape(k) > 1)
      raise(ErrorKind::Type, "dlpack", "strides are no multiples of the element",
            shape_string({a.layout->strides(), static_cast<size_t>(a.ndim())}),
            "whole elements (see copy())");
  }
  d.synchronize();
  nb::capsule owner(new Lent(a.base), [](void* p) noexcept { delete static_cast<Lent*>(p); });
  int type = d.runs_ptx() ? nb::device::cuda::value : nb::device::cpu::value;
  return nb::cast(nb::ndarray<>(data, static_cast<size_t>(a.ndim()), shape, owner, strides,
                                dlpack_type(a.dtype), type, d.ordinal()));
}

nb::object adopt(nb::ndarray<> x) {
  Device* device = x.device_type() == nb::device::cuda::value
                       ? cuda_device(static_cast<int>(x.device_id()))
                   : x.device_type() == nb::device::cpu::value ? &cpu_device()
                                                               : nullptr;
  if (!device)
    raise(ErrorKind::Runtime, "from_dlpack", "memory of a device that Numbus cannot use",
          "DLPack device type " + std::to_string(x.device_type()),
          "the CPU or a usable CUDA device");
  DType t = from_dlpack_type(x.dtype());
  std::vector<int64_t> shape, strides;
  for (size_t k = 0; k < x.ndim(); ++k) {
    shape.push_back(static_cast<int64_t>(x.shape(k)));
    strides.push_back(x.stride(k) * itemsize(t));
  }
  void* data = x.data();
  auto release = [](void* p) { let_go([p] { delete static_cast<nb::ndarray<>*>(p); }); };
  return nb::steal(wrap(borrow(data, shape, strides, t, true, true, release,
                               new nb::ndarray<>(std::move(x)), device)));
}

// Memory on a GPU by its address, ready once what is queued on `stream` is done (0: it is ready).
nb::object adopt_cuda(nb::object owner, uintptr_t address, nb::object shape, nb::object strides,
                      nb::object dtype, bool readonly, uintptr_t stream) {
  DType t = to_dtype(dtype.ptr());
  std::vector<int64_t> extents = to_shape(shape.ptr()), steps;
  if (strides.is_none()) {
    LayoutRef dense(Layout::contiguous(extents, itemsize(t)));
    steps.assign(dense->strides(), dense->strides() + dense->ndim());
  } else {
    steps = to_shape(strides.ptr());
  }
  Device* device = cuda_device_of(address);
  if (!device)
    raise(ErrorKind::Runtime, "asarray", "memory of a GPU that Numbus cannot use",
          cuda_unavailable_reason(), "a usable CUDA device (see python -m numbus info)");
  if (stream) device->wait_for_stream(stream);
  auto release = [](void* p) { let_go([p] { Py_DECREF(static_cast<PyObject*>(p)); }); };
  return nb::steal(wrap(borrow(reinterpret_cast<void*>(address), extents, steps, t, !readonly, true,
                               release, owner.release().ptr(), device)));
}

}  // namespace

void bind_dlpack(nb::module_& m) {
  m.def("dlpack", lend, "A DLPack capsule over the array's memory, on its device.");
  m.def("from_dlpack", adopt,
        "An array over the memory of an object with __dlpack__, on that memory's device.");
  m.def("from_cuda", adopt_cuda, nb::arg("owner"), nb::arg("address"), nb::arg("shape"),
        nb::arg("strides").none(), nb::arg("dtype"), nb::arg("readonly"), nb::arg("stream"),
        "An array over memory on a GPU that `owner` keeps, as __cuda_array_interface__ tells it.");
}

}  // namespace numbus::bindings
