// Frames: which while-loop each node of a graph belongs to (control flow of Enter, Exit,
// NextIteration).
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.hpp"

namespace troupe {

/// Frame 0 is the root: no loop. A frame is named by its parent and the frame_name of its Enters.
struct Frame {
  std::string name; ///< empty: root
  int parent = -1;  ///< -1: this is the root
  int depth = 0;
  int parallel_iterations = 1;
  NodeId enter = -1;     ///< one of its Enters
  NodeId loop_cond = -1; ///< -1: the frame has none
};

struct Frames {
  std::vector<Frame> frames;
  /// By node. An Enter counts to the frame it opens, an Exit to the one it leaves.
  std::vector<int> of;

  int of_node(const Node& node) const { return of[static_cast<std::size_t>(node.id)]; }
  /// The frame where a node's outputs are: the parent's for an Exit.
  int of_outputs(const Node& node) const;
  /// The frame where a node's inputs are: the parent's for an Enter.
  int of_inputs(const Node& node) const;
  bool has_loops() const { return frames.size() > 1; }
};

// By role.
bool is_enter(const Node& node);
bool is_exit(const Node& node);
bool is_next_iteration(const Node& node);
bool is_merge(const Node& node);

/// INVALID_ARGUMENT for a node whose inputs are in different frames ("The node 'x' has inputs from
/// different frames. …"), or an Exit outside of any. Linear.
Result<Frames> find_frames(const Graph& graph);

} // namespace troupe
