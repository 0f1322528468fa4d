#include "graph/functions/internal/inline.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe::functions {

namespace {

// The parts that `body` names, and those of the call for the rest. A device's number belongs to its
// type.
std::string merge_devices(const std::string& body, const std::string& call) {
  if (body.empty() || call.empty())
    return body.empty() ? call : body;
  auto inner = DeviceName::parse(body);
  auto outer = DeviceName::parse(call);
  if (!inner.ok() || !outer.ok())
    return body;
  if (inner->type && !inner->id && outer->type != inner->type)
    outer->id.reset();
  if (!inner->job)
    inner->job = outer->job;
  if (!inner->replica)
    inner->replica = outer->replica;
  if (!inner->task)
    inner->task = outer->task;
  if (!inner->type)
    inner->type = outer->type;
  if (!inner->id)
    inner->id = outer->id;
  return inner->to_string();
}

class Copier {
public:
  Copier(Graph& graph, const FunctionBody& body, const InlineSite& site)
      : graph_(graph), body_(body), site_(site) {}

  Status copy(std::vector<Endpoint>& first, std::vector<NodeId>& nodes) {
    first.assign(static_cast<std::size_t>(body_.graph.capacity()), {});
    for (std::size_t i = 0; i < body_.args.size(); ++i)
      first[static_cast<std::size_t>(body_.args[i])] = site_.inputs[i];
    TROUPE_TRY(wait_for_inputs());
    for (const Node* node : body_.graph.nodes()) {
      if (node->has_role(Role::argument))
        continue;
      TROUPE_ASSIGN(Node * added, graph_.add_unconnected(new_name(node->name), *node));
      added->device =
          site_.is_multi_device ? merge_devices(node->device, site_.device) : site_.device;
      first[static_cast<std::size_t>(node->id)] = {added->id, 0};
      nodes.push_back(added->id);
    }
    for (const Node* node : body_.graph.nodes())
      if (!node->has_role(Role::argument))
        TROUPE_TRY(connect(*node, first));
    return {};
  }

private:
  std::string new_name(const std::string& name) {
    std::string out = graph_.unique_name(str_cat(site_.scope, "/", name));
    names_.emplace(name, out);
    return out;
  }

  /// A call starts when all of its inputs are there: what is stateful, that is has effects or sees
  /// those of others, waits for the inputs that it does not read, too. An identity beside each says
  /// so, since a control edge from where a value comes from would say something else if that is a
  /// branch.
  Status wait_for_inputs() {
    std::vector<NodeId> there;
    if (std::ranges::any_of(body_.graph.nodes(),
                            [](const Node* node) { return node->op->is_stateful; }))
      for (const Endpoint& input : std::set(site_.inputs.begin(), site_.inputs.end()))
        if (!is_there_at_once(input)) {
          TROUPE_ASSIGN(
              Node * identity,
              graph_.add(graph_.unique_name(str_cat(site_.scope, "/input")), "Identity", {input}));
          identity->device = graph_.node(input.node)->device;
          there.push_back(identity->id);
        }
    if (there.size() < 2) {
      inputs_there_ = there.empty() ? -1 : there[0];
      return {};
    }
    TROUPE_ASSIGN(Node * all, graph_.add(graph_.unique_name(str_cat(site_.scope, "/inputs")),
                                         "NoOp", {}, {}, there));
    all->device = site_.device;
    inputs_there_ = all->id;
    return {};
  }

  /// Values of the graph's own, invariants of the loop around, and what stands for a variable.
  bool is_there_at_once(Endpoint e) const {
    const Node& source = *graph_.node(e.node);
    const DType type = source.output_types[static_cast<std::size_t>(e.slot)];
    const bool waits_for_nothing =
        source.inputs.empty() && source.control_inputs.empty() && !source.op->is_stateful;
    return waits_for_nothing || is_ref(type) || type == DType::resource ||
           is_loop_invariant(graph_, e);
  }

  Status connect(const Node& node, const std::vector<Endpoint>& first) {
    Node& copy = *graph_.node(first[static_cast<std::size_t>(node.id)].node);
    bool reads_argument = false;
    bool waits = node.control_inputs.empty(); // until something is read that this round makes
    for (int slot = 0; slot < node.num_inputs(); ++slot) {
      Endpoint from = node.inputs[static_cast<std::size_t>(slot)];
      Endpoint at = first[static_cast<std::size_t>(from.node)];
      graph_.set_input(copy.id, slot, {at.node, at.slot + from.slot});
      const bool is_argument = body_.graph.node(from.node)->has_role(Role::argument);
      reads_argument = reads_argument || is_argument;
      waits = waits && is_argument && is_loop_invariant(graph_, at);
    }
    for (NodeId from : node.control_inputs) {
      if (body_.graph.node(from)->has_role(Role::argument)) {
        TROUPE_ASSIGN(NodeId waits_for, after_argument(from, first));
        graph_.add_control_edge(waits_for, copy.id);
      } else {
        graph_.add_control_edge(first[static_cast<std::size_t>(from)].node, copy.id);
      }
    }
    if (reads_argument && site_.gate >= 0)
      graph_.add_control_edge(site_.gate, copy.id);
    if (node.op->is_stateful && inputs_there_ >= 0)
      graph_.add_control_edge(inputs_there_, copy.id);
    if (waits && site_.trigger >= 0)
      graph_.add_control_edge(site_.trigger, copy.id);
    put_names_in_scope(copy);
    return {};
  }

  // A control edge from where the value comes from would say something else if that is a branch.
  Result<NodeId> after_argument(NodeId arg, const std::vector<Endpoint>& first) {
    Node*& after = after_[arg];
    if (!after) {
      TROUPE_ASSIGN(after, graph_.add(graph_.unique_name(
                                          str_cat(site_.scope, "/", body_.graph.node(arg)->name)),
                                      "Identity", {first[static_cast<std::size_t>(arg)]}));
      after->device = site_.device;
      if (site_.gate >= 0)
        graph_.add_control_edge(site_.gate, after->id);
      if (site_.trigger >= 0 && is_loop_invariant(graph_, first[static_cast<std::size_t>(arg)]))
        graph_.add_control_edge(site_.trigger, after->id);
    }
    return after->id;
  }

  void put_names_in_scope(Node& copy) const {
    if (copy.has_role(Role::enter))
      copy.attrs.set("frame_name",
                     str_cat(site_.scope, "/", copy.attrs.get_or<std::string>("frame_name", "")));
    auto classes = copy.attrs.get<std::vector<std::string>>("_class");
    if (!classes.ok())
      return;
    for (std::string& text : *classes)
      if (text.starts_with("loc:@"))
        if (auto at = names_.find(text.substr(5)); at != names_.end())
          text = str_cat("loc:@", at->second);
    copy.attrs.set("_class", *std::move(classes));
  }

  Graph& graph_;
  const FunctionBody& body_;
  const InlineSite& site_;
  NodeId inputs_there_ = -1;                           // has run when all inputs are there
  std::unordered_map<std::string, std::string> names_; // of the copies
  std::unordered_map<NodeId, Node*> after_;            // by argument: who has its value
};

} // namespace

bool is_loop_invariant(const Graph& graph, Endpoint e) {
  const Node* node = graph.node(e.node);
  return node && node->has_role(Role::enter) && node->attrs.get_or("is_constant", false);
}

Result<InlinedBody> inline_body(Graph& graph, const FunctionBody& body, const InlineSite& site) {
  InlinedBody out;
  TROUPE_TRY(Copier(graph, body, site).copy(out.first_, out.nodes_));
  return out;
}

} // namespace troupe::functions
