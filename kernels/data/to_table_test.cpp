// InitializeTableFromDataset in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("InitializeTableFromDataset");

namespace troupe {
namespace {

struct TableLines : testing::DatasetLines {
  TableLines() {
    add(testing::range_lines("r", 3));
    function("entry", "x: int64", "x, t", "t = AsString(x)");
    function("twice", "x: int64", "k, t",
             str_cat(testing::constant("two", "i64[] 2"), "k = FloorMod(x, two)\nt = AsString(x)"));
    function("broken", "x: int64", "k, t",
             str_cat(testing::constant("six", "i64[] 6"), "k = FloorDiv(six, x)\nt = AsString(x)"));
    function("row", "x: int64", "k, t",
             str_cat(testing::constant("at", "i32[] 0"), "k = ExpandDims(x, at)\nt = AsString(k)"));
    add("h = HashTableV2[key_dtype=int64, value_dtype=string]()");
    add(testing::constant("keys", "i64[3] 2 0 5"));
    add(testing::constant("none", R"(str[] "none")"));
    add("found = LookupTableFindV2(h, keys, none)");
  }
  /// The elements that fill the table.
  void fill(std::string_view function, std::string_view types = "int64, string",
            std::string_view shapes = "[], []") {
    add(str_cat("d = MapDataset[f=", function, ", output_types=[", types, "], output_shapes=[",
                shapes, "]](r)"));
    add("filled = InitializeTableFromDataset(h, d)");
  }
  bool says(std::string_view text) {
    const std::string said = run({"^filled"});
    CAPTURE(said);
    const bool has = !said.starts_with("ok") && said.find(text) != std::string::npos;
    CHECK(has);
    return has;
  }
};

} // namespace

TEST_CASE("InitializeTableFromDataset: an entry for each element, once") {
  TableLines f;
  f.fill("entry");
  for (int round = 0; round < 2; ++round) {
    REQUIRE(f.run({"^filled"}) == "ok");
    CHECK(f.run({"found"}) == R"(ok str[3] "2" "0" "none")");
  }
}

TEST_CASE("InitializeTableFromDataset: what is refused leaves the table empty") {
  TableLines broken, twice, row;
  broken.fill("broken");
  broken.says("division by zero");
  twice.fill("twice");
  twice.says("FAILED_PRECONDITION");
  row.fill("row", "int64, string", "[?], [?]");
  row.says("Expected scalar for Key. Obtained: [?]");
  for (TableLines* f : {&broken, &twice, &row})
    CHECK(f->run({"found"}).find("Table not initialized.") != std::string::npos);
  TableLines one, key, value;
  one.add("filled = InitializeTableFromDataset(h, r)");
  one.says("Dataset should have two output types only");
  key.add("z = ZipDataset[output_types=[string, string], output_shapes=[[], []]](t, t)\n"
          "t = TensorSliceDataset[output_shapes=[[]]](texts)\n"
          "texts = Const[dtype=string, value=str[1] \"a\"]()\n"
          "filled = InitializeTableFromDataset(h, z)");
  key.says("Key dtype expected: int64 but obtained: string from the dataset");
  value.add("z = ZipDataset[output_types=[int64, int64], output_shapes=[[], []]](r, r)\n"
            "filled = InitializeTableFromDataset(h, z)");
  value.says("Value dtype expected: string but obtained: int64 from the dataset");
}

} // namespace troupe
