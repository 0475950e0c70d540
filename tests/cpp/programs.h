// Random functions of the kernel language, as the front end's trees, and what Python makes of them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frontend/frontend.h"

namespace numbus::test {

using frontend::Field;
using frontend::Node;
using frontend::NodeKind;

inline Node node(NodeKind kind, std::vector<std::pair<Field, std::vector<Node>>> fields = {},
                 std::string text = "") {
  Node n;
  n.kind = kind;
  n.text = std::move(text);
  n.fields = std::move(fields);
  n.line = 1;
  return n;
}
inline Node name(const std::string& text) { return node(NodeKind::Name, {}, text); }
inline Node number(int64_t k) {
  Node n = node(NodeKind::Constant);
  n.literal.tag = frontend::Literal::Tag::Number;
  n.literal.number = Scalar::from_int(k);
  n.literal.dtype = DType::I64;
  return n;
}
inline Node binary(NodeKind op, Node a, Node b) {
  return node(
      NodeKind::BinOp,
      {{Field::left, {std::move(a)}}, {Field::op, {node(op)}}, {Field::right, {std::move(b)}}});
}
inline Node compare(NodeKind op, Node a, Node b) {
  return node(NodeKind::Compare, {{Field::left, {std::move(a)}},
                                  {Field::ops, {node(op)}},
                                  {Field::comparators, {std::move(b)}}});
}
inline Node call(const std::string& global, std::vector<Node> args, int which = -1) {
  Node f = node(NodeKind::Global, {}, global);
  f.number = which;
  return node(NodeKind::Call, {{Field::func, {f}}, {Field::args, std::move(args)}});
}
inline Node subscript(const std::string& array, Node index) {
  return node(NodeKind::Subscript,
              {{Field::value, {name(array)}}, {Field::slice, {std::move(index)}}});
}
inline Node assign(Node target, Node value) {
  return node(NodeKind::Assign,
              {{Field::targets, {std::move(target)}}, {Field::value, {std::move(value)}}});
}

// The source that a tree stands for, for messages.
inline std::string text_of(const Node& n, const std::string& indent = "") {
  auto part = [&](Field f) { return n.one(f) ? text_of(*n.one(f)) : std::string(); };
  auto list = [&](Field f, const char* between) {
    std::string s;
    for (const Node& i : n.all(f)) s += (s.empty() ? "" : between) + text_of(i);
    return s;
  };
  auto lines = [&](Field f) {
    std::string s;
    for (const Node& i : n.all(f)) s += text_of(i, indent + "    ");
    return s;
  };
  switch (n.kind) {
#define X(kind, text) \
  case NodeKind::kind: return text
    X(Add, "+");
    X(Sub, "-");
    X(Mult, "*");
    X(BitAnd, "&");
    X(BitXor, "^");
    X(FloorDiv, "//");
    X(Mod, "%");
    X(USub, "-");
    X(Not, "not ");
    X(And, " and ");
    X(Or, " or ");
    X(Lt, " < ");
    X(LtE, " <= ");
    X(Gt, " > ");
    X(GtE, " >= ");
    X(Eq, " == ");
    X(NotEq, " != ");
    X(Break, indent + "break\n");
    X(Continue, indent + "continue\n");
#undef X
    case NodeKind::Constant: return std::to_string(n.literal.number.i);
    case NodeKind::Global: return n.text == "function" ? "g" : n.text;
    case NodeKind::BinOp:
      return "(" + part(Field::left) + part(Field::op) + part(Field::right) + ")";
    case NodeKind::UnaryOp: return "(" + part(Field::op) + part(Field::operand) + ")";
    case NodeKind::Compare: return part(Field::left) + part(Field::ops) + part(Field::comparators);
    case NodeKind::BoolOp: return "(" + list(Field::values, part(Field::op).c_str()) + ")";
    case NodeKind::IfExp:
      return "(" + part(Field::body) + " if " + part(Field::test) + " else " + part(Field::orelse) +
             ")";
    case NodeKind::Subscript: return part(Field::value) + "[" + part(Field::slice) + "]";
    case NodeKind::Call: return part(Field::func) + "(" + list(Field::args, ", ") + ")";
    case NodeKind::arguments: return list(Field::args, ", ");
    case NodeKind::Assign: return indent + part(Field::targets) + " = " + part(Field::value) + "\n";
    case NodeKind::AugAssign:
      return indent + part(Field::target) + " " + part(Field::op) + "= " + part(Field::value) +
             "\n";
    case NodeKind::Return: return indent + "return " + part(Field::value) + "\n";
    case NodeKind::If: {
      std::string other = lines(Field::orelse);
      return indent + "if " + part(Field::test) + ":\n" + lines(Field::body) +
             (other.empty() ? "" : indent + "else:\n" + other);
    }
    case NodeKind::While: return indent + "while " + part(Field::test) + ":\n" + lines(Field::body);
    case NodeKind::For:
      return indent + "for " + part(Field::target) + " in " + part(Field::iter) + ":\n" +
             lines(Field::body);
    case NodeKind::FunctionDef:
      return "def " + n.text + "(" + part(Field::args) + "):\n" + lines(Field::body);
    default: return n.text;
  }
}

// Functions over int64 numbers a, b, c and, where asked for, int64 arrays x and y.
class ProgramMaker : public frontend::Program {
 public:
  ProgramMaker(uint64_t seed, bool arrays) : random_(seed), arrays_(arrays) {
    sources_.resize(2);
    bool called = pick(2) == 0;
    sources_[1] = function("g", {"a", "b", "c"}, false, 5, false);
    std::vector<std::string> params{"a", "b", "c"};
    if (arrays) params.insert(params.end(), {"x", "y"});
    sources_[0] = function("f", params, arrays, 9, called);
  }

  const frontend::Source& source(int function) override { return sources_.at(function); }
  std::string text() const {
    return text_of(sources_[1].definition) + text_of(sources_[0].definition);
  }
  int library(const std::string&) override { return -1; }
  const frontend::GlobalArray& array(int) override { throw std::logic_error("no global array"); }
  int generalised(int, const std::vector<frontend::Type>&, std::string&) override { return -1; }

 private:
  int64_t pick(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return *(all.begin() + pick(static_cast<int64_t>(all.size())));
  }

  frontend::Source function(const std::string& text, const std::vector<std::string>& params,
                            bool arrays, int statements, bool calls) {
    here_arrays_ = arrays;
    calls_ = calls;
    depth_ = 0;
    loop_names_.clear();
    left_ = statements;
    std::vector<Node> body, args;
    for (const std::string& p : params) args.push_back(node(NodeKind::arg, {}, p));
    for (const char* v : {"u", "v", "i", "j", "k"})
      body.push_back(assign(name(v), number(pick(4))));
    while (left_ > 0) statement(body);
    body.push_back(give());
    Node arguments = node(NodeKind::arguments, {{Field::args, args}});
    return {text, "random.py",
            node(NodeKind::FunctionDef, {{Field::args, {arguments}}, {Field::body, body}}, text)};
  }

  Node give() { return node(NodeKind::Return, {{Field::value, {expression(2)}}}); }
  std::string variable() { return one_of({"u", "v", "u", "v", "a", "b"}); }

  Node expression(int depth) {
    int64_t kind = depth <= 0 ? pick(3) : pick(here_arrays_ ? 12 : 10);
    switch (kind) {
      case 0: return number(pick(7) - 2);
      case 1: return name(variable());
      case 2: return name(loop_names_.empty() ? "c" : loop_names_[pick(loop_names_.size())]);
      case 3:
      case 4:
      case 5:
        return binary(one_of({NodeKind::Add, NodeKind::Sub, NodeKind::Mult, NodeKind::BitAnd,
                              NodeKind::BitXor}),
                      expression(depth - 1), expression(depth - 1));
      case 6:
        return binary(one_of({NodeKind::FloorDiv, NodeKind::Mod}), expression(depth - 1),
                      pick(4) ? number(1 + pick(5)) : expression(depth - 1));
      case 7:
        return node(NodeKind::IfExp, {{Field::test, {condition(1)}},
                                      {Field::body, {expression(depth - 1)}},
                                      {Field::orelse, {expression(depth - 1)}}});
      case 8: return call(one_of({"min", "max"}), {expression(depth - 1), expression(depth - 1)});
      case 9:
        if (calls_)
          return call("function", {expression(depth - 1), expression(depth - 1), name("c")}, 1);
        return node(NodeKind::UnaryOp, {{Field::op, {node(NodeKind::USub)}},
                                        {Field::operand, {expression(depth - 1)}}});
      // Elements are NumPy's numbers, for which division by zero is no error: made Python's own.
      default: return call("int", {subscript(one_of({"x", "y"}), index())});
    }
  }

  Node index() {
    auto counter = [&] { return name(loop_names_.empty() ? "c" : loop_names_.back()); };
    switch (pick(8)) {
      case 0:
      case 1:
      case 2: return counter();
      case 3: return binary(one_of({NodeKind::Add, NodeKind::Sub}), counter(), number(pick(4)));
      case 4:
        return binary(NodeKind::Sub, call("len", {name(one_of({"x", "y"}))}),
                      binary(NodeKind::Add, counter(), number(pick(3))));
      case 5: return binary(NodeKind::Mult, counter(), number(pick(3)));
      case 6:
        return binary(NodeKind::Add, counter(),
                      name(loop_names_.size() > 1 ? loop_names_.front() : "a"));
      default: return expression(1);
    }
  }

  Node condition(int depth) {
    int64_t kind = depth <= 0 ? 0 : pick(6);
    if (kind == 4)
      return node(NodeKind::UnaryOp,
                  {{Field::op, {node(NodeKind::Not)}}, {Field::operand, {condition(depth - 1)}}});
    if (kind == 5)
      return node(NodeKind::BoolOp,
                  {{Field::op, {node(one_of({NodeKind::And, NodeKind::Or}))}},
                   {Field::values, {condition(depth - 1), condition(depth - 1)}}});
    return compare(one_of({NodeKind::Lt, NodeKind::LtE, NodeKind::Gt, NodeKind::GtE, NodeKind::Eq,
                           NodeKind::NotEq}),
                   expression(1), expression(1));
  }

  std::vector<Node> block() {
    std::vector<Node> body;
    ++depth_;
    statement(body);
    while (left_ > 0 && pick(2)) statement(body);
    --depth_;
    return body;
  }

  // A number of iterations that stays small.
  Node bound() {
    switch (pick(here_arrays_ ? 5 : 2)) {
      case 0: return number(pick(6));
      case 1: return binary(NodeKind::Mod, name(one_of({"a", "b", "c"})), number(6));
      case 2: return call("len", {name(one_of({"x", "y"}))});
      case 3:
        return binary(one_of({NodeKind::Sub, NodeKind::Add}),
                      call("len", {name(one_of({"x", "y"}))}), number(pick(3)));
      default: return name("c");
    }
  }

  void statement(std::vector<Node>& to) {
    --left_;
    bool nests = depth_ < 3 && left_ > 0;
    int64_t kind = pick(nests ? 12 : 7);
    if (kind < 4) {
      to.push_back(assign(name(variable()), expression(2)));
    } else if (kind == 4) {
      Node target =
          here_arrays_ && pick(2) ? subscript(one_of({"x", "y"}), index()) : name(variable());
      NodeKind op = one_of({NodeKind::Add, NodeKind::Sub, NodeKind::Mult});
      to.push_back(node(
          NodeKind::AugAssign,
          {{Field::target, {target}}, {Field::op, {node(op)}}, {Field::value, {expression(1)}}}));
    } else if (kind == 5) {
      if (here_arrays_)
        to.push_back(assign(subscript(one_of({"x", "y"}), index()), expression(2)));
      else
        to.push_back(assign(name(variable()), expression(3)));
    } else if (kind == 6) {
      // Leaves something early, under a condition.
      Node leaves = loop_names_.empty() ? give()
                    : pick(4)           ? node(one_of({NodeKind::Break, NodeKind::Continue}))
                                        : give();
      to.push_back(node(NodeKind::If, {{Field::test, {condition(1)}}, {Field::body, {leaves}}}));
    } else if (kind < 9) {
      std::vector<std::pair<Field, std::vector<Node>>> fields{{Field::test, {condition(2)}},
                                                              {Field::body, block()}};
      if (left_ > 0 && pick(2)) fields.emplace_back(Field::orelse, block());
      to.push_back(node(NodeKind::If, std::move(fields)));
    } else if (kind < 11 && loop_names_.size() < 2) {
      std::string counter = loop_names_.empty() ? "i" : "j";
      std::vector<Node> range;
      switch (pick(4)) {
        case 0: range = {bound()}; break;
        case 1: range = {number(pick(3)), bound()}; break;
        case 2: range = {number(pick(3)), bound(), number(1 + pick(3))}; break;
        default: range = {bound(), number(pick(3) - 1), number(-1 - pick(2))};
      }
      Node iter = call("range", std::move(range));
      loop_names_.push_back(counter);
      std::vector<Node> body = block();
      loop_names_.pop_back();
      to.push_back(node(NodeKind::For, {{Field::target, {name(counter)}},
                                        {Field::iter, {iter}},
                                        {Field::body, std::move(body)}}));
    } else if (std::find(loop_names_.begin(), loop_names_.end(), "k") == loop_names_.end()) {
      // The step comes first, so that `continue` does not leave it out.
      to.push_back(assign(name("k"), number(0)));
      Node test = compare(NodeKind::Lt, name("k"), bound());
      Node step = node(NodeKind::AugAssign, {{Field::target, {name("k")}},
                                             {Field::op, {node(NodeKind::Add)}},
                                             {Field::value, {number(1 + pick(2))}}});
      loop_names_.emplace_back("k");
      std::vector<Node> body{step};
      for (Node& n : block()) body.push_back(n);
      loop_names_.pop_back();
      to.push_back(node(NodeKind::While, {{Field::test, {test}}, {Field::body, std::move(body)}}));
    } else {
      to.push_back(assign(name(variable()), expression(1)));
    }
  }

  std::mt19937_64 random_;
  bool arrays_, here_arrays_ = false, calls_ = false;
  int depth_ = 0, left_ = 0;
  std::vector<std::string> loop_names_;
  std::vector<frontend::Source> sources_;
};

// Python's own order and meaning, but for sums and products, which wrap at 64 bits.
class Interpreter {
 public:
  explicit Interpreter(frontend::Program& p) : program_(p) {}

  struct Raised {
    std::string exception;
  };
  std::map<std::string, std::vector<int64_t>> arrays;

  int64_t call(int function, const std::vector<int64_t>& arguments) {
    const Node& f = program_.source(function).definition;
    Frame r;
    const auto& names = f.one(Field::args)->all(Field::args);
    for (size_t n = 0; n < arguments.size(); ++n) r.variables[names[n].text] = arguments[n];
    block(r, f.all(Field::body));
    return r.result;
  }

 private:
  enum class Flow { On, Break, Continue, Return };
  struct Frame {
    std::map<std::string, int64_t> variables;
    int64_t result = 0;
  };

  static int64_t arithmetic(NodeKind op, int64_t x, int64_t y) {
    auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
    switch (op) {
      case NodeKind::Add: return static_cast<int64_t>(a + b);
      case NodeKind::Sub: return static_cast<int64_t>(a - b);
      case NodeKind::Mult: return static_cast<int64_t>(a * b);
      case NodeKind::BitAnd: return x & y;
      case NodeKind::BitXor: return x ^ y;
      default: break;
    }
    if (y == 0) throw Raised{"ZeroDivisionError"};
    if (y == -1) return op == NodeKind::Mod ? 0 : static_cast<int64_t>(0 - a);
    int64_t quotient = x / y, rest = x % y;
    bool down = rest != 0 && (rest < 0) != (y < 0);
    if (op == NodeKind::Mod) return down ? rest + y : rest;
    return down ? quotient - 1 : quotient;
  }

  int64_t& element(Frame& r, const Node& n) {
    std::vector<int64_t>& a = arrays.at(n.one(Field::value)->text);
    int64_t at = value(r, *n.one(Field::slice)), size = static_cast<int64_t>(a.size());
    if (at < -size || at >= size) throw Raised{"IndexError"};
    return a[at < 0 ? at + size : at];
  }

  int64_t value(Frame& r, const Node& n) {
    switch (n.kind) {
      case NodeKind::Constant: return n.literal.number.i;
      case NodeKind::Name: return r.variables.at(n.text);
      case NodeKind::BinOp: {
        int64_t a = value(r, *n.one(Field::left)), b = value(r, *n.one(Field::right));
        return arithmetic(n.one(Field::op)->kind, a, b);
      }
      case NodeKind::UnaryOp: {
        int64_t v = value(r, *n.one(Field::operand));
        return n.one(Field::op)->kind == NodeKind::Not ? !v : arithmetic(NodeKind::Sub, 0, v);
      }
      case NodeKind::Compare: {
        int64_t a = value(r, *n.one(Field::left)), b = value(r, *n.one(Field::comparators));
        switch (n.one(Field::ops)->kind) {
          case NodeKind::Lt: return a < b;
          case NodeKind::LtE: return a <= b;
          case NodeKind::Gt: return a > b;
          case NodeKind::GtE: return a >= b;
          case NodeKind::Eq: return a == b;
          default: return a != b;
        }
      }
      case NodeKind::BoolOp: {
        bool all = n.one(Field::op)->kind == NodeKind::And;
        for (const Node& v : n.all(Field::values))
          if ((value(r, v) != 0) != all) return !all;
        return all;
      }
      case NodeKind::IfExp:
        return value(r, *n.one(value(r, *n.one(Field::test)) ? Field::body : Field::orelse));
      case NodeKind::Subscript: return element(r, n);
      case NodeKind::Call: {
        const Node& f = *n.one(Field::func);
        const auto& given = n.all(Field::args);
        if (f.text == "len") return static_cast<int64_t>(arrays.at(given[0].text).size());
        std::vector<int64_t> args;
        for (const Node& a : given) args.push_back(value(r, a));
        if (f.text == "min") return std::min(args[0], args[1]);
        if (f.text == "max") return std::max(args[0], args[1]);
        if (f.text == "int") return args[0];
        return call(f.number, args);
      }
      default: throw std::logic_error("an expression that is not made");
    }
  }

  Flow block(Frame& r, const std::vector<Node>& body) {
    for (const Node& n : body)
      if (Flow f = statement(r, n); f != Flow::On) return f;
    return Flow::On;
  }

  // Whether the loop goes on; `flow` is what the statement as a whole does.
  bool iteration(Frame& r, const Node& n, Flow& flow) {
    flow = block(r, n.all(Field::body));
    bool on = flow == Flow::On || flow == Flow::Continue;
    if (flow != Flow::Return) flow = Flow::On;
    return on;
  }

  Flow statement(Frame& r, const Node& n) {
    Flow flow = Flow::On;
    switch (n.kind) {
      case NodeKind::Assign: {
        int64_t v = value(r, *n.one(Field::value));
        const Node& to = *n.one(Field::targets);
        (to.kind == NodeKind::Name ? r.variables[to.text] : element(r, to)) = v;
        return flow;
      }
      case NodeKind::AugAssign: {
        const Node& to = *n.one(Field::target);
        int64_t& cell = to.kind == NodeKind::Name ? r.variables[to.text] : element(r, to);
        int64_t before = cell;
        cell = arithmetic(n.one(Field::op)->kind, before, value(r, *n.one(Field::value)));
        return flow;
      }
      case NodeKind::If:
        return block(r, n.all(value(r, *n.one(Field::test)) ? Field::body : Field::orelse));
      case NodeKind::For: {
        std::vector<int64_t> range;
        for (const Node& a : n.one(Field::iter)->all(Field::args)) range.push_back(value(r, a));
        int64_t step = range.size() > 2 ? range[2] : 1;
        int64_t i = range.size() > 1 ? range[0] : 0;
        int64_t stop = range.size() > 1 ? range[1] : range[0];
        for (; step > 0 ? i < stop : i > stop; i += step) {
          r.variables[n.one(Field::target)->text] = i;
          if (!iteration(r, n, flow)) break;
        }
        return flow;
      }
      case NodeKind::While:
        while (value(r, *n.one(Field::test)))
          if (!iteration(r, n, flow)) break;
        return flow;
      case NodeKind::Break: return Flow::Break;
      case NodeKind::Continue: return Flow::Continue;
      case NodeKind::Return: r.result = value(r, *n.one(Field::value)); return Flow::Return;
      default: throw std::logic_error("a statement that is not made");
    }
  }

  frontend::Program& program_;
};

}  // namespace numbus::test
