// Lists of numbers as arrays, and back: what compiled loops compute with (python/numbus/loops).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "convert.h"

namespace numbus::bindings {
namespace {

// Where a list keeps its items and a float its number, as CPython lays them out.
struct ListObject {
  PyVarObject head;
  PyObject** items;
};
struct FloatObject {
  PyObject head;
  double value;
};

// Whether they are laid out so in this Python.
bool is_layout_known() {
  static const bool known = [] {
    nb::list probe;
    probe.append(nb::bool_(true));
    probe.append(nb::float_(0.7109375));
    PyObject** items = reinterpret_cast<ListObject*>(probe.ptr())->items;
    if (!items || items[0] != Py_True || items[1] != PyList_GetItem(probe.ptr(), 1)) return false;
    return reinterpret_cast<FloatObject*>(items[1])->value == 0.7109375;
  }();
  return known;
}

PyObject* item(PyObject* list, Py_ssize_t k) {
  return is_layout_known() ? reinterpret_cast<ListObject*>(list)->items[k]
                           : PyList_GetItem(list, k);
}

double number_of(PyObject* o) {
  return is_layout_known() ? reinterpret_cast<FloatObject*>(o)->value : PyFloat_AsDouble(o);
}

// 'i', 'f' or 'b' for an int of 64 bits, a float or a bool; 0 for all else.
char kind_of(PyObject* o) {
  const PyTypeObject* type = Py_TYPE(o);
  if (type == &PyFloat_Type) return 'f';
  if (type == &PyBool_Type) return 'b';
  if (type != &PyLong_Type) return 0;
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(o, &overflow);
  return overflow ? 0 : 'i';
}

bool are_bools(PyObject** items, Py_ssize_t n) {
  PyObject *yes = Py_True, *no = Py_False;
  return std::all_of(items, items + n, [=](PyObject* o) { return (o == yes) | (o == no); });
}

constexpr char kWithNan = 'n';  // floats, of which some are NaN

// The kind of all items; 0 where they have several, or are none of numbers.
char kind_of_items(PyObject* list, char kind) {
  const Py_ssize_t n = PyList_Size(list);
  if (n && (kind == 0 || kind == 'b') && is_layout_known() &&
      are_bools(reinterpret_cast<ListObject*>(list)->items, n))
    return 'b';
  bool has_nan = kind == kWithNan;
  if (has_nan) kind = 'f';
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* o = item(list, k);
    const char found = kind_of(o);
    if (!found || (kind && found != kind)) return 0;
    kind = found;
    if (kind == 'f') has_nan |= std::isnan(PyFloat_AsDouble(o));
  }
  return has_nan ? kWithNan : kind;
}

// Whether nobody needs to count the references to True and False: so it is in later versions, and
// here from the first call on.
bool are_bools_uncounted() {
  if (!is_layout_known()) return false;
#if PY_VERSION_HEX < 0x030C0000
  static const bool uncounted = [] {
    for (PyObject* o : {Py_True, Py_False}) Py_SET_REFCNT(o, Py_REFCNT(o) + (Py_ssize_t{1} << 40));
    return true;
  }();
  static_cast<void>(uncounted);
#endif
  return true;
}

bool is_list(PyObject* o) { return Py_TYPE(o) == &PyList_Type; }

// The lists whose items are numbers: the list itself, or its rows.
std::vector<PyObject*> rows_of(PyObject* list) {
  std::vector<PyObject*> rows;
  const Py_ssize_t n = PyList_Size(list);
  if (n == 0 || !is_list(PyList_GetItem(list, 0))) return {list};
  for (Py_ssize_t k = 0; k < n; ++k) rows.push_back(PyList_GetItem(list, k));
  return rows;
}

// What a list holds: the kind of its numbers and its extents; None where it is none of numbers, or
// rows differ in length, or are one list twice.
nb::object list_numbers(const nb::list& list) {
  const std::vector<PyObject*> rows = rows_of(list.ptr());
  const bool nested = rows.size() != 1 || rows[0] != list.ptr();
  if (nested && (!std::ranges::all_of(rows, is_list) || std::ranges::count(rows, list.ptr())))
    return nb::none();
  char kind = 0;
  const Py_ssize_t n = PyList_Size(rows[0]);
  for (PyObject* row : rows) {
    if (PyList_Size(row) != n) return nb::none();
    kind = kind_of_items(row, kind);
    if (!kind) return nb::none();
  }
  if (!nested) return nb::make_tuple(std::string(1, kind), nb::make_tuple(n), nb::make_tuple());
  std::vector<PyObject*> sorted = rows;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return nb::none();
  nb::list ids;
  for (PyObject* row : rows) ids.append(reinterpret_cast<intptr_t>(row));
  return nb::make_tuple(std::string(1, kind), nb::make_tuple(rows.size(), n), nb::tuple(ids));
}

// What a list seems to hold, by its first item: the kind of its numbers and its extents.
nb::object list_guess(const nb::list& list) {
  PyObject* row = list.ptr();
  Py_ssize_t n = PyList_Size(row);
  PyObject* o = n ? PyList_GetItem(row, 0) : nullptr;
  nb::object extents = nb::make_tuple(n);
  if (o && is_list(o)) {
    row = o;
    const Py_ssize_t more = PyList_Size(row);
    extents = nb::make_tuple(n, more);
    o = more ? PyList_GetItem(row, 0) : nullptr;
  }
  const char kind = o ? kind_of(o) : 0;
  if (!kind) return nb::none();
  return nb::make_tuple(std::string(1, kind), extents, nb::make_tuple());
}

// The items of a list of bools as words of memory, for code that compares them with the addresses
// of True and False, and stores these; None where it holds anything else or nothing, or lists are
// laid out otherwise.
nb::object list_words(const nb::list& list) {
  const Py_ssize_t n = PyList_Size(list.ptr());
  if (n == 0 || Py_TYPE(PyList_GetItem(list.ptr(), 0)) != &PyBool_Type || !is_layout_known())
    return nb::none();
  PyObject** items = reinterpret_cast<ListObject*>(list.ptr())->items;
  if (!are_bools(items, n) || !are_bools_uncounted()) return nb::none();
  return nb::steal(PyMemoryView_FromMemory(
      reinterpret_cast<char*>(items), n * static_cast<Py_ssize_t>(sizeof(PyObject*)), PyBUF_WRITE));
}

// The memory of a contiguous array of 8-byte numbers or bools.
class Memory {
 public:
  Memory(nb::handle array, bool writable) {
    if (PyObject_GetBuffer(array.ptr(), &view_, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0)
      throw nb::python_error();
  }
  ~Memory() { PyBuffer_Release(&view_); }
  Memory(const Memory&) = delete;
  char* at(size_t k, size_t size) const { return static_cast<char*>(view_.buf) + k * size; }
  size_t count(size_t size) const { return static_cast<size_t>(view_.len) / size; }

 private:
  Py_buffer view_{};
};

size_t size_of(char kind) { return kind == 'b' ? 1 : 8; }

// Copies the numbers of a list into an array of its extents.
void read_list(const nb::list& list, nb::handle array, const std::string& kinds) {
  const char kind = kinds[0];
  const size_t size = size_of(kind);
  const Memory memory(array, true);
  size_t at = 0;
  for (PyObject* row : rows_of(list.ptr())) {
    const Py_ssize_t n = PyList_Size(row);
    if (at + static_cast<size_t>(n) > memory.count(size))
      throw nb::value_error("[loops] a list has grown");
    char* to = memory.at(at, size);
    at += static_cast<size_t>(n);
    if (kind == 'b' && is_layout_known()) {
      PyObject** items = reinterpret_cast<ListObject*>(row)->items;
      PyObject* yes = Py_True;
      std::transform(items, items + n, to, [=](PyObject* o) { return o == yes; });
      continue;
    }
    for (Py_ssize_t k = 0; k < n; ++k, to += size) {
      PyObject* o = item(row, k);
      if (kind == 'f') {
        const double v = number_of(o);
        std::memcpy(to, &v, sizeof v);
      } else if (kind == 'i') {
        const long long v = PyLong_AsLongLong(o);
        std::memcpy(to, &v, sizeof v);
      } else {
        *to = static_cast<char>(o == Py_True);
      }
    }
  }
  if (PyErr_Occurred()) throw nb::python_error();
}

// The addresses of False and of what True's differs by, as words. Bools of a list are read and
// written without branches, in blocks whose length is known, so that compilers make vectors of it.
struct Bools {
  uintptr_t no = reinterpret_cast<uintptr_t>(Py_False);
  uintptr_t both = reinterpret_cast<uintptr_t>(Py_True) ^ no;
  int bit = std::countr_zero(both);  // one in which they differ
};
using Block = std::integral_constant<Py_ssize_t, 4096>;

// Copies bools to bytes; zero if all are bools.
template <class Count>
uintptr_t read_block(const uintptr_t* __restrict items, char* __restrict to, Count n,
                     const Bools& bools) {
  const auto [no, both, bit] = bools;
  uintptr_t others = 0;
  for (Py_ssize_t k = 0; k < n; ++k) {
    const uintptr_t of = items[k] ^ no, is = (of >> bit) & 1;
    to[k] = static_cast<char>(is);
    others |= of ^ ((0 - is) & both);
  }
  return others;
}

template <class Count>
void write_block(uintptr_t* __restrict items, const char* __restrict from, Count n,
                 const Bools& bools) {
  const auto [no, both, bit] = bools;
  for (Py_ssize_t k = 0; k < n; ++k)
    items[k] = no ^ ((0 - static_cast<uintptr_t>(from[k] & 1)) & both);
}

uintptr_t* words_of(PyObject* list) {
  return reinterpret_cast<uintptr_t*>(reinterpret_cast<ListObject*>(list)->items);
}

// Copies the items of a list of bools into an array while they are looked at; false where it holds
// anything else, or lists are laid out otherwise.
bool read_bools(const nb::list& list, nb::handle array) {
  const Memory memory(array, true);
  const Py_ssize_t n = PyList_Size(list.ptr());
  if (!is_layout_known() || static_cast<size_t>(n) != memory.count(1)) return false;
  const uintptr_t* items = words_of(list.ptr());
  char* to = memory.at(0, 1);
  const Bools bools;
  Py_ssize_t k = 0;
  for (; k + Block{} <= n; k += Block{})
    if (read_block(items + k, to + k, Block{}, bools)) return false;
  return !read_block(items + k, to + k, n - k, bools);
}

PyObject* number_at(const char* from, char kind) {
  if (kind == 'b') return PyBool_FromLong(*from);
  if (kind == 'f') {
    double v;
    std::memcpy(&v, from, sizeof v);
    return PyFloat_FromDouble(v);
  }
  long long v;
  std::memcpy(&v, from, sizeof v);
  return PyLong_FromLongLong(v);
}

// Stores a number into a list in the place of another one. A float that nobody else holds takes the
// new number itself.
void store(PyObject* list, Py_ssize_t k, const char* from, char kind) {
  PyObject* old = item(list, k);
  if (kind == 'f' && Py_REFCNT(old) == 1 && is_layout_known()) {
    std::memcpy(&reinterpret_cast<FloatObject*>(old)->value, from, sizeof(double));
    return;
  }
  PyObject* o = number_at(from, kind);
  if (!o || PyList_SetItem(list, k, o) < 0) throw nb::python_error();
}

// Stores the bools of an array of its extents into a list; equal ones are one object.
void write_bools(const nb::list& list, nb::handle now) {
  const Memory memory(now, false);
  const Bools bools;
  const bool uncounted = are_bools_uncounted();
  size_t at = 0;
  for (PyObject* row : rows_of(list.ptr())) {
    const Py_ssize_t n = PyList_Size(row);
    if (at + static_cast<size_t>(n) > memory.count(1))
      throw nb::value_error("[loops] a list has grown");
    const char* x = memory.at(at, 1);
    at += static_cast<size_t>(n);
    if (uncounted) {
      uintptr_t* items = words_of(row);
      Py_ssize_t k = 0;
      for (; k + Block{} <= n; k += Block{}) write_block(items + k, x + k, Block{}, bools);
      write_block(items + k, x + k, n - k, bools);
      continue;
    }
    for (Py_ssize_t k = 0; k < n; ++k)
      if (item(row, k) != (x[k] ? Py_True : Py_False)) store(row, k, x + k, 'b');
  }
}

// Stores into a list what differs between two arrays of its extents; all other items stay the very
// objects that they are. Of bools no earlier ones are needed.
void write_list(const nb::list& list, nb::handle now, nb::handle before, const std::string& kinds) {
  const char kind = kinds[0];
  if (kind == 'b') return write_bools(list, now);
  const size_t size = size_of(kind);
  const Memory a(now, false), b(before, false);
  size_t at = 0;
  for (PyObject* row : rows_of(list.ptr())) {
    const Py_ssize_t n = PyList_Size(row);
    if (at + static_cast<size_t>(n) > std::min(a.count(size), b.count(size)))
      throw nb::value_error("[loops] a list has grown");
    const char *x = a.at(at, size), *y = b.at(at, size);
    at += static_cast<size_t>(n);
    const Py_ssize_t block = 64 / static_cast<Py_ssize_t>(size);
    for (Py_ssize_t first = 0; first < n; first += block) {
      const Py_ssize_t last = std::min(n, first + block);
      const auto bytes = [=](Py_ssize_t k) { return static_cast<size_t>(k) * size; };
      if (!std::memcmp(x + bytes(first), y + bytes(first), bytes(last - first))) continue;
      for (Py_ssize_t k = first; k < last; ++k)
        if (std::memcmp(x + bytes(k), y + bytes(k), size) != 0) store(row, k, x + bytes(k), kind);
    }
  }
}

// Gives a list as many items as an array holds: appends those beyond its own, or drops its last.
void extend_list(const nb::list& list, nb::handle array, const std::string& kinds, size_t count) {
  const char kind = kinds[0];
  const size_t size = size_of(kind);
  const Memory memory(array, false);
  if (count > memory.count(size)) throw nb::value_error("[loops] a list has grown too much");
  const auto last = static_cast<Py_ssize_t>(count);
  if (last < PyList_Size(list.ptr()) &&
      PyList_SetSlice(list.ptr(), last, PyList_Size(list.ptr()), nullptr) < 0)
    throw nb::python_error();
  for (size_t k = static_cast<size_t>(PyList_Size(list.ptr())); k < count; ++k) {
    PyObject* o = number_at(memory.at(k, size), kind);
    const bool appended = o && PyList_Append(list.ptr(), o) == 0;
    Py_XDECREF(o);
    if (!appended) throw nb::python_error();
  }
}

}  // namespace

void bind_loop_lists(nb::module_& m) {
  m.def("list_numbers", list_numbers,
        "The kind of the numbers of a list, its extents, and the ids of its rows; or None.");
  m.def(
      "list_guess", list_guess,
      "The kind and the extents that a list of numbers seems to have, by its first item; or None.");
  m.def("list_words", list_words, "The addresses of the items of a list of bools, in place.");
  m.def("read_bools", read_bools,
        "Copies a list of bools into an array; False where it is none of bools.");
  m.def("read_list", read_list, "Copies the numbers of a list into an array.");
  m.def("extend_list", extend_list,
        "Gives a list the length of an array, and the items beyond its own.");
  m.def("write_list", write_list, "Stores into a list what has changed.");
}

}  // namespace numbus::bindings
