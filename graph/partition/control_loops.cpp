#include "graph/partition/internal/control_loops.hpp"

#include <map>

#include "core/base/strings.hpp"
#include "graph/partition/frames.hpp"

namespace troupe::partitioning {
namespace {

constexpr std::string_view prefix = "_cloop";

struct Loop {
  NodeId enter = -1;
  NodeId merge = -1;
};

class Adder {
public:
  Adder(Graph& graph, Frames frames, const NewName& new_name)
      : graph_(graph), frames_(std::move(frames)), new_name_(new_name) {}

  Status run() {
    // Nodes added on the way lie behind this; their own cross-device edges (the LoopCond's) need a
    // control edge, but no further loop.
    NodeId before = graph_.capacity();
    for (NodeId id = 0; id < before; ++id)
      if (graph_.node(id))
        TROUPE_TRY(for_each_crossing(
            id, [&](const Node& dst, int frame) { return ensure_loop(frame, dst); }));
    for (NodeId id = 0; id < graph_.capacity(); ++id)
      if (graph_.node(id))
        TROUPE_TRY(for_each_crossing(id, [&](const Node& dst, int frame) {
          graph_.add_control_edge(loops_.at({frame, dst.assigned_device}).merge, dst.id);
          return Status{};
        }));
    return {};
  }

private:
  // Calls visit(dst, frame) if an edge within a loop reaches node `id` from another device.
  template <class Visit>
  Status for_each_crossing(NodeId id, Visit visit) {
    const Node& dst = *graph_.node(id);
    int inside = frames_.of_inputs(dst);
    if (inside == 0)
      return {};
    auto crosses = [&](NodeId from) {
      return from >= 0 && graph_.node(from)->assigned_device != dst.assigned_device &&
             frames_.of_outputs(*graph_.node(from)) == inside;
    };
    for (Endpoint e : dst.inputs)
      if (crosses(e.node))
        return visit(dst, inside);
    for (NodeId from : dst.control_inputs)
      if (crosses(from))
        return visit(dst, inside);
    return {};
  }

  // From the frame outwards until a loop is there already, or the root is reached.
  Status ensure_loop(int frame, const Node& dst) {
    const std::string device = dst.assigned_device;
    const std::string base(dst.name);
    Loop child;
    for (;;) {
      if (frame == 0) {
        if (child.enter >= 0) {
          TROUPE_ASSIGN(Node * root, add_root(base, device));
          graph_.set_input(child.enter, 0, {root->id, 0});
        }
        return {};
      }
      auto found = loops_.find({frame, device});
      if (found != loops_.end()) {
        if (child.enter >= 0)
          graph_.set_input(child.enter, 0, {found->second.merge, 0});
        return {};
      }
      TROUPE_ASSIGN(Loop loop, add_loop(frame, base, device));
      loops_.emplace(std::pair(frame, device), loop);
      if (child.enter >= 0)
        graph_.set_input(child.enter, 0, {loop.merge, 0});
      child = loop;
      frame = frames_.frames[static_cast<std::size_t>(frame)].parent;
    }
  }

  Result<Node*> add(std::string_view kind, const std::string& base, const std::string& device,
                    std::string_view op, AttrMap attrs, int frame) {
    TROUPE_ASSIGN(const OpSchema* schema, graph_.registry().lookup(op));
    std::string name = new_name_(str_cat(prefix, "/", kind, "/", base));
    TROUPE_ASSIGN(Node * node,
                  graph_.add_unconnected(graph_.unique_name(name), *schema, std::move(attrs)));
    node->assigned_device = device;
    frames_.of.resize(static_cast<std::size_t>(graph_.capacity()), 0);
    frames_.of[static_cast<std::size_t>(node->id)] = frame;
    return node;
  }

  Result<Node*> add_root(const std::string& base, const std::string& device) {
    return add(
        "root", base, device, "Const",
        {{"value", TensorBox{Tensor::make(DType::float32, Shape{0})}}, {"dtype", DType::float32}},
        0);
  }

  Result<Loop> add_loop(int frame, const std::string& base, const std::string& device) {
    const Frame info = frames_.frames[static_cast<std::size_t>(frame)];
    if (info.loop_cond < 0)
      return invalid_argument(
          str_cat("A cross-device loop must have a pivot predicate: ", info.name));
    TROUPE_ASSIGN(Node * enter, add("enter", base, device, "Enter",
                                    {{"T", DType::float32},
                                     {"frame_name", info.name},
                                     {"parallel_iterations",
                                      static_cast<std::int64_t>(info.parallel_iterations)}},
                                    frame));
    TROUPE_ASSIGN(Node * merge, add("merge", base, device, "Merge",
                                    {{"T", DType::float32}, {"N", std::int64_t{2}}}, frame));
    TROUPE_ASSIGN(Node * choice,
                  add("switch", base, device, "Switch", {{"T", DType::float32}}, frame));
    TROUPE_ASSIGN(Node * next,
                  add("next", base, device, "NextIteration", {{"T", DType::float32}}, frame));
    graph_.set_input(merge->id, 0, {enter->id, 0});
    graph_.set_input(merge->id, 1, {next->id, 0});
    graph_.set_input(choice->id, 0, {merge->id, 0});
    graph_.set_input(choice->id, 1, {info.loop_cond, 0});
    graph_.set_input(next->id, 0, {choice->id, 1});
    return Loop{enter->id, merge->id};
  }

  Graph& graph_;
  Frames frames_;
  const NewName& new_name_;
  std::map<std::pair<int, std::string>, Loop> loops_; // by frame and device
};

} // namespace

Status colocate_control_flow(Graph& graph) {
  TROUPE_ASSIGN(auto order, graph.topological_order());
  for (NodeId id : order) {
    Node& node = *graph.node(id);
    bool follows_input = node.has_role(Role::branch) || is_exit(node);
    bool follows_reader =
        is_next_iteration(node) || (is_enter(node) && !is_ref(node.input_types[0]));
    if (follows_input && node.inputs[0].node >= 0)
      node.assigned_device = graph.node(node.inputs[0].node)->assigned_device;
    if (!follows_reader)
      continue;
    for (const OutEdge& edge : node.outs)
      if (!edge.is_control()) {
        node.assigned_device = graph.node(edge.dst)->assigned_device;
        break;
      }
  }
  return {};
}

Status add_control_loops(Graph& graph, const NewName& new_name) {
  TROUPE_ASSIGN(Frames frames, find_frames(graph));
  if (!frames.has_loops())
    return {};
  return Adder(graph, std::move(frames), new_name).run();
}

bool is_control_loop_merge(const Node& node) {
  return is_merge(node) && node.name.starts_with(prefix);
}

} // namespace troupe::partitioning
