// How much of the machine this process may hope for.
#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// Bytes of the machine, or of the narrowest control group (version 1 or 2) that holds this
/// process, whichever is less. `root` is where /proc and /sys are looked for.
std::int64_t machine_memory(const std::string& root = "");

/// Processors that this process may run on, or those that the narrowest control group's quota comes
/// to, rounded up, whichever is less; at least 1. More threads than these would use up the group's
/// time early in each period, and all of them would stand still for the rest of it.
int machine_processors(const std::string& root = "");

/// What the tensors of all tasks of a machine may take together unless somebody says otherwise:
/// four fifths. The rest is for code, messages and the kernel.
constexpr std::int64_t default_memory_limit(std::int64_t machine_bytes) {
  return machine_bytes / 5 * 4;
}

} // namespace troupe
