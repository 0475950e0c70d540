// Where the Python program is: tokens when recording, files and lines when somebody asks.
#include <dlfcn.h>

#include <unordered_map>

#include "base/hash.h"
#include "convert.h"

namespace numbus::bindings {

namespace {

std::unordered_map<PyCodeObject*, bool>& codes() {
  static auto* c = new std::unordered_map<PyCodeObject*, bool>;
  return *c;
}
uint64_t latest_lines[4096];

// Where the frames of a line token end: code objects stay referenced by codes().
struct Line {
  PyCodeObject* code;
  int at;
};
std::unordered_map<uint64_t, Line>& lines() {
  static auto* p = new std::unordered_map<uint64_t, Line>;
  return *p;
}

// A program that makes code without end, by exec() or lambdas, loses the lines of what is pending
// now and then, but no memory.
void forget_old() {
  constexpr size_t kMany = 1 << 16;
  if (codes().size() < kMany && lines().size() < kMany) return;
  lines().clear();
  std::fill(std::begin(latest_lines), std::end(latest_lines), 0);
  auto old = std::move(codes());
  codes().clear();
  for (auto& [code, internal] : old) Py_DECREF(reinterpret_cast<PyObject*>(code));
}

// Whether a code object belongs to this package. The answer is kept with a reference, so an address
// stays unique.
bool is_internal(PyCodeObject* code) {
  auto it = codes().find(code);
  if (it == codes().end()) {
    forget_old();
    it = codes().try_emplace(code, false).first;
    Py_INCREF(reinterpret_cast<PyObject*>(code));
    nb::object file =
        nb::getattr(nb::handle(reinterpret_cast<PyObject*>(code)), "co_filename", nb::str(""));
    static const std::string& package = *new std::string([] {
      nb::object path = nb::module_::import_("numbus").attr("__path__")[0];
      return nb::cast<std::string>(nb::str(path)) + "/";
    }());
    it->second = nb::cast<std::string>(nb::str(file)).compare(0, package.size(), package) == 0;
  }
  return it->second;
}

void remember(uint64_t line, PyCodeObject* code, int at) {
  uint64_t& known = latest_lines[line & 4095];
  if (known == line) return;
  known = line;
  lines().try_emplace(line, Line{code, at});
}

}  // namespace

SourceLine describe_line(uint64_t line) {
  using Addr2Line = int (*)(PyCodeObject*, int);
  static auto number = reinterpret_cast<Addr2Line>(dlsym(RTLD_DEFAULT, "PyCode_Addr2Line"));
  auto it = lines().find(line);
  if (it == lines().end() || !number) return {};
  nb::handle code(reinterpret_cast<PyObject*>(it->second.code));
  return {nb::cast<std::string>(nb::str(nb::getattr(code, "co_filename"))),
          number(it->second.code, it->second.at)};
}

bool called_from_package() {
  PyFrameObject* f = PyEval_GetFrame();
  if (!f) return false;
  PyCodeObject* code = PyFrame_GetCode(f);
  const bool internal = is_internal(code);
  Py_DECREF(reinterpret_cast<PyObject*>(code));
  return internal;
}

// The line of the call: instruction offsets from here out to the first frame that is not this
// package's own.
uint64_t line_of_caller() {
  // Outside the stable ABI but exported by every Python from 3.11 on.
  using GetLasti = int (*)(PyFrameObject*);
  using GetBack = PyFrameObject* (*)(PyFrameObject*);
  static auto get_lasti = reinterpret_cast<GetLasti>(dlsym(RTLD_DEFAULT, "PyFrame_GetLasti"));
  static auto get_back = reinterpret_cast<GetBack>(dlsym(RTLD_DEFAULT, "PyFrame_GetBack"));
  PyFrameObject* f = PyEval_GetFrame();
  uint64_t line = 0;
  bool owned = false;
  Line last{};
  constexpr int kDeepest = 24;
  for (int depth = 0; f && depth < kDeepest; ++depth) {
    PyCodeObject* code = PyFrame_GetCode(f);
    uint64_t at = get_lasti ? static_cast<uint64_t>(get_lasti(f))
                            : static_cast<uint64_t>(PyFrame_GetLineNumber(f));
    line = mix(line ^ reinterpret_cast<uint64_t>(code), at);
    bool internal = is_internal(code);
    Py_DECREF(reinterpret_cast<PyObject*>(code));
    last = {code, static_cast<int>(at)};
    PyFrameObject* back = internal && get_back ? get_back(f) : nullptr;
    if (owned) Py_DECREF(reinterpret_cast<PyObject*>(f));
    f = back;
    owned = true;
  }
  // A frame that is kept would keep all that its function has named.
  if (owned) Py_XDECREF(reinterpret_cast<PyObject*>(f));
  if (last.code) remember(line, last.code, last.at);
  return line;
}

}  // namespace numbus::bindings
