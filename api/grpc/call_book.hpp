// CallBook: the steps that a session's gRPC clients wait for, and those whose client is gone.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace troupe {

/// A client that loses its connection sends the same request again, under the same id, as soon as
/// it is connected anew; the step must then still be there. So a step is not cancelled when its
/// client goes, but when none has come back for a while.
///
///   begin ──▶ waited for ── the last client of it goes ──▶ abandoned ── time is over ──▶ cancelled
///                 ▲                                            │
///                 └──────────── the request comes again ───────┘
///   end: from any state
class CallBook {
public:
  /// A call of `request_id` waits now. Returns its number.
  std::uint64_t begin(std::uint64_t request_id) {
    std::uint64_t number = next_++;
    calls_.emplace(number, request_id);
    ++waiting_[request_id];
    return number;
  }
  /// It was answered.
  void end(std::uint64_t number) { forget(number); }
  /// Its client has gone. The request that nobody waits for since, if that is so.
  std::optional<std::uint64_t> gone(std::uint64_t number) { return forget(number); }
  bool is_waited_for(std::uint64_t request_id) const { return waiting_.count(request_id) != 0; }
  std::size_t size() const { return calls_.size(); }

private:
  std::optional<std::uint64_t> forget(std::uint64_t number) {
    auto call = calls_.find(number);
    if (call == calls_.end())
      return std::nullopt;
    std::uint64_t request_id = call->second;
    calls_.erase(call);
    auto waiting = waiting_.find(request_id);
    if (--waiting->second > 0)
      return std::nullopt;
    waiting_.erase(waiting);
    return request_id;
  }

  std::uint64_t next_ = 1;
  std::unordered_map<std::uint64_t, std::uint64_t> calls_;   ///< number → request
  std::unordered_map<std::uint64_t, std::uint64_t> waiting_; ///< request → how many calls
};

/// Requests whose step was cancelled since nobody had come back for it; the latest.
class AbandonedRequests {
public:
  static constexpr std::size_t most = 10'000;
  void add(std::uint64_t request_id) {
    if (ids_.insert(request_id).second)
      order_.push_back(request_id);
    if (order_.size() > most) {
      ids_.erase(order_.front());
      order_.pop_front();
    }
  }
  bool contains(std::uint64_t request_id) const { return ids_.contains(request_id); }

private:
  std::unordered_set<std::uint64_t> ids_;
  std::deque<std::uint64_t> order_; ///< the oldest first
};

} // namespace troupe
