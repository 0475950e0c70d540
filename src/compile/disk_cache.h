// Compiled code kept between processes, one file a kernel, under a directory that only its owner
// can write.
#pragma once

#include <string>
#include <string_view>

namespace numbus::compile {

// The stored code of `key`, or an empty string; a file that is damaged, foreign or of another key
// counts as absent.
std::string disk_load(std::string_view key);
void disk_store(std::string_view key, std::string_view code);

}  // namespace numbus::compile
