// A kernel of one block copies the value, and then a number that no launch had before, to memory of
// the host that is mapped for the GPU. The host looks for that number: an event would tell the same
// later, and copies in the stream wait for its end.
#include "lazy/early_gpu.h"

#include <array>
#include <string>
#include <unordered_map>

#include "device/cuda/stop.h"
#include "lazy/late_gpu.h"
#include "lazy/load_code.h"

namespace numbus {
namespace {

constexpr size_t kCells = 64;
constexpr int64_t kCellBytes = 128;  // the value, then the number of the launch

std::string early_ptx(int sm, int ptx) {
  std::string code = ".version " + std::to_string(ptx / 10) + "." + std::to_string(ptx % 10) +
                     "\n.target sm_" + std::to_string(sm) + "\n";
  code += R"(.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to, .param .u64 bytes, .param .u64 number)
{
  .reg .pred %p<3>;
  .reg .b16 %h<2>;
  .reg .b32 %r<2>;
  .reg .b64 %d<8>;
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %d1, %r1;
  ld.param.u64 %d2, [from];
  ld.param.u64 %d3, [to];
  ld.param.u64 %d4, [bytes];
  ld.param.u64 %d5, [number];
  setp.ge.u64 %p1, %d1, %d4;
  @%p1 bra $copied;
  add.u64 %d6, %d2, %d1;
  ld.global.u8 %h1, [%d6];
  add.u64 %d7, %d3, %d1;
  st.volatile.global.u8 [%d7], %h1;
  membar.sys;
$copied:
  bar.sync 0;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra $told;
  membar.sys;
  st.volatile.global.u64 [%d3+64], %d5;
$told:
  ret;
}
)";
  return code;
}

struct Cells {
  HostBlock block;
  std::array<bool, kCells> taken{};
  cuda::Function function;

  Cells(Runtime& rt, cuda::CudaDevice& d)
      : block(d.allocate_host(kCells * kCellBytes, HostKind::Mapped, false)),
        function(load_code(rt, d, "early value", early_ptx)) {}
};

class Value final : public GpuEarlyValue {
 public:
  Value(cuda::CudaDevice& device, Cells& cells, size_t cell)
      : device_(device), cells_(cells), cell_(cell) {
    cells_.taken[cell_] = true;
    launch_.function = &cells_.function;
    launch_.block.x = static_cast<unsigned>(kEarlyBytes);
  }
  ~Value() override { cells_.taken[cell_] = false; }

  GpuLaunch& next(const char* data, int64_t bytes) override {
    static int64_t launches = 0;  // under Python's lock
    number_ = ++launches;
    before_ = gpu_late_runs(device_);
    launch_.words = {reinterpret_cast<int64_t>(data),
                     static_cast<int64_t>(cells_.block.device_address) + offset(), bytes, number_};
    return launch_;
  }
  bool wait() override {
    const auto* word = reinterpret_cast<const int64_t*>(bytes() + kEarlyBytes);
    if (!cuda::wait_for_word(device_.stream(), word, number_)) return false;
    gpu_late_runs_ended(device_, before_);
    return true;
  }
  int64_t launch() const override { return number_; }
  const char* bytes() const override {
    return reinterpret_cast<const char*>(cells_.block.begin) + offset();
  }

 private:
  int64_t offset() const { return static_cast<int64_t>(cell_) * kCellBytes; }

  cuda::CudaDevice& device_;
  Cells& cells_;
  size_t cell_;
  int64_t number_ = 0, before_ = 0;
  GpuLaunch launch_;
};

}  // namespace

std::shared_ptr<GpuEarlyValue> gpu_early_value(Runtime& rt, cuda::CudaDevice& device) {
  // Under Python's lock.
  static auto* all = new std::unordered_map<cuda::CudaDevice*, std::unique_ptr<Cells>>;
  std::unique_ptr<Cells>& cells = (*all)[&device];
  if (!cells) cells = std::make_unique<Cells>(rt, device);
  for (size_t cell = 0; cell < kCells; ++cell)
    if (!cells->taken[cell]) return std::make_shared<Value>(device, *cells, cell);
  return nullptr;
}

}  // namespace numbus
