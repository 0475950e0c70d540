// What np.errstate asks for, and the floating-point errors that are still to be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/float_flags.h"
#include "lazy/window.h"

namespace numbus::float_errors {

struct Finding;

// Of this thread.
struct State {
  bool checked = false;          // NumPy does each operation first
  bool asking = false;           // what NumPy has been asked is being done
  uint8_t warned = flags::kAll;  // the kinds to be warned of, where an operation is called
  uint8_t told = 0;              // the same, of the instructions that are recorded now
  bool of_tensors = false;       // what is recorded is a function's of tensors
  bool watched = false;          // the flags are read once the present work has been done
  // What warnings of the instructions that are recorded now say that they were met in; null: each
  // operation; of no letters: NumPy computes what has no axes with its scalars. Never freed.
  const char* told_as = nullptr;
  Finding* finding = nullptr;  // takes what is met by the instruction that is carried out now
};
// Each call of an operation asks several times: the loader's function for thread-local variables
// would be most of what that costs.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local State state;

// While it lives, warnings of what is recorded say that they were met in something of that name,
// unless they say so of what has called it.
class ToldAs {
 public:
  explicit ToldAs(const char* name) : before_(state.told_as) {
    if (name && (!before_ || !*before_)) state.told_as = name;
  }
  ~ToldAs() { state.told_as = before_; }
  ToldAs(const ToldAs&) = delete;
  ToldAs& operator=(const ToldAs&) = delete;

 private:
  const char* const before_;
};

// What an instruction met that NumPy warns of: some of its elements, for NumPy to say so.
struct Finding {
  std::string name;   // NumPy's function, or what the warning is to say
  std::string shown;  // what NumPy's warnings are to say instead of that; empty: they stay
  uint8_t kinds = 0;  // that its errstate warns of
  uint64_t line = 0;
  bool by_name = false;  // nothing but these kinds is known: `name` is what they were met in
  unsigned kinds_met = 0;
  DType loop = DType::F64, out = DType::F64;
  std::vector<std::pair<DType, std::vector<char>>> operands;
  int64_t product[3] = {};  // of a product, which NumPy does as a whole: rows, terms, columns
  int met_by_look[6] = {};  // elements, by what they look like (lazy/examine.h)

  bool met() const { return by_name || !operands.empty(); }
};

// `told_as` of a variance of one part of complex numbers, which NumPy says as any other.
inline constexpr char kOfReal[] = "", kOfImaginary[] = "";

// What warnings of an instruction with `told_as` say; empty: its own name.
std::string shown_of(const Instr& i);

// Those that nobody has been told yet. Python's lock guards them.
std::vector<Finding>& findings();
extern bool any_found;
void add(Finding f);
// That an imaginary part is dropped at that line, of which NumPy warns whatever its value; such
// warnings are dropped where NumPy does the operation again.
constexpr const char* kComplexWarning = "ComplexWarning";
void add_complex(uint64_t line);
void forget_complex();
// That a number is too large for the type of an operation.
void add_overflow(uint64_t line);

// While it lives, what an instruction meets is collected; afterwards that is a finding.
class Collect {
 public:
  explicit Collect(const Instr& i);
  ~Collect() { state.finding = before_; }
  Collect(const Collect&) = delete;
  Collect& operator=(const Collect&) = delete;
  Finding& finding() { return finding_; }
  bool met() const { return finding_.met(); }

 private:
  Finding finding_;
  Finding* before_;
};

}  // namespace numbus::float_errors
