// Datasets written as graphs, made again, and shared out among workers, as a session runs them.
#include <doctest/doctest.h>

#include "api/ops.hpp"
#include "api/scope.hpp"
#include "api/session.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::dataset_graphs_test {

namespace {

const AttrMap numbers{{"output_types", std::vector<DType>{DType::int64}},
                      {"output_shapes", std::vector<PartialShape>{PartialShape(Shape{})}}};

AttrMap with(AttrMap attrs, std::string_view name, AttrValue value) {
  attrs.set(name, std::move(value));
  return attrs;
}

struct Fixture {
  Scope root = Scope::root();
  int count = 0;

  std::string name(const char* stem) { return str_cat(stem, count++); }
  Output number(std::int64_t value) {
    return ops::const_(root.named(name("n")), Tensor::scalar(value), DType::int64);
  }
  Output make(const char* op, std::vector<Output> inputs, const AttrMap& attrs) {
    return root.named(name(op)).add(op, inputs, attrs).output(0);
  }
  Output range(std::int64_t limit) {
    return make("RangeDataset", {number(0), number(limit), number(1)}, numbers);
  }
  Output share(Output dataset, std::int64_t workers, std::int64_t index, std::int64_t policy) {
    return make("AutoShardDataset", {dataset, number(workers), number(index)},
                with(numbers, "auto_shard_policy", policy));
  }
  // All elements, or the error.
  std::string elements(Output dataset) {
    const std::string iterator = name("it"), begun = name("begun"), next = name("next");
    AttrMap attrs = with(with(numbers, "shared_name", std::string()), "container", std::string());
    Output handle = root.named(iterator).add("IteratorV2", std::vector<Output>{}, attrs).output(0);
    root.named(begun).add("MakeIterator", std::vector<Output>{dataset, handle}, AttrMap());
    root.named(next).add("IteratorGetNext", std::vector<Output>{handle}, numbers);
    auto session = Session::open("local");
    REQUIRE(session.ok());
    REQUIRE(session->extend(root).ok());
    if (auto made = session->run({}, {}, {begun}); !made.ok())
      return made.status().to_string();
    std::string out;
    for (;;) {
      auto got = session->run({}, {next + ":0"});
      if (got.status().code() == Code::out_of_range)
        return out;
      if (!got.ok())
        return got.status().to_string();
      str_append(out, out.empty() ? "" : " ", (*got)[0].value<std::int64_t>());
    }
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "dataset graphs: a dataset that was written is made again") {
  Output dataset = make("SkipDataset", {range(6), number(2)}, numbers);
  for (const char* op : {"DatasetToGraph", "DatasetToGraphV2"}) {
    Output graph =
        root.named(name("graph")).add(op, std::vector<Output>{dataset}, AttrMap()).output(0);
    CHECK(elements(make("DatasetFromGraph", {graph}, AttrMap())) == "2 3 4 5");
  }
}

TEST_CASE_FIXTURE(Fixture, "dataset graphs: what is no graph of a dataset is refused") {
  const auto refused = [&](const std::string& bytes, std::string_view text) {
    Output graph = ops::const_(root.named(name("bytes")), Tensor::scalar(bytes), DType::string);
    const std::string got = elements(make("DatasetFromGraph", {graph}, AttrMap()));
    CHECK_MESSAGE(got.find("INVALID_ARGUMENT") == 0, got);
    CHECK_MESSAGE(got.find(text) != got.npos, got);
  };
  refused("no graph", "GraphDef");
  refused("", "makes no dataset");
  Scope other = Scope::root();
  ops::const_(other.named("x"), Tensor::scalar(1.0f), DType::float32);
  refused(other.graph_def(), "makes no dataset");
  // Nothing of the runtime's own: a receive would wait for what nobody sends.
  refused("node { name: 'r' op: '_Recv' attr { key: 'tensor_type' value { type: DT_VARIANT } } "
          "attr { key: 'tensor_name' value { s: 'x' } } "
          "attr { key: 'send_device' value { s: '/cpu:0' } } "
          "attr { key: 'recv_device' value { s: '/cpu:0' } } "
          "attr { key: 'send_device_incarnation' value { i: 1 } } }",
          "which is the runtime's own");
}

TEST_CASE_FIXTURE(Fixture,
                  "dataset graphs: workers share a dataset, and each element is somebody's") {
  for (std::int64_t policy : {0, 2}) {
    CHECK(elements(share(range(7), 3, 0, policy)) == "0 3 6");
    CHECK(elements(share(range(7), 3, 1, policy)) == "1 4");
    CHECK(elements(share(range(7), 3, 2, policy)) == "2 5");
  }
  CHECK(elements(share(range(3), 2, 0, -1)) == "0 1 2");
  CHECK(elements(share(range(3), 2, 0, 1)).find("NOT_FOUND") == 0);
  CHECK(elements(share(range(3), 2, 2, 0)).find("index must be between 0 and 1") !=
        std::string::npos);
  CHECK(elements(share(range(3), 0, 0, 0)).find("num_workers must be greater than zero") !=
        std::string::npos);
  CHECK(elements(share(range(1), 2, 0, 2)).find("not enough for the required 2 shards") !=
        std::string::npos);
}

} // namespace troupe::dataset_graphs_test
