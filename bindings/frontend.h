// Python functions as the core's front end sees them.
#pragma once

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

  int add_function(const std::string& name, const std::string& file);
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
struct Arguments {
  std::vector<frontend::Type> types;
  std::string key;
  std::vector<int64_t> words;
  std::vector<Py_buffer> buffers;
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
  std::vector<Array> arrays;
  void copy_back(const std::vector<bool>& written);
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  bool add_on_device(nb::handle value, const char* function, frontend::Type& t);
  void add_words(const Array& a, frontend::Type& t);
  ~Arguments() {
    for (Py_buffer& b : buffers) PyBuffer_Release(&b);
  }
  void add(nb::handle value, const char* function);
};

// The value of a result's words; `call` keeps memory alive that a result may lie in.
nb::object to_python(const frontend::Type& t, const int64_t*& words, const Arguments& call);
frontend::Type to_type(nb::handle described);
// Raises the Python exception for a mistake in the source, or for an error that the code noted.
[[noreturn]] void raise_compile_error(const frontend::CompileError& e);
[[noreturn]] void raise_noted(const std::vector<frontend::Site>& sites, const int64_t* context,
                              bool kernel);
frontend::Options to_options(nb::handle dict);

}  // namespace numbus::bindings
