// TensorDataset and TensorSliceDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("TensorDataset TensorSliceDataset");

namespace troupe {
namespace {

constexpr auto inputs = R"(
  a = Const[dtype=int32, value=i32[2,2] 1 2 3 4]()
  b = Const[dtype=string, value=str[2] "x" "y"]()
  s = Const[dtype=float, value=f32[] 5]()
  t = Const[dtype=float, value=f32[3] 5 6 7]()
  none = Const[dtype=float, value=f32[0,3]]()
)";

std::string dataset(std::string_view op, std::string_view args, std::string_view shapes) {
  return str_cat(inputs, "d = ", op, "[output_shapes=[", shapes, "]](", args, ")\n");
}

} // namespace

TEST_CASE("TensorDataset: its components once") {
  testing::DatasetLines f;
  f.add(dataset("TensorDataset", "a, b, s", "[2,2], [?], []"));
  f.check("d", {R"(i32[2,2] 1 2 3 4 str[2] "x" "y" f32[] 5)"});
}

TEST_CASE("TensorDataset: what is refused") {
  testing::DatasetLines count, shape;
  count.add(dataset("TensorDataset", "a, b", "[2,2]"));
  count.check_refused("d", "Number of components does not match");
  shape.add(dataset("TensorDataset", "a", "[3,2]"));
  shape.check_refused("d", "Incompatible shapes at component 0: expected [3,2] but got [2,2].");
}

TEST_CASE("TensorSliceDataset: the rows of its components") {
  testing::DatasetLines f;
  f.add(dataset("TensorSliceDataset", "a, b", "[2], []"));
  f.check("d", {R"(i32[2] 1 2 str[] "x")", R"(i32[2] 3 4 str[] "y")"});
  testing::DatasetLines empty;
  empty.add(dataset("TensorSliceDataset", "none", "[3]"));
  empty.check("d", {});
}

TEST_CASE("TensorSliceDataset: what is refused") {
  const auto refused = [](std::string_view args, std::string_view shapes, std::string_view text) {
    testing::DatasetLines f;
    f.add(dataset("TensorSliceDataset", args, shapes));
    f.check_refused("d", text);
  };
  refused("s", "[]", "All components must be at least 1-dimensional");
  refused("a, t", "[2], []", "All components must have the same size in the 0th dimension");
  refused("a", "[3]", "Incompatible shapes at component 0: expected [3] but got [2].");
  refused("a, b", "[2]", "Number of components does not match");
}

} // namespace troupe
