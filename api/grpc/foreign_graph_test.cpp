#include "api/grpc/foreign_graph.hpp"

#include <doctest/doctest.h>
#include <google/protobuf/text_format.h>

#include <map>

#include "core/base/strings.hpp"
#include "proto/graph.pb.h"

using namespace troupe;

namespace {

std::string bytes_of(const std::string& text) {
  tensorflow::GraphDef graph;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &graph));
  return graph.SerializeAsString();
}

// "name = Op(inputs)" of each node, one a line.
std::string plain(const std::string& text) {
  auto bytes = without_fused_ops(bytes_of(text));
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  tensorflow::GraphDef graph;
  REQUIRE(graph.ParseFromString(*bytes));
  std::string out;
  for (const auto& node : graph.node()) {
    const std::vector<std::string> inputs(node.input().begin(), node.input().end());
    out += str_cat(node.name(), " = ", node.op(), "(", str_join(inputs, ", "), ")\n");
  }
  return out;
}

std::string fused(const std::string& op, const std::string& inputs, const std::string& ops,
                  const std::string& more = "") {
  std::string text = str_cat("node { name: 'f' op: '", op, "' device: '/cpu:0' ");
  for (std::size_t at = 0; at < inputs.size(); at += 2)
    text += str_cat("input: '", inputs.substr(at, 1), "' ");
  text += "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'fused_ops' value { list { ";
  std::string word;
  for (char c : ops + ",")
    if (c == ',')
      text += std::exchange(word, "").insert(0, "s: '") + "' ";
    else
      word += c;
  return text + "} } } " + more + "}";
}

} // namespace

TEST_CASE(
    "foreign graph: a product with what was fused to it is written out, the last under its name") {
  CHECK(plain(fused("_FusedMatMul", "a b c", "BiasAdd,Relu", "input: '^before'")) ==
        "f/unfused/0_MatMul = MatMul(a, b, ^before)\n"
        "f/unfused/1_BiasAdd = BiasAdd(f/unfused/0_MatMul, c)\n"
        "f = Relu(f/unfused/1_BiasAdd)\n");
  CHECK(plain(fused("_FusedMatMul", "a b c d", "BiasAdd,Add")) ==
        "f/unfused/0_MatMul = MatMul(a, b)\n"
        "f/unfused/1_BiasAdd = BiasAdd(f/unfused/0_MatMul, c)\n"
        "f = AddV2(f/unfused/1_BiasAdd, d)\n");
  CHECK(plain(fused("_FusedConv2D", "a b c d e g", "FusedBatchNorm,LeakyRelu")) ==
        "f/unfused/0_Conv2D = Conv2D(a, b)\n"
        "f/unfused/1_FusedBatchNormV3 = FusedBatchNormV3(f/unfused/0_Conv2D, c, d, e, g)\n"
        "f = LeakyRelu(f/unfused/1_FusedBatchNormV3)\n");
}

TEST_CASE("foreign graph: attributes of the product stay, those of the fusion go") {
  auto bytes = without_fused_ops(bytes_of(
      fused("_FusedMatMul", "a b c", "BiasAdd",
            "attr { key: 'transpose_b' value { b: true } } attr { key: 'num_args' value { i: 1 } } "
            "attr { key: '_input_shapes' value { list { shape { dim { size: -4 } } } } }")));
  REQUIRE(bytes.ok());
  tensorflow::GraphDef graph;
  REQUIRE(graph.ParseFromString(*bytes));
  const auto& attrs = graph.node(0).attr();
  CHECK(attrs.at("transpose_b").b());
  CHECK(attrs.count("T") == 1);
  CHECK(attrs.count("num_args") + attrs.count("fused_ops") + attrs.count("_input_shapes") == 0);
  CHECK(graph.node(1).device() == "/cpu:0");
}

TEST_CASE("foreign graph: a chain of elementwise ops is written out") {
  CHECK(plain("node { name: 'f' op: '_UnaryOpsComposition' input: 'x' input: '^before' "
              "attr { key: 'T' value { type: DT_FLOAT } } "
              "attr { key: 'op_names' value { list { s: 'Tanh' s: 'Neg' } } } }") ==
        "f/unfused/0_Tanh = Tanh(x, ^before)\n"
        "f = Neg(f/unfused/0_Tanh)\n");
}

TEST_CASE(
    "foreign graph: of a normalisation the first output goes on, the others stay where they were") {
  CHECK(plain("node { name: 'n' op: '_FusedBatchNormEx' input: 'x' input: 's' input: 'o' input: "
              "'m' input: 'v' input: 'side' "
              "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'num_side_inputs' value { i: "
              "1 } } "
              "attr { key: 'activation_mode' value { s: 'Relu' } } } "
              "node { name: 'y' op: 'Neg' input: 'n' } node { name: 'z' op: 'Neg' input: 'n:0' } "
              "node { name: 'w' op: 'Neg' input: 'n:1' input: '^n' }") ==
        "n = FusedBatchNormV3(x, s, o, m, v)\n"
        "n/unfused/0_AddV2 = AddV2(n, side)\n"
        "n/unfused/1_Relu = Relu(n/unfused/0_AddV2)\n"
        "y = Neg(n/unfused/1_Relu)\n"
        "z = Neg(n/unfused/1_Relu)\n"
        "w = Neg(n:1, ^n)\n");
}

TEST_CASE("foreign graph: gelu's constants stay in the loop of what they are for") {
  const std::string out = plain(fused("_FusedMatMul", "a b c", "BiasAdd,GeluExact"));
  CHECK(out.find("Const(^f/unfused/1_BiasAdd)") != std::string::npos);
  CHECK(out.find("Erf(") != std::string::npos);
  CHECK(plain(fused("_FusedMatMul", "a b c", "BiasAdd,GeluApproximate")).find("Tanh(") !=
        std::string::npos);
}

TEST_CASE("foreign graph: what is not fused is left byte for byte") {
  const std::string bytes =
      bytes_of("node { name: 'y' op: 'Neg' input: 'x' } versions { producer: 1 }");
  CHECK(*without_fused_ops(bytes) == bytes);
}

TEST_CASE("foreign graph: what cannot be written out is refused with node, op and remedy") {
  auto refused = [](const std::string& text) {
    Status status = without_fused_ops(bytes_of(text)).status();
    CHECK_FALSE(status.ok());
    return status;
  };
  Status unknown = refused(fused("_FusedMatMul", "a b c", "BiasAdd,Strange"));
  CHECK(unknown.code() == Code::unimplemented);
  CHECK(unknown.message().find("'f'") != std::string::npos);
  CHECK(unknown.message().find("Strange") != std::string::npos);
  CHECK(unknown.message().find("remapping") != std::string::npos);
  CHECK(refused(fused("_FusedMatMul", "a", "BiasAdd")).code() == Code::invalid_argument);
  CHECK(refused(fused("_FusedMatMul", "a b", "BiasAdd")).code() == Code::invalid_argument);
  CHECK(refused("node { name: 'f' op: '_UnaryOpsComposition' input: 'x' }").code() ==
        Code::invalid_argument);
  CHECK(refused("node { name: 'f' op: '_UnaryOpsComposition' input: 'x' attr { key: 'op_names' "
                "value { list { s: '_FusedMatMul' } } } }")
            .code() == Code::invalid_argument);
  CHECK(refused("node { name: 'f' op: '_FusedBatchNormEx' input: 'x' }").code() ==
        Code::invalid_argument);
  CHECK(without_fused_ops("_Fused\xff\xff").status().code() == Code::invalid_argument);
}
