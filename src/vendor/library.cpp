// The table of libraries and the only file that opens them.
#include "vendor/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/error.h"

namespace numbus::vendor {
namespace {

struct Row {
  std::string_view name;
  const char* operation;  // that needs it, for messages
  const char* what;
  const char* expected;
  // A file that loads is the library only if it has one of these symbols.
  std::vector<const char*> symbols;
  // The start of the file name and of that of a library it needs, which lies in the same folder
  // and which the loader does not find where the file has no run path.
  std::string_view stem = "", companion = "";
  // Whether a copy that something else loaded is preferred, whatever its path.
  bool share = false;
  // Libraries of this table that it needs and that may lie in other folders. What fails shows in
  // the message of the library that needs it.
  std::vector<std::string_view> needs = {};

  std::atomic<const Library*> loaded{nullptr};
  std::vector<std::string> candidates{};
  std::vector<TriedPath> tried{};
  bool failed = false;
};

std::mutex table_mutex;

// A new library is a new row.
struct Table {
  Row rows[9];
};

// Null beyond the last row.
Row* row(size_t at) {
  // Never destroyed: work may still be running at exit.
  static auto& rows =
      (new Table{{
           {.name = "blas",
            .operation = "matmul",
            .what = "BLAS library",
            .expected =
                "OpenBLAS (pip install scipy-openblas32, or NUMBUS_BLAS=<path of a library>)",
            .symbols = {"scipy_cblas_dgemm64_", "cblas_dgemm64_", "cblas_dgemm_64",
                        "scipy_cblas_dgemm", "cblas_dgemm"}},
           {.name = "cublas",
            .operation = "matmul",
            .what = "cuBLAS library",
            .expected =
                "cuBLAS of CUDA 11 or newer (pip install nvidia-cublas for a driver of CUDA 13, "
                "nvidia-cublas-cu12 for CUDA 12)",
            .symbols = {"cublasCreate_v2"},
            .stem = "libcublas.",
            .companion = "libcublasLt.",
            .share = true},
           {.name = "cufft",
            .operation = "fft",
            .what = "cuFFT library",
            .expected =
                "cuFFT of CUDA 11 or newer (pip install nvidia-cufft for a driver of CUDA 13, "
                "nvidia-cufft-cu12 for CUDA 12)",
            .symbols = {"cufftMakePlanMany64"},
            .share = true},
           {.name = "cudnn",
            .operation = "convolution",
            .what = "cuDNN library",
            .expected = "cuDNN 9 (pip install nvidia-cudnn-cu13 for a driver of CUDA 13, "
                        "nvidia-cudnn-cu12 for CUDA 12)",
            .symbols = {"cudnnConvolutionForward"},
            .share = true,
            .needs = {"cublas"}},
           {.name = "nvjitlink",
            .operation = "linalg",
            .what = "nvJitLink library",
            .expected = "nvJitLink (pip install nvidia-nvjitlink for a driver of CUDA 13, "
                        "nvidia-nvjitlink-cu12 for CUDA 12)",
            .symbols = {"nvJitLinkVersion"},
            .share = true},
           {.name = "cusparse",
            .operation = "linalg",
            .what = "cuSPARSE library",
            .expected = "cuSPARSE (pip install nvidia-cusparse for a driver of CUDA 13, "
                        "nvidia-cusparse-cu12 for CUDA 12)",
            .symbols = {"cusparseCreate"},
            .share = true,
            .needs = {"nvjitlink"}},
           {.name = "cusolver",
            .operation = "linalg",
            .what = "cuSOLVER library",
            .expected =
                "cuSOLVER of CUDA 11 or newer (pip install nvidia-cusolver for a driver of CUDA "
                "13, nvidia-cusolver-cu12 for CUDA 12)",
            .symbols = {"cusolverDnCreate"},
            .share = true,
            .needs = {"nvjitlink", "cusparse", "cublas"}},
           {.name = "nvrtc",
            .operation = "nvrtc",
            .what = "NVRTC library",
            .expected =
                "NVRTC of CUDA 11.2 or newer (pip install nvidia-cuda-nvrtc for a driver of "
                "CUDA 13, nvidia-cuda-nvrtc-cu12 for CUDA 12)",
            .symbols = {"nvrtcCompileProgram"},
            .share = true},
           {.name = "nccl",
            .operation = "init_process_group",
            .what = "NCCL library",
            .expected = "NCCL (pip install nvidia-nccl-cu13 for a driver of CUDA 13, "
                        "nvidia-nccl-cu12 for CUDA 12), or the backend 'gloo'",
            .symbols = {"ncclCommInitRank"},
            .share = true},
       }})->rows;
  return at < std::size(rows) ? &rows[at] : nullptr;
}

Row& row_of(std::string_view name) {
  std::string names;
  for (size_t n = 0; Row* one = row(n); ++n) {
    if (one->name == name) return *one;
    names += (n == 0 ? "" : !row(n + 1) ? " or " : ", ") + std::string(one->name);
  }
  raise(ErrorKind::Value, "library", "unknown library", std::string(name), names);
}

// The loader starts most of its messages with the path, which stands beside them anyway.
std::string loader_message(const std::string& path) {
  const char* message = dlerror();
  std::string text = message ? message : "not found";
  if (text.rfind(path + ": ", 0) == 0) text.erase(0, path.size() + 2);
  return text;
}

std::string path_of(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || !*map->l_name) return asked;
  return map->l_name;
}

void open_companion(const Row& row, const std::string& path) {
  size_t file = path.rfind('/') + 1;  // 0 where there is no folder
  if (file == 0 || row.stem.empty() || path.compare(file, row.stem.size(), row.stem) != 0) return;
  std::string beside = path;
  beside.replace(file, row.stem.size(), row.companion);
  // A failure shows in the message of the library that needs it.
  dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
}

bool is_the_library(const Row& row, void* handle) {
  for (const char* symbol : row.symbols) {
    if (dlsym(handle, symbol) != nullptr) return true;
  }
  return false;
}

const Library* try_path(Row& row, const std::string& path, int flags) {
  dlerror();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
  if (handle == nullptr) {
    if (!(flags & RTLD_NOLOAD)) row.tried.push_back({path, loader_message(path)});
    return nullptr;
  }
  if (!is_the_library(row, handle)) {
    row.tried.push_back({path, std::string("loaded, but has no ") + row.symbols.back()});
    dlclose(handle);
    return nullptr;
  }
  row.tried.push_back({path, flags & RTLD_NOLOAD ? "was loaded already" : "loaded"});
  return new Library(handle, path_of(handle, path), row.operation, row.what, row.expected);
}

const Library* find(Row& row) {
  if (row.share) {
    for (const std::string& path : row.candidates) {
      if (const Library* found = try_path(row, path, RTLD_NOLOAD)) return found;
    }
  }
  for (const std::string& path : row.candidates) {
    open_companion(row, path);
    if (const Library* found = try_path(row, path, 0)) return found;
  }
  return nullptr;
}

// Null where no candidate works; the row then says why. The caller holds the lock.
const Library* load(Row& row) {
  const Library* library = row.loaded.load(std::memory_order_acquire);
  if (library != nullptr || row.failed) return library;
  row.tried.clear();
  for (std::string_view needed : row.needs) load(row_of(needed));
  library = find(row);
  row.failed = library == nullptr;
  row.loaded.store(library, std::memory_order_release);
  return library;
}

std::string list(const std::vector<TriedPath>& tried) {
  if (tried.empty()) return "no paths to try";
  std::string text;
  for (const TriedPath& one : tried) {
    text += (text.empty() ? "" : ", ") + one.path + " (" + one.outcome + ")";
  }
  return text;
}

}  // namespace

void* Library::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

void set_candidates(std::string_view name, std::vector<std::string> paths) {
  Row& row = row_of(name);
  std::lock_guard<std::mutex> lock(table_mutex);
  row.candidates = std::move(paths);
  row.failed = false;
  // A library that failed for want of this one may load now.
  for (size_t n = 0; Row* one = vendor::row(n); ++n)
    if (std::find(one->needs.begin(), one->needs.end(), name) != one->needs.end())
      one->failed = false;
}

const Library& require(std::string_view name) {
  Row& row = row_of(name);
  if (const Library* known = row.loaded.load(std::memory_order_acquire)) return *known;
  std::lock_guard<std::mutex> lock(table_mutex);
  if (const Library* library = load(row)) return *library;
  raise(ErrorKind::Runtime, row.operation, std::string("no ") + row.what + " found",
        list(row.tried), row.expected);
}

bool is_loaded(std::string_view name) {
  return row_of(name).loaded.load(std::memory_order_acquire) != nullptr;
}

bool is_offered(std::string_view name) {
  Row& row = row_of(name);
  std::lock_guard<std::mutex> lock(table_mutex);
  return !row.candidates.empty();
}

LibraryReport library_report(std::string_view name) {
  Row& row = row_of(name);
  std::lock_guard<std::mutex> lock(table_mutex);
  const Library* library = load(row);
  return {library ? library->path() : "", row.tried};
}

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (size_t n = 0; Row* one = row(n); ++n) names.emplace_back(one->name);
  return names;
}

void reset_libraries_for_tests() {
  std::lock_guard<std::mutex> lock(table_mutex);
  // Their users still compare addresses with them.
  static auto* dead = new std::vector<const Library*>;
  for (size_t n = 0; Row* one = row(n); ++n) {
    dead->push_back(one->loaded.exchange(nullptr));
    one->candidates.clear();
    one->tried.clear();
    one->failed = false;
  }
}

}  // namespace numbus::vendor
