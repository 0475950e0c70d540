// Compiled functions at addresses that C calls: each has a few instructions of its own, which name
// it and go on to what all share. There Python is asked for only where a function raises or prints.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>

#include "compile/compiler.h"
#include "compile/leave.h"
#include "compile/runtime.h"
#include "frontend.h"
#include "in_progress.h"
#include "passes/pipeline.h"

namespace numbus::bindings {
namespace {

using frontend::Type;

constexpr size_t kMostParameters = 32;
// Of what a pointer leads to: nobody knows how many items there are.
constexpr int64_t kWithoutEnd = int64_t{1} << 44;

// It lives as long as the process, since nobody knows for how long C has its address.
struct CEntry {
  std::string name;
  frontend::Result result;
  compile::CompiledFunction code;
  struct Parameter {
    DType dtype;
    bool pointer;
  };
  std::vector<Parameter> parameters;
};

// The registers of a call by the System V ABI, as numbus_c_entry keeps them.
struct Registers {
  static constexpr size_t kIntegers = 6, kFloats = 8;
  uint64_t integers[kIntegers], floats[kFloats];
};

// What C passes in the low bytes of a register, as the entry of compiled code takes it.
int64_t word_of(uint64_t bits, DType t) {
  const int size = 8 * itemsize(t);
  if (t == DType::Bool) return (bits & 255) != 0;
  if (size == 64) return static_cast<int64_t>(bits);
  const uint64_t low = bits & ((uint64_t{1} << size) - 1);
  const bool negative = is_signed(t) && !is_float(t) && low >> (size - 1);
  return static_cast<int64_t>(negative ? low | ~uint64_t{0} << size : low);
}

void complain(const CEntry& e, const int64_t* context, int32_t status, std::string& text) {
  if (Py_IsInitialized() == 0) return;
  nb::gil_scoped_acquire held;
  try {
    if (status == compile::kInterrupted) raise_interrupted(text);
    if (!text.empty()) nb::module_::import_("sys").attr("stdout").attr("write")(text);
    if (status) raise_noted(e.result.sites, context, false);
  } catch (nb::python_error& error) {
    error.restore();
    const nb::object name =
        nb::str(("the compiled function '" + e.name + "', which C called").c_str());
    PyErr_WriteUnraisable(name.ptr());
  } catch (const std::exception& error) {
    PySys_WriteStderr("[%s] %s\n", e.name.c_str(), error.what());
  }
}

}  // namespace

// The result's bits; zero where the function has raised.
extern "C" __attribute__((used, visibility("hidden"))) uint64_t
numbus_c_call(const CEntry* e, const Registers* registers, const uint64_t* stack) {
  std::array<int64_t, 4 * kMostParameters> words;
  size_t integers = 0, floats = 0, at = 0;
  for (const CEntry::Parameter& p : e->parameters) {
    const bool real = is_float(p.dtype) && !p.pointer;
    uint64_t bits = 0;
    if (real && floats < Registers::kFloats)
      bits = registers->floats[floats++];
    else if (!real && integers < Registers::kIntegers)
      bits = registers->integers[integers++];
    else
      bits = *stack++;
    if (!p.pointer) {
      words[at++] = word_of(bits, p.dtype);
      continue;
    }
    // An array's words: address, owner, extent and stride.
    for (int64_t w : {static_cast<int64_t>(bits), int64_t{0}, kWithoutEnd,
                      static_cast<int64_t>(itemsize(p.dtype))})
      words[at++] = w;
  }
  int64_t context[compile::kContextWords] = {}, result = 0;
  compile::Output output;
  context[compile::kOutput] = reinterpret_cast<int64_t>(&output);
  context[compile::kSites] = reinterpret_cast<int64_t>(&e->result.sites);
  const int32_t status =
      compile::interruptible([&] { return e->code.function(context, words.data(), &result); });
  if (status == compile::kTooDeep) context[compile::kSite] = status;
  if (status || !output.text.empty()) [[unlikely]] {
    complain(*e, context, status, output.text);
    if (status) return 0;
  }
  return static_cast<uint64_t>(result);
}

#if defined(__x86_64__)
// r11 is the function's CEntry.
asm(R"(
.text
.p2align 4
.globl numbus_c_entry
.hidden numbus_c_entry
.type numbus_c_entry, @function
numbus_c_entry:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $112, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movsd %xmm0, 48(%rsp)
  movsd %xmm1, 56(%rsp)
  movsd %xmm2, 64(%rsp)
  movsd %xmm3, 72(%rsp)
  movsd %xmm4, 80(%rsp)
  movsd %xmm5, 88(%rsp)
  movsd %xmm6, 96(%rsp)
  movsd %xmm7, 104(%rsp)
  movq %r11, %rdi
  movq %rsp, %rsi
  leaq 16(%rbp), %rdx
  call numbus_c_call
  movq %rax, %xmm0
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
.size numbus_c_entry, . - numbus_c_entry
)");
extern "C" __attribute__((visibility("hidden"))) void numbus_c_entry();
static_assert(sizeof(Registers) == 112);
#endif

namespace {

// An address that C calls for this function: it loads r11, and jumps. Pages of such code are never
// given back.
uint64_t address_for(const CEntry* e) {
#if defined(__x86_64__)
  unsigned char code[] = {0x49, 0xBB, 0, 0, 0, 0, 0, 0, 0, 0,  // movabs e, %r11
                          0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0,  // movabs numbus_c_entry, %rax
                          0xFF, 0xE0};                         // jmp *%rax
  void (*to)() = numbus_c_entry;
  std::memcpy(code + 2, static_cast<const void*>(&e), 8);
  std::memcpy(code + 12, static_cast<const void*>(&to), 8);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) raise(ErrorKind::Memory, "[cfunc] no memory for a function's address");
  std::memcpy(memory, code, sizeof code);
  if (mprotect(memory, page, PROT_READ | PROT_EXEC) != 0)
    raise(ErrorKind::Runtime, "[cfunc] the system lets no code be made");
  return reinterpret_cast<uint64_t>(memory);
#else
  raise(ErrorKind::NotImplemented, e->name, "not yet: functions that C calls on this processor",
        "another one", "x86-64");
#endif
}

// Compiles for these types, and gives the address. `function`: what gives its number.
uint64_t c_function(nb::object function, nb::dict options, const std::string& name, nb::list types,
                    nb::object result) {
  auto made = std::make_unique<CEntry>();
  made->name = name;
  std::vector<Type> all;
  for (nb::handle t : types) {
    all.push_back(to_type(t));
    made->parameters.push_back({all.back().dtype, all.back().is_array()});
  }
  if (all.size() > kMostParameters)
    raise(ErrorKind::NotImplemented, name, "not yet: so many parameters of a function that C calls",
          std::to_string(all.size()), "at most " + std::to_string(kMostParameters));
  frontend::Options how = to_options(options);
  how.returns = to_type(result);
  const int number = function_number(function);
  try {
    made->result = frontend::compile(PythonProgram::get(), number, all, how);
  } catch (const frontend::CompileError& error) {
    raise_compile_error(error);
  }
  expect_result(name, made->result.result, how.returns);
  run_passes(made->result.module);
  made->code = compile::compile_function(made->result.module);
  const uint64_t address = address_for(made.get());
  made.release();  // NOLINT(bugprone-unused-return-value): it lives as long as the process
  return address;
}

}  // namespace

void bind_c_entries(nb::module_& m) {
  m.def("c_function", &c_function, nb::arg("function"), nb::arg("options"), nb::arg("name"),
        nb::arg("types"), nb::arg("result"));
}

}  // namespace numbus::bindings
