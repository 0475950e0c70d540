// A ring of words of the host's that kernels write to through the link, which only those do that
// meet something wrong: copying words of the device's after each run took the host 5 µs more.
#include "lazy/late_gpu.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "device/cuda/stop.h"

namespace numbus {
namespace {

constexpr size_t kCells = 32;
constexpr size_t kWords = 64;

struct Cell {
  int64_t* device = nullptr;  // the address of `host` for kernels
  int64_t* host = nullptr;
  std::optional<cuda::Event> done;  // the run
  bool taken = false;               // a LateWords uses it
  bool used = false;                // a run may have written to its words
  bool queued = false;              // the event is recorded,
  bool reached = false;             // and was seen to be reached
  int64_t number = 0;               // of the runs that had such words, once it is queued
  bool passed = false;              // it was not asked for while its run was just under way
};

struct Ring {
  cuda::CudaDevice& device;
  std::array<Cell, kCells> cells;
  size_t next = 0;
  int64_t queued = 0;  // how many runs there were
  int64_t ended = 0;   // how many of these have ended, as a value that came early has told

  explicit Ring(cuda::CudaDevice& d) : device(d) {
    const size_t bytes = kCells * kWords * sizeof(int64_t);
    const HostBlock block = d.allocate_host(bytes, HostKind::Mapped, false);
    auto* host = reinterpret_cast<int64_t*>(block.begin);
    auto* memory = reinterpret_cast<int64_t*>(block.device_address);
    std::fill_n(host, kCells * kWords, 0);
    for (size_t n = 0; n < kCells; ++n) {
      cells[n].device = memory + n * kWords;
      cells[n].host = host + n * kWords;
      cells[n].done.emplace(d.create_event());
    }
  }

  Cell* take() {
    for (size_t tried = 0; tried < kCells; ++tried) {
      Cell& s = cells[next++ % kCells];
      if (s.taken) continue;
      if (s.used) {
        // The host is as many runs ahead as there are cells.
        if (!s.queued) s.done->record(device.stream());
        if (!is_reached(s)) cuda::wait_interruptibly(*s.done);
        std::fill_n(s.host, kWords, 0);
      }
      s.used = s.taken = true;
      s.queued = s.reached = s.passed = false;
      return &s;
    }
    return nullptr;
  }
  bool is_reached(Cell& s) const {
    s.reached = s.reached || (s.queued && s.number <= ended);
    return s.reached;
  }
};

class GpuLateWords final : public LateWords {
 public:
  GpuLateWords(Ring& ring, Cell& cell) : ring_(ring), cell_(cell) {}
  ~GpuLateWords() override { cell_.taken = false; }
  int64_t* target() override { return cell_.device; }
  void collect() override {
    cell_.done->record(ring_.device.stream());
    cell_.queued = true;
    cell_.number = ++ring_.queued;
  }
  bool arrived() override {
    if (ring_.is_reached(cell_) || !cell_.queued) return cell_.reached;
    // The run was under way when a value of its own came: the driver is asked the next time.
    if (ring_.ended > 0 && cell_.number == ring_.ended + 1 && !cell_.passed) {
      cell_.passed = true;
      return false;
    }
    cell_.reached = cell_.done->done();
    return cell_.reached;
  }
  void wait() override {
    if (!cell_.queued) collect();
    if (!ring_.is_reached(cell_)) cuda::wait_interruptibly(*cell_.done);
    cell_.reached = true;
  }
  const int64_t* words() const override { return cell_.host; }

 private:
  Ring& ring_;
  Cell& cell_;
};

std::unique_ptr<Ring>& ring_of(cuda::CudaDevice& device) {
  static auto* rings = new std::unordered_map<cuda::CudaDevice*, std::unique_ptr<Ring>>;
  return (*rings)[&device];
}

}  // namespace

int64_t gpu_late_runs(cuda::CudaDevice& device) {
  const std::unique_ptr<Ring>& ring = ring_of(device);
  return ring ? ring->queued : 0;
}

void gpu_late_runs_ended(cuda::CudaDevice& device, int64_t count) {
  if (const std::unique_ptr<Ring>& ring = ring_of(device))
    ring->ended = std::max(ring->ended, count);
}

std::unique_ptr<LateWords> gpu_late_words(cuda::CudaDevice& device, size_t words) {
  if (words > kWords) return nullptr;
  std::unique_ptr<Ring>& ring = ring_of(device);
  if (!ring) ring = std::make_unique<Ring>(device);
  Cell* cell = ring->take();
  return cell ? std::make_unique<GpuLateWords>(*ring, *cell) : nullptr;
}

}  // namespace numbus
