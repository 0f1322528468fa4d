// What a client may ask of a session. Plain: knows no actors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// What a client may ask of a session; ConfigProto's fields that we know.
struct SessionSettings {
  std::vector<std::string>
      device_filters; ///< tasks to use: "/job:ps", "/job:worker/task:0"; none: all
  bool allow_soft_placement = true;
  bool log_device_placement = false;
  bool isolate_session_state = false;
  bool optimize = true;                     ///< graph rewriting
  std::vector<std::string> disabled_passes; ///< by name
  std::int64_t operation_timeout_us = 0;    ///< a step's default deadline; 0: the runtime's
  std::int64_t lease_us = 0; ///< the client promises a word within it; 0: for ever (same process)
};

} // namespace troupe
