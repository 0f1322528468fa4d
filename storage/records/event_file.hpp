// EventFile: a file of Event messages, as TensorBoard reads it while it grows.
//
//   FOLDER/events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER.SUFFIX
//
// is a TFRecord file (storage/records/records.hpp) whose first event says
//
//   Event { wall_time: SECONDS, file_version: "brain.Event:2", source_metadata { writer: … } }
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "storage/files/allowed_files.hpp"
#include "storage/files/file_system.hpp"

namespace troupe {

/// Fields of the messages Event and Summary.
namespace event_field {
inline constexpr int wall_time = 1, step = 2, file_version = 3, graph_def = 4, summary = 5,
                     source_metadata = 10;
} // namespace event_field

/// One thread at a time.
class EventFile {
public:
  /// Makes the folder, and the file with its first event. A suffix that begins without a '.' gets
  /// one. What AllowedFiles says. `files` outlives it.
  static Result<EventFile> create(AllowedFiles& files, const std::string& folder,
                                  std::string_view suffix);
  /// Event messages, seen at once by whoever reads the file.
  Status append(std::span<const std::string> events);
  /// What was appended outlives the machine's sudden end.
  Status sync() { return file_->sync(); }
  const std::string& name() const { return name_; }

private:
  EventFile() = default;
  std::string name_;
  std::unique_ptr<File> file_;
};

} // namespace troupe
