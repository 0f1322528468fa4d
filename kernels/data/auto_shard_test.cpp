// What tf.distribute makes of a dataset's nodes for each of several workers. The ops run in
// tests/integration/dataset_graphs_test.cpp, since bodies of functions are needed.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "kernels/data/internal/auto_shard.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("AutoShardDataset ExperimentalAutoShardDataset DatasetToGraph",
                     "DatasetToGraphV2 DatasetFromGraph");

namespace troupe::data {
namespace {

WrittenNode node(std::string name, std::string op, std::vector<std::string> inputs,
                 AttrMap attrs = {}) {
  if (op.find("Dataset") != op.npos) {
    attrs.set("output_types", std::vector<DType>{DType::string});
    attrs.set("output_shapes",
              std::vector<PartialShape>{PartialShape(std::vector<std::int64_t>{4})});
  }
  return {std::move(name), std::move(op), std::move(attrs), std::move(inputs)};
}
WrittenNode number(std::string name, std::int64_t value) {
  return node(std::move(name), "Const", {}, {{"value", TensorBox{Tensor::scalar(value)}}});
}
const AttrMap reader{{"f", FunctionRef{"read", nullptr}}};

Result<std::vector<std::string>> takers(const FunctionRef& function) {
  if (function.name == "read")
    return std::vector<std::string>{"Reshape", "TextLineDataset"};
  return std::vector<std::string>{"Neg"};
}

// "op(input, …)" from the sources to the sink, constants left out.
std::string shown(const DatasetGraph& graph) {
  std::string out;
  for (const WrittenNode& one : graph.in_order())
    if (one.op != "Const")
      str_append(out, out.empty() ? "" : " > ", one.op);
  return out;
}

struct Outcome {
  Status status;
  DatasetGraph graph;
};
Outcome sharded(std::vector<WrittenNode> nodes, ShardOptions options) {
  Outcome out{{}, DatasetGraph(std::move(nodes))};
  out.status = auto_shard(out.graph, options, takers);
  return out;
}

} // namespace

TEST_CASE("auto shard: names of files are shared out before what reads them") {
  auto [status, graph] = sharded(
      {node("names", "TensorSliceDataset", {}), node("lines", "FlatMapDataset", {"names"}, reader),
       node("batch", "BatchDatasetV2", {"lines"}), node("out", "_Retval", {"batch"})},
      {.workers = 3, .index = 2});
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  CHECK(shown(graph) ==
        "TensorSliceDataset > ShardDataset > FlatMapDataset > BatchDatasetV2 > _Retval");
  const WrittenNode& shard = *graph.find(graph.find("lines")->inputs[0]);
  CHECK(graph.find(shard.inputs[1])->attrs.get<Tensor>("value")->value<std::int64_t>() == 3);
  CHECK(graph.find(shard.inputs[2])->attrs.get<Tensor>("value")->value<std::int64_t>() == 2);
  CHECK(shard.attrs.get_or("require_non_empty", false));
}

TEST_CASE("auto shard: files are shuffled after they are shared out") {
  auto [status, graph] = sharded(
      {node("names", "TensorSliceDataset", {}), node("mixed", "ShuffleDatasetV3", {"names"}),
       node("lines", "InterleaveDataset", {"mixed"}, reader), node("out", "_Retval", {"lines"})},
      {.workers = 2, .policy = ShardPolicy::file});
  REQUIRE(status.ok());
  CHECK(shown(graph) ==
        "TensorSliceDataset > ShardDataset > ShuffleDatasetV3 > InterleaveDataset > _Retval");
}

TEST_CASE(
    "auto shard: each of several sources is shared out, and what asserts the number of all goes") {
  auto [status, graph] = sharded(
      {node("a", "TensorSliceDataset", {}), node("la", "FlatMapDataset", {"a"}, reader),
       node("b", "TensorSliceDataset", {}), node("four", "AssertCardinalityDataset", {"b"}),
       node("lb", "TextLineDatasetV2", {"four"}), node("both", "ConcatenateDataset", {"la", "lb"}),
       node("five", "AssertCardinalityDataset", {"both"}), node("out", "_Retval", {"five"})},
      {.workers = 2, .policy = ShardPolicy::file});
  REQUIRE(status.ok());
  CHECK(shown(graph) == "TensorSliceDataset > ShardDataset > FlatMapDataset > TensorSliceDataset > "
                        "AssertCardinalityDataset > ShardDataset > TextLineDatasetV2 > "
                        "ConcatenateDataset > _Retval");
}

TEST_CASE("auto shard: without files elements are shared out, before they are fetched ahead") {
  const std::vector<WrittenNode> nodes = {
      node("r", "RangeDataset", {}),
      node("neg", "FlatMapDataset", {"r"}, {{"f", FunctionRef{"neg", nullptr}}}),
      node("p", "PrefetchDataset", {"neg"}), node("o", "OptionsDataset", {"p"}),
      node("out", "_Retval", {"o"})};
  for (ShardPolicy policy : {ShardPolicy::automatic, ShardPolicy::data}) {
    // A function that reads nothing is passed by no further: TensorFlow does not look behind it.
    auto [status, graph] = sharded(nodes, {.workers = 2, .policy = policy});
    REQUIRE(status.ok());
    CHECK(shown(graph) == "RangeDataset > FlatMapDataset > ShardDataset > PrefetchDataset > "
                          "OptionsDataset > _Retval");
  }
  const Status by_file = sharded(nodes, {.workers = 2, .policy = ShardPolicy::file}).status;
  CHECK(by_file.code() == Code::not_found);
  CHECK(by_file.message().find("FlatMapDataset") != std::string::npos);
}

TEST_CASE("auto shard: shares of elements are taken of pieces of batches") {
  const std::vector<WrittenNode> nodes = {node("r", "RangeDataset", {}), number("n", 2),
                                          node("b", "RebatchDatasetV2", {"r", "n", "n"}),
                                          node("out", "_Retval", {"b"})};
  auto [status, graph] = sharded(nodes, {.workers = 2, .replicas = 2, .policy = ShardPolicy::data});
  REQUIRE(status.ok());
  CHECK(shown(graph) == "RangeDataset > RebatchDataset > ShardDataset > _Retval");
  const WrittenNode& pieces = *graph.find("b");
  CHECK(pieces.inputs.size() == 2);
  CHECK(pieces.attrs.get<std::vector<PartialShape>>("output_shapes")->front().dim(0) == -1);
  CHECK(sharded(nodes, {.workers = 2, .policy = ShardPolicy::data}).status.code() ==
        Code::invalid_argument);
}

TEST_CASE("auto shard: a hint is filled in, and nothing else is touched") {
  auto [status, graph] =
      sharded({node("r", "RangeDataset", {}), number("hint", -1), number("two", 2),
               number("zero", 0), node("s", "ShardDataset", {"r", "hint", "hint"}),
               node("own", "ShardDataset", {"s", "two", "zero"}), node("out", "_Retval", {"own"})},
              {.workers = 5, .index = 4, .policy = ShardPolicy::hint});
  REQUIRE(status.ok());
  const auto number_of = [&](const char* shard, std::size_t i) {
    return graph.find(graph.find(shard)->inputs[i])
        ->attrs.get<Tensor>("value")
        ->value<std::int64_t>();
  };
  CHECK(number_of("s", 1) == 5);
  CHECK(number_of("s", 2) == 4);
  CHECK(number_of("own", 1) == 2);
}

} // namespace troupe::data
