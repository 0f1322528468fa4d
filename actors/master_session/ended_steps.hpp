// EndedSteps: steps that have ended well, of which parts are still to be told. Plain: events in,
// effects out.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace troupe {

/// A part that holds nothing of a step but an empty rendezvous may hear of its end with the next
/// run that goes there; what has not gone so is sent in a while, once for all parts.
template <class Part>
class EndedSteps {
public:
  using Steps = std::vector<std::uint64_t>;

  /// True if somebody has to see to it that `take_all` is called in a while.
  bool add(const Part& part, std::uint64_t step_id) {
    parts_[part].push_back(step_id);
    return !std::exchange(is_posted_, true);
  }
  /// What a run that goes to the part takes along.
  Steps take(const Part& part) {
    auto found = parts_.find(part);
    if (found == parts_.end())
      return {};
    Steps out = std::move(found->second);
    parts_.erase(found);
    return out;
  }
  /// The while is over. What is not taken of what this gives is dropped.
  std::map<Part, Steps> take_all() {
    is_posted_ = false;
    return std::exchange(parts_, {});
  }

private:
  std::map<Part, Steps> parts_;
  bool is_posted_ = false;
};

} // namespace troupe
