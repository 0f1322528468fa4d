// ShardDataset, AutoShardDataset and RebatchDataset (1 and 2) in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("ShardDataset RebatchDataset RebatchDatasetV2");

namespace troupe {
namespace {

std::string shard_of(std::int64_t elements, int shards, int index, std::string_view attrs = "") {
  return str_cat(
      testing::range_lines("r", elements), testing::constant("shards", str_cat("i64[] ", shards)),
      testing::constant("index", str_cat("i64[] ", index)),
      "d = ShardDataset[output_types=[int64], output_shapes=[[]]", attrs, "](r, shards, index)\n");
}

} // namespace

TEST_CASE("ShardDataset: every so many one") {
  const auto check = [](std::int64_t elements, int shards, int index,
                        const std::vector<std::string>& expected) {
    testing::DatasetLines f;
    f.add(shard_of(elements, shards, index));
    f.check("d", expected);
  };
  check(7, 3, 0, {"i64[] 0", "i64[] 3", "i64[] 6"});
  check(7, 3, 2, {"i64[] 2", "i64[] 5"});
  check(2, 3, 2, {});
  check(3, 1, 0, {"i64[] 0", "i64[] 1", "i64[] 2"});
}

TEST_CASE("ShardDataset: what is refused") {
  const auto refused = [](int shards, int index, std::string_view text) {
    testing::DatasetLines f;
    f.add(shard_of(5, shards, index));
    f.check_refused("d", text);
  };
  refused(0, 0, "Number of shards must be greater than zero (currently num_shards = 0).");
  refused(3, 3, "Index must be between 0 and 2 (currently index = 3).");
  refused(3, -1, "Index must be between 0 and 2 (currently index = -1).");
  refused(-1, 0, "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used");
}

TEST_CASE("ShardDataset: an element for each shard where that is asked for") {
  testing::DatasetLines f;
  f.add(shard_of(2, 3, 0, ", require_non_empty=true"));
  CHECK(f.elements("d", 1)[0].find("the dataset only has 2 file(s), which is not enough for the "
                                   "required 3 shards/workers.") != std::string::npos);
  testing::DatasetLines g;
  g.add(shard_of(4, 3, 0, ", require_non_empty=true"));
  CHECK(g.elements("d") == std::vector<std::string>{"i64[] 0", "i64[] 3"});
}

TEST_CASE("RebatchDataset: each batch in pieces, the last ones perhaps empty") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 9));
  f.add(testing::constant("five", "i64[] 5"));
  f.add(testing::constant("three", "i64[] 3"));
  f.add(testing::constant("zero", "i64[] 0"));
  f.add("b = BatchDataset[output_types=[int64], output_shapes=[[?]]](r, five)");
  f.add("d = RebatchDataset[output_types=[int64], output_shapes=[[?]]](b, three)");
  f.check("d", {"i64[2] 0 1", "i64[2] 2 3", "i64[1] 4", "i64[2] 5 6", "i64[2] 7 8", "i64[0]"},
          {.cardinality = "-2"});
  f.add("e = RebatchDataset[output_types=[int64], output_shapes=[[?]]](b, zero)");
  f.check_refused("e", "num_replicas must be greater than zero.");
  f.add(str_cat("g = RebatchDataset", testing::of_int64, "(r, three)"));
  CHECK(
      f.elements("g", 1)[0].find("Cannot rebatch dataset: All components must have at least one "
                                 "dimension. Perhaps your input dataset is not batched? Component "
                                 "0 is scalar.") != std::string::npos);
}

TEST_CASE("RebatchDatasetV2: sizes in turn, over the ends of batches") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 8));
  f.add(testing::constant("three", "i64[] 3"));
  f.add(testing::constant("sizes", "i64[3] 1 0 4"));
  f.add(testing::constant("nothing", "i64[1] 0"));
  f.add(testing::constant("less", "i64[1] -1"));
  f.add(testing::constant("yes", "bool[] true"));
  f.add(testing::constant("no", "bool[] false"));
  f.add("b = BatchDataset[output_types=[int64], output_shapes=[[?]]](r, three)");
  constexpr auto attrs = "[output_types=[int64], output_shapes=[[?]]]";
  f.add(str_cat("d = RebatchDatasetV2", attrs, "(b, sizes, no)"));
  f.check("d", {"i64[1] 0", "i64[0]", "i64[4] 1 2 3 4", "i64[1] 5", "i64[0]", "i64[2] 6 7"},
          {.cardinality = "-2"});
  f.add(str_cat("e = RebatchDatasetV2", attrs, "(b, sizes, yes)"));
  f.check("e", {"i64[1] 0", "i64[0]", "i64[4] 1 2 3 4", "i64[1] 5", "i64[0]"},
          {.cardinality = "-2"});
  f.add(str_cat("g = RebatchDatasetV2", attrs, "(b, nothing, yes)"));
  f.check_refused("g", "`batch_sizes` must be at least 0, and one of them greater.");
  f.add(str_cat("h = RebatchDatasetV2", attrs, "(b, less, yes)"));
  f.check_refused("h", "`batch_sizes` must be at least 0, and one of them greater.");
}

} // namespace troupe
