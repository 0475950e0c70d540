// Calling compiled functions from Python: code for the types of the arguments, and results.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include <structmember.h>

#include "compile/compiler.h"
#include "compile/leave.h"
#include "compile/runtime.h"
#include "device/counts.h"
#include "frontend.h"
#include "in_progress.h"
#include "passes/pipeline.h"
#include "plain_numbers.h"
#include "quick_arguments.h"

namespace numbus::bindings {

using frontend::Type;

namespace {

// A result, arrays in it moved to where the arguments are.
nb::object on_device_of(nb::handle argument, nb::object result) {
  Device& d = *as_array(argument.ptr()).base->device;
  if (is_array(result.ptr())) return nb::steal(wrap(to_device(as_array(result.ptr()), d)));
  if (!nb::isinstance<nb::tuple>(result) || nb::hasattr(result, "_fields")) return result;
  nb::list all;
  for (nb::handle i : result) all.append(on_device_of(argument, nb::borrow(i)));
  return nb::tuple(all);
}

bool holds_generators(const Type& t) {
  return t.is(Type::Tag::Generator) || std::ranges::any_of(t.items, holds_generators);
}

bool only_numbers(const Type& t) {
  return t.is_number() || t.is(Type::Tag::None) ||
         (t.is(Type::Tag::Tuple) && std::ranges::all_of(t.items, only_numbers));
}

// Has a type say the integers in an argument; false: it has none, or they are large.
bool decided_by(Type& t, PyObject* o) {
  if (t.is(Type::Tag::Tuple)) {
    if (!PyTuple_Check(o) || tuple_size(o) != static_cast<Py_ssize_t>(t.items.size())) return false;
    bool any = false;
    for (size_t k = 0; k < t.items.size(); ++k)
      any = decided_by(t.items[k], tuple_item(o, static_cast<Py_ssize_t>(k))) || any;
    return any;
  }
  if (t.is(Type::Tag::String)) {
    Py_ssize_t bytes = 0;
    const char* text = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, &bytes) : nullptr;
    if (!text) PyErr_Clear();
    return text && frontend::decided_by(t, std::string(text, static_cast<size_t>(bytes)));
  }
  if (!t.is_integer()) return false;
  const nb::object whole = nb::steal(PyNumber_Index(o));
  int64_t value;
  if (whole.is_valid() && int_value(whole.ptr(), value)) return frontend::decided_by(t, value);
  PyErr_Clear();
  return false;
}

// The types of the arguments of a call.
struct ArgumentTypes {
  std::vector<Type> types;
  std::string key;
};

// A function of the user's, compiled for each combination of argument types it is called with.
class Dispatcher {
 public:
  // `function`: its number, or what gives it for the globals and closure of the moment.
  Dispatcher(nb::object function, nb::object options, std::string name, int parameters)
      : function_(std::move(function)),
        options_(to_options(options)),
        name_(std::move(name)),
        parameters_(parameters) {}
  Dispatcher(const Dispatcher&) = delete;

  struct Entry {
    std::vector<Type> types;
    frontend::Result result;
    compile::CompiledFunction code;
    size_t words = 0;      // of the result
    bool numbers = false;  // the result is made of numbers and None
  };

  // Code for arguments of these types. Where it takes the values of some of them, `decide` has the
  // types say these (frontend/deciding.cpp): false, it cannot.
  Entry& entry(const std::vector<Type>& types, const std::string& key,
               const std::function<bool(size_t, Type&)>& decide = {}) {
    auto it = entries_.find(key);
    if (it != entries_.end()) return *it->second;
    if (only_declared_)
      raise(ErrorKind::Type, name_, "no matching signature", describe(types),
            "one of the declared ones");
    InProgress::Claim claim(in_progress_, key);
    it = entries_.find(key);  // another thread may have made it
    if (it != entries_.end()) return *it->second;
    auto e = std::make_unique<Entry>();
    e->types = types;
    if (!by_value_.empty() && entries_.size() >= kMostValues) {
      frontend::CompileError many = *without_values_;
      many.message = "not yet in compiled functions: more than " + std::to_string(kMostValues) +
                     " values of an argument that types hang on";
      many.hint = "a number in the call";
      raise_compile_error(many);
    }
    int function = function_number(function_);
    e->result = compiled(function, e->types, decide);
    run_passes(e->result.module);
    {
      nb::gil_scoped_release others;  // which InProgress keeps from what is not made yet
      e->code = compile::compile_function(e->result.module);
    }
    work_counts().compile_ms += e->code.milliseconds;
    e->words = frontend::words(e->result.result).size();
    e->numbers = only_numbers(e->result.result);
    // Never replaced: other threads may be running what is there.
    std::string own = key;
    if (e->types != types) own = key_of(e->types);
    return *entries_.try_emplace(own, std::move(e)).first->second;
  }

  static std::string key_of(const std::vector<Type>& types) {
    std::string key;
    for (const Type& t : types) frontend::put_key(key, t);
    return key;
  }

  // Compiles, and has types say values, one parameter after the other, until it works.
  frontend::Result compiled(int function, std::vector<Type>& types,
                            const std::function<bool(size_t, Type&)>& decide) {
    std::set<size_t> by_value = by_value_, tried;
    std::optional<frontend::CompileError> first;
    while (true) {
      std::vector<size_t> asked;
      try {
        frontend::Result r = frontend::compile(PythonProgram::get(), function, types, options_);
        if (by_value != by_value_) {
          usual_.clear();
          by_value_ = by_value;
          without_values_ = first;
        }
        return r;
      } catch (const frontend::CompileError& e) {
        if (!first) first = e;
        asked = e.parameters;
      }
      const bool more =
          decide && std::ranges::any_of(asked, [&](size_t p) {
            return tried.insert(p).second && by_value.insert(p).second && decide(p, types[p]);
          });
      if (!more) raise_compile_error(*first);
    }
  }

  // The result of a call; the arguments are the caller's for as long as it takes.
  nb::object call(PyObject* const* args, size_t n) {
    QuickArguments quick;
    const bool usual = quick.read(args, n) && by_value_.empty();
    if (usual)
      if (Entry* e = known(quick)) {
        // What a result's arrays lie in is looked up among the arguments where that is needed.
        return run(*e, quick.words(), nullptr, [&](const int64_t* results) {
          static const Arguments none;
          if (e->numbers) return to_python(e->result.result, results, none);
          Arguments a;
          a.numbus = quick.has_ours();
          const int64_t* at = results;
          if (lies_outside(e->result.result, at))
            for (size_t k = 0; k < n; ++k) a.add(args[k], name_.c_str());
          return to_python(e->result.result, results, a);
        });
      }
    const auto given = std::make_shared<Arguments>();
    Arguments& a = *given;
    for (size_t k = 0; k < n; ++k) a.add(args[k], name_.c_str());
    const auto decide = [&](size_t p, Type& t) { return p < n && decided_by(t, args[p]); };
    for (size_t p : by_value_) decide(p, a.types[p]);
    if (!by_value_.empty()) a.key = key_of(a.types);
    Entry& e = entry(a.types, a.key, decide);
    const bool yields = holds_generators(e.result.result);
    if (yields && (!a.lists.empty() || !a.fetched.empty()))
      raise(ErrorKind::Type, name_, "a generator that keeps arguments which are copied for a call",
            a.lists.empty() ? "an array on a GPU" : "a list", "arrays of the host, or typed.List");
    a.sites = &e.result.sites;
    if (usual && !yields && by_value_.empty() && usual_.size() < kMostUsual)
      usual_.push_back({std::string(quick.code_bytes()), &e});
    const std::vector<int64_t> outside = a.owners_outside();
    return run(
        e, a.words.data(), &a,
        [&](const int64_t* results) {
          nb::object result = to_python(e.result.result, results, a);
          return a.fetched.empty() ? result : on_device_of(a.fetched[0].there, std::move(result));
        },
        &outside);
  }

  // A function of numbers for the elements of arrays, recorded with whatever else is pending; None
  // where it has to run as a loop of its own. `types`: of the numbers that it is given; `looping`:
  // only a function that has loops.
  nb::object record(nb::args args, nb::handle types, bool looping) {
    std::vector<Type> all;
    std::string key;
    std::vector<Arg> operands(nb::len(args));
    std::vector<DType> params;
    Operands hold;
    bool numbers = types.is_none();
    size_t n = 0;
    for (nb::handle v : args) {
      Arg& a = operands[n];
      if (!hold.convert(v.ptr(), a) || a.huge) return nb::none();
      // A Python number beyond int64 is an uint64, which is not weak.
      if (numbers && a.weak && a.scalar.kind == Kind::UInt) a = Arg(a.scalar, DType::U64);
      DType t = !numbers       ? to_dtype(nb::object(types[n]).ptr())
                : a.is_array() ? a.full()->dtype
                : a.weak       ? common_dtype({&a, 1})
                               : a.dtype;
      all.push_back(Type::number_of(t, numbers && a.weak));
      ++n;
    }
    frontend::narrow_weak(all);
    for (const Type& t : all) {
      params.push_back(t.dtype);
      frontend::put_key(key, t);
    }
    auto it = straight_.find(key);
    if (it == straight_.end()) {
      std::shared_ptr<const Recordable> f;
      int function = function_number(function_);
      try {
        frontend::Result r = frontend::compile(PythonProgram::get(), function, all, options_);
        const ir::Module& m = r.module;
        if (r.result.tag == Type::Tag::Number)
          if (auto steps = steps_to_record(m, params, r.result.dtype))
            f = recordable(std::move(*steps));
      } catch (const frontend::CompileError& error) {
        raise_compile_error(error);
      }
      it = straight_.emplace(key, std::move(f)).first;
    }
    if (!it->second || (looping && !loops(*it->second))) return nb::none();
    mark_line();
    return nb::steal(wrap(record_steps(*it->second, operands)));
  }

  // For arguments of these types, which need not be there any more. Gives what the code is known by
  // on disk; None where a call by kept.cpp has no room for the results.
  nb::object compile_types(const ArgumentTypes& of) {
    const Entry& e = entry(of.types, of.key);
    if (e.words > kMostKeptResults) return nb::none();
    const std::string key = compile::function_key(e.result.module);
    return nb::bytes(key.data(), key.size());
  }

  // For declared signatures: compiled at once.
  void compile_for(nb::list types) {
    std::vector<Type> all;
    std::string key;
    for (nb::handle t : types) {
      all.push_back(to_type(t));
      frontend::put_key(key, all.back());
    }
    entry(all, key);
  }

  // For all types that another one is compiled for.
  void compile_like(const Dispatcher& other) {
    for (const auto& [key, e] : other.entries_) entry(e->types, key);
  }

  static std::string describe(const std::vector<Type>& types) {
    std::string s = "(";
    for (const Type& t : types) s += (s.size() > 1 ? ", " : "") + frontend::name(t);
    return s + ")";
  }

  nb::list signatures() {
    nb::list all;
    for (auto& [k, e] : entries_) all.append(described(e->types));
    return all;
  }

  // Code for arguments of these kinds, where a call has had such before.
  Entry* known(const QuickArguments& a) const {
    for (const Usual& u : usual_)
      if (u.codes == a.code_bytes()) return u.entry;
    return nullptr;
  }

  // Whether arrays among a result's words lie in memory that the call has not made.
  static bool lies_outside(const Type& t, const int64_t*& words) {
    if (t.is_array()) {
      const bool outside = words[1] == 0;
      words += 2 + 2 * t.ndim;
      return outside;
    }
    if (t.is(Type::Tag::Tuple)) {
      bool any = false;
      for (const Type& i : t.items) any = lies_outside(i, words) || any;
      return any;
    }
    words += frontend::words(t).size();
    return !t.is_number() && !t.is(Type::Tag::None) && !t.is(Type::Tag::String);
  }

  // Runs the code, and `answer`, which makes a Python object of the words of its result.
  template <class Answer>
  nb::object run(Entry& e, const int64_t* words, Arguments* given, Answer&& answer,
                 const std::vector<int64_t>* outside = nullptr) {
    int64_t context[compile::kContextWords] = {};
    compile::Output output;
    context[compile::kOutput] = reinterpret_cast<int64_t>(&output);
    context[compile::kSites] = reinterpret_cast<int64_t>(&e.result.sites);
    int64_t few[32];
    std::vector<int64_t> many(e.words > std::size(few) ? e.words : 0);
    int64_t* results = many.empty() ? few : many.data();
    int32_t status;
    ++work_counts().user_launches;
    {
      const KernelTimer timer(cpu_device());
      auto enter = [&] {
        return compile::interruptible([&] { return e.code.function(context, words, results); },
                                      nullptr, outside);
      };
      if (release_) {
        nb::gil_scoped_release free;
        status = enter();
      } else {
        status = enter();
      }
    }
    if (given) {
      given->keep_held_arrays();
      given->reflect_lists();
    }
    if (status == compile::kInterrupted) raise_interrupted(output.text);
    if (!output.text.empty()) nb::module_::import_("sys").attr("stdout").attr("write")(output.text);
    if (given) given->give_back(e.result.written);
    if (status == compile::kTooDeep) context[compile::kSite] = status;
    if (status) raise_noted(e.result.sites, context, false);
    return answer(results);
  }

  // Of what it returns, in the order of signatures().
  nb::tuple results() {
    std::vector<Type> all;
    for (auto& [k, e] : entries_) all.push_back(e->result.result);
    return described(all);
  }

  // The first word of the result of a call with one argument, and its type.
  int64_t owner_of(const Type& type, int64_t word, Type& result) {
    std::string key;
    frontend::put_key(key, type);
    Entry& e = entry({type}, key);
    result = e.result.result;
    int64_t owner = 0;
    run(e, &word, nullptr, [&](const int64_t* results) {
      owner = results[0];
      return nb::none();
    });
    return owner;
  }

  nb::object function_;
  frontend::Options options_;
  std::string name_;
  int parameters_;
  bool only_declared_ = false, release_ = false;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;
  // The first combinations that QuickArguments reads, with their entries.
  struct Usual {
    std::string codes;
    Entry* entry;
  };
  static constexpr size_t kMostUsual = 16;
  std::vector<Usual> usual_;
  InProgress in_progress_;
  std::set<size_t> by_value_;  // parameters for whose values there is code
  std::optional<frontend::CompileError> without_values_;  // the error without them
  static constexpr size_t kMostValues = 64;
  std::unordered_map<std::string, std::shared_ptr<const Recordable>> straight_;
};

// What Python's class of compiled functions derives from: its calls come here first.
struct Callable {
  PyObject_HEAD;
  vectorcallfunc call;
  PyObject* core;            // the dispatcher; null: there is none so far, or not for plain calls
  Dispatcher* dispatcher;    // the same
  PyObject *names, *values;  // tuples: parameters, and defaults of the last ones
};
constexpr Py_ssize_t kMostParameters = 32;

// Puts arguments in the order of the parameters, and defaults where none is given; false where that
// cannot be, or where there are too many.
bool bind(const Callable& c, PyObject* const* args, Py_ssize_t n, PyObject* names,
          PyObject* (&to)[kMostParameters]) {
  const Py_ssize_t count = tuple_size(c.names), defaults = tuple_size(c.values);
  if (n > count || count > kMostParameters) return false;
  std::copy_n(args, n, to);
  std::fill(to + n, to + count, nullptr);
  for (Py_ssize_t k = 0, all = names ? tuple_size(names) : 0; k < all; ++k) {
    PyObject* name = tuple_item(names, k);
    Py_ssize_t at = n;
    // Names are interned, nearly always.
    while (at < count && tuple_item(c.names, at) != name) ++at;
    if (at == count || to[at]) return false;
    to[at] = args[n + k];
  }
  for (Py_ssize_t k = n; k < count; ++k) {
    if (to[k]) continue;
    if (k < count - defaults) return false;
    to[k] = tuple_item(c.values, k - (count - defaults));
  }
  return true;
}

// Calls that fit the parameters; all others go to _call_with.
PyObject* call(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  const auto& c = *reinterpret_cast<const Callable*>(self);
  const Py_ssize_t n = PyVectorcall_NARGS(nargs);
  return guarded([&] {
    if (c.dispatcher) {
      if (!names && n == tuple_size(c.names))
        return c.dispatcher->call(args, static_cast<size_t>(n)).release().ptr();
      PyObject* all[kMostParameters];
      if (bind(c, args, n, names, all))
        return c.dispatcher->call(all, static_cast<size_t>(tuple_size(c.names))).release().ptr();
    }
    const nb::object other = nb::handle(self).attr("_call_with");
    return PyObject_Call(other.ptr(), positional_of(args, n).ptr(),
                         keywords_of(args, n, names).ptr());
  });
}

PyObject* new_callable(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = PyType_GenericAlloc(type, 0);
  if (o) reinterpret_cast<Callable*>(o)->call = call;
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX < 0x030C0000
  // Python 3.12 lets classes inherit this.
  type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
#endif
  return o;
}

int traverse_callable(PyObject* o, visitproc visit, void* arg) {
  const auto& c = *reinterpret_cast<Callable*>(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(c.core);
  Py_VISIT(c.names);
  Py_VISIT(c.values);
  return 0;
}
int clear_callable(PyObject* o) {
  auto& c = *reinterpret_cast<Callable*>(o);
  c.dispatcher = nullptr;
  Py_CLEAR(c.core);
  Py_CLEAR(c.names);
  Py_CLEAR(c.values);
  return 0;
}

PyObject* serve(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    auto& c = *reinterpret_cast<Callable*>(self);
    const nb::tuple given = nb::borrow<nb::tuple>(args);
    auto& d = nb::cast<Dispatcher&>(given[0]);
    nb::object names = nb::cast<nb::tuple>(given[1]), values = nb::cast<nb::tuple>(given[2]);
    clear_callable(self);
    c.core = nb::object(given[0]).release().ptr();
    c.names = names.release().ptr();
    c.values = values.release().ptr();
    c.dispatcher = &d;
    return nb::none().release().ptr();
  });
}

PyMemberDef callable_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Callable, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef callable_methods[] = {
    {"_serve", serve, METH_VARARGS,
     "Has a Dispatcher answer calls: the names of the parameters, the defaults of the last ones."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot callable_slots[] = {
    {Py_tp_doc, const_cast<char*>("A compiled function: calls without a frame of Python's.")},
    {Py_tp_new, reinterpret_cast<void*>(new_callable)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_callable)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_callable)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy_collected<clear_callable>)},
    {Py_tp_members, callable_members},
    {Py_tp_methods, callable_methods},
    {0, nullptr}};
PyType_Spec callable_spec = {
    "numbus._core.Callable", sizeof(Callable), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
    callable_slots};

}  // namespace

int64_t set_of_list(nb::handle dispatcher, const Type& list, int64_t owner, Type& t) {
  return nb::cast<Dispatcher&>(dispatcher).owner_of(list, owner, t);
}

void bind_frontend(nb::module_& m) {
  PyObject* callable = PyType_FromSpec(&callable_spec);
  if (!callable) throw nb::python_error();
  m.attr("Callable") = nb::steal(callable);
  nb::class_<ArgumentTypes>(m, "ArgumentTypes", "The types of the arguments of a call.")
      .def(nb::new_([](const nb::args& args) {
        const auto given = std::make_shared<Arguments>();
        for (nb::handle a : args) given->add(a, "ArgumentTypes");
        return new ArgumentTypes{given->types, given->key};
      }));
  m.def(
      "kinds",
      [](const nb::tuple& args) -> nb::object {
        QuickArguments a;
        if (!a.read(args)) return nb::none();
        const std::string_view codes = a.code_bytes();
        return nb::bytes(codes.data(), codes.size());
      },
      "What tells the types of arguments apart, of arrays also their order; None for what plain "
      "calls do not have.");
  m.def(
      "add_function",
      [](const std::string& name, const std::string& file, int kind,
         std::optional<bool> boundscheck) {
        return PythonProgram::get().add_function(name, file, kind, boundscheck);
      },
      nb::arg("name"), nb::arg("file"), nb::arg("kind"), nb::arg("boundscheck").none() = nb::none(),
      "The number of a new function; boundscheck: what it says of itself, whoever calls it.");
  m.def("define_function", [](int f, nb::object tree) { PythonProgram::get().define(f, tree); });
  m.def("add_global_array", [](nb::object a) { return PythonProgram::get().add_array(a); });
  m.def("extend", [](const std::string& what) { PythonProgram::get().extended.insert(what); });
  m.def("set_library", [](nb::object f) { PythonProgram::get().set_library(f); });
  nb::class_<Dispatcher>(m, "Dispatcher")
      .def(nb::init<nb::object, nb::object, std::string, int>())
      .def("call",
           [](Dispatcher& d, nb::args args) {
             std::vector<PyObject*> all;
             for (nb::handle a : args) all.push_back(a.ptr());
             return d.call(all.data(), all.size());
           })
      .def("record", &Dispatcher::record, nb::arg("args"), nb::kw_only(),
           nb::arg("types") = nb::none(), nb::arg("looping") = false)
      .def("compile_for", &Dispatcher::compile_for)
      .def("compile_types", &Dispatcher::compile_types)
      .def_prop_ro("signatures", &Dispatcher::signatures)
      .def_prop_ro("results", &Dispatcher::results)
      .def_rw("release_gil", &Dispatcher::release_)
      .def("compile_like", &Dispatcher::compile_like)
      .def_rw("only_declared", &Dispatcher::only_declared_)
      .def_prop_ro(
          "compiled",
          [](Dispatcher& d) {
            nb::list all;
            for (auto& [k, e] : d.entries_)
              all.append(nb::make_tuple(
                  described(e->types),
                  nb::make_tuple(e->code.from_disk, e->code.milliseconds,
                                 static_cast<int64_t>(e->result.module.functions.size()))));
            return all;
          },
          "Of each combination of types: whether its code came from the disk, the milliseconds "
          "that making it took, the number of functions in it.")
      .def("inspect", [](Dispatcher& d, const std::string& what) {
        nb::list all;
        for (auto& [k, e] : d.entries_)
          all.append(nb::make_tuple(described(e->types),
                                    what == "ir"    ? ir::print(e->result.module)
                                    : what == "asm" ? compile::function_assembly(e->result.module)
                                                    : compile::function_ir(e->result.module)));
        return all;
      });
}

}  // namespace numbus::bindings
