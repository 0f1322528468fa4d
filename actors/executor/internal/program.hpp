// Program: a partition laid out for running. Nodes in flat arrays, edges as compressed rows, one
// block of initial counts. Immutable once compiled; read by any number of steps at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/framework/context.hpp"

namespace troupe::program {

/// How the executor treats a node; all but the first two are done without calling a kernel.
enum class Kind : std::uint8_t {
  kernel,
  async_kernel,
  no_op,
  constant, ///< one that waits for control inputs; others are pre-filled inputs
  arg,
  retval,
  forward, ///< output 0 is input 0
  select,  ///< a branch of two by a bool
  merge,
  enter,
  exit,
  next_iteration,
};

enum Flags : std::uint16_t {
  runs_when_dead = 1,     ///< transfers and triggers
  constant_inputs = 2,    ///< some input slots are pre-filled
  reference_inputs = 4,   ///< some input comes along a reference edge
  expensive = 8,          ///< may go to a compute thread
  may_leave_unset = 16,   ///< an output without value means a dead one
  invariant = 32,         ///< an enter with is_constant
  needs_value_index = 64, ///< a merge's second output is read
  accepts_uninitialized = 128,
  spreads = 256, ///< expensive, and simple enough for a batch (see Batch)
};

/// What is still missing before a node of an iteration can run. Of a Merge, `pending` is twice the
/// control inputs missing, plus one while neither a live input nor the news that all are dead has
/// arrived.
struct Counts {
  std::int32_t pending = 0;
  std::int32_t dead = 0;
};

/// A data edge to input `slot` (of all the program's inputs) of node `dst`.
struct Edge {
  std::int32_t dst = -1;
  std::int32_t slot = -1;
  std::uint32_t src_slot : 30 = 0;
  std::uint32_t to_merge : 1 = 0;
  std::uint32_t last : 1 = 0; ///< no later edge reads this output: its value may be moved
};

struct ControlEdge {
  std::uint32_t dst : 31 = 0;
  std::uint32_t to_merge : 1 = 0;
};

struct ProgramNode {
  union {
    KernelFn compute = nullptr;
    AsyncKernelFn compute_async;
  };
  const KernelIo* io = nullptr; ///< of its KernelNode
  std::int32_t first_input = 0;
  std::int32_t num_inputs = 0;
  std::int32_t num_outputs = 0;
  std::int32_t first_edge = 0, end_edge = 0;
  std::int32_t first_control = 0, end_control = 0;
  /// The one slot that the only output goes to, which the kernel writes itself; or -1.
  std::int32_t direct_slot = -1;
  union { // by kind
    /// Of a kernel or forward: the only task that receives its value, or -1.
    std::int32_t receiver = -1;
    std::int32_t constant;     ///< of a constant: its tensor
    std::int32_t index;        ///< of an arg, and of a retval until it has its position
    std::int32_t position;     ///< of a retval, among those of the partition
    std::int32_t opened_frame; ///< of an enter
    std::int32_t exit_number;  ///< of an exit, among those of its frame
  };
  DType output_type = DType::invalid; ///< of output 0
  Kind kind = Kind::kernel;
  std::uint16_t flags = 0;
};

/// The nodes and inputs that every iteration of one loop has; 0 is the root, outside any loop.
struct FrameLayout {
  std::string name;
  std::uint64_t name_hash = 0;
  std::int32_t first_node = 0, num_nodes = 0;
  std::int32_t first_slot = 0, num_slots = 0;
  std::int32_t num_enters = 0;
  std::int32_t num_exits = 0;
  std::int32_t parallel_iterations = 1;
};

/// Where an input comes from.
struct Source {
  std::int32_t node = -1; ///< -1: a constant
  std::int32_t slot = 0;  ///< -1: control
};

/// What the inputs and the control inputs of all nodes come from; for messages only.
struct Sources {
  std::vector<Source> slots;               ///< by input
  std::vector<std::int32_t> control_first; ///< by node, one more at the end
  std::vector<std::int32_t> control_nodes;
};

struct Program {
  Device* device = nullptr;
  bool has_frames = false;
  bool is_large = false; ///< a step's writes do not stay in a core's cache until the next step
  std::vector<ProgramNode> nodes; ///< frame by frame, each in topological order
  std::vector<Edge> edges;
  std::vector<ControlEdge> controls;
  std::vector<Counts> initial; ///< by node
  std::vector<KernelNode> info;
  std::vector<FrameLayout> frames;
  std::vector<Tensor> constants;
  std::vector<std::string> constant_nodes; ///< whose values they are
  std::vector<std::int32_t> slot_constant; ///< by input; -1: not pre-filled
  std::vector<std::int32_t> roots;         ///< ready from the start, without the args
  std::vector<std::int32_t> args;
  Sources sources;
  std::vector<int> arg_indices, retval_indices;
  std::vector<std::string> receivers; ///< tasks
  std::int32_t max_outputs = 0;
  /// Moving averages of what expensive kernels take, in ticks; 0: not measured yet. Relaxed: any
  /// recent value will do.
  std::unique_ptr<std::atomic<std::uint32_t>[]> costs;
};

} // namespace troupe::program
