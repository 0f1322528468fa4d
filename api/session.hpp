// Session: runs graphs, in this process or on a cluster.
//
//   auto session = Session::open("local");                      // or "caf://127.0.0.1:7001"
//   TROUPE_TRY(session->extend(scope));
//   auto values = session->run({{"x:0", Tensor::of<float>({2}, {1, 2})}}, {"y:0"});
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/pending_run.hpp"
#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "graph/convert/options.hpp"

namespace troupe {

class ClusterNode;
class Scope;
struct DeviceAttributes;

/// Values by tensor name, "x:0" or "x".
using Feeds = std::vector<std::pair<std::string, Tensor>>;

/// What a session says about where a graph's nodes run.
struct Placement {
  std::vector<std::pair<std::string, std::string>> devices; ///< node → full device name
  std::vector<std::pair<std::string, std::string>>
      partitions; ///< task → text graph, for the asked signature
};

/// A running or recent step, for people.
struct StepSummary {
  std::uint64_t step_id = 0;
  std::string signature;
  std::string state; ///< "running", "done", or the code of its error
  std::int64_t duration_us = 0;
};

/// Why a step goes on.
struct StepWait {
  std::uint64_t step_id = 0;
  std::string signature;
  std::int64_t running_us = 0;
  std::vector<std::string> tree; ///< lines, indented; the last one is the cause
  std::string cause; ///< a clause: "waiting for 'a:0' from /job:ps/…: its op …"; empty if unknown
};
/// What a session's steps wait for.
struct WaitReport {
  std::vector<StepWait> steps; ///< the longest running first, at most 16
  std::vector<std::string>
      remarks; ///< "1 run waits for the first graph of …", "step 7 has ended …"
  /// The same for people, as the prompt's `why` prints it; empty when nothing runs.
  std::string to_text() const;
};

/// A client's graph and its life on a master. Safe for any thread; steps run concurrently. No call
/// waits for ever: a step ends with its deadline (RunOptions::timeout_ms,
/// SessionOptions::operation_timeout_ms; a week if neither says less), with the loss of a task it
/// needs, or with its cancellation. Every other call ends within operation_timeout_ms,
/// DEADLINE_EXCEEDED naming the master; without it, and with a master or a task that is silent,
/// when that has been judged: within the lease (5 s) and two seconds, UNAVAILABLE naming the task
/// and why. A task that ends is told of at once. After a lost master has restarted, calls end
/// ABORTED: open a new session. A moved-from session may be assigned to or destroyed; its calls end
/// FAILED_PRECONDITION.
class Session {
public:
  /// Target "" or "local": in this process, with variables of its own; steps run on the caller's
  /// thread, and one that needs more than SessionOptions::memory_limit ends RESOURCE_EXHAUSTED.
  /// Sessions with the same device_count, intra_op_threads and memory_limit share devices, threads
  /// and that limit, but for those with per_session_threads.
  /// "caf://host:port": the node there is the master; variables live on the cluster and are shared
  /// by name. UNAVAILABLE naming whoever cannot be reached; INVALID_ARGUMENT for a target of
  /// another form; INVALID_ARGUMENT or UNIMPLEMENTED for an option that cannot be kept.
  static Result<Session> open(const std::string& target, const SessionOptions& options = {});
  /// On a task that this process itself runs, as a gateway does: `node` is the master, reached by
  /// messages within the process, without a connection and without a lease. Variables live on its
  /// cluster. Shares the node, which outlives it; devices, threads and memory are the node's, as
  /// for an address. UNAVAILABLE once the node leaves.
  static Result<Session> open(std::shared_ptr<ClusterNode> node,
                              const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session(); ///< closes, whatever callables and pending runs are left

  /// Adds what the scope's graph has gained since it was last given to this session; several scopes
  /// may take turns. The scope's own error if building it failed.
  Status extend(const Scope& scope);
  /// Adds the nodes of a GraphDef, binary or text.
  Status extend_graph_def(const std::string& bytes);

  /// One step: the values of `fetches`, in their order, after `targets` (node names) have run. The
  /// error of a failed step carries op, device, task and step (Status::origin).
  Result<std::vector<Tensor>> run(const Feeds& feeds, const std::vector<std::string>& fetches,
                                  const std::vector<std::string>& targets = {},
                                  const RunOptions& options = {}, RunMetadata* metadata = nullptr);
  /// Starts a step and returns. The PendingRun waits for it or cancels it. With the master in this
  /// process, this call itself runs cheap kernels for up to a millisecond (the last one may take
  /// longer); everything else runs on the node's threads.
  PendingRun run_async(Feeds feeds, std::vector<std::string> fetches,
                       std::vector<std::string> targets = {}, const RunOptions& options = {});

  /// A step whose feeds come in several calls of partial_run, and whose fetches are given as soon
  /// as they can be computed; each is given once. Its name, for those calls. Errors in names, as
  /// run.
  Result<std::string> partial_run_setup(const std::vector<std::string>& feeds,
                                        const std::vector<std::string>& fetches,
                                        const std::vector<std::string>& targets = {});
  /// Feeds some, and waits for some fetches, in their order. The call after which nothing is left
  /// to feed or to fetch waits until the targets have run, too. INVALID_ARGUMENT for a feed or
  /// fetch that was not set up, or given before, and for a fetch that needs what was not fed: the
  /// partial run goes on. Any other error ends it. It also ends when no call comes for an hour, and
  /// with the session. Of `options` only timeout_ms is heeded, of this call.
  Result<std::vector<Tensor>> partial_run(const std::string& handle, const Feeds& feeds,
                                          const std::vector<std::string>& fetches,
                                          const RunOptions& options = {});

  /// A signature prepared for many runs; feeds by position. Released with the last copy. Calls end
  /// FAILED_PRECONDITION once the session is closed.
  class Callable {
  public:
    /// `options` are joined with those of make_callable; a timeout given here wins. UNIMPLEMENTED
    /// for partition graphs and debug watches that the callable was not made with.
    Result<std::vector<Tensor>> operator()(std::vector<Tensor> feeds,
                                           const RunOptions& options = {},
                                           RunMetadata* metadata = nullptr) const;

  private:
    friend class Session;
    struct Handle;
    std::shared_ptr<Handle> handle_;
  };
  Result<Callable> make_callable(const std::vector<std::string>& feeds,
                                 const std::vector<std::string>& fetches,
                                 const std::vector<std::string>& targets = {});
  /// With tensors that take the place of others, and with options for each of its runs.
  /// UNIMPLEMENTED for devices of feeds or fetches.
  Result<Callable> make_callable(const CallableOptions& options);

  Result<std::vector<DeviceAttributes>> devices();
  Result<std::vector<StepSummary>> steps();
  /// What running steps wait for, asked of every task that still works on them; a task that is
  /// silent is said to be. 0: every step of this session; else the one of that id, from steps().
  /// May be called while another thread waits in run(). Answered within about two seconds, or with
  /// UNAVAILABLE when the master is lost.
  Result<WaitReport> why(std::uint64_t step_id = 0);
  /// Where nodes go; partitions only if fetches or targets are given.
  Result<Placement> explain(const std::vector<std::string>& feeds = {},
                            const std::vector<std::string>& fetches = {},
                            const std::vector<std::string>& targets = {});
  const std::string& handle() const;
  /// The node of a session in this process, for tools that look inside; null for a session that was
  /// opened by an address. It ends with the last session that shares it.
  ClusterNode* local_node() const;

  /// Cancels running steps and frees the cluster. UNAVAILABLE naming a master that is silent: the
  /// session is closed here, and there once it has been silent for a lease. Later calls fail with
  /// FAILED_PRECONDITION "Session is closed."
  Status close();

private:
  struct Impl;
  explicit Session(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

} // namespace troupe
