// ListDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("ListDataset");

namespace troupe {
namespace {

struct ListLines : testing::DatasetLines {
  ListLines(std::string_view types, std::string_view shapes, std::string_view inputs) {
    add(testing::constant("one", "i32[] 1"));
    add(testing::constant("two", "i32[] 2"));
    add(testing::constant("pair", "i32[2] 3 4"));
    add(testing::constant("a", R"(str[] "a")"));
    add(testing::constant("b", R"(str[] "b")"));
    add(str_cat("d = ListDataset[output_types=[", types, "], output_shapes=[", shapes, "]](",
                inputs, ")"));
  }
};

} // namespace

TEST_CASE("ListDataset: tensors in their order, so many for each element") {
  ListLines one("int32", "?", "one, pair, two");
  one.check("d", {"i32[] 1", "i32[2] 3 4", "i32[] 2"});
  ListLines two("int32, string", "[], []", "one, a, two, b");
  two.check("d", {R"(i32[] 1 str[] "a")", R"(i32[] 2 str[] "b")"});
}

TEST_CASE("ListDataset: what is refused") {
  ListLines odd("int32, string", "[], []", "one, a, two");
  odd.check_refused("d", "the list has 3 tensors, which make no elements of 2 components");
  ListLines type("int32, string", "[], []", "one, a, b, two");
  type.check_refused("d", "Data type mismatch at component 0: expected int32 but got string.");
  ListLines shape("int32", "[]", "one, pair");
  shape.check_refused("d", "Incompatible shapes at component 0: expected [] but got [2].");
}

} // namespace troupe
