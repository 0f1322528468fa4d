// TFRecordDataset, TextLineDataset, FixedLengthRecordDataset (1 and 2) in graphs.
#include <doctest/doctest.h>

#include "kernels/data/testing/file_lines.hpp"
#include "storage/records/records.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("TFRecordDataset TextLineDataset FixedLengthRecordDataset",
                     "FixedLengthRecordDatasetV2");

namespace troupe {

using data::testing::FileLines;
using data::testing::of_files;
using data::testing::texts;

TEST_CASE("TextLineDataset: lines of files, with either end, the last one without") {
  FileLines f;
  f.write("a", "one\ntwo\r\n\nthree");
  f.write("b", "");
  f.write("c", "four\n");
  f.names("files", {"a", "b", "c"});
  f.add("d = TextLineDataset(files, plain, buffer)");
  f.check("d", texts({"one", "two", "", "three", "four"}), of_files);
}

TEST_CASE("files: one that is not there fails, and the next one is read") {
  FileLines f;
  f.write("a", "one\n");
  f.names("files", {"none", "a"});
  f.add("d = TextLineDataset(files, plain, buffer)");
  f.check("d", {"error NOT_FOUND", "str[] \"one\""}, of_files);
}

TEST_CASE("FixedLengthRecordDataset: records between header and footer") {
  FileLines f;
  f.write("a", "HHaabbccF");
  f.write("b", "HHddF");
  f.names("files", {"a", "b"});
  f.add("d = FixedLengthRecordDataset(files, n2, n2, n1, buffer)");
  f.check("d", texts({"aa", "bb", "cc", "dd"}), of_files);
  f.add("e = FixedLengthRecordDatasetV2(files, n2, n2, n1, buffer, plain)");
  f.check("e", texts({"aa", "bb", "cc", "dd"}), of_files);
  f.add("g = FixedLengthRecordDataset(files, n2, n4, n1, buffer)");
  CHECK(f.elements("g", 1)[0].find(
            "Excluding the header (2 bytes) and footer (1 bytes), input file") !=
        std::string::npos);
  CHECK(f.elements("g", 1)[0].find("has body length 6 bytes, which is not an exact multiple of the "
                                   "record length (4 bytes).") != std::string::npos);
}

TEST_CASE("TFRecordDataset: records, compressed and not, and where one is broken") {
  FileLines f;
  const auto write = [&](const std::string& name, Compression how) {
    std::string out;
    RecordWriter writer(
        [&](std::span<const std::byte> bytes) {
          out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          return Status{};
        },
        how);
    for (std::string_view text : {"one", "", "three"})
      REQUIRE(writer.write(text).ok());
    REQUIRE(writer.finish().ok());
    f.write(name, out);
  };
  write("plain", Compression::none);
  write("gzip", Compression::gzip);
  write("zlib", Compression::zlib);
  for (const char* how : {"plain", "gzip", "zlib"}) {
    f.names(str_cat("files_", how), {how});
    f.add(str_cat(how, "_d = TFRecordDataset(files_", how, ", ", how, ", buffer)"));
    f.check(str_cat(how, "_d"), texts({"one", "", "three"}), of_files);
  }
  f.add(testing::constant("any", "i64[] -1"));
  f.add("any_d = TFRecordDataset(files_plain, plain, any)");
  f.check("any_d", texts({"one", "", "three"}), of_files);
  std::ifstream in(f.path / "plain", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  bytes[12] = 'x';
  f.write("broken", bytes);
  f.names("files", {"broken", "plain"});
  f.add("d = TFRecordDataset(files, plain, buffer)");
  f.check("d", {"error DATA_LOSS", "str[] \"one\"", "str[] \"\"", "str[] \"three\""}, of_files);
}

TEST_CASE("files: what is refused") {
  const auto refused = [](std::string_view line, std::string_view text) {
    FileLines f;
    f.names("files", {"a"});
    f.add(str_cat("d = ", line));
    f.check_refused("d", text);
  };
  refused("TFRecordDataset(files, odd, buffer)", "LZ4");
  refused("TFRecordDataset(files, plain, less)", "`buffer_size` must be >= 0 (0 == no buffering)");
  refused("TextLineDataset(files, odd, buffer)", "Unsupported compression_type.");
  refused("TextLineDataset(files, plain, less)", "`buffer_size` must be >= 0 (0 == default)");
  refused("FixedLengthRecordDataset(files, less, n1, n1, buffer)", "`header_bytes` must be >= 0");
  refused("FixedLengthRecordDataset(files, n1, n0, n1, buffer)", "`record_bytes` must be > 0");
  refused("FixedLengthRecordDataset(files, n1, n1, less, buffer)", "`footer_bytes` must be >= 0");
  refused("FixedLengthRecordDatasetV2(files, n1, n1, n1, buffer, odd)",
          "Unsupported compression_type.");
}

TEST_CASE("files: none where the device allows none") {
  testing::DatasetLines f;
  f.add(testing::constant("files", R"(str[1] "/etc/passwd")"));
  f.add(testing::constant("plain", R"(str[] "")"));
  f.add(testing::constant("buffer", "i64[] 0"));
  f.add("d = TextLineDataset(files, plain, buffer)");
  f.check_refused("d", "PERMISSION_DENIED");
}

} // namespace troupe
