// Calls of functions that are known by the layouts of their operands and by their other arguments.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "array/capture.h"
#include "convert.h"

namespace numbus::bindings {

// Containers that are nested deeper, or contain themselves, are left to Python.
constexpr int kMostNested = 64;

// What is set outside and changes what is recorded.
uint64_t recording_settings();

// What tells a call from others as far as its instructions depend on it; and its arrays.
class CallKey {
 public:
  // False where the call may depend on more: on elements that the host can read, on objects.
  bool read(PyObject* const* args, Py_ssize_t count, PyObject* names);
  // The same of a call with these arrays, a tuple, alone.
  bool read(nb::handle tuple);
  // The same of a step of a program: tensors are arrays, dicts are told apart by their items, other
  // objects by themselves; there may be no arrays.
  bool read_step(nb::handle args, nb::handle named);
  const std::vector<uint64_t>& words() const { return words_; }
  const std::vector<nb::object>& kept() const { return kept_; }
  // Whether an argument of a step is, or has been, differentiated.
  bool differentiated() const { return differentiated_; }

  std::vector<Array> arrays;

 private:
  friend class Recipes;
  bool add(PyObject* o);
  bool add_array(PyObject* o, uint64_t tag = 0);
  bool add_of_step(PyObject* o);
  bool add_items(PyObject* o, uint64_t tag, Py_ssize_t n, PyObject* (*item)(PyObject*, Py_ssize_t));

  std::vector<uint64_t> words_;
  std::vector<nb::object> kept_;  // whose addresses are among the words
  int depth_ = 0;
  bool step_ = false, differentiated_ = false;
};

// The recipes of one function.
class Recipes {
 public:
  static int64_t answers;  // how many calls needed no code of theirs
  // Null: it is not known.
  std::shared_ptr<const Recipe> known(const CallKey& key) { return entry(key).recipe; }
  void keep(const CallKey& key, std::shared_ptr<const Recipe> recipe) {
    entry(key).recipe = std::move(recipe);
  }
  // Answers the call by a recipe, or calls `body`, whose answer is captured.
  template <class F>
  nb::object answer(CallKey& key, F&& body) {
    Entry& e = entry(key);
    if (const std::shared_ptr<const Recipe> held = e.recipe) return made_by(*held, e.single, key);
    // What an inner call records belongs to the outer one.
    if (e.failures >= kFailures || capture_now) return body();
    nb::object made;
    Capture capture(key.arrays);
    made = body();
    learn(key, capture, made);
    return made;
  }

 private:
  static constexpr size_t kMost = 64;
  static constexpr int kFailures = 3;
  struct Entry {
    std::vector<uint64_t> words;
    std::vector<nb::object> kept;
    std::vector<LayoutRef> layouts;
    std::shared_ptr<const Recipe> recipe;
    bool single = true;  // the result is an array, not a tuple of them
    int failures = 0;
  };
  Entry& entry(const CallKey& key);
  void learn(const CallKey& key, Capture& capture, nb::handle made);
  static nb::object made_by(const Recipe& recipe, bool single, const CallKey& key);

  std::unordered_map<uint64_t, Entry> all_;
};

}  // namespace numbus::bindings
