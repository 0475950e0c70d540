// From Python's `ast` to the front end's tree.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "frontend.h"

namespace numbus::bindings {

using frontend::Field;
using frontend::Literal;
using frontend::Node;
using frontend::NodeKind;

namespace {

NodeKind kind_of(const std::string& name) {
  static const auto* names = new std::unordered_map<std::string, NodeKind>{
#define X(name) {#name, NodeKind::name},
      NUMBUS_NODES(X)
#undef X
  };
  auto it = names->find(name);
  return it == names->end() ? NodeKind::Unsupported : it->second;
}

const std::vector<std::pair<const char*, Field>>& field_names() {
  static const auto* names = new std::vector<std::pair<const char*, Field>>{
#define X(name) {#name, Field::name},
      NUMBUS_FIELDS(X)
#undef X
  };
  return *names;
}

Literal literal_of(nb::handle v) {
  Literal l;
  PyObject* o = v.ptr();
  if (v.is_none()) {
    l.tag = Literal::Tag::None;
  } else if (o == Py_Ellipsis) {
    l.tag = Literal::Tag::Ellipsis;
  } else if (PyUnicode_Check(o)) {
    l.tag = Literal::Tag::Text;
    l.text = nb::cast<std::string>(v);
  } else {
    l.tag = Literal::Tag::Number;
    if (is_numpy_scalar(o)) {
      l.weak = false;
      l.dtype = to_dtype(nb::object(v.attr("dtype")).ptr());
      Operands ops;
      Arg a;
      ops.convert(o, a);
      l.number = a.scalar;
    } else if (PyBool_Check(o)) {
      l.number = Scalar::from_bool(o == Py_True);
      l.dtype = DType::Bool;
    } else if (PyLong_Check(o)) {
      int overflow = 0;
      long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (overflow) {
        l.number = Scalar::from_uint(PyLong_AsUnsignedLongLong(o));
        if (PyErr_Occurred()) throw nb::python_error();
        l.dtype = DType::U64;
      } else {
        l.number = Scalar::from_int(n);
        l.dtype = DType::I64;
      }
    } else if (PyFloat_Check(o)) {
      l.number = Scalar::from_float(PyFloat_AsDouble(o));
      l.dtype = DType::F64;
    } else if (PyComplex_Check(o)) {
      l.number = Scalar::from_complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
      l.dtype = DType::C128;
    } else {
      l.tag = Literal::Tag::Nothing;
    }
  }
  return l;
}

void locate(Node& n, nb::handle tree) {
  auto number = [&](const char* name) {
    nb::object v = nb::getattr(tree, name, nb::none());
    return v.is_none() ? 0 : nb::cast<int>(v);
  };
  n.line = number("lineno");
  n.col = number("col_offset");
  n.end_line = number("end_lineno");
  n.end_col = number("end_col_offset");
}

Node convert(nb::handle tree) {
  Node n;
  std::string cls = nb::cast<std::string>(
      nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(tree.ptr()))).attr("__name__"));
  n.kind = kind_of(cls);
  if (n.kind == NodeKind::Unsupported) n.text = cls;
  if (nb::hasattr(tree, "lineno")) locate(n, tree);
  if (n.kind == NodeKind::Constant) {
    n.literal = literal_of(tree.attr("value"));
    return n;
  }
  if (n.kind == NodeKind::Global) {
    n.text = nb::cast<std::string>(tree.attr("text"));
    n.number = nb::cast<int>(tree.attr("number"));
    if (nb::cast<bool>(tree.attr("literal"))) n.literal = literal_of(tree.attr("value"));
    std::vector<Node> items;
    for (nb::handle e : tree.attr("elts")) items.push_back(convert(e));
    if (!items.empty()) n.fields.push_back({Field::elts, std::move(items)});
    return n;
  }
  for (const char* name : {"name", "id", "attr", "arg"}) {
    nb::object v = nb::getattr(tree, name, nb::none());
    if (PyUnicode_Check(v.ptr()) && n.kind != NodeKind::Unsupported)
      n.text = nb::cast<std::string>(v);
  }
  static const nb::object* ast_class = new nb::object(nb::module_::import_("ast").attr("AST"));
  for (const auto& [name, field] : field_names()) {
    nb::object v = nb::getattr(tree, name, nb::none());
    if (v.is_none()) continue;
    std::vector<Node> nodes;
    if (PyList_Check(v.ptr())) {
      for (nb::handle e : v) nodes.push_back(e.is_none() ? Node{} : convert(e));
    } else if (PyObject_IsInstance(v.ptr(), ast_class->ptr()) == 1) {
      nodes.push_back(convert(v));
    } else {
      continue;
    }
    if (!nodes.empty()) n.fields.push_back({field, std::move(nodes)});
  }
  return n;
}

}  // namespace

PythonProgram& PythonProgram::get() {
  static auto* p = new PythonProgram;
  return *p;
}

const frontend::Source& PythonProgram::source(int function) { return *sources_.at(function); }

int PythonProgram::library(const std::string& name) {
  auto it = known_.find(name);
  if (it != known_.end()) return it->second;
  if (!finder_) return -1;
  // Only then is it known: the call lets other threads run, and may raise.
  int found = nb::cast<int>(finder_(name));
  known_.try_emplace(name, found);
  return found;
}

int PythonProgram::generalised(int number, const std::vector<frontend::Type>& arguments,
                               std::string& mistake) {
  nb::object made = nb::module_::import_("numbus.kernels._guvectorize")
                        .attr("inside")(number, described(arguments));
  if (PyLong_Check(made.ptr())) return nb::cast<int>(made);
  mistake = nb::cast<std::string>(made);
  return -1;
}

int PythonProgram::overloaded(const std::string& what, const std::vector<frontend::Type>& arguments,
                              const std::vector<std::string>& names, std::string& mistake) {
  nb::object made = nb::module_::import_("numbus.kernels.extending")
                        .attr("chosen")(what, described(arguments), names);
  if (PyLong_Check(made.ptr())) return nb::cast<int>(made);
  mistake = nb::cast<std::string>(made);
  return -1;
}

int PythonProgram::add_function(const std::string& name, const std::string& file, int kind,
                                std::optional<bool> boundscheck) {
  sources_.push_back(std::make_unique<frontend::Source>());
  sources_.back()->kind = static_cast<frontend::Source::Kind>(kind);
  sources_.back()->name = name;
  sources_.back()->boundscheck = boundscheck;
  sources_.back()->file = file;
  return static_cast<int>(sources_.size()) - 1;
}

void PythonProgram::define(int function, nb::handle tree) {
  sources_.at(function)->definition = convert(tree);
}

int PythonProgram::add_array(nb::handle array) {
  Py_buffer view;
  if (get_typed_buffer(array.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0)
    throw nb::python_error();
  auto held = std::make_unique<Held>();
  auto t = from_format(view.format, view.itemsize);
  if (t) {
    held->dtype = *t;
    held->shape.assign(view.shape, view.shape + view.ndim);
    held->bytes.assign(static_cast<const char*>(view.buf), view.len);
    held->data = held->bytes.data();
  }
  PyBuffer_Release(&view);
  if (!t) raise(ErrorKind::Type, "jit", "global array of a type Numbus lacks", "it", "numbers");
  arrays_.push_back(std::move(held));
  return static_cast<int>(arrays_.size()) - 1;
}

}  // namespace numbus::bindings
