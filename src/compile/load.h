// Puts compiled objects into memory, ready to run.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace numbus::compile {

// Code in memory, for as long as `memory` is held. Whoever may still run it while statics are
// destroyed holds it for ever.
struct Loaded {
  std::shared_ptr<void> memory;
  void* address = nullptr;  // of the symbol
};
// Loads a relocatable ELF object for x86-64, as LLVM emits them for this process. `external` gives
// the addresses of what the object does not define, null where it is not known. Raises RuntimeError
// where the object needs more than this loader knows.
Loaded load_object(std::string_view object, const std::string& symbol,
                   void* (*external)(std::string_view name));

}  // namespace numbus::compile
