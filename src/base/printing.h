// Prints the stages of compilation that NUMBUS_PRINT names to stderr, for whoever looks for a bug.
#pragma once

#include <string>

namespace numbus {

enum class Stage { Window, Groups, Passes };

// Whether NUMBUS_PRINT, a list such as "groups,passes", names the stage.
bool prints(Stage s);
// A title in a line of its own and a text, in one piece whatever other threads print.
void print_stage(const std::string& title, const std::string& text);

}  // namespace numbus
