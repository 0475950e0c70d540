// Tensors: objects that hold an array, and the memory that several share.
#include "tensors.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "numpy_objects.h"
#include "recipes.h"
#include "structmember.h"

namespace numbus::bindings {

PyTypeObject* tensor_base = nullptr;
constinit thread_local bool recording = true;
constinit thread_local std::vector<nb::object>* tensors_used = nullptr;
constinit thread_local std::vector<nb::object>* tensors_needed = nullptr;
constinit thread_local PyObject* making = nullptr;

namespace {

PyTypeObject* tensor_type = nullptr;  // Python's subclass, of which results are

std::unordered_map<uint64_t, Storage*>& storages() {
  static auto* const all = new std::unordered_map<uint64_t, Storage*>;
  return *all;
}

}  // namespace

Storage* Storage::of(uint64_t base) {
  Storage*& known = storages()[base];
  if (!known) known = new Storage(base);
  ++known->count_;
  return known;
}

const Storage* Storage::known(uint64_t base) {
  const auto found = storages().find(base);
  return found == storages().end() ? nullptr : found->second;
}

void Storage::let_go() {
  if (--count_ > 0) return;
  storages().erase(base_);
  const uint64_t base = base_;
  delete this;
  program::Tape::get().release(base);
}

PyObject* tensor_class() { return reinterpret_cast<PyObject*>(tensor_type); }

void raise_lost(const TensorObject& t) {
  raise(ErrorKind::NotImplemented, "Tensor",
        "a detached tensor was made to depend on one that requires a gradient, by a write that"
        " others in its memory see; its derivative is not there yet",
        "shape " + shape_string(*as_array(t.array).layout), "x.detach().clone()");
}

bool requires_gradient(const TensorObject& t) {
  return !t.constant && t.array && t.storage->active() && is_inexact(as_array(t.array).dtype);
}

nb::object array_object(PyObject* o) {
  if (is_array(o)) {
    as_array(o);
    return nb::borrow(o);
  }
  if (is_generic(o)) return nb::steal(wrap(Array(array_of(as_generic(o)))));
  return nb::steal(wrap(to_array(o)));
}

bool is_numpys(PyObject* o) {
  static PyObject* const kinds = [] {
    nb::module_ numpy = nb::module_::import_("numpy");
    return nb::make_tuple(numpy.attr("ndarray"), numpy.attr("generic")).release().ptr();
  }();
  return PyObject_IsInstance(o, kinds) == 1;
}

namespace {

void leave(TensorObject& t) {
  if (!t.storage) return;
  (t.previous ? t.previous->next : t.storage->first) = t.next;
  if (t.next) t.next->previous = t.previous;
  t.next = t.previous = nullptr;
}

void join(TensorObject& t) {
  t.next = t.storage->first;
  if (t.next) t.next->previous = &t;
  t.storage->first = &t;
}

void hold(TensorObject& t, PyObject* o) {
  nb::object array = array_object(o);
  Storage* const before = t.storage;
  Storage* const now = Storage::of(as_array(array.ptr()).base->id);
  leave(t);
  t.storage = now;
  join(t);
  PyObject* const old = std::exchange(t.array, array.release().ptr());
  if (before) before->let_go();
  Py_XDECREF(old);
}

}  // namespace

namespace {

// What is read through the tensor is told apart from what others see of its memory.
void number(TensorObject& t) {
  constexpr Py_ssize_t kOwn = 2;  // this tensor, and who has made the array
  Array& a = as_masked(t.array).full;
  const uint64_t own = program::Tape::get().number_view(a);
  if (own == a.through) return;
  if (a.through == 0 || Py_REFCNT(t.array) <= kOwn) {
    a.through = own;
    return;
  }
  Array other = a;  // of another tensor's
  other.through = own;
  Py_DECREF(std::exchange(t.array, wrap(std::move(other))));
}

}  // namespace

PyObject* wrap_tensor(PyObject* array, bool recorded) {
  nb::object o = nb::steal(PyType_GenericAlloc(tensor_type, 0));
  if (!o.is_valid()) throw nb::python_error();
  TensorObject& t = as_tensor(o.ptr());
  hold(t, array);
  t.constant = !recorded && t.storage->active();
  if (!recorded) return o.release().ptr();
  if (making) t.maker = Py_NewRef(making);
  number(t);
  return o.release().ptr();
}

namespace {

int traverse_tensor(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  TensorObject& t = as_tensor(o);
  Py_VISIT(t.array);
  Py_VISIT(t.grad);
  Py_VISIT(t.hooks);
  Py_VISIT(t.maker);
  return 0;
}

int clear_tensor(PyObject* o) {
  TensorObject& t = as_tensor(o);
  Py_CLEAR(t.grad);
  Py_CLEAR(t.hooks);
  Py_CLEAR(t.maker);
  return 0;
}

void destroy_tensor(PyObject* o) {
  PyObject_GC_UnTrack(o);
  TensorObject& t = as_tensor(o);
  leave(t);  // first: nobody may find it while what it held goes
  clear_tensor(o);
  Py_CLEAR(t.array);
  if (Storage* s = std::exchange(t.storage, nullptr)) s->let_go();
  PyTypeObject* const type = Py_TYPE(o);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(o);
  Py_DECREF(type);
}

PyObject* get_array(PyObject* o, void*) {
  note_use(o);
  return Py_XNewRef(as_tensor(o).array);
}

int set_array(PyObject* o, PyObject* value, void*) {
  return guarded([&]() -> PyObject* {
    Capture::spoil_open("a tensor is given other memory");
    hold(as_tensor(o), value);
    as_tensor(o).lost = false;
    return Py_None;
  })
             ? 0
             : -1;
}

PyObject* get_gradient(PyObject* o, void*) {
  PyObject* const g = as_tensor(o).grad;
  return Py_NewRef(g ? g : Py_None);
}

int set_gradient(PyObject* o, PyObject* value, void*) {
  return guarded([&]() -> PyObject* {
    TensorObject& t = as_tensor(o);
    const bool none = !value || value == Py_None;
    if (!none && !is_tensor(value))
      raise(ErrorKind::Type, "grad", "not a tensor",
            nb::cast<std::string>(nb::handle(value).type().attr("__name__")), "a Tensor or None");
    if (!none) {
      const Layout& own = *as_masked(t.array).full.layout;
      const Layout& other = *as_masked(as_tensor(value).array).full.layout;
      if (!own.same_shape(other))
        raise(ErrorKind::Runtime, "grad", "a gradient of another shape", shape_string(other),
              shape_string(own));
    }
    Py_XDECREF(std::exchange(t.grad, none ? nullptr : Py_NewRef(value)));
    return Py_None;
  })
             ? 0
             : -1;
}

PyObject* get_active(PyObject* o, void*) { return PyBool_FromLong(as_tensor(o).storage->active()); }
PyObject* get_requires(PyObject* o, void*) {
  return guarded([&]() -> PyObject* {
    expect_known(as_tensor(o));
    return PyBool_FromLong(requires_gradient(as_tensor(o)));
  });
}
PyObject* get_base(PyObject* o, void*) {
  return PyLong_FromUnsignedLongLong(as_tensor(o).storage->base());
}

PyMemberDef tensor_members[] = {
    {"_grad", T_OBJECT, offsetof(TensorObject, grad), 0, nullptr},
    {"_hooks", T_OBJECT, offsetof(TensorObject, hooks), 0, nullptr},
    {"_maker", T_OBJECT, offsetof(TensorObject, maker), READONLY, nullptr},
    {"_constant", T_BOOL, offsetof(TensorObject, constant), 0, nullptr},
    {"_leaf", T_BOOL, offsetof(TensorObject, leaf), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef tensor_properties[] = {
    {"_array", get_array, set_array, "The array that holds the elements.", nullptr},
    {"grad", get_gradient, set_gradient,
     "The derivative that `backward()` has found so far; None: none.", nullptr},
    {"_active", get_active, nullptr, "Whether the tape knows its memory.", nullptr},
    {"_requires", get_requires, nullptr, "Whether operations on it are recorded.", nullptr},
    {"_base", get_base, nullptr, "The number of its memory.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot tensor_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_tensor)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_tensor)},
                              {Py_tp_dealloc, reinterpret_cast<void*>(destroy_tensor)},
                              {Py_tp_members, tensor_members},
                              {Py_tp_getset, tensor_properties},
                              {0, nullptr}};
PyType_Spec tensor_spec = {"numbus._core.TensorBase", sizeof(TensorObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
                           tensor_slots};

// A Python object's tensor with a new array, of the class that it was made with.
nb::object new_tensor(nb::handle type, nb::handle array) {
  nb::object o = nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type.ptr()), 0));
  if (!o.is_valid()) throw nb::python_error();
  TensorObject& t = as_tensor(o.ptr());
  hold(t, array.ptr());
  t.constant = t.storage->active();
  return o;
}

// What shares the memory of a tensor that is about to be a leaf goes on without a derivative.
void alone_in_memory(nb::handle tensor) {
  TensorObject& own = as_tensor(tensor.ptr());
  for (TensorObject* t = own.storage->first; t; t = t->next)
    if (t != &own) t->constant = true;
}

}  // namespace

void bind_tensors(nb::module_& m) {
  tensor_base = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&tensor_spec));
  if (!tensor_base) throw nb::python_error();
  m.attr("TensorBase") = nb::handle(reinterpret_cast<PyObject*>(tensor_base));
  m.def("set_tensor_type", [](nb::handle type) {
    tensor_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  });
  m.def("alone_in_memory", &alone_in_memory, nb::arg("tensor"));
  m.def(
      "is_alone_in_memory",
      [](nb::handle tensor) {
        const TensorObject& t = as_tensor(tensor.ptr());
        return t.storage->first == &t && !t.next;
      },
      nb::arg("tensor"));
  m.def(
      "is_shown_by_others",
      [](nb::handle tensor) {
        const TensorObject& own = as_tensor(tensor.ptr());
        for (const TensorObject* t = own.storage->first; t; t = t->next)
          if (t != &own && !t->constant) return true;
        return false;
      },
      nb::arg("tensor"), "Whether another tensor that is no constant lies in its memory.");
  m.def("new_tensor", &new_tensor, nb::arg("type"), nb::arg("array"));
  m.def(
      "wrap_tensor", [](nb::handle a) { return nb::steal(wrap_tensor(a.ptr(), true)); },
      nb::arg("array"));
  m.def(
      "with_used_tensors",
      [](const nb::callable& function) {
        std::vector<nb::object> used;
        struct Noted {
          std::vector<nb::object>* before;
          std::vector<nb::object>& own;
          ~Noted() {
            tensors_needed = before;
            if (before) before->insert(before->end(), own.begin(), own.end());
          }
        };
        nb::object made;
        {
          const Noted noted{std::exchange(tensors_needed, &used), used};
          made = function();
        }
        nb::list found;
        std::unordered_set<PyObject*> seen;
        for (const nb::object& t : used)
          if (seen.insert(t.ptr()).second) found.append(t);
        return nb::make_tuple(made, found);
      },
      nb::arg("function"),
      "What a function returns, and the tensors that require a gradient and whose arrays it used.");
  m.def("is_grad_enabled", [] { return recording; });
  m.def("set_grad_enabled", [](bool on) { return std::exchange(recording, on); }, nb::arg("on"));
}

}  // namespace numbus::bindings
