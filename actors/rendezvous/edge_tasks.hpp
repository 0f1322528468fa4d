// EdgeTasks: the tasks at both ends of a cut edge, by its key. Decides nothing; knows no actors.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/device_name.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

/// Keys are parsed once for each pair of devices: the rest of a key says nothing about tasks.
class EdgeTasks {
public:
  struct Ends {
    std::string source, target; ///< "/job:worker/replica:0/task:1"
  };

  /// INVALID_ARGUMENT for what is no key. What it points to lives until the next call.
  Result<const Ends*> of(std::string_view key) {
    const std::string_view devices = key.substr(0, end_of_devices(key));
    if (auto it = known_.find(devices); it != known_.end())
      return &it->second;
    TROUPE_ASSIGN(ParsedKey parsed, parse_rendezvous_key(key));
    if (known_.size() == max_known) // keys come from peers too
      known_.clear();
    Ends ends{task_of_device(parsed.src_device), task_of_device(parsed.dst_device)};
    return &known_.emplace(std::string(devices), std::move(ends)).first->second;
  }

  /// Empty for what is no key.
  std::string_view source(std::string_view key) {
    auto ends = of(key);
    return ends.ok() ? std::string_view((*ends)->source) : std::string_view();
  }

private:
  static constexpr std::size_t max_known = 1024;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  // Behind the third semicolon: "src_device;incarnation;dst_device;".
  static std::size_t end_of_devices(std::string_view key) {
    std::size_t at = 0;
    for (int i = 0; i < 3 && at != std::string_view::npos; ++i)
      at = key.find(';', i == 0 ? 0 : at + 1);
    return at == std::string_view::npos ? at : at + 1;
  }

  std::unordered_map<std::string, Ends, Hash, std::equal_to<>> known_;
};

} // namespace troupe
