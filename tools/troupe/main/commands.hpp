// The subcommands of this build. Their list is generated from the files' names.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tools/troupe/calling.hpp"

namespace troupe {

struct NamedCommand {
  const char* name;
  std::unique_ptr<Command> (*make)();
};
/// By name.
extern const std::span<const NamedCommand> all_commands;

/// What all of them declare, by name.
std::vector<CommandInfo> describe_all_commands();

} // namespace troupe
