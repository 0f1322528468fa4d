// PathPlan: on which path tensors come from one peer, and which fetches have their turn on it.
// Plain: events in, effects out.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "net/data/tensor_path.hpp"

namespace troupe {

///            fetch             offered              opened
///   unknown ───────▶ asked ──────────────▶ opening ─────────▶ ready
///      ▲               │                   │     ▲              │
///      │  unanswered   │          refused: │     └──────────────┤
///      ├───────────────┘          the next │ candidate          │
///      │                   none is left    │                    │
///      ├───────────────────────────────────┘              broke │
///      └────────────────────────────────────────────────────────┘
///
/// Messages need no opening. An event that the state does not wait for, because it is late or comes
/// twice, changes nothing.
class PathPlan {
public:
  enum class State : std::uint8_t { unknown, asked, opening, ready };
  /// What the caller has to do next.
  enum class Do : std::uint8_t {
    nothing,
    ask,  ///< ask the peer which paths it offers
    open, ///< open path()
    use,  ///< path() stands: start what has its turn
    fail, ///< there is no path; `failed` end
  };
  struct Effect {
    Do what = Do::nothing;
    std::vector<std::uint64_t> failed; ///< fetches that waited for a path
  };

  /// Bytes that may be under way at once, unless one fetch is larger by itself.
  explicit PathPlan(std::uint64_t byte_window) : byte_window_(byte_window) {}

  State state() const { return state_; }
  /// Being opened, or in use.
  TensorPath path() const { return candidates_.empty() ? TensorPath::messages : candidates_[0]; }
  /// Why no better path is in use; empty if the first candidate is.
  const std::string& remark() const { return remark_; }

  /// A fetch waits for its turn.
  Effect fetch(std::uint64_t number, std::uint64_t bytes);
  /// The peer's offer; best first, not empty.
  Effect offered(std::vector<TensorPath> candidates);
  /// The peer did not say, or offers none that may be used.
  Effect unanswered();
  /// The path that was being opened stands.
  Effect opened();
  /// It cannot be opened.
  Effect refused(const Status& why);
  /// A path that stood has ended. What is under way on it is told by itself.
  Effect broke();

  /// The next fetch whose turn it is, from now on under way; nothing while there is no path or no
  /// room in the window.
  std::optional<std::uint64_t> next_turn();
  /// The fetch has ended; true if it was under way, and so has made room.
  bool ended(std::uint64_t number);
  /// Every fetch, waiting ones first: the peer is gone.
  std::vector<std::uint64_t> lose();

private:
  struct Waiting {
    std::uint64_t number = 0, bytes = 0;
  };
  Effect try_candidate();
  Effect fail();

  std::uint64_t byte_window_;
  State state_ = State::unknown;
  std::vector<TensorPath> candidates_; ///< the first is being opened, or in use
  std::string remark_;
  std::deque<Waiting> waiting_;                      ///< for the path, or for the window
  std::map<std::uint64_t, std::uint64_t> under_way_; ///< bytes by number
  std::uint64_t bytes_under_way_ = 0;
};

} // namespace troupe
