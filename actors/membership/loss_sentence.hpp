// What is told of a task that is lost.
#pragma once

#include <cstdint>
#include <string>

#include "actors/protocol/local/node.hpp"

namespace troupe {

/// What happened to `task` and what to do, for people. `own` is the task that says it.
std::string loss_sentence(const std::string& task, const std::string& address, LossReason reason,
                          std::int64_t silent_us, const std::string& own = "this task");

} // namespace troupe
