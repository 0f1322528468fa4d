// Manual pages, made from what the commands declare.
#pragma once

#include <span>
#include <string>

#include "tools/troupe/calling.hpp"

namespace troupe {

/// troupe(1): all commands, each with its summary.
std::string man_page_of_all(std::span<const CommandInfo> commands);
/// troupe-NAME(1).
std::string man_page(const CommandInfo& command);

} // namespace troupe
