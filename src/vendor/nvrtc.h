// CUDA C++ compiled at run time by NVRTC.
#pragma once

#include <string>
#include <vector>

namespace numbus::vendor {

struct NvrtcImage {
  std::string code;                  // a cubin, or PTX where the architecture is a virtual one
  std::vector<std::string> symbols;  // in the order of the expressions asked for
};

// Whether the options say what to compile for.
bool names_architecture(const std::vector<std::string>& options);

// `sm` (90 for sm_90) is what to compile for where the options do not say it: to a cubin where this
// NVRTC knows that GPU, else to PTX for the newest one it knows. `expressions` are the C++ names of
// kernels and variables, such as "f<float>", whose symbols are wanted. Raises with the compiler's
// log, and where there is no library.
NvrtcImage nvrtc_compile(const std::string& source, const std::string& name,
                         std::vector<std::string> options, int sm,
                         const std::vector<std::string>& expressions = {});

}  // namespace numbus::vendor
