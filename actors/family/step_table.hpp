// StepTable: what an actor knows of the steps that run, by step id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace troupe {

/// A later step reuses the place of one that has ended, so an actor in its steady state allocates
/// nothing here. `T::clear` makes a value as good as new.
template <class T>
class StepTable {
public:
  /// Requires that there is none of that id.
  T& add(std::uint64_t step_id) {
    if (spare_.empty())
      return running_[step_id];
    auto place = std::move(spare_.back());
    spare_.pop_back();
    place.key() = step_id;
    return running_.insert(std::move(place)).position->second;
  }
  /// Null if it does not run.
  T* find(std::uint64_t step_id) {
    auto it = running_.find(step_id);
    return it == running_.end() ? nullptr : &it->second;
  }
  const T* find(std::uint64_t step_id) const {
    auto it = running_.find(step_id);
    return it == running_.end() ? nullptr : &it->second;
  }
  void remove(std::uint64_t step_id) {
    auto place = running_.extract(step_id);
    if (place.empty() || spare_.size() == max_spare)
      return;
    place.mapped().clear();
    spare_.push_back(std::move(place));
  }
  bool empty() const { return running_.empty(); }
  std::size_t size() const { return running_.size(); }
  auto begin() { return running_.begin(); }
  auto end() { return running_.end(); }
  auto begin() const { return running_.begin(); }
  auto end() const { return running_.end(); }

private:
  static constexpr std::size_t max_spare = 16;
  using Map = std::unordered_map<std::uint64_t, T>;

  Map running_;
  std::vector<typename Map::node_type> spare_;
};

} // namespace troupe
