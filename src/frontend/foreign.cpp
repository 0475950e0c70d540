// Calls of C functions that the program has by `ctypes`.
#include <sstream>

#include "frontend/lower.h"

namespace numbus::frontend {

// A code of a parameter is "n" and the number of a type, or "p" and that of what it points to, or
// "p" alone. `given` may be an array's `ctypes`.
Value Lower::foreign_argument(const Node& n, const std::string& name, const Value& given,
                              const std::string& code, size_t position) {
  const bool pointer = code[0] == 'p', any = code.size() == 1;
  const DType t = any ? DType::I64 : static_cast<DType>(std::stoi(code.substr(1)));
  auto wrong = [&](const std::string& expected) {
    const Type& got = given.items.empty() ? given.type : given.items[0].type;
    fail(n, "argument " + std::to_string(position + 1) + " of " + name + "() is " + expected +
                "; got " + frontend::name(got));
  };
  if (!pointer) {
    if (!given.type.is_number() || is_complex(given.type.dtype)) wrong("a number");
    if (!is_float(t) && is_float(given.type.dtype) && t != DType::Bool) wrong("an integer");
    if (t == DType::Bool) return boolean(truth(n, given));
    return cast(n, given, t);
  }
  if (any && given.type.is_integer()) return integer(index_value(n, given));
  if (!given.type.is(Type::Tag::Module) || given.type.text != "ctypes")
    wrong(any ? "an address: x.ctypes of an array" : "x.ctypes of an array");
  if (given.items.empty()) not_yet(n, "an array's ctypes under a name", "x.ctypes");
  Value a = given.items[0];
  if (is_plain_list(a)) wrong("x.ctypes of an array");
  if (a.lazy) a = materialise(n, a);
  if (a.unknown()) return {};
  if (!any && a.type.dtype != t)
    wrong("x.ctypes of an array of " + frontend::name(Type::number_of(t)));
  if (a.type.frozen) not_yet(n, "the address of a global array", "pass it as an argument");
  written_ |= origin_of(a);
  return integer(a.v[0]);
}

// text: the address, the function's name, the code of its result ("n" and the number of a type, or
// "v"), and those of its parameters.
Value Lower::call_foreign(const Call& c, const std::string& text) {
  if (u_.options.kernel) not_yet(c.n, "a C function in a kernel");
  std::istringstream words(text);
  int64_t address = 0;
  std::string name, result, code;
  words >> address >> name >> result;
  std::vector<std::string> codes;
  while (words >> code) codes.push_back(code);
  if (!c.keywords.empty()) fail(c.n, name + "() takes no keywords");
  expect(c, name, codes.size(), codes.size());
  std::vector<Val> all;
  for (size_t k = 0; k < codes.size(); ++k) {
    refuse_none(c.n, c.args[k], "as an argument of " + name + "()");
    const Value a = foreign_argument(c.n, name, c.args[k], codes[k], k);
    if (a.unknown()) return {};
    // As ctypes calls: integers fill the 64 bits of their register.
    const bool narrow = !is_float(a.type.dtype) && itemsize(a.type.dtype) < 8;
    all.push_back(narrow ? as(a, DType::I64) : a.v[0]);
  }
  const bool nothing = result == "v";
  const DType t = nothing ? DType::I32 : static_cast<DType>(std::stoi(result.substr(1)));
  const Val at = ci(address);  // nothing stands between arguments and their call
  for (Val v : all) b_->emit(Op::argument, b_->type(v), v);
  const Val r = intrinsic(ir::Intrinsic::foreign, t, at);
  if (nothing) return none();
  if (t == DType::Bool) return boolean(r);
  if (is_float(t)) return cast(c.n, number(r, t, true), DType::F64, true);
  // Python's number; what may not fit into an int64 is one of NumPy's.
  return t == DType::U64 ? number(r, t) : cast(c.n, number(r, t, true), DType::I64, true);
}

}  // namespace numbus::frontend
