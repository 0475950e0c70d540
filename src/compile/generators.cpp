// Generators: their code as LLVM's coroutines, and what resumes them.
#include <llvm/IR/Module.h>

#include <utility>

#include "compile/function_host.h"
#include "compile/leave.h"
#include "compile/runtime.h"

namespace numbus::compile {
using V = llvm::Value*;
using ir::Intrinsic;

namespace {

// A generator that runs, and one that does not.
constexpr int64_t kRunning = static_cast<int64_t>(ir::Resumed::Running);
constexpr int64_t kSuspended = static_cast<int64_t>(ir::Resumed::Yielded);
constexpr int64_t kEndedNow = static_cast<int64_t>(ir::Resumed::Ended);

Frame& frame_of(int64_t generator) {
  return *reinterpret_cast<Frame*>(generator + static_cast<int64_t>(sizeof(Owner)));
}

}  // namespace

V GeneratorBody::frame_word(int word) {
  return B.CreateConstGEP1_64(B.getInt64Ty(), B.CreateIntToPtr(frame_, B.getPtrTy()),
                              static_cast<uint64_t>(word));
}

V GeneratorBody::context() {
  if (!handle_) return to_->getArg(0);
  return B.CreateLoad(B.getPtrTy(), frame_word(kFrameContext));
}

// Allocates the frame, and fills in its words.
void GeneratorBody::begin() {
  namespace I = llvm::Intrinsic;
  auto* i64 = B.getInt64Ty();
  auto* null = llvm::ConstantPointerNull::get(B.getPtrTy());
  leave_ = block("leave");
  drop_ = block("drop");
  constexpr uint32_t kAlignment = 64;
  V id = B.CreateIntrinsic(I::coro_id, {}, {B.getInt32(kAlignment), null, null, null});
  V size = B.CreateIntrinsic(I::coro_size, {i64}, {});
  const auto words = ir::kGeneratorWords + static_cast<int64_t>(f_.results.size());
  const int64_t before = (8 * words + kAlignment - 1) / kAlignment * kAlignment;
  owner_ = call("numbus_allocate", i64, {B.CreateAdd(size, B.getInt64(before))});
  auto* there = block("frame");
  auto* none = block("no_memory");
  B.CreateCondBr(B.CreateICmpEQ(owner_, B.getInt64(0)), none, there);
  B.SetInsertPoint(none);
  B.CreateRet(B.getInt64(0));
  B.SetInsertPoint(there);
  // Its mark among owners: `item`.
  auto word_of_owner = [&](size_t offset) {
    return B.CreateConstGEP1_64(B.getInt8Ty(), B.CreateIntToPtr(owner_, B.getPtrTy()), offset);
  };
  B.CreateStore(B.getInt64(kGenerator), word_of_owner(offsetof(Owner, item)));
  frame_ = B.CreateAdd(owner_, B.getInt64(sizeof(Owner)));
  V memory = B.CreateIntToPtr(B.CreateAdd(frame_, B.getInt64(before)), B.getPtrTy());
  V handle = B.CreateIntrinsic(I::coro_begin, {}, {id, memory});
  for (int w = 0; w < static_cast<int>(words); ++w) B.CreateStore(B.getInt64(0), frame_word(w));
  B.CreateStore(handle, frame_word(kFrameHandle));
  B.CreateStore(to_->getArg(0), frame_word(kFrameContext));
  handle_ = handle;
  auto* where = B.GetInsertBlock();
  B.SetInsertPoint(drop_);
  B.CreateIntrinsic(I::coro_free, {}, {id, handle_});  // the memory is its owner's
  B.CreateBr(leave_);
  B.SetInsertPoint(leave_);
  B.CreateIntrinsic(I::coro_end, {},
                    {handle_, B.getFalse(), llvm::ConstantTokenNone::get(B.getContext())});
  B.CreateRet(owner_);
  B.SetInsertPoint(where);
}

void GeneratorBody::suspend(bool last) {
  V how = B.CreateIntrinsic(llvm::Intrinsic::coro_suspend, {},
                            {llvm::ConstantTokenNone::get(B.getContext()), B.getInt1(last)});
  auto* on = block("resumed");
  auto* which = B.CreateSwitch(how, leave_, 2);
  which->addCase(B.getInt8(0), on);
  which->addCase(B.getInt8(1), drop_);
  B.SetInsertPoint(on);
}

void GeneratorBody::end(V status) {
  B.CreateStore(B.CreateSExt(status, B.getInt64Ty()), frame_word(kFrameStatus));
  B.CreateStore(B.getInt64(kEndedNow), frame_word(kFrameState));
  suspend(true);
  B.CreateUnreachable();
}

V GeneratorBody::intrinsic(const ir::Inst& i, V a, V b, V c, const std::vector<V>& arguments) {
  if (ir::intrinsic_of(i) != Intrinsic::yields) return HostBody::intrinsic(i, a, b, c, arguments);
  suspend(false);
  return B.CreateICmpNE(B.CreateLoad(B.getInt64Ty(), frame_word(kFrameClosing)), B.getInt64(0));
}

ForeignError& foreign_error() {
  thread_local ForeignError error;
  return error;
}

void close_generator(Owner* o) {
  Frame& f = frame_of(reinterpret_cast<int64_t>(o));
  if (f.state != kSuspended) return;
  int64_t nobodys[kContextWords] = {};
  f.context = nobodys;
  f.closing = 1;
  f.state = kRunning;
  ++o->count;  // while its own code runs
  (*f.handle)(f.handle);
  --o->count;
}

extern "C" int64_t numbus_resume(int64_t* context, int64_t generator) {
  Frame& f = frame_of(generator);
  if (f.state != kSuspended) return f.state;
  f.context = context;
  f.state = kRunning;
  numbus_retain(generator);  // what it does may let go of the last name that it has
  (*f.handle)(f.handle);
  ir::Resumed what = ir::Resumed::Yielded;
  if (f.state == kRunning) {
    f.state = kSuspended;
  } else if (f.status) {
    what = ir::Resumed::Failed;
    if (f.sites && f.sites != reinterpret_cast<const void*>(context[kSites])) {
      foreign_error() = {f.sites, context[kSite]};
      context[kSite] = kForeignSite;
    }
  } else {
    what = ir::Resumed::Ended;
  }
  numbus_release(generator);
  return static_cast<int64_t>(what);
}

}  // namespace numbus::compile
