// Completion: what the word at the cursor may become.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/repl/commands.hpp"

namespace troupe {

/// Where names come from. Each is asked only when it is wanted; it may ask a node.
using CompletionSources = std::map<ArgumentKind, std::function<std::vector<std::string>()>>;

/// Complete words that begin with the one at the end of `text`, sorted, each once. The first word
/// of a statement is a command; what others are, its row says. A word with letters but no match at
/// its beginning gives nothing.
std::vector<std::string> complete(std::string_view text, const CompletionSources& sources);

/// Files and folders (with a slash at their end) that begin with `prefix`.
std::vector<std::string> files_with_prefix(const std::string& prefix);

/// The workspace's names; it must live as long as the sources.
CompletionSources sources_of(Workspace& workspace);

} // namespace troupe
