// Tensors' bytes through UCX: where two machines have RDMA the receiver's device reads them from
// the sender's memory into its own; over TCP and shared memory UCX moves them by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/tensor/buffer.hpp"

namespace troupe {

/// Whether this machine has a device for RDMA.
bool has_rdma_device();
/// Ok if UCX can be used here; else FAILED_PRECONDITION, with the remedy.
Status ucx_is_there();

/// Which of UCX's transports and devices may be used. UCX_TLS and UCX_NET_DEVICES in the
/// environment say it better.
struct UcxChoice {
  std::string transports; ///< "tcp", "posix,self", "ib"; empty: all that UCX finds
  /// An address of this node's, by which its peers know it. The interface that has it is the only
  /// one that UCX listens on, beside devices for RDMA; of loopback only that. Empty, or nobody's:
  /// every one.
  std::string host;
  friend auto operator<=>(const UcxChoice&, const UcxChoice&) = default;
};
/// The value of UCX_NET_DEVICES for it; empty: every one.
std::string ucx_devices(const std::string& host);

/// One of the two ends between two nodes. One thread at a time. Everything happens in `turn`.
///
/// UCX lets anybody connect: what comes tells by its header whether it is from the peer. It is
/// built without UCX's one-sided operations, which over TCP would read any memory for anybody, and
/// of whose peers' ends UCX 1.13 makes an end of the process. In its rendezvous the receiver's
/// device reads only what is being sent.
class UcxWorker {
public:
  /// Called once, by `turn`; or never, if the worker ends before.
  using Done = std::function<void(const Status&)>;
  /// Where bytes go that have come.
  struct Arrival {
    std::span<std::byte> into; ///< as long as what came
    BufferRef keep;            ///< holds it
    Done done;
  };
  /// Asked by `turn` of each message. Nothing: it is dropped.
  using Arrive =
      std::function<std::optional<Arrival>(std::string_view header, std::uint64_t bytes)>;

  /// FAILED_PRECONDITION without UCX, UNAVAILABLE with its reason.
  static Result<std::unique_ptr<UcxWorker>> make(const UcxChoice& choice, Arrive arrive);
  /// When this returns, nothing more is read or written of what was under way. Not from a `Done`.
  virtual ~UcxWorker() = default;

  /// Readable when `turn` has something to do.
  virtual int fd() const = 0;
  /// Does what is due. True when it must be called again soon though the descriptor tells of
  /// nothing: over shared memory nobody tells a sender that there is room again. Whatever a `done`
  /// does, the worker must live until this returns.
  virtual bool turn() = 0;
  /// Why the peer cannot be reached any more; ok while it can.
  virtual const Status& broken() const = 0;

  /// By which a peer connects to this one.
  virtual const std::string& address() const = 0;
  /// Once, by both ends, before anything is sent.
  virtual Status connect(const std::string& address) = 0;
  /// Sends `bytes`, which `keep` holds. `done`: the peer has them. To be followed by `turn`: it may
  /// have ended already.
  virtual void send(std::string header, std::span<const std::byte> bytes, BufferRef keep,
                    Done done) = 0;
};

} // namespace troupe
