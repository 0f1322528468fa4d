// DataClient: pulls tensors from peers over data connections, straight to where they belong.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/status.hpp"
#include "core/tensor/buffer.hpp"
#include "net/data/byte_stream.hpp"
#include "net/data/frames.hpp"
#include "net/data/path_book.hpp"
#include "net/data/shared_region.hpp"
#include "net/ucx/ucx_worker.hpp"

namespace troupe {

struct DataClientOptions {
  /// Until a connection must stand.
  std::chrono::milliseconds opening{5'000};
  /// A peer that owes us bytes and sends none for so long is given up.
  std::chrono::milliseconds stall{30'000};
  /// A tensor that came unasked is dropped when it has not been claimed for so long.
  std::chrono::milliseconds unclaimed{60'000};
  /// Memory for tensors that come unasked; without it the C library's.
  std::function<Result<BufferRef>(std::uint64_t bytes)> allocate;
  data::StreamWrapper wrap; ///< around each connection
  UcxChoice ucx{};          ///< on the path by UCX
};

/// Where a peer's DataServer is, and the tokens by which both ends know each other.
struct DataEndpoint {
  std::string task; ///< for people and the book
  TensorPath path = TensorPath::shared_memory;
  std::string local_name; ///< shared memory
  std::string host;       ///< stream, ucx
  std::uint16_t port = 0;
  data::Token token{}, proof{};
  std::uint64_t lent = 0; ///< bytes that a stream may bring unasked
};

/// One connection. Any thread; callbacks come on the client's thread.
class DataLink {
public:
  /// The outcome of a pull and the microseconds that it took.
  using Pulled = std::function<void(Status, std::int64_t micros)>;

  virtual ~DataLink() = default;
  virtual TensorPath path() const = 0;
  /// Memory that pulled tensors must arrive in; null on a stream and by UCX, where any will do.
  virtual const std::shared_ptr<SharedRegion>& region() const = 0;
  /// Pulls `bytes` (≥ 1) bytes into `into`, which lies at `offset` of the region if there is one.
  /// `done` is called once: with the peer's answer, or with UNAVAILABLE naming task and path when
  /// the connection breaks.
  virtual void pull(std::uint64_t ticket, std::uint64_t bytes, BufferRef into, std::uint64_t offset,
                    Pulled done) = 0;
  /// The connection's name at both ends (data::lane_of).
  virtual std::uint64_t lane() const = 0;
  /// The outcome of a claim: a tensor's bytes, and the microseconds in which they came.
  using Claimed = std::function<void(Result<BufferRef>, std::int64_t micros)>;
  /// Takes the tensor that the peer sends unasked under `ticket`, now or when it has come. `done`
  /// is called once, by this call if the tensor is here. ABORTED when it was taken back, or has
  /// waited here for too long; RESOURCE_EXHAUSTED when there was no room for it; UNAVAILABLE as for
  /// `pull`.
  virtual void claim(std::uint64_t ticket, std::uint64_t bytes, Claimed done) = 0;
  /// Ends the connection, and its pulls and claims with `why`. The parts of the region that the
  /// peer may still write to are never used again.
  virtual void close(Status why) = 0;
};

class DataClient {
public:
  DataClient(DataClientOptions options, std::shared_ptr<PathBook> book);
  ~DataClient(); ///< ends every link with CANCELLED

  /// Connects. `opened` is called once with the outcome. `broken` is called once when the
  /// connection ends after that by itself (not through `close`), and after its pulls have ended.
  /// Pulls may be asked for at once; they wait. `region` is for the path of shared memory only.
  std::shared_ptr<DataLink> open(DataEndpoint endpoint, std::shared_ptr<SharedRegion> region,
                                 std::function<void(Status)> opened,
                                 std::function<void(Status)> broken);

  struct Impl;

private:
  std::unique_ptr<Impl> impl_;
};

} // namespace troupe
