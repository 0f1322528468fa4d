// GraphGrowth: additions to a session's graph, and what waits until they are in it. Plain: events
// in, effects out.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

/// Additions are parsed one after the other, each upon the graph that the one before has left:
///
///   add ──▶ waiting ──begin──▶ being parsed ──parsed──▶ (the caller's)
///
/// Both are opaque but for `Addition::current_version()`: the version that it is meant for,
/// negative for any. A `Question` is asked of the graph that stands when all additions are in it.
template <class Addition, class Question>
class GraphGrowth {
public:
  /// True if it is the only one: `refused` and `begin` are to be called.
  bool add(Addition addition) {
    additions_.push_back(std::move(addition));
    return additions_.size() == 1;
  }
  bool is_growing() const { return !additions_.empty(); }
  /// The next ones that are meant for another version than `version`.
  std::vector<Addition> refused(std::int64_t version) {
    std::vector<Addition> out;
    while (!additions_.empty() && additions_.front().current_version() >= 0 &&
           additions_.front().current_version() != version) {
      out.push_back(std::move(additions_.front()));
      additions_.pop_front();
    }
    return out;
  }
  /// The next addition is being parsed from now on; null: there is none. `ticket` tells its end
  /// from that of an earlier one.
  Addition* begin(std::uint64_t& ticket) {
    if (additions_.empty())
      return nullptr;
    ticket = ++tickets_;
    return &additions_.front();
  }
  /// Nothing for one that came too late.
  std::optional<Addition> parsed(std::uint64_t ticket) {
    if (additions_.empty() || ticket != tickets_)
      return std::nullopt;
    std::optional<Addition> out = std::move(additions_.front());
    additions_.pop_front();
    ++tickets_;
    return out;
  }

  void ask(Question question) { questions_.push_back(std::move(question)); }
  std::vector<Question> take_questions() { return std::exchange(questions_, {}); }
  std::deque<Addition> take_additions() { return std::exchange(additions_, {}); }

private:
  std::deque<Addition> additions_; ///< in order of arrival; the first one is being parsed
  std::uint64_t tickets_ = 0;
  std::vector<Question> questions_;
};

} // namespace troupe
