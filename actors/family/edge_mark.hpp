// The mark of a session in the names of its cut edges: a task that is TensorFlow's comes for a
// value by step and key alone, and the key has the edge's name.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// No name of a node contains '@'.
inline std::string edge_mark(const std::string& session_handle) {
  return "@" + session_handle;
}
/// The session handle behind the last '@' of an edge's name; empty if there is none.
inline std::string_view marked_session(std::string_view edge) {
  const auto at = edge.rfind('@');
  return at == edge.npos ? std::string_view() : edge.substr(at + 1);
}

} // namespace troupe
