// ParseExampleDataset, ParseExampleDatasetV2, ExperimentalParseExampleDataset in graphs.
#include <doctest/doctest.h>

#include "kernels/parsing/testing/examples.hpp"
#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("ParseExampleDataset ParseExampleDatasetV2 ExperimentalParseExampleDataset");

namespace troupe {
namespace {

constexpr const char* all_versions[] = {"ParseExampleDataset", "ParseExampleDatasetV2",
                                        "ExperimentalParseExampleDataset"};

struct ExampleLines : testing::DatasetLines {
  ExampleLines() {
    using testing::bytes_feature, testing::example, testing::float_feature, testing::int_feature;
    add(testing::constant(
        "messages",
        testing::texts({example({{"n", int_feature({1})}, {"w", bytes_feature({"x", "y"})}}),
                        example({{"n", int_feature({2})}, {"r", float_feature({1, 2, 3})}}),
                        example({{"w", bytes_feature({"z"})}, {"r", float_feature({4})}})})));
    add(testing::constant("wrong", testing::texts({example({{"n", float_feature({1})}}), "\xff"})));
    add(testing::constant("n0", "i64[] 0"));
    add(testing::constant("n2", "i64[] 2"));
    add(testing::constant("less", "i64[] -1"));
    add(testing::constant("no", "bool[] false"));
    add(testing::constant("seven", "i64[] 7"));
    add(testing::constant("pair", "i64[2] 7 8"));
    add(testing::constant("needed", "i64[0]"));
    add("s = TensorSliceDataset[output_shapes=[[]]](messages)");
    add("e = BatchDatasetV2[output_types=[string], output_shapes=[[?]]](s, n2, no)");
    add("bad = TensorSliceDataset[output_shapes=[[]]](wrong)");
    add("bad_e = BatchDatasetV2[output_types=[string], output_shapes=[[?]]](bad, n1, no)");
    add(testing::constant("n1", "i64[] 1"));
    add(testing::range_lines("r", 3));
    function("apart", "n: int64, w: variant", "n, p, p:1, p:2",
             "p = DeserializeSparse[dtype=string, Tserialized=variant](w)");
    function("rows", "n: int64, r: variant", "n, p, p:1",
             "p = RaggedTensorFromVariant[input_ragged_rank=1, output_ragged_rank=1, "
             "Tvalues=float, Tsplits=int64](r)");
  }
  void parse(std::string_view op, std::string_view attrs, std::string_view inputs,
             std::string_view types, std::string_view shapes) {
    add(str_cat("d = ", op, "[", attrs, ", output_types=[", types, "], output_shapes=[", shapes,
                "]](", inputs, ")"));
  }
};

constexpr auto dense = R"(sparse_keys=[], sparse_types=[], dense_keys=["n"], )"
                       R"(Tdense=[int64], dense_shapes=[[]])";
constexpr auto with_texts = R"(sparse_keys=["w"], sparse_types=[string], )"
                            R"(dense_keys=["n"], Tdense=[int64], dense_shapes=[[]])";

} // namespace

TEST_CASE("ParseExampleDataset: dense features of each element") {
  for (const char* op : all_versions)
    for (const char* calls : {"n2", "less"}) {
      ExampleLines f;
      f.parse(op, dense, str_cat("e, ", calls, ", seven"), "int64", "[?]");
      f.check("d", {"i64[2] 1 2", "i64[1] 7"});
    }
}

TEST_CASE("ParseExampleDataset: sparse features, in the order of all keys") {
  for (const char* op : all_versions) {
    ExampleLines f;
    f.parse(op, with_texts, "e, n2, seven", "int64, variant", "[?], [3]");
    f.add("m = MapDataset[f=apart, output_types=[int64, int64, string, int64], "
          "output_shapes=[?, ?, ?, ?]](d)");
    f.check("m",
            {R"(i64[2] 1 2 i64[2,2] 0 0 0 1 str[2] "x" "y" i64[2] 2 2)",
             R"(i64[1] 7 i64[1,2] 0 0 str[1] "z" i64[2] 1 1)"},
            {.cardinality = "-2"});
  }
}

TEST_CASE("ParseExampleDataset: ragged features") {
  for (const char* op : {"ParseExampleDataset", "ParseExampleDatasetV2"}) {
    ExampleLines f;
    f.parse(op,
            str_cat(dense, R"(, ragged_keys=["r"], ragged_value_types=[float], )"
                           R"(ragged_split_types=[int64])"),
            "e, n2, seven", "int64, variant", "[?], []");
    f.add("m = MapDataset[f=rows, output_types=[int64, int64, float], output_shapes=[?, ?, ?]](d)");
    f.check("m", {"i64[2] 1 2 i64[3] 0 0 3 f32[3] 1 2 3", "i64[1] 7 i64[2] 0 1 f32[1] 4"},
            {.cardinality = "-2"});
  }
}

TEST_CASE("ParseExampleDataset: elements of several components are one batch") {
  ExampleLines f;
  f.add("z = ZipDataset[output_types=[string, string], output_shapes=[[], []]](s, s)");
  f.parse("ParseExampleDatasetV2", dense, "z, n2, seven", "int64", "[?]");
  f.check("d", {"i64[2] 1 1", "i64[2] 2 2", "i64[2] 7 7"});
}

TEST_CASE("ParseExampleDataset: messages that are wrong") {
  ExampleLines f, g;
  f.parse("ParseExampleDatasetV2", dense, "bad_e, n2, seven", "int64", "[?]");
  f.check("d", {"error Key: n, Index: 0.  Data types don't match.",
                "error Could not parse example input"});
  g.parse("ParseExampleDatasetV2", dense, "e, n2, needed", "int64", "[?]");
  g.check("d", {"i64[2] 1 2", "error Feature: n (data type: int64) is required but could not be "
                              "found."});
}

TEST_CASE("ParseExampleDataset: what is refused") {
  const auto refused = [](std::string_view attrs, std::string_view inputs, std::string_view text) {
    ExampleLines f;
    f.parse("ParseExampleDatasetV2", attrs, inputs, "int64", "[?]");
    f.check_refused("d", text);
  };
  refused(dense, "r, n2, seven", "elements of strings only");
  refused(dense, "e, n0, seven", "num_parallel_calls must be greater than zero.");
  refused(dense, "e, n2, pair", "def_value[0].shape() == [2] is not compatible with");
  refused(str_cat(dense, R"(, deterministic="maybe")"), "e, n2, seven", "maybe");
  refused(R"(sparse_keys=["n"], sparse_types=[string], )"
          R"(dense_keys=["n"], Tdense=[int64], dense_shapes=[[]])",
          "e, n2, seven", "Duplicate key not allowed: n");
  refused(R"(sparse_keys=["w"], sparse_types=[], dense_keys=["n"], )"
          R"(Tdense=[int64], dense_shapes=[[]])",
          "e, n2, seven", "Expected len(sparse_keys) == len(sparse_types) but got: 1 vs. 0");
}

} // namespace troupe
