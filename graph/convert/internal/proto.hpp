// Conversions between our types and the messages, for .cpp files that include those anyway.
#pragma once

#include <string_view>

#include "graph/convert/graph_def.hpp"
#include "graph/convert/limits.hpp"
#include "graph/convert/options.hpp"
#include "graph/convert/tensor_proto.hpp"
#include "graph/ir/graph.hpp"

namespace google::protobuf {
class MessageLite;
class Message;
} // namespace google::protobuf

namespace tensorflow {
class TensorProto;
class TensorShapeProto;
class AttrValue;
class NodeDef;
class GraphDef;
class OpDef;
class FunctionDef;
class FunctionDefLibrary;
class ConfigProto;
class CallableOptions;
class CostGraphDef;
class RunOptions;
class RunMetadata;
class StepStats;
} // namespace tensorflow

namespace troupe {

/// Whether no client may send nodes of the op. Graphs that TensorFlow has lowered hold its
/// branches, and functions that its client has traced constants of its own.
bool is_internal(std::string_view op, const OpRegistry& registry);

/// All `from_proto` give INVALID_ARGUMENT for values that mean nothing; all `to_proto` replace what
/// was there.
Result<Tensor> from_proto(const tensorflow::TensorProto& proto, DecodeBudget& budget);
void to_proto(const Tensor& tensor, TensorEncoding encoding, tensorflow::TensorProto& proto);

Result<PartialShape> from_proto(const tensorflow::TensorShapeProto& proto);
void to_proto(const PartialShape& shape, tensorflow::TensorShapeProto& proto);

Result<AttrValue> from_proto(const tensorflow::AttrValue& proto, DecodeBudget& budget);
void to_proto(const AttrValue& value, tensorflow::AttrValue& proto);

/// Of an op or of a function's signature. Shape function, gradient and its absence stay unset.
Result<OpSchema> from_proto(const tensorflow::OpDef& proto, DecodeBudget& budget);
void to_proto(const OpSchema& schema, tensorflow::OpDef& proto);

void to_proto(const Graph& graph, const Node& node, const ExportOptions& options,
              tensorflow::NodeDef& proto);
Result<Graph> from_proto(const tensorflow::GraphDef& proto, const OpRegistry& registry,
                         const ImportOptions& options = {});
/// On an error the graph is unchanged.
Status extend(Graph& graph, const tensorflow::GraphDef& proto, const ImportOptions& options = {});
void to_proto(const Graph& graph, const ExportOptions& options, tensorflow::GraphDef& proto);

SessionOptions from_proto(const tensorflow::ConfigProto& proto);
void to_proto(const SessionOptions& options, tensorflow::ConfigProto& proto);
CallableOptions from_proto(const tensorflow::CallableOptions& proto);
std::vector<CostNode> from_proto(const tensorflow::CostGraphDef& proto);
void to_proto(const std::vector<CostNode>& nodes, tensorflow::CostGraphDef& proto);
RunOptions from_proto(const tensorflow::RunOptions& proto);
void to_proto(const RunOptions& options, tensorflow::RunOptions& proto);
RunMetadata from_proto(const tensorflow::RunMetadata& proto);
/// INVALID_ARGUMENT if a partition graph's bytes are no GraphDef.
Status to_proto(const RunMetadata& metadata, tensorflow::RunMetadata& proto);
StepStats from_proto(const tensorflow::StepStats& proto);
void to_proto(const StepStats& stats, tensorflow::StepStats& proto);

/// Parses bytes; INVALID_ARGUMENT naming the message type. Nesting beyond protobuf's limit (100) is
/// refused.
Status parse_bytes(std::string_view bytes, google::protobuf::MessageLite& message);
/// Parses text; INVALID_ARGUMENT "line 3, column 7: …".
Status parse_text(std::string_view text, google::protobuf::Message& message);
/// The same bytes for equal messages: maps in order of their keys.
std::string to_bytes(const google::protobuf::MessageLite& message);

} // namespace troupe
