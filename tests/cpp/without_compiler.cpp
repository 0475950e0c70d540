// Stands for src/compile in builds without LLVM: everything above it runs on the interpreter, and
// asking for a compiler is an error.
#include "base/error.h"
#include "compile/compiler.h"
#include "compile/gpu.h"
#include "compile/gpu_scan.h"
#include "compile/scan.h"

namespace numbus::compile {
namespace {

[[noreturn]] void none() {
  raise(ErrorKind::Runtime, "compile", "this build has no compiler", "a request for code",
        "the interpreter only");
}

}  // namespace

Compiled compile_native(const ir::Kernel&) { none(); }
Compiled load_native(const ir::Kernel&) { none(); }
Compiled load_prebuilt(const std::string&) { return {}; }
CompiledFunction compile_function(const ir::Module&) { none(); }
CompiledKernel compile_kernel(const ir::Module&, int64_t) { none(); }
Compiled compile_native_scan(const ScanCode&) { none(); }
std::string kernel_ptx(const ir::Module&, int, int) { none(); }
std::string build_ptx(const GpuKernel&, int, int) { none(); }
std::string build_scan_ptx(const GpuScan&, int, int) { none(); }
int gpu_reduce_vector(const GpuKernel&) { none(); }
std::string GpuKernel::key() const { none(); }
std::string GpuScan::key() const { none(); }
bool has_compiler() { return false; }
std::string build_identity() { return "no compiler"; }

}  // namespace numbus::compile
