// Where polls go: a counting loop is cut into strips, each of some 2^22 steps, and looks between
// two of them; so does a loop that ends by what it finds, by a counter of its own. A loop of loops
// looks each time around, and so does a function that calls itself, where it does. Loops that are
// known to be short do not look. On a GPU, where a look takes as long as some hundred instructions,
// a loop that counts stays as it is for all but long runs: these take a copy, which looks where
// some bits of its counter are zero, as loops of loops do.
#include "compile/polls.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "compile/leave.h"
#include "compile/recursion.h"

namespace numbus::compile {
namespace {

using V = llvm::Value*;

// Steps between two polls: some milliseconds.
constexpr uint64_t kSteps = uint64_t{1} << 22;
constexpr uint64_t kMostIterations = 65536, kFewestIterations = 16;
// On a GPU: steps between two polls; at most so many iterations of a loop without a counter; and of
// loops around loops that look themselves, by how many of these lie inside each other: so many
// times as long it takes at most until one looks.
constexpr uint64_t kGpuSteps = uint64_t{1} << 20, kGpuUncounted = 4096;
constexpr uint64_t kGpuOuter[] = {256, 16, 4};
// Steps that a function stands for, in a GPU's kernel: those that call themselves look themselves.
constexpr uint64_t kFunction = 64;

constexpr const char* kShortMark = "numbus.short";
constexpr int64_t kMostShort = 2048;

void mark_loop(llvm::Instruction* jump, const char* what) {
  auto& c = jump->getContext();
  auto* mark = llvm::MDNode::get(c, llvm::MDString::get(c, what));
  auto* id = llvm::MDNode::getDistinct(c, {nullptr, mark});
  id->replaceOperandWith(0, id);
  jump->setMetadata(llvm::LLVMContext::MD_loop, id);
}

enum class Kind { Short, Strips, Counted, Each };

// What is known of a loop before anything changes.
struct Plan {
  Kind kind = Kind::Each;
  llvm::BasicBlock *before, *head, *latch;
  uint64_t iterations = 0;  // of a strip
  // Of a loop that counts: it goes on while `compared` stands so to `bound`.
  llvm::PHINode* counter = nullptr;
  V compared = nullptr, bound = nullptr;
  int64_t step = 0;
  llvm::CmpInst::Predicate goes_on = llvm::CmpInst::BAD_ICMP_PREDICATE;
  // On a GPU: a step that is no constant, what is added to the counter before it is compared, and
  // where it is asked whether a run is long.
  V stride = nullptr;
  llvm::ConstantInt* offset = nullptr;
  llvm::Instruction* point = nullptr;
};

class Polls {
 public:
  explicit Polls(llvm::Module& m) : m_(m), B(m.getContext()) {}

  void run_gpu(bool long_loops) {
    if (m_.getNamedGlobal("grid_state")) return;
    for (llvm::Function& f : m_) {
      if (f.isDeclaration()) continue;
      stop_ = nullptr;
      for (llvm::Argument& a : f.args())
        if (a.getName() == kStopName) stop_ = &a;
      if (stop_) function_gpu(f, long_loops);
    }
  }

  void run() {
    calls_.emplace(m_);
    for (llvm::Function& f : m_)
      if (!f.isDeclaration()) function(f);
  }

 private:
  void function_gpu(llvm::Function& f, bool long_loops) {
    plans_.clear();
    Loops in(f);
    std::vector<Looks> polled;
    for (llvm::Loop* l : in.loops) (void)plan_gpu(*l, in.evolution, polled);
    if (!long_loops)
      std::erase_if(polled, [&](const Looks& of) {
        return !llvm::isa<llvm::SCEVCouldNotCompute>(
            in.evolution.getSymbolicMaxBackedgeTakenCount(of.loop));
      });
    if (polled.empty()) return;
    for (llvm::Loop* l : in.loops) {
      llvm::simplifyLoop(l, &in.dominators, &in.loops, &in.evolution, &in.assumptions, nullptr,
                         false);
      if (long_loops) llvm::formLCSSARecursively(*l, in.dominators, &in.loops, &in.evolution);
    }
    std::vector<std::pair<llvm::Loop*, Plan>> counting;
    for (const Looks& of : polled) {
      Plan p;
      p.before = of.loop->getLoopPreheader();
      p.head = of.loop->getHeader();
      p.latch = of.loop->getLoopLatch();
      if (!p.before || !p.latch) continue;
      bool counts = long_loops && find_counter(*of.loop, p, in);
      p.kind = !counts ? Kind::Counted : of.innermost ? Kind::Strips : Kind::Each;
      p.iterations = counts       ? of.iterations
                     : long_loops ? std::min(of.iterations, kGpuUncounted)
                                  : kGpuUncounted;
      if (p.kind == Kind::Strips) {
        find_point(*of.loop, p);
        counting.emplace_back(of.loop, p);
      } else {
        plans_.push_back(p);
      }
    }
    for (auto& [l, p] : counting) plans_.push_back(copy_for_long_runs(*l, p, in));
    for (Plan& p : plans_) {
      if (p.kind == Kind::Counted) {
        p.counter = nullptr;
        strips(p);
      } else {
        poll_by_counter(p);
      }
    }
  }

  // What is asked about a function's loops.
  struct Loops {
    explicit Loops(llvm::Function& f)
        : dominators(f),
          loops(dominators),
          library(llvm::Triple(f.getParent()->getTargetTriple())),
          info(library, &f),
          assumptions(f),
          evolution(f, info, assumptions, dominators, loops) {}
    llvm::DominatorTree dominators;
    llvm::LoopInfo loops;
    llvm::TargetLibraryInfoImpl library;
    llvm::TargetLibraryInfo info;
    llvm::AssumptionCache assumptions;
    llvm::ScalarEvolution evolution;
  };

  // A loop of a GPU's kernel that looks, and the iterations between two looks.
  struct Looks {
    llvm::Loop* loop;
    uint64_t iterations;
    bool innermost;  // of those that look
  };
  struct GpuLoop {
    uint64_t steps;  // at most, of a whole run of a loop that does not look; else of an iteration
    size_t depth;    // of loops that look, this one included
  };

  static GpuLoop plan_gpu(llvm::Loop& l, llvm::ScalarEvolution& evolution,
                          std::vector<Looks>& polled) {
    uint64_t each = 0;
    size_t depth = 0;
    for (llvm::Loop* inner : l) {
      GpuLoop of = plan_gpu(*inner, evolution, polled);
      each += of.steps;
      depth = std::max(depth, of.depth);
    }
    for (llvm::BasicBlock* block : l.blocks()) {
      bool inside = false;
      for (llvm::Loop* inner : l) inside = inside || inner->contains(block);
      if (!inside)
        for (auto& i : *block) each += cost_of(i).value_or(kFunction);
    }
    each = std::max<uint64_t>(each, 1);
    uint64_t most = evolution.getSmallConstantMaxTripCount(&l);
    if (depth == 0 && most && most <= kGpuSteps / each) return {most * each, 0};
    uint64_t iterations = depth == 0 ? std::clamp(std::bit_floor(kGpuSteps / each),
                                                  kFewestIterations, kMostIterations)
                                     : kGpuOuter[std::min(depth, std::size(kGpuOuter)) - 1];
    polled.push_back({&l, iterations, depth == 0});
    return {each, depth + 1};
  }

  // Outside of all loops in which it does not change how long a run is.
  static void find_point(llvm::Loop& l, Plan& p) {
    V first = p.counter->getIncomingValueForBlock(p.before);
    p.point = p.before->getTerminator();
    for (llvm::Loop* outer = l.getParentLoop(); outer; outer = outer->getParentLoop()) {
      auto* before = outer->getLoopPreheader();
      bool same = outer->isLoopInvariant(first) && outer->isLoopInvariant(p.bound) &&
                  (!p.stride || outer->isLoopInvariant(p.stride));
      if (!before || !same) break;
      p.point = before->getTerminator();
    }
  }

  // A copy of the loop, which looks; the loop itself is left to runs that take no more iterations
  // than lie between two looks. Threads that run as often take the same one of both.
  Plan copy_for_long_runs(llvm::Loop& l, const Plan& p, Loops& in) {
    using C = llvm::CmpInst;
    auto* type = p.compared->getType();
    B.SetInsertPoint(p.point);
    V first = p.counter->getIncomingValueForBlock(p.before);
    if (p.offset) first = B.CreateAdd(first, p.offset);
    V left = p.step > 0 ? B.CreateSub(p.bound, first) : B.CreateSub(first, p.bound);
    V iterations = llvm::ConstantInt::get(type, p.iterations);
    V far = p.stride ? B.CreateMul(p.stride, iterations)
                     : llvm::ConstantInt::get(
                           type, static_cast<uint64_t>(std::abs(p.step)) * p.iterations);
    V is_long = B.CreateICmpUGT(left, far);
    if (p.goes_on != C::ICMP_NE)
      is_long = B.CreateAnd(is_long, B.CreateICmp(p.goes_on, first, p.bound));

    auto* itself = llvm::SplitBlock(p.before, p.before->getTerminator(), &in.dominators, &in.loops);
    llvm::SmallVector<llvm::BasicBlock*> exits, blocks;
    l.getUniqueExitBlocks(exits);
    llvm::ValueToValueMapTy map;
    llvm::Loop* copy = llvm::cloneLoopWithPreheader(itself, p.before, &l, map, ".long", &in.loops,
                                                    &in.dominators, blocks);
    llvm::remapInstructionsInBlocks(blocks, map);
    for (llvm::BasicBlock* exit : exits)
      for (llvm::PHINode& phi : exit->phis())
        for (unsigned n = 0, all = phi.getNumIncomingValues(); n < all; ++n) {
          V value = phi.getIncomingValue(n), copied = map.lookup(value);
          if (V from = map.lookup(phi.getIncomingBlock(n)))
            phi.addIncoming(copied ? copied : value, llvm::cast<llvm::BasicBlock>(from));
        }
    p.before->getTerminator()->eraseFromParent();
    B.SetInsertPoint(p.before);
    B.CreateCondBr(is_long, copy->getLoopPreheader(), itself, unlikely());
    Plan looks = p;
    looks.before = copy->getLoopPreheader();
    looks.head = copy->getHeader();
    looks.latch = copy->getLoopLatch();
    looks.counter = llvm::cast<llvm::PHINode>(map.lookup(p.counter));
    return looks;
  }

  // Looks at the start of the iterations in which some bits of the counter are ones: these run
  // through all combinations, as the counter's step is odd where the lowest of them stands. Later
  // in an iteration more registers would be in use.
  void poll_by_counter(Plan& p) {
    V counter = p.counter;
    int shift = 0;
    if (p.stride) {
      B.SetInsertPoint(p.head, p.head->begin());
      auto* count = B.CreatePHI(B.getInt32Ty(), 2);
      B.SetInsertPoint(p.latch->getTerminator());
      count->addIncoming(B.getInt32(0), p.before);
      count->addIncoming(B.CreateAdd(count, B.getInt32(1)), p.latch);
      counter = count;
    } else {
      shift = std::countr_zero(static_cast<uint64_t>(std::abs(p.step)));
    }
    V ones = llvm::ConstantInt::get(counter->getType(), (p.iterations - 1) << shift);
    auto at = p.head->getFirstInsertionPt();
    B.SetInsertPoint(p.head, at);
    V due = B.CreateICmpEQ(B.CreateAnd(counter, ones), ones);
    poll_before(llvm::SplitBlockAndInsertIfThen(due, at, false, unlikely()));
  }

  // Runs of instructions that one instruction stands for; none where it may take any time.
  static std::optional<uint64_t> cost_of(const llvm::Instruction& i) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (!call || llvm::isa<llvm::IntrinsicInst>(i)) return 1;
    // The functions of mathematics that stand for rows, and libm's, end by themselves.
    auto* to = call->getCalledFunction();
    if (to && to->hasFnAttribute(llvm::Attribute::WillReturn)) return 64;
    return {};
  }

  void function(llvm::Function& f) {
    llvm::DominatorTree dominators(f);
    llvm::LoopInfo loops(dominators);
    bool recursive = calls_->calls_itself(&f);
    if (loops.empty() && !recursive) return;
    llvm::TargetLibraryInfoImpl library(llvm::Triple(m_.getTargetTriple()));
    llvm::TargetLibraryInfo info(library, &f);
    llvm::AssumptionCache assumptions(f);
    llvm::ScalarEvolution evolution(f, info, assumptions, dominators, loops);
    for (llvm::Loop* l : loops)
      llvm::simplifyLoop(l, &dominators, &loops, &evolution, &assumptions, nullptr, false);
    // Found before the loops change, as dominators and loops are of the function as it is.
    llvm::Instruction* deeper = recursive ? before_recursion(f, dominators, loops) : nullptr;
    plans_.clear();
    for (llvm::Loop* l : loops) (void)plan(*l, evolution);
    bool any = recursive;
    for (Plan& p : plans_)
      if (p.kind == Kind::Strips || p.kind == Kind::Counted) strips(p);
    for (Plan& p : plans_) {
      any = any || p.kind != Kind::Short;
      if (p.kind == Kind::Each) poll_before(p.latch->getTerminator());
    }
    if (deeper) poll_before(deeper, true);
    // A poll pushes its return address, so that nothing may lie below the stack pointer.
    if (any) f.addFnAttr(llvm::Attribute::NoRedZone);
  }

  // Where a run of the function knows that it calls itself, once and outside of loops: runs that
  // end the recursion do not look.
  llvm::Instruction* before_recursion(llvm::Function& f, llvm::DominatorTree& dominators,
                                      llvm::LoopInfo& loops) {
    llvm::BasicBlock* at = nullptr;
    for (auto& block : f)
      if (dominators.isReachableFromEntry(&block) && recurses(block))
        at = at ? dominators.findNearestCommonDominator(at, &block) : &block;
    if (!at) return nullptr;
    while (llvm::Loop* l = loops.getLoopFor(at))
      at = dominators.getNode(l->getHeader())->getIDom()->getBlock();
    llvm::Instruction* call = recurses(*at);
    return call ? call : at->getTerminator();
  }

  // The first call in a block that may lead back to its function.
  llvm::Instruction* recurses(llvm::BasicBlock& block) {
    for (auto& i : block)
      if (llvm::isa<llvm::CallBase>(i))
        for (llvm::Value* v : i.operands())
          if (auto* to = llvm::dyn_cast<llvm::Function>(v))
            if (calls_->leads_back(to, block.getParent())) return &i;
    return nullptr;
  }

  // Instructions of one run of the loop, if that is known to be short.
  std::optional<uint64_t> plan(llvm::Loop& l, llvm::ScalarEvolution& evolution) {
    uint64_t each = 0;
    bool bounded = true;
    for (llvm::Loop* inner : l) {
      auto cost = plan(*inner, evolution);
      bounded = bounded && cost;
      each += cost.value_or(0);
    }
    for (llvm::BasicBlock* block : l.blocks()) {
      bool inside = false;
      for (llvm::Loop* inner : l) inside = inside || inner->contains(block);
      if (inside) continue;
      for (auto& i : *block) {
        auto cost = cost_of(i);
        bounded = bounded && cost;
        each += cost.value_or(0);
      }
    }
    each = std::max<uint64_t>(each, 1);
    uint64_t most = evolution.getSmallConstantMaxTripCount(&l);
    if (!most) most = marked(l, evolution);
    if (bounded && most && most <= kSteps / each) return most * each;
    Plan p;
    p.before = l.getLoopPreheader();
    p.head = l.getHeader();
    p.latch = l.getLoopLatch();
    if (!p.latch) return {};  // no form that polls know; LLVM has none for loops of ours
    p.iterations = std::clamp(std::bit_floor(kSteps / each), kFewestIterations, kMostIterations);
    if (bounded && p.before && each < kSteps / kFewestIterations)
      p.kind = find_counter(l, p) ? Kind::Strips : Kind::Counted;
    plans_.push_back(p);
    return {};
  }

  // How often a loop of mark_short_loop runs at most; zero for others. Optimisation copies the
  // mark, to unrolled loops and also to the one around it where both begin at one block; so what
  // counts is looked for as well: it starts at a number, grows by one, and is compared with what is
  // small.
  static uint64_t marked(llvm::Loop& l, llvm::ScalarEvolution& evolution) {
    llvm::MDNode* id = l.getLoopID();
    if (!id || !llvm::findOptionMDForLoopID(id, kShortMark)) return 0;
    llvm::SmallVector<llvm::BasicBlock*> exiting;
    l.getExitingBlocks(exiting);
    for (llvm::BasicBlock* block : exiting) {
      auto* jump = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      auto* compare = jump ? llvm::dyn_cast<llvm::ICmpInst>(jump->getCondition()) : nullptr;
      if (!compare || !compare->getOperand(0)->getType()->isIntegerTy()) continue;
      for (unsigned side : {0u, 1u}) {
        auto* counter =
            llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(compare->getOperand(side)));
        const llvm::SCEV* bound = evolution.getSCEV(compare->getOperand(1 - side));
        if (!counter || counter->getLoop() != &l || !counter->isAffine() ||
            !llvm::isa<llvm::SCEVConstant>(counter->getStart()) ||
            !evolution.isKnownPositive(counter->getStepRecurrence(evolution)) ||
            !evolution.isLoopInvariant(bound, &l))
          continue;
        // As far as can be told of a difference: less what is left for after the unrolled loop.
        llvm::ConstantRange range = evolution.getSignedRange(bound);
        if (range.getSignedMax().sle(kMostShort) && range.getSignedMin().sge(-kMostShort))
          return kMostShort;
      }
    }
    return 0;
  }

  // A number that is added to a counter, as in loops that LLVM has unrolled.
  static llvm::ConstantInt* offset_from(V compared, llvm::PHINode& counter) {
    auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(compared);
    if (!sum || sum->getOperand(0) != &counter) return nullptr;
    auto* disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(sum);
    if (sum->getOpcode() != llvm::Instruction::Add && !(disjoint && disjoint->isDisjoint()))
      return nullptr;
    return llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1));
  }

  // i += step; while (i < bound), in its forms.
  static bool find_counter(llvm::Loop& l, Plan& p) {
    auto* jump = llvm::dyn_cast<llvm::BranchInst>(p.latch->getTerminator());
    if (!jump || !jump->isConditional() || jump->getSuccessor(0) == jump->getSuccessor(1))
      return false;
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(jump->getCondition());
    return compare && counts_by(*compare, jump->getSuccessor(0) == p.head, l, p, nullptr);
  }

  // On a GPU, where the loop's code stays as it is: any comparison that holds in each iteration
  // after which the loop goes on, alone or beside others. The step may be a positive value that
  // does not change.
  static bool find_counter(llvm::Loop& l, Plan& p, Loops& in) {
    llvm::SmallVector<llvm::BasicBlock*> exiting;
    l.getExitingBlocks(exiting);
    std::stable_partition(exiting.begin(), exiting.end(), [&](auto* b) { return b == p.latch; });
    for (llvm::BasicBlock* block : exiting) {
      auto* jump = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (!jump || !jump->isConditional() || !in.dominators.dominates(block, p.latch)) continue;
      const bool on_true = l.contains(jump->getSuccessor(0));
      if (on_true == l.contains(jump->getSuccessor(1))) continue;
      llvm::SmallVector<V> conditions{jump->getCondition()};
      while (!conditions.empty()) {
        using namespace llvm::PatternMatch;
        V condition = conditions.pop_back_val(), one = nullptr, other = nullptr;
        if (on_true ? match(condition, m_LogicalAnd(m_Value(one), m_Value(other)))
                    : match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
          conditions.append({one, other});
          continue;
        }
        auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
        Plan found = p;
        if (compare && counts_by(*compare, on_true, l, found, &in.evolution)) {
          p = found;
          return true;
        }
      }
    }
    return false;
  }

  static bool counts_by(llvm::ICmpInst& compare, bool on_true, llvm::Loop& l, Plan& p,
                        llvm::ScalarEvolution* evolution) {
    p.goes_on = on_true ? compare.getPredicate() : compare.getInversePredicate();
    p.compared = compare.getOperand(0);
    p.bound = compare.getOperand(1);
    if (l.isLoopInvariant(p.compared)) {
      std::swap(p.compared, p.bound);
      p.goes_on = llvm::CmpInst::getSwappedPredicate(p.goes_on);
    }
    auto* type = llvm::dyn_cast<llvm::IntegerType>(p.compared->getType());
    if (!l.isLoopInvariant(p.bound) || !type || type->getBitWidth() < 32 ||
        type->getBitWidth() > 64)
      return false;
    for (llvm::PHINode& phi : p.head->phis()) {
      auto* next = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(p.latch));
      if (!next || next->getOpcode() != llvm::Instruction::Add) continue;
      bool first = next->getOperand(0) == &phi;
      if (!first && next->getOperand(1) != &phi) continue;
      if (p.compared != &phi && p.compared != next) {
        if (!evolution) continue;
        p.offset = offset_from(p.compared, phi);
        if (!p.offset) continue;
      }
      V by = next->getOperand(first ? 1 : 0);
      if (auto* step = llvm::dyn_cast<llvm::ConstantInt>(by)) {
        if (step->getValue().getSignificantBits() > 13) return false;  // times 2^16 is below 2^31
        p.step = step->getSExtValue();
      } else {
        if (!evolution || !l.isLoopInvariant(by)) continue;
        llvm::ConstantRange range = evolution->getSignedRange(evolution->getSCEV(by));
        if (!range.getSignedMin().isStrictlyPositive() ||
            range.getSignedMax().getActiveBits() + 17 > type->getBitWidth())
          return false;
        p.stride = by;
        p.step = 1;
      }
      p.counter = &phi;
    }
    using C = llvm::CmpInst;
    bool up = p.goes_on == C::ICMP_SLT || p.goes_on == C::ICMP_ULT || p.goes_on == C::ICMP_SLE ||
              p.goes_on == C::ICMP_ULE;
    bool down = p.goes_on == C::ICMP_SGT || p.goes_on == C::ICMP_UGT || p.goes_on == C::ICMP_SGE ||
                p.goes_on == C::ICMP_UGE;
    return p.counter && (p.goes_on == C::ICMP_NE || (up && p.step > 0) || (down && p.step < 0));
  }

  V load_word() {
    if (stop_) {
      V at = B.CreateIntToPtr(stop_, B.getPtrTy(1));
      V word = B.CreateAlignedLoad(B.getInt32Ty(), at, llvm::Align(4), true);
      return B.CreateICmpNE(word, B.getInt32(0));
    }
    auto* word = m_.getGlobalVariable("numbus_interrupt_word");
    if (!word)
      word = new llvm::GlobalVariable(m_, B.getInt32Ty(), false, llvm::GlobalValue::ExternalLinkage,
                                      nullptr, "numbus_interrupt_word");
    auto* load = B.CreateAlignedLoad(B.getInt32Ty(), word, llvm::Align(4));
    load->setAtomic(llvm::AtomicOrdering::Monotonic);
    return B.CreateICmpNE(load, B.getInt32(0));
  }

  void call_poll() {
    auto* type = llvm::FunctionType::get(B.getVoidTy(), false);
    if (stop_) {
      B.CreateCall(type, llvm::InlineAsm::get(type, "exit;", "~{memory}", true));
      return;
    }
    B.CreateCall(type, llvm::InlineAsm::get(type, "callq *numbus_poll_entry@GOTPCREL(%rip)",
                                            "~{dirflag},~{fpsr},~{flags},~{memory}", true));
  }

  llvm::MDNode* unlikely() {
    return llvm::MDBuilder(m_.getContext()).createUnlikelyBranchWeights();
  }

  // Whether the stack is about to end, or nobody has asked yet where it does: kStackWord in
  // leave.h.
  V stack_ends() {
    auto& c = m_.getContext();
    auto* name = llvm::MDNode::get(c, llvm::MDString::get(c, "rsp"));
    V here = B.CreateIntrinsic(llvm::Intrinsic::read_register, {B.getInt64Ty()},
                               {llvm::MetadataAsValue::get(c, name)});
    constexpr unsigned kThreadSegment = 257;  // %fs, as an address space
    V word = B.CreateIntToPtr(B.getInt64(kStackWord), B.getPtrTy(kThreadSegment));
    V room = B.CreateAdd(here, B.CreateAlignedLoad(B.getInt64Ty(), word, llvm::Align(8)));
    return B.CreateICmpSGE(room, B.getInt64(0));
  }

  void poll_before(llvm::Instruction* at, bool calls = false) {
    auto* block = at->getParent();
    auto* rest = block->splitBasicBlock(at, "polled");
    auto* poll = llvm::BasicBlock::Create(m_.getContext(), "poll", block->getParent(), rest);
    block->getTerminator()->eraseFromParent();
    B.SetInsertPoint(block);
    V look = load_word();
    if (calls && !stop_) look = B.CreateOr(look, stack_ends());
    B.CreateCondBr(look, poll, rest, unlikely());
    B.SetInsertPoint(poll);
    call_poll();
    B.CreateBr(rest);
  }

  // The loop becomes one of strips around itself:
  //   strip: the counter's limit; head: … latch: on to head within the strip, else to ended;
  //   ended: out of the loop, or on to look at the word, and to the next strip.
  void strips(Plan& p) {
    auto& c = m_.getContext();
    llvm::Function* f = p.head->getParent();
    auto* strip = llvm::BasicBlock::Create(c, "strip", f, p.head);
    auto* ended = llvm::BasicBlock::Create(c, "ended", f);
    auto* look = p.counter ? llvm::BasicBlock::Create(c, "look", f) : ended;
    auto* poll = llvm::BasicBlock::Create(c, "poll", f);
    p.before->getTerminator()->replaceSuccessorWith(p.head, strip);
    V first = nullptr;
    B.SetInsertPoint(strip);
    for (llvm::PHINode& phi : p.head->phis()) {
      auto* outer = B.CreatePHI(phi.getType(), 3);
      V next = phi.getIncomingValueForBlock(p.latch);
      outer->addIncoming(phi.getIncomingValueForBlock(p.before), p.before);
      outer->addIncoming(next, look);
      outer->addIncoming(next, poll);
      int n = phi.getBasicBlockIndex(p.before);
      phi.setIncomingBlock(static_cast<unsigned>(n), strip);
      phi.setIncomingValue(static_cast<unsigned>(n), outer);
      if (&phi == p.counter) first = outer;
    }
    if (p.counter)
      count_to_limit(p, first, strip, ended, look);
    else
      count_down(p, strip, ended);
    B.SetInsertPoint(look);
    B.CreateCondBr(load_word(), poll, strip, unlikely());
    B.SetInsertPoint(poll);
    call_poll();
    B.CreateBr(strip);
  }

  void count_to_limit(Plan& p, V first, llvm::BasicBlock* strip, llvm::BasicBlock* ended,
                      llvm::BasicBlock* look) {
    using C = llvm::CmpInst;
    auto* type = p.compared->getType();
    auto* latch = llvm::cast<llvm::BranchInst>(p.latch->getTerminator());
    B.SetInsertPoint(strip);
    // What is compared at the end of the first iteration.
    V start = p.compared == p.counter
                  ? first
                  : B.CreateAdd(first, llvm::ConstantInt::get(type, p.step, true));
    bool up = p.step > 0;
    V far = llvm::ConstantInt::get(type, static_cast<uint64_t>(std::abs(p.step)) * p.iterations);
    V left = up ? B.CreateSub(p.bound, start) : B.CreateSub(start, p.bound);
    V cut = B.CreateICmpUGT(left, far);
    if (p.goes_on != C::ICMP_NE) cut = B.CreateAnd(cut, B.CreateICmp(p.goes_on, start, p.bound));
    V end = up ? B.CreateAdd(start, far) : B.CreateSub(start, far);
    V limit = B.CreateSelect(cut, end, p.bound);
    B.CreateBr(p.head);

    bool on_first = latch->getSuccessor(0) == p.head;
    auto* out = latch->getSuccessor(on_first ? 1 : 0);
    auto* old = llvm::cast<llvm::Instruction>(latch->getCondition());
    B.SetInsertPoint(latch);
    V within =
        B.CreateICmp(on_first ? p.goes_on : C::getInversePredicate(p.goes_on), p.compared, limit);
    latch->setCondition(within);
    latch->setSuccessor(on_first ? 1 : 0, ended);
    if (old->use_empty()) old->eraseFromParent();
    for (llvm::PHINode& phi : out->phis()) {
      int n = phi.getBasicBlockIndex(p.latch);
      phi.setIncomingBlock(static_cast<unsigned>(n), ended);
    }
    B.SetInsertPoint(ended);
    B.CreateCondBr(B.CreateICmp(p.goes_on, p.compared, p.bound), look, out, unlikely());
  }

  void count_down(Plan& p, llvm::BasicBlock* strip, llvm::BasicBlock* ended) {
    auto& c = m_.getContext();
    auto* again = llvm::BasicBlock::Create(c, "again", p.head->getParent(), ended);
    B.SetInsertPoint(strip);
    B.CreateBr(p.head);
    B.SetInsertPoint(p.head, p.head->begin());
    auto* count = B.CreatePHI(B.getInt32Ty(), 2);
    count->addIncoming(B.getInt32(static_cast<uint32_t>(p.iterations)), strip);
    p.latch->getTerminator()->replaceSuccessorWith(p.head, again);
    for (llvm::PHINode& phi : p.head->phis())
      if (&phi != count)
        phi.setIncomingBlock(static_cast<unsigned>(phi.getBasicBlockIndex(p.latch)), again);
    B.SetInsertPoint(again);
    V left = B.CreateAdd(count, B.getInt32(-1));
    count->addIncoming(left, again);
    auto* on = B.CreateCondBr(B.CreateICmpEQ(left, B.getInt32(0)), ended, p.head, unlikely());
    // ptxas would evaluate a strip whose first values it knows iteration by iteration: the gcd of
    // two constants, three times in a kernel, took it 33 seconds.
    if (stop_) mark_loop(on, "llvm.loop.unroll.disable");
  }

  llvm::Module& m_;
  llvm::IRBuilder<> B;
  V stop_ = nullptr;  // of a GPU's kernel: the word's address
  std::optional<CallGraph> calls_;
  std::vector<Plan> plans_;
};

}  // namespace

void mark_short_loop(llvm::Instruction* jump) { mark_loop(jump, kShortMark); }

void insert_polls(llvm::Module& m) { Polls(m).run(); }
void insert_gpu_polls(llvm::Module& m, bool long_loops) { Polls(m).run_gpu(long_loops); }

}  // namespace numbus::compile
