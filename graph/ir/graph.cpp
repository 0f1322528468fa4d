#include "graph/ir/graph.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "graph/ir/functions.hpp"
#include "graph/op/infer.hpp"

namespace troupe {

namespace {

// Up to this many edges a search is as quick as an index.
constexpr std::size_t few_edges = 64;

std::uint64_t edge_key(NodeId dst, int dst_slot) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(dst)) << 32) |
         static_cast<std::uint32_t>(dst_slot);
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == '-' || c == '\\' || c == '>';
}

Status check_name(std::string_view name) {
  // TensorFlow's debugger knows nodes that watch a tensor by its name, slot included.
  const bool is_watch = name.starts_with("__dbg_");
  bool good =
      !name.empty() && name[0] != '/' && name[0] != '-' && name[0] != '\\' && name[0] != '>' &&
      std::ranges::all_of(name, [&](char c) { return is_name_char(c) || (is_watch && c == ':'); });
  if (!good)
    return invalid_argument(
        str_cat("Node name contains invalid characters: ", str_quote(name.substr(0, 200)),
                "; letters, digits and _./-\\> are allowed, and it must begin "
                "with a letter, a digit, '.' or '_'"));
  return {};
}

Status of_node(const Status& status, std::string_view name) {
  if (status.ok())
    return status;
  return Status(status.code(), str_cat(status.message(), "; NodeDef: {{node ", name, "}}"));
}

// As complete_and_check_attrs; calls of functions by their name may have attributes that only other
// ways to call them declare, and lose them.
Status complete_attrs(const Graph& graph, const OpSchema& op, AttrMap& attrs) {
  Status status = complete_and_check_attrs(op, attrs);
  const FunctionDefinition* function =
      status.ok() || !graph.functions ? nullptr : graph.functions->find(op.name);
  if (!function || &function->signature != &op)
    return status;
  std::vector<std::string> unknown;
  for (const auto& [name, value] : attrs)
    if (!name.starts_with('_') && !op.find_attr(name))
      unknown.push_back(name);
  if (unknown.empty())
    return status;
  for (const std::string& name : unknown)
    attrs.erase(name);
  return complete_and_check_attrs(op, attrs);
}

std::string types_text(const std::vector<DType>& types) {
  std::string out;
  for (DType t : types)
    str_append(out, out.empty() ? "" : ", ", to_string(t));
  return out;
}

} // namespace

Graph Graph::clone() const {
  Graph out(*registry_);
  out.slots_.reserve(slots_.size());
  for (const auto& slot : slots_)
    out.slots_.push_back(slot ? std::make_unique<Node>(*slot) : nullptr);
  out.by_name_ = by_name_;
  out.order_ = std::atomic_load(&order_);
  out.versions = versions;
  out.functions = functions;
  out.suffixes_ = suffixes_;
  out.num_nodes_ = num_nodes_;
  out.outs_index_ = outs_index_;
  out.control_index_ = control_index_;
  return out;
}

Result<const OpSchema*> Graph::lookup_op(std::string_view name) const {
  if (const OpSchema* schema = registry_->find(name))
    return schema;
  const FunctionDefinition* function = functions ? functions->find(name) : nullptr;
  if (function)
    return &function->signature;
  return registry_->lookup(name);
}

Result<Node*> Graph::add(std::string_view name, std::string_view op, std::vector<Endpoint> inputs,
                         AttrMap attrs, std::vector<NodeId> control_inputs) {
  auto schema = lookup_op(op);
  if (!schema.ok())
    return of_node(schema.status(), name);
  auto is_node = [&](NodeId id) { return id >= 0 && id < capacity() && node(id); };
  std::vector<DType> given;
  given.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_node(inputs[i].node))
      return of_node(invalid_argument(str_cat("Input ", i, " is node number ", inputs[i].node,
                                              ", which the graph does not have")),
                     name);
    const Node& src = *node(inputs[i].node);
    if (inputs[i].slot < 0 || inputs[i].slot >= src.num_outputs())
      return of_node(invalid_argument(str_cat("Input ", i, " is output ", inputs[i].slot, " of '",
                                              src.name, "' (", src.op_name(), "), which has ",
                                              src.num_outputs(), " outputs")),
                     name);
    given.push_back(src.output_types[static_cast<std::size_t>(inputs[i].slot)]);
  }
  for (NodeId src : control_inputs)
    if (!is_node(src))
      return of_node(invalid_argument(str_cat("A control input is node number ", src,
                                              ", which the graph does not have")),
                     name);
  infer_attrs(**schema, given, attrs);
  if (Status status = complete_attrs(*this, **schema, attrs); !status.ok())
    return of_node(status, name);
  auto types = resolve_types(**schema, attrs);
  if (!types.ok())
    return of_node(types.status(), name);
  if (types->inputs.size() != inputs.size())
    return of_node(invalid_argument(str_cat("NodeDef expected inputs '", types_text(types->inputs),
                                            "' do not match ", inputs.size(), " inputs specified; ",
                                            summarize_op(**schema))),
                   name);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (types->inputs[i] != given[i] && types->inputs[i] != remove_ref(given[i]))
      return invalid_argument(str_cat("Input ", i, " of node ", name, " was passed ",
                                      to_string(given[i]), " from ", node(inputs[i].node)->name,
                                      ":", inputs[i].slot, " incompatible with expected ",
                                      to_string(types->inputs[i]), "."));
  TROUPE_ASSIGN(Node * added, insert(name, **schema, std::move(attrs), *std::move(types)));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    set_input(added->id, static_cast<int>(i), inputs[i]);
  for (NodeId src : control_inputs)
    add_control_edge(src, added->id);
  return added;
}

void Graph::reserve(std::size_t more) {
  slots_.reserve(slots_.size() + more);
  by_name_.reserve(num_nodes_ + more);
}

Result<Node*> Graph::add_unconnected(std::string_view name, const OpSchema& op, AttrMap attrs) {
  if (Status status = complete_attrs(*this, op, attrs); !status.ok())
    return of_node(status, name);
  auto types = resolve_types(op, attrs);
  if (!types.ok())
    return of_node(types.status(), name);
  return insert(name, op, std::move(attrs), *std::move(types));
}

Result<Node*> Graph::add_unconnected(std::string_view name, const Node& like) {
  return insert(name, *like.op, like.attrs, {like.input_types, like.output_types});
}

Result<Node*> Graph::insert(std::string_view name, const OpSchema& op, AttrMap attrs,
                            NodeTypes types) {
  TROUPE_TRY(check_name(name));
  auto made = std::make_unique<Node>();
  Node* added = made.get();
  added->id = capacity();
  added->name = name;
  if (!by_name_.add(name, added->id, name_of()))
    return already_exists(str_cat("Node name '", name, "' already exists in the Graph"));
  added->op = &op;
  added->attrs = std::move(attrs);
  added->inputs.resize(types.inputs.size());
  added->input_types = std::move(types.inputs);
  added->output_types = std::move(types.outputs);
  slots_.push_back(std::move(made));
  order_.reset();
  ++num_nodes_;
  return added;
}

void Graph::push_edge(NodeId src, OutEdge edge) {
  order_.reset();
  std::vector<OutEdge>& outs = node(src)->outs;
  outs.push_back(edge);
  if (auto* index = outs_index_.find(src))
    (*index)[edge_key(edge.dst, edge.dst_slot)] = static_cast<std::uint32_t>(outs.size() - 1);
}

void Graph::drop_edge(NodeId src, OutEdge edge) {
  order_.reset();
  std::vector<OutEdge>& outs = node(src)->outs;
  auto* index = outs_index_.find(src);
  if (!index && outs.size() <= few_edges) {
    auto at = std::find(outs.begin(), outs.end(), edge);
    TROUPE_CHECK(at != outs.end(), "an edge is recorded at both ends");
    outs.erase(at);
    return;
  }
  if (!index) {
    index = &outs_index_.of_node[src];
    for (std::size_t i = 0; i < outs.size(); ++i)
      (*index)[edge_key(outs[i].dst, outs[i].dst_slot)] = static_cast<std::uint32_t>(i);
  }
  auto at = index->find(edge_key(edge.dst, edge.dst_slot));
  TROUPE_CHECK(at != index->end() && outs[at->second] == edge, "an edge is recorded at both ends");
  std::uint32_t hole = at->second;
  index->erase(at);
  if (hole + 1 != outs.size()) {
    outs[hole] = outs.back();
    (*index)[edge_key(outs[hole].dst, outs[hole].dst_slot)] = hole;
  }
  outs.pop_back();
  if (outs.empty())
    outs_index_.of_node.erase(src);
}

void Graph::push_control_input(Node& dst, NodeId src) {
  dst.control_inputs.push_back(src);
  if (auto* index = control_index_.find(dst.id))
    (*index)[static_cast<std::uint64_t>(src)] =
        static_cast<std::uint32_t>(dst.control_inputs.size() - 1);
}

void Graph::drop_control_input(Node& dst, NodeId src) {
  std::vector<NodeId>& list = dst.control_inputs;
  auto* index = control_index_.find(dst.id);
  if (!index && list.size() <= few_edges) {
    auto at = std::find(list.begin(), list.end(), src);
    TROUPE_CHECK(at != list.end(), "a control edge is recorded at both ends");
    list.erase(at);
    return;
  }
  if (!index) {
    index = &control_index_.of_node[dst.id];
    for (std::size_t i = 0; i < list.size(); ++i)
      (*index)[static_cast<std::uint64_t>(list[i])] = static_cast<std::uint32_t>(i);
  }
  auto at = index->find(static_cast<std::uint64_t>(src));
  TROUPE_CHECK(at != index->end(), "a control edge is recorded at both ends");
  std::uint32_t hole = at->second;
  index->erase(at);
  if (hole + 1 != list.size()) {
    list[hole] = list.back();
    (*index)[static_cast<std::uint64_t>(list[hole])] = hole;
  }
  list.pop_back();
  if (list.empty())
    control_index_.of_node.erase(dst.id);
}

bool Graph::has_control_edge(NodeId src, NodeId dst) {
  const std::vector<NodeId>& ins = node(dst)->control_inputs;
  const std::vector<OutEdge>& outs = node(src)->outs;
  if (ins.size() <= few_edges)
    return std::find(ins.begin(), ins.end(), src) != ins.end();
  if (outs.size() <= few_edges)
    return std::find(outs.begin(), outs.end(), OutEdge{dst, -1, -1}) != outs.end();
  auto* index = control_index_.find(dst);
  if (!index) {
    index = &control_index_.of_node[dst];
    for (std::size_t i = 0; i < ins.size(); ++i)
      (*index)[static_cast<std::uint64_t>(ins[i])] = static_cast<std::uint32_t>(i);
  }
  return index->contains(static_cast<std::uint64_t>(src));
}

void Graph::set_input(NodeId dst, int slot, Endpoint src) {
  Endpoint& input = node(dst)->inputs[static_cast<std::size_t>(slot)];
  if (input.node >= 0)
    drop_edge(input.node, {dst, slot, input.slot});
  input = src;
  if (src.node >= 0)
    push_edge(src.node, {dst, slot, src.slot});
}

void Graph::add_control_edge(NodeId src, NodeId dst) {
  if (src == dst || has_control_edge(src, dst))
    return;
  push_control_input(*node(dst), src);
  push_edge(src, {dst, -1, -1});
}

void Graph::remove_control_edge(NodeId src, NodeId dst) {
  if (src == dst || !has_control_edge(src, dst))
    return;
  drop_control_input(*node(dst), src);
  drop_edge(src, {dst, -1, -1});
}

void Graph::append_input(NodeId dst, Endpoint src, DType type) {
  Node& to = *node(dst);
  to.inputs.emplace_back();
  to.input_types.push_back(type);
  set_input(dst, to.num_inputs() - 1, src);
}

void Graph::replace_uses(Endpoint from, Endpoint to) {
  if (from == to)
    return;
  std::vector<OutEdge> moving;
  for (const OutEdge& edge : node(from.node)->outs)
    if (!edge.is_control() && edge.src_slot == from.slot && edge.dst != to.node)
      moving.push_back(edge);
  for (const OutEdge& edge : moving)
    set_input(edge.dst, edge.dst_slot, to);
}

void Graph::replace_node(NodeId from, NodeId to) {
  if (from == to)
    return;
  std::vector<OutEdge> moving = node(from)->outs;
  for (const OutEdge& edge : moving) {
    if (edge.dst == to)
      continue;
    if (edge.is_control()) {
      remove_control_edge(from, edge.dst);
      add_control_edge(to, edge.dst);
    } else {
      set_input(edge.dst, edge.dst_slot, {to, edge.src_slot});
    }
  }
}

void Graph::remove(NodeId id) {
  Node& gone = *node(id);
  for (int i = 0; i < gone.num_inputs(); ++i)
    set_input(id, i, {});
  for (NodeId src : gone.control_inputs)
    drop_edge(src, {id, -1, -1});
  for (const OutEdge& edge : gone.outs) {
    if (edge.is_control())
      drop_control_input(*node(edge.dst), id);
    else
      node(edge.dst)->inputs[static_cast<std::size_t>(edge.dst_slot)] = {};
  }
  outs_index_.of_node.erase(id);
  control_index_.of_node.erase(id);
  by_name_.remove(gone.name, id);
  order_.reset();
  slots_[static_cast<std::size_t>(id)].reset();
  --num_nodes_;
}

void Graph::rename(NodeId id, std::string_view name) {
  Node& renamed = *node(id);
  if (renamed.name == name)
    return;
  by_name_.remove(renamed.name, id);
  bool is_free = by_name_.add(name, id, name_of());
  TROUPE_CHECK(is_free, "a node's new name is free");
  renamed.name = std::string(name);
}

Node* Graph::find(std::string_view name) {
  NodeId id = by_name_.find(name, name_of());
  return id < 0 ? nullptr : node(id);
}

const Node* Graph::find(std::string_view name) const {
  NodeId id = by_name_.find(name, name_of());
  return id < 0 ? nullptr : node(id);
}

std::string Graph::unique_name(std::string_view name) const {
  std::string wanted(name);
  if (!find(wanted))
    return wanted;
  int& suffix = suffixes_[wanted];
  for (;;) {
    std::string candidate = str_cat(wanted, "_", ++suffix);
    if (!find(candidate))
      return candidate;
  }
}

std::vector<Node*> Graph::nodes() {
  std::vector<Node*> out;
  out.reserve(num_nodes_);
  for (const auto& slot : slots_)
    if (slot)
      out.push_back(slot.get());
  return out;
}

std::vector<const Node*> Graph::nodes() const {
  std::vector<const Node*> out;
  out.reserve(num_nodes_);
  for (const auto& slot : slots_)
    if (slot)
      out.push_back(slot.get());
  return out;
}

Result<std::vector<NodeId>> Graph::topological_order() const {
  if (auto known = std::atomic_load(&order_))
    return *known;
  TROUPE_ASSIGN(std::vector<NodeId> order, sort());
  std::atomic_store(&order_, std::make_shared<const std::vector<NodeId>>(order));
  return order;
}

Result<std::vector<NodeId>> Graph::sort() const {
  auto has_role = [this](NodeId id, Role role) { return node(id)->has_role(role); };
  std::vector<std::uint32_t> pending(slots_.size(), 0);
  std::vector<NodeId> order;
  order.reserve(num_nodes_);
  for (const auto& slot : slots_) {
    if (!slot)
      continue;
    std::uint32_t& count = pending[static_cast<std::size_t>(slot->id)];
    bool merges = has_role(slot->id, Role::merge);
    for (Endpoint input : slot->inputs)
      count += input.node >= 0 && !(merges && has_role(input.node, Role::next_iteration));
    count += static_cast<std::uint32_t>(slot->control_inputs.size());
    if (count == 0)
      order.push_back(slot->id);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    bool closes = has_role(order[i], Role::next_iteration);
    for (const OutEdge& edge : node(order[i])->outs) {
      if (closes && !edge.is_control() && has_role(edge.dst, Role::merge))
        continue;
      if (--pending[static_cast<std::size_t>(edge.dst)] == 0)
        order.push_back(edge.dst);
    }
  }
  if (order.size() == num_nodes_)
    return order;
  // Every node left has an input left: going back from any of them ends in a cycle.
  auto is_left = [&](NodeId id) { return id >= 0 && pending[static_cast<std::size_t>(id)] > 0; };
  NodeId at = 0;
  while (!node(at) || !is_left(at))
    ++at;
  std::vector<bool> seen(slots_.size(), false);
  while (!seen[static_cast<std::size_t>(at)]) {
    seen[static_cast<std::size_t>(at)] = true;
    const Node& here = *node(at);
    bool merges = has_role(at, Role::merge);
    NodeId back = -1;
    for (Endpoint input : here.inputs)
      if (is_left(input.node) && !(merges && has_role(input.node, Role::next_iteration)))
        back = input.node;
    for (NodeId src : here.control_inputs)
      if (is_left(src))
        back = src;
    at = back;
  }
  return invalid_argument(str_cat("The graph is not a DAG: node '", node(at)->name, "' (",
                                  node(at)->op_name(),
                                  ") depends on itself; only NextIteration may close a loop, "
                                  "through a Merge"));
}

Result<TensorName> parse_tensor_name(std::string_view text) {
  TensorName out{text, 0};
  auto wrong = [&] {
    return invalid_argument(str_cat("'", text.substr(0, 200),
                                    "' is not a tensor's name; expected 'node', 'node:output' or "
                                    "'^node'"));
  };
  if (text.starts_with('^')) {
    out = {text.substr(1), -1};
  } else if (auto colon = text.rfind(':'); colon != std::string_view::npos) {
    auto slot = parse_uint(text.substr(colon + 1));
    if (!slot || *slot > 0x7fffffffu)
      return wrong();
    out = {text.substr(0, colon), static_cast<int>(*slot)};
  }
  if (out.node.empty() || out.node.find_first_of("^: \t\n") != std::string_view::npos)
    return wrong();
  return out;
}

} // namespace troupe
