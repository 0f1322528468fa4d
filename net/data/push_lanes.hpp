// PushLanes: the streams on which peers take tensors that they have not asked for. A receiver lends
// its sender a number of bytes when it connects. A tensor that fits goes out with the message that
// names it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/tensor/tensor.hpp"

namespace troupe {

/// Bytes that a receiver lends to each of its peers, unless its config says that it lends nothing.
/// As many as on one host (LentSlots).
inline constexpr std::uint64_t lent_to_streams = std::uint64_t{16} << 20;

/// One stream, while it lives. Any thread.
///
/// Back-pressure: a pushed tensor uses up lent bytes until the receiver says that it has the
/// tensor, or does not want it. So the unclaimed tensors in the receiver's memory are never more
/// than it has lent.
class PushLane {
public:
  /// How the lane's connection sends a tensor, and takes one back.
  struct Out {
    std::function<void(std::uint64_t ticket, Tensor)> send;
    std::function<void(std::uint64_t ticket)> take_back;
  };
  PushLane(std::uint64_t id, std::uint64_t lent, Out out);

  /// The same at both ends of the connection; never 0.
  std::uint64_t id() const { return id_; }
  /// False when the tensor is too large to go unasked, or there is no room.
  bool push(std::uint64_t ticket, const Tensor& tensor);
  /// Takes back a tensor that is not wanted any more; false when it is none of ours, or the
  /// receiver is done with it.
  bool take_back(std::uint64_t ticket);
  /// The receiver is done with it.
  void done(std::uint64_t ticket);
  /// The connection's own measurements: bytes delivered a second, and microseconds of a round trip.
  void measured(std::uint64_t bytes_per_second, std::uint64_t round_trip_us);
  /// The connection has ended: nothing more is taken.
  void end();
  /// The largest tensor that goes unasked.
  std::uint64_t largest() const;
  std::uint64_t under_way() const; ///< bytes

private:
  const std::uint64_t id_, lent_;
  const Out out_;
  mutable std::mutex lock_;
  std::uint64_t largest_;
  std::uint64_t taken_ = 0; // of what is lent
  bool is_over_ = false;
  std::unordered_map<std::uint64_t, std::uint64_t> under_way_; // bytes by ticket
};

/// The lanes of a node, by node_key of the receiver. Any thread.
class PushLanes {
public:
  struct Pushed {
    std::uint64_t ticket = 0;
    std::uint64_t lane = 0; ///< PushLane::id
  };
  void add(std::uint64_t node, std::shared_ptr<PushLane> lane);
  void remove(std::uint64_t node, const std::shared_ptr<PushLane>& lane);
  /// Sends `tensor` to `node`. Nothing when the node has no lane, or its lane does not take the
  /// tensor: then the tensor must be asked for.
  std::optional<Pushed> push(std::uint64_t node, const Tensor& tensor);
  /// Takes back a tensor that its receiver has not claimed; false when it is none of ours.
  bool take_back(std::uint64_t ticket);
  /// Whether a ticket is that of a pushed tensor, ours or a peer's.
  static bool is_ticket(std::uint64_t ticket) { return (ticket & mark) == mark; }
  std::uint64_t num_pushed() const;

  static constexpr std::uint64_t mark = std::uint64_t{3} << 62;

private:
  mutable std::mutex lock_;
  std::unordered_map<std::uint64_t, std::shared_ptr<PushLane>> lanes_; // the latest of each node
  std::uint64_t pushed_ = 0;
};

} // namespace troupe
