// The paths that tensors take between nodes, and which of them two nodes use.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

enum class TensorPath : std::uint8_t {
  messages,      ///< pieces inside messages of the control connection: always there
  shared_memory, ///< one host: the sender writes into the receiver's memory
  stream,        ///< a TCP connection of its own
  ucx,           ///< the receiver reads the sender's memory: RDMA
};
/// "messages", "shared-memory", "stream", "ucx".
std::string_view to_string(TensorPath path);

/// What `tensor-path` in a config file says. `best` is "auto".
enum class PathChoice : std::uint8_t { best, messages, shared_memory, stream, ucx };
inline constexpr std::uint8_t last_path_choice = 4;
std::string_view to_string(PathChoice choice);
std::optional<PathChoice> parse_path_choice(std::string_view text);

/// The settings of a config file for the paths that tensors take.
struct TensorPathSettings {
  PathChoice choice = PathChoice::best;
  std::string listen_host; ///< where the node has its port, and listens for streams; empty: nowhere
  std::chrono::milliseconds handshake{10'000}; ///< as for the node's port
  int connections = 512;                       ///< as for the node's port
  bool lends = true;                           ///< peers may send unasked, as much as we lend them
  bool shows = true;                           ///< peers on this host read our variables in place
};

/// What a node has for the path "ucx".
enum class UcxSupport : std::uint8_t {
  none,
  library, ///< UCX, for whoever names the path
  rdma,    ///< UCX, and a device for RDMA
};
/// Of this machine, as far as `choice` wants to know: without a device, only a named path loads
/// UCX.
UcxSupport ucx_support(PathChoice choice);

/// One end of an edge, as the choice sees it.
struct PathEnd {
  std::string task; ///< task name, or "client": then `choice` holds only as far as it can
  PathChoice choice = PathChoice::best;
  std::string host;              ///< boot id of the running system; empty when it is not known
  bool has_local_socket = false; ///< it can be reached through a Unix socket
  bool has_port = false;         ///< it listens for streams
  UcxSupport ucx = UcxSupport::none;
};

/// The paths on which `receiver` may pull from `sender`, best first; the next is tried when one
/// cannot be set up. FAILED_PRECONDITION, with the reason, when a path that the config names is not
/// available: a named path is never replaced in silence. A client's config has no say in that.
Result<std::vector<TensorPath>> paths_to_try(const PathEnd& receiver, const PathEnd& sender);

/// Identifies the running system: equal on two processes only if one kernel, booted once, runs
/// both. Empty when it cannot be told.
std::string boot_id();

/// How one tensor came here.
struct Transfer {
  TensorPath path = TensorPath::messages;
  std::uint64_t bytes = 0;
  std::int64_t micros = 0; ///< from the request until it was here; 0: it was computed here
  bool is_shown = false;   ///< it is read where its sender has it
};
/// "shared-memory, 1.0 MiB in 210 us, 4.99 GB/s", or "shared-memory, 1.0 MiB, computed there", or
/// "shared-memory, 1.0 MiB, read where it lies".
std::string to_string(const Transfer& transfer);

/// "17 bytes", "1.5 MiB".
std::string format_bytes(std::uint64_t bytes);
/// "4.99 GB/s"; empty without time.
std::string format_rate(std::uint64_t bytes, std::int64_t micros);

} // namespace troupe
