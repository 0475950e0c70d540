// Python functions as the core's front end sees them.
#pragma once

#include <list>
#include <span>
#include <unordered_map>

#include "convert.h"
#include "frontend/frontend.h"

namespace numbus::bindings {

// The process's functions and captured arrays, numbered; made by python/numbus/kernels.
class PythonProgram : public frontend::Program {
 public:
  const frontend::Source& source(int function) override;
  int library(const std::string& name) override;
  const frontend::GlobalArray& array(int number) override { return *arrays_[number]; }
  int generalised(int number, const std::vector<frontend::Type>& arguments,
                  std::string& mistake) override;

  int overloaded(const std::string& what, const std::vector<frontend::Type>& arguments,
                 const std::vector<std::string>& names, std::string& mistake) override;

  int add_function(const std::string& name, const std::string& file, int kind,
                   std::optional<bool> boundscheck);
  void define(int function, nb::handle tree);
  int add_array(nb::handle array);
  void set_library(nb::object finder) { finder_ = std::move(finder); }

  static PythonProgram& get();

 private:
  struct Held : frontend::GlobalArray {
    std::string bytes;
  };
  std::vector<std::unique_ptr<frontend::Source>> sources_;
  std::vector<std::unique_ptr<Held>> arrays_;
  nb::object finder_;
  std::unordered_map<std::string, int> known_;
};

// An argument: its type, and the words it is passed as. Buffers stay held until the call is over.
struct Arguments : std::enable_shared_from_this<Arguments> {
  std::vector<frontend::Type> types;
  std::string key;
  std::vector<int64_t> words;
  std::list<Py_buffer> buffers;  // stay where they are: some point into themselves
  std::vector<nb::object> hold;
  bool numbus = false;  // whether any array was one of ours
  // Where arrays have to be: null for the host. Those of the host are copied to a GPU, and back
  // where the kernel writes to them.
  Device* device = nullptr;
  struct Copied {
    size_t argument;
    nb::object host;
    Array there;
  };
  std::vector<Copied> copied;
  // Arrays of other devices, for code of the host: what it writes to their copies goes back.
  struct Fetched {
    size_t argument;
    bool nested;
    nb::object there, here;
  };
  std::vector<Fetched> fetched;
  nb::handle fetch(nb::handle value);
  void give_back(const std::vector<bool>& written);
  // The memory that arrays on the device give to a kernel, by argument, if somebody wants to know.
  struct Reach {
    size_t argument;
    bool nested;  // in a tuple: which of its arrays are written is not known
    std::uintptr_t begin, end;
  };
  bool wants_reach = false;
  int depth = 0;
  size_t index = 0;  // of the argument that is being added
  std::vector<Reach> reach;
  std::vector<Use> uses(const std::vector<bool>& written) const;
  std::vector<Array> arrays;
  void copy_back(const std::vector<bool>& written);
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  bool add_mapped(PyObject* o, const char* function, frontend::Type& t);
  void add_buffer(const Py_buffer& b, std::int64_t shift, const char* function, frontend::Type& t);
  void add_reach(const void* first, std::int64_t low, std::int64_t high);
  bool add_generator(nb::handle value, frontend::Type& t);
  bool add_records(nb::handle value, const char* function, frontend::Type& t);
  bool add_on_device(nb::handle value, const char* function, frontend::Type& t);
  void add_words(const Array& a, frontend::Type& t);
  ~Arguments() {
    release_lists();
    release_strings();
    for (Py_buffer& b : buffers) PyBuffer_Release(&b);
  }
  void add(nb::handle value, const char* function);
  // Characters of strings that are given: memory of compiled functions.
  std::vector<int64_t> strings;
  int64_t add_strings(std::span<PyObject* const> all, int64_t* at);
  frontend::Type add_string(PyObject* o);
  void release_strings();
  // Lists and dicts of compiled functions that Python holds (containers.h).
  std::vector<nb::object> containers;
  // Generators of compiled functions that Python holds (generators.cpp).
  std::vector<nb::object> generators;
  bool add_yielding(nb::handle value, frontend::Type& t);
  // Of the code that is called: what a generator that it gives may raise.
  const std::vector<frontend::Site>* sites = nullptr;
  // Python's lists, which see afterwards what the function does to its own.
  struct GivenList {
    nb::object list;
    int64_t owner;
    frontend::Type type;
    std::string before;  // the bytes of its items
  };
  std::vector<GivenList> lists;
  void add_list(nb::handle value, const char* function, frontend::Type& t,
                const char* kind = "list");
  // Python's sets, likewise.
  std::vector<GivenList> sets;
  void add_set(nb::handle value, const char* function, frontend::Type& t);
  void reflect_sets();
  // Structured arrays and records, and those that their fields are.
  std::vector<nb::object> structured;
  void reflect_lists();
  // The list of Python's that this memory stands for; null: there is none.
  nb::handle list_of(int64_t owner) const;
  // The argument in whose memory an array lies; null: none.
  PyObject* holder_of(const char* data) const;
  void keep_held_arrays() const;
  void release_lists();
  std::vector<int64_t> owners_outside() const;
};
// numbus.kernels._errors.
nb::object jit_errors();

// The value of a result's words; `call` keeps memory alive that a result may lie in.
nb::object to_python(const frontend::Type& t, const int64_t*& words, const Arguments& call);
frontend::Type to_type(nb::handle described);
// As numbus.kernels.types makes types of them: (tag, dtype, ndim, layout, readonly, items).
nb::tuple described(const std::vector<frontend::Type>& types);
// Raises the Python exception for a mistake in the source, or for an error that the code noted.
[[noreturn]] void raise_compile_error(const frontend::CompileError& e);
[[noreturn]] void raise_noted(const std::vector<frontend::Site>& sites, const int64_t* context,
                              bool kernel);
// Puts a value as words of that type where they go; it raises what fits no such type. Memory among
// them is counted for whoever takes it.
void give_words(nb::handle value, const frontend::Type& t, const char* what, int64_t* to);
// The same of a value whose words are there; where the call is given, memory is counted.
void convert_words(const char* what, const frontend::Type& got, const int64_t*& from,
                   const frontend::Type& t, int64_t*& to, const Arguments* given);
// The memory of a set of a list's items, by a compiled function that takes the list.
int64_t set_of_list(nb::handle dispatcher, const frontend::Type& list, int64_t owner,
                    frontend::Type& t);
// The exception of a site, with the values that have been noted beside it.
nb::object noted_error(const frontend::Site& s, int64_t first, int64_t second);
// What Python has raised in a block of its own, which an owner holds.
nb::object raised_in_object_mode(int64_t owner);
// The same of a cause, whose owner is given (frontend/raised.cpp).
nb::object noted_cause(const std::vector<frontend::Site>& sites, int64_t owner);
// Words of a result of code that is kept on disk by itself (kept.cpp), at most.
constexpr size_t kMostKeptResults = 8;
[[noreturn]] void raise_interrupted(const std::string& printed);
frontend::Options to_options(nb::handle dict);
// Raises where a function that others' code calls gives neither None nor a number on all paths, or
// not what is declared.
void expect_result(const std::string& name, const frontend::Type& got,
                   const std::optional<frontend::Type>& declared);
// Raises what kernels in a queue, given by its number, or in any have noted.
void check_noted(int queue);
// The queue behind a stream of Python's; null for None and for the device's own.
Queue* queue_of(nb::handle stream, Device& device);

}  // namespace numbus::bindings
