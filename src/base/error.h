// Errors that reach the user: a kind that selects the Python exception class, and one sentence.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace numbus {

enum class ErrorKind {
  Value,
  Type,
  Index,
  Axis,
  Memory,
  Runtime,
  Casting,
  Overflow,
  NotImplemented,
  Linalg,      // a matrix has no inverse, factor, …: numpy.linalg.LinAlgError
  Interrupted  // by Ctrl-C: whatever the handler has raised
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  // Of a function of tensors: an error of values or indices is a RuntimeError, too.
  Error of_tensors(bool so) const {
    Error e = *this;
    e.of_tensors_ = so;
    return e;
  }
  bool of_tensors() const { return of_tensors_; }

 private:
  ErrorKind kind_;
  bool of_tensors_ = false;
};

[[noreturn]] inline void raise(ErrorKind kind, const std::string& what) { throw Error(kind, what); }

// The form of every message.
inline std::string message(const std::string& op, const std::string& what, const std::string& got,
                           const std::string& expected) {
  std::string s = "[";
  s.append(op).append("] ").append(what).append("; got ").append(got);
  s.append("; expected ").append(expected);
  return s;
}

[[noreturn]] inline void raise(ErrorKind kind, const std::string& op, const std::string& what,
                               const std::string& got, const std::string& expected) {
  throw Error(kind, message(op, what, got, expected));
}

}  // namespace numbus
