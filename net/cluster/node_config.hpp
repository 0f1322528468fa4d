// The config of a cluster and of each of its tasks, read from one file and checked before anything
// starts.
//
//   [cluster]                                   ; jobs and where their tasks listen
//   ps = ["127.0.0.1:7000"]
//   worker = ["127.0.0.1:7001", "127.0.0.1:7002"]
//
//   [troupe]                                    ; for the whole cluster
//   cluster-name = "training"                 ; tasks of another one are refused
//   heartbeat = 1s
//   lease = 5s
//   shutdown-grace = 4s
//   log-level = "info"
//   message-limit = "64 MiB"                  ; of one message between nodes
//   tensor-path = "auto"                      ; or "messages", "shared-memory", "stream", "ucx"
//
//   [job.worker]                                ; for the tasks of a job
//   compute-threads = 2
//
//   [task.worker.1]                             ; for one task
//   memory-limit = "4 GiB"                    ; without it a share of the machine's memory
//   bind = "0.0.0.0:7000"                     ; where it listens, if [cluster] has the address of
//                                             ; something before it: a container, a proxy
//
//   [gateway]                                   ; each task has a face for TensorFlow's clients, too
//   address = "127.0.0.1:2222"
//   [gateway.worker.1]                          ; of one task; [gateway.worker] is for a job
//   address = "127.0.0.1:2223"
//
//   [middleman]                                 ; CAF's own settings, those that are harmless
//   max-consecutive-reads = 50
//
// What is nearer to the task wins.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/log.hpp"
#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"
#include "net/data/tensor_path.hpp"

namespace troupe {

/// Bounds on waiting; `[troupe]` sets them for the whole cluster. Their meaning stands in
/// actors/family/timeouts.hpp, zero means the default there.
struct ConfiguredTimeouts {
  std::chrono::milliseconds heartbeat{1000};
  std::chrono::milliseconds lease{5000};
  std::chrono::milliseconds shutdown_grace{4000}; ///< for running steps after SIGTERM
  std::chrono::milliseconds dial{0}, request{0}, compile{0}, chunk{0}, step{0}, cancel{0},
      orphan{0};
};

/// What a task may be given of its own.
struct TaskSettings {
  int cpu_devices = 1;
  int gpu_devices = -1;        ///< -1: as many as there are
  double gpu_memory_share = 0; ///< of each GPU's memory, up to 1; 0: nine tenths
  int compute_threads = 0;     ///< 0: machine_processors()
  int actor_threads = 2;
  bool winograd = true;                     ///< convolutions may do fewer products
  std::optional<std::int64_t> memory_limit; ///< bytes; 0: none; absent: NodeConfig says
  std::vector<std::string> files;           ///< folders that graphs may use; empty: the working one
  std::string bind_host;                    ///< empty: that of its address
  std::uint16_t bind_port = 0;              ///< 0: that of its address
  LogLevel log_level = LogLevel::info;
  PathChoice tensor_path = PathChoice::best;
  bool polls_network = true, lends_memory = true, shows_variables = true;
};

/// The face of a task for TensorFlow's clients; 0 in a bound: none.
struct GatewaySettings {
  std::optional<Address> address; ///< absent: no such face
  std::int64_t message_limit = 0; ///< bytes of a request
  std::int64_t calls = 100'000;   ///< that wait at once
  std::int64_t call_bytes = 0;    ///< of all requests that wait at once
  std::int64_t sessions = 10'000; ///< open at once
  std::chrono::milliseconds idle_session{
      std::chrono::hours(24)}; ///< without a call; then it is closed
};

/// One task, with everything that it needs to start.
struct NodeConfig {
  std::string job;
  int task = 0;
  Address address; ///< under which the others dial it
  Address listen;  ///< where it opens its port: `address`, unless `bind` says otherwise
  TaskSettings settings;
  GatewaySettings gateway;
  ConfiguredTimeouts timeouts;
  std::shared_ptr<const Cluster> cluster; ///< all tasks, its own among them; one for the file
  // Of a node's port, and of its port for streams of tensors; 0: the default.
  std::chrono::milliseconds handshake_deadline{0};
  int connections = 0;
  /// CAF's own settings and the bounds of the port, by dotted key, values in CAF's syntax.
  std::vector<std::pair<std::string, std::string>> caf_settings;
  std::string name() const; ///< "worker/1"

  /// The tasks of the cluster that have their address on the same host, this one among them.
  int tasks_on_host() const;
  /// Bytes, 0 for none: `memory-limit`, or without it this task's share of four fifths of
  /// `machine_bytes`. The rest is for code, messages and the system.
  std::int64_t memory_limit(std::int64_t machine_bytes) const;
};

/// Something that is wrong in a file.
struct ConfigProblem {
  int line = 0; ///< from 1; 0: it concerns the whole file
  std::string sentence;
};

/// A whole file.
struct ClusterConfig {
  std::string file;
  bool insecure = false; ///< addresses beyond loopback were allowed, without encryption
  int restarts = 0;      ///< how often `up` restarts a task within the window; 0: never
  std::chrono::milliseconds restart_window{60000};
  std::vector<NodeConfig> tasks; ///< by job, then by task

  /// NOT_FOUND listing the jobs, or the tasks of the job, that there are.
  Result<NodeConfig> task(std::string_view job, int task) const;
};

/// A key that a file may set, for people. The reader of files is made from the same table.
struct ConfigKey {
  std::string sections; ///< where it may stand: "[troupe], [job.JOB], [task.JOB.N]"
  std::string key;
  std::string wants;  ///< "a duration from 1ms to a year, such as …"
  std::string preset; ///< without the key: in the file's syntax, or a clause in parentheses
  std::string doc;    ///< what it means, a clause
};
/// A size as a file and a command line have it: "512 MiB", "0". Nothing for other text.
std::optional<std::int64_t> parse_config_size(std::string_view text);
/// Those of [troupe] first; the tasks' addresses in [cluster] are not among them.
std::vector<ConfigKey> config_keys();

/// `file` is how messages call the text. INVALID_ARGUMENT with every problem, one line each:
/// "FILE:LINE: sentence".
Result<ClusterConfig> parse_cluster_config(std::string_view text, const std::string& file);
/// The problems as records, too, if `problems` is not null: none for a file that cannot be read.
Result<ClusterConfig> read_cluster_config(const std::string& path,
                                          std::vector<ConfigProblem>* problems = nullptr);
Result<NodeConfig> read_node_config(const std::string& path, std::string_view job, int task);

} // namespace troupe
