// MapDataset, ParallelMapDataset and ParallelMapDatasetV2 in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("MapDataset ParallelMapDataset ParallelMapDatasetV2");

namespace troupe {
namespace {

/// How a kind of map is written: its op and what follows its input.
struct MapKind {
  const char* op;
  const char* more_inputs = "";
  const char* more_attrs = "";
};
constexpr MapKind map_kinds[] = {
    {"MapDataset"},
    {"ParallelMapDataset", ", calls32"},
    {"ParallelMapDatasetV2", ", calls"},
    {"ParallelMapDatasetV2", ", auto", ", deterministic=\"true\""},
};

struct MapLines : testing::DatasetLines {
  explicit MapLines(std::int64_t elements = 5) {
    add(testing::range_lines("r", elements));
    add(testing::constant("calls32", "i32[] 2"));
    add(testing::constant("calls", "i64[] 3"));
    add(testing::constant("auto", "i64[] -1"));
    add(testing::constant("ten", "i64[] 10"));
    function("times", "x: int64, by: int64", "y", "y = Mul(x, by)");
    function("inverse", "x: int64", "y",
             str_cat(testing::constant("six", "i64[] 6"), "y = FloorDiv(six, x)"));
    function("to_third", "x: int64", "x",
             str_cat(testing::constant("two", "i64[] 2"), "ok = Less(x, two)\n",
                     "never = Placeholder[dtype=int64]()\n"));
  }
  void map(const MapKind& kind, std::string_view function, std::string_view captured = "",
           std::string_view attrs = "") {
    add(str_cat("d = ", kind.op, "[f=", function, ", output_types=[int64], output_shapes=[[]]",
                kind.more_attrs, attrs, "](r", captured, kind.more_inputs, ")"));
  }
};

} // namespace

TEST_CASE("maps: the function of each element, in order, with what it has captured") {
  for (const MapKind& kind : map_kinds) {
    CAPTURE(kind.op);
    MapLines f;
    f.map(kind, "times", ", ten");
    f.check("d", {"i64[] 0", "i64[] 10", "i64[] 20", "i64[] 30", "i64[] 40"},
            {.cardinality = "-2"});
  }
}

TEST_CASE("maps: the cardinality is the input's where it is kept") {
  for (const MapKind& kind : map_kinds) {
    MapLines f(3);
    f.map(kind, "times", ", ten", ", preserve_cardinality=true");
    f.check("d", {"i64[] 0", "i64[] 10", "i64[] 20"});
  }
}

TEST_CASE("maps: an error comes in its element's place, and those behind it come too") {
  for (const MapKind& kind : map_kinds) {
    CAPTURE(kind.op);
    MapLines f(4);
    f.map(kind, "inverse");
    f.check(
        "d",
        {str_cat("error INVALID_ARGUMENT: node 'd_next' (IteratorGetNext): Error in user-defined "
                 "function passed to ",
                 kind.op, " transformation"),
         "i64[] 6", "i64[] 3", "i64[] 2"},
        {.cardinality = "-2"});
  }
}

TEST_CASE("maps: elements of another type than the iterator's are refused") {
  for (const MapKind& kind : map_kinds) {
    MapLines f(1);
    f.function("to_float", "x: int64", "y", "y = Cast[DstT=float](x)");
    f.map(kind, "to_float");
    const auto got = f.elements("d", 1);
    CHECK(got[0].find("Data type mismatch at component 0: expected int64 but got float.") !=
          std::string::npos);
  }
}

TEST_CASE("maps: a function that is not there, or that takes other arguments") {
  for (const MapKind& kind : map_kinds) {
    MapLines absent, many;
    absent.map(kind, "nowhere");
    absent.check_refused("d", "Function nowhere is not defined.");
    many.map(kind, "times");
    CHECK(many.elements("d", 1)[0].find(
              "Expects 2 arguments, but 1 is provided to function times") != std::string::npos);
  }
}

TEST_CASE("maps: results in any order where none is asked for") {
  for (const MapKind& kind :
       {MapKind{"ParallelMapDataset", ", calls32", ", sloppy=true"},
        MapKind{"ParallelMapDatasetV2", ", calls", ", deterministic=\"false\""}}) {
    MapLines f;
    f.map(kind, "times", ", ten");
    f.check("d", {"i64[] 0", "i64[] 10", "i64[] 20", "i64[] 30", "i64[] 40"},
            {.cardinality = "-2", .is_unordered = true});
  }
}

TEST_CASE("maps: a state of the function lasts for one iteration") {
  for (const MapKind& kind : {map_kinds[0], map_kinds[1]}) {
    MapLines f(3);
    f.function("draw", "x: int64", "y",
               str_cat(testing::constant("none", "i32[0]"), testing::constant("low", "i64[] 0"),
                       testing::constant("high", "i64[] 1000"),
                       "y = RandomUniformInt[seed=3, seed2=4](none, low, high)"));
    f.map(kind, "draw");
    const auto first = f.elements("d");
    CHECK(first.size() == 3);
    CHECK((first[0] != first[1] || first[1] != first[2]));
    auto second = f.elements("d");
    if (std::string_view(kind.op) == "MapDataset")
      CHECK(first == second);
  }
}

TEST_CASE("maps: what is refused") {
  for (const auto& [inputs, text] : std::vector<std::pair<std::string, std::string>>{
           {"r, zero", "num_parallel_calls must be greater than zero."},
           {"r, less", "num_parallel_calls must be greater than zero."},
           {"r, many", "num_parallel_calls must be a scalar"}}) {
    MapLines f;
    f.add(testing::constant("zero", "i64[] 0"));
    f.add(testing::constant("less", "i64[] -2"));
    f.add(testing::constant("many", "i64[1] 2"));
    f.add(str_cat("d = ParallelMapDatasetV2[f=inverse, output_types=[int64], output_shapes=[[]]](",
                  inputs, ")"));
    f.check_refused("d", text);
  }
  MapLines f;
  f.map({"ParallelMapDatasetV2", ", calls", ", deterministic=\"maybe\""}, "inverse");
  f.check_refused("d", "maybe");
}

TEST_CASE("maps: an iterator that ends early ends what is under way") {
  for (const MapKind& kind : map_kinds) {
    MapLines f(1000);
    f.map(kind, "times", ", ten");
    for (int i = 0; i < 20; ++i)
      CHECK(f.elements("d", 1) == std::vector<std::string>{"i64[] 0"});
  }
}

} // namespace troupe
