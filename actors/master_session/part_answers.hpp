// PartAnswers: which tasks have answered for their part of a graph that is being registered. Plain:
// events in, effects out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// A part is open until it registers, fails, or its task is lost. The first failure decides at
/// once; silent tasks are not waited for. Answers of parts that are not open are dropped.
class PartAnswers {
public:
  /// By part: the task that is asked.
  explicit PartAnswers(std::vector<std::string> tasks)
      : tasks_(std::move(tasks)), open_(tasks_.size(), true), num_open_(tasks_.size()) {}

  /// False for a part that is not open: its answer comes too late.
  bool registered(std::size_t part) { return close(part); }
  void failed(std::size_t part, const Status& why) {
    if (close(part) && status_.ok())
      status_ = why;
  }
  /// Fails the open parts of the task.
  void lose(std::string_view task, const Status& why) {
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (tasks_[i] == task)
        failed(i, why);
  }
  /// All have registered, or one has not.
  bool is_decided() const { return num_open_ == 0 || !status_.ok(); }
  const Status& status() const { return status_; }

private:
  bool close(std::size_t part) {
    if (!open_[part])
      return false;
    open_[part] = false;
    --num_open_;
    return true;
  }

  std::vector<std::string> tasks_;
  std::vector<bool> open_;
  std::size_t num_open_;
  Status status_;
};

} // namespace troupe
