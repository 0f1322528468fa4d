#include "graph/partition/frames.hpp"

#include <map>

#include "core/base/strings.hpp"

namespace troupe {

bool is_enter(const Node& node) {
  return node.has_role(Role::enter);
}
bool is_exit(const Node& node) {
  return node.has_role(Role::exit);
}
bool is_next_iteration(const Node& node) {
  return node.has_role(Role::next_iteration);
}
bool is_merge(const Node& node) {
  return node.has_role(Role::merge);
}

int Frames::of_outputs(const Node& node) const {
  int frame = of_node(node);
  return is_exit(node) ? frames[static_cast<std::size_t>(frame)].parent : frame;
}

int Frames::of_inputs(const Node& node) const {
  int frame = of_node(node);
  return is_enter(node) ? frames[static_cast<std::size_t>(frame)].parent : frame;
}

namespace {

class Finder {
public:
  explicit Finder(const Graph& graph) : graph_(graph) {}

  Result<Frames> run() {
    out_.frames.emplace_back();
    out_.of.assign(static_cast<std::size_t>(graph_.capacity()), -1);
    TROUPE_ASSIGN(auto order, graph_.topological_order());
    for (NodeId id : order)
      TROUPE_TRY(visit(*graph_.node(id)));
    for (NodeId id : order) // the edges from NextIteration back to Merge
      if (is_merge(*graph_.node(id)))
        for (Endpoint e : graph_.node(id)->inputs)
          if (e.node >= 0 &&
              out_.of_outputs(*graph_.node(e.node)) != out_.of_node(*graph_.node(id)))
            return mixed(*graph_.node(id), graph_.node(id)->inputs[0].node, e.node);
    return std::move(out_);
  }

private:
  Frame& frame(int index) { return out_.frames[static_cast<std::size_t>(index)]; }

  Status visit(const Node& node) {
    NodeId first = -1; // the input that gave the frame
    int outer = 0;
    auto check = [&](NodeId from) -> Status {
      if (from < 0 || out_.of[static_cast<std::size_t>(from)] < 0)
        return {};
      int theirs = out_.of_outputs(*graph_.node(from));
      if (first < 0) {
        first = from;
        outer = theirs;
      }
      return theirs == outer ? Status{} : mixed(node, first, from);
    };
    for (Endpoint e : node.inputs)
      TROUPE_TRY(check(e.node));
    for (NodeId from : node.control_inputs)
      TROUPE_TRY(check(from));
    auto& mine = out_.of[static_cast<std::size_t>(node.id)];
    if (is_enter(node)) {
      TROUPE_ASSIGN(mine, open(node, outer));
      return {};
    }
    if (is_exit(node) && outer == 0)
      return invalid_argument(str_cat("The node '", node.name, "' (", node.op_name(),
                                      ") leaves a loop, but its input is in none"));
    if (node.has_role(Role::loop_condition))
      frame(outer).loop_cond = node.id;
    mine = outer;
    return {};
  }

  Result<int> open(const Node& enter, int outer) {
    TROUPE_ASSIGN(std::string name, enter.attrs.get<std::string>("frame_name"));
    auto [entry, is_new] =
        by_name_.try_emplace({outer, name}, static_cast<int>(out_.frames.size()));
    if (is_new) {
      int parallel = static_cast<int>(
          enter.attrs.get_or<std::int64_t>("parallel_iterations", std::int64_t{10}));
      out_.frames.push_back({name, outer, frame(outer).depth + 1, parallel, enter.id, -1});
    }
    return entry->second;
  }

  Status mixed(const Node& node, NodeId a, NodeId b) {
    auto describe = [&](NodeId id) {
      const Node& from = *graph_.node(id);
      int where = out_.of_outputs(from);
      return str_cat(" The input {{node ", from.name, "}} is in frame '", frame(where).name, "'.");
    };
    return invalid_argument(str_cat("{{node ", node.name, "}} has inputs from different frames.",
                                    describe(a), describe(b)));
  }

  const Graph& graph_;
  Frames out_;
  std::map<std::pair<int, std::string>, int> by_name_;
};

} // namespace

Result<Frames> find_frames(const Graph& graph) {
  return Finder(graph).run();
}

} // namespace troupe
