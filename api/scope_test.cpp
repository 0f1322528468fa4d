#include "api/scope.hpp"

#include <doctest/doctest.h>

#include "api/ops.hpp"

namespace troupe {

TEST_CASE("scope: names carry their prefix and become unique") {
  Scope root = Scope::root();
  Output a = ops::placeholder(root.sub("in").named("a"), DType::float32, {.shape = {2}});
  Output b = ops::placeholder(root.sub("in").named("a"), DType::float32);
  REQUIRE(root.status().ok());
  CHECK(a.name() == "in/a:0");
  CHECK(b.node_name() == "in/a_1");
  CHECK(ops::square(root, a).node_name() == "Square");
}

TEST_CASE("scope: a named op keeps its name when an input is a plain value") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output y = ops::add_v2(root.named("y"), x, 1.0f);
  CHECK(y.node_name() == "y");
  CHECK(root.find("y/Const:0").ok());
}

TEST_CASE("scope: the first error stays, later ops give nothing") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output bad = ops::add_v2(root.named("bad"), x, std::int32_t{1});
  CHECK_FALSE(bad.is_valid());
  Status first = root.status();
  CHECK(first.code() == Code::invalid_argument);
  CHECK(first.message().find("node bad was passed") != std::string::npos);
  CHECK_FALSE(ops::square(root, x).is_valid());
  CHECK_FALSE(root.add("NoSuchOp", std::vector<Output>{}).is_valid());
  CHECK(root.status() == first);
}

TEST_CASE("scope: one that was moved from builds on") {
  Scope from = Scope::root();
  const Scope to = std::move(from);
  CHECK(ops::placeholder(from.named("x"), DType::float32).is_valid());
  CHECK(from.graph() == to.graph());
}

TEST_CASE("scope: an unknown op is named") {
  Scope root = Scope::root();
  CHECK_FALSE(root.add("MatMull", std::vector<Output>{}).is_valid());
  CHECK(root.status().code() == Code::not_found);
  CHECK(root.status().message().find("MatMull") != std::string::npos);
}

TEST_CASE("scope: a device that cannot be read is an error") {
  Scope root = Scope::root();
  (void)root.on("/job:ps/what:is-this");
  CHECK(root.status().code() == Code::invalid_argument);
}

TEST_CASE("scope: devices, control inputs and colocation reach the node") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.on("/job:ps/task:0").named("x"), DType::float32);
  Operation first = ops::no_op(root.named("first"));
  Output y = ops::identity(root.after({first}).colocated_with(x).named("y"), x);
  REQUIRE(root.status().ok());
  const Node* px = root.graph()->find("x");
  const Node* py = root.graph()->find("y");
  CHECK(px->device == "/job:ps/task:0");
  CHECK(py->control_inputs == std::vector<NodeId>{first.id()});
  CHECK(*py->attrs.get<std::vector<std::string>>("_class") == std::vector<std::string>{"loc:@x"});
}

TEST_CASE("scope: a graph goes out and comes in with its names") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32, {.shape = {-1, 2}});
  ops::square(root.named("y"), x);
  REQUIRE(root.status().ok());
  Scope other = Scope::root();
  REQUIRE(other.import(root.graph_def()).ok());
  auto y = other.find("y");
  REQUIRE(y.ok());
  CHECK(y->dtype() == DType::float32);
  CHECK(other.find("y:1").status().code() == Code::invalid_argument);
  CHECK(other.find("z").status().code() == Code::invalid_argument);
}

TEST_CASE("ops: several outputs have names, lists are vectors") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root, DType::float32, {.shape = {4, 6}});
  std::vector<Output> pieces = ops::split(root, std::int32_t{1}, x, 3);
  REQUIRE(root.status().ok());
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[2].endpoint().slot == 2);
  ops::TopKV2Outputs top = ops::top_k_v2(root, x, std::int32_t{2});
  CHECK(top.values.dtype() == DType::float32);
  CHECK(top.indices.dtype() == DType::int32);
  CHECK(ops::add_n(root, pieces).is_valid());
  CHECK(ops::add_n(root, {x, x}).is_valid());
  CHECK(root.status().ok());
}

TEST_CASE("gradients: what does not depend has none") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root, DType::float32);
  Output other = ops::placeholder(root, DType::float32);
  auto found = gradients(root, {ops::square(root, x)}, {x, other});
  REQUIRE(root.status().ok());
  CHECK(found[0].is_valid());
  CHECK_FALSE(found[1].is_valid());
}

TEST_CASE("scope: what is of another scope's graph cannot be joined") {
  Scope other = Scope::root();
  for (int i = 0; i < 100; ++i)
    ops::no_op(other);
  Output x = ops::placeholder(other.named("x"), DType::float32);
  auto refused = [](const Scope& scope) {
    CHECK(scope.status().code() == Code::invalid_argument);
    CHECK(scope.status().message().find("of another graph than the scope") != std::string::npos);
  };
  Scope reads = Scope::root(), waits = Scope::root(), follows = Scope::root(),
        waits_for_operation = Scope::root(), differentiates = Scope::root();
  CHECK_FALSE(ops::square(reads, x).is_valid());
  refused(reads);
  (void)waits.after(x);
  refused(waits);
  (void)waits_for_operation.after(std::vector<Operation>{ops::no_op(other)});
  refused(waits_for_operation);
  (void)follows.colocated_with(x);
  refused(follows);
  CHECK_FALSE(gradients(differentiates, {x}, {x})[0].is_valid());
  refused(differentiates);
}

TEST_CASE("scope: the gradient of PreventGradient is refused with its message") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root, DType::float32);
  Output y = root.named("y")
                 .add("PreventGradient", std::vector<Output>{x},
                      {{"message", std::string("twice is too much")}})
                 .output(0);
  CHECK_FALSE(gradients(root, {y}, {x})[0].is_valid());
  CHECK(root.status().code() == Code::invalid_argument);
  CHECK(root.status().message() == "the gradient of node 'y' (PreventGradient): Gradient "
                                   "explicitly disabled. Reason: 'twice is too much'");
}

TEST_CASE("scope: gradients begin with what arrives at the ys") {
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  Output y = ops::neg(root, x);
  Output arrives = ops::placeholder(root.named("arrives"), DType::float32);
  std::vector<Output> found = gradients(root, {y}, {x}, {arrives});
  REQUIRE_MESSAGE(root.status().ok(), root.status().to_string());
  const Node& gradient = *root.graph()->node(found[0].endpoint().node);
  CHECK(gradient.op_name() == "Neg");
  CHECK(gradient.inputs[0] == arrives.endpoint());
}

} // namespace troupe
