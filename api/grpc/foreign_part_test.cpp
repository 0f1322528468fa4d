#include "api/grpc/foreign_part.hpp"

#include <doctest/doctest.h>
#include <google/protobuf/text_format.h>

#include "kernels/framework/rendezvous.hpp"
#include "proto/graph.pb.h"

using namespace troupe;

namespace {

constexpr const char* device = "/job:ps/replica:0/task:0/device:CPU:0";

Result<ForeignPart> part_of(const std::string& text) {
  tensorflow::GraphDef graph;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &graph));
  return foreign_part(graph.SerializeAsString(), [](std::string_view name) {
    return std::uint64_t{name == device ? 7u : 0u};
  });
}
std::string node(const std::string& op, const std::string& more) {
  return "node { name: 'n' op: '" + op + "' device: '" + device +
         "' attr { key: 'T' value { type: DT_FLOAT } } " + more + " }";
}
std::string index(const char* number) {
  return std::string("attr { key: 'index' value { i: ") + number + " } }";
}

} // namespace

TEST_CASE("foreign part: fed and fetched values become the client's ends, by number") {
  auto part = part_of(node("_Arg", index("1")) + node("_Arg", index("0")) +
                      node("_Retval", "input: 'x' " + index("0")));
  REQUIRE_MESSAGE(part.ok(), part.status().to_string());
  REQUIRE(part->feed_keys.size() == 2);
  CHECK(part->feed_keys[1] == rendezvous_key(device, 7, device, "feed_1", 0, 0));
  CHECK(part->fetch_keys ==
        std::vector<std::string>{rendezvous_key(device, 7, device, "fetch_0", 0, 0)});
  tensorflow::GraphDef graph;
  REQUIRE(graph.ParseFromString(part->graph_def));
  const auto& fed = graph.node(0);
  CHECK(fed.op() == "_Recv");
  CHECK(fed.attr().at("tensor_type").type() == tensorflow::DT_FLOAT);
  CHECK(fed.attr().at("tensor_name").s() == "feed_1");
  CHECK(fed.attr().at("client_terminated").b());
  CHECK(fed.attr().at("send_device_incarnation").i() == 7);
  CHECK(fed.attr().count("index") == 0);
  CHECK(graph.node(2).op() == "_Send");
  CHECK(graph.node(2).input(0) == "x");
}

TEST_CASE("foreign part: results of calls are IdentityN there") {
  auto part =
      part_of(node("_Results", "input: 'x' attr { key: 'direct' value { list { i: 0 } } }"));
  REQUIRE(part.ok());
  tensorflow::GraphDef graph;
  REQUIRE(graph.ParseFromString(part->graph_def));
  CHECK(graph.node(0).op() == "IdentityN");
  CHECK(graph.node(0).attr().count("direct") == 0);
}

TEST_CASE("foreign part: what such a task does not have is refused with node and op") {
  Status status = part_of(node("_FusedElementwise", "")).status();
  CHECK(status.code() == Code::unimplemented);
  CHECK(status.message().find("'n' (_FusedElementwise)") != std::string::npos);
  CHECK(part_of(node("_Arg", "")).status().code() == Code::invalid_argument);
  CHECK(part_of(node("_Arg", index("-1"))).status().code() == Code::invalid_argument);
  CHECK(part_of(node("_Retval", index("99999999999"))).status().code() == Code::invalid_argument);
  CHECK(
      foreign_part("\xff\xff", [](std::string_view) { return std::uint64_t{0}; }).status().code() ==
      Code::invalid_argument);
}
