// ExtensionBook: extensions of a session's graph by what they say, so that one that a client sends
// again, since it lost the answer, is done once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// An extension names the version of the graph that it is meant for, and TensorFlow's clients send
/// none but with its bytes again:
///
///   begin ──▶ asked ── the same comes again ──▶ asked, one more waits ── ended ──▶ known, if it went well
///
/// `Call` is who waits, opaque.
template <class Call>
class ExtensionBook {
public:
  struct Key {
    std::int64_t version = 0; ///< that it is meant for
    std::size_t size = 0, hash = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key key_of(std::int64_t version, std::string_view graph_def) {
    return {version, graph_def.size(), std::hash<std::string_view>{}(graph_def)};
  }

  /// The version that it made, if it is the last that went well.
  std::optional<std::int64_t> known(const Key& key) const {
    return last_ && last_->first == key ? std::optional(last_->second) : std::nullopt;
  }
  /// Takes a call. True if the extension is to be asked for; else it is under way already.
  bool begin(const Key& key, Call call) {
    for (Open& open : open_)
      if (open.key == key) {
        open.calls.push_back(std::move(call));
        return false;
      }
    open_.push_back({key, {}});
    open_.back().calls.push_back(std::move(call));
    return true;
  }
  /// Those who wait for it. `version`: that it has made; nothing: it was refused.
  std::vector<Call> ended(const Key& key, std::optional<std::int64_t> version) {
    std::vector<Call> out;
    for (auto open = open_.begin(); open != open_.end(); ++open)
      if (open->key == key) {
        out = std::move(open->calls);
        open_.erase(open);
        break;
      }
    if (version)
      last_ = {key, *version};
    return out;
  }

private:
  struct Open {
    Key key;
    std::vector<Call> calls;
  };
  std::vector<Open> open_;
  std::optional<std::pair<Key, std::int64_t>> last_;
};

} // namespace troupe
