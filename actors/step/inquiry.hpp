// The STEP's question to its tasks: what do you still wait for?
#pragma once

#include <chrono>
#include <functional>

#include "actors/step/step.hpp"
#include "actors/step/why_tree.hpp"

namespace troupe {

/// Asks every task whose part has not ended, and membership about those that stay silent. Calls
/// `done` once, as part of `self`: when all have answered, or when `budget` has passed.
void inquire(StepActor::stateful_pointer<StepState> self, const Services& services,
             std::chrono::nanoseconds budget, std::function<void(const Why&)> done);

} // namespace troupe
