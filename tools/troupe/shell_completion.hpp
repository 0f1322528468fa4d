// Completion of `troupe`'s command line in shells, made from what the commands declare.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "tools/troupe/calling.hpp"

namespace troupe {

/// A script for "bash", "zsh" or "fish". INVALID_ARGUMENT naming the three for another shell.
Result<std::string> completion_script(std::string_view shell,
                                      std::span<const CommandInfo> commands);

} // namespace troupe
