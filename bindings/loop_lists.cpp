// Lists of numbers as arrays, and back: what compiled loops compute with (python/numbus/loops).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
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

// 'i', 'f' or 'b' where all items are ints of 64 bits, floats or bools; 0 where they are not.
char kind_of_items(PyObject* list, char kind) {
  const Py_ssize_t n = PyList_Size(list);
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* o = item(list, k);
    const PyTypeObject* type = Py_TYPE(o);
    const char found = type == &PyFloat_Type  ? 'f'
                       : type == &PyLong_Type ? 'i'
                       : type == &PyBool_Type ? 'b'
                                              : 0;
    if (!found || (kind && found != kind)) return 0;
    kind = found;
    if (found != 'i') continue;
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) return 0;
  }
  return kind;
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

// The items of a list of bools as words of memory, for code that compares them with the addresses
// of True and False, and stores these; None where it holds anything else or nothing, or lists are
// laid out otherwise.
nb::object list_words(const nb::list& list) {
  const Py_ssize_t n = PyList_Size(list.ptr());
  if (n == 0 || Py_TYPE(PyList_GetItem(list.ptr(), 0)) != &PyBool_Type || !is_layout_known())
    return nb::none();
  PyObject** items = reinterpret_cast<ListObject*>(list.ptr())->items;
  PyObject *yes = Py_True, *no = Py_False;
  if (!std::all_of(items, items + n, [=](PyObject* o) { return (o == yes) | (o == no); }))
    return nb::none();
#if PY_VERSION_HEX < 0x030C0000
  // As in later versions, nobody counts the references to these.
  static const bool uncounted = [] {
    for (PyObject* o : {Py_True, Py_False}) Py_SET_REFCNT(o, Py_REFCNT(o) + (Py_ssize_t{1} << 40));
    return true;
  }();
  static_cast<void>(uncounted);
#endif
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
    for (Py_ssize_t k = 0; k < n; ++k, ++at) {
      if (at >= memory.count(size)) throw nb::value_error("[loops] a list has grown");
      PyObject* o = item(row, k);
      char* to = memory.at(at, size);
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

// Stores into a list what differs between two arrays of its extents; all other items stay the very
// objects that they are.
void write_list(const nb::list& list, nb::handle now, nb::handle before, const std::string& kinds) {
  const char kind = kinds[0];
  const size_t size = size_of(kind);
  const Memory a(now, false), b(before, false);
  size_t at = 0;
  for (PyObject* row : rows_of(list.ptr())) {
    const Py_ssize_t n = PyList_Size(row);
    if (at + static_cast<size_t>(n) > std::min(a.count(size), b.count(size)))
      throw nb::value_error("[loops] a list has grown");
    for (Py_ssize_t k = 0; k < n; ++k, ++at) {
      if (!std::memcmp(a.at(at, size), b.at(at, size), size)) continue;
      PyObject* o = number_at(a.at(at, size), kind);
      if (!o || PyList_SetItem(row, k, o) < 0) throw nb::python_error();
    }
  }
}

// Appends what an array holds beyond the items of a list, up to a count.
void extend_list(const nb::list& list, nb::handle array, const std::string& kinds, size_t count) {
  const char kind = kinds[0];
  const size_t size = size_of(kind);
  const Memory memory(array, false);
  if (count > memory.count(size)) throw nb::value_error("[loops] a list has grown too much");
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
  m.def("list_words", list_words, "The addresses of the items of a list of bools, in place.");
  m.def("read_list", read_list, "Copies the numbers of a list into an array.");
  m.def("extend_list", extend_list, "Appends to a list what an array holds beyond it.");
  m.def("write_list", write_list, "Stores into a list what has changed.");
}

}  // namespace numbus::bindings
