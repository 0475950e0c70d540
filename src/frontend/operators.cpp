// The functions of Python's operator module, and what else of its library stands for an operation.
#include <unordered_map>

#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::call_operator(const Call& c, const std::string& name) {
  const Node& n = c.n;
  static const std::unordered_map<std::string, Op> kBinary = {
      {"add", Op::add},          {"sub", Op::subtract},       {"mul", Op::multiply},
      {"truediv", Op::divide},   {"mod", Op::remainder},      {"floordiv", Op::floor_divide},
      {"pow", Op::power},        {"lshift", Op::left_shift},  {"rshift", Op::right_shift},
      {"and_", Op::bitwise_and}, {"or_", Op::bitwise_or},     {"xor", Op::bitwise_xor},
      {"iadd", Op::add},         {"isub", Op::subtract},      {"imul", Op::multiply},
      {"itruediv", Op::divide},  {"imod", Op::remainder},     {"ifloordiv", Op::floor_divide},
      {"ipow", Op::power},       {"ilshift", Op::left_shift}, {"irshift", Op::right_shift},
      {"iand", Op::bitwise_and}, {"ior", Op::bitwise_or},     {"ixor", Op::bitwise_xor}};
  static const std::unordered_map<std::string, Op> kUnary = {{"neg", Op::negative},
                                                             {"pos", Op::positive},
                                                             {"invert", Op::invert},
                                                             {"inv", Op::invert},
                                                             {"abs", Op::absolute}};
  static const std::unordered_map<std::string, NodeKind> kComparisons = {
      {"lt", NodeKind::Lt},    {"le", NodeKind::LtE},      {"eq", NodeKind::Eq},
      {"ne", NodeKind::NotEq}, {"gt", NodeKind::Gt},       {"ge", NodeKind::GtE},
      {"is_", NodeKind::Is},   {"is_not", NodeKind::IsNot}};
  if (auto it = kBinary.find(name); it != kBinary.end()) {
    expect(c, "operator." + name, 2, 2);
    Value r = operation(n, it->second, c.args[0], c.args[1]);
    bool in_place = name[0] == 'i' && c.args[0].type.is_array();
    if (!in_place) return r;
    fill(n, c.args[0], r);
    return c.args[0];
  }
  if (auto it = kUnary.find(name); it != kUnary.end()) {
    expect(c, "operator." + name, 1, 1);
    return unary(n, it->second, c.args[0]);
  }
  if (auto it = kComparisons.find(name); it != kComparisons.end()) {
    expect(c, "operator." + name, 2, 2);
    return compare_one(n, it->second, c.args[0], c.args[1]);
  }
  if (name == "matmul") return call_named(c, "np.matmul");
  if (name == "imatmul") {
    expect(c, "operator." + name, 2, 2);
    Value r = call_named(c, "np.matmul");
    if (r.unknown() || !c.args[0].type.is_array() || !r.type.is_array()) return r;
    fill(n, c.args[0], r);
    return c.args[0];
  }
  if (name == "truth" || name == "not_") {
    expect(c, "operator." + name, 1, 1);
    Val yes = truth(n, c.args[0]);
    return boolean(name == "truth" ? yes : negate(yes));
  }
  if (name == "getitem") {
    expect(c, "operator." + name, 2, 2);
    return index(n, c.args[0], c.args[1]);
  }
  if (name == "contains") {
    expect(c, "operator." + name, 2, 2);
    return compare_one(n, NodeKind::In, c.args[1], c.args[0]);
  }
  not_yet(n, "operator." + name);
}

}  // namespace numbus::frontend
