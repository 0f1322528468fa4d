#include "actors/master_session/build_queue.hpp"

namespace troupe {

std::optional<BuildQueue::Build> BuildQueue::begin(std::int64_t version) {
  if (queue_.empty() || under_way_)
    return std::nullopt;
  under_way_ = Build{queue_.front(), ++tickets_, version};
  return under_way_;
}

const BuildQueue::Build* BuildQueue::find(std::uint64_t ticket) const {
  return under_way_ && under_way_->ticket == ticket ? &*under_way_ : nullptr;
}

void BuildQueue::end() {
  if (!under_way_)
    return;
  queue_.pop_front();
  under_way_.reset();
}

} // namespace troupe
