// What `troupe run` shows on a terminal while its steps run: one line, written again and again.
#pragma once

#include <cstdint>
#include <string>

namespace troupe {

struct RunProgress {
  std::string doing = {};      ///< before the steps: "opening a session at caf://…"
  std::int64_t done = 0;       ///< steps
  std::int64_t steps = 0;      ///< in all
  std::int64_t steps_us = 0;   ///< since the first step began
  std::int64_t running_us = 0; ///< of what is being done, or of the present step
  std::string waits_for = {};  ///< a clause: "waiting for 'a:0' from /job:ps/…"; empty if unknown
};

/// "step 12 of 100, 3.2 steps/s, 27 s left"; from a second on it says for how long the present step
/// has run and what it waits for. Cut to `width` letters.
std::string format_progress(const RunProgress& progress, std::size_t width);

/// Columns of the terminal that is standard error; 0 if it is none.
std::size_t progress_width();

} // namespace troupe
