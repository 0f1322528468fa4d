// The reference of a config file's keys, as `troupe check --keys` prints it and docs/config.md
// shows it. It comes from the table that files are read by.
#pragma once

#include <string>

namespace troupe {

/// For each section its keys, each with its default, what it wants and what it means. Lines of at
/// most 100 letters.
std::string format_config_keys();

} // namespace troupe
