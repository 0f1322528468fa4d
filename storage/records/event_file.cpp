#include "storage/records/event_file.hpp"

#include <atomic>
#include <cstdio>

#include <unistd.h>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "storage/message/message.hpp"
#include "storage/records/records.hpp"

namespace troupe {
namespace {

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "localhost";
}

std::string first_event(std::int64_t seconds) {
  MessageWriter source, out;
  source.bytes(1, "tensorflow.core.util.events_writer");
  out.real(event_field::wall_time, static_cast<double>(seconds))
      .bytes(event_field::file_version, "brain.Event:2")
      .message(event_field::source_metadata, source);
  return out.take();
}

} // namespace

Result<EventFile> EventFile::create(AllowedFiles& files, const std::string& folder,
                                    std::string_view suffix) {
  static std::atomic<std::int64_t> number{0}; // of the files of this process
  const std::int64_t seconds = wall_micros() / 1'000'000;
  char time[24];
  std::snprintf(time, sizeof time, "%010lld", static_cast<long long>(seconds));
  EventFile out;
  out.name_ = str_cat(folder, folder.empty() || folder.ends_with('/') ? "" : "/",
                      "events.out.tfevents.", time, ".", host_name(), ".", ::getpid(), ".",
                      number++, suffix.starts_with('.') ? "" : ".", suffix);
  TROUPE_TRY(files.make_folders(folder.empty() ? "." : folder));
  TROUPE_ASSIGN(out.file_, files.create(out.name_));
  const std::string first = first_event(seconds);
  TROUPE_TRY(out.append(std::span(&first, 1)));
  return out;
}

Status EventFile::append(std::span<const std::string> events) {
  std::string records;
  for (const std::string& event : events)
    append_record(records, event);
  return file_->append(std::as_bytes(std::span(records)));
}

} // namespace troupe
