#include "kernels/queue/internal/batcher.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe::batching {

std::uint64_t Batcher::ticket() {
  std::scoped_lock guard(lock_);
  return ++last_ticket_;
}

Status Batcher::submit(const std::string& queue, const Limits& limits,
                       std::shared_ptr<BatchRequest> request) {
  std::scoped_lock guard(lock_);
  if (!ticks_)
    // What is called last may let go of the batcher, and so of the thread, from within.
    ticks_ = std::make_unique<TickThread>([weak = weak_from_this()](TickThread::Time now) {
      const auto self = weak.lock();
      return self ? self->tick(now) : TickThread::never;
    });
  TROUPE_TRY(queues_.try_emplace(queue, limits)
                 .first->second.add(std::move(request), std::chrono::steady_clock::now()));
  ticks_->wake();
  return {};
}

void Batcher::withdraw(std::uint64_t ticket) {
  std::scoped_lock guard(lock_);
  for (auto& [name, queue] : queues_)
    queue.withdraw(ticket);
}

void Batcher::ended() {
  std::scoped_lock guard(lock_);
  --at_work_;
  ticks_->wake();
}

TickThread::Time Batcher::tick(TickThread::Time now) {
  while (true) {
    std::unique_lock guard(lock_);
    Gathering* oldest = nullptr;
    TickThread::Time since = TickThread::never, due = TickThread::never;
    for (auto& [name, queue] : queues_) {
      if (const auto ready = queue.ready(now); ready && *ready < since) {
        since = *ready;
        oldest = &queue;
      }
      if (const auto next = queue.due())
        due = std::min(due, *next);
    }
    if (at_work_ >= most_at_work_)
      return TickThread::never; // the end of one wakes us
    if (!oldest)
      return due;
    Batch batch = oldest->take();
    ++at_work_;
    guard.unlock();
    process(std::move(batch));
  }
}

std::string Batcher::description() const {
  return str_cat("batches, ", most_at_work_, " at a time");
}

Result<Node> read_node(PrepareContext& c) {
  Node out;
  TROUPE_ASSIGN(out.resource, named_resource(c));
  out.queue = c.attrs().get_or<std::string>("batching_queue", "");
  Limits& limits = out.limits;
  TROUPE_ASSIGN(out.at_work, c.attr<std::int64_t>("num_batch_threads"));
  TROUPE_ASSIGN(limits.request, c.attr<std::int64_t>("max_batch_size"));
  TROUPE_ASSIGN(const auto timeout, c.attr<std::int64_t>("batch_timeout_micros"));
  limits.waiting = c.attrs().get_or<std::int64_t>("max_enqueued_batches", 10);
  limits.allowed = c.attrs().get_or<std::vector<std::int64_t>>("allowed_batch_sizes", {});
  limits.splits = c.attrs().get_or("enable_large_batch_splitting", false);
  if (limits.request < 1)
    return invalid_argument(str_cat("max_batch_size must be positive; was ", limits.request));
  if (timeout < 0)
    return invalid_argument(str_cat("batch_timeout_micros must be non-negative; was ", timeout));
  if (limits.waiting < 0)
    return invalid_argument(
        str_cat("max_enqueued_batches must be non-negative; was ", limits.waiting));
  constexpr std::chrono::hours longest(24 * 365);
  limits.timeout = std::min<std::chrono::microseconds>(std::chrono::microseconds(timeout), longest);
  limits.waiting = std::max<std::int64_t>(limits.waiting, 1);
  if (std::ranges::adjacent_find(limits.allowed, std::greater_equal()) != limits.allowed.end())
    return invalid_argument("allowed_batch_sizes entries must be monotonically increasing");
  if (!limits.allowed.empty() && limits.allowed.front() < 1)
    return invalid_argument("allowed_batch_sizes entries must be positive");
  if (!limits.allowed.empty() && !limits.splits && limits.allowed.back() != limits.request)
    return invalid_argument("final entry in allowed_batch_sizes must equal max_batch_size when "
                            "enable_large_batch_splitting is False");
  limits.batch = limits.splits && !limits.allowed.empty()
                     ? std::min(limits.allowed.back(), limits.request)
                     : limits.request;
  return out;
}

Result<std::int64_t> rows_of_inputs(const KernelContext& c, int count) {
  for (int i = 0; i < count; ++i) {
    if (c.input(i).shape().is_scalar())
      return invalid_argument("Batching input tensors must have at least one dimension");
    if (c.input(i).shape()[0] != c.input(0).shape()[0])
      return invalid_argument("Batching input tensors supplied in a given op invocation must have "
                              "equal 0th-dimension size");
  }
  return count == 0 ? 0 : c.input(0).shape()[0];
}

Result<Tensor> joined_input(const Batch& batch, std::size_t i, const Limits& limits,
                            Allocator& memory) {
  std::vector<Rows> parts;
  for (const Piece& piece : batch.pieces) {
    if (i >= request_of(piece).inputs.size())
      return invalid_argument("Batching inputs must have equal number of edges");
    parts.push_back({&request_of(piece).inputs[i], piece.begin, piece.rows});
  }
  const Rows first{parts[0].batch, parts[0].begin, 1};
  parts.insert(parts.end(), static_cast<std::size_t>(limits.padded(batch.rows) - batch.rows),
               first);
  return join_rows(parts, memory);
}

Result<Tensors> joined_inputs(const Batch& batch, const Limits& limits, Allocator& memory) {
  Tensors out;
  for (std::size_t i = 0; i < request_of(batch.pieces[0]).inputs.size(); ++i) {
    TROUPE_ASSIGN(Tensor joined, joined_input(batch, i, limits, memory));
    out.push_back(std::move(joined));
  }
  return out;
}

Result<Tensor> without_rows(const Tensor& like, Allocator& memory) {
  return Tensor::allocate(memory, like.dtype(), like.shape().with_dim(0, 0));
}

} // namespace troupe::batching
