// EventWriter: the resource behind a summary writer's handle. It collects events and appends them
// to an event file.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "devices/resource/resource_manager.hpp"
#include "storage/message/message.hpp"
#include "storage/records/event_file.hpp"

namespace troupe::io {

/// Any thread; writers of events wait while others write them to the disk. What is still queued at
/// its end is written then.
class EventWriter final : public Resource {
public:
  struct Spec {
    std::string folder, suffix;
    std::int64_t max_queue = 0; ///< events that wait in memory, at most
    std::int64_t flush_ms =
        0; ///< an event that comes so long after the last flush is a reason for one
  };
  /// Makes the file. What EventFile::create says.
  static Result<std::shared_ptr<EventWriter>> make(std::shared_ptr<AllowedFiles> files, Spec spec);
  ~EventWriter() override;
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// An Event message. Fails if events are written now and the disk does not take them: they are
  /// lost then, and the next ones go to another file.
  Status write(std::string event);
  /// All that was written is in the file, also after the machine's sudden end.
  Status flush();

  std::string description() const override;
  std::size_t bytes() const override;

private:
  EventWriter(std::shared_ptr<AllowedFiles> files, Spec spec)
      : files_(std::move(files)), spec_(std::move(spec)) {}
  Status append_queued();

  const std::shared_ptr<AllowedFiles> files_;
  const Spec spec_;
  mutable std::mutex lock_;
  std::optional<EventFile> file_; ///< none after an error
  std::vector<std::string> queue_;
  std::size_t queued_bytes_ = 0;
  std::int64_t flushed_us_ = 0;
};

/// An Event of now with a step; what it is about is added to it.
MessageWriter new_event(std::int64_t step);

} // namespace troupe::io
