// Launches on an NVIDIA GPU: picks the kernel's form, vector width and grid, and gives it its
// parameters.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "compile/disk_cache.h"
#include "compile/gpu.h"
#include "compile/gpu_code.h"
#include "device/cuda/cuda_device.h"
#include "lazy/executor.h"
#include "lazy/late_gpu.h"
#include "lazy/load_code.h"
#include "lazy/replay_gpu.h"
#include "lazy/scan.h"

namespace numbus {
namespace {

struct Code {
  ir::Kernel kernel;  // the step's, with this launch's alignment
  compile::GpuKernel gpu;
  cuda::Function function;
};

// Scratch for states that blocks exchange; the first words are a counter that every launch leaves
// at zero.
struct Scratch {
  char* data = nullptr;
  size_t bytes = 0;
  char* get(cuda::CudaDevice& d, size_t need) {
    if (need > bytes) {
      if (data) d.free(data, bytes);
      bytes = std::max<size_t>(need, 1 << 20);
      data = static_cast<char*>(d.allocate(bytes));
      d.fill_bytes(data, 0, bytes);
    }
    return data;
  }
};

// Of a reduction to one result.
constexpr int64_t kBlocks = 132 * 8;

int64_t power_of_two_up(int64_t n, int64_t limit) {
  int64_t p = 1;
  while (p < n && p < limit) p *= 2;
  return p;
}

// Threads that share a row's groups: as few as possible idle in the last one of their rounds, and
// in a block with others for more rows.
int64_t threads_across(int64_t groups, int64_t limit) {
  constexpr int64_t kHalfWarp = 16, kManyRounds = 8;
  if (groups < kHalfWarp || groups >= kManyRounds * limit) return power_of_two_up(groups, limit);
  int64_t best = limit;
  double most = 0;
  for (int64_t x = kHalfWarp; x <= limit; x += kHalfWarp) {
    const int64_t rounds = (groups + x - 1) / x, together = limit / x * x;
    const double used = static_cast<double>(groups) / static_cast<double>(rounds * x) *
                        static_cast<double>(together) / static_cast<double>(limit);
    if (used >= most) {
      most = used;
      best = x;
    }
  }
  return best;
}

// How the arguments lie: which allow 16-byte accesses along every row, and how they lie beside one
// another. Part of a kernel's identity.
struct Arrangement {
  std::string aligned;
  std::string overwritten;  // which are read in memory that a result takes over
  std::vector<compile::GpuAddress> addresses;
  bool narrow = true;
  std::string key() const {
    std::string s = aligned + overwritten;
    s += narrow ? 'n' : 'w';
    for (const compile::GpuAddress& p : addresses)
      for (int v : {p.like, p.base, p.row, p.col}) s.append(reinterpret_cast<const char*>(&v), 2);
    return s;
  }
};

// Rows of two or four points, each a vector: the windows of a pooling, pairs of real numbers. Only
// where it counts, as it is another variant of the kernel.
bool has_tiny_rows(const KernelStep& step) {
  constexpr int64_t kMany = 1 << 16;
  const ir::Kernel& k = step.code->ir;
  return step.points >= kMany && step.reduces.empty() && k.acc == ir::Acc::None && k.boxes == 0 &&
         !k.checks && k.rank > 1 && (step.cols == 2 || step.cols == 4);
}

Arrangement arrangement_of(const KernelStep& step) {
  const ir::Kernel& k = step.code->ir;
  int n = static_cast<int>(k.args.size());
  Arrangement l{std::string(n, 0), std::string(n, 0), std::vector<compile::GpuAddress>(n)};
  const bool tiny = has_tiny_rows(step);
  auto words = [&](int a) { return step.params.data() + k.param_arg(a); };
  for (int a = 0; a < n; ++a) {
    const int64_t* p = words(a);
    compile::GpuAddress& address = l.addresses[a];
    address = {a, a, 0, 0};
    for (int b = 0; b < n && !k.args[a].written; ++b)
      if (k.args[b].written && words(b)[0] == p[0]) l.overwritten[a] = 1;
    double reach = 0;
    for (int dim = 0; dim + 1 < k.rank; ++dim)
      reach += std::abs(static_cast<double>(p[1 + dim])) * static_cast<double>(step.params[dim]);
    l.narrow = l.narrow && reach < std::numeric_limits<int32_t>::max();
    for (int b = a - 1; b >= 0; --b)
      if (k.args[a].inner == k.args[b].inner && std::equal(p + 1, p + 1 + k.rank, words(b) + 1))
        address.like = l.addresses[b].like;
    // Other short rows have one variant, point by point.
    if (k.args[a].inner != ir::Inner::Contiguous || (k.rank > 1 && step.cols < 16 && !tiny))
      continue;
    const int64_t whole = tiny ? std::min<int64_t>(16, step.cols * itemsize(k.args[a].dtype)) : 16;
    bool ok = p[0] % whole == 0;
    // A reduction counts points through the rows: vectors then begin at multiples of four in
    // every row.
    if (k.acc == ir::Acc::Lanes && k.rank > 1 && step.cols % 4) ok = false;
    for (int dim = 0; dim + 1 < k.rank; ++dim)
      ok = ok && (p[1 + dim] % whole == 0 || step.params[dim] == 1);
    l.aligned[a] = ok;
    // A few rows up or down and a few elements aside, where rows are long enough to tell.
    int64_t size = itemsize(k.args[a].dtype), stride = k.rank > 1 ? p[k.rank - 1] : 0;
    if (address.like == a || (k.rank > 1 && stride < 16 * size)) continue;
    for (int b = address.like; b < a; ++b) {
      if (l.addresses[b].base != b || l.addresses[b].like != address.like ||
          k.args[b].dtype != k.args[a].dtype)
        continue;
      int64_t apart = p[0] - words(b)[0];
      int64_t rows = stride ? (2 * apart + (apart < 0 ? -stride : stride)) / (2 * stride) : 0;
      int64_t rest = apart - rows * stride;
      if (std::abs(rows) > 4 || std::abs(rest) > 4 * size || rest % size) continue;
      address.base = b;
      address.row = static_cast<int>(rows);
      address.col = static_cast<int>(rest / size);
      break;
    }
  }
  return l;
}

// The form and width of a step's kernel.
void describe(Code& code, const KernelStep& step, const Arrangement& layout) {
  const std::string& aligned = layout.aligned;
  const ir::Kernel& k = step.code->ir;
  int widest = 1;
  bool any = false;
  code.kernel = k;
  for (size_t a = 0; a < k.args.size(); ++a) {
    code.kernel.args[a].aligned = aligned[a];
    code.kernel.args[a].overwritten = layout.overwritten[a];
    if (k.args[a].inner != ir::Inner::Contiguous) continue;
    any = any || aligned[a];
    widest = std::max(widest, itemsize(k.args[a].dtype));
  }
  compile::GpuKernel& g = code.gpu;
  g.kernel = &code.kernel;
  g.addresses = layout.addresses;
  g.narrow = layout.narrow;
  for (const ReduceStep& r : step.reduces)
    g.reduces.push_back({r.kind, r.in, r.out, r.first_field, r.fields});
  if (step.reduces.empty()) {
    g.vector = any ? std::max(1, 16 / widest) : 1;
    if (step.cols < g.vector) g.vector = 1;
    if (has_tiny_rows(step)) {
      // A thread works out once where its rows lie: of two, more were slower (H200).
      g.vector = static_cast<int>(step.cols);
      g.rows_each = step.params[k.rank - 2] % 2 == 0 ? 2 : 1;
      return;
    }
    // Long bodies of 32-bit values take two loads' worth: one preparation for eight points (H200).
    if (k.body.size() > 64 && widest == 4 && g.vector == 4 && step.cols >= 1 << 20) g.vector = 8;
    // Threads walk down a few rows where these share what they read.
    if (g.shares_rows() && k.rank == 2 && k.boxes == 0 && g.vector > 1) g.rows_each = 3;
  } else if (k.acc == ir::Acc::Columns) {
    g.form = compile::GpuForm::ReduceColumns;
  } else {
    g.form = step.keeps ? compile::GpuForm::ReduceRows : compile::GpuForm::ReduceAll;
    g.vector = compile::gpu_reduce_vector(g);
    // Many short rows: most of a block's threads would wait for each other.
    g.warps = step.keeps && k.rank == 2 && step.sequential == 1 && k.boxes == 0 &&
              k.body.size() <= 32 && step.cols <= compile::kGpuThreads * g.vector &&
              step.rows >= 2 * kBlocks;
    // Where blocks lie straight below one another, one does the work of a few: rows that these
    // share come from its cache.
    int64_t width = compile::kGpuThreads * g.vector, across = step.cols / width;
    if (g.form == compile::GpuForm::ReduceAll && g.shares_rows() && k.rank == 2 &&
        step.cols % width == 0 && step.points >= kBlocks * width && k.body.size() <= 48)
      for (int rows : {4, 3, 2, 1})
        if (g.strip == 0 && kBlocks % (rows * across) == 0) g.strip = rows;
  }
}

class GpuExecutor final : public Executor, GpuLaunches {
 public:
  void run(Runtime& rt, Device& device, KernelStep& step) override {
    auto& d = static_cast<cuda::CudaDevice&>(device);
    char* report = nullptr;
    const bool waits = step.code->ir.checks && !step.late;
    if (waits) report = reports_[&d].get(d, step.report.size() * 8);
    GpuLaunch l;
    prepare(rt, d, step, report, l);
    if (!l.function) return;
    l.start(d.stream());
    if (waits) read_report(d, step, report);
  }

  std::unique_ptr<Replay> make_replay(Device& device) override {
    return make_gpu_replay(static_cast<cuda::CudaDevice&>(device), *this);
  }

  bool drop_replays(Device& device) override {
    return drop_gpu_replays(static_cast<cuda::CudaDevice&>(device));
  }

  void prepare(Runtime& rt, cuda::CudaDevice& d, KernelStep& step, GpuLaunch& l) override {
    prepare(rt, d, step, nullptr, l);
  }
  const char* scratch(cuda::CudaDevice& d) override { return scratch_[&d].data; }

  // report: where it reports, if that is waited for.
  void prepare(Runtime& rt, cuda::CudaDevice& d, KernelStep& step, char* report, GpuLaunch& l) {
    l.function = nullptr;
    if (step.serial) {
      raise(ErrorKind::NotImplemented, "assign",
            "writing one element more than once is not yet available on a GPU",
            "an overlapping view", "a copy() of it");
    }
    if (step.points == 0) return;
    Code& code = code_for(rt, d, step);
    const compile::GpuKernel& g = code.gpu;
    std::vector<int64_t>& words = l.words;
    words.assign(g.words(), 0);
    std::copy(step.params.begin(), step.params.end(), words.begin());
    l.grid = l.block = {};
    cuda::Dim3 &grid = l.grid, &block = l.block;
    int64_t per_thread = g.vector;
    if (g.form == compile::GpuForm::Map) {
      int64_t groups = (step.cols + per_thread - 1) / per_thread;
      const int64_t threads = compile::kGpuThreads;
      // Blocks of several rows where these read one another's neighbours: one cache serves them.
      block.x = static_cast<unsigned>(g.shares_rows() ? power_of_two_up(groups, 64)
                                                      : threads_across(groups, threads));
      int64_t rows = (step.rows + g.rows_each - 1) / g.rows_each;
      block.y = static_cast<unsigned>(
          std::min<int64_t>(threads / block.x, power_of_two_up(rows, threads)));
      // Where there are rows enough, a thread walks a few groups of each: the row's addresses are
      // worked out once.
      int64_t walk = step.rows >= 4096 && groups >= 4 * block.x ? 4 : 1;
      grid.x = static_cast<unsigned>(
          std::min<int64_t>((groups + block.x * walk - 1) / (block.x * walk), 1 << 30));
      // Long bodies: threads live on, so that what all points share is prepared seldom.
      if (code.kernel.body.size() > 64 && step.rows == 1)
        grid.x = std::min(grid.x, static_cast<unsigned>(4 * kBlocks));
      grid.y = static_cast<unsigned>(std::min<int64_t>((rows + block.y - 1) / block.y, 65535));
      words[g.word_rows()] = step.rows;
      words[g.word_points()] = step.cols;
    } else {
      int64_t count = step.keeps ? step.rows / step.sequential : 1;
      int64_t each = step.keeps ? step.sequential * step.cols : step.points;
      if (step.code->ir.rank > 1 && std::max(each, step.rows) > INT64_C(0xFFFFFFFF)) {
        raise(ErrorKind::NotImplemented, "reduce",
              "too many elements for a strided reduction on a GPU", std::to_string(step.points),
              "below 2**32");
      }
      if (g.form == compile::GpuForm::ReduceColumns) {
        block.x = 32;
        block.y = compile::kGpuThreads / 32;
        grid.x = static_cast<unsigned>(std::min<int64_t>((step.cols + 31) / 32, 1 << 20));
        grid.y = static_cast<unsigned>(std::min<int64_t>(count, 65535));
      } else {
        block.x = compile::kGpuThreads;
        block.y = static_cast<unsigned>(std::max(1, g.strip));
        const int64_t rows = g.warps ? (count + 7) / 8 : count;
        grid.y = static_cast<unsigned>(std::min<int64_t>(rows, 65535));
        if (g.form == compile::GpuForm::ReduceAll) {
          // A fixed number of blocks for a given size: the order of the sum depends on nothing
          // else.
          int64_t wanted =
              (each + compile::kGpuThreads * per_thread - 1) / (compile::kGpuThreads * per_thread);
          grid.x = static_cast<unsigned>(std::min<int64_t>(wanted, kBlocks) / block.y);
        }
      }
      words[g.word_rows()] = count;
      words[g.word_points()] = each;
      words[g.word_sequential()] = step.keeps ? step.sequential : g.strip ? step.rows : 0;
      Scratch& scratch = scratch_[&d];
      words[g.word_partials()] = reinterpret_cast<int64_t>(
          scratch.get(d, 16 + kBlocks * 8 * (step.code->ir.acc_fields.size() + 1)));
      for (size_t r = 0; r < step.reduces.size(); ++r) {
        int w = g.word_reduce(static_cast<int>(r));
        words[w] = reinterpret_cast<int64_t>(step.results[r]);
        for (int k = 0; k < step.code->ir.rank; ++k) words[w + 1 + k] = step.reduces[r].strides[k];
        std::memcpy(&words[w + 1 + step.code->ir.rank], &step.reduces[r].ddof, 8);
      }
    }
    if (step.code->ir.checks)
      words[step.code->ir.param_report()] =
          step.late ? reinterpret_cast<int64_t>(step.late) : reinterpret_cast<int64_t>(report);
    l.function = &code.function;
  }

  std::unique_ptr<LateWords> late_words(Device& device, size_t words) override {
    return gpu_late_words(static_cast<cuda::CudaDevice&>(device), words);
  }

  // Wrong values must stop what depends on them: the kernel is waited for.
  static void read_report(cuda::CudaDevice& d, KernelStep& step, char* report) {
    size_t bytes = step.report.size() * 8;
    try {
      d.copy_to_host(step.report.data(), report, bytes);
    } catch (...) {
      // The kernel may yet report, to the next one that uses these words.
      d.fill_bytes(report, 0, bytes);
      throw;
    }
    if (std::count(step.report.begin(), step.report.end(), 0) < std::ssize(step.report))
      d.fill_bytes(report, 0, bytes);
  }

 private:
  Code& code_for(Runtime& rt, cuda::CudaDevice& d, KernelStep& step) {
    Arrangement layout = arrangement_of(step);
    std::string key = layout.key();
    // Whether tiny rows come in pairs is asked of the extent beside them.
    const int rank = step.code->ir.rank;
    const int64_t pairs = rank > 1 ? step.params[static_cast<size_t>(rank) - 2] % 2 : 0;
    for (int64_t n :
         {step.cols, step.points, pairs, step.sequential, static_cast<int64_t>(d.ordinal())})
      key.append(reinterpret_cast<const char*>(&n), 8);
    if (step.device_key == key) return *static_cast<Code*>(step.device_made);
    auto code = std::make_shared<Code>();
    describe(*code, step, layout);
    std::string known = layout.key();
    for (int n : {static_cast<int>(code->gpu.form), code->gpu.vector, code->gpu.rows_each,
                  code->gpu.strip, static_cast<int>(code->gpu.warps), d.ordinal()})
      known += ' ' + std::to_string(n);
    step.device_key = key;
    step.device_made = step.device_code->find(known);
    if (step.device_made) return *static_cast<Code*>(step.device_made);
    step.device_key.clear();
    code->function = load_code(rt, d, code->gpu.key(), [&](int sm, int ptx) {
      return compile::build_ptx(code->gpu, sm, ptx);
    });
    step.device_code->emplace_back(std::move(known), code);
    step.device_key = std::move(key);
    step.device_made = code.get();
    return *code;
  }

  std::unordered_map<cuda::CudaDevice*, Scratch> scratch_, reports_;
};

}  // namespace

std::vector<std::string> ptx_of(const Run& run, int sm, int ptx) {
  std::vector<std::string> all;
  for (const KernelStep& step : run.steps) {
    if (step.call && step.call->routine == Routine::accumulate)
      for (const ScanLaunch& l : plan_gpu_scan(step).launches)
        all.push_back(compile::build_scan_ptx(l.kernel, sm, ptx));
    if (step.serial || step.call) continue;
    for (char aligned : {0, 1}) {
      Code code;
      Arrangement layout = arrangement_of(step);
      if (!aligned) layout.aligned.assign(layout.aligned.size(), 0);
      describe(code, step, layout);
      all.push_back(compile::build_ptx(code.gpu, sm, ptx));
    }
  }
  return all;
}

cuda::Function load_code(Runtime& rt, cuda::CudaDevice& d, const std::string& identity,
                         const std::function<std::string(int, int)>& build) {
  compile::GpuCode code = compile::gpu_code(d, identity, build);
  if (code.from == compile::GpuCode::Compiler) ++rt.stats.compiles;
  if (code.from == compile::GpuCode::Disk) ++rt.stats.disk_hits;
  rt.stats.compile_ms += code.milliseconds;
  return code.function;
}

Executor& gpu_executor() {
  static auto* e = new GpuExecutor;
  return *e;
}

}  // namespace numbus
