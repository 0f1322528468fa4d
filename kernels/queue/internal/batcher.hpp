// Batcher: the resource of a node that gathers what many steps bring into batches, and what the
// attributes of such a node say.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/resource/batches.hpp"
#include "devices/resource/tick_thread.hpp"
#include "kernels/framework/cancellation.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/wait.hpp"
#include "kernels/queue/internal/gathering.hpp"

namespace troupe::batching {

/// Attributes of a node that batches.
struct Node {
  NodeResource resource;
  std::string queue;
  Limits limits;
  std::int64_t at_work = 1; ///< batches at a time
};
/// INVALID_ARGUMENT for numbers that make no sense. Where there are no threads TensorFlow looks for
/// the best number of them, and splits requests: if `adapts`, many batches are at work then.
Result<Node> read_node(PrepareContext& c, bool adapts);

/// Rows that one run of a node brings.
struct BatchRequest : Request {
  Tensors inputs; ///< each with `rows` rows
  Arrived done;   ///< called once; without effect if the request is withdrawn
  Tensor room;    ///< of the device's memory, whose allocator so stays for as long as the request
};
inline BatchRequest& request_of(const Piece& piece) {
  return static_cast<BatchRequest&>(*piece.request);
}

class Batcher : public Resource, public std::enable_shared_from_this<Batcher> {
public:
  Batcher(const Node& node, Allocator& memory)
      : memory_(memory), limits_(node.limits), most_at_work_(node.at_work) {}
  /// Once, before others have it.
  void begin() { ticks_ = TickThread::of(shared_from_this()); }

  std::uint64_t ticket();
  /// Queues of one resource gather for themselves. Errors as Gathering::add.
  Status submit(const std::string& queue, std::shared_ptr<BatchRequest> request);
  /// A batch that no step wants any more is cancelled.
  void withdraw(std::uint64_t ticket);
  std::string description() const override;

  TickThread::Time tick(TickThread::Time now);

protected:
  /// A batch that is at work.
  struct Work {
    Batch batch;
    Cancellation cancellation;
    std::vector<std::uint64_t> wanted_by; ///< guarded by the batcher's lock
  };
  /// Begins with a batch, on the batcher's thread. `ended` is called once, when it is done with.
  virtual void process(std::shared_ptr<Work> work) = 0;
  void ended(const std::shared_ptr<Work>& work);

  /// The batch's input `i`, padded with its first row.
  Result<Tensor> joined_input(const Batch& batch, std::size_t i) const;

  Allocator& memory_;
  const Limits limits_;

private:
  const std::int64_t most_at_work_;
  std::unique_ptr<TickThread> ticks_;
  std::mutex lock_; // guards what follows
  std::map<std::string, Gathering> queues_;
  std::list<std::shared_ptr<Work>> at_work_;
  std::uint64_t last_ticket_ = 0;
};

/// Rows of inputs [0, count). INVALID_ARGUMENT for a scalar, and for inputs of different rows.
Result<std::int64_t> rows_of_inputs(const KernelContext& c, int count);
/// No rows of the kind that `like` has.
Result<Tensor> without_rows(const Tensor& like, Allocator& memory);

/// Hands the request to the node's batcher, a B, and waits for what it becomes.
template <class B>
Status gather(KernelContext& c, const KernelDone& done, const Node& node,
              const std::shared_ptr<BatchRequest>& request) {
  Allocator& memory = c.device().host_side_allocator();
  TROUPE_ASSIGN(request->room, Tensor::allocate(memory, DType::int64, Shape{}));
  const auto& [container, name] = node.resource.name;
  TROUPE_ASSIGN(auto batcher, c.resources().template lookup_or_create<B>(
                                  container, name, [&]() -> Result<std::shared_ptr<B>> {
                                    auto made = std::make_shared<B>(node, memory);
                                    made->begin();
                                    return made;
                                  }));
  wait_on(c, done, batcher, [&](std::uint64_t ticket, Arrived arrived) {
    request->ticket = ticket;
    request->done = arrived;
    if (Status status = batcher->submit(node.queue, request); !status.ok())
      arrived(std::move(status));
  });
  return {};
}

} // namespace troupe::batching
