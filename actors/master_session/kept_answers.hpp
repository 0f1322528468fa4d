// KeptAnswers: what requests were answered, for those that come again because their client has lost
// the answer. Plain: events in, answers out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>

namespace troupe {

/// Bounded in number and in bytes: of the latest requests the answers are kept, of many more that
/// they were given. A request without an id, 0, is not kept.
template <class Answer>
class KeptAnswers {
public:
  static constexpr std::size_t max_answers = 256, max_requests = 10'000;
  /// Bytes of all answers that are kept; of those up to 64 KiB as long as there is room.
  static constexpr std::size_t max_bytes = 256 << 20, small_bytes = 64 << 10;

  /// Remembers an answer of `bytes`; of a large one nothing but that it was given, unless large
  /// ones are kept, too.
  void add(std::uint64_t request_id, Answer answer, std::size_t bytes, bool keeps_large) {
    if (request_id == 0)
      return;
    if (given_.insert(request_id).second)
      given_order_.push_back(request_id);
    if (given_order_.size() > max_requests) {
      given_.erase(given_order_.front());
      given_order_.pop_front();
    }
    if (bytes > (keeps_large ? max_bytes : small_bytes))
      return;
    kept_bytes_ += bytes;
    if (bytes > small_bytes)
      large_bytes_ += bytes;
    kept_.push_front({request_id, std::move(answer), bytes});
    while (kept_.size() > max_answers || kept_bytes_ > max_bytes)
      drop_oldest();
  }

  /// A new request has come, or none for long: whoever was given a large answer has it by now, or
  /// will not ask again.
  void drop_large() {
    if (large_bytes_ == 0)
      return;
    std::erase_if(kept_, [](const Kept& kept) { return kept.bytes > small_bytes; });
    kept_bytes_ -= large_bytes_;
    large_bytes_ = 0;
  }

  /// Null if the request is not known, or its answer is not kept.
  const Answer* find(std::uint64_t request_id) const {
    if (was_given(request_id)) // most requests are new
      for (const Kept& kept : kept_)
        if (kept.request_id == request_id)
          return &kept.answer;
    return nullptr;
  }
  /// Whether the request was answered before.
  bool was_given(std::uint64_t request_id) const { return given_.contains(request_id); }
  /// Whether answers are kept that drop_large would drop.
  bool has_large() const { return large_bytes_ > 0; }

private:
  struct Kept {
    std::uint64_t request_id = 0;
    Answer answer;
    std::size_t bytes = 0;
  };
  void drop_oldest() {
    const std::size_t bytes = kept_.back().bytes;
    kept_bytes_ -= bytes;
    if (bytes > small_bytes)
      large_bytes_ -= bytes;
    kept_.pop_back();
  }

  std::deque<Kept> kept_; ///< the latest first
  std::size_t kept_bytes_ = 0, large_bytes_ = 0;
  std::unordered_set<std::uint64_t> given_;
  std::deque<std::uint64_t> given_order_; ///< the oldest first
};

} // namespace troupe
