// Holds the messages to the wire: field numbers, bytes as TensorFlow writes them, and whole graphs
// in text.

#include <doctest/doctest.h>

#include "proto/config.pb.h"
#include "proto/error_codes.pb.h"
#include "proto/graph.pb.h"
#include "proto/master.pb.h"
#include "proto/saved_model.pb.h"
#include "proto/worker.pb.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace pb = google::protobuf;

std::string read_golden(const std::string& name) {
  std::ifstream file(std::string(TROUPE_GOLDEN_DIR "/graphs/") + name, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), "cannot open golden graph '", name, "'");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Serializes with sorted map keys, so that equal messages give equal bytes.
std::string to_bytes(const pb::Message& message) {
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

/// Appends "path.to.message: field N" for each unknown field in `message` or anything inside it.
void find_unknown_fields(const pb::Message& message, const std::string& path,
                         std::vector<std::string>& found) {
  const pb::Reflection& reflection = *message.GetReflection();
  const pb::UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i)
    found.push_back(path + ": field " + std::to_string(unknown.field(i).number()));
  std::vector<const pb::FieldDescriptor*> set;
  reflection.ListFields(message, &set);
  for (const pb::FieldDescriptor* field : set) {
    if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE)
      continue;
    const std::string inner = path + "." + field->name();
    if (!field->is_repeated()) {
      find_unknown_fields(reflection.GetMessage(message, field), inner, found);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      find_unknown_fields(reflection.GetRepeatedMessage(message, field, i), inner, found);
  }
}

std::vector<std::string> unknown_fields(const pb::Message& message) {
  std::vector<std::string> found;
  find_unknown_fields(message, message.GetTypeName(), found);
  return found;
}

/// Parses a golden text into M and sends it through bytes; returns what came back.
template <class M>
M check_golden(const std::string& name) {
  M parsed;
  REQUIRE(pb::TextFormat::ParseFromString(read_golden(name), &parsed));
  const std::string bytes = to_bytes(parsed);
  M again;
  REQUIRE(again.ParseFromString(bytes));
  CHECK(pb::util::MessageDifferencer::Equals(parsed, again));
  CHECK(to_bytes(again) == bytes);
  CHECK(unknown_fields(again) == std::vector<std::string>{});
  return again;
}

struct FieldRow {
  const char* field;
  int number;
  const char* type;
};

// Where a slip would be silent: neighbours of one type, gaps, and fixed-width integers.
constexpr FieldRow field_rows[] = {
    {"tensorflow.GraphDef.node", 1, "message"},
    {"tensorflow.GraphDef.library", 2, "message"},
    {"tensorflow.GraphDef.version", 3, "int32"},
    {"tensorflow.GraphDef.versions", 4, "message"},
    {"tensorflow.GraphDef.debug_info", 5, "message"},
    {"tensorflow.NodeDef.name", 1, "string"},
    {"tensorflow.NodeDef.op", 2, "string"},
    {"tensorflow.NodeDef.input", 3, "string"},
    {"tensorflow.NodeDef.device", 4, "string"},
    {"tensorflow.NodeDef.attr", 5, "message"},
    {"tensorflow.NodeDef.experimental_type", 7, "message"},
    {"tensorflow.AttrValue.list", 1, "message"},
    {"tensorflow.AttrValue.s", 2, "bytes"},
    {"tensorflow.AttrValue.i", 3, "int64"},
    {"tensorflow.AttrValue.f", 4, "float"},
    {"tensorflow.AttrValue.b", 5, "bool"},
    {"tensorflow.AttrValue.type", 6, "enum"},
    {"tensorflow.AttrValue.shape", 7, "message"},
    {"tensorflow.AttrValue.tensor", 8, "message"},
    {"tensorflow.AttrValue.placeholder", 9, "string"},
    {"tensorflow.AttrValue.func", 10, "message"},
    {"tensorflow.AttrValue.ListValue.s", 2, "bytes"},
    {"tensorflow.AttrValue.ListValue.func", 9, "message"},
    {"tensorflow.TensorShapeProto.dim", 2, "message"},
    {"tensorflow.TensorShapeProto.unknown_rank", 3, "bool"},
    {"tensorflow.TensorProto.dtype", 1, "enum"},
    {"tensorflow.TensorProto.tensor_shape", 2, "message"},
    {"tensorflow.TensorProto.tensor_content", 4, "bytes"},
    {"tensorflow.TensorProto.float_val", 5, "float"},
    {"tensorflow.TensorProto.double_val", 6, "double"},
    {"tensorflow.TensorProto.int_val", 7, "int32"},
    {"tensorflow.TensorProto.string_val", 8, "bytes"},
    {"tensorflow.TensorProto.scomplex_val", 9, "float"},
    {"tensorflow.TensorProto.int64_val", 10, "int64"},
    {"tensorflow.TensorProto.bool_val", 11, "bool"},
    {"tensorflow.TensorProto.dcomplex_val", 12, "double"},
    {"tensorflow.TensorProto.half_val", 13, "int32"},
    {"tensorflow.TensorProto.resource_handle_val", 14, "message"},
    {"tensorflow.TensorProto.variant_val", 15, "message"},
    {"tensorflow.TensorProto.uint32_val", 16, "uint32"},
    {"tensorflow.TensorProto.uint64_val", 17, "uint64"},
    {"tensorflow.FunctionDef.node_def", 3, "message"},
    {"tensorflow.FunctionDef.ret", 4, "message"},
    {"tensorflow.FunctionDef.control_ret", 6, "message"},
    {"tensorflow.OpDef.deprecation", 8, "message"},
    {"tensorflow.OpDef.is_aggregate", 16, "bool"},
    {"tensorflow.OpDef.is_stateful", 17, "bool"},
    {"tensorflow.OpDef.ArgDef.is_ref", 16, "bool"},
    {"tensorflow.DeviceAttributes.memory_limit", 4, "int64"},
    {"tensorflow.DeviceAttributes.incarnation", 6, "fixed64"},
    {"tensorflow.ConfigProto.allow_soft_placement", 7, "bool"},
    {"tensorflow.ConfigProto.graph_options", 10, "message"},
    {"tensorflow.ConfigProto.operation_timeout_in_ms", 11, "int64"},
    {"tensorflow.ConfigProto.cluster_def", 14, "message"},
    {"tensorflow.ConfigProto.isolate_session_state", 15, "bool"},
    {"tensorflow.RunOptions.output_partition_graphs", 5, "bool"},
    {"tensorflow.RunMetadata.partition_graphs", 3, "message"},
    {"tensorflow.CallableOptions.feed_devices", 6, "message"},
    {"tensorflow.ExtendSessionResponse.new_graph_version", 4, "int64"},
    {"tensorflow.RunStepRequest.request_id", 8, "int64"},
    {"tensorflow.PartialRunSetupRequest.request_id", 5, "int64"},
    {"tensorflow.MakeCallableRequest.request_id", 3, "int64"},
    {"tensorflow.RunCallableRequest.request_id", 4, "int64"},
    {"tensorflow.RunGraphRequest.request_id", 11, "int64"},
    {"tensorflow.RecvTensorRequest.request_id", 7, "int64"},
    {"tensorflow.RecvBufRequest.buf_ptr", 4, "fixed64"},
    {"tensorflow.NodeExecStats.thread_id", 10, "uint32"},
    {"tensorflow.MetaGraphDef.signature_def", 5, "message"},
    {"tensorflow.StructuredValue.int64_value", 12, "sint64"},
    {"tensorflow.GraphDebugInfo.StackTrace.frame_id", 2, "fixed64"},
};

TEST_CASE("every field of the table has its number and its wire type") {
  tensorflow::RunStepRequest::descriptor();
  tensorflow::RunGraphRequest::descriptor();
  tensorflow::SavedModel::descriptor();
  const pb::DescriptorPool& pool = *pb::DescriptorPool::generated_pool();
  for (const FieldRow& row : field_rows) {
    CAPTURE(row.field);
    const pb::FieldDescriptor* field = pool.FindFieldByName(row.field);
    REQUIRE(field != nullptr);
    CHECK(field->number() == row.number);
    CHECK(std::string_view(field->type_name()) == row.type);
  }
}

TEST_CASE("a reference type is its base type plus 100") {
  const pb::EnumDescriptor& types = *tensorflow::DataType_descriptor();
  int references = 0;
  for (int i = 0; i < types.value_count(); ++i) {
    const pb::EnumValueDescriptor& base = *types.value(i);
    if (base.number() == 0 || base.number() > 100)
      continue;
    const pb::EnumValueDescriptor* reference = types.FindValueByName(base.name() + "_REF");
    REQUIRE_MESSAGE(reference != nullptr, base.name());
    CHECK(reference->number() == base.number() + 100);
    ++references;
  }
  CHECK(references == 33);
  CHECK(tensorflow::DT_HALF == 19);
  CHECK(tensorflow::DT_UINT64 == 23);
}

TEST_CASE("status codes have the numbers of gRPC") {
  CHECK(tensorflow::error::CANCELLED == 1);
  CHECK(tensorflow::error::DEADLINE_EXCEEDED == 4);
  CHECK(tensorflow::error::UNAVAILABLE == 14);
  CHECK(tensorflow::error::UNAUTHENTICATED == 16);
}

TEST_CASE("a tensor written byte by byte is read and written again as the same bytes") {
  constexpr std::string_view bytes("\x08\x01"                        // dtype = DT_FLOAT
                                   "\x12\x08\x12\x02\x08\x02"        // shape: dim 2
                                   "\x12\x02\x08\x01"                // and dim 1
                                   "\x22\x08\0\0\x80\x3f\0\0\0\x40", // content: 1.0f 2.0f
                                   22);
  tensorflow::TensorProto tensor;
  REQUIRE(tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  CHECK(tensor.dtype() == tensorflow::DT_FLOAT);
  REQUIRE(tensor.tensor_shape().dim_size() == 2);
  CHECK(tensor.tensor_shape().dim(0).size() == 2);
  CHECK(tensor.tensor_shape().dim(1).size() == 1);
  CHECK(tensor.tensor_content() == bytes.substr(14));
  CHECK(unknown_fields(tensor) == std::vector<std::string>{});
  CHECK(to_bytes(tensor) == bytes);
}

TEST_CASE("repeated numbers are read packed and unpacked, and written packed") {
  constexpr std::string_view unpacked("\x38\x05\x38\x06", 4);
  constexpr std::string_view packed("\x3a\x02\x05\x06", 4);
  for (std::string_view bytes : {unpacked, packed}) {
    tensorflow::TensorProto tensor;
    REQUIRE(tensor.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    REQUIRE(tensor.int_val_size() == 2);
    CHECK(tensor.int_val(0) == 5);
    CHECK(tensor.int_val(1) == 6);
    CHECK(to_bytes(tensor) == packed);
  }
}

TEST_CASE("a field that we do not describe is found, and survives reading and writing") {
  constexpr std::string_view bytes("\x0a\x07\x0a\x01n\xa2\x06\x01u", 9);
  tensorflow::GraphDef graph;
  REQUIRE(graph.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  CHECK(unknown_fields(graph) == std::vector<std::string>{"tensorflow.GraphDef.node: field 100"});
  CHECK(to_bytes(graph) == bytes);
}

TEST_CASE("a v1 loop goes through text and bytes unchanged") {
  const auto graph = check_golden<tensorflow::GraphDef>("count_to_limit.pbtxt");
  CHECK(graph.node_size() == 13);
  CHECK(graph.node(3).attr().at("frame_name").s() == "loop/while_context");
  CHECK(graph.node(5).attr().at("N").i() == 2);
  CHECK(graph.node(8).attr().at("_class").list().s(0) == "loc:@loop/Merge");
  CHECK(graph.versions().producer() == 2129);
}

TEST_CASE("a graph with a function library goes through text and bytes unchanged") {
  const auto graph = check_golden<tensorflow::GraphDef>("call_function.pbtxt");
  REQUIRE(graph.library().function_size() == 1);
  const tensorflow::FunctionDef& function = graph.library().function(0);
  CHECK(function.ret().at("y") == "add:z:0");
  CHECK(function.node_def(1).attr().at("T").placeholder() == "T");
  tensorflow::ConfigProto config;
  REQUIRE(config.ParseFromString(graph.node(1).attr().at("config_proto").s()));
  CHECK(config.device_count().at("CPU") == 1);
}

TEST_CASE("a SavedModel goes through text and bytes unchanged") {
  const auto model = check_golden<tensorflow::SavedModel>("half_plus_two.pbtxt");
  REQUIRE(model.meta_graphs_size() == 1);
  const tensorflow::MetaGraphDef& meta = model.meta_graphs(0);
  CHECK(meta.signature_def().at("serving_default").outputs().at("y").name() == "y:0");
  tensorflow::VariableDef variable;
  REQUIRE(variable.ParseFromString(meta.collection_def().at("variables").bytes_list().value(0)));
  CHECK(variable.initializer_name() == "a/Assign");
  tensorflow::AssetFileDef asset;
  REQUIRE(meta.collection_def().at("saved_model_assets").any_list().value(0).UnpackTo(&asset));
  CHECK(asset.filename() == "words.txt");
}

} // namespace
