#include "actors/transport/path_plan.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {

PathPlan::Effect PathPlan::fetch(std::uint64_t number, std::uint64_t bytes) {
  waiting_.push_back({number, bytes});
  if (state_ == State::ready)
    return {Do::use, {}};
  if (state_ != State::unknown)
    return {};
  state_ = State::asked;
  remark_.clear();
  return {Do::ask, {}};
}

PathPlan::Effect PathPlan::offered(std::vector<TensorPath> candidates) {
  if (state_ != State::asked)
    return {};
  candidates_ = std::move(candidates);
  return try_candidate();
}

PathPlan::Effect PathPlan::unanswered() {
  return state_ == State::asked ? fail() : Effect{};
}

PathPlan::Effect PathPlan::try_candidate() {
  if (candidates_.empty())
    return fail();
  const bool is_there = candidates_[0] == TensorPath::messages;
  state_ = is_there ? State::ready : State::opening;
  return {is_there ? Do::use : Do::open, {}};
}

PathPlan::Effect PathPlan::opened() {
  if (state_ != State::opening)
    return {};
  state_ = State::ready;
  return {Do::use, {}};
}

PathPlan::Effect PathPlan::refused(const Status& why) {
  if (state_ != State::opening)
    return {};
  remark_ = str_cat("no ", to_string(path()), ": ", why.message());
  candidates_.erase(candidates_.begin());
  return try_candidate();
}

PathPlan::Effect PathPlan::broke() {
  if (state_ != State::ready)
    return {};
  remark_.clear();
  return fail();
}

PathPlan::Effect PathPlan::fail() {
  state_ = State::unknown;
  candidates_.clear();
  Effect out{Do::fail, {}};
  for (const Waiting& fetch : waiting_)
    out.failed.push_back(fetch.number);
  waiting_.clear();
  return out;
}

std::optional<std::uint64_t> PathPlan::next_turn() {
  if (state_ != State::ready || waiting_.empty())
    return std::nullopt;
  const Waiting next = waiting_.front();
  if (!under_way_.empty() && bytes_under_way_ + next.bytes > byte_window_)
    return std::nullopt;
  waiting_.pop_front();
  under_way_.emplace(next.number, next.bytes);
  bytes_under_way_ += next.bytes;
  return next.number;
}

bool PathPlan::ended(std::uint64_t number) {
  if (auto found = under_way_.find(number); found != under_way_.end()) {
    bytes_under_way_ -= found->second;
    under_way_.erase(found);
    return true;
  }
  std::erase_if(waiting_, [=](const Waiting& fetch) { return fetch.number == number; });
  return false;
}

std::vector<std::uint64_t> PathPlan::lose() {
  std::vector<std::uint64_t> out = fail().failed;
  for (const auto& [number, bytes] : under_way_)
    out.push_back(number);
  under_way_.clear();
  bytes_under_way_ = 0;
  return out;
}

} // namespace troupe
