#include "kernels/queue/internal/batcher.hpp"

#include <algorithm>
#include <functional>

#include "core/base/strings.hpp"

namespace troupe::batching {

Result<Node> read_node(PrepareContext& c, bool adapts) {
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
  if (out.at_work < 1 && !adapts)
    return invalid_argument(str_cat("num_batch_threads must be positive; was ", out.at_work));
  if (limits.request < 1)
    return invalid_argument(str_cat("max_batch_size must be positive; was ", limits.request));
  if (timeout < 0)
    return invalid_argument(str_cat("batch_timeout_micros must be non-negative; was ", timeout));
  if (limits.waiting < 0)
    return invalid_argument(
        str_cat("max_enqueued_batches must be non-negative; was ", limits.waiting));
  if (std::ranges::adjacent_find(limits.allowed, std::greater_equal()) != limits.allowed.end())
    return invalid_argument("allowed_batch_sizes entries must be monotonically increasing");
  if (!limits.allowed.empty() && limits.allowed.front() < 1)
    return invalid_argument("allowed_batch_sizes entries must be positive");
  if (!limits.allowed.empty() && !limits.splits && limits.allowed.back() != limits.request)
    return invalid_argument("final entry in allowed_batch_sizes must equal max_batch_size when "
                            "enable_large_batch_splitting is False");
  constexpr std::chrono::hours longest(24 * 365); // so that no time overflows
  limits.timeout = std::min<std::chrono::microseconds>(std::chrono::microseconds(timeout), longest);
  limits.waiting = std::max<std::int64_t>(limits.waiting, 1);
  constexpr std::int64_t many = 64;
  if (out.at_work < 1) {
    out.at_work = many;
    limits.splits = true;
  }
  limits.batch = limits.splits && !limits.allowed.empty()
                     ? std::min(limits.allowed.back(), limits.request)
                     : limits.request;
  return out;
}

std::uint64_t Batcher::ticket() {
  std::scoped_lock guard(lock_);
  return ++last_ticket_;
}

Status Batcher::submit(const std::string& queue, std::shared_ptr<BatchRequest> request) {
  std::scoped_lock guard(lock_);
  TROUPE_TRY(queues_.try_emplace(queue, limits_)
                 .first->second.add(std::move(request), std::chrono::steady_clock::now()));
  ticks_->wake();
  return {};
}

void Batcher::withdraw(std::uint64_t ticket) {
  std::vector<std::shared_ptr<Work>> unwanted;
  {
    std::scoped_lock guard(lock_);
    for (auto& [name, queue] : queues_)
      queue.withdraw(ticket);
    for (const auto& work : at_work_)
      if (std::erase(work->wanted_by, ticket) > 0 && work->wanted_by.empty())
        unwanted.push_back(work);
  }
  for (const auto& work : unwanted)
    work->cancellation.cancel(cancelled("all steps of the batch were cancelled"));
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
    if (static_cast<std::int64_t>(at_work_.size()) >= most_at_work_)
      return TickThread::never; // the end of one wakes us
    if (!oldest)
      return due;
    auto work = std::make_shared<Work>();
    work->batch = oldest->take();
    for (const Piece& piece : work->batch.pieces)
      work->wanted_by.push_back(piece.request->ticket);
    at_work_.push_back(work);
    guard.unlock();
    process(std::move(work));
  }
}

void Batcher::ended(const std::shared_ptr<Work>& work) {
  std::scoped_lock guard(lock_);
  at_work_.remove(work);
  ticks_->wake();
}

std::string Batcher::description() const {
  return str_cat("batches of at most ", limits_.batch, " rows, ", most_at_work_, " at a time");
}

Result<Tensor> Batcher::joined_input(const Batch& batch, std::size_t i) const {
  std::vector<Rows> parts;
  for (const Piece& piece : batch.pieces) {
    if (i >= request_of(piece).inputs.size())
      return invalid_argument("Batching inputs must have equal number of edges");
    parts.push_back({&request_of(piece).inputs[i], piece.begin, piece.rows});
  }
  const Rows first{parts[0].batch, parts[0].begin, 1};
  parts.insert(parts.end(), static_cast<std::size_t>(limits_.padded(batch.rows) - batch.rows),
               first);
  return join_rows(parts, memory_);
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

Result<Tensor> without_rows(const Tensor& like, Allocator& memory) {
  return Tensor::allocate(memory, like.dtype(), like.shape().with_dim(0, 0));
}

} // namespace troupe::batching
