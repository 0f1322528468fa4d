// LineWriter: lines for a descriptor that may be slow or never read, such as a pipe. The writing
// thread never waits: what cannot be written at once is queued, and what does not fit is dropped
// and counted.
//
//   write ── queue empty, room ──▶ written at once
//     ├───── else ──▶ queued ── thread of its own ──▶ written
//     └───── queue full, or the descriptor fails ──▶ dropped, counted
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace troupe {

/// Any thread. The order of `write` calls is the order of the lines.
class LineWriter {
public:
  static constexpr std::size_t default_capacity = std::size_t{1} << 20;

  /// Writes to a duplicate of `fd`; `capacity` bounds the queue, in bytes. Standard output and
  /// error are written to themselves where the process has no descriptor left for a duplicate.
  explicit LineWriter(int fd, std::size_t capacity = default_capacity);
  /// Does not wait: lines that are still queued are lost.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Takes whole lines, each with its line end. Where lines were dropped, the next line that is
  /// accepted is preceded by one that says how many.
  void write(std::string_view lines);
  /// Waits until everything is written, `budget` at most; false if something is still queued then.
  bool flush(std::chrono::milliseconds budget);
  /// Lines that were dropped so far.
  std::int64_t num_dropped() const;

private:
  struct State;
  std::shared_ptr<State> state_; ///< shared with the thread, which may be stuck in a write
};

/// The process's own streams; they live until the process ends.
LineWriter& standard_output();
LineWriter& standard_error();

} // namespace troupe
