// TARGET on a command line: one form for every command.
#pragma once

#include <string_view>

#include "core/base/strings.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

inline constexpr const char* session_target_help =
    "local, or caf://HOST:PORT of a node (caf:// may be left out)";
inline constexpr const char* node_target_help =
    "caf://HOST:PORT of a node (caf:// may be left out)";

/// Of a command that asks a node, and has nothing to ask of a session of its own. INVALID_ARGUMENT
/// with the forms of targets.
inline Result<Address> parse_node_target(std::string_view target) {
  if (target == "local")
    return invalid_argument("'local' is a session within one command and no node; name one as "
                            "caf://host:port, such as caf://127.0.0.1:7271");
  return Address::of_target(target);
}

} // namespace troupe
