// Calls of C functions that the program has by `ctypes`, and of functions that are linked to
// kernels.
#include <algorithm>
#include <iterator>
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
  // In a kernel an array is what ffi.from_buffer() gives of one.
  const bool buffer = u_.options.kernel && given.type.is_array();
  if (!buffer && (!given.type.is(Type::Tag::Module) || given.type.text != "ctypes"))
    wrong(any ? "an address: x.ctypes of an array" : "x.ctypes of an array");
  if (!buffer && given.items.empty()) not_yet(n, "an array's ctypes under a name", "x.ctypes");
  Value a = buffer ? given : given.items[0];
  if (is_plain_list(a)) wrong("x.ctypes of an array");
  if (a.lazy) a = materialise(n, a);
  if (a.unknown()) return {};
  if (!any && a.type.dtype != t)
    wrong("x.ctypes of an array of " + frontend::name(Type::number_of(t)));
  if (buffer && a.type.ndim > 0 && a.type.order == Order::Any) wrong("a contiguous array");
  if (a.type.is_array() && a.type.space == ir::Space::Shared)
    not_yet(n, "the address of shared memory", "an array in global or local memory");
  if (a.type.frozen) not_yet(n, "the address of a global array", "pass it as an argument");
  written_ |= origin_of(a);
  return integer(a.v[0]);
}

// Passes on what each parameter gets; codes: one a parameter, as call_foreign says. False where the
// type of an argument is not known yet.
bool Lower::foreign_arguments(const Call& c, const std::string& name, std::istream& codes,
                              const std::function<void(const Value&)>& pass) {
  using Words = std::istream_iterator<std::string>;
  const std::vector<std::string> all(Words{codes}, Words{});
  if (!c.keywords.empty()) fail(c.n, name + "() takes no keywords");
  expect(c, name, all.size(), all.size());
  for (size_t k = 0; k < all.size(); ++k) {
    refuse_none(c.n, c.args[k], "as an argument of " + name + "()");
    const Value a = foreign_argument(c.n, name, c.args[k], all[k], k);
    if (a.unknown()) return false;
    pass(a);
  }
  return true;
}

// text: the address, the function's name, the code of its result ("n" and the number of a type, or
// "v"), and those of its parameters.
Value Lower::call_foreign(const Call& c, const std::string& text) {
  if (u_.options.kernel) not_yet(c.n, "a C function in a kernel");
  std::istringstream words(text);
  int64_t address = 0;
  std::string name, result;
  words >> address >> name >> result;
  std::vector<Val> all;
  const bool known = foreign_arguments(c, name, words, [&](const Value& a) {
    // As ctypes calls: integers fill the 64 bits of their register.
    const bool narrow = !is_float(a.type.dtype) && itemsize(a.type.dtype) < 8;
    all.push_back(narrow ? as(a, DType::I64) : a.v[0]);
  });
  if (!known) return {};
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

namespace {

// C passes integers below 32 bits as words of 32.
DType as_passed(DType t) {
  if (is_float(t) || itemsize(t) >= 4) return t;
  return is_signed(t) ? DType::I32 : DType::U32;
}

}  // namespace

// text: the function's name, its ABI ("numba": the first parameter is where the result goes, and
// what it returns says whether it failed; "c"), the number of what is to be linked, and codes as
// those of call_foreign.
Value Lower::call_external(const Call& c, const std::string& text) {
  std::istringstream words(text);
  std::string name, abi, result;
  int link = 0;
  words >> name >> abi >> link >> result;
  if (!u_.options.kernel)
    fail(c.n, name + "() is code for a GPU, which only kernels call", "decorate with @cuda.jit");
  std::vector<Val> all;
  const bool typed = foreign_arguments(c, name, words, [&](const Value& a) {
    all.push_back(b_->cast(a.v[0], as_passed(b_->type(a.v[0]))));
  });
  if (!typed) return {};
  if (link) u_.result.links.insert(link);
  const bool nothing = result == "v";
  // In C's ABI a function without a result is another type of function.
  const std::string named = nothing && abi == "c" ? ir::kWithoutResult + name : name;
  auto& names = u_.result.module.externals;
  auto known = std::ranges::find(names, named);
  if (known == names.end()) known = names.insert(known, named);
  const int64_t which = known - names.begin();
  auto emit = [&](DType t) {
    for (Val v : all) b_->emit(Op::argument, b_->type(v), v);
    return intrinsic(ir::Intrinsic::external, t, ir::kNone, ir::kNone, ir::kNone, ir::Space::Global,
                     which);
  };
  const DType t = nothing ? DType::I32 : static_cast<DType>(std::stoi(result.substr(1)));
  if (abi == "c") {
    const Val r = b_->cast(emit(as_passed(t)), t);
    return nothing ? none() : t == DType::Bool ? boolean(r) : number(r, t);
  }
  auto [memory, fresh] = u_.memories.try_emplace({spec_.function, c.n.line, c.n.col},
                                                 static_cast<int>(u_.memories.size()));
  constexpr int64_t kBytes = 8;
  const Val at = intrinsic(ir::Intrinsic::local_memory, DType::I64, ci(memory->second), ir::kNone,
                           ir::kNone, ir::Space::Local, kBytes);
  all.insert(all.begin(), at);
  const Val status = emit(DType::I32);
  const int failed = site(c.n, "RuntimeError",
                          "[" + name + "] the linked function failed; got status {0}; expected 0");
  const Val zero = b_->constant(DType::I32, Scalar::from_int(0));
  when(b_->emit(Op::not_equal, DType::Bool, status, zero),
       [&] { raise_at(failed, b_->cast(status, DType::I64)); });
  if (nothing) return none();
  const Val r = b_->emit(Op::read, t, at, ci(0), ir::kNone, static_cast<int64_t>(ir::Space::Local));
  return t == DType::Bool ? boolean(r) : number(r, t);
}

// ffi.from_buffer(array) in a kernel: the array, which stands for its address as an argument.
Value Lower::buffer_of(const Call& c) {
  if (!u_.options.kernel) not_yet(c.n, "ffi.from_buffer()", "x.ctypes for functions of ctypes");
  if (!c.keywords.empty()) fail(c.n, "from_buffer() takes no keywords");
  expect(c, "from_buffer", 1, 1);
  if (!c.args[0].type.is_array() || c.args[0].lazy)
    fail(c.n, "from_buffer() takes an array; got " + frontend::name(c.args[0].type));
  return c.args[0];
}

// What a function returns that others' code calls.
Value Lower::result_for_others(const Node& n, const Value& r) {
  const auto& wanted = u_.options.returns;
  const bool nothing = r.type.is(Type::Tag::None);
  if (wanted && wanted->is(Type::Tag::None) != nothing)
    fail(n, "the signature says that it returns " + frontend::name(*wanted) + "; this returns " +
                frontend::name(r.type));
  if (nothing) return r;
  const DType t = wanted ? wanted->dtype : r.type.dtype;
  if (!r.type.is_number() || is_complex(t) || is_half(t) || is_complex(r.type.dtype))
    not_yet(n, "returning " + frontend::name(r.type) + " to others' code",
            "store it through a CPointer");
  return wanted ? cast(n, r, t) : r;
}

}  // namespace numbus::frontend
