// Rows of the table with rare parts as functions of their own, in one lane and in several: LLVM's
// loop vectoriser takes a call that has a form for vectors, but no branch inside of an iteration.
#pragma once

#include "compile/rows.h"

namespace numbus::compile {

// The row's value; E says on how many lanes. lanes: those that matter, where not all do.
llvm::Value* call_row(Emit& E, const ir::Inst& i, llvm::Value* a, llvm::Value* b,
                      llvm::Value* lanes = nullptr);
// Gives each row called in a module its form for vectors of that size.
void add_vector_rows(llvm::Module& m, int vector_bytes);
// After the vectoriser: what it had no use for goes, calls become what they call.
void finish_rows(llvm::Module& m);

}  // namespace numbus::compile
