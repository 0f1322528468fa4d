#include <google/protobuf/arena.h>
#include <google/protobuf/text_format.h>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/internal/proto.hpp"
#include "graph/ir/functions.hpp"
#include "proto/graph.pb.h"
#include "proto/op.pb.h"

namespace troupe {

namespace {

void functions_to(const FunctionLibrary& functions, tensorflow::FunctionDefLibrary& proto) {
  for (const auto& [name, function] : functions.functions()) {
    Status status = parse_bytes(function->bytes, *proto.add_function());
    TROUPE_CHECK(status.ok(), "a library's function is a FunctionDef");
  }
  for (const auto& [name, gradient] : functions.gradients()) {
    auto& one = *proto.add_gradient();
    one.set_function_name(name);
    one.set_gradient_func(gradient);
  }
}

} // namespace

void to_proto(const Graph& graph, const Node& node, const ExportOptions& options,
              tensorflow::NodeDef& proto) {
  proto.Clear();
  proto.set_name(node.name);
  proto.set_op(node.op_name());
  bool is_assigned = options.assigned_devices && !node.assigned_device.empty();
  proto.set_device(is_assigned ? node.assigned_device : node.device);
  for (Endpoint input : node.inputs) {
    if (input.node < 0)
      continue; // only in a graph under reconstruction
    const std::string& source = graph.node(input.node)->name;
    proto.add_input(input.slot ? str_cat(source, ":", input.slot) : source);
  }
  for (NodeId source : node.control_inputs)
    proto.add_input(str_cat("^", graph.node(source)->name));
  for (const auto& [name, value] : node.attrs) {
    if (options.strip_defaults) {
      const AttrDef* def = node.op->find_attr(name);
      if (def && def->default_value && *def->default_value == value)
        continue;
    }
    to_proto(value, (*proto.mutable_attr())[name]);
  }
}

void to_proto(const Graph& graph, const ExportOptions& options, tensorflow::GraphDef& proto) {
  proto.Clear();
  for (const Node* node : graph.nodes())
    if (node->id >= options.first)
      to_proto(graph, *node, options, *proto.add_node());
  if (graph.functions && !graph.functions->empty())
    functions_to(*graph.functions, *proto.mutable_library());
  auto& versions = *proto.mutable_versions();
  versions.set_producer(graph.versions.producer);
  versions.set_min_consumer(graph.versions.min_consumer);
  for (int bad : graph.versions.bad_consumers)
    versions.add_bad_consumers(bad);
}

Result<std::string> write_graph_bytes(const Graph& graph, const ExportOptions& options) {
  google::protobuf::Arena arena;
  auto* def = google::protobuf::Arena::CreateMessage<tensorflow::GraphDef>(&arena);
  to_proto(graph, options, *def);
  if (std::size_t bytes = def->ByteSizeLong(); bytes > 0x7fffffffu)
    return resource_exhausted(str_cat("the graph of ", graph.num_nodes(), " nodes takes ", bytes,
                                      " bytes, and a GraphDef takes at most 2147483647; feed large "
                                      "values instead of making them constants"));
  return to_bytes(*def);
}

std::string export_graph(const Graph& graph, const ExportOptions& options) {
  auto bytes = write_graph_bytes(graph, options);
  TROUPE_CHECK(bytes.ok(), bytes.status().message());
  return *std::move(bytes);
}

std::string export_graph_text(const Graph& graph, const ExportOptions& options) {
  tensorflow::GraphDef def;
  to_proto(graph, options, def);
  std::string out;
  TROUPE_CHECK(google::protobuf::TextFormat::PrintToString(def, &out), "a message can be printed");
  return out;
}

std::string export_ops(const OpRegistry& registry) {
  tensorflow::OpList list;
  for (const OpSchema* schema : registry.all())
    to_proto(*schema, *list.add_op());
  return to_bytes(list);
}

} // namespace troupe
