// What loops and callbacks ask: whether anybody watches the program, and the processor's time.
#pragma once

#include <Python.h>

#include <ctime>
#include <initializer_list>

namespace numbus::bindings {

inline double clock_of(clockid_t which) {
  timespec t;
  clock_gettime(which, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Of this thread's processor, as on a busy machine others take the clock's time. To ask for it
// takes a microsecond, so that within a millisecond the clock's time is added.
inline double seconds_now() {
  thread_local double asked_at = -1, found = 0;
  const double now = clock_of(CLOCK_MONOTONIC);
  if (asked_at < 0 || now - asked_at > 1e-3) {
    found = clock_of(CLOCK_THREAD_CPUTIME_ID);
    asked_at = now;
  }
  return found + (now - asked_at);
}

// Whether anybody watches the program's lines or calls; -1: an exception.
inline int is_watched() {
  for (const char* name : {"gettrace", "getprofile"}) {
    PyObject* get = PySys_GetObject(name);
    if (!get) continue;
    PyObject* found = PyObject_CallNoArgs(get);
    if (!found) return -1;
    const bool watched = found != Py_None;
    Py_DECREF(found);
    if (watched) return 1;
  }
  PyObject* monitoring = PySys_GetObject("monitoring");  // Python 3.12
  for (int tool = 0; monitoring && tool < 6; ++tool) {
    PyObject* found = PyObject_CallMethod(monitoring, "get_tool", "i", tool);
    if (!found) return -1;
    const bool watched = found != Py_None;
    Py_DECREF(found);
    if (watched) return 1;
  }
  return 0;
}

}  // namespace numbus::bindings
