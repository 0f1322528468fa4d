// Communicator: a device's place in a group, which later collectives name by a handle.
#pragma once

#include <map>
#include <mutex>

#include "core/base/strings.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe::collective {

class Communicator final : public Resource {
public:
  Communicator(std::int64_t group_key, int rank, int group_size)
      : group_key(group_key), rank(rank), group_size(group_size) {}
  std::string description() const override {
    return str_cat("rank ", rank, " of ", group_size, " in collective group ", group_key);
  }
  /// Numbers the collectives of a step. They begin anew in each, so that a step that fails on some
  /// members alone puts nobody out of step.
  std::int64_t next_instance(std::uint64_t step) {
    std::scoped_lock guard(lock_);
    auto [it, is_new] = numbers_.try_emplace(step, 0);
    if (is_new && order_.size() == most_steps) {
      numbers_.erase(order_[next_]);
    }
    if (is_new) {
      if (order_.size() < most_steps)
        order_.push_back(step);
      else
        order_[next_] = step;
      next_ = (next_ + 1) % most_steps;
    }
    return it->second++;
  }

  const std::int64_t group_key;
  const int rank, group_size;

private:
  static constexpr std::size_t most_steps = 64; // that run at once
  std::mutex lock_;
  std::map<std::uint64_t, std::int64_t> numbers_; // by step
  std::vector<std::uint64_t> order_;              // of those steps, from next_ on
  std::size_t next_ = 0;
};

} // namespace troupe::collective
