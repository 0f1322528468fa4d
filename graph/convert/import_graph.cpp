#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "core/base/strings.hpp"
#include "graph/convert/internal/proto.hpp"
#include "graph/ir/functions.hpp"
#include "graph/ir/shapes.hpp"
#include "graph/ir/verify.hpp"
#include "graph/op/known_ops.hpp"
#include "proto/graph.pb.h"

namespace troupe {

namespace {

constexpr std::size_t most_missing_told = 40;

Status of_node(const Status& status, std::string_view name) {
  return status.ok() ? status
                     : Status(status.code(), str_cat("Node '", name, "': ", status.message()));
}

// Clients give conditionals and loops more outputs when they differentiate them; a node that is
// there already keeps those that it has.
bool may_have_had_more_outputs(const Node& node) {
  constexpr std::string_view ops[] = {"If", "StatelessIf", "While", "StatelessWhile"};
  return std::ranges::find(ops, node.op_name()) != std::end(ops);
}

Status check_versions(const GraphVersions& versions) {
  if (versions.producer < 0)
    return invalid_argument(str_cat("GraphDef producer version ", versions.producer,
                                    " below min producer 0 supported"));
  if (versions.min_consumer > graph_def_version)
    return invalid_argument(str_cat("GraphDef min consumer version ", versions.min_consumer,
                                    " above current version ", graph_def_version,
                                    " for TensorFlow 2.21.0.  Please upgrade TensorFlow."));
  for (int bad : versions.bad_consumers)
    if (bad == graph_def_version)
      return invalid_argument(str_cat("GraphDef disallows consumer version ", bad,
                                      ".  Please upgrade TensorFlow: this version is likely "
                                      "buggy."));
  return {};
}

GraphVersions versions_of(const tensorflow::GraphDef& proto) {
  if (!proto.has_versions())
    return {proto.version(), 0, {}};
  const auto& versions = proto.versions();
  return {versions.producer(),
          versions.min_consumer(),
          {versions.bad_consumers().begin(), versions.bad_consumers().end()}};
}

// What both graphs ask for together.
GraphVersions merge(const GraphVersions& a, const GraphVersions& b) {
  GraphVersions out{std::min(a.producer, b.producer), std::max(a.min_consumer, b.min_consumer),
                    a.bad_consumers};
  for (int bad : b.bad_consumers)
    if (std::find(out.bad_consumers.begin(), out.bad_consumers.end(), bad) ==
        out.bad_consumers.end())
      out.bad_consumers.push_back(bad);
  return out;
}

// One import into a graph; takes back what it did when it fails.
class Importer {
public:
  Importer(Graph& graph, const tensorflow::GraphDef& proto, const ImportOptions& options)
      : graph_(graph), proto_(proto), options_(options), budget_(options.limits),
        first_new_(graph.capacity()), is_new_graph_(graph.num_nodes() == 0) {}

  Status run() {
    GraphVersions versions = versions_of(proto_);
    TROUPE_TRY(check_versions(versions));
    auto functions_before = graph_.functions;
    TROUPE_TRY(add_functions());
    Status status = add_nodes();
    if (status.ok())
      status = connect();
    if (status.ok())
      status = check_whole();
    if (!status.ok()) {
      for (NodeId id = graph_.capacity(); id-- > first_new_;)
        graph_.remove(id);
      graph_.functions = functions_before;
      return status;
    }
    graph_.versions = is_new_graph_ ? versions : merge(graph_.versions, versions);
    return {};
  }

private:
  std::vector<std::string> functions_named_in(const tensorflow::FunctionDef& function) const {
    std::set<std::string> names;
    for (const tensorflow::NodeDef& node : function.node_def()) {
      if (!is_op(node.op()))
        names.insert(node.op());
      for (const auto& [name, value] : node.attr())
        add_functions_of(value, names);
    }
    return {names.begin(), names.end()};
  }

  static void add_functions_of(const tensorflow::AttrValue& value, std::set<std::string>& to) {
    const auto add = [&](const tensorflow::NameAttrList& function) {
      to.insert(function.name());
      for (const auto& [name, inner] : function.attr())
        add_functions_of(inner, to);
    };
    if (value.has_func())
      add(value.func());
    if (value.has_list())
      for (const tensorflow::NameAttrList& function : value.list().func())
        add(function);
  }

  Status add_functions() {
    if (proto_.library().function().empty() && proto_.library().gradient().empty())
      return {};
    auto library = graph_.functions ? std::make_shared<FunctionLibrary>(*graph_.functions)
                                    : std::make_shared<FunctionLibrary>();
    for (const auto& function : proto_.library().function()) {
      const std::string& name = function.signature().name();
      if (name.empty())
        return invalid_argument("a function of the graph's library has no name");
      if (is_op(name))
        return invalid_argument(str_cat("Cannot add function '", name,
                                        "' because an op with the same name already exists."));
      auto signature = from_proto(function.signature(), budget_);
      if (!signature.ok())
        return invalid_argument(str_cat("Function '", name, "': ", signature.status().message()));
      TROUPE_TRY(
          library->add({*std::move(signature), to_bytes(function), functions_named_in(function)}));
    }
    for (const auto& gradient : proto_.library().gradient())
      TROUPE_TRY(library->set_gradient(gradient.function_name(), gradient.gradient_func()));
    graph_.functions = std::move(library);
    return {};
  }

  Status add_nodes() {
    std::size_t outputs = 0;
    graph_.reserve(static_cast<std::size_t>(proto_.node_size()));
    for (const tensorflow::NodeDef& def : proto_.node()) {
      TROUPE_TRY(check_name(def));
      TROUPE_ASSIGN(const OpSchema* op, lookup(def));
      TROUPE_ASSIGN(Node * node, add_node(def, *op));
      node->device = def.device();
      if (node->num_inputs() != num_data_inputs(def)) // now: few bytes can ask for many
        return wrong_number(def, *node);
      outputs += node->output_types.size();
      if (outputs > options_.max_outputs)
        return resource_exhausted(str_cat("the graph's nodes have more than ", options_.max_outputs,
                                          " outputs; node '", def.name(), "' alone has ",
                                          node->output_types.size()));
    }
    return {};
  }

  Result<Node*> add_node(const tensorflow::NodeDef& def, const OpSchema& op) {
    bool is_like_last = last_ && last_->op == &op && has_same_attrs(def, *last_def_);
    AttrMap attrs;
    if (!is_like_last) {
      TROUPE_ASSIGN(attrs, attrs_of(def, op));
    }
    if (defaults_cost_ && !budget_.take(defaults_cost_))
      return resource_exhausted(str_cat("Node '", def.name(), "': the default attrs of calls of '",
                                        op.name, "' go beyond the limit of ", budget_.limit(),
                                        " bytes"));
    auto added = is_like_last ? graph_.add_unconnected(def.name(), *last_)
                              : graph_.add_unconnected(def.name(), op, std::move(attrs));
    if (!added.ok())
      return added.status().code() == Code::already_exists ? name_is_taken(def.name())
                                                           : added.status();
    last_ = *added;
    last_def_ = &def;
    return added;
  }

  // Both say the same in attrs that are a type, a number or a flag; others are not looked at.
  // Graphs have long rows of such nodes: each then takes over what was checked of the one before.
  static bool has_same_attrs(const tensorflow::NodeDef& a, const tensorflow::NodeDef& b) {
    using Value = tensorflow::AttrValue;
    if (a.attr().size() != b.attr().size())
      return false;
    return std::ranges::all_of(a.attr(), [&](const auto& entry) {
      const Value& x = entry.second;
      auto at = b.attr().find(entry.first);
      if (at == b.attr().end() || at->second.value_case() != x.value_case())
        return false;
      const Value& y = at->second;
      switch (x.value_case()) {
      case Value::kType:
        return x.type() == y.type();
      case Value::kI:
        return x.i() == y.i();
      case Value::kB:
        return x.b() == y.b();
      default:
        return false;
      }
    });
  }

  Status check_name(const tensorflow::NodeDef& def) {
    const std::string& name = def.name();
    if (options_.allow_internal_ops)
      return {};
    auto may_begin = [](unsigned char c) { return std::isalnum(c) || c == '.'; };
    auto may_follow = [&](unsigned char c) {
      return may_begin(c) || c == '_' || c == '-' || c == '/' || c == '\\' || c == '>';
    };
    if (name.empty() || !may_begin(static_cast<unsigned char>(name[0])) ||
        !std::ranges::all_of(name, may_follow))
      return invalid_argument(str_cat("Illegal op name '", name.substr(0, 200), "'\n\t [[{{node ",
                                      name.substr(0, 200), "}}]]"));
    return {};
  }

  Status name_is_taken(const std::string& name) {
    if (graph_.find(name)->id < first_new_)
      return invalid_argument(str_cat("GraphDef argument to Extend includes node '", name,
                                      "', which was created by a previous call to Create or Extend "
                                      "in this session."));
    return invalid_argument(str_cat("Node '", name, "' is not unique"));
  }

  Result<const OpSchema*> lookup(const tensorflow::NodeDef& def) {
    if (is_internal(def.op(), graph_.registry()) && !options_.allow_internal_ops)
      return invalid_argument(str_cat("Node '", def.name(), "': op '", def.op(),
                                      "' is internal and cannot be part of a client's graph"));
    if (last_op_ && last_op_->name == def.op())
      return last_op_;
    auto op = graph_.lookup_op(def.op());
    if (!op.ok())
      return Status(op.status().code(), str_cat(op.status().message(), "; NodeDef: {{node ",
                                                def.name(), "}}", missing_ops()));
    last_op_ = *op;
    defaults_cost_ = is_op(def.op()) ? 0 : cost_of_defaults(**op);
    return op;
  }

  bool is_op(const std::string& name) const {
    return graph_.registry().find(name) || find_known_op(name);
  }

  // After the first op that we lack: all others, so that one reading of a graph tells them all.
  std::string missing_ops() const {
    struct Missing {
      std::int64_t nodes = 0;
      const std::string* example = nullptr;
    };
    std::map<std::string_view, Missing> missing;
    for (const tensorflow::NodeDef& def : proto_.node())
      if (!def.op().starts_with('_') && !is_op(def.op()) &&
          !(graph_.functions && graph_.functions->find(def.op()))) {
        Missing& entry = missing[def.op()];
        if (++entry.nodes == 1)
          entry.example = &def.name();
      }
    std::string out;
    if (missing.size() > 1) {
      str_append(out, "; the graph has ", missing.size(), " ops that this build lacks: ");
      std::size_t told = 0;
      for (const auto& [op, entry] : missing) {
        str_append(out, told ? ", " : "", op.substr(0, 200), " (",
                   entry.nodes == 1 ? "" : str_cat(entry.nodes, " nodes, such as "), "'",
                   entry.example->substr(0, 200), "')");
        if (++told == most_missing_told)
          break;
      }
      if (told < missing.size())
        str_append(out, " and ", missing.size() - told, " more");
    }
    return out;
  }

  // Bytes that a call of a function takes for attrs that it does not mention.
  static std::size_t cost_of_defaults(const OpSchema& function) {
    std::size_t cost = 0;
    for (const AttrDef& def : function.attrs)
      if (def.default_value)
        cost += sizeof(AttrValue) + to_string(*def.default_value).size();
    return cost;
  }

  Result<AttrMap> attrs_of(const tensorflow::NodeDef& def, const OpSchema& op) {
    std::vector<std::pair<std::string, AttrValue>> out;
    out.reserve(def.attr().size() + 2); // room for defaults
    for (const auto& [name, value] : def.attr()) {
      if (options_.ignore_unknown_attrs && !name.starts_with('_') && !op.find_attr(name))
        continue;
      auto held = from_proto(value, budget_);
      if (!held.ok())
        return of_node(held.status().with_context(str_cat("attr '", name, "'")), def.name());
      out.emplace_back(name, *std::move(held));
    }
    return AttrMap(std::move(out));
  }

  Status connect() {
    NodeId id = first_new_;
    for (const tensorflow::NodeDef& def : proto_.node())
      TROUPE_TRY(connect(def, *graph_.node(id++)));
    return {};
  }

  Status connect(const tensorflow::NodeDef& def, Node& node) {
    int slot = 0;
    bool in_controls = false;
    auto problem = [&](std::string_view what) {
      return invalid_argument(str_cat("Node '", node.name, "': ", what));
    };
    for (const std::string& text : def.input()) {
      auto name = parse_tensor_name(text);
      if (!name.ok())
        return problem(str_cat("Illegal op input name ", str_quote(text)));
      const Node* src = graph_.find(name->node);
      if (!src)
        return problem(str_cat("Unknown input node '", text, "'"));
      if (name->slot < 0) {
        in_controls = true;
        if (src == &node)
          return problem("a control input comes from the node itself, which is a cycle");
        graph_.add_control_edge(src->id, node.id);
        continue;
      }
      if (in_controls)
        return invalid_argument(str_cat(
            "All control inputs must follow all data inputs\n\t [[{{node ", node.name, "}}]]"));
      if (name->slot >= src->num_outputs())
        return problem(str_cat("Connecting to invalid output ", name->slot, " of source node ",
                               src->name, " which has ", src->num_outputs(), " outputs.",
                               may_have_had_more_outputs(*src)
                                   ? " Try using "
                                     "tf.compat.v1.experimental.output_all_intermediates(True)."
                                   : ""));
      TROUPE_TRY(check_edge_types(*src, name->slot, node, slot));
      graph_.set_input(node.id, slot++, {src->id, name->slot});
    }
    return {};
  }

  static int num_data_inputs(const tensorflow::NodeDef& def) {
    return static_cast<int>(
        std::count_if(def.input().begin(), def.input().end(),
                      [](const std::string& text) { return !text.starts_with('^'); }));
  }

  static Status wrong_number(const tensorflow::NodeDef& def, const Node& node) {
    int given = num_data_inputs(def);
    std::string types;
    for (std::size_t i = 0; i < std::min<std::size_t>(node.input_types.size(), 20); ++i)
      str_append(types, types.empty() ? "" : ", ", to_string(node.input_types[i]));
    return invalid_argument(str_cat(
        "NodeDef expected inputs '", types, "'",
        node.input_types.size() > 20 ? str_cat(" and more, ", node.input_types.size(), " in all,")
                                     : std::string(),
        " do not match ", given, " inputs specified; ", summarize_op(*node.op),
        "; NodeDef: {{node ", node.name, "}}"));
  }

  Status check_whole() {
    auto order = graph_.topological_order();
    if (!order.ok())
      return order.status();
    if (options_.check_shapes)
      if (auto shapes = infer_graph_shapes(graph_); !shapes.ok())
        return shapes.status();
    return {};
  }

  Graph& graph_;
  const tensorflow::GraphDef& proto_;
  const ImportOptions& options_;
  DecodeBudget budget_;
  const NodeId first_new_;
  const bool is_new_graph_;
  const OpSchema* last_op_ = nullptr;
  const Node* last_ = nullptr; // the node added last, and what it was made of
  const tensorflow::NodeDef* last_def_ = nullptr;
  std::size_t defaults_cost_ = 0; // of last_op_, if that is a function
};

// A text GraphDef begins with one of its fields; no binary one does.
bool is_text(std::string_view bytes) {
  bool has_comment = false;
  for (;;) {
    auto begin = bytes.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos)
      return has_comment;
    bytes.remove_prefix(begin);
    if (bytes[0] != '#')
      break;
    has_comment = true;
    auto end = bytes.find('\n');
    if (end == std::string_view::npos)
      return true;
    bytes.remove_prefix(end);
  }
  for (std::string_view field : {"node", "library", "versions", "version", "debug_info"})
    if (bytes.starts_with(field)) {
      auto next = bytes.find_first_not_of(" \t\r\n", field.size());
      if (next != std::string_view::npos &&
          (bytes[next] == '{' || bytes[next] == ':' || bytes[next] == '<' || bytes[next] == '['))
        return true;
    }
  return false;
}

// Passes over the bytes without keeping anything; what is damaged is left to the parser.
Status check_number_of_nodes(std::string_view bytes, std::size_t most) {
  using google::protobuf::internal::WireFormatLite;
  if (bytes.size() / 2 <= most || bytes.size() > 0x7fffffffu)
    return {};
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  constexpr std::uint32_t node = tensorflow::GraphDef::kNodeFieldNumber << 3 | 2;
  std::size_t nodes = 0;
  for (std::uint32_t tag = in.ReadTag(); tag != 0; tag = in.ReadTag()) {
    nodes += tag == node;
    if (nodes > most)
      return resource_exhausted(
          str_cat("the graph has more than ", most, " nodes, which is the most of one import"));
    if (!WireFormatLite::SkipField(&in, tag))
      return {};
  }
  return {};
}

Status parse(std::string_view bytes, tensorflow::GraphDef& def, const ImportOptions& options) {
  if (is_text(bytes))
    return parse_text(bytes, def);
  TROUPE_TRY(check_number_of_nodes(bytes, options.max_nodes));
  return parse_bytes(bytes, def);
}

} // namespace

bool is_internal(std::string_view op, const OpRegistry& registry) {
  if (!op.starts_with('_'))
    return false;
  const OpSchema* known = registry.find(op);
  return !known || !known->roles.has_any({Role::branch, Role::passes_on}); // clients may have those
}

Result<Graph> from_proto(const tensorflow::GraphDef& proto, const OpRegistry& registry,
                         const ImportOptions& options) {
  Graph graph(registry);
  TROUPE_TRY(Importer(graph, proto, options).run());
  return graph;
}

Status extend(Graph& graph, const tensorflow::GraphDef& proto, const ImportOptions& options) {
  return Importer(graph, proto, options).run();
}

Result<Graph> read_graph_bytes(std::string_view bytes, const OpRegistry& registry,
                               const ImportOptions& options) {
  google::protobuf::Arena arena;
  auto* def = google::protobuf::Arena::CreateMessage<tensorflow::GraphDef>(&arena);
  TROUPE_TRY(parse(bytes, *def, options));
  return from_proto(*def, registry, options);
}

Status extend_graph_bytes(Graph& graph, std::string_view bytes, const ImportOptions& options) {
  google::protobuf::Arena arena;
  auto* def = google::protobuf::Arena::CreateMessage<tensorflow::GraphDef>(&arena);
  TROUPE_TRY(parse(bytes, *def, options));
  return extend(graph, *def, options);
}

} // namespace troupe
