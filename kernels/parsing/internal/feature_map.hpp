// Maps from names to features, as tensorflow.Example and tensorflow.SequenceExample have them.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/status.hpp"
#include "kernels/parsing/internal/wire.hpp"

namespace troupe::parsing {

/// Calls `use(key, value)` for each entry of a message of one map; false if it is none. `use`
/// returns false to stop, which is false here too.
template <class Use>
bool for_each_entry(std::string_view map, Use&& use) {
  std::string_view entry, key, value;
  for (WireCursor in(map); !in.at_end();) {
    if (!in.take_tag(block_tag(1)) || !in.take_block(entry))
      return false;
    WireCursor fields(entry);
    if (!fields.take_tag(block_tag(1)) || !fields.take_block(key) ||
        !fields.take_tag(block_tag(2)) || !fields.take_block(value) || !fields.at_end() ||
        !use(key, value))
      return false;
  }
  return true;
}

/// Where the wanted names are, by name.
class FeatureNames {
public:
  static constexpr int unwanted = -1;
  /// INVALID_ARGUMENT if two are equal. The names' text must outlive this.
  Status add(std::string_view name);
  int find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? unwanted : found->second;
  }

private:
  std::unordered_map<std::string_view, int> places_;
};

/// Looks names up, and tries first what the message before had at the same place: examples of one
/// kind have their features in one order.
class NameGuesser {
public:
  explicit NameGuesser(const FeatureNames& names) : names_(names) {}
  /// A new message begins.
  void restart() { next_ = 0; }
  int find(std::string_view name) {
    const std::size_t at = next_++;
    if (at < seen_.size() && seen_[at].name == name)
      return seen_[at].place;
    const int place = names_.find(name);
    if (at < seen_.size())
      seen_[at] = {name, place};
    else if (at < most)
      seen_.push_back({name, place});
    return place;
  }

private:
  static constexpr std::size_t most = 4096;
  struct Seen {
    std::string_view name;
    int place;
  };
  const FeatureNames& names_;
  std::vector<Seen> seen_;
  std::size_t next_ = 0;
};

/// Of several refusals that threads find the one of the first example.
class FirstError {
public:
  void add(std::int64_t example, Status status);
  /// Whether an example before this one was refused, so that it does not matter any more.
  bool is_before(std::int64_t example) const {
    return example_.load(std::memory_order_relaxed) < example;
  }
  Status status() const { return status_; }

private:
  std::atomic<std::int64_t> example_{INT64_MAX};
  std::mutex lock_;
  Status status_;
};

/// The first bytes of a message that was refused, in C's escapes.
std::string excerpt(std::string_view message);

} // namespace troupe::parsing
