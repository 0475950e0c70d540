// Cuts a scan into launches for a GPU: who walks which lines, in how many segments.
#include <algorithm>

#include "lazy/entries.h"
#include "lazy/load_code.h"
#include "lazy/scan.h"

namespace numbus {
namespace {

using compile::GpuScan;

constexpr int64_t kSegmentsWanted = 4096;  // blocks: a few waves, whatever the GPU
constexpr int64_t kThreadsWanted = 1 << 17;
constexpr int64_t kShortLine = 32, kWarpLine = 512;
constexpr unsigned kThreads = 256;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Form {
  int64_t outer, n, inner, segment, segments;
  int64_t lines() const { return outer * inner; }
};

ScanLaunch launch(const GpuScan& g, const Form& f, const Layout& in, const Layout& out) {
  ScanLaunch l;
  l.kernel = g;
  l.in_scratch = false;
  l.words.assign(GpuScan::kWords, 0);
  for (int d = 0; d < 3; ++d) {
    l.words[GpuScan::kIn + 1 + d] = in.stride(d);
    l.words[GpuScan::kOut + 1 + d] = out.stride(d);
  }
  l.words[GpuScan::kLength] = f.n;
  l.words[GpuScan::kOuter] = f.outer;
  l.words[GpuScan::kInner] = f.inner;
  l.words[GpuScan::kSegment] = f.segment;
  l.words[GpuScan::kSegments] = f.segments;
  int64_t segments = f.segments - (g.totals ? 1 : 0);
  unsigned threads = g.blocks ? 32 * g.warps : kThreads;
  int64_t x = g.blocks ? segments : divide_up(f.lines() * segments, kThreads);
  int64_t y = g.blocks ? std::min<int64_t>(f.lines(), 65535) : 1;
  unsigned grid[3] = {static_cast<unsigned>(std::min<int64_t>(x, 1 << 20)),
                      static_cast<unsigned>(y), 1};
  unsigned block[3] = {threads, 1, 1};
  std::copy(grid, grid + 3, l.grid);
  std::copy(block, block + 3, l.block);
  return l;
}

}  // namespace

bool scan_aligned(const KernelStep& step) {
  const CallStep& c = *step.call;
  for (int n = 0; n < 2; ++n) {
    const Layout& l = *c.layouts[n];
    bool rows =
        (l.shape(0) == 1 || l.stride(0) % 16 == 0) && (l.shape(2) == 1 || l.stride(2) % 16 == 0);
    if (l.stride(1) != l.itemsize() || step.params[n] % 16 || !rows) return false;
  }
  return true;
}

ScanLaunches plan_gpu_scan(const KernelStep& step) {
  const CallStep& c = *step.call;
  const Layout &in = *c.layouts[0], &out = *c.layouts[1];
  DType from = step.patches[0].dtype;
  Form f{out.shape(0), out.shape(1), out.shape(2), out.shape(1), 1};
  bool cuts = compile::is_associative(c.op);
  bool along = f.inner == 1 || std::abs(out.stride(1)) <= std::abs(out.stride(2));
  bool aligned = scan_aligned(step);
  GpuScan g;
  g.code = compile::scan_code(c.op, from, c.type, in.stride(1) == in.itemsize(),
                              out.stride(1) == out.itemsize(), aligned);
  g.between = compile::scan_code(c.op, c.type, c.type, true, true);
  g.blocks = cuts && along && f.n > kShortLine;
  if (g.blocks) {
    g.warps = f.n <= kWarpLine ? 1 : 8;
    if (aligned) g.vector = std::clamp(16 / std::max(itemsize(from), itemsize(c.type)), 1, 4);
    int64_t tiles = divide_up(f.n, g.tile());
    if (tiles > 2) f.segment = divide_up(tiles * f.lines(), kSegmentsWanted) * g.tile();
  } else if (cuts && f.n >= 128) {
    int64_t wanted = std::min(kThreadsWanted / f.lines(), f.n / 64);
    if (wanted > 1) f.segment = divide_up(f.n, wanted);
  }
  f.segments = divide_up(f.n, f.segment);
  ScanLaunches all;
  if (f.segments == 1) {
    all.launches.push_back(launch(g, f, in, out));
    return all;
  }
  int64_t size = itemsize(c.type);
  all.scratch = static_cast<size_t>(f.lines() * f.segments * size);
  g.totals = true;
  all.launches.push_back(launch(g, f, in, out));
  {
    GpuScan middle;
    middle.code = middle.between = g.between;
    middle.blocks = true;
    middle.warps = f.segments <= kWarpLine ? 1 : 8;
    Form m{f.lines(), f.segments - 1, 1, f.segments - 1, 1};
    int64_t shape[3] = {m.outer, m.n, 1}, strides[3] = {f.segments * size, size, 0};
    LayoutRef totals(Layout::get(shape, strides, static_cast<int>(size)));
    all.launches.push_back(launch(middle, m, *totals, *totals));
    all.launches.back().in_scratch = true;
  }
  g.totals = false;
  g.carries = true;
  all.launches.push_back(launch(g, f, in, out));
  return all;
}

namespace {

struct ScanRun {
  ScanLaunches scan;
  std::vector<cuda::Function> functions;
};

ScanRun& scan_for(Runtime& rt, cuda::CudaDevice& d, KernelStep& step) {
  constexpr size_t kSizes = 16;  // of a scan whose lines change; more are made again
  std::string key = scan_aligned(step) ? "aligned" : "";
  for (const Layout* l : step.call->layouts)
    key.append(reinterpret_cast<const char*>(l->shape()), 6 * sizeof(int64_t));
  DeviceCode& known = *step.device_code;
  if (void* made = known.find(key)) return *static_cast<ScanRun*>(made);
  if (known.size() >= kSizes) known.clear();
  auto run = std::make_shared<ScanRun>();
  run->scan = plan_gpu_scan(step);
  for (const ScanLaunch& l : run->scan.launches)
    run->functions.push_back(load_code(rt, d, l.kernel.key(), [&](int sm, int ptx) {
      return compile::build_scan_ptx(l.kernel, sm, ptx);
    }));
  known.emplace_back(key, run);
  return *run;
}

}  // namespace

void scan_gpu(Runtime& rt, Device& device, KernelStep& step) {
  auto& d = static_cast<cuda::CudaDevice&>(device);
  ScanRun& run = scan_for(rt, d, step);
  char* scratch = run.scan.scratch ? static_cast<char*>(d.allocate(run.scan.scratch)) : nullptr;
  auto totals = reinterpret_cast<int64_t>(scratch);
  for (size_t n = 0; n < run.functions.size(); ++n) {
    ScanLaunch& l = run.scan.launches[n];
    l.words[compile::GpuScan::kIn] = l.in_scratch ? totals : step.params[0];
    l.words[compile::GpuScan::kOut] = l.in_scratch ? totals : step.params[1];
    l.words[compile::GpuScan::kTotals] = totals;
    std::vector<void*> parameters;
    for (int64_t& w : l.words) parameters.push_back(&w);
    run.functions[n].launch({l.grid[0], l.grid[1], l.grid[2]}, {l.block[0], l.block[1], l.block[2]},
                            0, d.stream(), parameters.data());
  }
  if (scratch) d.free(scratch, run.scan.scratch);
}

}  // namespace numbus
