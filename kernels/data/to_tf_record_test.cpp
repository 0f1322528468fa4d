// DatasetToTFRecord in graphs.
#include "kernels/data/testing/file_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("DatasetToTFRecord ExperimentalDatasetToTFRecord");

namespace troupe {
namespace {

struct WritingLines : data::testing::FileLines {
  WritingLines() {
    add(testing::constant("texts", R"(str[3] "a" "" "b")"));
    add("d = TensorSliceDataset[output_shapes=[[]]](texts)");
    add(testing::range_lines("r", 3));
    names("name", {"out"});
    add("file = Squeeze(name)");
    function("text", "x: int64", "t",
             str_cat(testing::constant("two", "i64[] 2"), testing::constant("six", "i64[] 6"),
                     "y = Sub(x, two)\nz = FloorDiv(six, y)\nt = AsString(z)"));
    add("broken = MapDataset[f=text, output_types=[string], output_shapes=[[]]](r)");
    add("two_of = ZipDataset[output_types=[string, string], output_shapes=[[], []]](d, d)");
  }
  std::string write(std::string_view inputs, std::string_view op = "DatasetToTFRecord") {
    add(str_cat("w = ", op, "(", inputs, ")"));
    return run({"^w"});
  }
  bool has_written() const { return std::filesystem::exists(path / "out"); }
};

} // namespace

TEST_CASE("DatasetToTFRecord: what TFRecordDataset reads") {
  for (const char* op : {"DatasetToTFRecord", "ExperimentalDatasetToTFRecord"})
    for (const char* compression : {"plain", "gzip", "zlib"}) {
      CAPTURE(compression);
      WritingLines f;
      REQUIRE(f.write(str_cat("d, file, ", compression), op) == "ok");
      f.add(str_cat("read = TFRecordDataset(name, ", compression, ", buffer)"));
      f.check("read", data::testing::texts({"a", "", "b"}), data::testing::of_files);
    }
}

TEST_CASE("DatasetToTFRecord: an error leaves no file") {
  const auto says = [](std::string_view inputs, std::string_view text) {
    WritingLines f;
    const std::string said = f.write(inputs);
    CAPTURE(said);
    CHECK(said.find(text) != std::string::npos);
    CHECK(!said.starts_with("ok"));
    CHECK(!f.has_written());
  };
  says("broken, file, plain", "division by zero");
  says("two_of, file, plain", "only support datasets of 1 single column, but got 2");
  says("r, file, plain", "currently only supports DT_STRING dataypes, but got DT_INT64");
  says("d, file, odd", "LZ4");
  says("d, name, plain", "filename must be a scalar");
}

} // namespace troupe
