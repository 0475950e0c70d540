// Dicts of compiled functions that Python holds.
#include "containers.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "compile/runtime.h"

namespace numbus::bindings {

using frontend::Type;

namespace {

// Whether arrays may be among what is held.
bool has_arrays(const Type& t) { return t.is_array() || std::ranges::any_of(t.items, has_arrays); }

// Arrays among the words that lie in an argument's memory own a reference to it.
void keep_arrays_in(const Type& t, int64_t* words, const Arguments& call) {
  if (t.is_array()) {
    if (words[1]) return;
    if (PyObject* o = call.holder_of(reinterpret_cast<const char*>(words[0]))) {
      Py_INCREF(o);
      words[1] = compile::numbus_foreign(o);
    }
    return;
  }
  if (t.is(Type::Tag::List) || t.is(Type::Tag::Dict)) {
    each_item(t, *words, [&](const Type& item, const int64_t* at) {
      keep_arrays_in(item, const_cast<int64_t*>(at), call);
    });
    return;
  }
  for (const Type& i : t.items) {
    keep_arrays_in(i, words, call);
    words += frontend::words(i).size();
  }
}

}  // namespace

Container::Container(Type type, int64_t owner) : type_(std::move(type)), owner_(owner) {
  frontend::own_arrays(type_);
}

Container::~Container() { compile::numbus_release(owner_); }

void Container::keep_arrays(const Arguments& call) const {
  if (call.buffers.empty() || !has_arrays(type_)) return;
  int64_t word = owner_;
  keep_arrays_in(type_, &word, call);
}

nb::handle typed_dict() {
  static const nb::object* cls =
      new nb::object(nb::module_::import_("numbus.kernels.typed").attr("Dict"));
  return *cls;
}

const Container* container_of(nb::handle value) {
  if (PyObject_IsInstance(value.ptr(), typed_dict().ptr()) != 1) return nullptr;
  return nb::cast<const Container*>(value.attr("_held"));
}

void each_item(const Type& t, int64_t owner,
               const std::function<void(const Type&, const int64_t*)>& item) {
  const auto* o = reinterpret_cast<const compile::Owner*>(owner);
  const auto* l = reinterpret_cast<const compile::List*>(o + 1);
  const bool dict = t.is(Type::Tag::Dict);
  const Type entry = dict ? Type::tuple_of(t.items) : t.items[0];
  for (int64_t i = 0; i < l->length; ++i) {
    const char* at = l->data + i * ir::item_bytes(o->item);
    if (dict) {
      const auto* words = reinterpret_cast<const int64_t*>(at);
      if (words[0] != compile::kNoEntry) item(entry, words + 1);
    } else if (!entry.is_number()) {
      item(entry, reinterpret_cast<const int64_t*>(at));
    } else {
      // Numbers lie there as in an array.
      int64_t held[2] = {0, 0};
      Scalar s = load_scalar(entry.dtype, at);
      DType part = real_of(entry.dtype);
      if (is_complex(entry.dtype)) {
        store_scalar(Scalar::from_float(s.real()), part, held);
        store_scalar(Scalar::from_float(s.imag()), part, held + 1);
      } else if (is_float(entry.dtype)) {
        store_scalar(s, entry.dtype, held);
      } else {
        held[0] = s.i;
      }
      item(entry, held);
    }
  }
}

void retain_owners(const Type& t, const int64_t* words) {
  for (size_t o : frontend::owners(t)) compile::numbus_retain(words[o]);
}

PyObject* Arguments::holder_of(const char* data) const {
  for (const Py_buffer& b : buffers) {
    // The buffer whose range holds the address, or ends there.
    int64_t least = 0, most = b.itemsize, at = data - static_cast<char*>(b.buf);
    for (int d = 0; d < b.ndim; ++d) {
      int64_t extent = (b.shape[d] - 1) * b.strides[d];
      (extent < 0 ? least : most) += extent;
    }
    if (b.obj && at >= least && at <= most) return b.obj;
  }
  return nullptr;
}

void Arguments::keep_held_arrays() const {
  for (const nb::object& c : containers) container_of(c)->keep_arrays(*this);
}

std::vector<int64_t> Arguments::owners_outside() const {
  std::vector<int64_t> all;
  for (const nb::object& c : containers) all.push_back(container_of(c)->owner());
  return all;
}

void bind_containers(nb::module_& m) {
  compile::release_foreign = [](void* p) { let_go([p] { Py_DECREF(static_cast<PyObject*>(p)); }); };
  nb::class_<Container>(m, "Container", "The memory of a dict of compiled functions.")
      .def_static("empty",
                  [](nb::handle described) {
                    Type t = to_type(described);
                    int64_t owner = compile::numbus_dict(stored_item(entry_of(t)));
                    if (!owner) raise(ErrorKind::Memory, "[Dict] no memory");
                    return new Container(t, owner);
                  })
      .def("__len__",
           [](const Container& c) {
             return reinterpret_cast<const compile::Dict*>(
                        c.owner() + static_cast<int64_t>(sizeof(compile::Owner)))
                 ->live;
           })
      .def("as_dict",
           [](const Container& c) {
             nb::dict all;
             Arguments none;
             each_item(c.type(), c.owner(), [&](const Type& t, const int64_t* words) {
               retain_owners(t, words);
               nb::object pair = to_python(t, words, none);
               all[pair[0]] = pair[1];
             });
             return all;
           })
      .def_prop_ro("types", [](const Container& c) { return described(c.type().items); });
}

}  // namespace numbus::bindings
