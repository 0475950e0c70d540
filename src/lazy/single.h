// One instruction without a plan: a map by a loop of the interpreter, or a kernel made for it,
// block by block; a small reduction; the call of a routine.
#pragma once

#include <span>

#include "lazy/blocks.h"
#include "lazy/ready.h"
#include "lazy/window.h"

namespace numbus::small {

// What one loop of the interpreter makes of operands, each of which it may convert first.
struct Single {
  interp::Loop loop = nullptr;
  DType made;  // the type of what it makes
  interp::Loop load[3] = {}, store = nullptr;
  DType reads[3];
  bool copies = false;  // there is nothing to compute
  bool twice = false;   // the operand is the second one, too

  // False: the operation is no single loop.
  bool find(const Instr& i, DType result, DType out, const Window::Input* in, int count);
  void run(const Instr& i, int count, int64_t n, const char* const* given, char* into) const;
};

// Carries out a map, which neither gathers nor scatters and whose loop gives `result`, on memory
// that the host reads and that nothing pending touches; its operands are as Window::record takes
// them. The bits are those of the recorded instruction. False: it has to be recorded, and nothing
// has been written.
bool map_now(const Instr& i, DType result, const ViewRef& out, const Window::Input* in, int count);

// The same for a reduction, whose operand has elements. where: its predicate, in its shape, or
// null.
bool reduce_now(const Instr& i, const ViewRef& a, const ViewRef* where, const ViewRef& out);
// The same for a routine that applies no operation; `arrays`: its operands, then its results, whose
// memory is apart from that of the operands.
bool call_now(const Instr& i, std::span<const ViewRef> arrays);

}  // namespace numbus::small
