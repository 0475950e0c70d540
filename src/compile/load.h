// Puts compiled objects into memory, ready to run.
#pragma once

#include <string>
#include <string_view>

namespace numbus::compile {

// Loads a relocatable ELF object for x86-64, as LLVM emits them for this process; the address of
// its symbol. The memory stays as long as the process: code may still run while statics are
// destroyed. `external` gives the addresses of what the object does not define, null where it is
// not known. Raises RuntimeError where the object needs more than this loader knows.
void* load_object(std::string_view object, const std::string& symbol,
                  void* (*external)(std::string_view name));

}  // namespace numbus::compile
