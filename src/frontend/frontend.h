// From a Python function and the types of its arguments to kernel IR.
#pragma once

#include <exception>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/tree.h"
#include "frontend/types.h"

namespace numbus::frontend {

// What a function refers to; trees are made when they are asked for.
class Program {
 public:
  virtual ~Program() = default;
  virtual const Source& source(int function) = 0;
  // A function written in Python that stands for this name of NumPy's; -1: there is none.
  virtual int library(const std::string& name) = 0;
  virtual const GlobalArray& array(int number) = 0;
  // The function that runs the guvectorized one of this number over arguments of these types; -1
  // and a message: there is none.
  virtual int generalised(int number, const std::vector<Type>& arguments, std::string& mistake) = 0;
  // What the program says of others' functions (numba.extending): "function NUMBER NAME", "method
  // NAME" or "attribute NAME" for arguments of these types, of which the last ones have names; -1:
  // there is none, and a message where there has to be one.
  virtual int overloaded(const std::string& what, const std::vector<Type>& arguments,
                         const std::vector<std::string>& names, std::string& mistake);
  std::set<std::string> extended;  // methods and attributes of which it says something
};

struct Options {
  bool kernel = false;  // a launch over a grid
  bool fastmath = false;
  bool boundscheck = true;
  bool same_for_all = false;  // of boundscheck: whatever functions say of themselves
  bool wraparound = true;     // negative indices count from the end; else there are none
  bool debug = false;
  bool parallel = false;
  bool long_loops = true;     // loops that count may take long: on a GPU, too, they look for Ctrl-C
  bool python_errors = true;  // Python's own numbers raise ZeroDivisionError
  bool shares_scopes = true;  // comprehensions see names as the function itself: Python 3.12
  bool device = false;        // no kernel but a function that others' code for a GPU calls
  // What a function that others' code calls returns, where that is declared: None or a number.
  std::optional<Type> returns = {};
};

// Where and as what an error surfaces that the generated code notes.
struct Site {
  std::string exception;  // the class, by name
  std::string text;       // its message; {0} and {1} stand for the values noted
  std::string file, function;
  int line = 0;
  Type argument =
      {};  // all of the exception's, a tuple: the item of a list that the first value owns
  bool raised = false;   // by a raise statement of the program's
  bool library = false;  // it stands in a function of the library's: its caller is named
  bool missing = false;  // it says "not yet": no program can catch it
};

// An array that the threads of a block share, as the source names it; number -1: of the memory that
// the launch sizes. Known of kernels that are checked.
struct SharedArray {
  int number;
  std::string name;
  std::vector<int64_t> shape;
  int itemsize;
};

struct Result {
  ir::Module module;
  Type result;
  std::vector<Site> sites;
  std::vector<SharedArray> shared;
  std::vector<bool> written;  // per parameter: whether an array's elements may change
  std::set<int> links;        // what declared functions ask to be linked, by number
};

// The function cannot be compiled: a mistake of the user's, at a line of the source.
struct CompileError : std::exception {
  std::string message, hint, file, function;
  int line = 0, col = 0, end_line = 0, end_col = 0;
  bool unsupported = false;  // "not yet", rather than wrong
  // Parameters of the function whose values might make it work, where types say them (decided_by).
  std::vector<size_t> parameters;
  const char* what() const noexcept override { return message.c_str(); }
};

// Has a type of an argument say its value, where that is a small integer.
bool decided_by(Type& t, int64_t value);
// The same of a short text of letters, digits and what subscripts have between them.
bool decided_by(Type& t, const std::string& value);
Type without_values(Type t);

Result compile(Program& program, int function, const std::vector<Type>& arguments,
               const Options& options);

}  // namespace numbus::frontend
