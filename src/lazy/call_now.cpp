// Calls of routines without a plan, by the entries that recorded ones go to.
#include "lazy/calls.h"
#include "lazy/entries.h"
#include "lazy/runtime.h"
#include "lazy/single.h"

namespace numbus::small {

bool call_now(const Instr& i, std::span<const ViewRef> arrays) {
  // What applies an operation may compile it.
  const Entry entry = applies(i.routine) ? nullptr : entries_of(i.routine).cpu;
  if (!entry) return false;
  // Its vectors are used again by the next call.
  static thread_local KernelStep step;
  if (!step.call) step.call.emplace();
  CallStep& call = *step.call;
  call.routine = i.routine;
  call.op = i.op;
  call.type = i.loop;
  call.attributes = i.attributes;
  call.types.clear();
  call.layouts.clear();
  step.params.clear();
  for (const ViewRef& a : arrays) {
    a.base->ensure_data();
    call.types.push_back(a.dtype);
    call.layouts.push_back(a.layout);
    step.params.push_back(reinterpret_cast<int64_t>(a.base->data + a.offset));
  }
  if (is_long(call, flops_of(call))) return false;  // it has to be interruptible
  entry(Runtime::get(), *arrays.back().base->device, step);
  return true;
}

}  // namespace numbus::small
