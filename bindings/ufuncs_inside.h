// How NumPy's ufunc objects are laid out, whose inner loops the core calls by itself.
#pragma once

#include <cstdint>
#include <string>

#include "convert.h"

namespace numbus::bindings {

// The beginning of NumPy's PyUFuncObject, which its headers declare and every NumPy keeps.
struct Ufunc {
  using Loop = void (*)(char** args, const intptr_t* extents, const intptr_t* strides, void* data);
  PyObject head;
  int inputs, outputs, arguments, identity;
  Loop* loops;
  void* const* data;
  int count, reserved;
  const char* name;
  const char* types;  // as many for each loop as there are arguments

  // NumPy's numbers of types.
  static constexpr char kFloat = 11, kDouble = 12, kComplexFloat = 14, kComplexDouble = 15;

  static const Ufunc& of(nb::handle object) {
    return *reinterpret_cast<const Ufunc*>(object.ptr());
  }
  void* data_of(int loop) const { return data ? data[loop] : nullptr; }
  // Whether the object is laid out as declared here: what Python says of it is what is read.
  bool is_as_declared(nb::handle object) const {
    auto number = [&](const char* attribute) { return nb::cast<int64_t>(object.attr(attribute)); };
    return number("nin") == inputs && number("nout") == outputs && number("nargs") == arguments &&
           number("ntypes") == count && nb::cast<std::string>(object.attr("__name__")) == name;
  }
};

}  // namespace numbus::bindings
