// What compiled functions give back, as Python's values.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>

#include <bit>

#include "compile/runtime.h"
#include "containers.h"
#include "frontend.h"
#include "numpy_objects.h"

namespace numbus::bindings {

using frontend::Type;

namespace {

// The argument whose memory that is, which comes back as the same object; else what `make` makes of
// a container that holds it. Takes the reference over.
template <class Make>
nb::object given_or(const Arguments& call, const Type& t, int64_t owner, Make make) {
  if (nb::handle given = call.list_of(owner)) {
    compile::numbus_release(owner);
    return nb::borrow(given);
  }
  auto* held = new Container(t, owner);
  nb::object o = nb::cast(held, nb::rv_policy::take_ownership);
  held->keep_arrays(call);
  return make(o);
}

// A record or an array of them, in the memory of an argument. The words of its fields say where
// each field lies; the dtype of the argument says which bytes lie between the fields.
nb::object records(const Type& t, const int64_t*& words, const Arguments& call) {
  std::vector<int64_t> addresses;
  const int64_t* first = words;
  std::function<void(const Type&)> each = [&](const Type& field) {
    if (!field.is_array()) {
      for (const Type& inner : field.items) each(inner);
      return;
    }
    addresses.push_back(words[0]);
    words += frontend::words(field).size();
  };
  each(t);
  const Type* leaf = &t;
  while (!leaf->is_array()) leaf = &leaf->items.at(0);
  const size_t n = t.ndim;
  nb::list shape, strides, all;
  for (size_t k = 0; k < n; ++k) shape.append(first[2 + k]);
  for (size_t k = 0; k < n; ++k) strides.append(first[2 + leaf->ndim + k]);
  for (int64_t a : addresses) all.append(a);
  nb::list candidates;
  for (const nb::object& s : call.structured) candidates.append(s);
  return jit_errors().attr("records")(candidates, nb::cast(t.names), all, nb::tuple(shape),
                                      nb::tuple(strides));
}

}  // namespace

nb::object to_python(const Type& t, const int64_t*& words, const Arguments& call) {
  switch (t.tag) {
    case Type::Tag::Number: {
      int64_t w = *words++;
      switch (kind(t.dtype)) {
        case Kind::Bool: return nb::bool_(w & 1);
        case Kind::Int: return nb::int_(w);
        case Kind::UInt: return nb::int_(static_cast<uint64_t>(w));
        case Kind::Float: return nb::float_(load_scalar(t.dtype, &w).real());
        case Kind::Complex: {
          int64_t i = *words++;
          DType part = real_of(t.dtype);
          return nb::steal(
              PyComplex_FromDoubles(load_scalar(part, &w).real(), load_scalar(part, &i).real()));
        }
      }
      return nb::none();
    }
    case Type::Tag::Maybe: {
      if (*words++ & 1) return to_python(t.items[0], words, call);
      words += frontend::words(t.items[0]).size();
      return nb::none();
    }
    case Type::Tag::Tuple: {
      if (t.text == "records" || t.text == "record") return records(t, words, call);
      nb::list items;
      for (const Type& i : t.items) items.append(to_python(i, words, call));
      nb::tuple all(items);
      if (t.names.empty()) return all;
      return jit_errors().attr("named_tuple")(t.number, all);
    }
    case Type::Tag::List: {
      const int64_t owner = *words++;
      if (nb::handle given = call.list_of(owner)) {
        compile::numbus_release(owner);
        return nb::borrow(given);
      }
      nb::list all;
      each_item(t, owner, [&](const Type& item, const int64_t* at) {
        retain_owners(item, at);
        all.append(to_python(item, at, call));
      });
      compile::numbus_release(owner);
      return all;
    }
    case Type::Tag::Object: {
      const int64_t owner = *words++;
      return given_or(call, t, owner, [&](const nb::object& held) {
        return jit_errors().attr("instance")(t.number, held);
      });
    }
    case Type::Tag::Generator: return new_generator(t, *words++, call);
    case Type::Tag::String: {
      const int64_t owner = words[1], length = words[2];
      int order = std::endian::native == std::endian::little ? -1 : 1;
      PyObject* made = PyUnicode_DecodeUTF32(reinterpret_cast<const char*>(words[0]), 4 * length,
                                             "surrogatepass", &order);
      words += 3;
      compile::numbus_release(owner);
      return nb::steal(made);
    }
    case Type::Tag::Dict: {
      const int64_t owner = *words++;
      if (t.is_set()) {
        if (nb::handle given = call.list_of(owner)) {
          compile::numbus_release(owner);
          return nb::borrow(given);
        }
        nb::set all;
        each_item(t, owner, [&](const Type& entry, const int64_t* at) {
          retain_owners(entry.items[0], at);
          all.add(to_python(entry.items[0], at, call));
        });
        compile::numbus_release(owner);
        return all;
      }
      return given_or(call, t, owner,
                      [&](const nb::object& held) { return typed_dict().attr("_of")(held); });
    }
    case Type::Tag::Array: {
      auto* data = reinterpret_cast<char*>(words[0]);
      int64_t owner = words[1];
      int n = t.ndim;
      std::vector<int64_t> shape(words + 2, words + 2 + n),
          strides(words + 2 + n, words + 2 + 2 * n);
      words += 2 + 2 * n;
      // Memory of an argument stays alive through a reference to it.
      void* keep = nullptr;
      void (*release)(void*) = nullptr;
      if (owner) {
        keep = reinterpret_cast<void*>(owner);
        release = [](void* p) { compile::numbus_release(reinterpret_cast<int64_t>(p)); };
      } else {
        keep = call.holder_of(data);
        if (keep) Py_INCREF(static_cast<PyObject*>(keep));
        release = [](void* p) {
          if (p) let_go([p] { Py_DECREF(static_cast<PyObject*>(p)); });
        };
      }
      Array a =
          borrow(data, shape, strides, t.dtype, !t.readonly, true, release, keep, &cpu_device());
      return call.numbus ? nb::steal(wrap(std::move(a))) : numpy_view(a);
    }
    default: return nb::none();
  }
}

}  // namespace numbus::bindings
