// Batcher: the resource of a node that gathers what many steps bring into batches, and what the
// attributes of such a node say.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "devices/resource/batches.hpp"
#include "devices/resource/tick_thread.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/wait.hpp"
#include "kernels/queue/internal/gathering.hpp"

namespace troupe::batching {

/// Rows that one run of a node brings.
struct BatchRequest : Request {
  Tensors inputs; ///< each with `rows` rows
  Arrived done;   ///< called once, unless the request is withdrawn
};

class Batcher : public Resource, public std::enable_shared_from_this<Batcher> {
public:
  /// `at_work`: batches at a time.
  explicit Batcher(std::int64_t at_work) : most_at_work_(at_work) {}

  std::uint64_t ticket();
  /// Queues of one resource gather for themselves; `limits` count for the first request of one.
  Status submit(const std::string& queue, const Limits& limits,
                std::shared_ptr<BatchRequest> request);
  virtual void withdraw(std::uint64_t ticket);
  std::string description() const override;

protected:
  /// Begins with a batch, on the batcher's thread; `ended` is called once, when it is done with.
  virtual void process(Batch batch) = 0;
  void ended();

private:
  TickThread::Time tick(TickThread::Time now);

  const std::int64_t most_at_work_;
  std::mutex lock_; // guards what follows
  std::map<std::string, Gathering> queues_;
  std::int64_t at_work_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::unique_ptr<TickThread> ticks_; // made for the first request
};

/// Attributes of a node that batches.
struct Node {
  NodeResource resource;
  std::string queue;
  Limits limits;
  std::int64_t at_work = 1;
};
/// INVALID_ARGUMENT for numbers that make no sense.
Result<Node> read_node(PrepareContext& c);

/// Rows of inputs [0, count). INVALID_ARGUMENT for a scalar, and for inputs of different rows.
Result<std::int64_t> rows_of_inputs(const KernelContext& c, int count);
/// The batch's input `i`, padded with its first row.
Result<Tensor> joined_input(const Batch& batch, std::size_t i, const Limits& limits,
                            Allocator& memory);
/// Each input of the batch.
Result<Tensors> joined_inputs(const Batch& batch, const Limits& limits, Allocator& memory);
/// Output `i` for a run that brings no rows.
Result<Tensor> without_rows(const Tensor& like, Allocator& memory);

inline BatchRequest& request_of(const Piece& piece) {
  return static_cast<BatchRequest&>(*piece.request);
}

} // namespace troupe::batching
