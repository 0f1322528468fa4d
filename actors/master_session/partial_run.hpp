// PartialRun: a step whose feeds come in pieces, and whose fetches are asked for in pieces. Plain:
// events in, effects out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe {

/// Each feed is fed once, each fetch is fetched once, in any number of calls:
///
///   set up ──call──▶ at work ─┬─ended well──▶ ended ──everything is fed and fetched──▶ over
///     └────────────────────────┴─failed──▶ over; if no call waits, the next one is told
///
/// A call waits for what it fetches. The one after which nothing is left to feed or to fetch waits
/// for the step's end, too, as it is told how that ends.
///
/// `Call` is who waits, opaque. Feeds and fetches are known by their canonical names ("x:0").
template <class Call>
class PartialRun {
public:
  using Names = std::vector<std::string>;
  struct Answer {
    Call call;
    std::vector<Tensor> values; ///< in the order of the call's fetches
  };

  PartialRun(const Names& feeds, const Names& fetches) : values_(fetches.size()) {
    for (const std::string& name : feeds)
      feeds_.push_back({name});
    for (const std::string& name : fetches)
      fetches_.push_back({name});
  }

  /// Whether a call may feed and fetch these; in TensorFlow's words.
  Status check(const Names& feeds, const Names& fetches) const {
    TROUPE_TRY(check(feeds_, feeds, "feed", "fed"));
    return check(fetches_, fetches, "fetch", "fetched");
  }
  /// What is fed once these are, and what is not.
  std::pair<Names, Names> fed_with(const Names& feeds) const {
    std::pair<Names, Names> out;
    for (const End& feed : feeds_)
      (feed.is_done || std::ranges::find(feeds, feed.name) != feeds.end() ? out.first : out.second)
          .push_back(feed.name);
    return out;
  }
  /// Takes a call that was checked.
  void begin(const Names& feeds, const Names& fetches, Call call) {
    for (const std::string& name : feeds)
      feeds_[*find(feeds_, name)].is_done = true;
    Open open{std::move(call), {}, fetches.size(), false};
    for (const std::string& name : fetches) {
      const std::size_t index = *find(fetches_, name);
      fetches_[index].is_done = true;
      open.fetches.push_back(index);
      open.missing -= values_[index].has_value();
    }
    open.is_last = is_complete();
    open_.push_back(std::move(open));
  }
  /// The feed's number, by its name.
  std::optional<std::size_t> feed_number(const std::string& name) const {
    return find(feeds_, name);
  }
  /// A fetch is there.
  void fetched(std::size_t fetch, Tensor value) {
    if (fetch >= values_.size() || values_[fetch].has_value())
      return;
    values_[fetch] = std::move(value);
    for (Open& open : open_)
      open.missing -= std::ranges::find(open.fetches, fetch) != open.fetches.end();
  }
  /// All fetches are there.
  void ended() { has_ended_ = true; }
  /// The calls that need not wait any more.
  std::vector<Answer> take_answers() {
    std::vector<Answer> out;
    for (auto open = open_.begin(); open != open_.end();)
      if (open->missing == 0 && (!open->is_last || has_ended_)) {
        Answer& answer = out.emplace_back(Answer{std::move(open->call), {}});
        for (std::size_t fetch : open->fetches)
          answer.values.push_back(std::exchange(values_[fetch], Tensor{}));
        open = open_.erase(open);
      } else {
        ++open;
      }
    return out;
  }
  /// Ends the run: returns the waiting calls, which the caller answers. Without any, `why` is kept
  /// for the next call.
  std::vector<Call> fail(const Status& why) {
    std::vector<Call> out;
    for (Open& open : std::exchange(open_, {}))
      out.push_back(std::move(open.call));
    if (out.empty())
      failure_ = why;
    return out;
  }

  /// Why it has failed while nobody waited; OK: it has not.
  const Status& failure() const { return failure_; }
  bool has_ended() const { return has_ended_; }
  bool is_waited_for() const { return !open_.empty(); }
  /// Nothing is left to feed or to fetch.
  bool is_complete() const {
    auto is_done = [](const End& end) { return end.is_done; };
    return std::ranges::all_of(feeds_, is_done) && std::ranges::all_of(fetches_, is_done);
  }
  /// A call that waits; null: `is_it` of none.
  template <class P>
  Call* find_call(P is_it) {
    auto found = std::ranges::find_if(open_, [&](const Open& open) { return is_it(open.call); });
    return found == open_.end() ? nullptr : &found->call;
  }

private:
  struct End {
    std::string name;
    bool is_done = false;
  };
  struct Open {
    Call call;
    std::vector<std::size_t> fetches; ///< in the call's order
    std::size_t missing = 0;          ///< of them
    bool is_last = false;
  };

  static std::optional<std::size_t> find(const std::vector<End>& ends, const std::string& name) {
    auto it = std::ranges::find(ends, name, &End::name);
    return it == ends.end() ? std::nullopt
                            : std::optional(static_cast<std::size_t>(it - ends.begin()));
  }
  static Status check(const std::vector<End>& ends, const Names& names, std::string_view what,
                      std::string_view done) {
    for (auto name = names.begin(); name != names.end(); ++name) {
      const auto index = find(ends, *name);
      if (!index)
        return invalid_argument(
            str_cat("The ", what, " ", *name, " was not specified in partial_run_setup."));
      if (ends[*index].is_done || std::find(names.begin(), name, *name) != name)
        return invalid_argument(str_cat("The ", what, " ", *name, " has already been ", done, "."));
    }
    return {};
  }

  std::vector<End> feeds_, fetches_;
  std::vector<Tensor> values_; ///< by fetch: those that are there and nobody has got yet
  std::vector<Open> open_;     ///< in order of arrival
  bool has_ended_ = false;
  Status failure_;
};

} // namespace troupe
