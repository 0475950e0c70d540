// What the rewritten loops of scripts call (python/numbus/loops): the items of a loop, which end
// early where compiled code may take over, and the way back into CPython.
//
// All of it is C, so that a debugger or profiler meets no frame of ours, and a loop that is never
// compiled costs as little as can be. It is a module of its own, without the core and without
// NumPy, so that scripts of pure Python begin at once.
#include "function_codes.h"
#include "watching.h"

#include <structmember.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace numbus::bindings {
namespace {

constexpr int64_t kShort = 32;          // ranges of fewer items are not looked at by themselves
constexpr double kLook = 5e-4;          // seconds between two looks at a loop
constexpr double kWorth = 3e-4;         // seconds that one entry should at least take the place of
constexpr int64_t kMisses = 1000;       // executions over no numbers until a loop is given up
constexpr int64_t kShortRuns = 10000;   // executions of a while loop of few items until then, too
constexpr int64_t kFew = 16;            // items of such
constexpr int64_t kShortFors = 100000;  // executions of a for loop of so few items until then
constexpr int64_t kVeryFew = 8;
constexpr int64_t kNever = INT64_MAX;
constexpr double kCheap = 3e-8;   // seconds of an iteration in CPython, at least
constexpr double kPlenty = 5e-3;  // seconds, by this, of a loop that is looked at before it runs

bool enabled = false;
int64_t after_items = 0;        // for tests: loops are entered after so many items
PyObject* callbacks = nullptr;  // (wanted, enter, give_up), of numbus.loops.run

// A loop of the source; numbus.loops.loop.Loop is derived from it.
struct Loop {
  PyObject_HEAD double seconds,
      hot;             // spent in CPython, as estimated; from which it is worth compiling
  double per_item;     // seconds, as last measured
  double ahead;        // seconds that the present execution may still take, 0 where nobody knows
  double least;        // seconds that one entry should at least take the place of
  int64_t items;       // carried out in CPython
  int64_t credit;      // items that may be carried out before time is taken again
  int64_t executions;  // of a while loop, or one over what enumerate() or zip() gives
  int64_t misses;      // executions over what holds no numbers
  char is_for, dead, ready, busy;
  char plain;   // it and all loops in it are dead
  char yields;  // its compilation makes progress only while the program waits
  char looks;   // at its next item, whatever the present stretch is
  char known;   // an earlier run has left code, and it goes over all its items
};
Loop& as_loop(PyObject* o) { return *reinterpret_cast<Loop*>(o); }

// What is left of a loop that ended early, until its `else` asks.
struct Ended {
  Loop* loop;
  void* frame;
  PyObject* rest;  // a range, an iterator, or None for a while loop; () where nothing is left
};
std::vector<Ended> ended_loops, rests;

struct Run;
std::vector<Run*> runs;

void push(std::vector<Ended>& all, Loop* loop, PyObject* rest) {
  all.push_back({loop, PyEval_GetFrame(), Py_NewRef(rest)});
}

// The last entry of this loop and frame; the stack holds those of other frames only while a signal
// or a finaliser interrupts a loop between its end and its `else`.
std::vector<Ended>::iterator find(std::vector<Ended>& all, const Loop* loop) {
  const void* frame = PyEval_GetFrame();
  auto it = std::find_if(all.rbegin(), all.rend(),
                         [&](const Ended& e) { return e.loop == loop && e.frame == frame; });
  return it == all.rend() ? all.end() : it.base() - 1;
}

// Forgets what an exception between the end of a loop and its `else` has left.
void forget(std::vector<Ended>& all, const Loop* loop) {
  if (all.empty()) return;
  for (auto it = find(all, loop); it != all.end(); it = find(all, loop)) {
    Py_DECREF(it->rest);
    all.erase(it);
  }
}

PyObject* pop(std::vector<Ended>& all, const Loop* loop) {
  auto it = find(all, loop);
  if (it == all.end()) return nullptr;
  PyObject* rest = it->rest;
  all.erase(it);
  return rest;
}

// Calls a function of numbus.loops.run, null where it raises: KeyboardInterrupt, as at the loop,
// without our frames. That it cannot be called where the program is deep in calls is no error.
PyObject* call_back(int which, PyObject* given) {
  PyObject* function = PyTuple_GetItem(callbacks, which);
  if (!function) return nullptr;
  PyObject* result = PyObject_CallFunctionObjArgs(function, given, nullptr);
  if (result) return result;
  if (PyErr_ExceptionMatches(PyExc_RecursionError)) {
    PyErr_Clear();
    return Py_NewRef(Py_None);
  }
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Py_CLEAR(trace);
  if (value) PyException_SetTraceback(value, Py_None);
  PyErr_Restore(type, value, nullptr);
  return nullptr;
}

// --- the items of a loop

struct Items {
  PyObject_HEAD Loop* loop;
  PyObject* over;         // a range; null for a loop over anything else, and for a while loop
  PyObject* inner;        // the iterator; null for a while loop
  iternextfunc next;      // of it
  int64_t length, done;   // items: of all, kNever where it is not known; and before this stretch
  int64_t left, stretch;  // items until the next look
  double start;           // of the present stretch; 0: time was not taken
};
PyTypeObject* items_type = nullptr;
PyTypeObject* range_iterator = nullptr;
PyObject* nothing = nullptr;  // ()
Items* spare = nullptr;       // the last one that was given back

void note_time(Loop& l, int64_t items, double took) {
  took = std::max(took, 0.0);
  l.items += items;
  l.seconds += took;
  if (items > 0) {
    l.per_item = took / static_cast<double>(items);
    l.credit = static_cast<int64_t>(std::min(1e6, kLook / std::max(l.per_item, 1e-9)));
  }
}

PyObject* new_items(Loop* l, PyObject* over, PyObject* inner, int64_t length) {
  Items* it = spare;
  if (it) {
    spare = nullptr;
    PyObject_Init(reinterpret_cast<PyObject*>(it), items_type);
  } else {
    it = PyObject_New(Items, items_type);
    if (!it) {
      Py_XDECREF(inner);
      return nullptr;
    }
  }
  it->loop = reinterpret_cast<Loop*>(Py_NewRef(reinterpret_cast<PyObject*>(l)));
  it->over = Py_XNewRef(over);
  it->inner = inner;
  it->next = inner ? reinterpret_cast<iternextfunc>(PyType_GetSlot(Py_TYPE(inner), Py_tp_iternext))
                   : nullptr;
  it->length = length;
  it->done = 0;
  it->start = 0;
  const bool counted = length != kNever;
  it->left = it->stretch = after_items ? after_items : counted ? 8 : kShort;
  if (!counted && !after_items && l->per_item > 0)
    it->left = it->stretch =
        std::clamp(static_cast<int64_t>(kLook / l->per_item), int64_t{1}, kShort);
  if (l->ready && !after_items) it->left = it->stretch = 0;
  // Of many executions of few items some are measured.
  if (counted || l->ready || l->executions % 64 == 1) it->start = seconds_now();
  return reinterpret_cast<PyObject*>(it);
}

void destroy_items(PyObject* o) {
  auto* it = reinterpret_cast<Items*>(o);
  // How far the present stretch came: `left` is one less than what is left where it was used up.
  const int64_t done =
      std::min(it->stretch - std::max<int64_t>(it->left, 0), it->length - it->done);
  if (it->start > 0 && done > 0)
    note_time(*it->loop, done, seconds_now() - it->start);
  else if (done > 0) {
    it->loop->items += done;
    it->loop->seconds += static_cast<double>(done) * it->loop->per_item;
  }
  Py_DECREF(reinterpret_cast<PyObject*>(it->loop));
  Py_CLEAR(it->over);
  Py_CLEAR(it->inner);
  PyTypeObject* type = Py_TYPE(o);
  if (spare) {
    PyObject_Free(o);
  } else {
    spare = it;
  }
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// Whether a loop of n items is so short that it is only added to the counts.
bool spends(Loop& l, int64_t n) {
  if (n > l.credit) return false;
  l.credit -= n;
  l.items += n;
  l.seconds += static_cast<double>(n) * l.per_item;
  return !l.ready || static_cast<double>(n) * l.per_item < l.least;
}

// Has the loop end here; `done` items were carried out.
bool end_early(Items& it, int64_t done) {
  if (!it.over) {
    push(ended_loops, it.loop, it.inner ? it.inner : Py_None);
    return true;
  }
  PyObject* first = PyLong_FromLongLong(done);
  PyObject* slice = first ? PySlice_New(first, nullptr, nullptr) : nullptr;
  PyObject* rest = slice ? PyObject_GetItem(it.over, slice) : nullptr;
  Py_XDECREF(first);
  Py_XDECREF(slice);
  if (!rest) return false;
  push(ended_loops, it.loop, rest);
  Py_DECREF(rest);
  return true;
}

// Whether there is code for a loop; -1: an exception. The first call may only load the part that
// enters loops; that part is called then.
int is_wanted(Loop* l) {
  for (;;) {
    const PyObject* asked = callbacks;
    PyObject* answer = call_back(0, reinterpret_cast<PyObject*>(l));
    if (!answer) return -1;
    const bool wanted = answer == Py_True;
    Py_DECREF(answer);
    if (wanted || callbacks == asked || !enabled) return wanted;
  }
}

// At the end of a stretch: whether the loop ends early; -1: an exception.
int look(Items& it) {
  Loop& l = *it.loop;
  const double now = seconds_now();
  it.done += it.stretch;
  const bool counted = it.length != kNever;
  if (counted && it.done >= it.length) {  // it is over by itself, or has grown
    if (it.start > 0) note_time(l, it.stretch - (it.done - it.length), now - it.start);
    l.ahead = it.start = 0;
    it.left = kNever;
    it.stretch = 0;
    return 0;
  }
  const double took = it.start > 0 ? now - it.start : 0;
  if (it.start > 0) {
    note_time(l, it.stretch, took);
  } else {
    l.items += it.stretch;
    l.seconds += static_cast<double>(it.stretch) * l.per_item;
  }
  l.ahead = counted ? static_cast<double>(it.length - it.done) * l.per_item : 0;
  it.start = now;
  const int64_t last = it.stretch;
  it.stretch = 0;  // in case of an exception
  if (l.dead) {
    // What is as it was in the source has nothing of ours.
    if (l.plain && (!counted || it.length - it.done > kShort))
      return end_early(it, it.done) ? 1 : -1;
    it.start = 0;
    it.left = it.stretch = kNever - 1;
    return 0;
  }
  const bool pays = after_items || l.yields || l.seconds >= l.hot;
  if (enabled && pays && (after_items || !l.busy || l.yields)) {
    const double usual = l.seconds / static_cast<double>(std::max<int64_t>(l.executions, 1));
    const double expected =
        counted ? l.ahead : std::max(usual, static_cast<double>(it.done) * l.per_item);
    if (after_items || l.yields || expected > l.least) {
      const int watched = is_watched();
      if (watched < 0) return -1;
      if (!watched) {
        const int wanted = is_wanted(it.loop);
        if (wanted < 0) return -1;
        if (wanted) return end_early(it, it.done) ? 1 : -1;
        it.start = seconds_now();
      }
    }
  }
  int64_t next = std::max<int64_t>(last, 1);
  if (took > 0 && took < kLook / 2)
    next *= 2;
  else if (took > 4 * kLook)
    next = std::max<int64_t>(next / 4, 1);
  it.left = it.stretch = std::min<int64_t>(next, 1LL << 40);
  return 0;
}

PyObject* next_item(PyObject* o) {
  auto& it = *reinterpret_cast<Items*>(o);
  if (it.loop->looks && it.left > 0) {
    it.loop->looks = 0;
    it.stretch -= it.left;
    it.left = 0;
  }
  if (it.left <= 0) {
    // After an early end, or an exception, nothing follows.
    if (it.left < 0) return nullptr;
    it.left = -1;
    const int ends = look(it);
    if (ends) {
      it.left = -1;
      return nullptr;
    }
  }
  --it.left;
  return it.inner ? it.next(it.inner) : Py_NewRef(nothing);
}

bool is_array(PyObject* o) {
  static PyObject* known = nullptr;  // NumPy's class, once its module is there
  if (!known) {
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* module = PyDict_GetItemString(modules, "numpy");
    if (!module) return PyErr_Clear(), false;
    known = PyObject_GetAttrString(module, "ndarray");
    if (!known) return PyErr_Clear(), false;
  }
  return reinterpret_cast<PyObject*>(Py_TYPE(o)) == known;
}

bool is_number(PyObject* o) { return PyLong_Check(o) || PyFloat_Check(o); }

// Whether a list of such items may be one of numbers, or of rows of numbers.
bool is_of_numbers(PyObject* o) {
  if (PyList_Check(o)) return PyList_Size(o) > 0 && is_number(PyList_GetItem(o, 0));
  if (PyTuple_Check(o)) return PyTuple_Size(o) > 0 && is_number(PyTuple_GetItem(o, 0));
  return is_number(o);
}

// The range of what an iterator over one has left, as reversed() gives one; null for all else.
PyObject* range_of(PyObject* over) {
  if (Py_TYPE(over) != range_iterator || Py_REFCNT(over) != 1) return nullptr;
  PyObject* reduced = PyObject_CallMethod(over, "__reduce__", nullptr);
  PyObject *function = nullptr, *args = nullptr, *whole = nullptr, *first = nullptr,
           *slice = nullptr, *rest = nullptr;
  if (reduced && PyArg_ParseTuple(reduced, "OOO", &function, &args, &first) &&
      PyArg_ParseTuple(args, "O", &whole) && Py_TYPE(whole) == &PyRange_Type)
    slice = PySlice_New(first, nullptr, nullptr);
  if (slice) rest = PyObject_GetItem(whole, slice);
  Py_XDECREF(slice);
  Py_XDECREF(reduced);
  if (!rest) PyErr_Clear();
  return rest;
}

// Goes over what holds no numbers; a loop that does so again and again is given up.
PyObject* missed(Loop& l, PyObject* over) {
  if (++l.misses == kMisses) {
    PyObject* done = call_back(2, reinterpret_cast<PyObject*>(&l));
    if (!done) return nullptr;
    Py_DECREF(done);
  }
  return Py_NewRef(over);
}

// The items of anything but ranges: of a list or an array, or what enumerate() or zip() gives, of
// which nobody else knows.
PyObject* begin_items(Loop& l, PyObject* over) {
  int64_t length = kNever;
  if (Py_TYPE(over) == &PyList_Type || is_array(over)) {
    length = PyObject_Size(over);
    if (length < 0) {
      PyErr_Clear();
      return Py_NewRef(over);
    }
    if (length == 0) return Py_NewRef(over);
    if (PyList_Check(over) && !is_of_numbers(PyList_GetItem(over, 0))) return missed(l, over);
    if (!after_items && spends(l, length)) return Py_NewRef(over);
  } else if ((Py_TYPE(over) == &PyEnum_Type || Py_TYPE(over) == &PyZip_Type) &&
             Py_REFCNT(over) == 1) {
    // Its length is not known, but that of those before.
    const int64_t usual = l.executions ? l.items / l.executions : kNever;
    ++l.executions;
    if (!after_items && spends(l, usual)) return Py_NewRef(over);
  } else {
    return missed(l, over);
  }
  PyObject* inner = PyObject_GetIter(over);
  return inner ? new_items(&l, nullptr, inner, length) : nullptr;
}

// loop | over: the items of a range or of what begin_items() takes, or, of None, empty tuples
// without end.
PyObject* begin(PyObject* self, PyObject* over) {
  Loop& l = as_loop(self);
  forget(ended_loops, &l);
  if (over == Py_None && !l.is_for) {
    if (++l.executions == kShortRuns && l.items < kFew * kShortRuns && !l.ready && !l.dead &&
        enabled && !after_items) {
      PyObject* nobody = call_back(2, self);
      if (!nobody) return nullptr;
      Py_DECREF(nobody);
    }
    return new_items(&l, nullptr, nullptr, kNever);
  }
  if (l.dead || !enabled) return Py_NewRef(over);
  if (PyObject* range = range_of(over)) {
    PyObject* found = begin(self, range);
    Py_DECREF(range);
    return found;
  }
  if (Py_TYPE(over) != &PyRange_Type) return begin_items(l, over);
  const Py_ssize_t n = PyObject_Size(over);
  if (n < 0) {
    PyErr_Clear();
    return Py_NewRef(over);
  }
  if (!after_items && !l.looks && spends(l, n)) {
    if (++l.executions == kShortFors && l.items < kVeryFew * kShortFors && !l.ready) {
      PyObject* nobody = call_back(2, self);
      if (!nobody) return nullptr;
      Py_DECREF(nobody);
    }
    return Py_NewRef(over);
  }
  PyObject* inner = PyObject_GetIter(over);
  if (!inner || Py_TYPE(inner) != range_iterator) {
    Py_XDECREF(inner);
    PyErr_Clear();
    return Py_NewRef(over);
  }
  PyObject* found = new_items(&l, over, inner, n);
  // One that takes long, and has not run yet, need not run before its code is looked for.
  if (found && l.known && !l.items && !after_items && static_cast<double>(n) * kCheap > kPlenty) {
    auto& it = *reinterpret_cast<Items*>(found);
    it.left = it.stretch = 0;
    l.per_item = kCheap;
    l.hot = 0;
  }
  return found;
}

// -loop: whether it has ended early.
PyObject* ended(PyObject* self) {
  if (ended_loops.empty()) Py_RETURN_FALSE;
  return PyBool_FromLong(find(ended_loops, &as_loop(self)) != ended_loops.end());
}

// --- the rest of a loop that ended early

// One execution of what is left of a loop: an iterator over the times that compiled code is left.
struct Run {
  PyObject_HEAD PyObject *loop, *rest, *gone,
      *positions;  // `gone`: numbers of names; `positions`: {at: (item, range)}
  void* frame;
  int64_t pending;  // the statement where CPython goes on; -1: it goes on with all that follows
  int64_t early;    // times that it was left too soon
  char finished, interrupted;
};
PyTypeObject* run_type = nullptr;
Run& as_run(PyObject* o) { return *reinterpret_cast<Run*>(o); }

PyObject* after(PyObject* self, PyObject*) {
  PyObject* rest = pop(ended_loops, &as_loop(self));
  if (!rest) {
    PyErr_SetString(PyExc_RuntimeError, "[loops] a loop goes on that did not end early");
    return nullptr;
  }
  forget(rests, &as_loop(self));
  Run* r = PyObject_New(Run, run_type);
  if (!r) {
    Py_DECREF(rest);
    return nullptr;
  }
  r->loop = Py_NewRef(self);
  r->rest = rest;
  r->gone = Py_NewRef(nothing);
  r->positions = Py_NewRef(Py_None);
  r->frame = PyEval_GetFrame();
  r->pending = -1;
  r->early = 0;
  r->finished = r->interrupted = 0;
  runs.push_back(r);
  return reinterpret_cast<PyObject*>(r);
}

void destroy_run(PyObject* o) {
  Run& r = as_run(o);
  std::erase(runs, &r);
  Py_CLEAR(r.loop);
  Py_CLEAR(r.rest);
  Py_CLEAR(r.gone);
  Py_CLEAR(r.positions);
  PyTypeObject* type = Py_TYPE(o);
  PyObject_Free(o);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyObject* next_run(PyObject* o) {
  Run& r = as_run(o);
  Loop& l = as_loop(r.loop);
  bool over = r.finished;
  if (!over && Py_TYPE(r.rest) == &PyRange_Type) {
    const Py_ssize_t n = PyObject_Size(r.rest);
    if (n < 0) PyErr_Clear();
    over = n == 0;
  }
  if (over) {
    push(rests, &l, nothing);
    return nullptr;
  }
  if (enabled && !l.dead) {
    const int watched = is_watched();
    if (watched < 0) return nullptr;
    if (!watched) {
      PyObject* values = call_back(1, o);
      if (values != Py_None) return values;  // or null
      Py_DECREF(values);
    }
  }
  push(rests, &l, r.rest);
  return nullptr;
}

// rest(): what CPython goes on with: of a while loop, whether it goes on.
PyObject* rest(PyObject* self, PyObject*) {
  PyObject* found = pop(rests, &as_loop(self));
  if (!found) {
    PyErr_SetString(PyExc_RuntimeError, "[loops] nothing is left of a loop");
    return nullptr;
  }
  if (as_loop(self).is_for) return found;
  const bool more = found == Py_None;
  Py_DECREF(found);
  return PyBool_FromLong(more);
}

Run* run_of(PyObject* self) {
  const void* frame = PyEval_GetFrame();
  for (auto it = runs.rbegin(); it != runs.rend(); ++it)
    if ((*it)->loop == self && (*it)->frame == frame) return *it;
  PyErr_SetString(PyExc_RuntimeError, "[loops] a statement is asked about outside of its loop");
  return nullptr;
}

// The numbers of a statement and of the one after it, which are constants of the rewritten source.
bool two(PyObject* args, int64_t& first, int64_t& end) {
  long long a = 0, b = 0;
  if (!PyArg_ParseTuple(args, "LL", &a, &b)) return false;
  first = a;
  end = b;
  return true;
}

// at(first, end): whether a statement, whose numbers these are, is carried out.
PyObject* at(PyObject* self, PyObject* args) {
  int64_t first, end;
  Run* r = run_of(self);
  if (!r || !two(args, first, end)) return nullptr;
  if (r->pending == -1) Py_RETURN_TRUE;
  if (r->pending == first) {
    r->pending = -1;
    Py_RETURN_TRUE;
  }
  return PyBool_FromLong(first < r->pending && r->pending < end);
}

// inside(first, end): whether the statement where it goes on has one of these numbers.
PyObject* inside(PyObject* self, PyObject* args) {
  int64_t first, end;
  Run* r = run_of(self);
  if (!r || !two(args, first, end)) return nullptr;
  return PyBool_FromLong(first <= r->pending && r->pending < end);
}

// left(first, end): the items of an inner loop that are left, the present one first; None where it
// begins.
PyObject* left(PyObject* self, PyObject* args) {
  int64_t first, end;
  Run* r = run_of(self);
  if (!r || !two(args, first, end)) return nullptr;
  if (!(first < r->pending && r->pending < end)) Py_RETURN_NONE;
  PyObject* at_loop = PyTuple_GetItem(args, 0);
  PyObject* found = at_loop ? PyObject_GetItem(r->positions, at_loop) : nullptr;
  if (!found) return nullptr;
  static PyObject* chain = nullptr;
  if (!chain) {
    PyObject* itertools = PyImport_ImportModule("itertools");
    chain = itertools ? PyObject_GetAttrString(itertools, "chain") : nullptr;
    Py_XDECREF(itertools);
  }
  PyObject* result = chain ? PyObject_CallObject(chain, found) : nullptr;
  Py_DECREF(found);
  return result;
}

// gone(k): whether the name with this number holds nothing; -1: whether there is any such.
PyObject* gone(PyObject* self, PyObject* k) {
  Run* r = run_of(self);
  if (!r) return nullptr;
  if (r->interrupted) {
    r->interrupted = 0;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return nullptr;
  }
  const int64_t number = PyLong_AsLongLong(k);
  if (number == -1) {
    if (PyErr_Occurred()) return nullptr;
    return PyBool_FromLong(PyObject_IsTrue(r->gone));
  }
  const int found = PySequence_Contains(r->gone, k);
  return found < 0 ? nullptr : PyBool_FromLong(found);
}

PyMethodDef loop_methods[] = {
    {"after", after, METH_NOARGS, "Runs compiled code for what is left."},
    {"rest", rest, METH_NOARGS, "What CPython goes on with."},
    {"at", at, METH_VARARGS, "Whether a statement is carried out."},
    {"inside", inside, METH_VARARGS, "Whether CPython goes on at one of these statements."},
    {"left", left, METH_VARARGS, "The items of an inner loop that are left."},
    {"gone", gone, METH_O, "Whether a name holds nothing."},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef loop_members[] = {
    {"seconds", T_DOUBLE, offsetof(Loop, seconds), 0, nullptr},
    {"hot", T_DOUBLE, offsetof(Loop, hot), 0, nullptr},
    {"ahead", T_DOUBLE, offsetof(Loop, ahead), READONLY, nullptr},
    {"per_item", T_DOUBLE, offsetof(Loop, per_item), 0, nullptr},
    {"least", T_DOUBLE, offsetof(Loop, least), 0, nullptr},
    {"items", T_LONGLONG, offsetof(Loop, items), 0, nullptr},
    {"executions", T_LONGLONG, offsetof(Loop, executions), READONLY, nullptr},
    {"is_for", T_BOOL, offsetof(Loop, is_for), 0, nullptr},
    {"dead", T_BOOL, offsetof(Loop, dead), 0, nullptr},
    {"looks", T_BOOL, offsetof(Loop, looks), 0, nullptr},
    {"known", T_BOOL, offsetof(Loop, known), 0, nullptr},
    {"ready", T_BOOL, offsetof(Loop, ready), 0, nullptr},
    {"busy", T_BOOL, offsetof(Loop, busy), 0, nullptr},
    {"plain", T_BOOL, offsetof(Loop, plain), 0, nullptr},
    {"yields", T_BOOL, offsetof(Loop, yields), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyObject* new_loop(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = PyType_GenericAlloc(type, 0);
  if (!o) return nullptr;
  as_loop(o).credit = 2 * kShort;
  as_loop(o).least = kWorth;
  return o;
}

PyType_Slot loop_slots[] = {{Py_tp_doc, const_cast<char*>("A loop that may be compiled.")},
                            {Py_tp_new, reinterpret_cast<void*>(new_loop)},
                            {Py_tp_methods, loop_methods},
                            // Operators of a constant, as they cost half of what a call does.
                            {Py_nb_or, reinterpret_cast<void*>(begin)},
                            {Py_nb_negative, reinterpret_cast<void*>(ended)},
                            {Py_tp_members, loop_members},
                            {0, nullptr}};
PyType_Spec loop_spec = {"numbus._loops.Loop", sizeof(Loop), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, loop_slots};

PyType_Slot items_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(destroy_items)},
                             {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                             {Py_tp_iternext, reinterpret_cast<void*>(next_item)},
                             {0, nullptr}};
PyType_Spec items_spec = {"numbus._loops.Items", sizeof(Items), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, items_slots};

PyMemberDef run_members[] = {{"loop", T_OBJECT_EX, offsetof(Run, loop), READONLY, nullptr},
                             {"rest", T_OBJECT_EX, offsetof(Run, rest), 0, nullptr},
                             {"gone", T_OBJECT_EX, offsetof(Run, gone), 0, nullptr},
                             {"positions", T_OBJECT_EX, offsetof(Run, positions), 0, nullptr},
                             {"pending", T_LONGLONG, offsetof(Run, pending), 0, nullptr},
                             {"early", T_LONGLONG, offsetof(Run, early), 0, nullptr},
                             {"finished", T_BOOL, offsetof(Run, finished), 0, nullptr},
                             {"interrupted", T_BOOL, offsetof(Run, interrupted), 0, nullptr},
                             {nullptr, 0, 0, 0, nullptr}};
PyType_Slot run_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(destroy_run)},
                           {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                           {Py_tp_iternext, reinterpret_cast<void*>(next_run)},
                           {Py_tp_members, run_members},
                           {0, nullptr}};
PyType_Spec run_spec = {"numbus._loops.Run", sizeof(Run), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, run_slots};

PyTypeObject* made(PyType_Spec& spec) {
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

PyObject* compile_loops(PyObject*, PyObject* args) {
  int on = 0;
  long long after = 0;
  PyObject *wanted, *enter, *give_up;
  if (!PyArg_ParseTuple(args, "pLOOO", &on, &after, &wanted, &enter, &give_up)) return nullptr;
  PyObject* now = PyTuple_Pack(3, wanted, enter, give_up);
  if (!now) return nullptr;
  enabled = on != 0;
  after_items = after;
  PyObject* before = callbacks;
  callbacks = now;
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"compile_loops", compile_loops, METH_VARARGS,
     "compile_loops(on, after, wanted, enter, give_up): whether loops are entered: after so many "
     "items, or, for 0, where it pays. wanted(loop): whether there is code for it; enter(run): "
     "runs it, and gives the values of names; give_up(loop): it goes over no numbers, or has few "
     "items each time."},
    {"watch_code", watch_code, METH_NOARGS,
     "Has functions with rewritten code show that of their source."},
    {"remember_code", remember_code, METH_VARARGS,
     "Notes the code of the source for a rewritten one."},
    {"running_code", running_code, METH_O, "The code that a function runs."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "numbus._loops",
                          "What the rewritten loops of scripts call.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

PyObject* new_module() {
  nothing = PyTuple_New(0);
  PyTypeObject* loop_type = made(loop_spec);
  items_type = made(items_spec);
  run_type = made(run_spec);
  PyObject* range = PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyRange_Type), "i", 1);
  PyObject* iterator = range ? PyObject_GetIter(range) : nullptr;
  Py_XDECREF(range);
  PyObject* module = PyModule_Create(&definition);
  if (!nothing || !loop_type || !items_type || !run_type || !iterator || !module) return nullptr;
  range_iterator = Py_TYPE(iterator);
  Py_DECREF(iterator);
  PyObject* code = PyCapsule_New(reinterpret_cast<void*>(running_code_of),
                                 "numbus._loops._running_code", nullptr);
  if (!code || PyModule_AddObjectRef(module, "_running_code", code) < 0 ||
      PyModule_AddObjectRef(module, "Loop", reinterpret_cast<PyObject*>(loop_type)) < 0)
    return nullptr;
  Py_DECREF(code);
  return module;
}

}  // namespace
}  // namespace numbus::bindings

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): Python asks for it
PyMODINIT_FUNC PyInit__loops() { return numbus::bindings::new_module(); }
