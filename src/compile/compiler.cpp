// Modules become objects; objects go to the disk cache, and into memory.
#include "compile/compiler.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "compile/disk_cache.h"
#include "compile/function.h"
#include "compile/leave.h"
#include "compile/load.h"
#include "compile/native.h"
#include "compile/optimise.h"
#include "compile/polls.h"
#include "compile/prebuilt.h"
#include "compile/random.h"
#include "compile/recursion.h"
#include "compile/row_calls.h"
#include "compile/runtime.h"
#include "compile/scan.h"

namespace numbus::compile {
namespace {

// What generated code may call; the extension exports no symbols, so each is named.
void* external(std::string_view name) {
  static const auto* known = [] {
    auto* all = new std::unordered_map<std::string_view, void*>;
    auto add = [&](const char* n, auto* f) { (*all)[n] = reinterpret_cast<void*>(f); };
    add("fmod", static_cast<double (*)(double, double)>(std::fmod));
    add("fmodf", static_cast<float (*)(float, float)>(std::fmod));
    add("fma", static_cast<double (*)(double, double, double)>(std::fma));
    add("fmaf", static_cast<float (*)(float, float, float)>(std::fma));
    add("floor", static_cast<double (*)(double)>(std::floor));
    add("floorf", static_cast<float (*)(float)>(std::floor));
    add("ceil", static_cast<double (*)(double)>(std::ceil));
    add("ceilf", static_cast<float (*)(float)>(std::ceil));
    add("trunc", static_cast<double (*)(double)>(std::trunc));
    add("truncf", static_cast<float (*)(float)>(std::trunc));
    add("nearbyint", static_cast<double (*)(double)>(std::nearbyint));
    add("nearbyintf", static_cast<float (*)(float)>(std::nearbyint));
    add("memcpy", &std::memcpy);
    add("memset", &std::memset);
    // What LLVM makes of comparisons of float16.
    add("fmaxf", static_cast<float (*)(float, float)>(&std::fmax));
    add("fminf", static_cast<float (*)(float, float)>(&std::fmin));
    add("memmove", &std::memmove);
    add("numbus_allocate", &numbus_allocate);
    add("numbus_retain", &numbus_retain);
    add("numbus_release", &numbus_release);
    add("numbus_list", &numbus_list);
    add("numbus_resize", &numbus_resize);
    add("numbus_resume", &numbus_resume);
    add("numbus_dict", &numbus_dict);
    add("numbus_dict_step", &numbus_dict_step);
    add("numbus_parallel", &numbus_parallel);
    add("numbus_wait", &numbus_wait);
    add("numbus_watch", &numbus_watch);
    add("numbus_fence", &numbus_fence);
    add("numbus_random_bits", &numbus_random_bits);
    add("numbus_random_unit", &numbus_random_unit);
    add("numbus_random_seed", &numbus_random_seed);
    add("numbus_random_python_seed", &numbus_random_python_seed);
    add("numbus_random_kept", &numbus_random_kept);
    add("numbus_generator_word", &numbus_generator_word);
    add("numbus_generator_half", &numbus_generator_half);
    add("numbus_generator_unit", &numbus_generator_unit);
    add("numbus_c_log1p", &numbus_c_log1p);
    add("numbus_c_exp", &numbus_c_exp);
    add("numbus_c_log", &numbus_c_log);
    add("numbus_c_expm1", &numbus_c_expm1);
    add("numbus_c_cos", &numbus_c_cos);
    add("numbus_c_acos", &numbus_c_acos);
    add("numbus_c_pow", &numbus_c_pow);
    add("numbus_c_log1pf", &numbus_c_log1pf);
    add("numbus_c_expf", &numbus_c_expf);
    add("numbus_c_logf", &numbus_c_logf);
    add("numbus_c_powf", &numbus_c_powf);
    add("numbus_host_call", &numbus_host_call);
#define X(name) add("numbus_c_" #name, static_cast<double (*)(double)>(&std::name));
    NUMBUS_C_FUNCTIONS_OF_ONE(X)
#undef X
#define X(name) add("numbus_c_" #name, static_cast<double (*)(double, double)>(&std::name));
    NUMBUS_C_FUNCTIONS_OF_TWO(X)
#undef X
    add("numbus_interrupt_word", &numbus_interrupt_word);
    add("numbus_poll_entry", &numbus_poll_entry);
    add("numbus_too_deep", &numbus_too_deep);
    add("numbus_print_text", &numbus_print_text);
    add("numbus_print_int", &numbus_print_int);
    add("numbus_print_float", &numbus_print_float);
    add("numbus_print_string", &numbus_print_string);
    add("numbus_text_of_float", &numbus_text_of_float);
    add("numbus_float_of_text", &numbus_float_of_text);
    add("numbus_text_room", &numbus_text_room);
    return all;
  }();
  auto it = known->find(name);
  return it == known->end() ? nullptr : it->second;
}

struct Host {
  std::string cpu, features, target_key;
  int vector_bytes = 16;
  std::mutex lock;

  // Of a level of x86-64, for code that the library carries.
  explicit Host(int level)
      : cpu("x86-64-v" + std::to_string(level)), vector_bytes(level >= 4 ? 64 : 32) {}

  // What keys and sizes are made of: a process that finds its code on disk needs no more.
  Host() {
    cpu = llvm::sys::getHostCPUName().str();
    llvm::SubtargetFeatures all;
    for (const auto& f : llvm::sys::getHostCPUFeatures()) all.AddFeature(f.first(), f.second);
    features = all.getString();
    target_key = cpu + "/" + features + "/" LLVM_VERSION_STRING "/" + build_identity();
    vector_bytes = features.find("+avx512f") != std::string::npos &&
                           features.find("+avx512vl") != std::string::npos
                       ? 64
                   : features.find("+avx2") != std::string::npos ? 32
                                                                 : 16;
  }

  llvm::TargetMachine& machine() {
    if (machine_) return *machine_;
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();  // of polls (compile/polls.cpp)
    std::string triple = llvm::sys::getProcessTriple(), problem;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (!target) raise(ErrorKind::Runtime, "[compile] no host target: " + problem);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    machine_.reset(target->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_,
                                               llvm::CodeModel::Small,
                                               llvm::CodeGenOptLevel::Default));
    if (!machine_) raise(ErrorKind::Runtime, "[compile] no target machine");
    return *machine_;
  }

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
};

Host& host() {
  static Host* h = new Host;  // generated code may still run while statics are destroyed
  return *h;
}

std::string symbol_of(const std::string& key) {
  char name[32];
  std::snprintf(name, sizeof name, "k%016llx", static_cast<unsigned long long>(hash_bytes(key)));
  return name;
}

// Adds the function of that name to the module.
using Build = std::function<void(llvm::Module&, const std::string&)>;

std::unique_ptr<llvm::Module> make_module(Host& h, llvm::LLVMContext& context, const Build& build,
                                          const std::string& symbol) {
  auto m = std::make_unique<llvm::Module>(symbol, context);
  m->setDataLayout(h.machine().createDataLayout());
  m->setTargetTriple(h.machine().getTargetTriple().str());
  build(*m, symbol);
  for (auto& f : *m) {
    f.addFnAttr("target-cpu", h.machine().getTargetCPU());
    f.addFnAttr("target-features", h.machine().getTargetFeatureString());
  }
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*m, &out))
    raise(ErrorKind::Runtime, "[compile] invalid LLVM IR: " + problem);
  return m;
}

struct Code {
  std::shared_ptr<void> memory;
  void* address = nullptr;
  bool from_disk = false;
  double milliseconds = 0;
};

std::string object_of(Host& h, const Build& build, const std::string& symbol) {
  llvm::LLVMContext context;
  auto m = make_module(h, context, build, symbol);
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (h.machine().addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    raise(ErrorKind::Runtime, "[compile] the target emits no objects");
  passes.run(*m);
  return std::string(buffer.data(), buffer.size());
}

// build: null where only what is on disk is wanted.
Code compile(Host& h, const std::string& kernel_key, const Build& build) {
  auto start = std::chrono::steady_clock::now();
  std::string key = h.target_key + kernel_key;
  std::string symbol = symbol_of(key), object = disk_load(key);
  Code result;
  result.from_disk = !object.empty();
  if (object.empty() && !build) return result;
  // One compiles at a time; what is on disk waits for nobody.
  std::unique_lock<std::mutex> guard(h.lock, std::defer_lock);
  if (object.empty() && !guard.try_lock()) {
    guard.lock();
    object = disk_load(key);  // what the other thread has compiled may be the same
    result.from_disk = !object.empty();
  }
  if (object.empty()) {
    object = object_of(h, build, symbol);
    disk_store(key, object);
    guard.unlock();
  }
  Loaded loaded = load_object(object, symbol, external);
  result.memory = std::move(loaded.memory);
  result.address = loaded.address;
  result.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

// Code by what it does, for as long as the process. Two threads may make the same; then the first
// is kept.
template <class Function>
class Known {
 public:
  Function find(const std::string& key) {
    std::lock_guard guard(lock_);
    auto it = codes_.find(key);
    return it == codes_.end() ? nullptr : reinterpret_cast<Function>(it->second.address);
  }
  Function keep(const std::string& key, const Code& code) {
    std::lock_guard guard(lock_);
    return reinterpret_cast<Function>(codes_.try_emplace(key, code).first->second.address);
  }

 private:
  std::mutex lock_;
  std::unordered_map<std::string, Code> codes_;
};

// Of dl_iterate_phdr: `data` is the address of a library and the text that its build id goes to.
int find_build_id(dl_phdr_info* library, size_t, void* data) {
  auto& [wanted, id] = *static_cast<std::pair<const void*, std::string*>*>(data);
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    // The first part that is loaded lies at the library's address.
    if (part.p_type == PT_LOAD) {
      if (reinterpret_cast<const void*>(library->dlpi_addr + part.p_vaddr) != wanted) return 0;
      break;
    }
  }
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(library->dlpi_addr + part.p_vaddr);
    for (const char* end = at + part.p_memsz; end - at >= 12;) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* bytes = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_namesz > end - name || note.n_descsz > end - bytes) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(name, "GNU", 4)) {
        id->assign(bytes, note.n_descsz);
        return 1;
      }
      at = bytes + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return 0;
}

}  // namespace

bool has_compiler() { return true; }

// Tells builds of this library apart: code cached by another one is not ours to run. The linker's
// hash of the library does so where files have equal times, as in images and packages.
std::string build_identity() {
  static const std::string identity = [] {
    Dl_info self;
    if (!dladdr(reinterpret_cast<void*>(&build_identity), &self)) return std::string();
    std::string id;
    std::pair<const void*, std::string*> search{self.dli_fbase, &id};
    dl_iterate_phdr(find_build_id, &search);
    struct stat st;
    if (id.empty() && stat(self.dli_fname, &st) == 0)
      id = std::to_string(st.st_size) + "." + std::to_string(st.st_mtim.tv_sec) + "." +
           std::to_string(st.st_mtim.tv_nsec);
    return id;
  }();
  return identity.empty() ? __DATE__ __TIME__ : identity;
}

namespace {

bool asks_for_interrupts(const ir::Module& m) {
  return std::ranges::any_of(m.functions, [](const ir::Function& f) {
    return std::ranges::any_of(f.body, [](const ir::Inst& i) {
      return i.op == Op::intrinsic && ir::intrinsic_of(i) == ir::Intrinsic::strict &&
             static_cast<ir::Strict>(ir::number_of(i)) == ir::Strict::interrupted;
    });
  });
}

// Known by its code alone, so that two functions with one body are one.
Build function_build(Host& h, const ir::Module& f, bool lanes = false) {
  return [&h, &f, lanes](llvm::Module& m, const std::string& name) {
    if (lanes)
      build_grid(m, f, name, h.vector_bytes);
    else if (f.kernel)
      build_simt(m, f, name, h.vector_bytes);
    else
      build_native(m, f, name, h.vector_bytes);
    for (auto& g : m) {
      g.addFnAttr("target-cpu", h.machine().getTargetCPU());
      g.addFnAttr("target-features", h.machine().getTargetFeatureString());
    }
    loop_tail_calls(m, h.machine());
    optimise(m, h.machine());
    finish_rows(m);
    if (!asks_for_interrupts(f)) insert_polls(m);
  };
}

}  // namespace

namespace {

Compiled native_of(Code c) {
  return {reinterpret_cast<NativeFunction>(c.address), std::move(c.memory), c.from_disk,
          c.milliseconds};
}

Build kernel_build(const Host& h, const ir::Kernel& k) {
  return [&](llvm::Module& m, const std::string& name) {
    build_native(m, k, name, h.vector_bytes);
    bool loops = std::ranges::any_of(
        k.body, [](const ir::Inst& i) { return i.op == Op::repeat && i.a == ir::kNone; });
    if (loops) insert_polls(m);
  };
}

}  // namespace

Compiled compile_native(const ir::Kernel& k) {
  Host& h = host();
  return native_of(compile(h, k.key(), kernel_build(h, k)));
}

std::string object_for(const ir::Kernel& k, int level) {
  static auto* hosts = new std::map<int, Host>;
  Host& h = hosts->try_emplace(level, level).first->second;
  return object_of(h, kernel_build(h, k), symbol_of(k.key()));
}

Compiled load_prebuilt(const std::string& key) {
  const std::string_view object = prebuilt_object(key);
  if (object.empty()) return {};
  Loaded loaded = load_object(object, symbol_of(key), external);
  return {reinterpret_cast<NativeFunction>(loaded.address), std::move(loaded.memory), true, 0};
}

Compiled load_native(const ir::Kernel& k) { return native_of(compile(host(), k.key(), nullptr)); }

std::string function_key(const ir::Module& m) { return "function" + m.key(); }

namespace {

CompiledFunction function_of(const std::string& key, const Build& build) {
  static auto* known = new Known<HostFunction>;
  if (HostFunction function = known->find(key)) return {function, true, 0};
  Code c = compile(host(), key, build);
  if (!c.address) return {};
  return {known->keep(key, c), c.from_disk, c.milliseconds};
}

}  // namespace

CompiledFunction compile_function(const ir::Module& m) {
  return function_of(function_key(m), function_build(host(), m));
}

CompiledFunction stored_function(const std::string& key) { return function_of(key, nullptr); }

CompiledKernel compile_kernel(const ir::Module& m, int64_t block_x) {
  Host& h = host();
  static auto* known = new Known<HostKernel::Code>;
  const bool fibers = std::getenv("NUMBUS_FIBERS") != nullptr;
  CompiledKernel r;
  r.kernel.waits = has_waits(m);
  r.kernel.grid_barrier = has_grid_barrier(m);
  r.kernel.shared = shared_bytes(m);
  r.kernel.local = local_bytes(m);
  r.kernel.recursive = has_recursion(m);
  r.kernel.checked = m.debug && r.kernel.waits;
  if (r.kernel.checked) r.kernel.granule = watched_granule(m);
  int lanes = fibers ? 0 : grid_lanes(m, h.vector_bytes);
  if (lanes && block_x % (has_warp_operations(m) ? 32 : lanes) == 0) r.kernel.lanes = lanes;
  std::string key = (r.kernel.lanes ? "lanes" : "grid") + m.key();
  r.kernel.code = known->find(key);
  r.from_disk = r.kernel.code != nullptr;
  if (!r.kernel.code) {
    Code c = compile(h, key, function_build(h, m, r.kernel.lanes > 0));
    r.kernel.code = known->keep(key, c);
    r.from_disk = c.from_disk;
    r.milliseconds = c.milliseconds;
  }
  if (r.kernel.lanes) r.kernel.scratch = r.kernel.code(nullptr, nullptr);
  return r;
}

std::string function_ir(const ir::Module& f) {
  Host& h = host();
  llvm::LLVMContext context;
  auto m = make_module(h, context, function_build(h, f, f.kernel && grid_lanes(f, h.vector_bytes)),
                       "function");
  std::string s;
  llvm::raw_string_ostream out(s);
  m->print(out, nullptr);
  return s;
}

std::string function_assembly(const ir::Module& f) {
  Host& h = host();
  llvm::LLVMContext context;
  auto m = make_module(h, context, function_build(h, f, f.kernel && grid_lanes(f, h.vector_bytes)),
                       "function");
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (h.machine().addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    raise(ErrorKind::Runtime, "[compile] the target emits no assembly");
  passes.run(*m);
  return std::string(buffer.data(), buffer.size());
}

Compiled compile_native_scan(const ScanCode& c) {
  static auto* known = new Known<NativeFunction>;
  if (NativeFunction function = known->find(c.key())) return {function, {}, true, 0};
  Host& h = host();
  Code made = compile(h, c.key(), [&](llvm::Module& m, const std::string& name) {
    build_native_scan(m, c, name, h.vector_bytes);
  });
  return {known->keep(c.key(), made), {}, made.from_disk, made.milliseconds};
}

std::string native_ir(const ir::Kernel& k) {
  Host& h = host();
  llvm::LLVMContext context;
  auto build = [&](llvm::Module& m, const std::string& name) {
    build_native(m, k, name, h.vector_bytes);
  };
  auto m = make_module(h, context, build, "kernel");
  std::string s;
  llvm::raw_string_ostream out(s);
  m->print(out, nullptr);
  return s;
}

std::string host_cpu_name() { return host().cpu; }
int host_vector_bytes() { return host().vector_bytes; }

}  // namespace numbus::compile
