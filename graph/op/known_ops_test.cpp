#include "graph/op/known_ops.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "graph/op/infer.hpp"
#include "graph/op/registry.hpp"

using namespace troupe;

TEST_CASE("known ops: every line of the table is read") {
  const auto names = known_op_names();
  CHECK(names.size() > 1500);
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (std::string_view name : names) {
    const OpSchema* op = find_known_op(name);
    REQUIRE(op);
    CHECK(op->name == name);
    CHECK(find_known_op(name) == op);
  }
  for (const char* name : {"", "Foo", "matmul", "Matmul", "~", "MatMul\t", "_Send"})
    CHECK_FALSE(find_known_op(name));
}

TEST_CASE("known ops: an op has its arguments, attributes and flags") {
  const OpSchema* queue = find_known_op("QueueEnqueueManyV2");
  REQUIRE(queue);
  CHECK(queue->is_stateful);
  CHECK(queue->signature().starts_with(
      "QueueEnqueueManyV2(handle: resource, components: Tcomponents)"));
  REQUIRE(queue->find_attr("Tcomponents"));
  CHECK(queue->find_attr("Tcomponents")->minimum == 1);
  CHECK(queue->find_attr("timeout_ms")->default_value == AttrValue(std::int64_t{-1}));
  const OpSchema* barrier = find_known_op("Barrier");
  REQUIRE(barrier);
  CHECK(barrier->outputs[0].is_ref);
  const OpSchema* rnn = find_known_op("CudnnRNNParamsSize");
  REQUIRE(rnn);
  CHECK(rnn->find_attr("T")->allowed.size() == 4);
  CHECK(rnn->find_attr("rnn_mode")->default_value == AttrValue(std::string("lstm")));
}

TEST_CASE("known ops: shapes of an op without a rule are unknown") {
  auto shapes = infer_shapes(*find_known_op("CudnnRNNParamsSize"),
                             {{"T", DType::float32}, {"S", DType::int32}},
                             {PartialShape{}, PartialShape{}, PartialShape{}}, {});
  REQUIRE(shapes.ok());
  CHECK((*shapes)[0].rank() == -1);
}

TEST_CASE("known ops: a registry gives them to whoever looks an op up, and counts none its own") {
  OpRegistry ops;
  CHECK(ops.lookup("MatMul").ok());
  CHECK_FALSE(ops.find("MatMul"));
  CHECK(ops.all().empty());
  OpSchema own = SchemaBuilder("MatMul").not_differentiable("a test").build();
  const OpSchema* added = &ops.add(own);
  CHECK(*ops.lookup("MatMul") == added);
}

TEST_CASE("known ops: threads read them together") {
  std::vector<std::thread> threads;
  std::vector<const OpSchema*> found(4);
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&found, t] { found[t] = find_known_op("ParseExampleV2"); });
  for (std::thread& thread : threads)
    thread.join();
  for (const OpSchema* op : found)
    CHECK(op == found[0]);
}
