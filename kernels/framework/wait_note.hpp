// What a kernel that waits waits for, for whoever asks why its step does not go on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "devices/resource/resource_manager.hpp"

namespace troupe {

/// Says it at the moment: "an element of queue 'q' (FIFOQueue of string, 0 elements)". Any thread.
using WaitText = std::function<std::string()>;

/// Names one run of a node within its step.
struct WaitPlace {
  std::string_view node;
  std::uint64_t frame = 0;
  std::int64_t iteration = 0;
};

/// Notes are kept among the step's resources, by those who wait.
void note_wait(ResourceManager& step, const WaitPlace& place, WaitText text);
void forget_wait(ResourceManager& step, const WaitPlace& place);
/// Empty where nothing was noted.
std::string noted_wait(ResourceManager& step, const WaitPlace& place);

} // namespace troupe
