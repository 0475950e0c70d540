// Identity and printing of functions.
#include "ir/function.h"

#include <iterator>

namespace numbus::ir {

const char* intrinsic_name(Intrinsic i) {
  static const char* const kNames[] = {"tid.x",
                                       "tid.y",
                                       "tid.z",
                                       "ntid.x",
                                       "ntid.y",
                                       "ntid.z",
                                       "ctaid.x",
                                       "ctaid.y",
                                       "ctaid.z",
                                       "nctaid.x",
                                       "nctaid.y",
                                       "nctaid.z",
                                       "laneid",
                                       "warpsize",
                                       "barrier",
                                       "barrier_count",
                                       "barrier_and",
                                       "barrier_or",
                                       "grid_barrier",
                                       "fence_block",
                                       "fence",
                                       "fence_system",
                                       "syncwarp",
                                       "activemask",
                                       "shfl_idx",
                                       "shfl_up",
                                       "shfl_down",
                                       "shfl_xor",
                                       "all_sync",
                                       "any_sync",
                                       "eq_sync",
                                       "ballot",
                                       "match_any",
                                       "match_all",
                                       "lanemask_lt",
                                       "clz",
                                       "brev",
                                       "ffs",
                                       "nanosleep",
                                       "shared_memory",
                                       "local_memory",
                                       "dynamic_shared",
                                       "constant_memory",
                                       "atomic_add",
                                       "atomic_sub",
                                       "atomic_and",
                                       "atomic_or",
                                       "atomic_xor",
                                       "atomic_inc",
                                       "atomic_dec",
                                       "atomic_exch",
                                       "atomic_max",
                                       "atomic_min",
                                       "atomic_nanmax",
                                       "atomic_nanmin",
                                       "atomic_load",
                                       "atomic_cas",
                                       "fma",
                                       "allocate",
                                       "data_of",
                                       "retain",
                                       "release",
                                       "list",
                                       "resize",
                                       "dict",
                                       "dict_step",
                                       "fail",
                                       "caught",
                                       "parallel",
                                       "print_text",
                                       "print_int",
                                       "print_float",
                                       "print_end",
                                       "text",
                                       "lane_index",
                                       "lane_count",
                                       "lane_merge",
                                       "watch",
                                       "leaves",
                                       "random",
                                       "host_call",
                                       "foreign",
                                       "generator",
                                       "resume",
                                       "yields",
                                       "strict",
                                       "on_gpu",
                                       "mma_tf32",
                                       "external"};
  static_assert(std::size(kNames) == static_cast<int>(Intrinsic::external) + 1);
  return kNames[static_cast<int>(i)];
}

std::string Module::key() const {
  std::string s;
  auto put = [&](const auto& v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(static_cast<int>(functions.size()));
  put(kernel);
  put(fastmath);
  put(long_loops);
  put(debug);
  put(max_threads);
  put(min_blocks);
  put(max_registers);
  for (const auto* strings : {&texts, &constants, &externals}) {
    put(strings->size());
    for (const std::string& t : *strings) {
      put(t.size());
      s += t;
    }
  }
  for (const Function& f : functions) {
    put(static_cast<int>(f.params.size()));
    for (DType t : f.params) put(t);
    put(static_cast<int>(f.results.size()));
    for (DType t : f.results) put(t);
    put(f.portion);
    put(f.generator);
    put(f.library);
    put(static_cast<int>(f.body.size()));
    for (const Inst& i : f.body) put_step(s, i);
  }
  return s;
}

std::string print(const Function& f) {
  std::string s = "function " + f.name + "(";
  for (size_t n = 0; n < f.params.size(); ++n)
    s += (n ? ", " : "") + std::string(name(f.params[n]));
  s += ") ->";
  for (DType t : f.results) s += " " + std::string(name(t));
  return s + "\n" + print_steps(f.body);
}

std::string print(const Module& m) {
  std::string s;
  for (const Function& f : m.functions) s += print(f);
  return s;
}

}  // namespace numbus::ir
