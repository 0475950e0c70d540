// Functions: kernel IR with variables, control flow, memory and calls, for code that users write.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"

namespace numbus::ir {

// Marks a select as that of an index, which counts from the end where it is negative.
constexpr int64_t kFromEnd = 1;
// Marks a select as that of a remainder, which takes the divisor's sign.
constexpr int64_t kRemainder = 2;
// Marks a branch as the check of an index: what is in it notes the error and leaves the function.
constexpr int64_t kBounds = 1;
// Marks a branch or a loop as one that rarely runs.
constexpr int64_t kRare = 2;
// Marks a loop worth doing several iterations at a time, though a check may leave it.
constexpr int64_t kUnrolled = 3;
// Marks a loop over the lanes of a reduction: kLanes iterations, which are independent.
constexpr int64_t kLaneLoop = 4;

// Which memory an address lies in. Global is whatever a plain pointer reaches.
enum class Space : uint8_t { Global, Shared, Local };

// What the arithmetic rows cannot say. Operands are a, b, c and the arguments before the step.
enum class Intrinsic : uint8_t {
  // Position in a launch, as int32: x, y and z follow each other.
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpsize,
  // Barriers of a block; those with a predicate give what all threads said, as int32.
  barrier,
  barrier_count,
  barrier_and,
  barrier_or,
  grid_barrier,
  fence_block,
  fence,
  fence_system,
  // Warps: a mask of threads first.
  syncwarp,
  activemask,
  shfl_idx,
  shfl_up,
  shfl_down,
  shfl_xor,
  all_sync,
  any_sync,
  eq_sync,
  ballot,
  match_any,  // number: in a kernel that is not checked, how many low bits may differ; 0: all
  match_all,
  lanemask_lt,
  // Bits.
  clz,
  brev,
  ffs,
  nanosleep,
  // Memory: the address of storage that exists once a block or once a thread (a constant number of
  // bytes), or that the launch sizes.
  shared_memory,
  local_memory,
  dynamic_shared,
  constant_memory,
  // a: address, b: operand; compare_and_swap takes the expected value as c. The old value.
  atomic_add,
  atomic_sub,
  atomic_and,
  atomic_or,
  atomic_xor,
  atomic_inc,
  atomic_dec,
  atomic_exch,
  atomic_max,
  atomic_min,
  atomic_nanmax,
  atomic_nanmin,
  atomic_load,  // no operand: what is there now, whatever was read before
  atomic_cas,
  fma,
  // Reference-counted memory of arrays made inside functions: bytes to owner; owner to address.
  allocate,
  data_of,
  retain,
  release,
  // Lists: the owner of a header (compile/runtime.h) of b items in the memory that the owner a
  // counts, 0 for none; number: what an item is (stored_item).
  // resize: the list a has b items from now on, new ones without a value.
  list,
  resize,
  // A dict without entries; number: what an entry is (stored_item). dict_step: a change of the
  // dict a (number: DictStep) that concerns the entry b; 0 where there is not enough memory.
  dict,
  dict_step,
  // a: site, b and c: values for the message. The first error of a launch is kept. number 1: all
  // lanes end here.
  fail,
  // The error that has been noted, as int64; number: Noted. a: for SetCause, SetCaller.
  caught,
  // Runs the portion with that number over [0, a), b indices at a time, on several threads; the
  // arguments before are its parameters after the range. The status.
  parallel,
  // Text and numbers for standard output: a: what, by kind of the argument.
  print_text,
  print_int,
  print_float,
  print_end,
  // Of strings, whose characters have four bytes each; number: Text. An integer.
  text,
  // Of a body that runs on several lanes: this one's number, how many there are, and all lanes'
  // values of a merged in their order (number: the row). One lane where they are not used.
  lane_index,
  lane_count,
  lane_merge,
  // Of a kernel that is checked as it runs (Module::debug). watch: a is the address in the block's
  // memory that the next step uses, b what it writes there; number: watched_access(). leaves: the
  // thread ends at the site `number`. Barriers and warp operations have theirs as number, too; 0
  // is none.
  watch,
  leaves,
  // NumPy's random numbers, of the thread's own state; number: Random.
  random,
  // A call of the layers above (base/host_call.h), number: which; the arguments before, int64, are
  // its words. What it says.
  host_call,
  // A call of the C function at the address a, with the arguments before, which are not narrower
  // than 32 bits. What it returns; of one that returns nothing, an int32 without a meaning.
  foreign,
  // Generators (Function::generator). generator: one of the function `number`, which begins with
  // the arguments before, after its first parameter; the owner of its frame, 0 where there is not
  // enough memory. resume: lets the generator a, an owner, go on; what became of it: Resumed.
  // yields: in a generator, ends this step of it; whether nobody wants the next one.
  generator,
  resume,
  yields,
  // What loops that follow CPython to the letter need (python/numbus/loops), number: Strict.
  strict,
  // Whether a GPU runs it, a constant of the code that is made.
  on_gpu,
  // Of a warp of a GPU: c + a @ b of 16 x 8 and 8 x 8 numbers in TF32, of which each thread has
  // four
  // and two, as PTX's mma.m16n8k8 lays them out; the arguments are those and four of c, float32.
  // number: which of the thread's four results. On a CPU it is not reached (see on_gpu).
  mma_tf32,
  // In a kernel for a GPU: a call of the function that the module's externals name (number), which
  // code that is linked has, with the arguments before. What it returns; of one that returns
  // nothing, an int32 without a meaning.
  external,
};
// Whether the sum, the difference, the product of a and b, int64, does not fit; whether a signal
// has come in: functions that ask have no polls of other kinds; C's functions of float64, which
// CPython calls, too: those of two arguments are the last.
// clang-format off
#define NUMBUS_C_FUNCTIONS_OF_ONE(X) \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) \
  X(atanh) X(exp) X(expm1) X(log) X(log2) X(log10) X(log1p)
#define NUMBUS_C_FUNCTIONS_OF_TWO(X) X(pow) X(atan2) X(fmod)
#define NUMBUS_C_FUNCTIONS(X) NUMBUS_C_FUNCTIONS_OF_ONE(X) NUMBUS_C_FUNCTIONS_OF_TWO(X)
// clang-format on
enum class Strict : uint8_t {
  add_overflows,
  sub_overflows,
  mul_overflows,
  interrupted,
#define X(name) c_##name,
  NUMBUS_C_FUNCTIONS(X)
#undef X
};
constexpr int strict_operands(Strict s) {
  return s == Strict::interrupted ? 0 : s < Strict::interrupted || s >= Strict::c_pow ? 2 : 1;
}
// 32 bits, as uint32; a number of [0, 1), as float64; a new beginning from the seed a; the address
// of two float64 that belong to the state; a new beginning as Python's random.seed(a).
// Word, Half, Unit64: of the generator at address a (compile/random.h): 64 bits, 32, a float64 of
// [0, 1). Log1p, Exp: of a, as the C library has them, which NumPy's generators call.
// The last ones are the C library's functions that NumPy's generators call, those of float32 with
// an f.
enum class Random : uint8_t {
  Bits,
  Unit,
  Seed,
  Kept,
  PythonSeed,
  Word,
  Half,
  Unit64,
  Log1p,
  Exp,
  Log,
  Expm1,
  Cos,
  Acos,
  Pow,
  Log1pf,
  Expf,
  Logf,
  Powf
};
// print: prints the b characters at address a. of_float: writes the number whose bits are a as text
// to address b, in the form c (compile/runtime.h), and gives its length. to_float: gives whether
// the b characters at a are a number, and stores that as a float64 at c.
// Room: of a string's memory a, whether there is only this reference to it (1), and room up to the
// address b (2).
enum class Text : uint8_t { Print, OfFloat, ToFloat, Room };
// Room for one more entry; no gaps left by entries that were taken out; no entries; without the
// entry b.
enum class DictStep : uint8_t { Grow, Settle, Clear, Drop };
// What a generator has come to: a value, its end, an error that is noted; it is running already.
enum class Resumed : uint8_t { Yielded, Ended, Failed, Running };
// What is asked of the error that is noted: its site, its values, what numbers of sites stand for;
// or done: none is noted from now on, its cause is a, it has none any more and the owner is given,
// the program's line that called what has raised it is that of site a - 1.
enum class Noted : uint8_t { Site, First, Second, Sites, Forget, SetCause, TakeCause, SetCaller };
// Words at the beginning of a generator's frame, at the address that is its first parameter: for
// those who run it (compile/runtime.h), then the value that it has yielded.
constexpr int64_t kGeneratorWords = 8;
// An item of a list or an entry of a dict: its bytes, and which of its words are owners, a bit
// each.
constexpr int64_t stored_item(int64_t bytes, int64_t owners) { return bytes << 32 | owners; }
constexpr int64_t item_bytes(int64_t item) { return item >> 32; }
constexpr uint32_t item_owners(int64_t item) { return static_cast<uint32_t>(item); }
// Words that an item may have: number_of() has 48 bits.
constexpr size_t kItemWords = 32;
// A use of memory, and at which line of the source (a site's number, and 1).
enum class Access : uint8_t { Read, Write, Atomic };
constexpr int64_t watched_access(Access a, int64_t site) {
  return static_cast<int64_t>(a) | site << 2;
}
constexpr Access access_of(int64_t watched) { return static_cast<Access>(watched & 3); }
constexpr int64_t site_of(int64_t watched) { return watched >> 2; }
const char* intrinsic_name(Intrinsic i);
// The step's imm: which intrinsic, in which memory, and a number where one belongs to it.
constexpr int64_t intrinsic_imm(Intrinsic i, Space s = Space::Global, int64_t number = 0) {
  return static_cast<int64_t>(i) | static_cast<int64_t>(s) << 8 | number << 16;
}
constexpr Intrinsic intrinsic_of(const Inst& i) { return static_cast<Intrinsic>(i.imm & 255); }
constexpr Space space_of(const Inst& i) { return static_cast<Space>(i.imm >> 8 & 255); }
constexpr int64_t number_of(const Inst& i) { return i.imm >> 16; }

// A call gives a status and its results. The context is passed along unseen: where errors are
// noted.
struct Function {
  std::string name;
  std::vector<DType> params, results;
  std::vector<Inst> body;
  bool recursive = false;
  // A portion of a parallel loop: its first two parameters are the range of indices it covers.
  bool portion = false;
  // Runs until it yields, and goes on from there when it is resumed; its first parameter is the
  // address of its frame's words. `results` are the words of what it yields.
  bool generator = false;
  // Not the user's own: where there is much of it, large functions with loops are not expanded
  // where they are called (compile/function.h, stays_apart).
  bool library = false;
};

// Before the names of external functions without a result.
inline constexpr const char* kWithoutResult = "void ";

// Functions that belong together; the first one is called from outside. As an entry it takes its
// parameters as an array of 64-bit words, two for complex numbers, and leaves its results likewise.
struct Module {
  std::vector<Function> functions;
  std::vector<std::string> texts;      // of print
  std::vector<std::string> constants;  // bytes of arrays that the functions see as globals
  // Names of functions that other code for the GPU has, with kWithoutResult before those of void
  // ones, whose calls are zero.
  std::vector<std::string> externals;
  bool kernel = false;  // a launch over a grid, which gives nothing back
  bool fastmath = false;
  // Whether loops that count may take long, on a GPU (compile/polls.h).
  bool long_loops = true;
  bool debug = false;
  int max_threads = 0, min_blocks = 0, max_registers = 0;

  std::string key() const;
};

// Raises RuntimeError with the first violated rule and the steps: operands exist, are defined
// before their use and in a scope that is still open, and have the types that the step demands;
// branches, loops and calls match. The second form checks a function that calls into the module
// without being a part of it: one whose calls are inlined, or one that is recorded.
void verify(const Module& m);
void verify(const Function& f, const Module& m);
std::string print(const Function& f);
std::string print(const Module& m);

}  // namespace numbus::ir
