#include "graph/passes/collective_devices.hpp"

#include <doctest/doctest.h>

#include "graph/op/registry.hpp"

using namespace troupe;

namespace {

struct Fixture {
  OpRegistry ops;
  std::optional<Graph> graph;

  Fixture() {
    auto add = [&](SchemaBuilder& builder) { ops.add(builder.build()); };
    add(SchemaBuilder("Const")
            .output("output: dtype")
            .attr("value: tensor; dtype: type")
            .not_differentiable("a test")
            .roles(Role::constant));
    add(SchemaBuilder("Given").output("output: int32").stateful().not_differentiable("a test"));
    add(SchemaBuilder("First")
            .attr("group_key: int")
            .stateful()
            .not_differentiable("a test")
            .roles(Role::blocks));
    add(SchemaBuilder("Second")
            .input("group_size: int32; group_key: int32")
            .stateful()
            .not_differentiable("a test")
            .roles(Role::blocks));
    add(SchemaBuilder("Unrelated")
            .input("group_key: int32")
            .stateful()
            .not_differentiable("a test"));
    graph.emplace(ops);
  }
  Node& put(const char* name, const char* op, const char* device, std::vector<Endpoint> inputs = {},
            AttrMap attrs = {}) {
    auto node = graph->add(name, op, std::move(inputs), std::move(attrs));
    REQUIRE_MESSAGE(node.ok(), node.status().to_string());
    (*node)->assigned_device = device;
    return **node;
  }
  std::vector<std::string> devices(const char* name) {
    return graph->find(name)->attrs.get_or<std::vector<std::string>>("_group_devices", {"none"});
  }
};

using Names = std::vector<std::string>;

} // namespace

TEST_CASE_FIXTURE(Fixture,
                  "collective devices: those of one key, be it an attribute or a constant") {
  const Node& one = put("one", "Const", "d0", {},
                        {{"dtype", DType::int32}, {"value", TensorBox{Tensor::scalar(1)}}});
  put("a", "First", "d1", {}, {{"group_key", std::int64_t{1}}});
  put("b", "Second", "d0", {{one.id, 0}, {one.id, 0}});
  put("c", "First", "d2", {}, {{"group_key", std::int64_t{2}}});
  put("u", "Unrelated", "d3", {{one.id, 0}});
  note_collective_devices(*graph);
  CHECK(devices("a") == Names{"d0", "d1"});
  CHECK(devices("b") == Names{"d0", "d1"});
  CHECK(devices("c") == Names{"d2"});
  CHECK(devices("u") == Names{"none"});
}

TEST_CASE_FIXTURE(Fixture, "collective devices: a key that is not known may be any") {
  const Node& one = put("one", "Const", "d0", {},
                        {{"dtype", DType::int32}, {"value", TensorBox{Tensor::scalar(1)}}});
  const Node& given = put("given", "Given", "d0");
  put("a", "First", "d1", {}, {{"group_key", std::int64_t{1}}});
  put("b", "Second", "d2", {{one.id, 0}, {given.id, 0}});
  put("c", "First", "d3", {}, {{"group_key", std::int64_t{3}}});
  note_collective_devices(*graph);
  CHECK(devices("a") == Names{"d1", "d2"});
  CHECK(devices("b") == Names{"d1", "d2", "d3"});
  CHECK(devices("c") == Names{"d2", "d3"});
}
