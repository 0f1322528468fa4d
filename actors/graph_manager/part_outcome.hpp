// PartOutcome: how a step's part of a task ends, which each of its devices runs a piece of. Plain:
// events in, effects out.
#pragma once

#include <cstddef>

#include "core/base/status.hpp"

namespace troupe {

/// Ends when all devices have ended. The error is the first one; if that is derived from another,
/// it stands in until one comes that is not.
class PartOutcome {
public:
  explicit PartOutcome(std::size_t devices = 0) : missing_(devices) {}

  struct Effect {
    bool cancels_rest = false; ///< the other devices have nothing left to wait for
    bool is_over = false;      ///< all have ended
  };
  Effect device_ended(const Status& status) {
    Effect out;
    out.cancels_rest = status_.ok() && !status.ok();
    if (out.cancels_rest || (status_.derived() && !status.ok() && !status.derived()))
      status_ = status;
    if (missing_ > 0)
      out.is_over = --missing_ == 0;
    return out;
  }

  std::size_t num_missing() const { return missing_; }
  bool is_over() const { return missing_ == 0; }
  const Status& status() const { return status_; }

private:
  std::size_t missing_;
  Status status_;
};

} // namespace troupe
