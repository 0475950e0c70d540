// Random numbers as recorded calls.
#include "routines/random.h"
#include "array/array.h"
#include "array/capture.h"
#include "array/placement.h"
#include "base/error.h"
#include "routines/gpu_random.h"

namespace numbus {

namespace {

void check_draw(Routine r, size_t words, int64_t n, DType t) {
  const bool normals = r == Routine::normal, raw = r == Routine::philox;
  if ((!normals && !raw && r != Routine::pcg64) || words != (normals ? 2 : 6))
    raise(ErrorKind::Value, "draw", "a state of another routine",
          std::string(row(r).name) + " and " + std::to_string(words) + " words",
          "philox or pcg64 and six words, or normal and two");
  if (t != DType::F32 && t != DType::F64 && (!raw || t != DType::U64))
    raise(ErrorKind::Type, "draw", "no random numbers of this type", std::string(name(t)),
          raw ? "float32, float64 or uint64" : "float32 or float64");
  if (n < 0) raise(ErrorKind::Value, "draw", "negative count", std::to_string(n), "0 or more");
}

void record_draw(Routine r, const Array& state, const Array& result) {
  Device& there = *result.base->device;
  if (load_device_kernels) load_device_kernels(there, r, result.dtype);
  Instr i;
  i.routine = r;
  i.loop = result.dtype;
  record_call(i, {{&state}}, {{&result}});
}

}  // namespace

Array draw(Routine r, std::span<const uint64_t> state, int64_t n, DType t, Device* device) {
  check_draw(r, state.size(), n, t);
  Capture::spoil("random numbers are drawn from a state of the host's");
  Array result = empty({&n, 1}, t, device);
  if (n == 0) return result;
  std::vector<int64_t> numbers(state.begin(), state.end());
  record_draw(r, of_integers(numbers, placement::home(result)), result);
  return result;
}

Array draw_on(Routine r, const Array& state, int64_t n, DType t) {
  check_draw(r, static_cast<size_t>(state.size()), n, t);
  if (r == Routine::pcg64 || state.dtype != DType::U64 || state.ndim() != 1)
    raise(ErrorKind::Type, "draw", "a state that does not count up by itself",
          std::string(row(r).name) + " and " + std::string(name(state.dtype)),
          "philox or normal, of words of uint64");
  Array result = empty({&n, 1}, t, state.base->device);
  if (n == 0) return result;
  if (placement::on && state.base->pinned) placement::pin(result);
  record_draw(r, state, result);
  const bool normals = r == Routine::normal;
  const int64_t each = normals || t != DType::F32 ? 4 : 8;
  const int64_t blocks = normals ? routines::philox_normal_blocks(t, n) : (n + each - 1) / each;
  Array counter = state;
  const int64_t one = 1, stride = itemsize(DType::U64);
  counter.layout = LayoutRef(Layout::get({&one, 1}, {&stride, 1}, stride));
  counter.owns = false;
  counter.offset += (normals ? 1 : 2) * stride;
  const Arg args[] = {Arg(&counter), Arg(Scalar::from_int(blocks), DType::U64)};
  Options into;
  into.out = &counter;
  apply(Op::add, args, into);
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
