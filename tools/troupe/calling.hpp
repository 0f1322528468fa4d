// What may stand on a command's line, as data: for help, for sentences about wrong calls, for shell
// completion and for manual pages. Commands say it once, in Command::declare.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/troupe/command.hpp"

namespace troupe {

/// A position ("TARGET") or an option with all its names ("--config-file", "--config").
struct OptionInfo {
  std::vector<std::string> names;
  std::string help;
  bool takes_value = true; ///< a flag takes none
  bool repeats = false;
  bool required = false;
  bool is_position() const { return names[0][0] != '-'; }
};

struct CommandInfo {
  std::string name;
  std::string summary;
  std::vector<std::pair<std::string, std::string>> examples;
  std::vector<OptionInfo> options; ///< positions and options, in the order of declaration
};

/// Asks the command for everything.
CommandInfo describe_command(std::string name, Command& command);

/// The sentence for the first thing that is wrong in `words`, which stand after the command's name:
/// an unknown option with the nearest ones, a word too many, an option without its value, something
/// required that is missing. Empty if nothing of that kind is wrong.
std::string find_wrong_word(const CommandInfo& command, std::span<const std::string> words);

/// "troupe run TARGET GRAPH [OPTIONS]"
std::string usage_of(const CommandInfo& command);

} // namespace troupe
