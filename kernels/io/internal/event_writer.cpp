#include "kernels/io/internal/event_writer.hpp"

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe::io {
namespace {
constexpr std::size_t most_queued = 16 << 20; // bytes, whatever the number of events
} // namespace

Result<std::shared_ptr<EventWriter>> EventWriter::make(std::shared_ptr<AllowedFiles> files,
                                                       Spec spec) {
  std::shared_ptr<EventWriter> out(new EventWriter(std::move(files), std::move(spec)));
  TROUPE_ASSIGN(out->file_, EventFile::create(*out->files_, out->spec_.folder, out->spec_.suffix));
  out->flushed_us_ = steady_micros();
  return out;
}

EventWriter::~EventWriter() {
  std::scoped_lock guard(lock_);
  if (!queue_.empty())
    if (const Status status = append_queued(); !status.ok())
      log_warning("events were lost at the end of a summary writer: ", status.to_string());
}

Status EventWriter::write(std::string event) {
  std::scoped_lock guard(lock_);
  queued_bytes_ += event.size();
  queue_.push_back(std::move(event));
  if (std::ssize(queue_) > spec_.max_queue || queued_bytes_ > most_queued ||
      steady_micros() - flushed_us_ > 1000 * spec_.flush_ms)
    return append_queued();
  return {};
}

Status EventWriter::flush() {
  std::scoped_lock guard(lock_);
  TROUPE_TRY(append_queued());
  return file_->sync();
}

Status EventWriter::append_queued() {
  const std::vector<std::string> events = std::exchange(queue_, {});
  queued_bytes_ = 0;
  flushed_us_ = steady_micros();
  if (!file_) {
    TROUPE_ASSIGN(file_, EventFile::create(*files_, spec_.folder, spec_.suffix));
  }
  Status status = file_->append(events);
  if (status.ok())
    return {};
  // The file may end in the midst of an event: nobody reads what comes behind it.
  const std::string name = file_->name();
  file_.reset();
  return Status(status.code(), str_cat("Could not flush events file. ", events.size(),
                                       " events for ", name, " are lost: ", status.message()));
}

std::string EventWriter::description() const {
  std::scoped_lock guard(lock_);
  return str_cat("summary writer to '", file_ ? file_->name() : spec_.folder, "', ", queue_.size(),
                 " events queued");
}

std::size_t EventWriter::bytes() const {
  std::scoped_lock guard(lock_);
  return queued_bytes_;
}

MessageWriter new_event(std::int64_t step) {
  MessageWriter out;
  out.real(event_field::wall_time, static_cast<double>(wall_micros()) / 1e6);
  if (step != 0)
    out.signed_integer(event_field::step, step);
  return out;
}

} // namespace troupe::io
