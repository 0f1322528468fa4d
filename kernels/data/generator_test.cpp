// GeneratorDataset in graphs. Its functions count in a queue: one that is empty would wait, a
// closed one ends OUT_OF_RANGE.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("GeneratorDataset");

namespace troupe {
namespace {

struct GeneratorLines : testing::DatasetLines {
  GeneratorLines() {
    add("q = FIFOQueueV2[component_types=[int64], shapes=[[]], shared_name=\"q\"]()");
    add(testing::constant("numbers", "i64[3] 1 2 3"));
    add("put = QueueEnqueueManyV2[Tcomponents=[int64]](q, numbers)");
    add("close = QueueCloseV2(q)");
    add("ended = FIFOQueueV2[component_types=[int64], shapes=[[]], shared_name=\"ended\"]()");
    add("count = QueueSizeV2(ended)");
    add(testing::constant("hundred", "i64[] 100"));
    function("init", "by: int64", "by", "");
    function("next", "by: int64, q: resource", "y",
             "n = QueueDequeueV2[component_types=[int64]](q)\ny = AddV2(n, by)");
    function("two", "by: int64, q: resource", "by, by", "");
    function("inverse", "by: int64, q: resource", "y",
             "n = QueueDequeueV2[component_types=[int64]](q)\n" +
                 testing::constant("three", "i64[] 3") +
                 "at = Sub(n, three)\ny = FloorDiv(by, at)");
    function("tell", "by: int64, ended: resource", "by, ^told",
             "told = QueueEnqueueV2[Tcomponents=[int64]](ended, by)");
  }
  void generate(std::string_view next) {
    add(str_cat(
        "d = GeneratorDataset[init_func=init, next_func=", next,
        ", finalize_func=tell, Tinit_func_args=[int64], Tnext_func_args=[resource], "
        "Tfinalize_func_args=[resource], output_types=[int64], output_shapes=[[]]](hundred, "
        "q, ended)"));
  }
};

} // namespace

TEST_CASE(
    "GeneratorDataset: elements of a function until it has no more, and its last function once") {
  GeneratorLines f;
  f.generate("next");
  REQUIRE(f.run({"^put"}) == "ok");
  REQUIRE(f.run({"^close"}) == "ok");
  CHECK(f.elements("d") == std::vector<std::string>{"i64[] 101", "i64[] 102", "i64[] 103"});
  CHECK(f.elements("d").empty());
  CHECK(f.run({"count"}) == "ok i32[] 2");
}

TEST_CASE(
    "GeneratorDataset: an iterator that goes away before its end calls the last function, too") {
  GeneratorLines f;
  f.generate("next");
  f.add("told = QueueDequeueV2[component_types=[int64]](ended)");
  REQUIRE(f.run({"^put"}) == "ok");
  CHECK(f.elements("d", 1) == std::vector<std::string>{"i64[] 101"});
  REQUIRE(f.run({"^d_make"}) == "ok"); // another iteration in its place
  CHECK(f.run({"told"}) == "ok i64[] 100");
}

TEST_CASE("GeneratorDataset: an error is an element's, and the next one follows") {
  GeneratorLines f;
  f.generate("inverse");
  REQUIRE(f.run({"^put"}) == "ok");
  REQUIRE(f.run({"^close"}) == "ok");
  const auto elements = f.elements("d");
  REQUIRE(elements.size() == 3);
  CHECK(elements[0] == "i64[] -50");
  CHECK(elements[1] == "i64[] -100");
  CHECK(elements[2].find("division by zero") != std::string::npos);
}

TEST_CASE("GeneratorDataset: what is refused") {
  GeneratorLines f, g;
  f.generate("two");
  CHECK(f.elements("d", 1)[0].find("Number of components does not match") != std::string::npos);
  g.generate("next");
  REQUIRE(g.run({"^put"}) == "ok");
  CHECK(g.elements("d", 1).size() == 1);
  CHECK(g.run({"d_state"}).find("GeneratorDataset does not support checkpointing.") !=
        std::string::npos);
}

} // namespace troupe
