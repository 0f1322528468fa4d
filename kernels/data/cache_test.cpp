// CacheDataset and CacheDatasetV2 in graphs, in memory and in files.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "devices/file_host.hpp"
#include "kernels/framework/files.hpp"
#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("CacheDataset CacheDatasetV2 AnonymousMemoryCache DummyMemoryCache",
                     "DeleteMemoryCache");

namespace troupe {
namespace {

/// Elements that differ each time that they are computed.
struct CacheLines : testing::DatasetLines {
  CacheLines() {
    add(testing::range_lines("r", 3));
    add(testing::constant("two", "i64[] 2"));
    add(testing::constant("memory", R"(str[] "")"));
    function("count", "x: int64, v: resource", "y",
             str_cat(testing::constant("one", "i64[] 1"),
                     "up = AssignAddVariableOp(v, one)\ny = ReadVariableOp[dtype=int64](v) ^up"));
    add("v = VarHandleOp[dtype=int64, shape=[], shared_name=\"counted\"]()");
    add(testing::constant("zero", "i64[] 0"));
    add("reset = AssignVariableOp(v, zero)");
    add("m = MapDataset[f=count, output_types=[int64], output_shapes=[[]], "
        "preserve_cardinality=true](r, v)");
    CHECK(run({"^reset"}) == "ok");
  }
};

/// A folder that the device may use, as long as the test.
struct Folder {
  explicit Folder(testing::DatasetLines& f) {
    std::string pattern = (std::filesystem::temp_directory_path() / "troupe-data-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = std::filesystem::canonical(pattern);
    auto files = open_files({path.string()});
    REQUIRE(files.ok());
    allow_files(f.device().device(), *files);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

} // namespace

TEST_CASE("caches: what the first whole iteration gave comes again") {
  CacheLines f;
  f.add(str_cat("c = CacheDataset", testing::of_int64, "(m, memory)"));
  f.add(str_cat("d = RepeatDataset", testing::of_int64, "(c, two)"));
  f.add(str_cat("without = RepeatDataset", testing::of_int64, "(m, two)"));
  CHECK(f.elements("without") ==
        std::vector<std::string>{"i64[] 1", "i64[] 2", "i64[] 3", "i64[] 4", "i64[] 5", "i64[] 6"});
  CHECK(f.run({"^reset"}) == "ok");
  CHECK(f.elements("d") ==
        std::vector<std::string>{"i64[] 1", "i64[] 2", "i64[] 3", "i64[] 1", "i64[] 2", "i64[] 3"});
}

TEST_CASE("caches: an iteration that ends early fills none") {
  CacheLines f;
  f.add(str_cat("c = CacheDataset", testing::of_int64, "(m, memory)"));
  f.add(str_cat("t = TakeDataset", testing::of_int64, "(c, two)"));
  f.add(str_cat("d = RepeatDataset", testing::of_int64, "(t, two)"));
  CHECK(f.elements("d") == std::vector<std::string>{"i64[] 1", "i64[] 2", "i64[] 3", "i64[] 4"});
}

TEST_CASE("caches: saved while they fill and while they are read") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 4));
  f.add(testing::constant("two", "i64[] 2"));
  f.add(testing::constant("memory", R"(str[] "")"));
  f.add(str_cat("c = CacheDataset", testing::of_int64, "(r, memory)"));
  f.add(str_cat("d = RepeatDataset", testing::of_int64, "(c, two)"));
  f.check("d",
          {"i64[] 0", "i64[] 1", "i64[] 2", "i64[] 3", "i64[] 0", "i64[] 1", "i64[] 2", "i64[] 3"});
}

TEST_CASE("caches: two datasets with one cache in common") {
  for (const char* cache : {"AnonymousMemoryCache", "DummyMemoryCache"}) {
    CacheLines f;
    f.add(str_cat("cache = ", cache, "()"));
    for (const char* name : {"a", "b"})
      f.add(str_cat(name, " = CacheDatasetV2", testing::of_int64, "(m, memory, cache)"));
    f.add(str_cat("d = ConcatenateDataset", testing::of_int64, "(a, b)"));
    const std::string then = cache[0] == 'A' ? "i64[] 1" : "i64[] 4";
    CHECK(f.elements("d")[3] == then);
  }
}

TEST_CASE("caches: one that is deleted is gone, and may be deleted again") {
  testing::DatasetLines f;
  f.add("c = AnonymousMemoryCache()");
  f.add("gone = DeleteMemoryCache(c, c:1)");
  f.add("again = DeleteMemoryCache(c, c:1) ^gone");
  CHECK(f.run({"^again"}) == "ok");
}

TEST_CASE("caches: in a file that outlives the iterator") {
  CacheLines f;
  Folder folder(f);
  f.add(testing::constant("name", str_cat("str[] \"", (folder.path / "c").string(), "\"")));
  f.add(str_cat("d = CacheDataset", testing::of_int64, "(m, name)"));
  const std::vector<std::string> all{"i64[] 1", "i64[] 2", "i64[] 3"};
  CHECK(f.elements("d") == all);
  CHECK(std::filesystem::exists(folder.path / "c.index"));
  CHECK(!std::filesystem::exists(folder.path / "c_0.lockfile"));
  CHECK(f.elements("d") == all);
  f.check("d", all);
}

TEST_CASE("caches: a file that is being written is no other iterator's") {
  CacheLines f;
  Folder folder(f);
  f.add(testing::constant("name", str_cat("str[] \"", (folder.path / "c").string(), "\"")));
  f.add(str_cat("a = CacheDataset", testing::of_int64, "(m, name)"));
  f.add(str_cat("b = CacheDataset", testing::of_int64, "(m, name)"));
  CHECK(f.elements("a", 1) == std::vector<std::string>{"i64[] 1"});
  CHECK(f.elements("b", 1)[0].find("ALREADY_EXISTS") != std::string::npos);
  // What is left half way was never there.
  CHECK(f.elements("a").size() == 3);
  CHECK(f.elements("b") == f.elements("a"));
}

TEST_CASE("caches: no file where the device allows none") {
  CacheLines f;
  f.add(testing::constant("name", "str[] \"/tmp/c\""));
  f.add(str_cat("d = CacheDataset", testing::of_int64, "(m, name)"));
  f.check_refused("d", "PERMISSION_DENIED");
}

} // namespace troupe
