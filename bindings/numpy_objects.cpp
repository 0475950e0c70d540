// Reads NumPy's arrays and scalars by the layout of their structures.
#include "numpy_objects.h"

#include <algorithm>

namespace numbus::bindings {

PyTypeObject* usual_scalars[2];
PyTypeObject* usual_of_numpy[2];

namespace {

// numpy/ndarraytypes.h, for an interface of 2.x.
struct Descriptor {
  PyObject_HEAD;
  PyTypeObject* type;
  char kind, letter, byte_order, former_flags;
  int number;
};
struct NumpyArray {
  PyObject_HEAD;
  char* data;
  int ndim;
  Py_ssize_t *shape, *strides;
  PyObject* base;
  Descriptor* descriptor;
  int flags;
};
static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
constexpr unsigned kRows = 1, kColumns = 2, kOwns = 4, kAligned = 0x100, kWriteable = 0x400,
                   kWarnOnWrite = 1u << 31;
// Where numpy/__multiarray_api.h has what is used here.
constexpr int kVersion = 0, kArrayType = 2, kNewFromDescr = 94, kSetBaseObject = 282;
constexpr unsigned kMajor = 2;
PyTypeObject* array_type_of_numpy;
PyObject* (*new_from_descr)(PyTypeObject*, PyObject*, int, const Py_ssize_t*, const Py_ssize_t*,
                            void*, int, PyObject*);
int (*set_base_object)(PyObject*, PyObject*);
Py_ssize_t weak_offset = 0;  // of an array's list of weak references; 0: not known

struct ScalarType {
  PyTypeObject* type;
  DType dtype;
};
struct Entry {
  int index;  // of the scalar type in the table
  DType dtype;
};
// What element loops read most comes first. C's long and long long are different types of NumPy's.
constexpr Entry kScalars[] = {
    {31, DType::F64},  {23, DType::I64},  {8, DType::Bool}, {30, DType::F32},
    {34, DType::C128}, {22, DType::I32},  {20, DType::I8},  {21, DType::I16},
    {25, DType::U8},   {26, DType::U16},  {27, DType::U32}, {28, DType::U64},
    {33, DType::C64},  {217, DType::F16}, {24, DType::I64}, {29, DType::U64}};
std::vector<ScalarType> scalar_types;
int bfloat16_number = -1;  // ml_dtypes registers its type with NumPy, which gives it a number
PyObject* booleans[2];

// By the number of an element type, as PyArray_Descr has it.
std::optional<DType> from_number(int number) {
  switch (number) {
    case 0: return DType::Bool;
    case 1: return DType::I8;
    case 2: return DType::U8;
    case 3: return DType::I16;
    case 4: return DType::U16;
    case 5: return DType::I32;
    case 6: return DType::U32;
    case 7:
    case 9: return DType::I64;
    case 8:
    case 10: return DType::U64;
    case 11: return DType::F32;
    case 12: return DType::F64;
    case 14: return DType::C64;
    case 15: return DType::C128;
    case 23: return DType::F16;
    default: return number == bfloat16_number ? std::optional(DType::BF16) : std::nullopt;
  }
}

}  // namespace

void load_numpy() {
  nb::object capsule = nb::module_::import_("numpy._core._multiarray_umath").attr("_ARRAY_API");
  auto** table = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!table) throw nb::python_error();
  const unsigned version = reinterpret_cast<unsigned (*)()>(table[kVersion])();
  if (version >> 24 != kMajor) {
    PyErr_Format(PyExc_ImportError,
                 "[numbus] NumPy has another binary interface; got version %u; expected 2.x",
                 version >> 24);
    throw nb::python_error();
  }
  array_type_of_numpy = static_cast<PyTypeObject*>(table[kArrayType]);
  weak_offset = nb::cast<Py_ssize_t>(
      nb::handle(reinterpret_cast<PyObject*>(array_type_of_numpy)).attr("__weakrefoffset__"));
  new_from_descr = reinterpret_cast<decltype(new_from_descr)>(table[kNewFromDescr]);
  set_base_object = reinterpret_cast<decltype(set_base_object)>(table[kSetBaseObject]);
  for (const Entry& e : kScalars)
    scalar_types.push_back({static_cast<PyTypeObject*>(table[e.index]), e.dtype});
  usual_of_numpy[0] = numpy_scalar_type(DType::F64);
  usual_of_numpy[1] = numpy_scalar_type(DType::I64);
  nb::module_ numpy = nb::module_::import_("numpy");
  nb::object bfloat16 = nb::module_::import_("ml_dtypes").attr("bfloat16");
  bfloat16_number = nb::cast<int>(numpy.attr("dtype")(bfloat16).attr("num"));
  // Never destroyed: as NumPy's own types, it lasts as long as the process.
  scalar_types.push_back({reinterpret_cast<PyTypeObject*>(bfloat16.release().ptr()), DType::BF16});
  booleans[0] = nb::object(numpy.attr("False_")).release().ptr();
  booleans[1] = nb::object(numpy.attr("True_")).release().ptr();
}

PyObject* numpy_bool(bool value) {
  Py_INCREF(booleans[value]);
  return booleans[value];
}

PyTypeObject* numpy_scalar_type(DType t) {
  for (const ScalarType& s : scalar_types)
    if (s.dtype == t) return s.type;
  return nullptr;
}

void add_scalar_type(PyTypeObject* type, DType t) {
  const bool usual = t == DType::F64 || t == DType::I64;
  if (usual) usual_scalars[t == DType::I64] = type;
  scalar_types.insert(usual ? scalar_types.begin() : scalar_types.end(), {type, t});
}

std::optional<DType> numpy_scalar_dtype(PyTypeObject* type) {
  for (const ScalarType& s : scalar_types)
    if (s.type == type) return s.dtype;
  return std::nullopt;
}

bool read_numpy_scalar(PyObject* o, Scalar& value, DType& dtype) {
  auto known = numpy_scalar_dtype(Py_TYPE(o));
  if (!known) return false;
  dtype = *known;
  value = load_scalar(dtype, reinterpret_cast<const char*>(o) + kScalarValue);
  return true;
}

std::optional<NumpyMemory> numpy_memory(PyObject* o) {
  const std::vector<PyObject*>& plain = plain_array_types();
  if (!is_plain_numpy(o) &&
      std::find(plain.begin(), plain.end(), reinterpret_cast<PyObject*>(Py_TYPE(o))) == plain.end())
    return std::nullopt;
  const auto& a = *reinterpret_cast<const NumpyArray*>(o);
  const Descriptor& d = *a.descriptor;
  const bool native = d.byte_order == '=' || d.byte_order == '|';
  const auto flags = static_cast<unsigned>(a.flags);
  auto dtype = from_number(d.number);
  if (!native || !dtype || (flags & kWarnOnWrite)) return std::nullopt;
  auto n = static_cast<size_t>(a.ndim);
  return NumpyMemory{a.data,
                     {a.shape, n},
                     {a.strides, n},
                     *dtype,
                     (flags & kWriteable) != 0,
                     (flags & kRows) != 0,
                     (flags & kColumns) != 0,
                     (flags & kOwns) != 0 && !a.base};
}

bool is_plain_numpy(PyObject* o) { return Py_TYPE(o) == array_type_of_numpy; }

namespace {

// What an array of NumPy's over our memory has as its base: storage that is shared as long.
struct Loan {
  PyObject_HEAD;
  Handle base;
};

void end_loan(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  Handle& base = reinterpret_cast<Loan*>(o)->base;
  --base->shared;
  base->changed();
  base.~Handle();
  PyObject_Free(o);
  Py_DECREF(type);
}

PyTypeObject* loan_type() {
  static PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("The memory of an array, shared with NumPy.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(end_loan)},
      {0, nullptr}};
  static PyType_Spec spec = {"numbus._core.loan", sizeof(Loan), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  static PyObject* const type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

// What keeps a base for as long as a view that is its own lives; `base` is shared already.
nb::object loan_of(Handle base) {
  auto* loan = static_cast<Loan*>(PyObject_Malloc(sizeof(Loan)));
  if (!loan) throw std::bad_alloc();
  PyObject_Init(reinterpret_cast<PyObject*>(loan), loan_type());
  new (&loan->base) Handle(std::move(base));
  return nb::steal(reinterpret_cast<PyObject*>(loan));
}

// A new array of NumPy's over memory that something else keeps.
PyObject* view_over(const Array& a, char* memory) {
  PyObject* descriptor = dtype_object(a.dtype);
  Py_INCREF(descriptor);  // the call takes one
  PyObject* view = new_from_descr(array_type_of_numpy, descriptor, a.ndim(),
                                  reinterpret_cast<const Py_ssize_t*>(a.layout->shape()),
                                  reinterpret_cast<const Py_ssize_t*>(a.layout->strides()), memory,
                                  a.writeable ? static_cast<int>(kWriteable) : 0, nullptr);
  if (!view) throw nb::python_error();
  return view;
}

// Views that no call has at present, by their number of axes.
struct Pool {
  static constexpr int kAxes = 4, kEach = 8;
  PyObject* views[kAxes][kEach];
  int count[kAxes] = {};
};
Pool pool;

bool is_aligned(const Array& a, const char* memory) {
  const auto least = static_cast<uint64_t>(std::min<int64_t>(itemsize(a.dtype), 8));
  uint64_t bits = reinterpret_cast<uint64_t>(memory);
  for (int d = 0; d < a.ndim(); ++d) bits |= static_cast<uint64_t>(a.layout->stride(d));
  return bits % least == 0;
}

void show(PyObject* view, const Array& a, char* memory) {
  auto& v = *reinterpret_cast<NumpyArray*>(view);
  v.data = memory;
  const auto n = static_cast<size_t>(a.ndim());
  std::copy_n(a.layout->shape(), n, v.shape);
  std::copy_n(a.layout->strides(), n, v.strides);
  PyObject* descriptor = dtype_object(a.dtype);
  if (reinterpret_cast<PyObject*>(v.descriptor) != descriptor) {
    Py_INCREF(descriptor);
    PyObject* former = reinterpret_cast<PyObject*>(v.descriptor);
    v.descriptor = reinterpret_cast<Descriptor*>(descriptor);
    Py_DECREF(former);
  }
  v.flags = static_cast<int>((a.layout->c_contiguous() ? kRows : 0) |
                             (a.layout->f_contiguous() ? kColumns : 0) | kAligned |
                             (a.writeable ? kWriteable : 0));
}

bool has_weak_references(PyObject* o) {
  const Py_ssize_t at = weak_offset;
  return at <= 0 || *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(o) + at) != nullptr;
}

}  // namespace

nb::object numpy_view(const Array& a) {
  if (a.writeable) before_write(a);  // whoever gets the memory may write it
  const std::shared_ptr<char> memory = host_view(a, "exported as a buffer");
  ++a.base->shared;
  const nb::object keeper = loan_of(a.base);
  nb::object view = nb::steal(view_over(a, memory.get()));
  Py_INCREF(keeper.ptr());  // the call takes one
  if (set_base_object(view.ptr(), keeper.ptr()) != 0) throw nb::python_error();
  return view;
}

Lease::Lease(const Array& a) {
  const int n = a.ndim();
  if (n >= Pool::kAxes || a.base->pending() || a.base->failure || observer()) {
    view_ = numpy_view(a).release().ptr();
    return;
  }
  if (a.writeable) before_write(a);
  a.base->ensure_data();
  char* memory = a.base->data + a.offset;
  if (!is_aligned(a, memory)) {
    view_ = numpy_view(a).release().ptr();
    return;
  }
  if (pool.count[n] > 0) {
    view_ = pool.views[n][--pool.count[n]];
    show(view_, a, memory);
  } else {
    view_ = view_over(a, memory);
  }
  base_ = a.base;
  ++base_->shared;
  pooled_ = true;
}

Lease::~Lease() {
  if (!view_) return;
  if (!pooled_) {
    Py_DECREF(view_);
    return;
  }
  const auto n = static_cast<size_t>(reinterpret_cast<NumpyArray*>(view_)->ndim);
  const bool kept = Py_REFCNT(view_) > 1 || has_weak_references(view_) ||
                    reinterpret_cast<NumpyArray*>(view_)->base != nullptr;
  if (kept) {
    nb::error_scope pending;  // an exception may be on its way
    PyObject* keeper = loan_of(std::move(base_)).release().ptr();
    if (set_base_object(view_, keeper) != 0) PyErr_WriteUnraisable(view_);
    Py_DECREF(view_);
    return;
  }
  --base_->shared;
  base_->changed();
  if (n < Pool::kAxes && pool.count[n] < Pool::kEach)
    pool.views[n][pool.count[n]++] = view_;
  else
    Py_DECREF(view_);
}

}  // namespace numbus::bindings
