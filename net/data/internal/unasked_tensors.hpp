// UnaskedTensors: the tensors that one peer sends without having been asked, until they are
// claimed. Decides; knows no sockets and no threads.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/buffer.hpp"

namespace troupe::data {

///              announced                last byte                claim
///   (nothing) ───────────▶ coming ──────────────────▶ whole ─────────────▶ (nothing)
///       │ claim              │ claim                    │ taken back, or too old
///       ▼        announced   ▼        last byte         ▼
///   awaited ─────────────▶ coming, awaited ──▶ (nothing)   forgotten
///
/// Each claim is answered once. The ticket of a tensor that ends unclaimed is remembered for a
/// while, so that a late claim is answered at once.
class UnaskedTensors {
public:
  using Claimed = std::function<void(Result<BufferRef>, std::int64_t micros)>;
  using Allocate = std::function<Result<BufferRef>(std::uint64_t bytes)>;
  /// A claim to be answered, outside of any lock.
  struct Answer {
    Claimed to;
    Result<BufferRef> result;
    std::int64_t micros = 0;
  };
  /// What to do after an event.
  struct Effect {
    std::optional<Answer> answer;
    bool is_done = false;       ///< the peer is to be told that its bytes are lent again
    bool is_wrong = false;      ///< the peer broke the rules: the connection ends
    std::uint64_t bytes = 0;    ///< of a tensor that is whole now
    bool is_broken_off = false; ///< it was on its way, and does not come any more
  };

  explicit UnaskedTensors(std::uint64_t lent) : lent_(lent) {}

  /// Takes a claim. If the tensor is not there yet, the claim waits.
  Effect claim(std::uint64_t ticket, std::uint64_t bytes, Claimed done, std::int64_t now_us);
  /// The peer is about to send so many bytes. If there is no memory for the tensor, it is counted
  /// like all others, and its bytes are dropped.
  Effect announced(std::uint64_t ticket, std::uint64_t bytes, const Allocate& allocate,
                   std::int64_t now_us);
  /// Where the next bytes belong; a null address if they are to be dropped. Nothing when they do
  /// not fit what was announced.
  std::optional<std::byte*> piece(std::uint64_t ticket, std::uint64_t bytes, bool is_last);
  /// The last of them have come.
  Effect whole(std::uint64_t ticket, std::int64_t now_us);
  /// The peer takes it back, or has refused it: a claim that waits for it ends with `why`.
  Effect taken_back(std::uint64_t ticket, const Status& why, std::int64_t now_us);
  /// Drops tensors that have been whole and unclaimed since `oldest_us`; gives their tickets.
  std::vector<std::uint64_t> drop_unclaimed(std::int64_t oldest_us);
  /// The connection has ended; gives the claims that wait.
  std::vector<Claimed> end();

  /// Whether a claim waits for bytes, or bytes are on their way.
  bool is_owed() const { return owed_ > 0; }
  std::uint64_t held() const { return held_; } ///< bytes of what is lent
  std::size_t num_whole() const { return tensors_.size() - owed_; }
  std::size_t num_coming() const; ///< announced, and not whole

private:
  struct Tensor {
    BufferRef into; ///< null: not announced, or no room
    std::uint64_t bytes = 0, arrived = 0, wanted = 0;
    std::int64_t since_us = 0, whole_us = 0;
    bool is_announced = false, is_whole = false;
    Status status; ///< of its memory
    Claimed done;  ///< who waits
  };
  using Map = std::unordered_map<std::uint64_t, Tensor>;
  /// Takes a tensor out that is whole and wanted.
  Effect hand_over(Map::iterator at);
  void forget(std::uint64_t ticket);
  static constexpr std::size_t most_forgotten = 1024;

  const std::uint64_t lent_;
  std::uint64_t held_ = 0;
  std::size_t owed_ = 0; // tensors that are not whole
  Map tensors_;
  std::deque<std::uint64_t> forgotten_;
};

} // namespace troupe::data
