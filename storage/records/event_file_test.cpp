#include "storage/records/event_file.hpp"

#include <doctest/doctest.h>

#include "storage/files/testing/simulated_disk.hpp"
#include "storage/message/message.hpp"
#include "storage/records/records.hpp"

using namespace troupe;
using testing::SimulatedDisk;

namespace {

std::vector<std::string> events_of(AllowedFiles& files, const std::string& name) {
  auto file = files.open(name);
  REQUIRE(file.ok());
  RecordReader reader(read_in_order(*std::move(file)));
  std::vector<std::string> out;
  std::string event;
  for (;;) {
    auto more = reader.next(event);
    REQUIRE_MESSAGE(more.ok(), more.status().to_string());
    if (!*more)
      return out;
    out.push_back(event);
  }
}

std::shared_ptr<AllowedFiles> on(SimulatedDisk& disk) {
  auto out = AllowedFiles::make({"/disk"}, disk);
  REQUIRE(out.ok());
  return *out;
}

} // namespace

TEST_CASE("events: a file begins with its version, and is seen while it grows") {
  SimulatedDisk disk;
  auto files = on(disk);
  auto file = EventFile::create(*files, "/disk/logs", "x");
  REQUIRE_MESSAGE(file.ok(), file.status().to_string());
  CHECK(file->name().starts_with("/disk/logs/events.out.tfevents."));
  CHECK(file->name().ends_with(".x"));
  const auto first = events_of(*files, file->name());
  REQUIRE(first.size() == 1);
  MessageReader in(first[0]);
  REQUIRE(in.next());
  CHECK(in.field() == 1);
  REQUIRE(in.next());
  CHECK(in.field() == 3);
  CHECK(in.bytes() == "brain.Event:2");
  const std::string events[] = {"a", "", std::string(100, 'b')};
  REQUIRE(file->append(events).ok());
  CHECK(events_of(*files, file->name()) ==
        std::vector<std::string>{first[0], "a", "", std::string(100, 'b')});
}

TEST_CASE("events: files of one process have different names") {
  SimulatedDisk disk;
  auto files = on(disk);
  auto a = EventFile::create(*files, "/disk", ".v2"), b = EventFile::create(*files, "/disk/", "v2");
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(a->name() != b->name());
  CHECK(a->name().find("..") == std::string::npos);
  CHECK(b->name().find("//") == std::string::npos);
}

TEST_CASE("events: where there is no room or no permission") {
  SimulatedDisk disk;
  auto files = on(disk);
  CHECK(EventFile::create(*files, "/elsewhere", "").status().code() == Code::permission_denied);
  disk.fill_at(1);
  CHECK(EventFile::create(*files, "/disk", "").status().code() == Code::resource_exhausted);
}
