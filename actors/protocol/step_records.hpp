// What a task knows of a step that has not ended there: plain records, which WhyTree
// (actors/step/why_tree.hpp) joins to a tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// A node that has not finished, and why.
struct NodeRecord {
  enum class State : std::uint8_t { waiting, queued, running };
  /// Where the node's value leaves its partition, or comes from.
  enum class End : std::uint8_t { none, send, receive, fetch };
  std::string node, op;
  End end = End::none;
  State state = State::waiting;
  bool is_async = false;        ///< its kernel holds no thread while it runs
  std::int64_t running_us = -1; ///< of a running kernel: for how long; -1 if that is not known
  std::string waits_for;   ///< of a running kernel that has said it: "elements of queue 'q' (…)"
  std::string edge;        ///< of a send or receive: the cut edge's name "edge_1_a", as in its key
  std::string peer;        ///< of a send or receive: the device at the edge's other end
  std::uint64_t frame = 0; ///< 0: outside of loops
  std::int64_t iteration = 0;
  std::vector<std::string> missing; ///< the first inputs that have not arrived: "a:0", "^b"
  std::uint64_t more_missing = 0;   ///< how many others there are
  /// Nodes left out of a long chain: the node waits for the first of them, and the last of them for
  /// missing[0].
  std::uint64_t skipped = 0;
};

/// One device's part of the step.
struct DeviceRecord {
  std::string device; ///< full name; empty if not even that is known
  /// Whether its executor answered in time. If not, a kernel holds its thread: `nodes` has it, if
  /// it is known.
  bool answered = false;
  std::uint64_t unfinished = 0; ///< nodes, listed or not
  std::vector<NodeRecord> nodes;
};

/// A key of the step's rendezvous.
struct EdgeRecord {
  enum class State : std::uint8_t { wanted_here, lies_here };
  std::string key;
  State state = State::wanted_here;
};

/// What is known of a task that has not answered, or not for all of it.
struct SilenceRecord {
  enum class Kind : std::uint8_t {
    unknown,
    busy,      ///< its graph manager has not answered
    heard,     ///< it is connected, and was heard of `silent_us` ago
    lost,      ///< for the reason `loss`
    unreached, ///< it was not dialled
  };
  Kind kind = Kind::unknown;
  std::int64_t silent_us = 0;
  std::string loss; ///< as to_string(LossReason)
};

struct TaskRecord {
  std::string task;
  bool answered = false;
  SilenceRecord silence;
  bool has_ended = false; ///< its part of the step has
  bool has_begun = false; ///< executors of the step are at work
  std::vector<DeviceRecord> devices;
  std::vector<EdgeRecord> edges;
};

} // namespace troupe
