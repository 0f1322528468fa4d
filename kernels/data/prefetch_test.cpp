// PrefetchDataset, MapAndBatchDataset, and datasets that change no element: OptionsDataset and the
// like.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("PrefetchDataset MapAndBatchDataset OptionsDataset OptimizeDataset",
                     "OptimizeDatasetV2 ModelDataset RewriteDataset FinalizeDataset",
                     "MaxIntraOpParallelismDataset PrivateThreadPoolDataset",
                     "AssertCardinalityDataset IgnoreErrorsDataset UniqueDataset");

namespace troupe {
namespace {

struct AheadLines : testing::DatasetLines {
  explicit AheadLines(std::int64_t elements = 5) {
    add(testing::range_lines("r", elements));
    for (const char* n : {"0", "1", "2", "4"})
      add(testing::constant(str_cat("n", n), str_cat("i64[] ", n)));
    add(testing::constant("auto", "i64[] -1"));
    add(testing::constant("wrong", "i64[] -2"));
    add(testing::constant("yes", "bool[] true"));
    add(testing::constant("no", "bool[] false"));
    add(testing::constant("texts", R"(str[2] "a" "b")"));
    add(testing::constant("text", R"(str[] "a")"));
    function("inverse", "x: int64", "y",
             str_cat(testing::constant("six", "i64[] 6"), testing::constant("one", "i64[] 1"),
                     "at = Sub(x, one)\ny = FloorDiv(six, at)"));
  }
};

const std::vector<std::string> five{"i64[] 0", "i64[] 1", "i64[] 2", "i64[] 3", "i64[] 4"};

} // namespace

TEST_CASE("PrefetchDataset: the same elements, whatever the size") {
  for (const char* size : {"n0", "n1", "n4", "auto"}) {
    AheadLines f;
    f.add(str_cat("d = PrefetchDataset", testing::of_int64, "(r, ", size, ")"));
    f.check("d", five);
  }
  AheadLines f;
  f.add(str_cat("d = PrefetchDataset", testing::of_int64, "(r, wrong)"));
  f.check_refused("d", "buffer_size");
}

TEST_CASE("PrefetchDataset: errors come in their places") {
  AheadLines f(4);
  f.add("m = MapDataset[f=inverse, output_types=[int64], output_shapes=[[]]](r)");
  f.add(str_cat("d = PrefetchDataset", testing::of_int64, "(m, n2)"));
  f.check("d", {"i64[] -6", "error INVALID_ARGUMENT", "i64[] 6", "i64[] 3"}, {.cardinality = "-2"});
}

TEST_CASE("PrefetchDataset: an iterator that ends early ends what is under way") {
  AheadLines f(1000);
  f.add(str_cat("a = PrefetchDataset", testing::of_int64, "(r, auto)"));
  f.add(str_cat("d = PrefetchDataset", testing::of_int64, "(a, n4)"));
  for (int i = 0; i < 20; ++i)
    CHECK(f.elements("d", 3) == std::vector<std::string>{"i64[] 0", "i64[] 1", "i64[] 2"});
}

TEST_CASE("MapAndBatchDataset: results in batches") {
  const auto check = [](std::string_view inputs, const std::vector<std::string>& expected,
                        std::string_view attrs = "",
                        const testing::DatasetFacts& facts = {.cardinality = "-2"}) {
    AheadLines f;
    f.function("next", "x: int64", "y",
               str_cat(testing::constant("one", "i64[] 1"), "y = AddV2(x, one)"));
    f.add(str_cat("d = MapAndBatchDataset[f=next, output_types=[int64], output_shapes=[[?]]", attrs,
                  "](r, ", inputs, ")"));
    f.check("d", expected, facts);
  };
  check("n2, n1, no", {"i64[2] 1 2", "i64[2] 3 4", "i64[1] 5"});
  check("n2, n4, yes", {"i64[2] 1 2", "i64[2] 3 4"});
  check("n4, auto, no", {"i64[4] 1 2 3 4", "i64[1] 5"}, ", preserve_cardinality=true", {});
}

TEST_CASE("MapAndBatchDataset: a batch with an error is not given") {
  AheadLines f;
  f.add("d = MapAndBatchDataset[f=inverse, output_types=[int64], output_shapes=[[?]]](r, n2, n2, "
        "no)");
  f.check("d", {"error INVALID_ARGUMENT", "i64[2] 6 3", "i64[1] 2"}, {.cardinality = "-2"});
}

TEST_CASE("MapAndBatchDataset: what is refused") {
  for (const auto& [inputs, text] : std::vector<std::pair<std::string, std::string>>{
           {"n0, n1, no", "batch_size must be greater than zero."},
           {"n1, n0, no", "num_parallel_calls must be greater than zero."}}) {
    AheadLines f;
    f.add(
        str_cat("d = MapAndBatchDataset[f=inverse, output_types=[int64], output_shapes=[[?]]](r, ",
                inputs, ")"));
    f.check_refused("d", text);
  }
}

TEST_CASE("datasets that ask for no other elements") {
  for (const char* line :
       {"OptimizeDataset[output_types=[int64], output_shapes=[[]]](r, texts)",
        "OptimizeDatasetV2[output_types=[int64], output_shapes=[[]]](r, texts, texts, texts)",
        "ModelDataset[output_types=[int64], output_shapes=[[]]](r)",
        "RewriteDataset[output_types=[int64], output_shapes=[[]]](r, text)",
        "FinalizeDataset[output_types=[int64], output_shapes=[[]]](r)",
        "MaxIntraOpParallelismDataset[output_types=[int64], output_shapes=[[]]](r, n1)",
        "PrivateThreadPoolDataset[output_types=[int64], output_shapes=[[]]](r, n2)",
        "OptionsDataset[output_types=[int64], output_shapes=[[]], serialized_options=\"\"](r)"}) {
    AheadLines f;
    f.add(str_cat("d = ", line));
    f.check("d", five);
  }
}

TEST_CASE("OptionsDataset: without order where its options say so, the outermost ones first") {
  constexpr auto off = R"(serialized_options="\x08\x00")", on = R"(serialized_options="\x08\x01")";
  AheadLines f(40);
  f.function("next", "x: int64", "y",
             str_cat(testing::constant("one", "i64[] 1"), "y = AddV2(x, one)"));
  f.add("m = ParallelMapDatasetV2[f=next, output_types=[int64], output_shapes=[[]]](r, n4)");
  f.add(str_cat("a = OptionsDataset[output_types=[int64], output_shapes=[[]], ", off, "](m)"));
  f.add(str_cat("b = OptionsDataset[output_types=[int64], output_shapes=[[]], ", on, "](a)"));
  const auto in_order = f.elements("m");
  CHECK(f.elements("b") == in_order);
  f.check("a", in_order, {.cardinality = "-2", .is_unordered = true});
  AheadLines g;
  g.add("d = OptionsDataset[output_types=[int64], output_shapes=[[]], "
        "serialized_options=\"\\xff\"](r)");
  g.check_refused("d", "Could not parse serialized_options as a valid Options message.");
}

TEST_CASE("options: numbers that are none") {
  AheadLines f;
  f.add(str_cat("d = MaxIntraOpParallelismDataset", testing::of_int64, "(r, wrong)"));
  f.check_refused("d", "`max_intra_op_parallelism` must be greater than or equal to zero.");
  f.add(str_cat("e = PrivateThreadPoolDataset", testing::of_int64, "(r, wrong)"));
  f.check_refused("e", "`num_threads` must be greater than or equal to zero.");
}

TEST_CASE("AssertCardinalityDataset: too few, too many, as many") {
  AheadLines f(2);
  const auto add = [&](const char* name, const char* count) {
    f.add(str_cat(name, " = AssertCardinalityDataset", testing::of_int64, "(r, ", count, ")"));
  };
  add("a", "n2");
  f.check("a", {"i64[] 0", "i64[] 1"});
  add("b", "n1");
  CHECK(
      f.elements("b", 2)[1].find("Input dataset was expected to contain 1 element but contained at "
                                 "least 2 elements.") != std::string::npos);
  add("c", "n4");
  CHECK(f.elements("c", 3)[2].find("Input dataset was expected to contain 4 elements but contained "
                                   "only 2 elements.") != std::string::npos);
  add("d", "auto");
  CHECK(f.elements("d", 3)[2].find("Input dataset was expected to contain an infinite number of "
                                   "elements but contained only 2 elements.") != std::string::npos);
}

TEST_CASE("IgnoreErrorsDataset: without the elements that fail") {
  AheadLines f(4);
  f.add("m = MapDataset[f=inverse, output_types=[int64], output_shapes=[[]]](r)");
  f.add(str_cat("d = IgnoreErrorsDataset", testing::of_int64, "(m)"));
  f.check("d", {"i64[] -6", "i64[] 6", "i64[] 3"}, {.cardinality = "-2"});
}

TEST_CASE("UniqueDataset: each element once") {
  testing::DatasetLines f;
  f.add(testing::constant("a", "i64[6] 3 1 3 2 1 3"));
  f.add(testing::constant("b", R"(str[4] "x" "" "x" "y")"));
  f.add(testing::constant("c", "f32[1] 1"));
  f.add("s = TensorSliceDataset[output_shapes=[[]]](a)");
  f.add("t = TensorSliceDataset[output_shapes=[[]]](b)");
  f.add("u = TensorSliceDataset[output_shapes=[[]]](c)");
  f.add(str_cat("d = UniqueDataset", testing::of_int64, "(s)"));
  f.check("d", {"i64[] 3", "i64[] 1", "i64[] 2"}, {.cardinality = "-2"});
  f.add("e = UniqueDataset[output_types=[string], output_shapes=[[]]](t)");
  f.check("e", {R"(str[] "x")", R"(str[] "")", R"(str[] "y")"}, {.cardinality = "-2"});
  f.add("g = UniqueDataset[output_types=[float], output_shapes=[[]]](u)");
  f.check_refused("g", "`tf.int32`, `tf.int64`, or `tf.string`");
}

} // namespace troupe
