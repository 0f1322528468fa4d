// Why a step goes on, as people read it.
#pragma once

#include <string>
#include <string_view>

#include "actors/protocol/local/master.hpp"
#include "core/base/duration_text.hpp"
#include "core/base/strings.hpp"

namespace troupe {

/// A headline, and below it the tree that ends in the cause.
inline std::string format_step(const StepExplained& step, std::string_view indent = "") {
  std::string out = str_cat(indent, "step ", step.step_id, " has been running for ",
                            format_micros(step.running_us), ": ", step.signature, "\n");
  for (const std::string& line : step.tree)
    str_append(out, indent, line, "\n");
  return out;
}

} // namespace troupe
