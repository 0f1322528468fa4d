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
  struct Iterator {
    std::string begun, next;
  };
  Iterator iterate(Output dataset) {
    Iterator out{name("begun"), name("next")};
    AttrMap attrs = with(with(numbers, "shared_name", std::string()), "container", std::string());
    Output handle =
        root.named(name("it")).add("IteratorV2", std::vector<Output>{}, attrs).output(0);
    root.named(out.begun).add("MakeIterator", std::vector<Output>{dataset, handle}, AttrMap());
    root.named(out.next).add("IteratorGetNext", std::vector<Output>{handle}, numbers);
    return out;
  }
  Session open() {
    auto session = Session::open("local");
    REQUIRE(session.ok());
    REQUIRE(session->extend(root).ok());
    return *std::move(session);
  }
  static std::string rest(Session& session, const Iterator& iterator) {
    std::string out;
    for (;;) {
      auto got = session.run({}, {iterator.next + ":0"});
      if (got.status().code() == Code::out_of_range)
        return out;
      if (!got.ok())
        return got.status().to_string();
      str_append(out, out.empty() ? "" : " ", (*got)[0].value<std::int64_t>());
    }
  }
  // All elements, or the error.
  std::string elements(Output dataset) {
    const Iterator iterator = iterate(dataset);
    Session session = open();
    if (auto made = session.run({}, {}, {iterator.begun}); !made.ok())
      return made.status().to_string();
    return rest(session, iterator);
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
                  "dataset graphs: each place of a shuffle has its seeds from their beginning") {
  Output d = make("ShuffleDataset", {range(9), number(9), number(1), number(1)}, numbers);
  const std::string once = elements(d);
  CHECK(once.size() == 17);
  CHECK(once != "0 1 2 3 4 5 6 7 8");
  Output taken = make("TakeDataset", {d, number(9)}, numbers); // another way to it
  Output both = make("ConcatenateDataset", {taken, d}, numbers);
  CHECK(elements(both) == once + " " + once);
  // One dataset, and two ways through that begin in one step.
  const Iterator a = iterate(d), b = iterate(d);
  Session session = open();
  for (int round = 0; round < 2; ++round) {
    REQUIRE(session.run({}, {}, {a.begun, b.begun}).ok());
    CHECK(rest(session, a) == once);
    CHECK(rest(session, b) == once);
  }
  // Of its own, each time round: the next seeds.
  const std::string twice = elements(make("RepeatDataset", {d, number(2)}, numbers));
  CHECK(twice.starts_with(once + " "));
  CHECK(twice != once + " " + once);
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
