// RequestBook: where each request of a session that may come again is, so that its step runs once.
// Plain: events in, effects out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "actors/master_session/kept_answers.hpp"

namespace troupe {

/// A gRPC client that loses its connection sends the same request again under the same id. A step
/// runs either here, on the thread that took the call, or with the actors, which have a book of
/// their own.
///
///   begin ─▶ here ── end ──────▶ answered: again with the same answer, as long as it is kept
///              └──── hand_over ▶ with the actors ── ended ▶ theirs to answer again
///
/// A request that comes while its step is here waits for it. Once the actors had it, it is for
/// them.
template <class Call, class Answer>
class RequestBook {
public:
  enum class Place { fresh, here, actors, answered, dropped };
  struct Begun {
    Place place = Place::fresh;     ///< where the step is; `fresh`: it is to be begun, here
    const Answer* answer = nullptr; ///< of `answered`; valid until the next call
  };

  /// A call of the request has come. One whose step is here is kept until that ends. An id of 0 is
  /// fresh each time.
  Begun begin(std::uint64_t id, const Call& call) {
    if (id == 0)
      return {};
    if (auto found = here_.find(id); found != here_.end()) {
      found->second.push_back(call);
      return {Place::here};
    }
    if (with_actors_.contains(id) || were_with_actors_.contains(id))
      return {Place::actors};
    if (const Answer* answer = answers_.find(id))
      return {Place::answered, answer};
    if (answers_.was_given(id))
      return {Place::dropped};
    answers_.drop_large();
    here_.try_emplace(id);
    return {};
  }
  /// Its step has ended here. The other calls that wait for it.
  std::vector<Call> end(std::uint64_t id, Answer answer, std::size_t bytes) {
    if (id == 0)
      return {};
    answers_.add(id, std::move(answer), bytes, true);
    return take(id);
  }
  /// The actors have its step, and were told of it before this: they may have answered it by now.
  /// The other calls that wait for it are for them, too.
  std::vector<Call> hand_over(std::uint64_t id) {
    if (id == 0)
      return {};
    if (!were_with_actors_.contains(id))
      with_actors_.insert(id);
    return take(id);
  }
  /// The actors have answered it.
  void ended(std::uint64_t id) {
    if (with_actors_.erase(id) == 0 && !here_.contains(id))
      return;
    if (!were_with_actors_.insert(id).second)
      return;
    order_.push_back(id);
    if (order_.size() > max_requests) {
      were_with_actors_.erase(order_.front());
      order_.pop_front();
    }
  }

private:
  /// The actors know as many.
  static constexpr std::size_t max_requests = KeptAnswers<Answer>::max_requests;

  std::vector<Call> take(std::uint64_t id) {
    auto found = here_.extract(id);
    return found ? std::move(found.mapped()) : std::vector<Call>();
  }

  std::unordered_map<std::uint64_t, std::vector<Call>> here_; ///< with the calls that have joined
  std::unordered_set<std::uint64_t> with_actors_, were_with_actors_;
  std::deque<std::uint64_t> order_; ///< of the latter, the oldest first
  KeptAnswers<Answer> answers_;
};

} // namespace troupe
