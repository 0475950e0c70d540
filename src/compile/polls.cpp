// Where polls go: a counting loop is cut into strips, each of some 2^22 steps, and looks between
// two of them; so does a loop that ends by what it finds, by a counter of its own. A loop of loops
// looks each time around, and so does a function that calls itself, where it does. Loops that are
// known to be short do not look.
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
constexpr uint64_t kGpuIterations = 4096;
constexpr uint64_t kMostIterations = 65536, kFewestIterations = 16;

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
};

class Polls {
 public:
  explicit Polls(llvm::Module& m) : m_(m), B(m.getContext()) {}

  void run_gpu() {
    llvm::Function* entry = m_.getFunction("k");
    if (!entry || m_.getNamedGlobal("grid_state")) return;
    llvm::DominatorTree dominators(*entry);
    llvm::LoopInfo loops(dominators);
    llvm::TargetLibraryInfoImpl library(llvm::Triple(m_.getTargetTriple()));
    llvm::TargetLibraryInfo info(library, entry);
    llvm::AssumptionCache assumptions(*entry);
    llvm::ScalarEvolution evolution(*entry, info, assumptions, dominators, loops);
    std::vector<llvm::Loop*> endless;
    for (llvm::Loop* l : loops.getLoopsInPreorder())
      if (llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getSymbolicMaxBackedgeTakenCount(l)))
        endless.push_back(l);
    if (endless.empty()) return;
    stop_ = entry->getArg(static_cast<unsigned>(entry->arg_size()) - 1);
    for (llvm::Loop* l : loops)
      llvm::simplifyLoop(l, &dominators, &loops, &evolution, &assumptions, nullptr, false);
    for (llvm::Loop* l : endless) {
      Plan p;
      p.before = l->getLoopPreheader();
      p.head = l->getHeader();
      p.latch = l->getLoopLatch();
      p.iterations = kGpuIterations;
      if (p.before && p.latch) plans_.push_back(p);
    }
    for (Plan& p : plans_) strips(p);
  }

  void run() {
    calls_.emplace(m_);
    for (llvm::Function& f : m_)
      if (!f.isDeclaration()) function(f);
  }

 private:
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

  // i += step; while (i < bound), in its forms.
  static bool find_counter(llvm::Loop& l, Plan& p) {
    auto* jump = llvm::dyn_cast<llvm::BranchInst>(p.latch->getTerminator());
    if (!jump || !jump->isConditional()) return false;
    auto* compare = llvm::dyn_cast<llvm::ICmpInst>(jump->getCondition());
    if (!compare || jump->getSuccessor(0) == jump->getSuccessor(1)) return false;
    p.goes_on =
        jump->getSuccessor(0) == p.head ? compare->getPredicate() : compare->getInversePredicate();
    p.compared = compare->getOperand(0);
    p.bound = compare->getOperand(1);
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
      if (!next || next->getOpcode() != llvm::Instruction::Add || next->getOperand(0) != &phi)
        continue;
      auto* step = llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1));
      if (!step || (p.compared != &phi && p.compared != next)) continue;
      if (step->getValue().getSignificantBits() > 13) return false;  // times 2^16 is below 2^31
      p.counter = &phi;
      p.step = step->getSExtValue();
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
void insert_gpu_polls(llvm::Module& m) { Polls(m).run_gpu(); }

}  // namespace numbus::compile
