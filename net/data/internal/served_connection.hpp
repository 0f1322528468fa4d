// What a DataServer sends to one peer: tensors in turns, a piece of each, and the frames between
// them. On the server's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/epoll.h>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "net/data/byte_stream.hpp"
#include "net/data/frames.hpp"
#include "net/data/lent_memory.hpp"
#include "net/data/offer_table.hpp"
#include "net/data/path_book.hpp"
#include "net/data/push_lanes.hpp"
#include "net/ucx/ucx_worker.hpp"

namespace troupe::data {

/// Sent of one tensor before another of the same peer gets its turn, and in one turn of a peer.
inline constexpr std::uint64_t piece_limit = std::uint64_t{4} << 20;
/// Requests of one peer that are kept, with answers that it has not taken; nothing more is read
/// from it until there are fewer.
inline constexpr std::size_t most_requests = 1024;
/// Pieces that UCX has of one peer's tensors.
inline constexpr std::size_t most_pieces = 4;

/// A tensor on its way out.
struct Serving {
  Request request; ///< what goes unasked has its ticket as its number
  Tensor tensor;   ///< no value: not found yet
  std::uint64_t done = 0;
  std::uint64_t parked = 0; ///< until the offers have settled so often
  bool is_unasked() const { return (request.number & unasked) != 0; }
};

struct ServedConnection {
  std::unique_ptr<ByteStream> stream;
  std::shared_ptr<OfferTable> offers;
  bool is_local = false;
  bool is_open = false; ///< has shown its token
  std::int64_t since_us = 0, moved_us = 0;
  std::uint64_t taken = 0; ///< as progress() told it last
  std::uint64_t peer = 0;
  std::string task;
  std::shared_ptr<PathRecord> record;
  Fd passed; ///< with the greeting
  std::shared_ptr<ForeignRegion> region;
  std::shared_ptr<BorrowedSlots> borrowed; ///< null when nothing is lent
  std::shared_ptr<PushLane> lane;          ///< the same, on a stream
  std::optional<Opening> opening;          ///< whose worker's address is to come
  std::unique_ptr<UcxWorker> worker;       ///< by which tensors go; null: by the connection itself
  std::vector<std::byte> in;
  std::deque<Serving> queue;
  std::uint32_t events = EPOLLIN;

  bool takes_requests() const {
    return queue.size() + (out_.frames.size() + out_.late.size()) / piece_bytes < most_requests;
  }
  bool has_output() const { return out_.sent < out_.frames.size() || !out_.payload.empty(); }
  bool has_work() const;
  /// UCX has pieces that the peer does not have.
  bool has_pieces() const { return pieces_ != 0; }
  /// Tensors whose bytes are not all with the kernel.
  std::size_t under_way() const {
    return queue.size() + (finishing_ ? 1 : 0) + handed_over_.size();
  }

  /// Says that nothing more comes of a tensor.
  void refuse(const Serving& serving, Code code);
  /// Tensors go by UCX from now on, to the worker at `address`. When that cannot be, the peer is
  /// told.
  void meet(const Token& proof, const std::string& address, const UcxChoice& choice);
  /// Takes back a tensor that goes unasked, however far it has come.
  void take_back(std::uint64_t ticket);
  /// The connection ends: withdraws the offers of tensors that were going out unasked, since nobody
  /// could ask for them.
  void drop_unasked();
  /// Readies the next piece of the next tensor in turn, if there is one.
  void produce();
  /// Sends what is ready; false when the connection has ended.
  bool flush();
  /// A frame that belongs to no tensor.
  template <class Frame>
  void say(const Frame& frame) {
    auto bytes = encode(frame);
    out_.frames.insert(out_.frames.end(), bytes.begin(), bytes.end());
  }

private:
  void say_between(const Piece& piece);
  bool has_turn() const;
  void send_by_ucx(Serving serving, std::uint64_t length);
  void taken_by_ucx(std::uint64_t number, std::uint64_t bytes);
  std::deque<Serving>::iterator next_turn();
  bool write(Serving& serving, std::uint64_t length);
  void sent(std::uint64_t ticket, std::uint64_t bytes);

  // What is on its way out: frames, then the bytes of a piece.
  struct Outgoing {
    std::vector<std::byte> frames;
    std::size_t sent = 0; // of them
    std::span<const std::byte> payload;
    Tensor held;                 // whose bytes the payload is
    std::vector<std::byte> late; // frames that must wait for the payload's end
  } out_;
  // The tensor that ends with the payload.
  struct Finishing {
    std::uint64_t ticket = 0, bytes = 0;
    bool is_unasked = false;
  };
  std::optional<Finishing> finishing_;
  bool is_full_ = false; ///< the kernel took nothing when it was last asked

  // By UCX: the pieces that it has, and of each tensor what the peer has.
  struct HandedOver {
    std::uint64_t ticket = 0, bytes = 0;
  };
  Token proof_{};
  std::size_t pieces_ = 0;
  std::map<std::uint64_t, std::uint64_t> taken_;    // bytes, by number
  std::map<std::uint64_t, HandedOver> handed_over_; // tensors whose last piece UCX has
};

} // namespace troupe::data
