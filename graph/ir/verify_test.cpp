#include "graph/ir/verify.hpp"

#include <doctest/doctest.h>

#include "graph/ir/functions.hpp"
#include "graph/ir/test_ops.hpp"
#include "graph/ir/text.hpp"

using namespace troupe;

namespace {

struct Fixture {
  OpRegistry ops = test_ops();
  Graph g = *parse_graph("a = Source()\nb = Neg(a)\nc = AddV2(a, b) ^a", ops);
  Node& node(std::string_view name) { return *g.find(name); }
  std::string complaint() {
    Status status = verify(g);
    REQUIRE(status.code() == Code::internal);
    return status.message();
  }
};

} // namespace

TEST_CASE("verify: a sound graph passes") {
  Fixture f;
  CHECK(verify(f.g).ok());
  CHECK(verify(Graph(f.ops)).ok());
}

TEST_CASE("verify: each broken invariant has its sentence") {
  auto has = [](const std::string& text, std::string_view part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  {
    Fixture f;
    f.node("a").outs.pop_back();
    has(f.complaint(), "is not recorded at its source");
  }
  {
    Fixture f;
    f.node("b").outs.push_back({f.node("c").id, 0, 0});
    has(f.complaint(), "records an edge");
  }
  {
    Fixture f;
    f.g.set_input(f.node("c").id, 1, {});
    has(f.complaint(), "input 1 of node 'c' (AddV2) is not connected");
  }
  {
    Fixture f;
    f.node("b").attrs.set("T", DType::int32);
    has(f.complaint(), "the dtypes of node 'b'");
  }
  {
    Fixture f;
    f.node("a").attrs.set("T", DType::int32);
    f.node("a").output_types = {DType::int32};
    has(f.complaint(), "was passed int32 from a:0");
  }
  {
    Fixture f;
    f.node("b").name = "zz";
    has(f.complaint(), "finds another node or none");
  }
  {
    Fixture f;
    f.g.set_input(f.node("b").id, 0, {f.node("c").id, 0});
    has(f.complaint(), "depends on itself");
  }
  {
    Fixture f;
    f.node("c").control_inputs.push_back(f.node("a").id);
    f.node("a").outs.push_back({f.node("c").id, -1, -1});
    has(f.complaint(), "is there twice");
  }
}

TEST_CASE("functions: a node may call a function of its graph by name") {
  Fixture f;
  auto library = std::make_shared<FunctionLibrary>();
  REQUIRE(library->add({SchemaBuilder("twice").input("x: float").output("y: float").build(), "1"})
              .ok());
  f.g.functions = library;
  auto call = f.g.add("call", "twice", {{f.node("a").id, 0}});
  REQUIRE(call.ok());
  CHECK((*call)->output_types == std::vector{DType::float32});
  CHECK(verify(f.g).ok());
  CHECK(to_text(f.g, **call) == "call = twice(a)");
}

TEST_CASE("functions: a library refuses two functions of one name") {
  FunctionLibrary library;
  auto function = [](std::string bytes) {
    return FunctionDefinition{SchemaBuilder("f").build(), std::move(bytes)};
  };
  CHECK(library.add(function("1")).ok());
  CHECK(library.add(function("1")).ok());
  CHECK(library.add(function("2")).code() == Code::invalid_argument);
  CHECK(library.find("f")->bytes == "1");
  CHECK(library.set_gradient("f", "g").ok());
  CHECK(library.set_gradient("f", "h").code() == Code::invalid_argument);
  FunctionLibrary other;
  CHECK(other.merge(library).ok());
  CHECK(other.find("f") == library.find("f"));
  FunctionLibrary clash;
  REQUIRE(clash.add(function("3")).ok());
  CHECK_FALSE(clash.merge(library).ok());
  CHECK(clash.gradients().empty());
  CHECK(clash.erase("f"));
  CHECK(clash.empty());
}
