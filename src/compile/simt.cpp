// Threads of a block as fibers: each runs until it waits for others, and goes on when they are
// there.
#include "compile/simt.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "base/error.h"
#include "compile/leave.h"
#include "compile/races.h"
#include "device/cpu/thread_pool.h"

namespace numbus::compile {

using ir::Intrinsic;

namespace {

template <class F>
void each_memory(const ir::Module& m, ir::Space space, F&& f) {
  std::map<int64_t, int64_t> sizes;
  for (const ir::Function& g : m.functions)
    for (const ir::Inst& i : g.body)
      if (i.op == Op::intrinsic && ir::space_of(i) == space &&
          (ir::intrinsic_of(i) == Intrinsic::shared_memory ||
           ir::intrinsic_of(i) == Intrinsic::local_memory))
        sizes[g.body[i.a].imm] = ir::number_of(i);
  for (auto [number, bytes] : sizes) f(number, (bytes + 15) & ~int64_t{15});
}

bool of_warp(Intrinsic i) { return i >= Intrinsic::syncwarp && i <= Intrinsic::match_all; }
bool waits(Intrinsic i) {
  return (i >= Intrinsic::barrier && i <= Intrinsic::grid_barrier) || of_warp(i) ||
         i == Intrinsic::watch;
}

}  // namespace

int64_t shared_offset(const ir::Module& m, int64_t wanted) {
  int64_t at = 0, found = 0;
  each_memory(m, ir::Space::Shared, [&](int64_t number, int64_t bytes) {
    if (number == wanted) found = at;
    at += bytes;
  });
  return found;
}
int64_t shared_bytes(const ir::Module& m) {
  int64_t all = 0;
  each_memory(m, ir::Space::Shared, [&](int64_t, int64_t bytes) { all += bytes; });
  return all;
}
int64_t local_bytes(const ir::Module& m) {
  int64_t all = 0;
  each_memory(m, ir::Space::Local, [&](int64_t, int64_t bytes) { all += bytes; });
  return all;
}
bool has_waits(const ir::Module& m) {
  for (const ir::Function& g : m.functions)
    for (const ir::Inst& i : g.body)
      if (i.op == Op::intrinsic && waits(ir::intrinsic_of(i))) return true;
  return false;
}
bool has_warp_operations(const ir::Module& m) {
  for (const ir::Function& g : m.functions)
    for (const ir::Inst& i : g.body)
      if (i.op == Op::intrinsic && of_warp(ir::intrinsic_of(i))) return true;
  return false;
}
bool has_grid_barrier(const ir::Module& m) {
  for (const ir::Function& g : m.functions)
    for (const ir::Inst& i : g.body)
      if (i.op == Op::intrinsic && ir::intrinsic_of(i) == Intrinsic::grid_barrier) return true;
  return false;
}
bool has_recursion(const ir::Module& m) {
  return std::ranges::any_of(m.functions, &ir::Function::recursive);
}

int watched_granule(const ir::Module& m) {
  int least = 16;
  for (const ir::Function& g : m.functions)
    for (const ir::Inst& i : g.body)
      if (i.op == Op::intrinsic && ir::intrinsic_of(i) == Intrinsic::watch)
        least = std::min(least, itemsize(i.type));
  return least;
}

// --- switching
// ------------------------------------------------------------------------------------

// Saves what the ABI asks a function to keep, swaps stacks, and goes on where the other one waits.
extern "C" void numbus_switch(void** save, void* to);
#if defined(__x86_64__)
asm(R"(
.text
.globl numbus_switch
.hidden numbus_switch
.type numbus_switch, @function
numbus_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size numbus_switch, .-numbus_switch
)");
#else
#error "fibers are written for x86-64"
#endif

namespace {

struct Team;

struct Fiber {
  void* stack = nullptr;         // where it waits
  const char* lowest = nullptr;  // address of its stack
  int64_t words[kThreadWords];
  Team* team = nullptr;
  int32_t status = 0;
  enum State : uint8_t { Ready, AtBarrier, AtWarp, Done } state = Ready;
  int64_t kind = 0, mask = 0, value = 0, other = 0, result = 0, position = 0;
  RaceCheck* check = nullptr;  // of the block, in a kernel that is checked
};

// The fibers of one block, or of all blocks where the grid waits as one.
struct Team {
  const HostKernel* kernel;
  const int64_t* words;
  std::vector<Fiber> fibers;
  void* scheduler = nullptr;
  Fiber* running = nullptr;
  int64_t block_threads;
};

void fiber_main(Fiber* f) {
  f->status = f->team->kernel->code(f->words, f->team->words);
  f->state = Fiber::Done;
  numbus_switch(&f->stack, f->team->scheduler);
  __builtin_unreachable();
}

// Where a new fiber begins: numbus_switch returns into it with the fiber in rbx.
extern "C" void numbus_fiber_entry();
asm(R"(
.text
.globl numbus_fiber_entry
.hidden numbus_fiber_entry
numbus_fiber_entry:
  movq %rbx, %rdi
  callq *%r12
  ud2
)");

// Stacks of one worker, kept for its next block. Pages that no fiber touches cost nothing.
class Stacks {
 public:
  ~Stacks() { clear(); }
  char* get(size_t count, size_t each) {
    if (count * each > bytes_ || each != each_) {
      clear();
      bytes_ = count * each;
      each_ = each;
      void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED)
        raise(ErrorKind::Memory, "[cuda] no memory for the stacks of a block's threads");
      memory_ = static_cast<char*>(p);
    }
    return memory_;
  }

 private:
  void clear() {
    if (memory_) munmap(memory_, bytes_);
    memory_ = nullptr;
    bytes_ = 0;
  }
  char* memory_ = nullptr;
  size_t bytes_ = 0, each_ = 0;
};

void begin(Fiber& f, char* stack, size_t bytes) {
  auto* top = reinterpret_cast<void**>(stack + bytes);
  // As numbus_switch leaves it: six registers, then where to go on. The stack is aligned as at a
  // function's entry.
  top -= 2;
  *--top = reinterpret_cast<void*>(&numbus_fiber_entry);
  *--top = nullptr;                               // rbp
  *--top = &f;                                    // rbx
  *--top = reinterpret_cast<void*>(&fiber_main);  // r12
  *--top = nullptr;
  *--top = nullptr;
  *--top = nullptr;
  f.stack = top;
  f.lowest = stack;
  f.state = Fiber::Ready;
  f.status = 0;
  f.words[kEnded] = 0;
}

thread_local Team* running_team = nullptr;

void run(Team& t, Fiber& f) {
  t.running = &f;
  running_team = &t;
  auto poll = [](bool too_deep) {
    Team& team = *running_team;
    if (too_deep) {
      team.running->status = kTooDeep;
      team.running->state = Fiber::Done;
    }
    numbus_switch(&team.running->stack, team.scheduler);
  };
  PollsOfFiber polls(poll, f.lowest);
  numbus_switch(&t.scheduler, f.stack);
}

// Gives the waiting lanes of one warp operation their results. `lanes` are all of the warp.
bool settle_warp(std::span<Fiber> lanes) {
  bool any = false;
  for (size_t n = 0; n < lanes.size(); ++n) {
    Fiber& first = lanes[n];
    if (first.state != Fiber::AtWarp) continue;
    auto kind = static_cast<Intrinsic>(first.kind);
    // The lanes that the operation names and that still run have all to be there.
    uint32_t there = 0, wanted = static_cast<uint32_t>(first.mask);
    bool all = true;
    for (size_t k = 0; k < lanes.size(); ++k) {
      bool same = lanes[k].state == Fiber::AtWarp && lanes[k].kind == first.kind &&
                  lanes[k].mask == first.mask;
      if (same) there |= 1u << k;
      if ((wanted >> k & 1) && !same && lanes[k].state != Fiber::Done) all = false;
    }
    if (kind == Intrinsic::activemask) {
      all = true;
      for (Fiber& l : lanes) all = all && l.state != Fiber::Ready;
      there = 0;
      for (size_t k = 0; k < lanes.size(); ++k)
        if (lanes[k].state == Fiber::AtWarp && lanes[k].kind == first.kind &&
            lanes[k].position == first.position && lanes[k].other == first.other)
          there |= 1u << k;
    }
    if (!all) continue;
    any = true;
    uint32_t votes = 0;
    bool equal = true;
    for (size_t k = 0; k < lanes.size(); ++k) {
      if (!(there >> k & 1)) continue;
      if (lanes[k].value) votes |= 1u << k;
      equal = equal && lanes[k].value == first.value;
    }
    for (size_t k = 0; k < lanes.size(); ++k) {
      if (!(there >> k & 1)) continue;
      Fiber& l = lanes[k];
      int64_t source = static_cast<int64_t>(k);
      switch (kind) {
        case Intrinsic::shfl_idx: source = l.other & 31; break;
        case Intrinsic::shfl_up: source -= l.other; break;
        case Intrinsic::shfl_down: source += l.other; break;
        case Intrinsic::shfl_xor: source ^= l.other; break;
        default: break;
      }
      switch (kind) {
        case Intrinsic::all_sync: l.result = votes == there; break;
        case Intrinsic::any_sync: l.result = votes != 0; break;
        case Intrinsic::eq_sync: l.result = votes == there || votes == 0; break;
        case Intrinsic::ballot: l.result = votes; break;
        case Intrinsic::activemask: l.result = there; break;
        case Intrinsic::match_all: l.result = equal ? there : 0; break;
        case Intrinsic::match_any: {
          uint32_t same = 0;
          for (size_t j = 0; j < lanes.size(); ++j)
            if ((there >> j & 1) && lanes[j].value == l.value) same |= 1u << j;
          l.result = same;
          break;
        }
        case Intrinsic::syncwarp: l.result = 0; break;
        default:
          // A lane beyond the warp, or one that does not take part, gives back one's own.
          l.result =
              source >= 0 && source < static_cast<int64_t>(lanes.size()) && (there >> source & 1)
                  ? lanes[source].value
                  : l.value;
      }
    }
    for (size_t k = 0; k < lanes.size(); ++k)
      if (there >> k & 1) lanes[k].state = Fiber::Ready;
    if (first.check) first.check->warp(lanes[0].words[kLinear], there);
  }
  return any;
}

// Lets the threads at a barrier go on, if all that still run are there.
bool settle_barrier(std::span<Fiber> threads, bool whole_grid) {
  int64_t waiting = 0, count = 0, alive = 0;
  for (Fiber& f : threads) {
    if (f.state == Fiber::Done) continue;
    ++alive;
    bool grid = f.kind == static_cast<int64_t>(Intrinsic::grid_barrier);
    if (f.state == Fiber::AtBarrier && grid == whole_grid) {
      ++waiting;
      count += f.value != 0;
    }
  }
  if (waiting == 0 || waiting < alive) return false;
  for (Fiber& f : threads) {
    if (f.state != Fiber::AtBarrier) continue;
    switch (static_cast<Intrinsic>(f.kind)) {
      case Intrinsic::barrier_count: f.result = count; break;
      case Intrinsic::barrier_and: f.result = count == waiting; break;
      case Intrinsic::barrier_or: f.result = count != 0; break;
      default: f.result = 0;
    }
    f.state = Fiber::Ready;
    if (f.check && f.words[kLinear] == 0) f.check->barrier();
  }
  return true;
}

// Whether this is the first error of a launch.
bool claim(int64_t* record) {
  int64_t free = 0;
  return __atomic_compare_exchange_n(&record[kClaimed], &free, 1, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}

// Notes an error of two threads, with what each does; none if there is one already.
void note(int64_t* record, int64_t site, const int64_t (&positions)[2], const int64_t* thread,
          const int64_t (&other)[3], int64_t first, int64_t second) {
  if (!claim(record)) return;
  record[kSite] = site;
  record[kFirst] = first;
  record[kSecond] = second;
  record[kPosition] = positions[0];
  record[kOtherPosition] = positions[1];
  for (int d = 0; d < 3; ++d) {
    record[kThread + d] = thread[kTid + d];
    record[kBlock + d] = thread[kCtaid + d];
    record[kOtherThread + d] = other[d];
  }
}

// Of a block whose threads all wait or have ended: whether they are all at one barrier. If not,
// one that waits and one that is elsewhere are noted.
bool apart(std::span<Fiber> threads, bool stuck, int64_t* record) {
  Fiber* waits = nullptr;
  for (Fiber& f : threads) {
    if (f.state == Fiber::Ready) return false;
    if (!waits && (f.state == Fiber::AtBarrier || (stuck && f.state == Fiber::AtWarp))) waits = &f;
  }
  if (!waits) return false;
  for (Fiber& f : threads) {
    if (f.state == waits->state && f.kind == waits->kind && f.position == waits->position) continue;
    bool ended = f.state == Fiber::Done;
    note(record, kDivergence, {waits->position, ended ? f.words[kEnded] : f.position}, waits->words,
         {f.words[kTid], f.words[kTid + 1], f.words[kTid + 2]}, waits->kind, ended ? -1 : f.kind);
    return true;
  }
  return false;
}

int32_t run_team(Team& t, char* stacks, size_t each, int64_t* record) {
  for (size_t n = 0; n < t.fibers.size(); ++n) begin(t.fibers[n], stacks + n * each, each);
  int32_t status = 0;
  for (;;) {
    bool ran = false, done = true;
    for (Fiber& f : t.fibers) {
      if (f.state == Fiber::Ready) {
        run(t, f);
        if (interrupt::wanted()) return kInterrupted;
        if (f.status == kTooDeep) return kTooDeep;
        ran = true;
        status |= f.status;
        if (status && f.check) return status;
      }
      done = done && f.state == Fiber::Done;
    }
    if (done) return status;
    bool settled = false;
    size_t n = t.fibers.size();
    for (size_t b = 0; b < n; b += t.block_threads) {
      std::span<Fiber> block(&t.fibers[b], t.block_threads);
      for (int64_t w = 0; w < t.block_threads; w += 32)
        settled |= settle_warp(block.subspan(w, std::min<int64_t>(32, t.block_threads - w)));
      if (t.kernel->checked && apart(block, false, record)) return 1;
      settled |= settle_barrier(block, false);
    }
    settled |= settle_barrier(t.fibers, true);
    if (settled || ran) continue;
    for (size_t b = 0; b < n && t.kernel->checked; b += t.block_threads)
      if (apart({&t.fibers[b], static_cast<size_t>(t.block_threads)}, true, record)) return 1;
    for (Fiber& f : t.fibers) {
      if (f.state == Fiber::Done) continue;
      note(record, kStuck, {f.position, 0}, f.words, {0, 0, 0}, 0, 0);
      break;
    }
    return 1;
  }
}

}  // namespace

extern "C" int64_t numbus_wait(int64_t* thread, int64_t kind, int64_t mask, int64_t value,
                               int64_t other, int64_t position) {
  auto* f = reinterpret_cast<Fiber*>(thread[kFiber]);
  f->kind = kind;
  f->mask = mask;
  f->value = value;
  f->other = other;
  f->position = position;
  auto i = static_cast<Intrinsic>(kind);
  // Which of the calls that one line of the source has become.
  if (i == Intrinsic::activemask) f->other = reinterpret_cast<int64_t>(__builtin_return_address(0));
  f->state =
      i >= Intrinsic::barrier && i <= Intrinsic::grid_barrier ? Fiber::AtBarrier : Fiber::AtWarp;
  numbus_switch(&f->stack, f->team->scheduler);
  return f->result;
}

extern "C" void numbus_watch(int64_t* thread, int64_t address, int64_t value, int64_t watched,
                             int64_t bytes) {
  auto* f = reinterpret_cast<Fiber*>(thread[kFiber]);
  int64_t offset = address - thread[kShared];
  if (!f->check || offset < 0 || offset + bytes > f->team->kernel->shared + thread[kDynamicBytes])
    return;
  ir::Access how = ir::access_of(watched);
  bool same =
      how == ir::Access::Write && std::memcmp(reinterpret_cast<void*>(address), &value, bytes) == 0;
  const Use* with = f->check->use(thread[kLinear], how, ir::site_of(watched), offset,
                                  static_cast<int>(bytes), same);
  if (!with) return;
  auto* record = reinterpret_cast<int64_t*>(thread[kRecord]);
  int64_t x = thread[kNtid], y = thread[kNtid + 1], other = with->thread;
  note(record, kRace, {ir::site_of(watched), with->position}, thread,
       {other % x, other / x % y, other / x / y}, offset,
       static_cast<int64_t>(how) | static_cast<int64_t>(with->how) << 4);
  f->status = 1;
  f->state = Fiber::Done;
  numbus_switch(&f->stack, f->team->scheduler);
}

extern "C" void numbus_fence(int64_t* thread) {
  auto* f = reinterpret_cast<Fiber*>(thread[kFiber]);
  if (f && f->check) f->check->fence(thread[kLinear]);
}

int32_t run_grid(const HostKernel& k, const Geometry& g, const int64_t* words, int64_t* record) {
  int64_t blocks = g.grid[0] * g.grid[1] * g.grid[2];
  int64_t threads = g.block[0] * g.block[1] * g.block[2];
  std::atomic<int32_t> status{0};
  int64_t shared = k.shared + g.dynamic_bytes;
  auto set_block = [&](int64_t* w, int64_t b, char* memory) {
    w[kRecord] = reinterpret_cast<int64_t>(record);
    for (int d = 0; d < 3; ++d) {
      w[kNtid + d] = g.block[d];
      w[kNctaid + d] = g.grid[d];
    }
    w[kCtaid] = b % g.grid[0];
    w[kCtaid + 1] = b / g.grid[0] % g.grid[1];
    w[kCtaid + 2] = b / g.grid[0] / g.grid[1];
    w[kShared] = reinterpret_cast<int64_t>(memory);
    w[kDynamic] = reinterpret_cast<int64_t>(memory + k.shared);
    w[kDynamicBytes] = g.dynamic_bytes;
    w[kEnded] = 0;
    w[kFiber] = 0;
  };
  auto set_thread = [&](int64_t* w, int64_t n) {
    w[kLinear] = n;
    w[kTid] = n % g.block[0];
    w[kTid + 1] = n / g.block[0] % g.block[1];
    w[kTid + 2] = n / g.block[0] / g.block[1];
  };
  // Recursion has room for some hundred frames at least, and for some thousand small ones.
  size_t frames = k.recursive ? size_t{16} : size_t{1};
  size_t each = (size_t{48} << 10) * frames +
                ((static_cast<size_t>(k.local) + 4095) & ~size_t{4095}) * frames;
  auto memory_of = [&](std::unique_ptr<char[]>& held) {
    held.reset(new char[static_cast<size_t>(shared) + 128]);
    return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(held.get()) + 63) & ~uintptr_t{63});
  };
  auto check_of = [&]() -> std::unique_ptr<RaceCheck> {
    if (!k.checked) return nullptr;
    return std::make_unique<RaceCheck>(shared, k.granule, threads);
  };
  auto start = [&](Team& t, int64_t first_block, char* memory, size_t position, RaceCheck* check) {
    if (check) check->barrier();
    for (int64_t n = 0; n < threads; ++n) {
      Fiber& f = t.fibers[position + static_cast<size_t>(n)];
      set_block(f.words, first_block, memory);
      set_thread(f.words, n);
      f.team = &t;
      f.check = check;
      f.words[kFiber] = reinterpret_cast<int64_t>(&f);
    }
  };
  // Of code that has ended early, or noted an error.
  auto left = [&](int32_t s) {
    if (s == kInterrupted) interrupt::raise_interrupted();
    if (s == kTooDeep && claim(record)) record[kSite] = kTooDeep;
    status = s;
  };
  if (k.grid_barrier) {
    // All threads of the grid are there at once, on this thread.
    std::vector<std::unique_ptr<char[]>> held(static_cast<size_t>(blocks));
    Team t{&k,      words,   std::vector<Fiber>(static_cast<size_t>(blocks * threads)),
           nullptr, nullptr, threads};
    std::vector<std::unique_ptr<RaceCheck>> checks;
    for (int64_t b = 0; b < blocks; ++b) {
      checks.push_back(check_of());
      start(t, b, memory_of(held[b]), static_cast<size_t>(b * threads), checks.back().get());
    }
    Stacks stacks;
    interrupt::Inside inside;
    if (int32_t s = run_team(t, stacks.get(t.fibers.size(), each), each, record)) left(s);
    return status;
  }
  interrupt::Inside inside;
  // A portion is a run of blocks, so that memory is made once for several.
  int64_t grain = std::max<int64_t>(1, std::min<int64_t>(blocks / 16, 1 + 16384 / threads));
  parallel_for_each(blocks, grain, [&](int64_t begin_block, int64_t end_block, int) {
    std::unique_ptr<char[]> held;
    char* memory = memory_of(held);
    if (!k.waits || k.lanes) {
      std::unique_ptr<char[]> space;
      if (k.lanes) {
        space.reset(new char[static_cast<size_t>(k.scratch * (threads / k.lanes)) + 64]);
      }
      int32_t s = interruptible([&]() -> int32_t {
        int64_t w[kThreadWords];
        for (int64_t b = begin_block; b < end_block; ++b) {
          if (status.load(std::memory_order_relaxed)) break;
          set_block(w, b, memory);
          w[kScratch] = static_cast<int64_t>((reinterpret_cast<uintptr_t>(space.get()) + 63) &
                                             ~uintptr_t{63});
          if (int32_t noted = k.code(w, words)) status = noted;
        }
        return 0;
      });
      if (s) left(s);
      return;
    }
    static thread_local Stacks stacks;
    Team t{&k, words, std::vector<Fiber>(static_cast<size_t>(threads)), nullptr, nullptr, threads};
    char* space = stacks.get(t.fibers.size(), each);
    std::unique_ptr<RaceCheck> check = check_of();
    for (int64_t b = begin_block; b < end_block; ++b) {
      if (status.load(std::memory_order_relaxed)) return;
      start(t, b, memory, 0, check.get());
      int32_t s = run_team(t, space, each, record);
      if (s) left(s);
    }
  });
  return status;
}

}  // namespace numbus::compile
