// Kernels of a grid on the host: what generated code and the scheduler of its threads share.
#pragma once

#include <cstdint>

#include "compile/runtime.h"
#include "ir/function.h"

namespace numbus::compile {

// One thread of a launch, as generated code sees it: 64-bit words.
enum Thread : int {
  kRecord,  // where errors are noted: Context words
  kLinear,  // its number in the block
  kTid,     // x, y, z; the others likewise
  kNtid = kTid + 3,
  kCtaid = kNtid + 3,
  kNctaid = kCtaid + 3,
  kShared = kNctaid + 3,  // address of the block's shared memory
  kDynamic,               // of its part that the launch sizes
  kDynamicBytes,
  kScratch,  // of a block whose threads run on lanes
  kEnded,    // the line where the thread left the kernel, of one that is checked
  kFiber,    // where the thread waits; zero where threads run one after the other
  kThreadWords
};

// Of a block; the launch refuses more.
constexpr int64_t kMostThreads = 1024;

// Shared arrays lie one after the other, each at a multiple of 16 bytes.
int64_t shared_offset(const ir::Module& m, int64_t number);
int64_t shared_bytes(const ir::Module& m);
// Bytes of local arrays per thread.
int64_t local_bytes(const ir::Module& m);
// Whether threads of a block wait for each other.
bool has_waits(const ir::Module& m);
bool has_grid_barrier(const ir::Module& m);
// Whether a function calls itself, or others that call it.
bool has_recursion(const ir::Module& m);
// Whether lanes of a warp look at each other's values.
bool has_warp_operations(const ir::Module& m);
// Of a kernel that is checked: the bytes of its narrowest access to shared memory.
int watched_granule(const ir::Module& m);

struct Geometry {
  int64_t grid[3], block[3];
  int64_t dynamic_bytes;
};

// A kernel compiled for the host. Without waits, `code` runs all threads of a block; with them, one
// thread. Both take the thread's words and those of the parameters; for blocks only the block's
// part is set.
struct HostKernel {
  using Code = int32_t (*)(int64_t* thread, const int64_t* words);
  Code code = nullptr;
  // All threads of a block on so many lanes, with so much scratch for a group of them.
  int lanes = 0;
  int64_t scratch = 0;
  bool waits = false, grid_barrier = false, recursive = false;
  int64_t shared = 0, local = 0;
  // Whether accesses and barriers are checked, and the narrowest access in bytes.
  bool checked = false;
  int granule = 1;
};

// Runs the grid, blocks on the thread pool; the status. Errors are noted in the record.
int32_t run_grid(const HostKernel& k, const Geometry& g, const int64_t* words, int64_t* record);

extern "C" {
// Waiting, for threads that run as fibers. kind: ir::Intrinsic of the barrier or warp operation;
// place: a site in the source, or zero.
int64_t numbus_wait(int64_t* thread, int64_t kind, int64_t mask, int64_t value, int64_t other,
                    int64_t position);
// What a checked thread is about to do: use `bytes` at the address (ir::watched_access); a fence.
void numbus_watch(int64_t* thread, int64_t address, int64_t value, int64_t watched, int64_t bytes);
void numbus_fence(int64_t* thread);
}

}  // namespace numbus::compile
