// All passes, by what they prepare: nothing outside this folder calls one of them itself.
#pragma once

#include <optional>
#include <vector>

#include "ir/function.h"

namespace numbus {

// Whether the verifier runs after every pass: where NUMBUS_VERIFY is set and not 0, and in debug
// builds. Tests set it.
bool verifies_passes();

// Prints the IR where NUMBUS_PRINT names "passes". Where verifies_passes(), raises RuntimeError
// that names the pass and prints the IR if that is wrong.
void check_after(const char* pass, const ir::Module& m);
void check_after(const char* pass, const ir::Function& f, const ir::Module& m);
void check_after(const char* pass, const ir::Kernel& k);

// What the front end has made, for every back end.
void run_passes(ir::Module& m);

// A portion of a parallel loop, or a kernel's block, with its calls in its own body, whose
// iterations or threads can run on lanes. Nothing where a call is recursive.
std::optional<ir::Function> portion_for_lanes(const ir::Module& m, const ir::Function& portion);
std::optional<ir::Function> block_for_lanes(const ir::Module& m);
// The last pass over either, once it is known that lanes will run it.
void finish_lanes(ir::Function& f, const ir::Module& m);

// The steps of the module's first function as array code records them: see passes/straighten.h.
// The module comes from the front end; its own passes have not run.
std::optional<ir::Function> steps_to_record(const ir::Module& m, const std::vector<DType>& params,
                                            DType result);

// A kernel of array code, complete but for the expansions that depend on what uses a value.
void lower(ir::Kernel& k);

}  // namespace numbus
