#include "storage/files/storage.hpp"

#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "storage/files/file_system.hpp"
#include "storage/files/testing/simulated_disk.hpp"

using namespace troupe;
using testing::SimulatedDisk;

namespace {

constexpr std::uint64_t any_size = 1 << 20;

struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "troupe-storage-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

std::unique_ptr<Storage> on(SimulatedDisk& disk) {
  return make_local_storage("/disk", disk);
}

std::string value_of(Storage& storage, const char* name) {
  auto value = storage.get(name, any_size);
  if (value.ok())
    return *value;
  return value.status().code() == Code::not_found ? "(none)" : value.status().to_string();
}

// Everything that a Storage promises without faults.
void keeps_promises(Storage& storage) {
  CHECK(value_of(storage, "a") == "(none)");
  CHECK(storage.list("")->empty());
  CHECK(storage.put("a", "one").ok());
  CHECK(storage.put("models/b.2/x_y-z", "two").ok());
  CHECK(storage.put("models/b.2/empty", "").ok());
  CHECK(value_of(storage, "a") == "one");
  CHECK(value_of(storage, "models/b.2/x_y-z") == "two");
  CHECK(value_of(storage, "models/b.2/empty").empty());
  CHECK(*storage.list("models/b.2") == std::vector<std::string>{"empty", "x_y-z"});
  CHECK(*storage.list("") == std::vector<std::string>{"a"});

  auto writer = storage.write("a");
  REQUIRE_MESSAGE(writer.ok(), writer.status().to_string());
  const std::string part(1000, 'x');
  CHECK((*writer)->append(std::as_bytes(std::span(part))).ok());
  CHECK((*writer)->append(std::as_bytes(std::span(part))).ok());
  CHECK(value_of(storage, "a") == "one"); // nobody sees it
  CHECK(*storage.list("") == std::vector<std::string>{"a"});
  auto reader = storage.open("a");
  REQUIRE(reader.ok());
  CHECK((*writer)->commit().ok());
  CHECK(value_of(storage, "a") == part + part);
  CHECK((*writer)->commit().code() == Code::failed_precondition);
  CHECK((*writer)->append(std::as_bytes(std::span(part))).code() == Code::failed_precondition);
  char byte = 0; // whoever has opened the old value still reads it
  CHECK((*reader)->size() == 3);
  CHECK((*reader)->read(1, std::as_writable_bytes(std::span(&byte, 1))).ok());
  CHECK(byte == 'n');
  CHECK((*reader)->read(3, std::as_writable_bytes(std::span(&byte, 1))).code() == Code::data_loss);

  CHECK(storage.get("a", 1999).status().code() == Code::resource_exhausted);
  CHECK(storage.remove("a").ok());
  CHECK(storage.remove("a").code() == Code::not_found);
  CHECK(value_of(storage, "a") == "(none)");
}

} // namespace

TEST_CASE("storage: values are written, read, listed and removed, on the simulated disk") {
  SimulatedDisk disk;
  keeps_promises(*on(disk));
}

TEST_CASE("storage: values are written, read, listed and removed, on the machine's files") {
  TemporaryFolder folder;
  keeps_promises(*make_local_storage(folder.path, local_files()));
}

TEST_CASE("storage: a writer that is given up leaves nothing") {
  TemporaryFolder folder;
  auto storage = make_local_storage(folder.path, local_files());
  {
    auto writer = storage->write("a");
    REQUIRE(writer.ok());
    CHECK((*writer)->append(std::as_bytes(std::span("text"))).ok());
  }
  CHECK(value_of(*storage, "a") == "(none)");
  CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("storage: names that could lead elsewhere are refused") {
  SimulatedDisk disk;
  auto storage = on(disk);
  for (const char* name : {"", "/a", "a/", "a//b", "..", "a/../b", ".hidden", "a b", "a\n", "ä"}) {
    CAPTURE(name);
    CHECK(storage->put(name, "x").code() == Code::invalid_argument);
    CHECK(storage->open(name).status().code() == Code::invalid_argument);
    CHECK(storage->remove(name).code() == Code::invalid_argument);
  }
  CHECK(storage->put(std::string(513, 'a'), "x").code() == Code::invalid_argument);
  CHECK(disk.paths().empty());
}

TEST_CASE("storage: errors of the machine's files name the path and the reason") {
  TemporaryFolder folder;
  auto missing = make_local_storage((folder.path / "none").string(), local_files());
  Status status = missing->put("a", "x");
  CHECK(status.code() == Code::not_found);
  CHECK(status.message().find(folder.path.string()) != std::string::npos);
  auto storage = make_local_storage(folder.path, local_files());
  REQUIRE(storage->put("a", "x").ok());
  CHECK(storage->put("a/b", "x").code() == Code::failed_precondition);
  REQUIRE(storage->put("b/c", "x").ok());
  CHECK(storage->open("b").status().code() == Code::failed_precondition);
  CHECK_FALSE(storage->put("b", "x").ok());
  CHECK(value_of(*storage, "b/c") == "x");
}

// Each call of a replacement fails in turn, with and without effect; then the machine may end, and
// loses or keeps what was not synced. The name has the old value or the new one, whole; and the new
// one, if it was said to be there.
TEST_CASE("storage: a value is replaced whole or not at all, whatever fails and when") {
  int failures = 0;
  for (const char* name : {"a", "deep/er/a"})
    for (bool had_value : {false, true})
      for (bool with_effect : {false, true})
        for (int crash = -1; crash < 10; ++crash)
          for (int at = 1;; ++at) {
            SimulatedDisk disk;
            auto storage = on(disk);
            const std::string before = had_value ? "the old value" : "(none)";
            if (had_value)
              REQUIRE(storage->put(name, before).ok());
            disk.fail_at(at, with_effect);
            Status status = storage->put(name, "the new value, which is longer");
            const bool has_failed = disk.calls() >= at;
            disk.fail_at(0);
            if (crash >= 0)
              disk.crash(crash % 5, crash >= 5);
            const std::string after = value_of(*storage, name);
            CAPTURE(at);
            CAPTURE(crash);
            CAPTURE(with_effect);
            CHECK((after == before || after == "the new value, which is longer"));
            if (status.ok())
              CHECK(after == "the new value, which is longer");
            failures += !status.ok();
            // Whatever was left does not keep the next one from its place.
            CHECK(storage->put(name, "the next").ok());
            CHECK(value_of(*storage, name) == "the next");
            CHECK(storage->clear_unfinished("").ok());
            if (name == std::string_view("a"))
              CHECK(disk.paths() == std::set<std::string>{"/disk/a"});
            if (!has_failed)
              break;
          }
  CHECK(failures > 100);
}

TEST_CASE("storage: a removal that was said to be done outlives the machine's end") {
  SimulatedDisk disk;
  auto storage = on(disk);
  REQUIRE(storage->put("a", "x").ok());
  REQUIRE(storage->remove("a").ok());
  disk.crash(0, false);
  CHECK(value_of(*storage, "a") == "(none)");
}

TEST_CASE("storage: of two writers of one name the later commit stays") {
  SimulatedDisk disk;
  auto storage = on(disk);
  auto first = storage->write("a"), second = storage->write("a");
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK((*first)->append(std::as_bytes(std::span("1", 1))).ok());
  CHECK((*second)->append(std::as_bytes(std::span("2", 1))).ok());
  CHECK((*second)->commit().ok());
  CHECK((*first)->commit().ok());
  CHECK(value_of(*storage, "a") == "1");
  CHECK(disk.paths() == std::set<std::string>{"/disk/a"});
}
