// BatchDataset, BatchDatasetV2, ParallelBatchDataset, PaddedBatchDataset, PaddedBatchDatasetV2,
// UnbatchDataset in graphs.
#include <doctest/doctest.h>

#include <array>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("BatchDataset BatchDatasetV2 PaddedBatchDataset PaddedBatchDatasetV2",
                     "ParallelBatchDataset UnbatchDataset");

namespace troupe {
namespace {

struct BatchLines : testing::DatasetLines {
  BatchLines() {
    add(testing::range_lines("r", 5));
    for (const char* n : {"0", "2", "5", "9"})
      add(testing::constant(str_cat("n", n), str_cat("i64[] ", n)));
    add(testing::constant("less", "i64[] -1"));
    add(testing::constant("pair", "i64[2] 1 2"));
    add(testing::constant("yes", "bool[] true"));
    add(testing::constant("no", "bool[] false"));
    // 1, 2 2, 3 3 3 …
    function("rows", "x: int64", "y",
             str_cat(testing::constant("one", "i64[] 1"), testing::constant("at", "i32[] 0"),
                     "n = AddV2(x, one)\ns = ExpandDims(n, at)\ny = Fill[index_type=int64](s, n)"));
    add("m = MapDataset[f=rows, output_types=[int64], output_shapes=[[?]]](r)");
  }
};

} // namespace

TEST_CASE("batches: whole ones, and what is left") {
  const auto check = [](std::string_view op, std::string_view inputs,
                        const std::vector<std::string>& expected) {
    BatchLines f;
    f.add(str_cat("d = ", op, "[output_types=[int64], output_shapes=[[?]]](r, ", inputs, ")"));
    f.check("d", expected);
  };
  check("BatchDataset", "n2", {"i64[2] 0 1", "i64[2] 2 3", "i64[1] 4"});
  check("BatchDatasetV2", "n2, no", {"i64[2] 0 1", "i64[2] 2 3", "i64[1] 4"});
  check("BatchDatasetV2", "n2, yes", {"i64[2] 0 1", "i64[2] 2 3"});
  check("BatchDatasetV2", "n5, yes", {"i64[5] 0 1 2 3 4"});
  check("BatchDatasetV2", "n9, no", {"i64[5] 0 1 2 3 4"});
  check("BatchDatasetV2", "n9, yes", {});
  check("ParallelBatchDataset", "n2, n2, no", {"i64[2] 0 1", "i64[2] 2 3", "i64[1] 4"});
  check("ParallelBatchDataset", "n2, less, yes", {"i64[2] 0 1", "i64[2] 2 3"});
}

TEST_CASE("batches: elements of different shapes are refused") {
  BatchLines f;
  f.add("d = BatchDatasetV2[output_types=[int64], output_shapes=[[?,?]]](m, n2, no)");
  f.check("d",
          {"error Cannot batch tensors with different shapes in component 0. First element had "
           "shape [1] and element 1 had shape [2].",
           "error First element had shape [3] and element 1 had shape [4].", "i64[1,5] 5 5 5 5 5"},
          {.cardinality = "-2"});
}

TEST_CASE("batches: sizes that are none") {
  for (const char* op : {"BatchDataset", "BatchDatasetV2"}) {
    const char* more = op == std::string_view("BatchDatasetV2") ? ", no" : "";
    for (const auto& [size, text] : std::vector<std::pair<std::string, std::string>>{
             {"n0", "atch size must be greater than zero."},
             {"less", "atch size must be greater than zero."},
             {"pair", "batch_size"}}) {
      BatchLines f;
      f.add(
          str_cat("d = ", op, "[output_types=[int64], output_shapes=[[?]]](r, ", size, more, ")"));
      f.check_refused("d", text);
    }
  }
}

TEST_CASE("ParallelBatchDataset: numbers of calls, and orders, that are none") {
  for (const auto& [attrs, inputs, text] : std::vector<std::array<std::string, 3>>{
           {"", "n0, n2, no", "atch size must be greater than zero."},
           {"", "n2, n0, no", "num_parallel_calls must be greater than zero."},
           {", deterministic=\"maybe\"", "n2, n2, no", "maybe"}}) {
    BatchLines f;
    f.add(str_cat("d = ParallelBatchDataset[output_types=[int64], output_shapes=[[?]]", attrs,
                  "](r, ", inputs, ")"));
    f.check_refused("d", text);
  }
}

TEST_CASE("padded batches: to the longest, and to a given length") {
  BatchLines f;
  f.add(testing::constant("open", "i64[1] -1"));
  f.add(testing::constant("six", "i64[1] 6"));
  f.add(testing::constant("zero", "i64[] 0"));
  f.add(testing::constant("dot", "i64[] 7"));
  constexpr auto attrs = "[output_shapes=[[?,?]], N=1, Toutput_types=[int64]]";
  f.add(str_cat("a = PaddedBatchDataset", attrs, "(m, n2, open, zero)"));
  f.add(str_cat("b = PaddedBatchDatasetV2", attrs, "(m, n2, open, dot, yes)"));
  f.add(str_cat("c = PaddedBatchDatasetV2", attrs, "(m, n5, six, dot, no)"));
  f.check("a", {"i64[2,2] 1 0 2 2", "i64[2,4] 3 3 3 0 4 4 4 4", "i64[1,5] 5 5 5 5 5"},
          {.cardinality = "-2"});
  f.check("b", {"i64[2,2] 1 7 2 2", "i64[2,4] 3 3 3 7 4 4 4 4"}, {.cardinality = "-2"});
  f.check("c", {"i64[5,6] 1 7 7 7 7 7 2 2 7 7 7 7 3 3 3 7 7 7 4 4 4 4 7 7 5 5 5 5 5 7"},
          {.cardinality = "-2"});
}

TEST_CASE("padded batches: matrices and texts") {
  testing::DatasetLines f;
  f.add(testing::constant("a", R"(str[2,1,2] "p" "q" "r" "s")"));
  f.add(testing::constant("open", "i64[2] 2 3"));
  f.add(testing::constant("two", "i64[] 2"));
  f.add(testing::constant("no", "bool[] false"));
  f.add(testing::constant("empty", R"(str[] "")"));
  f.add(testing::constant("dash", R"(str[] "-")"));
  f.add("s = TensorSliceDataset[output_shapes=[[1,2]]](a)");
  constexpr auto attrs = "[output_shapes=[[?,2,3]], N=1, Toutput_types=[string]]";
  f.add(str_cat("d = PaddedBatchDatasetV2", attrs, "(s, two, open, dash, no)"));
  f.add(str_cat("e = PaddedBatchDatasetV2", attrs, "(s, two, open, empty, no)"));
  f.check("d", {R"(str[2,2,3] "p" "q" "-" "-" "-" "-" "r" "s" "-" "-" "-" "-")"});
  f.check("e", {R"(str[2,2,3] "p" "q" "" "" "" "" "r" "s" "" "" "" "")"});
}

TEST_CASE("padded batches: what is refused") {
  const auto refused = [](std::string_view inputs, std::string_view text) {
    BatchLines f;
    f.add(testing::constant("one", "i64[1] 1"));
    f.add(testing::constant("open", "i64[1] -1"));
    f.add(testing::constant("matrix", "i64[2] -1 -1"));
    f.add(testing::constant("wrong", "i64[1] -2"));
    f.add(testing::constant("values", "i64[2] 1 2"));
    f.add(str_cat("d = PaddedBatchDatasetV2[output_shapes=[[?,?]], N=1, Toutput_types=[int64]](m, ",
                  inputs, ", no)"));
    const std::string said = f.run({"^d"});
    const std::string all = said == "ok" ? f.elements("d", 1)[0] : said;
    CHECK_MESSAGE(all.find(text) != std::string::npos, all);
  };
  refused("n2, one, n0", "Attempted to pad to a smaller size than the input element.");
  refused("n2, matrix, n0", "All elements in a batch must have the same rank as the padded shape");
  refused("n0, open, n0", "Batch size must be greater than zero.");
  refused("n2, wrong, n0", "Dimension -2 must be >= -1");
  refused("n2, n2, n0", "All padded shapes must be vectors");
  refused("n2, open, values", "All padding values must be scalars");
}

TEST_CASE("UnbatchDataset: rows of elements of any lengths") {
  BatchLines f;
  f.add(str_cat("d = UnbatchDataset", testing::of_int64, "(m)"));
  f.check("d",
          {"i64[] 1", "i64[] 2", "i64[] 2", "i64[] 3", "i64[] 3", "i64[] 3", "i64[] 4", "i64[] 4",
           "i64[] 4", "i64[] 4", "i64[] 5", "i64[] 5", "i64[] 5", "i64[] 5", "i64[] 5"},
          {.cardinality = "-2"});
}

TEST_CASE("UnbatchDataset: its cardinality where all elements have as many rows") {
  testing::DatasetLines f;
  f.add(testing::constant("a", "i64[2,3] 1 2 3 4 5 6"));
  f.add(testing::constant("b", "f32[2,3] 1 2 3 4 5 6"));
  f.add("s = TensorSliceDataset[output_shapes=[[3],[3]]](a, b)");
  f.add("d = UnbatchDataset[output_types=[int64,float], output_shapes=[[],[]]](s)");
  f.check("d", {"i64[] 1 f32[] 1", "i64[] 2 f32[] 2", "i64[] 3 f32[] 3", "i64[] 4 f32[] 4",
                "i64[] 5 f32[] 5", "i64[] 6 f32[] 6"});
}

TEST_CASE("UnbatchDataset: what is refused") {
  testing::DatasetLines f;
  f.add(testing::constant("a", "i64[2,3] 1 2 3 4 5 6"));
  f.add(testing::constant("b", "f32[2,2] 1 2 3 4"));
  f.add("s = TensorSliceDataset[output_shapes=[[3],[2]]](a, b)");
  f.add("d = UnbatchDataset[output_types=[int64,float], output_shapes=[[],[]]](s)");
  CHECK(f.elements("d", 1)[0].find("Input element must have the same batch size in each component. "
                                   "Component 0 had size 3 but component 1 had size, 2.") !=
        std::string::npos);
  BatchLines scalars;
  scalars.add(str_cat("d = UnbatchDataset", testing::of_int64, "(r)"));
  CHECK(scalars.elements("d", 1)[0].find(
            "Input element must have a non-scalar value in each component.") != std::string::npos);
}

} // namespace troupe
