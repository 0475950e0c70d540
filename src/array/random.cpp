// Random numbers as recorded calls.
#include "routines/random.h"
#include "array/array.h"
#include "array/placement.h"
#include "base/error.h"
#include "routines/gpu_random.h"

namespace numbus {

Array draw(Routine r, std::span<const uint64_t> state, int64_t n, DType t, Device* device) {
  const bool normals = r == Routine::normal, words = r == Routine::philox;
  if ((!normals && !words && r != Routine::pcg64) || state.size() != (normals ? 2 : 6))
    raise(ErrorKind::Value, "draw", "a state of another routine",
          std::string(row(r).name) + " and " + std::to_string(state.size()) + " words",
          "philox or pcg64 and six words, or normal and two");
  if (t != DType::F32 && t != DType::F64 && (!words || t != DType::U64))
    raise(ErrorKind::Type, "draw", "no random numbers of this type", std::string(name(t)),
          words ? "float32, float64 or uint64" : "float32 or float64");
  if (n < 0) raise(ErrorKind::Value, "draw", "negative count", std::to_string(n), "0 or more");
  Array result = empty({&n, 1}, t, device);
  if (n == 0) return result;
  Device& there = placement::home(result);
  if (load_device_kernels) load_device_kernels(there, r, t);
  std::vector<int64_t> numbers(state.begin(), state.end());
  const Array from = of_integers(numbers, there);
  Instr i;
  i.routine = r;
  i.loop = t;
  record_call(i, {{&from}}, {{&result}});
  return result;
}

DType sample_type(DType t) {
  return is_float(t) ? t : int_of_size(static_cast<int>(itemsize(t)), false);
}

std::pair<Array, Array> sample(Routine r, std::string_view kind, std::span<const uint64_t> state,
                               int64_t n, int64_t units, DType t, Device* device) {
  const int64_t number = routines::sample_kind(kind);
  if (number < 0)
    raise(ErrorKind::Value, "sample", "no such kind of numbers", std::string(kind),
          "normal, exponential, or integers with 64, 32, 16, 8 or 1 after it");
  const size_t words = r == Routine::pcg64_sample ? 10 : 12;
  if (state.size() != words)
    raise(ErrorKind::Value, "sample", "a state of another routine",
          std::to_string(state.size()) + " words", std::to_string(words));
  if (n < 1 || units < n)
    raise(ErrorKind::Value, "sample", "too few numbers or units",
          std::to_string(n) + " and " + std::to_string(units), "1 or more, and no fewer units");
  const int64_t reported = routines::kSampleReport;
  Array result = empty({&n, 1}, t, device);
  Device& there = placement::home(result);
  Array report = empty({&reported, 1}, DType::I64, &there);
  std::vector<int64_t> numbers(state.begin(), state.end());
  const Array from = of_integers(numbers, there);
  Instr i;
  i.routine = r;
  i.loop = sample_type(t);
  i.attributes = {number, units};
  record_call(i, {{&from}}, {{&result, &report}});
  return {result, report};
}

}  // namespace numbus
