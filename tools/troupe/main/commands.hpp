// The subcommands of this build. Their list is generated from the files' names.
#pragma once

#include <memory>
#include <span>

#include "tools/troupe/command.hpp"

namespace troupe {

struct NamedCommand {
  const char* name;
  std::unique_ptr<Command> (*make)();
};
/// By name.
extern const std::span<const NamedCommand> all_commands;

} // namespace troupe
