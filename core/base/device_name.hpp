// DeviceName: "/job:worker/replica:0/task:1/device:CPU:0", full or partial.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.hpp"

namespace troupe {

/// Each part may be missing. A full name has all five.
struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type; ///< upper case: "CPU", "GPU"
  std::optional<int> id;

  /// Accepts TensorFlow's forms: parts in any order, "*" for unknown, "/device:CPU:0", "/cpu:0",
  /// "/gpu:*", "/device:GPU". INVALID_ARGUMENT "Malformed device specification '…'" otherwise. The
  /// empty text is the empty name.
  static Result<DeviceName> parse(std::string_view text);

  bool is_full() const { return job && replica && task && type && id; }
  bool has_task_part() const { return job && replica && task; }
  bool empty() const { return !job && !replica && !task && !type && !id; }
  /// Every part that this has, `full` has too, with the same value.
  bool matches(const DeviceName& full) const;
  /// Both could name one device.
  bool is_compatible_with(const DeviceName& other) const;
  /// This, completed by `other` where this says nothing; nothing on a contradiction.
  std::optional<DeviceName> merge(const DeviceName& other) const;
  DeviceName task_part() const; ///< job, replica and task only
  DeviceName without_device() const { return task_part(); }

  std::string to_string() const; ///< canonical; "" when empty
  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

/// "/job:worker/replica:0/task:1" of a full device name; the whole text if it has no such part.
std::string task_of_device(std::string_view full_name);
/// Canonical task name.
std::string task_name(std::string_view job, int task, int replica = 0);

} // namespace troupe
