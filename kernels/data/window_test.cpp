// WindowDataset in graphs.
#include <doctest/doctest.h>

#include "kernels/data/internal/window.hpp"
#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("WindowDataset");

namespace troupe {
namespace {

struct WindowLines : testing::DatasetLines {
  WindowLines(std::int64_t elements, int size, int shift, int stride, bool drop) {
    add(testing::range_lines("r", elements));
    add(testing::constant("size", str_cat("i64[] ", size)));
    add(testing::constant("shift", str_cat("i64[] ", shift)));
    add(testing::constant("stride", str_cat("i64[] ", stride)));
    add(testing::constant("drop", drop ? "bool[] true" : "bool[] false"));
    function("batch", "w: variant", "b",
             str_cat(testing::constant("all", "i64[] 99"), testing::constant("no", "bool[] false"),
                     "b = BatchDatasetV2[output_types=[int64], output_shapes=[[?]]](w, all, no)"));
    add("w = WindowDataset[output_types=[variant], output_shapes=[[]]](r, size, shift, stride, "
        "drop)");
    add("d = FlatMapDataset[f=batch, output_types=[int64], output_shapes=[[?]]](w)");
    add("n = DatasetCardinality(w)");
  }
};

} // namespace

TEST_CASE("WindowDataset: sizes, shifts and strides") {
  const auto check = [](std::int64_t elements, int size, int shift, int stride, bool drop,
                        const std::vector<std::string>& expected) {
    WindowLines f(elements, size, shift, stride, drop);
    f.check("d", expected, {.cardinality = "-2"});
    CHECK(f.run({"n"}) == str_cat("ok i64[] ", expected.size()));
  };
  check(5, 2, 2, 1, false, {"i64[2] 0 1", "i64[2] 2 3", "i64[1] 4"});
  check(5, 2, 2, 1, true, {"i64[2] 0 1", "i64[2] 2 3"});
  check(6, 3, 2, 1, false, {"i64[3] 0 1 2", "i64[3] 2 3 4", "i64[2] 4 5"});
  check(7, 2, 1, 3, true, {"i64[2] 0 3", "i64[2] 1 4", "i64[2] 2 5", "i64[2] 3 6"});
  check(7, 2, 3, 2, false, {"i64[2] 0 2", "i64[2] 3 5", "i64[1] 6"});
  check(5, 1, 3, 1, true, {"i64[1] 0", "i64[1] 3"});
  check(2, 3, 1, 1, true, {});
  check(0, 3, 1, 1, false, {});
}

TEST_CASE("WindowDataset: sizes that are none") {
  for (const auto& [size, shift, stride, text] :
       std::vector<std::tuple<int, int, int, std::string>>{
           {0, 1, 1, "Window size must be greater than zero."},
           {1, 0, 1, "Window shift must be greater than zero."},
           {1, 1, -1, "Window stride must be greater than zero."}}) {
    WindowLines f(3, size, shift, stride, false);
    f.check_refused("w", text);
  }
}

TEST_CASE("WindowDataset: an error is its window's") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 6));
  f.function("inverse", "x: int64", "y",
             str_cat(testing::constant("one", "i64[] 1"), testing::constant("three", "i64[] 3"),
                     "at = Sub(x, three)\nq = FloorDiv(one, at)\nz = Sub(q, q)\ny = AddV2(x, z)"));
  f.function("flat", "w: variant", "w", "");
  f.add("m = MapDataset[f=inverse, output_types=[int64], output_shapes=[[]]](r)");
  f.add(testing::constant("two", "i64[] 2"));
  f.add(testing::constant("one", "i64[] 1"));
  f.add(testing::constant("no", "bool[] false"));
  f.add("w = WindowDataset[output_types=[variant], output_shapes=[[]]](m, two, two, one, no)");
  f.add("d = FlatMapDataset[f=flat, output_types=[int64], output_shapes=[[]]](w)");
  f.check("d", {"i64[] 0", "i64[] 1", "error INVALID_ARGUMENT", "i64[] 4", "i64[] 5"},
          {.cardinality = "-2"});
}

TEST_CASE("windows: one as it is written, read again") {
  const Tensor vector = Tensor::vector<std::int64_t>({-1, 2}),
               unknown = Tensor::scalar<std::int64_t>(-1);
  const Tensor row = Tensor::of<float>({1, 2}, {3, 4}), text = Tensor::scalar("a");
  const auto window = data::dataset_of_parts({"float,string", {vector, unknown, row, text}});
  REQUIRE(window.ok());
  CHECK((*window)->cardinality() == 1);
  CHECK((*window)->types() == std::vector<DType>{DType::float32, DType::string});
  CHECK((*window)->shapes()[0].to_string() == "[?,2]");
  CHECK(!(*window)->shapes()[1].has_rank());
  const auto parts = (*window)->parts();
  REQUIRE(parts.ok());
  CHECK(parts->metadata == "float,string");
  REQUIRE(parts->tensors.size() == 4);
  CHECK(parts->tensors[2].to_string(9) == "f32[1,2] 3 4");
}

TEST_CASE("windows: written forms that are none") {
  const Tensor vector = Tensor::vector<std::int64_t>({2}), row = Tensor::of<float>({2}, {3, 4});
  const Tensor negative = Tensor::vector<std::int64_t>({-2}), real = Tensor::vector<float>({2});
  const auto is_refused = [](VariantParts parts, Code code) {
    const auto read = data::dataset_of_parts(parts);
    return !read.ok() && read.status().code() == code;
  };
  CHECK(!is_refused({"float", {vector, row}}, Code::data_loss));
  CHECK(is_refused({"", {vector, row}}, Code::data_loss));
  CHECK(is_refused({"flat", {vector, row}}, Code::data_loss));
  CHECK(is_refused({"float", {}}, Code::data_loss));
  CHECK(is_refused({"float,float", {vector, vector, row}}, Code::data_loss));
  CHECK(is_refused({"float", {negative, row}}, Code::data_loss));
  CHECK(is_refused({"float", {real, row}}, Code::data_loss));
  CHECK(is_refused({"int64", {vector, row}}, Code::invalid_argument));
  CHECK(is_refused({"float", {vector, real}}, Code::invalid_argument));
}

} // namespace troupe
