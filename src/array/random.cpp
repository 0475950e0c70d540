// Random numbers as recorded calls.
#include "routines/random.h"
#include "array/array.h"
#include "array/placement.h"
#include "base/error.h"

namespace numbus {

Array draw(Routine r, std::span<const uint64_t> state, int64_t n, DType t, Device* device) {
  const bool normals = r == Routine::normal;
  const size_t words = normals ? 2 : 6;
  if ((!normals && r != Routine::philox) || state.size() != words)
    raise(ErrorKind::Value, "draw", "a state of another routine",
          std::string(row(r).name) + " and " + std::to_string(state.size()) + " words",
          "philox and six words, or normal and two");
  if (t != DType::F32 && t != DType::F64 && (normals || t != DType::U64))
    raise(ErrorKind::Type, "draw", "no random numbers of this type", std::string(name(t)),
          normals ? "float32 or float64" : "float32, float64 or uint64");
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

}  // namespace numbus
