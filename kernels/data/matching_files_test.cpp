// MatchingFilesDataset in graphs.
#include "kernels/data/testing/file_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("MatchingFilesDataset ExperimentalMatchingFilesDataset");

namespace troupe {
namespace {

struct PatternLines : data::testing::FileLines {
  PatternLines() {
    for (const char* name : {"b.txt", "a.txt", "c.bin"})
      write(name, "");
    std::filesystem::create_directory(path / "d.txt"); // a folder
    write("d.txt/e.txt", "");
  }
  /// The paths that are found, without that of the folder.
  std::vector<std::string> found(std::initializer_list<std::string_view> patterns,
                                 const char* op = "MatchingFilesDataset") {
    names("patterns", patterns);
    add(str_cat("d = ", op, "(patterns)"));
    std::vector<std::string> out = elements("d");
    const std::string folder = str_cat("str[] \"", path.string(), "/");
    for (std::string& element : out)
      if (element.starts_with(folder))
        element = element.substr(folder.size(), element.size() - folder.size() - 1);
    return out;
  }
};

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("MatchingFilesDataset: files of the patterns, without folders") {
  for (const char* op : {"MatchingFilesDataset", "ExperimentalMatchingFilesDataset"}) {
    CHECK(PatternLines().found({"*.txt"}, op) == Names{"a.txt", "b.txt"});
    CHECK(PatternLines().found({"c.*", "[ab].txt", "none*"}, op) ==
          Names{"c.bin", "a.txt", "b.txt"});
  }
  CHECK(PatternLines().found({"*/*.txt"}) == Names{"d.txt/e.txt"});
  CHECK(PatternLines().found({"b.txt"}) == Names{"b.txt"});
}

TEST_CASE("MatchingFilesDataset: goes on where it was saved") {
  PatternLines f;
  f.names("patterns", {"*.txt", "*.bin"});
  f.add("d = MatchingFilesDataset(patterns)");
  const auto all = f.elements("d");
  REQUIRE(all.size() == 3);
  f.check("d", all, data::testing::of_files);
}

TEST_CASE("MatchingFilesDataset: what is refused") {
  PatternLines f;
  const auto none = f.found({"*.none", "z*"});
  CHECK(none[0].find("Don't find any matched files") != std::string::npos);
  PatternLines g;
  g.add(testing::constant("matrix", R"(str[1,1] "a")"));
  g.add("m = MatchingFilesDataset(matrix)");
  g.check_refused("m", "`patterns` must be a scalar or a vector.");
}

} // namespace troupe
