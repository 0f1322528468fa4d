#include "storage/table/table.hpp"

#include <map>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"

using namespace troupe;

namespace {

using Entries = std::map<std::string, std::string>;

std::string table_of(const Entries& entries) {
  TableWriter writer;
  for (const auto& [key, value] : entries)
    writer.add(key, value);
  return writer.finish();
}

Entries entries_of(const TableReader& reader, std::string_view from = "") {
  Entries out;
  Status status = reader.for_each_from(from, [&](std::string_view key, std::string_view value) {
    out.emplace(key, value);
    return Status{};
  });
  CHECK_MESSAGE(status.ok(), status.to_string());
  return out;
}

} // namespace

TEST_CASE("table: what is written is read, in one block and in many") {
  for (int count : {0, 1, 2, 16, 17, 33, 5000}) {
    CAPTURE(count);
    Entries entries;
    for (int i = 0; i < count; ++i)
      entries[str_cat("layer/", i % 7, "/weights/", i)] =
          std::string(static_cast<std::size_t>(i % 300), 'x');
    auto reader = TableReader::parse(table_of(entries), "t");
    REQUIRE_MESSAGE(reader.ok(), reader.status().to_string());
    CHECK(entries_of(*reader) == entries);
    CHECK(entries_of(*reader, "layer/3") == Entries(entries.lower_bound("layer/3"), entries.end()));
    for (const auto& [key, value] : entries) {
      auto found = reader->find(key);
      REQUIRE(found.ok());
      CHECK(*found == value);
    }
    for (const char* key : {"", "a", "layer/3/weights/x", "z"})
      CHECK_FALSE(*reader->find(key));
  }
}

TEST_CASE("table: keys of any bytes, the empty one first") {
  const Entries entries{{"", "header"}, {std::string("\0\1", 2), "a"}, {"\xff\xff", ""}};
  auto reader = TableReader::parse(table_of(entries), "t");
  REQUIRE(reader.ok());
  CHECK(entries_of(*reader) == entries);
  CHECK(*reader->find("") == "header");
}

TEST_CASE("table: each damaged byte is noticed or of no account; nothing crashes") {
  const Entries entries{{"a", "1"}, {"ab", "2"}, {"b", std::string(40, 'x')}};
  const std::string whole = table_of(entries);
  int noticed = 0;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      auto reader = TableReader::parse(damaged, "t");
      Status status = reader.status();
      if (reader.ok()) {
        Entries found;
        status = reader->for_each([&](std::string_view key, std::string_view value) {
          found.emplace(key, value);
          return Status{};
        });
        if (status.ok())
          CHECK(found == entries);
      }
      if (!status.ok()) {
        CHECK(status.code() == Code::data_loss);
        ++noticed;
      }
    }
  CHECK(noticed > static_cast<int>(whole.size()) * 4);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(TableReader::parse(whole.substr(0, size), "t").ok());
}
