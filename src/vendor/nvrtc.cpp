// NVRTC: one program per call, its log in the error.
#include "vendor/nvrtc.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "vendor/entries.h"

namespace numbus::vendor {
namespace {

// The part of NVRTC's documented ABI that Numbus calls.
using Program = struct _nvrtcProgram*;
using Status = int;
constexpr Status kSuccess = 0, kOutOfMemory = 1, kCompilation = 6;

struct Api {
  explicit Api(const Library& library) {
    resolve(library, "nvrtcCreateProgram", &create);
    resolve(library, "nvrtcDestroyProgram", &destroy);
    resolve(library, "nvrtcCompileProgram", &compile);
    resolve(library, "nvrtcGetProgramLogSize", &log_size);
    resolve(library, "nvrtcGetProgramLog", &log);
    resolve(library, "nvrtcGetPTXSize", &ptx_size);
    resolve(library, "nvrtcGetPTX", &ptx);
    resolve(library, "nvrtcGetCUBINSize", &cubin_size);
    resolve(library, "nvrtcGetCUBIN", &cubin);
    resolve(library, "nvrtcGetNumSupportedArchs", &count_architectures);
    resolve(library, "nvrtcGetSupportedArchs", &architectures);
    resolve(library, "nvrtcAddNameExpression", &add_expression);
    resolve(library, "nvrtcGetLoweredName", &lowered);
    resolve(library, "nvrtcGetErrorString", &status_name);
  }
  Status (*create)(Program*, const char* source, const char* name, int headers,
                   const char* const* sources, const char* const* names);
  Status (*destroy)(Program*);
  Status (*compile)(Program, int count, const char* const* options);
  Status (*log_size)(Program, size_t*);
  Status (*log)(Program, char*);
  Status (*ptx_size)(Program, size_t*);
  Status (*ptx)(Program, char*);
  Status (*cubin_size)(Program, size_t*);
  Status (*cubin)(Program, char*);
  Status (*count_architectures)(int*);
  Status (*architectures)(int*);
  Status (*add_expression)(Program, const char*);
  Status (*lowered)(Program, const char*, const char**);
  const char* (*status_name)(Status);
};

class Compilation {
 public:
  Compilation(const Api& api, const std::string& source, const std::string& name)
      : api_(api), name_(name) {
    check(api.create(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr),
          "nvrtcCreateProgram");
  }
  ~Compilation() { api_.destroy(&program_); }
  Compilation(const Compilation&) = delete;

  void add_expression(const std::string& expression) {
    check(api_.add_expression(program_, expression.c_str()), "nvrtcAddNameExpression");
  }

  void run(const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    for (const std::string& option : options) texts.push_back(option.c_str());
    check(api_.compile(program_, static_cast<int>(texts.size()), texts.data()),
          "nvrtcCompileProgram");
  }

  std::string code() {
    size_t bytes = 0;
    // Zero bytes where the architecture is a virtual one.
    if (api_.cubin_size(program_, &bytes) == kSuccess && bytes > 0) {
      std::string cubin(bytes, 0);
      check(api_.cubin(program_, cubin.data()), "nvrtcGetCUBIN");
      return cubin;
    }
    check(api_.ptx_size(program_, &bytes), "nvrtcGetPTXSize");
    std::string ptx(bytes, 0);
    check(api_.ptx(program_, ptx.data()), "nvrtcGetPTX");
    while (!ptx.empty() && ptx.back() == 0) ptx.pop_back();
    return ptx;
  }

  std::string symbol(const std::string& expression) {
    const char* found = nullptr;
    check(api_.lowered(program_, expression.c_str(), &found), "nvrtcGetLoweredName");
    return found;
  }

 private:
  void check(Status status, const char* call) {
    if (status == kSuccess) return;
    const char* name = api_.status_name(status);
    std::string text =
        message("nvrtc", std::string(call) + " failed for '" + name_ + "'",
                std::string(name ? name : "an NVRTC status") + " (" + std::to_string(status) + ")",
                status == kCompilation ? "CUDA C++ that compiles" : "success");
    size_t bytes = 0;
    if (program_ != nullptr && api_.log_size(program_, &bytes) == kSuccess && bytes > 1) {
      std::string log(bytes, 0);
      if (api_.log(program_, log.data()) == kSuccess) text += "; the compiler says:\n" + trim(log);
    }
    raise(status == kOutOfMemory ? ErrorKind::Memory : ErrorKind::Runtime, text);
  }

  static std::string trim(std::string log) {
    while (!log.empty() && (log.back() == 0 || log.back() == '\n' || log.back() == ' '))
      log.pop_back();
    return log;
  }

  const Api& api_;
  const std::string& name_;
  Program program_ = nullptr;
};

std::string architecture_option(const Api& api, int sm) {
  int count = 0;
  std::vector<int> known;
  if (api.count_architectures(&count) == kSuccess && count > 0) {
    known.resize(static_cast<size_t>(count));
    if (api.architectures(known.data()) != kSuccess) known.clear();
  }
  int newest = 0;
  for (int one : known)
    if (one <= sm) newest = std::max(newest, one);
  const bool exact = known.empty() || newest == sm;
  return "--gpu-architecture=" +
         (exact ? "sm_" + std::to_string(sm) : "compute_" + std::to_string(newest));
}

}  // namespace

bool names_architecture(const std::vector<std::string>& options) {
  return std::any_of(options.begin(), options.end(), [](std::string_view option) {
    return option.starts_with("-arch") || option.starts_with("--gpu-arch");
  });
}

NvrtcImage nvrtc_compile(const std::string& source, const std::string& name,
                         std::vector<std::string> options, int sm,
                         const std::vector<std::string>& expressions) {
  const Api& api = entries_of<Api>("nvrtc");
  if (!names_architecture(options)) options.push_back(architecture_option(api, sm));
  Compilation compilation(api, source, name);
  for (const std::string& one : expressions) compilation.add_expression(one);
  compilation.run(options);
  NvrtcImage image;
  image.code = compilation.code();
  for (const std::string& one : expressions) image.symbols.push_back(compilation.symbol(one));
  return image;
}

}  // namespace numbus::vendor
