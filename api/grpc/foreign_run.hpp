// ForeignRun: one RunGraph of a master that is no node of troupe, and what its answer waits for.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/grpc/rpc_server.hpp"
#include "api/grpc/worker_codec.hpp"

namespace troupe {

/// Any thread. Answers when the graph has run (if the call waits for it) and every requested value
/// is there, or at once when the graph fails. The failure of a single value is held back until the
/// graph has ended: the graph's error may be its cause.
class ForeignRun {
public:
  /// `waits_for_run`: whether the answer says how the graph has run.
  ForeignRun(std::shared_ptr<RpcCall> call, bool errors_in_body, std::vector<std::string> keys,
             bool waits_for_run)
      : call_(std::move(call)), errors_in_body_(errors_in_body), waits_for_run_(waits_for_run),
        keys_(std::move(keys)), values_(keys_.size()), missing_(keys_.size()) {}

  const std::vector<std::string>& keys() const { return keys_; }
  void got(std::size_t index, Result<EdgeValue> value);
  void ran(StepStats stats);
  /// The graph has failed, or nothing more will come.
  void failed(const Status& why);
  /// What is still missing will not come: the graph sends nothing of that name.
  void overdue();
  bool is_answered();
  /// Answers a call that waits for nothing.
  void begin();

private:
  // Both require the lock.
  void answer_if_whole();
  void fail(const Status& why);

  const std::shared_ptr<RpcCall> call_;
  const bool errors_in_body_;
  std::mutex lock_; // guards what follows
  bool waits_for_run_;
  std::vector<std::string> keys_; // not written after the constructor
  std::vector<std::optional<EdgeValue>> values_;
  std::size_t missing_;
  Status of_value_; ///< the first failure of a value
  StepStats stats_;
  bool answered_ = false;
};

/// The error text as TensorFlow's masters expect it, with the node as `[[{{node NAME}}]]`.
std::string worker_message(const Status& status);

} // namespace troupe
