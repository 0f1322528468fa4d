// SessionRecord: what a master session is made again from. Plain: knows no actors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/protocol/session_settings.hpp"
#include "core/base/status.hpp"
#include "devices/device.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/passes/prune.hpp"

namespace troupe {

/// A task that a session uses, with its devices as they were when the session was opened.
struct RecordedTask {
  std::string task;
  std::vector<DeviceAttributes> devices;
};

/// Names of one signature, as a client gave them.
struct RecordedSignature {
  std::vector<std::string> feeds, fetches, targets;
  std::vector<TensorConnection> connections = {};
  friend bool operator==(const RecordedSignature&, const RecordedSignature&) = default;
};

/// A session at one moment, without its steps: what was acknowledged, and nothing else. Values of
/// variables lie on the tasks; the record says where. Cheap to copy: what is large is shared and
/// never written again.
struct SessionRecord {
  /// Signatures that are kept, the latest; they save time and nothing else.
  static constexpr std::size_t max_signatures = 64;

  using SignatureRef = std::shared_ptr<const RecordedSignature>;
  using Assigned = std::map<std::string, std::string>;

  std::string handle;
  std::shared_ptr<const SessionSettings> settings;        ///< never null
  std::shared_ptr<const std::vector<RecordedTask>> tasks; ///< never null
  std::shared_ptr<const Graph> graph;                     ///< never null
  std::int64_t version = 0;                               ///< of the graph
  std::shared_ptr<const Assigned> assigned; ///< by stateful node: its device; never null
  std::vector<SignatureRef> signatures;
  std::map<std::uint64_t, SignatureRef> callables; ///< by handle
  std::uint64_t next_callable = 1;

  /// Of a session that begins: no nodes yet.
  static SessionRecord begin(std::string handle, SessionSettings settings,
                             std::vector<RecordedTask> tasks, const OpRegistry& ops);

  /// Another version of the graph; `begins`: the first one.
  void extend(std::shared_ptr<const Graph> extended, bool begins = false);
  /// Devices of stateful nodes; one that has a device already gets another. False: nothing is new.
  bool assign(const std::vector<std::pair<std::string, std::string>>& devices);
  /// False if it is known.
  bool learn(RecordedSignature signature);
  /// The handle of the callable.
  std::uint64_t add_callable(RecordedSignature signature);
  bool release_callable(std::uint64_t callable) { return callables.erase(callable) > 0; }
};

/// RESOURCE_EXHAUSTED for a graph beyond 2 GiB.
Result<std::string> write_session_record(const SessionRecord& record);
/// INVALID_ARGUMENT for bytes that are no record, or a record of another format, or one that
/// contradicts itself; what reading its graph fails with.
Result<SessionRecord> read_session_record(std::string_view bytes, const OpRegistry& ops,
                                          const DecodeLimits& limits = {});

} // namespace troupe
