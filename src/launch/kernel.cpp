// Launching on the host and on GPUs, and the records of errors.
#include "launch/kernel.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "compile/gpu_code.h"
#include "device/counts.h"
#include "device/device.h"
#include "passes/pipeline.h"

namespace numbus {

// A record is memory of the host that the GPU writes to. A program may make any number of queues:
// they share these, and at worst learn of each other's errors.
constexpr int kRecords = 16;
int record_of(int queue) { return queue == 0 ? 0 : 1 + queue % (kRecords - 1); }

struct GridKernel::OnGpu {
  cuda::CudaDevice* device;
  cuda::Function function;
  bool cooperative;                 // its blocks wait for each other
  bool recursive;                   // and is told how much stack it has
  int64_t* records[kRecords] = {};  // the first one is the device's own queue's

  int64_t* record_for(int queue, const std::vector<frontend::Site>& sites);
};

namespace {

struct Record {
  int number;
  int64_t* words;
  const std::vector<frontend::Site>* sites;
};

struct Records {
  std::mutex lock;
  std::vector<Record> all;
};
Records& records() {
  static auto* all = new Records;
  return *all;
}

// What a race is about: the array whose memory the noted offset lies in, and the element of it.
void name_element(Fault& f, const frontend::Result& r) {
  int64_t offset = f.record[compile::kFirst], fixed = compile::shared_bytes(r.module);
  for (const frontend::SharedArray& a : r.shared) {
    int64_t begin = a.number < 0 ? fixed : compile::shared_offset(r.module, a.number);
    int64_t count = 1;
    for (int64_t e : a.shape) count *= e;
    bool inside = offset >= begin && (a.number < 0 || offset < begin + count * a.itemsize);
    if (!inside) continue;
    f.array = a.name;
    f.index.assign(a.shape.size(), 0);
    int64_t at = (offset - begin) / a.itemsize;
    // The first extent of memory that the launch sizes is not known, and not needed.
    for (size_t d = a.shape.size(); d-- > 0;) {
      f.index[d] = d == 0 ? at : at % a.shape[d];
      if (d) at /= a.shape[d];
    }
    return;
  }
}

[[noreturn]] void raise_fault(const std::vector<frontend::Site>* sites, int64_t* record,
                              const frontend::Result* checked = nullptr) {
  Fault f;
  f.sites = sites;
  std::memcpy(f.record, record, sizeof f.record);
  std::memset(record, 0, sizeof f.record);
  if (checked && f.record[compile::kSite] == compile::kRace) name_element(f, *checked);
  throw f;
}

void check_geometry(const compile::Geometry& g) {
  auto text = [](const int64_t(&d)[3]) {
    return "(" + std::to_string(d[0]) + ", " + std::to_string(d[1]) + ", " + std::to_string(d[2]) +
           ")";
  };
  int64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    if (g.block[d] < 1 || g.grid[d] < 1)
      raise(ErrorKind::Value, "cuda", "a launch needs at least one block and one thread",
            "grid " + text(g.grid) + ", block " + text(g.block), "positive numbers");
    threads *= g.block[d];
  }
  if (threads > compile::kMostThreads || g.block[2] > 64)
    raise(ErrorKind::Value, "cuda", "too many threads in a block",
          text(g.block) + ", that is " + std::to_string(threads), "at most 1024, and 64 in z");
  if (g.grid[0] > 2147483647 || g.grid[1] > 65535 || g.grid[2] > 65535)
    raise(ErrorKind::Value, "cuda", "too many blocks in the grid", text(g.grid),
          "at most 2**31 - 1, 65535 and 65535");
  if (g.dynamic_bytes < 0 || g.dynamic_bytes > 227 * 1024)
    raise(ErrorKind::Value, "cuda", "too much shared memory",
          std::to_string(g.dynamic_bytes) + " bytes", "at most 227 KiB for a block");
}

}  // namespace

GridKernel::GridKernel(frontend::Result r) : result_(std::move(r)) { run_passes(result_.module); }

// Records outlive their kernels: a launch may still write to them.
GridKernel::~GridKernel() = default;

GridKernel::OnGpu& GridKernel::on_gpu(Device& d) {
  std::lock_guard guard(lock_);
  auto& known = gpu_[&d];
  if (!known) {
    auto made = std::make_unique<OnGpu>();
    made->device = static_cast<cuda::CudaDevice*>(&d);
    made->cooperative = compile::has_grid_barrier(result_.module);
    made->recursive = compile::has_recursion(result_.module);
    std::string identity = "kernel" + result_.module.key();
    for (const cuda::LinkInput& i : inputs_)
      identity += "/link " + std::to_string(i.kind) + " " + std::to_string(i.data.size()) + i.data;
    made->function = compile::gpu_code(*made->device, identity, [&](int sm, int version) {
                       std::string text = ptx(sm, version);
                       return inputs_.empty() ? text : made->device->link(text, inputs_);
                     }).function;
    known = std::move(made);
  }
  return *known;
}

int64_t* GridKernel::OnGpu::record_for(int queue, const std::vector<frontend::Site>& sites) {
  std::lock_guard guard(numbus::records().lock);
  int64_t*& known = records[record_of(queue)];
  if (!known) {
    constexpr size_t kBytes = sizeof(int64_t) * compile::kContextWords;
    HostBlock memory = device->allocate_host(kBytes, HostKind::Mapped, false);
    known = reinterpret_cast<int64_t*>(memory.begin);
    std::memset(known, 0, kBytes);
    numbus::records().all.push_back(
        {record_of(queue), known, new std::vector<frontend::Site>(sites)});
  }
  return known;
}

const compile::HostKernel& GridKernel::on_host(int64_t block_x) {
  std::lock_guard guard(lock_);
  auto it = host_.find(block_x % 32);
  if (it == host_.end()) {
    it = host_.emplace(block_x % 32, compile::compile_kernel(result_.module, block_x)).first;
    work_counts().compile_ms += it->second.milliseconds;
  }
  return it->second.kernel;
}

void GridKernel::launch(Device& d, const compile::Geometry& g, std::vector<int64_t>& words,
                        std::string* printed, Queue* queue, std::span<const Use> uses) {
  check_geometry(g);
  ++work_counts().user_launches;
  if (!d.runs_ptx()) {
    const compile::HostKernel& kernel = on_host(g.block[0]);
    int64_t record[compile::kContextWords] = {};
    compile::Output output;
    record[compile::kOutput] = reinterpret_cast<int64_t>(&output);
    KernelTimer timer(d);
    int32_t status = 0;
    try {
      status = compile::run_grid(kernel, g, words.data(), record);
    } catch (const Error&) {
      if (printed) *printed = std::move(output.text);
      throw;
    }
    if (printed) *printed = std::move(output.text);
    if (status) raise_fault(&result_.sites, record, &result_);
    return;
  }
  OnGpu& code = on_gpu(d);
  int64_t* record = code.record_for(queue ? queue->number() : 0, result_.sites);
  std::vector<void*> parameters;
  parameters.reserve(3 + words.size());
  parameters.push_back(static_cast<void*>(&record));
  for (int64_t& w : words) parameters.push_back(&w);
  size_t stack = 0;
  if (code.recursive) {
    stack = code.device->stacks().for_recursion();
    parameters.push_back(&stack);
  }
  cuda::DevicePointer stop = cuda::stop_word(code.device->context());
  parameters.push_back(&stop);
  auto dim = [](const int64_t(&x)[3]) {
    return cuda::Dim3{static_cast<unsigned>(x[0]), static_cast<unsigned>(x[1]),
                      static_cast<unsigned>(x[2])};
  };
  Ordered order(d, queue, uses);
  KernelTimer timer(d, queue);
  code.function.launch(dim(g.grid), dim(g.block), static_cast<size_t>(g.dynamic_bytes),
                       code.device->stream_of(queue), parameters.data(), code.cooperative);
}

KernelReport GridKernel::report(Device& d, int threads, size_t shared) {
  KernelReport r;
  if (!d.runs_ptx()) return r;
  cuda::Function& f = on_gpu(d).function;
  cuda::FunctionAttributes a = f.attributes();
  r.registers = a.registers;
  r.shared_bytes = a.shared_bytes;
  r.local_bytes = a.local_bytes;
  r.max_threads = a.max_threads;
  r.blocks_per_multiprocessor = f.blocks_per_multiprocessor(threads, shared);
  return r;
}

void check_faults(int queue) {
  std::lock_guard guard(records().lock);
  for (const Record& r : records().all)
    if ((queue == kAnyQueue || record_of(queue) == r.number) &&
        __atomic_load_n(&r.words[compile::kClaimed], __ATOMIC_ACQUIRE))
      raise_fault(r.sites, r.words);
}

}  // namespace numbus
