// A Python function as the front end reads it: the nodes of Python's own `ast`, with every name
// that is not local already resolved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace numbus::frontend {

// The node classes of `ast` by their names, and two of ours: a resolved global, and what the
// front end has no word for.
// clang-format off
#define NUMBUS_NODES(X)                                                                           \
  X(FunctionDef)                                                                                  \
  X(Lambda)                                                                                       \
  X(arguments)                                                                                    \
  X(arg)                                                                                          \
  X(Return) X(Assign) X(AugAssign) X(AnnAssign) X(For) X(While) X(If) X(Try) X(ExceptHandler) X(Raise) X(Assert) X(Expr)  \
      X(Pass) X(Delete) X(NamedExpr) X(Break) X(Continue) X(BoolOp) X(BinOp) X(UnaryOp) X(IfExp)  \
          X(Compare) X(Call) X(keyword) X(Constant) X(Attribute) X(Subscript) X(Starred) X(Name)  \
              X(List) X(Tuple) X(Slice) X(ListComp) X(GeneratorExp) X(comprehension) X(JoinedStr) \
                  X(FormattedValue) X(And) X(Or) X(Add) X(Sub) X(Mult) X(MatMult) X(Div) X(Mod)   \
                      X(Pow) X(LShift) X(RShift) X(BitOr) X(BitXor) X(BitAnd) X(FloorDiv)         \
                          X(Invert) X(Not) X(UAdd) X(USub) X(Eq) X(NotEq) X(Lt) X(LtE) X(Gt)      \
                              X(GtE) X(Yield) X(Is) X(Dict) X(DictComp) X(Set) X(SetComp) X(IsNot) X(In) X(NotIn) X(Global) X(Unsupported)
// clang-format on
enum class NodeKind : uint8_t {
#define X(name) name,
  NUMBUS_NODES(X)
#undef X
};

// clang-format off
#define NUMBUS_FIELDS(X)                                                                   \
  X(args)                                                                                  \
  X(body)                                                                                  \
  X(orelse)                                                                                \
  X(test)                                                                                  \
  X(target) X(targets) X(value) X(values) X(iter) X(op) X(ops) X(operand) X(left) X(right) \
      X(comparators) X(func) X(keywords) X(elts) X(slice) X(lower) X(upper) X(step) X(elt) \
          X(keys) X(key) X(generators) X(ifs) X(exc) X(msg) X(defaults) X(posonlyargs) X(kwonlyargs)      \
              X(kw_defaults) X(vararg) X(kwarg) X(annotation) X(format_spec) X(handlers) X(finalbody) X(type) X(cause)
// clang-format on
enum class Field : uint8_t {
#define X(name) name,
  NUMBUS_FIELDS(X)
#undef X
};

// A constant of the source, or of the program around it.
struct Literal {
  enum class Tag : uint8_t { Nothing, None, Number, Text, Ellipsis } tag = Tag::Nothing;
  Scalar number;
  bool weak = true;          // Python's own number, not one of NumPy's
  DType dtype = DType::F64;  // of a number
  std::string text;
};

struct Node {
  NodeKind kind = NodeKind::Unsupported;
  int line = 0, col = 0, end_line = 0, end_col = 0;
  std::string text;  // identifier; of a Global: its canonical name; of Unsupported: its class
  Literal literal;
  int number = -1;  // of a Global: which function, array or type
  std::vector<std::pair<Field, std::vector<Node>>> fields;

  const std::vector<Node>& all(Field f) const {
    static const std::vector<Node> none;
    for (const auto& [name, nodes] : fields)
      if (name == f) return nodes;
    return none;
  }
  const Node* one(Field f) const {
    const auto& nodes = all(f);
    return nodes.empty() ? nullptr : &nodes[0];
  }
};

// An array that a function sees as a global: a copy made when the function was compiled.
struct GlobalArray {
  DType dtype;
  std::vector<int64_t> shape;
  const void* data;  // in C order; lives as long as the program
};

struct Source {
  std::string name, file;
  Node definition;  // FunctionDef or Lambda
  // The user's own; a function of Numbus's that stands for one of NumPy's; a registered one, whose
  // arguments that are known while compiling stay so: it is expanded where it is called.
  enum Kind : uint8_t { User, Library, Registered } kind = User;
  std::optional<bool> boundscheck = {};  // what it says of itself, whoever calls it
  bool library() const { return kind != User; }
};

// Whether evaluating this lets go of no memory that something else may hold: it calls nothing, but
// for get() of the item `updated` of a dict, and assigns no name.
bool releases_nothing(const Node& n, const Node* updated = nullptr);

}  // namespace numbus::frontend
