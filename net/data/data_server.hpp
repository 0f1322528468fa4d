// DataServer: sends this node's offered tensors to peers that were invited, through a Unix socket
// into their shared memory or as a TCP stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/status.hpp"
#include "net/data/byte_stream.hpp"
#include "net/data/frames.hpp"
#include "net/data/lent_memory.hpp"
#include "net/data/offer_table.hpp"
#include "net/data/path_book.hpp"
#include "net/data/push_lanes.hpp"
#include "net/ucx/ucx_worker.hpp"

namespace troupe {

struct DataServerOptions {
  bool has_local_socket = true;
  std::string host; ///< where to listen for streams; empty: nowhere
  /// From its connection on, a peer has so long to show its token.
  std::chrono::milliseconds handshake{10'000};
  /// A peer that takes nothing for so long is given up.
  std::chrono::milliseconds stall{30'000};
  /// A value in lent memory is taken back when it has not been claimed for so long, or twice that.
  std::chrono::milliseconds unclaimed{60'000};
  /// Who comes as to a stream may have its tensors by UCX; nothing: may not.
  std::optional<UcxChoice> ucx;
  std::size_t strangers = 64;    ///< connections without a token; the oldest goes
  std::size_t connections = 512; ///< in all
  data::StreamWrapper wrap;      ///< around each connection
};

/// Safe for any thread. A connection that breaks the rules is closed, with a line in the log.
class DataServer {
public:
  /// A request may overtake the offer of its tensor. The server then calls `settle`, on its own
  /// thread; `settle` makes sure that all earlier offers get into the table, then calls
  /// offers_settled, once for each call. Memory that connected peers lend is put into `lent`;
  /// tensors that they take unasked on streams are sent through `lanes`.
  static Result<std::unique_ptr<DataServer>>
  start(DataServerOptions options, std::shared_ptr<OfferTable> offers,
        std::shared_ptr<PathBook> book, std::shared_ptr<LentMemory> lent,
        std::shared_ptr<PushLanes> lanes, std::function<void()> settle);
  ~DataServer();

  const std::string& local_name() const; ///< of the Unix socket; empty without
  std::uint16_t port() const;            ///< for streams; 0 without

  struct Invitation {
    data::Token token; ///< the peer shows it
    data::Token proof; ///< we show it
  };
  /// Lets `peer` connect once, within the time for handshakes. `task` names it in the book.
  Invitation invite(std::uint64_t peer, const std::string& task);
  /// Closes the connections of `peer` and takes its invitations back.
  void drop(std::uint64_t peer);
  void offers_settled();

private:
  DataServer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
