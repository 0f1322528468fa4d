// EdgeTable: the values and the waiters of one step's cut edges, by key. Decides who gets what;
// knows no actors.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/status.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

/// Under each key either values wait for takers or takers wait for values, each first come first
/// served. After an abort nothing waits any more.
template <class Waiter>
class EdgeTable {
public:
  /// A value has come: the waiter who gets it, or nothing if it is kept for later (or dropped after
  /// an abort).
  std::optional<std::pair<Waiter, EdgeValue>> put(const std::string& key, EdgeValue value) {
    if (!aborted_.ok())
      return std::nullopt;
    if (auto it = waiters_.find(key); it != waiters_.end()) {
      std::pair<Waiter, EdgeValue> out{std::move(it->second.front()), std::move(value)};
      it->second.pop_front();
      if (it->second.empty())
        waiters_.erase(it);
      return out;
    }
    values_[key].push_back(std::move(value));
    return std::nullopt;
  }

  /// Somebody wants the value: it, or nothing if `waiter` is kept until it comes. After an abort
  /// the caller must ask `status` first.
  std::optional<EdgeValue> take(const std::string& key, Waiter waiter) {
    if (auto it = values_.find(key); it != values_.end()) {
      EdgeValue out = std::move(it->second.front());
      it->second.pop_front();
      if (it->second.empty())
        values_.erase(it);
      return out;
    }
    waiters_[key].push_back(std::move(waiter));
    return std::nullopt;
  }

  bool is_wanted(const std::string& key) const { return waiters_.count(key) > 0; }

  /// The values under the keys for which `f(key)` holds, now gone from here; of one key in order.
  template <class F>
  std::vector<std::pair<std::string, EdgeValue>> take_if(F f) {
    std::vector<std::pair<std::string, EdgeValue>> out;
    for (auto it = values_.begin(); it != values_.end();) {
      if (!f(it->first)) {
        ++it;
        continue;
      }
      for (EdgeValue& value : it->second)
        out.emplace_back(it->first, std::move(value));
      it = values_.erase(it);
    }
    return out;
  }

  /// The waiters of one key, now forgotten: for an error that concerns that edge alone.
  std::vector<Waiter> give_up(const std::string& key) {
    std::vector<Waiter> out;
    if (auto it = waiters_.find(key); it != waiters_.end()) {
      for (Waiter& waiter : it->second)
        out.push_back(std::move(waiter));
      waiters_.erase(it);
    }
    return out;
  }

  /// Ends the step: every waiter, with its key, and no value is left. The first abort's status
  /// stays.
  std::vector<std::pair<std::string, Waiter>> abort(const Status& why) {
    if (aborted_.ok())
      aborted_ = why;
    std::vector<std::pair<std::string, Waiter>> out;
    for (auto& [key, waiting] : waiters_)
      for (Waiter& waiter : waiting)
        out.emplace_back(key, std::move(waiter));
    waiters_.clear();
    values_.clear();
    return out;
  }

  /// ok until aborted.
  const Status& status() const { return aborted_; }
  std::size_t num_values() const { return values_.size(); }
  std::size_t num_waiting() const { return waiters_.size(); }
  std::vector<std::string> waiting_keys() const {
    std::vector<std::string> out;
    for (const auto& [key, waiting] : waiters_)
      out.push_back(key);
    return out;
  }

  /// Calls `f(key, waiter)` for keys with a waiter, then `f(key, nullptr)` for keys with a value;
  /// at most `limit` of each.
  template <class F>
  void describe(std::size_t limit, F f) const {
    std::size_t left = limit;
    for (auto it = waiters_.begin(); it != waiters_.end() && left > 0; ++it, --left)
      f(it->first, &it->second.front());
    left = limit;
    for (auto it = values_.begin(); it != values_.end() && left > 0; ++it, --left)
      f(it->first, static_cast<const Waiter*>(nullptr));
  }

private:
  std::unordered_map<std::string, std::deque<EdgeValue>> values_;
  std::unordered_map<std::string, std::deque<Waiter>> waiters_;
  Status aborted_;
};

} // namespace troupe
