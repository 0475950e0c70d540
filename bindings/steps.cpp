// Capturing steps, and recording them again.
#include "steps.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"
#include "lazy/recorder.h"
#include "tensors.h"

namespace numbus::bindings {
namespace {

constexpr size_t kKeys = 64;
constexpr size_t kVariants = 4;  // of a key

bool is_plain(PyObject* o) {
  return o == Py_None || PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
         PyUnicode_CheckExact(o);
}

bool same_value(PyObject* now, PyObject* then) {
  if (now == then) return true;
  if (!now || Py_TYPE(now) != Py_TYPE(then) || !is_plain(then)) return false;
  if (PyFloat_Check(then)) {  // zeros of two signs are equal
    const double x = PyFloat_AsDouble(now), y = PyFloat_AsDouble(then);
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  }
  const int same = PyObject_RichCompareBool(now, then, Py_EQ);
  if (same < 0) PyErr_Clear();
  return same == 1;
}

Array array_in(PyObject* o) {
  if (is_tensor(o)) return as_array(as_tensor(o).array);
  if (is_array(o)) return as_array(o);
  return array_of(as_generic(o));
}

bool can_be_differentiated(PyObject* o) {
  if (!is_tensor(o)) return false;
  const TensorObject& t = as_tensor(o);
  return requires_gradient(t) && (t.leaf || program::Tape::get().writer(as_array(t.array)) >= 0);
}

// Whether any tensor in a result can still be differentiated, or it is nested too deep to tell.
bool is_open(PyObject* o, int depth = 0) {
  if (depth > kMostNested) return true;
  auto any = [depth](Py_ssize_t n, auto item) {
    for (Py_ssize_t k = 0; k < n; ++k)
      if (is_open(item(k), depth + 1)) return true;
    return false;
  };
  if (PyTuple_Check(o))
    return any(PyTuple_Size(o), [&](Py_ssize_t k) { return PyTuple_GetItem(o, k); });
  if (PyList_Check(o))
    return any(PyList_Size(o), [&](Py_ssize_t k) { return PyList_GetItem(o, k); });
  if (PyDict_Check(o)) {
    const nb::object values = nb::steal(PyDict_Values(o));
    return is_open(values.ptr(), depth + 1);
  }
  return can_be_differentiated(o);
}

struct UncapturedBlock {
  std::unique_ptr<Uncaptured> now;
};

// What is done is seen by the tape, or is constant for it.
class Seeing {
 public:
  void operator()(bool sees) {
    if (sees ? seen_.has_value() : quiet_.has_value()) return;
    seen_.reset();
    quiet_.reset();
    if (sees)
      seen_.emplace();
    else
      quiet_.emplace();
  }

 private:
  std::optional<Seen> seen_;
  std::optional<Quiet> quiet_;
};

// An open step, recorded again: its results reach what they were made of, as those of a call do.
nb::object record_open(const Recipe& recipe, const Made& result, std::span<const Array> given,
                       std::span<const double> numbers) {
  program::Tape& tape = program::Tape::get();
  const int64_t since = tape.now();
  nb::object made;
  std::vector<Array> arrays;
  try {
    Seeing seeing;
    arrays = recipe.record_open(given, numbers, [&](bool sees) { seeing(sees); });
  } catch (...) {
    tape.settle(since);
    throw;
  }
  made = result.make(arrays);
  arrays.clear();
  tape.settle(since);
  return made;
}

}  // namespace

const char* Made::read(PyObject* o, std::vector<Array>& arrays, bool opens, int depth) {
  if (depth > kMostNested) return "the result is nested too deep";
  auto of_items = [&](Kind k, Py_ssize_t n, auto item) -> const char* {
    kind = k;
    items.resize(static_cast<size_t>(n));
    for (Py_ssize_t j = 0; j < n; ++j)
      if (const char* why = items[static_cast<size_t>(j)].read(item(j), arrays, opens, depth + 1))
        return why;
    return nullptr;
  };
  if (is_tensor(o) || is_array(o) || (is_generic(o) && !as_generic(o).known)) {
    if (is_array(o) && as_masked(o).mask) return "the result is a masked part of an array";
    if (is_tensor(o) && reinterpret_cast<PyObject*>(Py_TYPE(o)) != tensor_class())
      return "the result is a parameter";
    kind = is_tensor(o) ? Tensor : is_array(o) ? Ndarray : Generic;
    at = arrays.size();
    arrays.push_back(array_in(o));
    if (!is_tensor(o)) return nullptr;
    const TensorObject& t = as_tensor(o);
    if (opens) {
      if (t.leaf) return "the result is a leaf that requires a gradient";
      open = true;
      constant = t.constant;
      if (t.maker) object = nb::borrow(t.maker);
    } else if (can_be_differentiated(o)) {
      return "the result can still be differentiated";
    }
    return nullptr;
  }
  // A copy would be another object than the one that the program goes on using. The result itself
  // is held by a variable of ours, and while it is passed here; an item is held by its container.
  if ((PyList_CheckExact(o) || PyDict_CheckExact(o)) && Py_REFCNT(o) > (depth == 0 ? 2 : 1))
    return "the result is a list or dict that the program keeps";
  if (PyTuple_CheckExact(o))
    return of_items(Tuple, PyTuple_Size(o), [&](Py_ssize_t j) { return PyTuple_GetItem(o, j); });
  if (PyList_CheckExact(o))
    return of_items(List, PyList_Size(o), [&](Py_ssize_t j) { return PyList_GetItem(o, j); });
  if (PyDict_CheckExact(o)) {
    const nb::tuple keys(nb::steal<nb::list>(PyDict_Keys(o)));
    object = keys;
    return of_items(Dict, PyTuple_Size(keys.ptr()), [&](Py_ssize_t j) {
      return PyDict_GetItem(o, PyTuple_GetItem(keys.ptr(), j));
    });
  }
  if (!is_plain(o)) return "the result holds an object that is no array";
  object = nb::borrow(o);
  return nullptr;
}

nb::object Made::make(std::vector<Array>& arrays) const {
  switch (kind) {
    case Constant: return object;
    case Tensor: {
      const nb::object a = nb::steal(wrap(Array(arrays[at])));
      nb::object made = nb::steal(wrap_tensor(a.ptr(), open));
      if (open) {
        TensorObject& t = as_tensor(made.ptr());
        t.constant = constant;
        if (object.is_valid()) t.maker = nb::object(object).release().ptr();
      }
      return made;
    }
    case Ndarray: return nb::steal(wrap(Array(arrays[at])));
    case Generic: return nb::steal(wrap_result(Masked(Array(arrays[at]))));
    case Tuple: {
      nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
      if (!made.is_valid()) throw nb::python_error();
      for (size_t j = 0; j < items.size(); ++j)
        PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(j),
                        items[j].make(arrays).release().ptr());
      return made;
    }
    case List: {
      nb::list made;
      for (const Made& m : items) made.append(m.make(arrays));
      return made;
    }
    case Dict: {
      nb::dict made;
      for (size_t j = 0; j < items.size(); ++j)
        made[nb::borrow(PyTuple_GetItem(object.ptr(), static_cast<Py_ssize_t>(j)))] =
            items[j].make(arrays);
      return made;
    }
  }
  return nb::none();
}

StepCapture::StepCapture(const nb::args& args, const nb::kwargs& named) {
  known_ = !observer() && key_.read_step(args, named);
}

nb::bytes StepCapture::key() const {
  return nb::bytes(key_.words().data(), key_.words().size() * sizeof(uint64_t));
}

void StepCapture::begin(bool open) {
  before_ = std::exchange(tensors_used, &tensors_);
  capture_.emplace(key_.arrays, open ? Capture::Of::Open : Capture::Of::Whole);
}

void StepCapture::end() {
  if (!capture_ || capture_->ended()) return;
  capture_->end();
  tensors_used = before_;
}

nb::object StepCapture::why() const {
  if (!capture_ || !capture_->why()) return nb::none();
  const SourceLine at = describe_line(capture_->why_at());
  return nb::make_tuple(capture_->why(), at.file, at.line);
}

nb::list StepCapture::tensors() const {
  nb::list all;
  for (const nb::object& t : tensors_) all.append(t);
  return all;
}

const char* StepCapture::finish(nb::handle result, const nb::list& leaves) {
  if (capture_->why()) return capture_->why();
  std::vector<Array> arrays;
  if (const char* why = made_.read(result.ptr(), arrays, capture_->open())) return why;
  for (nb::handle t : leaves) {
    PyObject* const g = as_tensor(t.ptr()).grad;
    if (!g || g == Py_None) {
      leaves_.emplace_back(nb::borrow(t), std::nullopt);
      continue;
    }
    Array held = array_in(g);
    if (capture_->keeps(*held.base.get())) continue;  // the step has changed it in place
    leaves_.emplace_back(nb::borrow(t), arrays.size());
    arrays.push_back(std::move(held));
  }
  recipe_ = Recipe::of(*capture_, arrays);
  if (!recipe_) return "a result is not made by the step";
  if (recipe_->size() == 0) return "nothing is recorded";
  // Others would keep what was recorded of them.
  std::erase_if(tensors_, [&](const nb::object& t) { return !keeps(t); });
  return nullptr;
}

const char* StepCapture::differs(const StepCapture& other) const {
  return recipe_->differs(*other.recipe_);
}

bool StepCapture::is_given(nb::handle array) const {
  return recipe_ && recipe_->gives(*array_in(array.ptr()).base.get());
}

bool StepCapture::keeps(nb::handle tensor) const {
  return recipe_ && recipe_->keeps(*as_array(as_tensor(tensor.ptr()).array).base.get());
}

bool Guard::holds() const {
  switch (kind) {
    case Item: {
      PyObject* const now = PyDict_GetItemWithError(of.ptr(), name.ptr());
      if (!now) PyErr_Clear();
      return same_value(now, value.ptr());
    }
    case Attribute: {
      const nb::object now = nb::steal(PyObject_GetAttr(of.ptr(), name.ptr()));
      if (!now.is_valid()) PyErr_Clear();
      return same_value(now.ptr(), value.ptr());
    }
    case Cell: {
      const nb::object now = nb::steal(PyObject_GetAttrString(of.ptr(), "cell_contents"));
      if (!now.is_valid()) PyErr_Clear();
      return same_value(now.ptr(), value.ptr());
    }
    case Items: {  // of a list, set or dict (keys, too): those in a tuple
      const Py_ssize_t n = PyTuple_Size(value.ptr());
      auto was = [&](Py_ssize_t k) { return PyTuple_GetItem(value.ptr(), k); };
      if (PyDict_Check(of.ptr())) {
        if (PyDict_Size(of.ptr()) * 2 != n) return false;
        Py_ssize_t at = 0, k = 0;
        PyObject *key, *item;
        for (; PyDict_Next(of.ptr(), &at, &key, &item); k += 2)
          if (!same_value(key, was(k)) || !same_value(item, was(k + 1))) return false;
        return true;
      }
      if (PyList_Check(of.ptr())) {
        if (PyList_Size(of.ptr()) != n) return false;
        for (Py_ssize_t k = 0; k < n; ++k)
          if (!same_value(PyList_GetItem(of.ptr(), k), was(k))) return false;
        return true;
      }
      if (PySet_Size(of.ptr()) != n) return false;
      const nb::object all = nb::steal(PyObject_GetIter(of.ptr()));
      for (Py_ssize_t k = 0; k < n; ++k) {
        const nb::object item = nb::steal(PyIter_Next(all.ptr()));
        if (!same_value(item.ptr(), was(k))) return false;
      }
      return true;
    }
    case Absent: {
      if (!PyDict_Check(of.ptr())) {
        const nb::object now = nb::steal(PyObject_GetAttr(of.ptr(), name.ptr()));
        PyErr_Clear();
        return !now.is_valid();
      }
      PyObject* const now = PyDict_GetItemWithError(of.ptr(), name.ptr());
      PyErr_Clear();
      return !now;
    }
    case Truth: {
      PyObject* const now = PyDict_GetItemWithError(of.ptr(), name.ptr());
      return now && PyObject_IsTrue(now) == (value.ptr() == Py_True ? 1 : 0);
    }
    case Gradient: {
      PyObject* const now = as_tensor(of.ptr()).grad;
      return (now ? now : Py_None) == value.ptr();
    }
    case Holds: {
      if (array) {
        const Array& now = as_array(of.ptr());
        return now.base.get() == array->base.get() && now.layout.get() == array->layout.get() &&
               now.offset == array->offset && now.dtype == array->dtype;
      }
      const TensorObject& t = as_tensor(of.ptr());
      return t.array == value.ptr() && t.constant == constant && t.leaf == leaf &&
             t.storage->active() == active;
    }
  }
  return false;
}

void Steps::install(StepCapture& c, const nb::list& guards, const nb::list& renewals) {
  if (all_.size() >= kKeys) all_.clear();
  const std::vector<uint64_t>& words = c.key_.words();
  auto made = std::make_shared<Variant>();
  made->words = words;
  made->kept = c.key_.kept();
  for (const Array& a : c.key_.arrays) made->layouts.push_back(a.layout);
  made->recipe = c.recipe_;
  made->repeat = std::make_unique<Repeat>(c.recipe_);
  made->made = std::move(c.made_);
  made->leaves = std::move(c.leaves_);
  for (nb::handle g : guards) {
    Guard one;
    one.kind = static_cast<Guard::Kind>(nb::cast<int>(g[0]));
    one.of = g[1];
    one.name = g[2];
    one.value = g[3];
    if (one.kind == Guard::Holds && is_array(one.of.ptr())) {
      one.array = as_array(one.of.ptr());
      one.array->origin.reset();
    } else if (one.kind == Guard::Holds) {
      one.constant = as_tensor(one.of.ptr()).constant;
      one.leaf = as_tensor(one.of.ptr()).leaf;
      one.active = as_tensor(one.of.ptr()).storage->active();
    }
    made->guards.push_back(std::move(one));
  }
  for (nb::handle r : renewals) made->renewals.push_back(nb::borrow(r));
  auto& known = all_[hash_words(words.data(), words.size())];
  known.insert(known.begin(), std::move(made));
  if (known.size() > kVariants) known.pop_back();
}

nb::object Steps::answer(const nb::args& args, const nb::kwargs& named) {
  nb::object unknown = nb::borrow(Py_NotImplemented);
  if (all_.empty() || capture_now || observer()) return unknown;
  CallKey key;
  if (!key.read_step(args, named)) return unknown;
  const auto found = all_.find(hash_words(key.words().data(), key.words().size()));
  if (found == all_.end()) return unknown;
  const auto fits = std::ranges::find_if(found->second, [&](const auto& v) {
    return v->words == key.words() && std::ranges::all_of(v->guards, &Guard::holds);
  });
  if (fits == found->second.end()) return unknown;
  // Other threads may install steps while this one waits for a flush, so the copy is needed.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::shared_ptr<Variant> held = *fits;
  const Variant& v = *held;
  const bool open = v.recipe->open();
  // What the tape keeps of other work would have to be copied before it is overwritten.
  if (!open && program::Tape::get().keeps()) {
    program::Tape::get().drop_circles(true);  // which hold only themselves
    if (program::Tape::get().keeps()) {
      // Garbage in circles of Python's may be all that keeps it; the next call is answered then.
      if (std::has_single_bit(++kept_back_)) PyGC_Collect();
      return unknown;
    }
  }
  kept_back_ = 0;
  std::vector<double> numbers;
  numbers.reserve(v.recipe->numbers());
  for (const nb::object& renew : v.renewals) {
    const nb::list lines(renew());
    for (nb::handle line : lines)
      for (Py_ssize_t k = 0; k < PyTuple_Size(line.ptr()); ++k)
        numbers.push_back(PyFloat_AsDouble(PyTuple_GetItem(line.ptr(), k)));
  }
  if (PyErr_Occurred()) throw nb::python_error();
  if (numbers.size() != v.recipe->numbers())
    raise(ErrorKind::Runtime, "compile", "internal error: other numbers than were captured",
          std::to_string(numbers.size()), std::to_string(v.recipe->numbers()));
  // What the step overwrites is let go before the last one is carried out, as by zero_grad().
  for (const auto& [t, at] : v.leaves) Py_CLEAR(as_tensor(t.ptr()).grad);
  const NoWarnings silent;
  if (open) {
    ++answers_;
    return record_open(*v.recipe, v.made, key.arrays, numbers);
  }
  Runtime::get().flush("a compiled step");
  std::vector<Array> made;
  if (auto repeated = v.repeat->answer(key.arrays, numbers)) {
    made = std::move(*repeated);
  } else {
    const Recorder::Whole whole(Recorder::of(v.recipe->device()));
    made = v.recipe->record(key.arrays, numbers);
  }
  ++answers_;
  for (const auto& [t, at] : v.leaves) {
    if (!at) continue;
    const nb::object a = nb::steal(wrap(std::move(made[*at])));
    PyObject* const before = std::exchange(as_tensor(t.ptr()).grad, wrap_tensor(a.ptr(), false));
    Py_XDECREF(before);
  }
  return v.made.make(made);
}

void StepCapture::clear() {
  key_ = CallKey();
  tensors_.clear();
  leaves_.clear();
  made_ = Made();
}

void Steps::clear() {
  const auto last = std::move(all_);
  all_.clear();
}

namespace {

template <class T>
int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  if (!nb::inst_ready(o)) return 0;
  return nb::inst_ptr<T>(o)->each(
      [&](const nb::object& held) { return held.is_valid() ? visit(held.ptr(), arg) : 0; });
}

template <class T>
int clear_held(PyObject* o) {
  if (nb::inst_ready(o)) nb::inst_ptr<T>(o)->clear();
  return 0;
}

template <class T>
PyType_Slot collected[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<T>)},
                           {Py_tp_clear, reinterpret_cast<void*>(clear_held<T>)},
                           {0, nullptr}};

}  // namespace

void bind_steps(nb::module_& m) {
  nb::class_<StepCapture>(m, "StepCapture", nb::type_slots(collected<StepCapture>),
                          "One call whose instructions are captured.")
      .def("__init__", [](StepCapture* s, nb::args args,
                          nb::kwargs named) { new (s) StepCapture(args, named); })
      .def_prop_ro("known", &StepCapture::known)
      .def_prop_ro("key", &StepCapture::key)
      .def_prop_ro("why", &StepCapture::why)
      .def_prop_ro("tensors", &StepCapture::tensors)
      .def_prop_ro("differentiated", &StepCapture::differentiated)
      .def("begin", &StepCapture::begin, nb::arg("open"))
      .def("end", &StepCapture::end)
      .def(
          "finish",
          [](StepCapture& s, nb::handle result, const nb::list& leaves) -> nb::object {
            const char* why = s.finish(result, leaves);
            return why ? nb::object(nb::str(why)) : nb::none();
          },
          nb::arg("result").none(), nb::arg("leaves"))
      .def("differs",
           [](const StepCapture& s, const StepCapture& other) -> nb::object {
             const char* why = s.differs(other);
             return why ? nb::object(nb::str(why)) : nb::none();
           })
      .def("keeps", &StepCapture::keeps, nb::arg("tensor"))
      .def("is_given", &StepCapture::is_given, nb::arg("array"));
  nb::class_<Steps>(m, "Steps", nb::type_slots(collected<Steps>),
                    "Steps that are recorded again without their code.")
      .def(nb::init<>())
      .def("answer", &Steps::answer)
      .def("install", &Steps::install, nb::arg("capture"), nb::arg("guards"), nb::arg("renewals"))
      .def_prop_ro("answers", &Steps::answers);
  m.def(
      "is_open", [](nb::handle result) { return is_open(result.ptr()); }, nb::arg("result").none(),
      "Whether a tensor in a result can still be differentiated.");
  m.def("capturing_step", [] { return capture_now && capture_now->whole(); });
  m.def("capturing", [] { return capture_now != nullptr; });
  nb::class_<UncapturedBlock>(
      m, "uncaptured",
      "A block that makes what stays the same: its work is no part of what is captured around it.")
      .def(nb::init<>())
      .def("__enter__", [](UncapturedBlock& b) { b.now = std::make_unique<Uncaptured>(); })
      .def("__exit__", [](UncapturedBlock& b, nb::args) { b.now.reset(); });
}

}  // namespace numbus::bindings
