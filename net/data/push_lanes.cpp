#include "net/data/push_lanes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/random.hpp"
#include "net/data/frames.hpp"

static_assert((troupe::PushLanes::mark & troupe::data::unasked) != 0);

namespace troupe {

namespace {

/// A question costs a round trip. What takes the wire eight of them loses an eighth at most by
/// being asked for, and takes no memory before its receiver has said so.
constexpr std::uint64_t round_trips = 8;
/// Unasked whatever has been measured: asking also wakes threads at both ends, which takes as long
/// as sending so much over a quick wire.
constexpr std::uint64_t always = std::uint64_t{1} << 20;

} // namespace

PushLane::PushLane(std::uint64_t id, std::uint64_t lent, Out out)
    : id_(id), lent_(lent), out_(std::move(out)), largest_(std::min(lent, always)) {}

bool PushLane::push(std::uint64_t ticket, const Tensor& tensor) {
  const std::uint64_t bytes = tensor.byte_size();
  std::scoped_lock guard(lock_);
  if (is_over_ || bytes == 0 || bytes > largest_ || bytes > lent_ - taken_)
    return false;
  taken_ += bytes;
  under_way_.emplace(ticket, bytes);
  out_.send(ticket, tensor);
  return true;
}

bool PushLane::take_back(std::uint64_t ticket) {
  std::scoped_lock guard(lock_);
  if (under_way_.count(ticket) == 0)
    return false;
  if (!is_over_)
    out_.take_back(ticket);
  return true;
}

void PushLane::done(std::uint64_t ticket) {
  std::scoped_lock guard(lock_);
  if (auto found = under_way_.find(ticket); found != under_way_.end()) {
    taken_ -= found->second;
    under_way_.erase(found);
  }
}

void PushLane::measured(std::uint64_t bytes_per_second, std::uint64_t round_trip_us) {
  const double bytes = static_cast<double>(bytes_per_second) * 1e-6 *
                       static_cast<double>(round_trip_us) * static_cast<double>(round_trips);
  std::scoped_lock guard(lock_);
  largest_ = std::min(lent_, std::max(always, bytes < 1e18 ? static_cast<std::uint64_t>(bytes)
                                                           : std::uint64_t{1} << 60));
}

void PushLane::end() {
  std::scoped_lock guard(lock_);
  is_over_ = true;
}

std::uint64_t PushLane::largest() const {
  std::scoped_lock guard(lock_);
  return largest_;
}

std::uint64_t PushLane::under_way() const {
  std::scoped_lock guard(lock_);
  return taken_;
}

void PushLanes::add(std::uint64_t node, std::shared_ptr<PushLane> lane) {
  std::scoped_lock guard(lock_);
  lanes_[node] = std::move(lane);
}

void PushLanes::remove(std::uint64_t node, const std::shared_ptr<PushLane>& lane) {
  lane->end();
  std::scoped_lock guard(lock_);
  if (auto found = lanes_.find(node); found != lanes_.end() && found->second == lane)
    lanes_.erase(found);
}

std::optional<PushLanes::Pushed> PushLanes::push(std::uint64_t node, const Tensor& tensor) {
  std::shared_ptr<PushLane> lane;
  {
    std::scoped_lock guard(lock_);
    auto found = lanes_.find(node);
    if (found == lanes_.end())
      return std::nullopt;
    lane = found->second;
  }
  const std::uint64_t ticket = random_id() | mark;
  if (!lane->push(ticket, tensor))
    return std::nullopt;
  std::scoped_lock guard(lock_);
  ++pushed_;
  return Pushed{ticket, lane->id()};
}

bool PushLanes::take_back(std::uint64_t ticket) {
  std::vector<std::shared_ptr<PushLane>> lanes;
  {
    std::scoped_lock guard(lock_);
    for (const auto& [node, lane] : lanes_)
      lanes.push_back(lane);
  }
  return std::any_of(lanes.begin(), lanes.end(),
                     [=](const auto& lane) { return lane->take_back(ticket); });
}

std::uint64_t PushLanes::num_pushed() const {
  std::scoped_lock guard(lock_);
  return pushed_;
}

} // namespace troupe
