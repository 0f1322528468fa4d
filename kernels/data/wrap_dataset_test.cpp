// WrapDatasetVariant and UnwrapDatasetVariant in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("WrapDatasetVariant UnwrapDatasetVariant");

namespace troupe {

TEST_CASE("WrapDatasetVariant and UnwrapDatasetVariant: the same dataset") {
  testing::DatasetLines f;
  f.add(str_cat(testing::range_lines("r", 3),
                "w = WrapDatasetVariant(r)\nd = UnwrapDatasetVariant(w)\n"));
  f.check("d", {"i64[] 0", "i64[] 1", "i64[] 2"});
}

} // namespace troupe
