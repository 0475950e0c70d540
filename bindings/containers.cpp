// Lists and dicts of compiled functions that Python holds, and lists of Python's that they are
// given.
#include "containers.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compile/runtime.h"

namespace numbus::bindings {

using frontend::Type;

namespace {

// Whether arrays may be among what is held.
bool has_arrays(const Type& t) {
  return t.is_array() || t.is(Type::Tag::Object) || std::ranges::any_of(t.items, has_arrays);
}

// Arrays among the words that lie in an argument's memory own a reference to it. `seen`: objects,
// which may hold each other.
void keep_arrays_in(const Type& t, int64_t* words, const Arguments& call,
                    std::unordered_set<int64_t>& seen) {
  if (t.is_array()) {
    if (words[1]) return;
    if (PyObject* o = call.holder_of(reinterpret_cast<const char*>(words[0]))) {
      Py_INCREF(o);
      words[1] = compile::numbus_foreign(o);
    }
    return;
  }
  if (t.is_maybe()) ++words;
  const bool object = t.is(Type::Tag::Object);
  if (t.is(Type::Tag::List) || t.is(Type::Tag::Dict) || object) {
    if (!*words || (object && !seen.insert(*words).second)) return;
    each_item(t, *words, [&](const Type& item, const int64_t* at) {
      keep_arrays_in(item, const_cast<int64_t*>(at), call, seen);
    });
    return;
  }
  for (const Type& i : t.items) {
    keep_arrays_in(i, words, call, seen);
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
  std::unordered_set<int64_t> seen;
  keep_arrays_in(type_, &word, call, seen);
}

nb::handle typed_dict() {
  static const nb::object* cls =
      new nb::object(nb::module_::import_("numbus.kernels.typed").attr("Dict"));
  return *cls;
}

static nb::handle typed_list() {
  static const nb::object* cls =
      new nb::object(nb::module_::import_("numbus.kernels.typed").attr("List"));
  return *cls;
}

// The class of all objects of jitclasses, once there is one.
static nb::object& instance_class() {
  static auto* cls = new nb::object;
  return *cls;
}

const Container* container_of(nb::handle value) {
  if (PyObject_IsInstance(value.ptr(), typed_dict().ptr()) != 1 &&
      PyObject_IsInstance(value.ptr(), typed_list().ptr()) != 1 &&
      !(instance_class().is_valid() &&
        PyObject_IsInstance(value.ptr(), instance_class().ptr()) == 1))
    return nullptr;
  nb::object held = value.attr("_held");
  if (held.is_none())
    raise(ErrorKind::Type, "jit", "nothing is known of what a list or dict holds", "an empty one",
          "Dict.empty(…), List.empty_list(…), or one with an item");
  return nb::cast<const Container*>(held);
}

void each_item(const Type& t, int64_t owner,
               const std::function<void(const Type&, const int64_t*)>& item) {
  const auto* o = reinterpret_cast<const compile::Owner*>(owner);
  const auto* l = reinterpret_cast<const compile::List*>(o + 1);
  const bool dict = t.is(Type::Tag::Dict);
  const Type entry = dict ? Type::tuple_of(t.items)
                     : t.is(Type::Tag::Object)
                         ? Type::tuple_of(frontend::object_class(t.number).types)
                         : t.items[0];
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
  for (const nb::object& g : generators)
    if (PyObject* held = arguments_of_generator(g).holder_of(data)) return held;
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
  for (const GivenList& l : lists) all.push_back(l.owner);
  for (const GivenList& s : sets) all.push_back(s.owner);
  all.insert(all.end(), strings.begin(), strings.end());
  for (const nb::object& g : generators) all.push_back(owner_of_generator(g));
  return all;
}

namespace {

compile::List* list_at(int64_t owner) {
  return reinterpret_cast<compile::List*>(owner + static_cast<int64_t>(sizeof(compile::Owner)));
}

int64_t bytes_of(int64_t owner) {
  return ir::item_bytes(reinterpret_cast<const compile::Owner*>(owner)->item);
}

std::string_view items_of(int64_t owner) {
  const compile::List* l = list_at(owner);
  return {l->data, static_cast<size_t>(l->length * bytes_of(owner))};
}

// Whether no number of one type would have to become one of the other.
bool same_numbers(const Type& a, const Type& b) {
  if (a.is_maybe() && !b.is(Type::Tag::None)) return same_numbers(a.items[0], b);
  if (b.is_maybe() && !a.is(Type::Tag::None)) return same_numbers(a, b.items[0]);
  if (a.unknown() || b.unknown() || a.is_array() || a.tag != b.tag) return true;
  if (a.is_number()) return a.dtype == b.dtype && a.weak == b.weak;
  for (size_t i = 0; i < a.items.size() && i < b.items.size(); ++i)
    if (!same_numbers(a.items[i], b.items[i])) return false;
  return true;
}

// Whether None may be among what is held.
bool has_none(const Type& t) { return t.is_maybe() || std::ranges::any_of(t.items, has_none); }

// A number's words as it lies in an array.
void store_number(DType t, const int64_t* words, char* to) {
  const auto part = static_cast<size_t>(itemsize(real_of(t)));
  for (int k = 0; k < (is_complex(t) ? 2 : 1); ++k) std::memcpy(to + k * part, words + k, part);
}

}  // namespace

// The characters of all of them in one block of memory, and the words of each, whose owner it
// gives. Objects that come again mostly share their characters: a word of a text is often one
// object.
int64_t Arguments::add_strings(std::span<PyObject* const> all, int64_t* at) {
  struct Known {
    PyObject* o = nullptr;
    int64_t offset = 0, length = 0;  // in characters
  };
  constexpr size_t kMostKnown = 1 << 14;
  std::vector<Known> known(std::min(kMostKnown, std::bit_ceil(2 * all.size())));
  const int shift = 64 - std::countr_zero(known.size());
  int64_t total = 0;
  std::vector<PyObject*> copied;
  for (size_t k = 0; k < all.size(); ++k) {
    PyObject* o = all[k];
    Known& slot = known[(reinterpret_cast<std::uintptr_t>(o) * 0x9E3779B97F4A7C15) >> shift];
    if (slot.o != o) {
      slot = {o, total, PyUnicode_GetLength(o)};
      total += slot.length;
      copied.push_back(o);
    }
    at[3 * k] = slot.offset;
    at[3 * k + 2] = slot.length;
  }
  const int64_t owner = compile::numbus_allocate(4 * total);
  if (!owner) raise(ErrorKind::Memory, "[jit] no memory for strings");
  strings.push_back(owner);
  auto* const begin =
      reinterpret_cast<Py_UCS4*>(owner + static_cast<int64_t>(sizeof(compile::Owner)));
  auto* to = begin;
  for (PyObject* o : copied) {
    const Py_ssize_t length = PyUnicode_GetLength(o);
    if (length && !PyUnicode_AsUCS4(o, to, length, 0)) throw nb::python_error();
    to += length;
  }
  for (size_t k = 0; k < all.size(); ++k) {
    at[3 * k] = reinterpret_cast<int64_t>(begin + at[3 * k]);
    at[3 * k + 1] = owner;
  }
  return owner;
}

static Type string_type() {
  Type t = Type::of(Type::Tag::String);
  t.owned = true;
  return t;
}

Type Arguments::add_string(PyObject* o) {
  words.resize(words.size() + 3);
  add_strings({&o, 1}, words.data() + words.size() - 3);
  return string_type();
}

void Arguments::release_strings() {
  for (int64_t owner : strings) compile::numbus_release(owner);
}

void Arguments::add_list(nb::handle value, const char* function, Type& t, const char* kind) {
  const std::string of = kind;
  for (const GivenList& l : lists)
    if (l.list.is(value)) {
      if (!l.owner)
        raise(ErrorKind::Type, function, "cannot take a list that holds itself", of,
              "a list of numbers, arrays, tuples or lists");
      t = l.type;
      words.push_back(l.owner);
      return;
    }
  const Type python_float = Type::number_of(DType::F64, true);
  nb::list given = nb::borrow<nb::list>(value);
  const size_t count = nb::len(given), place = lists.size();
  if (count == 0)
    raise(ErrorKind::Type, function, "cannot tell what an empty " + of + " holds",
          of == "list" ? "[]" : "set()",
          of == "list" ? "numba.typed.List.empty_list(type), or a list with an item"
                       : "a set with an item");
  lists.push_back({nb::borrow(value), 0, {}, {}});
  // The items, as further arguments that are taken out again.
  Type item;
  std::vector<int64_t> outer_words = std::exchange(words, {});
  std::vector<Type> outer_types = std::exchange(types, {});
  std::string outer_key = std::exchange(key, {});
  ++depth;
  std::vector<PyObject*> texts;
  for (size_t k = 0; k < count; ++k) {
    PyObject* o = PyList_GetItem(value.ptr(), static_cast<Py_ssize_t>(k));
    if (!PyUnicode_CheckExact(o)) break;
    texts.push_back(o);
  }
  const bool only_strings = texts.size() == count;
  if (only_strings) item = string_type();
  for (nb::handle i : given) {
    if (only_strings) break;
    // Most lists hold Python's numbers.
    if (PyFloat_CheckExact(i.ptr()) && (item.unknown() || item == python_float)) {
      item = python_float;
      words.push_back(std::bit_cast<int64_t>(PyFloat_AsDouble(i.ptr())));
      continue;
    }
    add(i, function);
    Type both;
    const Type& own = types.back();
    if (!same_numbers(item, own) || !frontend::join(item, own, both))
      raise(ErrorKind::Type, function, "cannot take a " + of + " with items of several types",
            "[" + frontend::name(item) + ", " + frontend::name(own) + "]", "items of one type");
    item = both;
    types.clear();
    key.clear();
  }
  if (item.is(Type::Tag::None)) item = Type::maybe({});
  if (has_none(item)) {
    // Again, each as one of the type of all.
    words.clear();
    std::vector<int64_t> all;
    const size_t size = frontend::words(item).size();
    for (nb::handle i : given) {
      add(i, function);
      const Type own = types.back();
      all.resize(all.size() + size);
      const int64_t* from = words.data();
      int64_t* to = all.data() + all.size() - size;
      convert_words(function, own, from, item, to, nullptr);
      words.clear();
      types.clear();
      key.clear();
    }
    words = std::move(all);
  }
  --depth;
  types = std::move(outer_types);
  key = std::move(outer_key);
  std::vector<int64_t> held = std::exchange(words, std::move(outer_words));
  frontend::own_arrays(item);
  if (!frontend::can_hold(item))
    raise(ErrorKind::Type, function, "cannot take a " + of + " of this type",
          of + "(" + frontend::name(item) + ")", "numbers, arrays, tuples or lists as items");
  t = Type::of(Type::Tag::List);
  t.owned = true;
  t.items = {item};
  const int64_t owner = compile::numbus_list(0, 0, frontend::stored_item(item));
  if (!owner || !compile::numbus_resize(owner, static_cast<int64_t>(count)))
    raise(ErrorKind::Memory, "[jit] no memory for a list");
  const size_t each = frontend::words(item).size();
  const std::vector<size_t> owned = frontend::owners(item);
  if (only_strings) {
    lists[place].owner = owner;  // which is let go of with the others, whatever happens
    const int64_t memory = add_strings(texts, reinterpret_cast<int64_t*>(list_at(owner)->data));
    compile::numbus_retain_all(memory, static_cast<int64_t>(count));
  }
  for (size_t i = only_strings ? count : 0; i < count; ++i) {
    char* at = list_at(owner)->data + static_cast<int64_t>(i) * bytes_of(owner);
    const int64_t* from = held.data() + i * each;
    if (item.is_number()) {
      store_number(item.dtype, from, at);
      continue;
    }
    std::memcpy(at, from, 8 * each);
    for (size_t o : owned) compile::numbus_retain(from[o]);
  }
  lists[place].owner = owner;
  lists[place].type = t;
  lists[place].before = items_of(owner);
  words.push_back(owner);
}

// Items that are as they were stay the same objects.
void Arguments::reflect_lists() {
  reflect_sets();
  for (GivenList& l : lists) {
    const std::string_view now = items_of(l.owner);
    if (now == l.before) continue;
    const auto bytes = static_cast<size_t>(bytes_of(l.owner));
    const bool numbers = l.type.items[0].is_number();
    std::unordered_map<std::string_view, PyObject*> old;
    const size_t length = static_cast<size_t>(PyList_Size(l.list.ptr()));
    if (!numbers)
      for (size_t i = 0; i * bytes < l.before.size() && i < length; ++i)
        old.try_emplace(std::string_view(l.before).substr(i * bytes, bytes),
                        PyList_GetItem(l.list.ptr(), static_cast<Py_ssize_t>(i)));
    nb::list all;
    size_t i = 0;
    each_item(l.type, l.owner, [&](const Type& t, const int64_t* at) {
      const std::string_view own = now.substr(bytes * i++, bytes);
      auto same = old.find(own);
      if (same != old.end()) return all.append(nb::handle(same->second));
      retain_owners(t, at);
      const int64_t* next = at;
      all.append(to_python(t, next, *this));
    });
    if (PyList_SetSlice(l.list.ptr(), 0, PY_SSIZE_T_MAX, all.ptr()) != 0) throw nb::python_error();
  }
}

nb::handle Arguments::list_of(int64_t owner) const {
  for (const std::vector<GivenList>* all : {&lists, &sets})
    for (const GivenList& l : *all)
      if (l.owner == owner) return l.list;
  for (const nb::object& c : containers)
    if (container_of(c)->owner() == owner) return c;
  return {};
}

void Arguments::release_lists() {
  for (const GivenList& l : lists) compile::numbus_release(l.owner);
  for (const GivenList& s : sets) compile::numbus_release(s.owner);
}

// --- sets
// ------------------------------------------------------------------------------------------

void Arguments::add_set(nb::handle value, const char* function, Type& t) {
  for (const GivenList& s : sets)
    if (s.list.is(value)) {
      t = s.type;
      words.push_back(s.owner);
      return;
    }
  static const nb::object* maker =
      new nb::object(nb::module_::import_("numbus.kernels.typed").attr("set_maker")());
  Arguments items;
  Type list;
  items.add_list(nb::list(value), function, list, "set");
  const Type& item = list.items[0];
  std::function<bool(const Type&)> hashable = [&](const Type& i) {
    if (i.is(Type::Tag::Tuple)) return std::ranges::all_of(i.items, hashable);
    return i.is(Type::Tag::String) || (i.is_number() && !is_complex(i.dtype));
  };
  if (!hashable(item))
    raise(ErrorKind::Type, function, "cannot take a set of this type",
          "set(" + frontend::name(item) + ")", "numbers, strings, or tuples of these as items");
  const int64_t owner = set_of_list(*maker, list, items.words[0], t);
  sets.push_back({nb::borrow(value), owner, t, std::string(items_of(owner))});
  words.push_back(owner);
}

// Items that stay are the same objects.
void Arguments::reflect_sets() {
  for (GivenList& s : sets) {
    if (items_of(s.owner) == s.before) continue;
    nb::set now;
    each_item(s.type, s.owner, [&](const Type& entry, const int64_t* at) {
      retain_owners(entry.items[0], at);
      const int64_t* next = at;
      now.add(to_python(entry.items[0], next, *this));
    });
    for (auto* change : {PyNumber_InPlaceAnd, PyNumber_InPlaceOr})
      if (!nb::steal(change(s.list.ptr(), now.ptr())).is_valid()) throw nb::python_error();
  }
}

void bind_containers(nb::module_& m) {
  m.def("set_instance_class", [](nb::object cls) { instance_class() = std::move(cls); });
  m.def("define_object_class", [](int number, const std::string& name, nb::list fields) {
    frontend::ObjectClass c{name, {}, {}};
    for (nb::handle f : fields) {
      c.names.push_back(nb::cast<std::string>(f[0]));
      Type t = to_type(f[1]);
      frontend::hold_python_numbers(t);
      frontend::own_arrays(t);
      if (!frontend::can_hold(t.is_maybe() ? t.items[0] : t))
        raise(ErrorKind::Type, "jitclass", "a field of a type that objects do not hold",
              c.names.back() + ": " + frontend::name(t),
              "numbers, strings, arrays, tuples, lists, dicts or objects");
      c.types.push_back(std::move(t));
    }
    if (frontend::words(Type::tuple_of(c.types)).size() > ir::kItemWords)
      raise(ErrorKind::NotImplemented, "jitclass", "fields that take too many words", name,
            "at most 32: a number is one, a string 3, an array 2 and 2 for each axis");
    frontend::define_object_class(number, std::move(c));
  });
  compile::release_foreign = [](void* p) { let_go([p] { Py_DECREF(static_cast<PyObject*>(p)); }); };
  nb::class_<Container>(m, "Container", "The memory of a dict of compiled functions.")
      .def_static("of_list",
                  [](nb::list items) {
                    Arguments given;
                    Type t;
                    given.add_list(items, "List", t);
                    compile::numbus_retain(given.words[0]);
                    auto made = std::make_unique<Container>(t, given.words[0]);
                    made->keep_arrays(given);
                    return made.release();
                  })
      .def_static("empty",
                  [](nb::handle described) {
                    Type t = to_type(described);
                    for (const Type& i : t.items)
                      if (!frontend::can_hold(i))
                        raise(ErrorKind::Type, "empty", "a type that lists and dicts do not hold",
                              frontend::name(i), "numbers, arrays, tuples, lists or dicts");
                    int64_t owner =
                        t.is(Type::Tag::Dict)
                            ? compile::numbus_dict(stored_item(entry_of(t)))
                            : compile::numbus_list(0, 0, frontend::stored_item(t.items[0]));
                    if (!owner) raise(ErrorKind::Memory, "[jit] no memory for a list or dict");
                    return new Container(t, owner);
                  })
      .def("__len__",
           [](const Container& c) {
             const auto* d = reinterpret_cast<const compile::Dict*>(list_at(c.owner()));
             return c.type().is(Type::Tag::Dict) ? d->live : d->entries.length;
           })
      .def("as_list",
           [](const Container& c) {
             nb::list all;
             Arguments none;
             each_item(c.type(), c.owner(), [&](const Type& t, const int64_t* words) {
               retain_owners(t, words);
               all.append(to_python(t, words, none));
             });
             return all;
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
      .def_prop_ro("number", [](const Container& c) { return c.type().number; })
      .def_prop_ro("types", [](const Container& c) { return described(c.type().items); });
}

}  // namespace numbus::bindings
