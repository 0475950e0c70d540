// Keys of calls, and what is known of them.
#include "recipes.h"

#include <algorithm>
#include <bit>

#include "array/batch.h"
#include "array/placement.h"
#include "array/precision.h"
#include "base/hash.h"
#include "lazy/float_errors.h"
#include "lazy/recorder.h"
#include "program/program.h"
#include "tensors.h"

namespace numbus::bindings {

uint64_t recording_settings() {
  return uint64_t{precision::tf32.load()} << 8 | uint64_t{precision::new_tensors.load()} << 16;
}

namespace {

enum Tag : uint64_t { kArray = 1, kInt, kFloat, kObject, kTuple, kList, kDict, kTensor };

}  // namespace

bool CallKey::add_array(PyObject* o, uint64_t tag) {
  const Masked& m = as_masked(o);
  if (m.mask) return false;
  const Array& a = m.full;
  const Device* device = a.base->device;
  // Where an array lies whose device is open is decided later.
  if (placement::on && !a.base->pinned) return false;
  if (device->host_readable() || (!arrays.empty() && arrays[0].base->device != device))
    return false;
  const auto same = std::ranges::find_if(
      arrays, [&](const Array& other) { return other.base.get() == a.base.get(); });
  words_.push_back((tag ? tag : kArray) | static_cast<uint64_t>(a.dtype) << 8 |
                   static_cast<uint64_t>(a.writeable) << 16 |
                   static_cast<uint64_t>(same - arrays.begin()) << 24);
  words_.push_back(reinterpret_cast<uint64_t>(a.layout.get()));
  words_.push_back(static_cast<uint64_t>(a.offset));
  words_.push_back(static_cast<uint64_t>(a.base->nbytes));
  words_.push_back(reinterpret_cast<uint64_t>(device));
  arrays.push_back(a);
  return true;
}

bool CallKey::add_items(PyObject* o, uint64_t tag, Py_ssize_t n,
                        PyObject* (*item)(PyObject*, Py_ssize_t)) {
  words_.push_back(tag | static_cast<uint64_t>(n) << 8);
  if (depth_ == kMostNested) return false;
  ++depth_;
  for (Py_ssize_t k = 0; k < n; ++k)
    if (!add(item(o, k))) return false;
  --depth_;
  return true;
}

bool CallKey::add(PyObject* o) {
  if (is_array(o)) return add_array(o);
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
    words_.push_back(kInt);
    words_.push_back(static_cast<uint64_t>(value));
    return overflow == 0;
  }
  if (PyFloat_CheckExact(o)) {
    words_.push_back(kFloat);
    words_.push_back(std::bit_cast<uint64_t>(PyFloat_AsDouble(o)));
    return true;
  }
  if (PyTuple_CheckExact(o)) return add_items(o, kTuple, PyTuple_Size(o), PyTuple_GetItem);
  if (PyList_CheckExact(o)) return add_items(o, kList, PyList_Size(o), PyList_GetItem);
  if (o != Py_None && !PyBool_Check(o) && !PyUnicode_CheckExact(o)) {
    if (!step_) return false;
    if (is_tensor(o) || PyDict_CheckExact(o) || is_generic(o)) return add_of_step(o);
  }
  words_.push_back(kObject);
  words_.push_back(reinterpret_cast<uint64_t>(o));
  kept_.push_back(nb::borrow(o));
  return true;
}

bool CallKey::read(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const float_errors::State& errors = float_errors::state;
  if (errors.checked || errors.watched || errors.finding) return false;
  words_.reserve(64);
  arrays.reserve(8);
  // In blocks of constants programs see writes alone, and derivatives of one's own are left out.
  words_.push_back(static_cast<uint64_t>(program::watching()) |
                   static_cast<uint64_t>(program::seeing()) << 1 | recording_settings());
  words_.push_back(reinterpret_cast<uintptr_t>(&default_device()));
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  words_.push_back(static_cast<uint64_t>(count) << 8 | static_cast<uint64_t>(named));
  for (Py_ssize_t k = 0; k < named; ++k)
    if (!add(PyTuple_GetItem(names, k))) return false;
  for (Py_ssize_t k = 0; k < count + named; ++k)
    if (!add(args[k])) return false;
  return !arrays.empty();
}

bool CallKey::add_of_step(PyObject* o) {
  if (is_generic(o)) return false;
  if (is_tensor(o)) {
    const TensorObject& t = as_tensor(o);
    if (!is_array(t.array)) return false;
    const bool active = t.storage->active();
    differentiated_ |= active || t.leaf;
    const bool has = t.grad && t.grad != Py_None;
    words_.push_back(uint64_t{active} | uint64_t{t.leaf} << 1 | uint64_t{t.constant} << 2 |
                     uint64_t{has} << 3);
    return add_array(t.array, kTensor);
  }
  words_.push_back(kDict | static_cast<uint64_t>(PyDict_Size(o)) << 8);
  if (depth_ == kMostNested) return false;
  ++depth_;
  Py_ssize_t at = 0;
  PyObject *key, *item;
  while (PyDict_Next(o, &at, &key, &item))
    if (!add(key) || !add(item)) return false;
  --depth_;
  return true;
}

bool CallKey::read_step(nb::handle args, nb::handle named) {
  const float_errors::State& errors = float_errors::state;
  if (errors.checked || errors.watched || errors.finding) return false;
  if (watches_calls()) return false;
  step_ = true;
  words_.push_back(static_cast<uint64_t>(recording) | recording_settings());
  words_.push_back(reinterpret_cast<uintptr_t>(&default_device()));
  return add(args.ptr()) && add(named.ptr());
}

bool CallKey::read(nb::handle tuple) {
  std::vector<PyObject*> all;
  for (Py_ssize_t k = 0; k < PyTuple_Size(tuple.ptr()); ++k)
    all.push_back(PyTuple_GetItem(tuple.ptr(), k));
  return read(all.data(), std::ssize(all), nullptr);
}

int64_t Recipes::answers = 0;

Recipes::Entry& Recipes::entry(const CallKey& key) {
  const uint64_t hash = hash_words(key.words_.data(), key.words_.size());
  auto found = all_.find(hash);
  if (found != all_.end() && found->second.words == key.words_) return found->second;
  if (all_.size() >= kMost) all_.clear();
  Entry& e = all_[hash] = Entry();
  e.words = key.words_;
  e.kept = key.kept_;
  for (const Array& a : key.arrays) e.layouts.push_back(a.layout);
  return e;
}

void Recipes::learn(const CallKey& key, Capture& capture, nb::handle made) {
  if (!made.is_valid()) return;  // it raised
  std::vector<Array> results;
  const bool single = !PyTuple_CheckExact(made.ptr());
  bool fits = true;
  auto take = [&](PyObject* o) {
    if (is_array(o) && !as_masked(o).mask)
      results.push_back(as_masked(o).full);
    else if (is_generic(o) && !as_generic(o).known)
      results.push_back(array_of(as_generic(o)));
    else
      fits = false;
  };
  if (single) {
    take(made.ptr());
  } else {
    for (Py_ssize_t k = 0; k < PyTuple_Size(made.ptr()); ++k) take(PyTuple_GetItem(made.ptr(), k));
  }
  Entry& e = entry(key);  // Python's code may have changed the table
  if (fits) e.recipe = Recipe::of(capture, results);
  e.single = single;
  e.failures += !e.recipe;
}

nb::object Recipes::made_by(const Recipe& recipe, bool single, const CallKey& key) {
  mark_line();
  ++answers;
  std::vector<Array> results = recipe.record(key.arrays);
  if (single) return nb::steal(wrap(std::move(results[0])));
  nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
  if (!made.is_valid()) throw nb::python_error();
  for (size_t k = 0; k < results.size(); ++k)
    PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(k), wrap(std::move(results[k])));
  return made;
}

namespace {

// The calls of one pure function of arrays: what tells its other arguments apart is a number.
class PureCalls {
 public:
  // A tuple of arrays, by `body` or without it; NotImplemented: neither.
  nb::object answer(int64_t tag, const nb::tuple& arrays, nb::handle body) {
    const nb::int_ number(tag);
    std::vector<PyObject*> given{number.ptr()};
    for (nb::handle a : arrays) given.push_back(a.ptr());
    CallKey key;
    if (!key.read(given.data(), std::ssize(given), nullptr)) return nb::borrow(Py_NotImplemented);
    nb::object made =
        recipes_.answer(key, [&] { return nb::steal(PyObject_CallNoArgs(body.ptr())); });
    if (!made.is_valid()) throw nb::python_error();
    return made;
  }

 private:
  Recipes recipes_;
};

std::vector<Array> arrays_of(const nb::tuple& all) {
  std::vector<Array> found;
  for (nb::handle o : all)
    found.push_back(is_generic(o.ptr()) ? array_of(as_generic(o.ptr())) : as_array(o.ptr()));
  return found;
}

// While it lives, all work of this thread is recorded, as that of a program that is watched.
class Recorded {
 public:
  Recorded() { program::begin(none_); }
  ~Recorded() { program::end(none_); }
  Recorded(const Recorded&) = delete;

 private:
  program::Program none_;
};

// The first example of arrays whose first axis counts examples, in memory of its own.
std::vector<Array> first_examples(std::span<const Array> whole) {
  std::vector<Array> first;
  for (const Array& a : whole) {
    const Layout& l = *a.layout;
    const auto dims = static_cast<size_t>(l.ndim() - 1);
    const Layout* one = Layout::get({l.shape() + 1, dims}, {l.strides() + 1, dims}, l.itemsize());
    first.push_back(copy(view_of(a, one, a.offset), a.dtype, true));
  }
  return first;
}

// What `body` recorded for one example, of the arrays `whole` whose first axis counts them. Why not
// is said by a text. While the body runs, its arrays have no elements yet, so that nothing can
// depend on these.
struct Example {
  const char* why = nullptr;
  bool wrote_operands = false, wrote_others = false;
  std::shared_ptr<const Recipe> recipe;
};
Example capture_example(std::span<const Array> whole, nb::handle body) {
  Example found;
  const bool alone = !observer() || Capture::alone();
  // What is pending could be carried out meanwhile, and the example with it.
  if (!capture_now) Runtime::get().flush("a batch");
  const Recorded all;
  const Recorder::Whole uncut(Recorder::of(*whole[0].base->device));
  std::vector<Array> one, results;
  nb::list wrapped;
  {
    const Uncaptured first;
    one = first_examples(whole);
  }
  for (const Array& a : one) wrapped.append(nb::steal(wrap(Array(a))));
  Capture capture(one);
  if (alone) capture.record_alone();
  const nb::object made =
      nb::steal(PyObject_CallFunctionObjArgs(body.ptr(), wrapped.ptr(), nullptr));
  if (!made.is_valid()) throw nb::python_error();
  for (Array& a : arrays_of(nb::tuple(made)))
    results.push_back(capture.makes(a) ? a : copy(a, a.dtype, true));
  found.wrote_operands = capture.wrote_operands();
  found.wrote_others = capture.wrote_others();
  found.why = capture.why();
  for (const Array& a : one)
    if (!found.why && a.size() > 0 && !a.base->pending())
      found.why = "elements are needed on the way";
  if (!found.why && found.wrote_operands) found.why = "an argument is written to";
  if (found.why) return found;
  found.recipe = Recipe::of(capture, results);
  if (!found.recipe) found.why = "a result is not made by it";
  return found;
}

// What `body` does with arrays of one example, done for all of a batch: arrays whose first axis
// counts the examples. Gives (results, which of them have a leading axis); or why it was done for
// the first one alone, in copies, whether these were written to, and whether other arrays were.
nb::object record_batch(const nb::tuple& given, int64_t n, nb::handle body) {
  std::vector<Array> whole = arrays_of(given);
  Example one = capture_example(whole, body);
  std::optional<Batch> batch;
  if (!one.why) one.why = batch.emplace(one.recipe, n).why();
  if (one.why) {
    Capture::spoil();  // what contains it has not seen the first example
    return nb::make_tuple(one.why, one.wrote_operands, one.wrote_others);
  }
  for (Array& a : whole) a = copy(a, a.dtype, true);
  std::vector<Array> results;
  try {
    results = batch->record(whole);
  } catch (const Error& e) {
    // The function may handle it, for one example. What was done for the first one is lost, too.
    if (e.kind() != ErrorKind::Linalg) throw;
    Capture::spoil();
    return nb::make_tuple("a matrix has no result", true, one.wrote_others);
  }
  nb::list made, leads;
  for (size_t k = 0; k < results.size(); ++k) {
    made.append(nb::steal(wrap(std::move(results[k]))));
    leads.append(batch->is_batched(k));
  }
  return nb::make_tuple(made, leads);
}

}  // namespace

void bind_recipes(nb::module_& m) {
  m.def("record_batch", record_batch, nb::arg("given"), nb::arg("n"), nb::arg("body"),
        "Does for a batch of arrays what is done for one example.");
  nb::class_<PureCalls>(m, "PureCalls", "What the calls of a pure function of arrays record.")
      .def(nb::init<>())
      .def("answer", &PureCalls::answer, nb::arg("tag"), nb::arg("arrays"), nb::arg("body"));
  m.def(
      "recipe_answers", [] { return Recipes::answers; },
      "How many calls of pure functions were recorded again without their code.");
  m.def(
      "spoil_capture", [] { Capture::spoil(); },
      "Says that the present call depends on, or does, more than is recorded of it.");
}

}  // namespace numbus::bindings
