#include "graph/convert/function_body.hpp"

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include <google/protobuf/arena.h>

#include "core/base/strings.hpp"
#include "graph/convert/internal/proto.hpp"
#include "graph/ir/verify.hpp"
#include "proto/function.pb.h"

namespace troupe {

namespace {

// What a name in a body stands for: some outputs of one node, or some arguments.
struct Tensors {
  std::vector<Endpoint> endpoints;
};

Status bind_attrs(AttrValue& value, const AttrMap& attrs);

Status bind_attrs(FunctionRef& function, const AttrMap& attrs) {
  if (!function.attrs)
    return {};
  std::vector<std::pair<std::string, AttrValue>> bound;
  for (auto [name, value] : *function.attrs) {
    TROUPE_TRY(bind_attrs(value, attrs));
    bound.emplace_back(name, std::move(value));
  }
  function.attrs = std::make_shared<const AttrMap>(std::move(bound));
  return {};
}

// Replaces "$T" by the value that the call gives T. Nested functions recurse; parsing has bounded
// how deep.
Status bind_attrs(AttrValue& value, const AttrMap& attrs) {
  if (auto* placeholder = std::get_if<AttrPlaceholder>(&value)) {
    const AttrValue* given = attrs.find(placeholder->name);
    if (!given)
      return invalid_argument(
          str_cat("Failed to bind all placeholders: the call gives no value for "
                  "attr '",
                  placeholder->name, "'"));
    value = AttrValue(*given);
  } else if (auto* function = std::get_if<FunctionRef>(&value)) {
    return bind_attrs(*function, attrs);
  } else if (auto* functions = std::get_if<std::vector<FunctionRef>>(&value)) {
    for (FunctionRef& one : *functions)
      TROUPE_TRY(bind_attrs(one, attrs));
  }
  return {};
}

std::size_t text_bytes(const AttrValue& value) {
  if (auto* text = std::get_if<std::string>(&value))
    return text->size();
  if (auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    std::size_t sum = 0;
    for (const std::string& text : *texts)
      sum += sizeof(std::string) + text.size();
    return sum;
  }
  if (auto* shapes = std::get_if<std::vector<PartialShape>>(&value))
    return shapes->size() * sizeof(PartialShape);
  return 0;
}

class Reader {
public:
  Reader(const FunctionDefinition& function, AttrMap attrs, const OpRegistry& registry,
         std::shared_ptr<const FunctionLibrary> library, DecodeBudget& budget)
      : function_(function), attrs_(std::move(attrs)), budget_(budget), body_{Graph(registry)} {
    body_.graph.functions = std::move(library);
  }

  Result<FunctionBody> read() {
    google::protobuf::Arena arena;
    auto* def = google::protobuf::Arena::CreateMessage<tensorflow::FunctionDef>(&arena);
    TROUPE_TRY(parse_bytes(function_.bytes, *def));
    Status status = read(*def);
    if (!status.ok())
      return Status(status.code(),
                    str_cat("Function '", function_.signature.name, "': ", status.message()));
    return std::move(body_);
  }

private:
  Status read(const tensorflow::FunctionDef& def) {
    TROUPE_TRY(complete_and_check_attrs(function_.signature, attrs_));
    TROUPE_ASSIGN(types_, resolve_types(function_.signature, attrs_));
    TROUPE_TRY(add_args());
    for (const tensorflow::NodeDef& node : def.node_def())
      TROUPE_TRY(add_node(node));
    NodeId id = static_cast<NodeId>(body_.args.size());
    for (const tensorflow::NodeDef& node : def.node_def())
      TROUPE_TRY(connect(node, *body_.graph.node(id++)));
    TROUPE_TRY(find_results(def));
    for (const std::string& name : def.signature().control_output()) {
      auto at = def.control_ret().find(name);
      const std::string& target = at == def.control_ret().end() ? name : at->second;
      const Node* node = body_.graph.find(target);
      if (!node)
        return invalid_argument(str_cat("control output '", name, "' names no node of the body"));
      body_.effects.push_back(node->id);
    }
    TROUPE_TRY(body_.graph.topological_order().status());
    if (auto noinline = def.attr().find("_noinline"); noinline != def.attr().end())
      body_.is_noinline = noinline->second.b();
    body_.unread = unread_effects(body_);
    return {};
  }

  Status add_args() {
    TROUPE_ASSIGN(auto ranges, arg_ranges(function_.signature.inputs, attrs_));
    TROUPE_ASSIGN(const OpSchema* op, body_.graph.registry().lookup("_Arg"));
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::string& name = function_.signature.inputs[i].name;
      Tensors& all = named_[name];
      for (int k = ranges[i].begin; k < ranges[i].end; ++k) {
        bool is_list = ranges[i].end - ranges[i].begin > 1;
        TROUPE_ASSIGN(Node * arg,
                      body_.graph.add_unconnected(
                          is_list ? str_cat(name, "_", k - ranges[i].begin) : name, *op,
                          {{"T", remove_ref(types_.inputs[static_cast<std::size_t>(k)])},
                           {"index", static_cast<std::int64_t>(k)}}));
        body_.args.push_back(arg->id);
        all.endpoints.push_back({arg->id, 0});
        named_[str_cat(name, ":", k - ranges[i].begin)].endpoints = {{arg->id, 0}};
      }
    }
    return {};
  }

  Status add_node(const tensorflow::NodeDef& def) {
    auto of_node = [&](const Status& status) {
      return Status(status.code(),
                    str_cat(status.message(), "; NodeDef: {{node ", def.name(), "}}"));
    };
    if (is_internal(def.op(), body_.graph.registry()))
      return of_node(invalid_argument(
          str_cat("op '", def.op(), "' is internal and cannot be part of a client's function")));
    auto op = body_.graph.lookup_op(def.op());
    if (!op.ok())
      return of_node(op.status());
    std::vector<std::pair<std::string, AttrValue>> attrs;
    for (const auto& [name, value] : def.attr()) {
      if (!name.starts_with('_') && !(*op)->find_attr(name))
        continue;
      auto held = from_proto(value, budget_);
      Status status = held.ok() ? bind_attrs(*held, attrs_) : held.status();
      if (!status.ok())
        return of_node(status.with_context(str_cat("attr '", name, "'")));
      body_.attr_bytes += name.size() + sizeof(AttrValue) + text_bytes(*held);
      attrs.emplace_back(name, *std::move(held));
    }
    auto added = body_.graph.add_unconnected(def.name(), **op, AttrMap(std::move(attrs)));
    if (!added.ok())
      return added.status();
    (*added)->device = def.device();
    body_.attr_bytes += def.name().size() + def.device().size();
    return name_outputs(**added);
  }

  // "n:z" are all tensors of output z, "n:z:1" is one of them.
  Status name_outputs(const Node& node) {
    TROUPE_ASSIGN(auto ranges, arg_ranges(node.op->outputs, node.attrs));
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::string name = str_cat(node.name, ":", node.op->outputs[i].name);
      for (int slot = ranges[i].begin; slot < ranges[i].end; ++slot) {
        named_[str_cat(name, ":", slot - ranges[i].begin)].endpoints = {{node.id, slot}};
        named_[name].endpoints.push_back({node.id, slot});
      }
      if (ranges[i].begin == ranges[i].end)
        named_[name];
    }
    return {};
  }

  Status connect(const tensorflow::NodeDef& def, Node& node) {
    auto problem = [&](std::string_view what) {
      return invalid_argument(str_cat(what, "; NodeDef: {{node ", node.name, "}}"));
    };
    int slot = 0;
    for (const std::string& text : def.input()) {
      if (text.starts_with('^')) {
        const Node* source = body_.graph.find(std::string_view(text).substr(1));
        if (!source)
          return problem(str_cat("input[", text, "] is not found"));
        if (source == &node)
          return problem("a control input comes from the node itself, which is a cycle");
        body_.graph.add_control_edge(source->id, node.id);
        continue;
      }
      auto at = named_.find(text);
      if (at == named_.end())
        return problem(str_cat("input ", text, " is not found"));
      for (Endpoint e : at->second.endpoints) {
        if (slot >= node.num_inputs())
          return problem(str_cat("Input ", text, " is one too many: ", summarize_op(*node.op)));
        TROUPE_TRY(check_edge_types(*body_.graph.node(e.node), e.slot, node, slot));
        body_.graph.set_input(node.id, slot++, e);
      }
    }
    if (slot != node.num_inputs())
      return problem(str_cat("expected ", node.num_inputs(), " inputs and ", slot,
                             " were specified; ", summarize_op(*node.op)));
    return {};
  }

  Status find_results(const tensorflow::FunctionDef& def) {
    for (const ArgDef& result : function_.signature.outputs) {
      auto ret = def.ret().find(result.name);
      if (ret == def.ret().end())
        return invalid_argument(str_cat("Return ", result.name, " missing."));
      auto at = named_.find(ret->second);
      if (at == named_.end())
        return invalid_argument(
            str_cat("Return ", result.name, " -> ", ret->second, " is not found."));
      for (Endpoint e : at->second.endpoints)
        body_.results.push_back(e);
    }
    if (body_.results.size() != types_.outputs.size())
      return invalid_argument(str_cat("its results are ", body_.results.size(),
                                      " tensors, and its signature has ", types_.outputs.size()));
    for (std::size_t i = 0; i < body_.results.size(); ++i) {
      Endpoint e = body_.results[i];
      DType given = body_.graph.node(e.node)->output_types[static_cast<std::size_t>(e.slot)];
      if (remove_ref(given) != remove_ref(types_.outputs[i]))
        return invalid_argument(str_cat("Invalid ret types: result ", i, " is ", to_string(given),
                                        ", and its signature says ", to_string(types_.outputs[i])));
    }
    return {};
  }

  const FunctionDefinition& function_;
  AttrMap attrs_;
  DecodeBudget& budget_;
  FunctionBody body_;
  NodeTypes types_;
  std::unordered_map<std::string, Tensors> named_;
};

void mark_needed(const Graph& graph, NodeId id, std::vector<bool>& needed) {
  std::vector<NodeId> left{id};
  while (!left.empty()) {
    const NodeId at = left.back();
    left.pop_back();
    if (at < 0 || needed[static_cast<std::size_t>(at)])
      continue;
    needed[static_cast<std::size_t>(at)] = true;
    const Node& node = *graph.node(at);
    for (Endpoint e : node.inputs)
      left.push_back(e.node);
    left.insert(left.end(), node.control_inputs.begin(), node.control_inputs.end());
  }
}

/// In how many conditionals and rounds of loops each node is, `order` given.
std::vector<int> conditionals_around(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<int> out(static_cast<std::size_t>(graph.capacity()), -1); // -1: not seen yet
  for (NodeId id : order) {
    const Node& node = *graph.node(id);
    int around = 0;
    bool begins_round = false;
    auto look = [&](NodeId source) {
      const int of_source = source < 0 ? 0 : out[static_cast<std::size_t>(source)];
      begins_round = begins_round || of_source < 0;
      around = std::max(around, of_source);
    };
    for (Endpoint e : node.inputs)
      look(e.node);
    for (NodeId source : node.control_inputs)
      look(source);
    if (node.has_role(Role::branch))
      ++around;
    if (node.has_role(Role::exit) || (node.has_role(Role::merge) && !begins_round))
      --around;
    out[static_cast<std::size_t>(id)] = std::max(around, 0);
  }
  return out;
}

} // namespace

std::vector<NodeId> unread_effects(const FunctionBody& body) {
  const Graph& graph = body.graph;
  const auto order = graph.topological_order();
  std::vector<NodeId> out;
  if (!order.ok())
    return out;
  std::vector<bool> needed(static_cast<std::size_t>(graph.capacity()));
  for (Endpoint e : body.results)
    mark_needed(graph, e.node, needed);
  for (NodeId id : body.effects)
    mark_needed(graph, id, needed);
  std::vector<int> around;
  for (NodeId id : std::views::reverse(*order)) { // of a row of effects the last one
    const Node& node = *graph.node(id);
    const bool has_effect =
        (node.op->is_stateful ||
         node.op->roles.has_any({Role::side_effect, Role::check, Role::merge, Role::exit})) &&
        !node.op->roles.has_any(
            {Role::variable, Role::reads_variable, Role::asks_variable, Role::random});
    if (!has_effect || needed[static_cast<std::size_t>(id)])
      continue;
    if (around.empty())
      around = conditionals_around(graph, *order);
    if (around[static_cast<std::size_t>(id)] > 0)
      continue;
    mark_needed(graph, id, needed);
    out.push_back(id);
  }
  return out;
}

Result<FunctionBody> instantiate_function(const FunctionDefinition& function, AttrMap attrs,
                                          const OpRegistry& registry,
                                          std::shared_ptr<const FunctionLibrary> library,
                                          DecodeBudget& budget) {
  return Reader(function, std::move(attrs), registry, std::move(library), budget).read();
}

std::optional<FunctionImplementation> implementation_of(const FunctionDefinition& function) {
  // Few functions do, and parsing each would cost every graph.
  if (function.bytes.find("api_implements") == std::string::npos)
    return std::nullopt;
  tensorflow::FunctionDef def;
  if (!def.ParseFromString(function.bytes))
    return std::nullopt;
  auto text = [&](const char* name) {
    auto at = def.attr().find(name);
    return at == def.attr().end() ? std::string() : at->second.s();
  };
  if (def.attr().contains("forward_function_name") || def.attr().contains("backward_function_name"))
    return std::nullopt;
  FunctionImplementation out{text("api_implements"), text("api_preferred_device")};
  if (out.kind.empty())
    return std::nullopt;
  return out;
}

} // namespace troupe
