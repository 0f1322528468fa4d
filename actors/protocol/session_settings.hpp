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
  std::vector<std::string> enabled_passes;  ///< of those that run on request
  bool infer_shapes = false;                ///< of nodes, for whoever looks at the parts
  bool place_pruned = false;                ///< only what a step runs is placed
  bool bfloat16_sendrecv = false;           ///< floats travel between tasks as bfloat16
  bool recv_scheduling = false;             ///< receives begin by their estimated start times
  bool static_graph = false;                ///< it is not extended once it has nodes
  bool hides_partition_graphs = false;      ///< a step that asks to see them is refused
  bool any_feed_shape = false;              ///< whatever a placeholder's shape is
  std::int64_t cost_model_every = 0; ///< a run in so many of a signature gives its costs; 0: none
  std::int64_t cost_model_after = 0; ///< so many are left out before
  std::int64_t timeline_every = 0;   ///< a run in so many of a signature is traced; 0: none
  std::int64_t operation_timeout_us = 0; ///< a step's default deadline; 0: the runtime's
  std::int64_t lease_us = 0; ///< the client promises a word within it; 0: for ever (same process)
};

} // namespace troupe
