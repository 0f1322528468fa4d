// A traced step as a picture: time from left to right, a band for each device, a bar for each span.
#pragma once

#include <string>

#include "core/trace/step_stats.hpp"

namespace troupe {

/// A whole SVG document, readable on its own. Bars that overlap lie in rows below each other; what
/// is too narrow for its name shows it when pointed at. Each band says for how long something ran
/// in it. Clocks of several machines are taken as they are.
std::string to_svg(const StepStats& stats, const std::string& title);

} // namespace troupe
