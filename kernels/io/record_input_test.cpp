// RecordInput: every record once in each epoch, in an order that the seed tells, and what is said
// where there is nothing to read.
#include <doctest/doctest.h>

#include <set>

#include "core/base/strings.hpp"
#include "kernels/io/internal/record_epochs.hpp"
#include "storage/records/records.hpp"
#include "tests/support/ops/folder_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace record_input_ops {
TROUPE_OPS_IN_GRAPHS("RecordInput");
} // namespace record_input_ops

namespace troupe {
namespace {

using testing::FolderLines;

std::string numbers(int begin, int end, Compression how = Compression::none) {
  std::string out;
  RecordWriter writer(
      [&](std::span<const std::byte> bytes) {
        out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Status{};
      },
      how);
  for (int i = begin; i < end; ++i)
    REQUIRE(writer.write(str_cat("record ", i)).ok());
  REQUIRE(writer.finish().ok());
  return out;
}

std::string input(std::string_view attrs) {
  return str_cat("read = RecordInput[file_pattern=\"@/numbers-*\", ", attrs, "]()");
}

/// The texts of so many runs, one after the other.
std::vector<std::string> run(FolderLines& f, int runs) {
  std::vector<std::string> out;
  for (int i = 0; i < runs; ++i) {
    const std::string said = f.run({"read"});
    REQUIRE_MESSAGE(said.starts_with("ok str["), said);
    const auto parts = str_split(said, '"');
    for (std::size_t k = 1; k < parts.size(); k += 2)
      out.emplace_back(parts[k]);
  }
  return out;
}

} // namespace

TEST_CASE("record input: every record once in each epoch, whatever the buffer and the batch") {
  for (const char* attrs :
       {"batch_size=5, file_buffer_size=1, file_parallelism=1",
        "batch_size=5, file_buffer_size=7, file_parallelism=2, file_shuffle_shift_ratio=0.5",
        "batch_size=1, file_buffer_size=1000, file_parallelism=100", "batch_size=20"}) {
    CAPTURE(attrs);
    FolderLines f;
    f.write("numbers-a", numbers(0, 6));
    f.write("numbers-b", numbers(6, 7));
    f.write("numbers-c", "");
    f.write("numbers-d", numbers(7, 20));
    f.add(input(attrs));
    const int batch = f.run({"read"}).starts_with("ok str[20]")             ? 20
                      : std::string_view(attrs).starts_with("batch_size=5") ? 5
                                                                            : 1;
    run(f, 20 / batch - 1); // the rest of the first epoch
    std::set<std::vector<std::string>> orders;
    for (int epoch = 0; epoch < 3; ++epoch) {
      const auto got = run(f, 20 / batch);
      CHECK(std::set(got.begin(), got.end()).size() == 20);
      orders.insert(got);
    }
    // With one record in the buffer the order of the files alone is random, and three have records.
    if (std::string_view(attrs).find("file_buffer_size=1,") == std::string_view::npos)
      CHECK(orders.size() == 3);
  }
}

TEST_CASE("record input: seeds tell the order; compressed files") {
  const auto order = [](int seed, std::string_view compression, Compression how) {
    FolderLines f;
    f.write("numbers-a", numbers(0, 10, how));
    f.add(input(str_cat("batch_size=10, file_random_seed=", seed, ", compression_type=\"",
                        compression, "\"")));
    return run(f, 1);
  };
  CHECK(order(3, "", Compression::none) == order(3, "GZIP", Compression::gzip));
  CHECK(order(3, "", Compression::none) == order(3, "ZLIB", Compression::zlib));
  CHECK(order(3, "", Compression::none) != order(4, "", Compression::none));
}

TEST_CASE("record input: nothing to read") {
  FolderLines f;
  f.add(input("batch_size=2"));
  f.fails({"read"}, "NOT_FOUND: node 'read' (RecordInput): Found no files at @/numbers-*");
  f.write("numbers-a", "");
  f.fails({"read"},
          "OUT_OF_RANGE: node 'read' (RecordInput): the files at @/numbers-* have no records");
  f.write("numbers-a", numbers(0, 2));
  CHECK(run(f, 1).size() == 2);
  std::string damaged = numbers(0, 2);
  damaged[14] = '?';
  f.write("numbers-a", damaged);
  f.fails({"read"}, "DATA_LOSS");
  f.add("none = RecordInput[file_pattern=\"@/numbers-*\", batch_size=0]()\n"
        "less = RecordInput[file_pattern=\"@/numbers-*\", batch_size=-1]()\n"
        "thin = RecordInput[file_pattern=\"@/numbers-*\", file_buffer_size=0]()\n"
        "out = RecordInput[file_pattern=\"/etc/*\"]()");
  CHECK(f.run({"none"}) == "ok str[0]");
  f.fails({"less"}, "batch_size must be >= 0 not -1");
  f.fails({"thin"}, "file_buffer_size must be > 0 not 0");
  f.fails({"out"}, "PERMISSION_DENIED");
}

TEST_CASE("record input: who stops in the midst loses no record") {
  FolderLines f;
  f.write("numbers-a", numbers(0, 5));
  auto files = open_files({f.path.string()});
  REQUIRE(files.ok());
  io::RecordEpochs epochs({.patterns = f.path.string() + "/numbers-*", .buffer_size = 2}, *files,
                          host_allocator());
  int left = 3;
  const auto stop = [&] { return left-- > 0 ? Status{} : cancelled("enough"); };
  CHECK(epochs.take(5, stop).status().code() == Code::cancelled);
  const auto go_on = [] { return Status{}; };
  auto all = epochs.take(5, go_on);
  REQUIRE(all.ok());
  CHECK(std::set(all->begin(), all->end()).size() == 5);
}

} // namespace troupe
