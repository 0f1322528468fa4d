// CSVDataset, CSVDatasetV2, ExperimentalCSVDataset in graphs.
#include "kernels/data/testing/file_lines.hpp"
#include "storage/streams/deflate.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("CSVDataset CSVDatasetV2 ExperimentalCSVDataset");

namespace troupe {
namespace {

/// How a dataset reads its files, and what it says of them.
struct CsvFormat {
  std::string_view types = "int32, string", defaults = "need, x", header = "no", quotes = "yes";
  std::string_view select = "none", exclude = "none", delimiter = "comma", not_given = "empty";
  std::string_view compression = "plain", buffer = "n4", op = "CSVDatasetV2";
};

struct CsvLines : data::testing::FileLines {
  CsvLines() {
    add(testing::constant("yes", "bool[] true"));
    add(testing::constant("no", "bool[] false"));
    add(testing::constant("comma", R"(str[] ",")"));
    add(testing::constant("bar", R"(str[] "|")"));
    add(testing::constant("long", R"(str[] "::")"));
    add(testing::constant("empty", R"(str[] "")"));
    add(testing::constant("NA", R"(str[] "NA")"));
    add(testing::constant("none", "i64[0]"));
    add(testing::constant("c0", "i64[1] 0"));
    add(testing::constant("c02", "i64[2] 0 2"));
    add(testing::constant("c20", "i64[2] 2 0"));
    add(testing::constant("below", "i64[2] -1 2"));
    add(testing::constant("need", "i32[0]"));
    add(testing::constant("x", R"(str[1] "x")"));
    add(testing::constant("xs", R"(str[2] "x" "y")"));
    add(testing::constant("xxs", R"(str[1,1] "x")"));
    add(testing::constant("i64", "i64[] 7"));
    add(testing::constant("f32", "f32[0]"));
    add(testing::constant("f64", "f64[] 0.5"));
  }
  void csv(std::string_view file, const CsvFormat& how = {}) {
    names("files", {file});
    std::string shapes = "[]";
    for (char c : how.types)
      if (c == ',')
        shapes += ", []";
    add(str_cat("d = ", how.op, "[output_types=[", how.types, "], output_shapes=[", shapes,
                "]](files, ", how.compression, ", ", how.buffer, ", ", how.header, ", ",
                how.delimiter, ", ", how.quotes, ", ", how.not_given, ", ", how.select, ", ",
                how.defaults, how.op == "CSVDatasetV2" ? ", " : "",
                how.op == "CSVDatasetV2" ? how.exclude : "", ")"));
  }
};

void check(std::string_view bytes, const std::vector<std::string>& expected,
           const CsvFormat& how = {}) {
  CAPTURE(bytes);
  CsvLines f;
  f.write("a.csv", bytes);
  f.csv("a.csv", how);
  f.check("d", expected, data::testing::of_files);
}

} // namespace

TEST_CASE("CSV: records, whatever ends their lines") {
  for (const char* op : {"CSVDataset", "CSVDatasetV2", "ExperimentalCSVDataset"})
    check("1,a\n2,b\r\n3,c\r4,d",
          {R"(i32[] 1 str[] "a")", R"(i32[] 2 str[] "b")", R"(i32[] 3 str[] "c")",
           R"(i32[] 4 str[] "d")"},
          {.op = op});
  check("", {});
  check("1,a\n", {R"(i32[] 1 str[] "a")"});
}

TEST_CASE("CSV: dtypes, and defaults where there is nothing") {
  check("1,2,3.5,4.5,t\n,,1,,\n",
        {R"(i32[] 1 i64[] 2 f32[] 3.5 f64[] 4.5 str[] "t")",
         "error Field 0 is required but missing in record!"},
        {.types = "int32, int64, float, double, string", .defaults = "need, i64, f32, f64, x"});
  check("5,,1,,\n6,NA,2,NA,NA\n",
        {R"(i32[] 5 i64[] 7 f32[] 1 f64[] 0.5 str[] "x")",
         R"(i32[] 6 i64[] 7 f32[] 2 f64[] 0.5 str[] "x")"},
        {.types = "int32, int64, float, double, string",
         .defaults = "need, i64, f32, f64, x",
         .not_given = "NA"});
}

TEST_CASE("CSV: quotes") {
  check("1,\"a,\"\"b\"\"\nc\"\n\"2\",\"\"\n",
        {R"(i32[] 1 str[] "a,\"b\"\nc")", R"(i32[] 2 str[] "x")"});
  check("1,a\"b\n2,\"c\"d\",e\"\n3,f\n",
        {"error Unquoted fields cannot have quotes inside",
         "error has to be escaped by another quote", R"(i32[] 3 str[] "f")"});
  check("1,\"a\n2,b\n", {"error Reached end of file without closing quoted field in record"});
  check("1,\"a\n2,b\"\n", {R"(i32[] 1 str[] "\"a")", R"(i32[] 2 str[] "b\"")"}, {.quotes = "no"});
}

TEST_CASE("CSV: headers, delimiters, columns") {
  check("n,t\n1,a\n", {R"(i32[] 1 str[] "a")"}, {.header = "yes"});
  check("1|a,b\n", {R"(i32[] 1 str[] "a,b")"}, {.delimiter = "bar"});
  check("1,no,a\n2,\"no,\n\",b,no\n", {R"(i32[] 1 str[] "a")", R"(i32[] 2 str[] "b")"},
        {.select = "c02"});
  check("no,1,a\n", {R"(i32[] 1 str[] "a")"}, {.exclude = "c0"});
  check("", {"error Can't read header of file"}, {.header = "yes"});
}

TEST_CASE("CSV: records of other lengths, and values of other dtypes, take no other record along") {
  check("1\n2,b,c\nz,d\n4,e\n",
        {"error Expect 2 fields but have 1 in record",
         "error Expect 2 fields but have more in record",
         "error Field 0 in record is not a valid int32: z", R"(i32[] 4 str[] "e")"});
}

TEST_CASE("CSV: compressed files, several of them, and one that is not there") {
  std::string bytes;
  Deflater deflater(
      [&](std::span<const std::byte> some) {
        bytes.append(reinterpret_cast<const char*>(some.data()), some.size());
        return Status{};
      },
      Compression::gzip);
  const std::string_view text = "1,a\n2,b\n";
  REQUIRE(deflater.append(std::as_bytes(std::span(text))).ok());
  REQUIRE(deflater.finish().ok());
  check(bytes, {R"(i32[] 1 str[] "a")", R"(i32[] 2 str[] "b")"}, {.compression = "gzip"});
  CsvLines f;
  f.csv("none.csv");
  CHECK(f.elements("d", 1)[0].find("No such file or directory") != std::string::npos);
}

TEST_CASE("CSV: fields longer than what is read at once") {
  const std::string field(200'000, 'q');
  CsvLines f;
  f.write("a.csv", str_cat("1,\"", field, "\"\n2,b\n"));
  f.csv("a.csv");
  const auto elements = f.elements("d");
  REQUIRE(elements.size() == 2);
  CHECK(elements[0] == str_cat("i32[] 1 str[] \"", field, "\""));
  CHECK(elements[1] == R"(i32[] 2 str[] "b")");
}

TEST_CASE("CSV: what is refused") {
  const auto refused = [](const CsvFormat& how, std::string_view text) {
    CsvLines f;
    f.write("a.csv", "1,a\n");
    f.csv("a.csv", how);
    f.check_refused("d", text);
  };
  refused({.compression = "odd"}, "Unsupported compression_type: LZ4.");
  refused({.buffer = "n0"}, "buffer_size should be positive");
  refused({.delimiter = "long"}, "field_delim should be only 1 char");
  refused({.defaults = "need, xs"}, "There should only be 1 default per field but field 1 has 2");
  refused({.defaults = "need, xxs"}, "at most rank 1");
  refused({.select = "c0"}, "select_cols should match output size");
  refused({.select = "c20"}, "select_cols should be strictly increasing indices");
  refused({.select = "below"}, "select_cols should be non-negative indices");
  refused({.exclude = "c20"}, "exclude_cols should be strictly increasing indices");
  refused({.exclude = "below"}, "exclude_cols should be non-negative indices");
  refused({.select = "c02", .exclude = "c0"}, "Either select_cols or exclude_cols should be empty");
}

} // namespace troupe
