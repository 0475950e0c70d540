// Batches of a dataset: rows of arrays at rest, copied at once.
#include <cstring>
#include <span>
#include <vector>

#include "array/capture.h"
#include "given.h"
#include "program/program.h"

namespace numbus::bindings {
namespace {

constexpr int64_t kMost = 4 << 20;  // bytes; of more, threads copy parts

// Whether its rows can be copied now, and nobody is to be told.
bool is_at_rest(const Array& a) {
  const Base& b = *a.base.get();
  return a.ndim() > 0 && a.layout->c_contiguous() && b.device->host_readable() && !b.pending() &&
         b.data && !b.failure && !program::depends(a);
}

Array rows_of(const Array& a, std::span<const int64_t> numbers) {
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  shape[0] = std::ssize(numbers);
  Array made = empty(shape, a.dtype, a.base->device);
  made.base->ensure_data();
  const auto bytes = static_cast<size_t>(made.base->nbytes) / numbers.size();
  const char* const from = a.base->data + a.offset;
  char* to = made.base->data;
  for (const int64_t n : numbers) {
    std::memcpy(to, from + static_cast<size_t>(n) * bytes, bytes);
    to += bytes;
  }
  return made;
}

// None where they have to be asked for as usual, as for numbers that are no rows.
nb::object rows(nb::list arrays, nb::list numbers) {
  const size_t count = nb::len(numbers);
  if (count == 0 || capture_now) return nb::none();
  std::vector<Array> all;
  int64_t least = INT64_MAX, bytes = 0;
  for (const nb::handle o : arrays) {
    if (!is_ours(o)) return nb::none();
    const Array& a = all.emplace_back(given(o));
    if (!is_at_rest(a) || a.layout->shape(0) == 0) return nb::none();
    least = std::min(least, a.layout->shape(0));
    bytes += a.size() * itemsize(a.dtype) / a.layout->shape(0);
  }
  if (all.empty() || bytes == 0 || bytes > kMost / static_cast<int64_t>(count)) return nb::none();
  std::vector<int64_t> at(count);
  for (size_t k = 0; k < count; ++k) {
    PyObject* const o = PyList_GetItem(numbers.ptr(), static_cast<Py_ssize_t>(k));
    int overflow = 0;
    if (!PyLong_CheckExact(o)) return nb::none();
    at[k] = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow || at[k] < 0 || at[k] >= least) return nb::none();
  }
  nb::list found;
  for (const Array& a : all) found.append(nb::steal(wrap(rows_of(a, at))));
  return found;
}

}  // namespace

void bind_rows(nb::module_& m) {
  m.def("rows", rows, nb::arg("arrays"), nb::arg("numbers"),
        "Arrays of the rows with these numbers, of arrays at rest in memory of the host, on which "
        "nothing depends that is differentiated; None for others.");
}

}  // namespace numbus::bindings
