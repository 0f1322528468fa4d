#include "api/grpc/direct_calls.hpp"

#include <algorithm>
#include <utility>

#include "api/grpc/protocol.hpp"
#include "api/internal/settings.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

namespace {

namespace codec = master_codec;

/// Signatures that are known, over all threads.
constexpr std::size_t max_learnt = 64;

class Seat {
public:
  explicit Seat(DirectCalls::Seats& seats) : seats_(seats), is_mine_(--seats.free >= 0) {}
  ~Seat() { ++seats_.free; }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  explicit operator bool() const { return is_mine_; }

private:
  DirectCalls::Seats& seats_;
  bool is_mine_;
};

std::size_t bytes_of(const std::vector<Tensor>& values) {
  std::size_t out = 0;
  for (const Tensor& value : values)
    out += value.byte_size();
  return out;
}

void answer(RpcCall& call, const codec::RunStep& step, const std::vector<Tensor>& values) {
  if (auto bytes = codec::write_step_done(step.fetches, values, {}); bytes.ok())
    call.answer(*std::move(bytes));
  else
    fail_call(call, step.errors_in_body, bytes.status());
}

} // namespace

DirectCalls::DirectCalls(std::shared_ptr<DirectSteps> steps, std::int64_t longest_ms)
    : steps_(std::move(steps)), longest_ms_(longest_ms) {}

std::optional<DirectCalls::ForActors>
DirectCalls::begin(Seats& seats, std::shared_ptr<RpcCall> call, codec::RunStep step) {
  num_calls_.fetch_add(1, std::memory_order_relaxed);
  auto held = std::make_shared<ForActors>(ForActors{std::move(call), std::move(step), {}});
  ForActors& our = *held;
  if (!may_run_directly(our.step.options) || !our.step.partial_run_handle.empty())
    return std::move(our);
  const auto id = static_cast<std::uint64_t>(our.step.request_id);
  {
    using Place = decltype(book_)::Place;
    std::unique_lock guard(lock_);
    auto begun = book_.begin(id, held);
    switch (begun.place) {
    case Place::fresh:
      break;
    case Place::here:
      return std::nullopt;
    case Place::answered: {
      const Answer values = *begun.answer;
      guard.unlock();
      answer(*our.call, our.step, values);
      return std::nullopt;
    }
    case Place::dropped:
      guard.unlock();
      fail_call(*our.call, our.step.errors_in_body,
                aborted("The same RunStep (Master) request was received twice. It was answered "
                        "before, and the answer is not kept any more: run the step again"));
      return std::nullopt;
    case Place::actors:
      return std::move(our);
    }
  }
  our.note.is_booked = id != 0;
  Seat seat(seats);
  if (!seat)
    return std::move(our);
  std::vector<std::string> fetches = our.step.fetches;
  codec::complete_names(fetches);
  codec::complete_names(our.step.feeds);
  DirectRequest request;
  request.named_feeds = our.step.feeds;
  request.fetches = fetches;
  request.targets = our.step.targets;
  request.timeout_us =
      limit_us(std::max<std::int64_t>(our.step.options.timeout_ms, 0), longest_ms_);
  request.only_short = true;
  our.note.life = steps_->life();
  DirectOutcome outcome = run(request);
  if (!outcome.values) {
    our.note.wants_direct = outcome.is_new;
    our.note.begun = std::move(outcome.begun);
    return std::move(our);
  }
  static Counter& ended_here = counter("gateway_direct_steps");
  ended_here.add(1);
  std::vector<std::shared_ptr<ForActors>> joined;
  if (id != 0) {
    const std::size_t bytes = bytes_of(*outcome.values);
    std::scoped_lock guard(lock_);
    joined = book_.end(id, *outcome.values, bytes);
  }
  answer(*our.call, our.step, *outcome.values);
  for (const auto& other : joined)
    answer(*other->call, other->step, *outcome.values);
  return std::nullopt;
}

std::vector<DirectCalls::ForActors> DirectCalls::hand_over(std::uint64_t request_id) {
  std::vector<ForActors> out;
  std::scoped_lock guard(lock_);
  for (const auto& joined : book_.hand_over(request_id))
    out.push_back(std::move(*joined));
  return out;
}

DirectOutcome DirectCalls::run(const DirectRequest& request) {
  DirectOutcome out = steps_->run(request);
  if (!out.is_new)
    return out;
  auto graph = learnt(request);
  if (!graph)
    return out;
  steps_->learn(request, std::move(graph)); // for this thread
  return steps_->run(request);
}

std::shared_ptr<const DirectGraph> DirectCalls::learnt(const DirectRequest& request) const {
  std::scoped_lock guard(lock_);
  for (const Learnt& known : learnt_)
    if (std::ranges::equal(known.fetches, request.fetches) &&
        std::ranges::equal(known.targets, request.targets) &&
        std::ranges::equal(known.feeds, request.named_feeds, {}, {},
                           &std::pair<std::string, Tensor>::first) &&
        known.graph->life == steps_->life())
      return known.graph;
  return nullptr;
}

void DirectCalls::ended(std::uint64_t request_id) {
  std::scoped_lock guard(lock_);
  book_.ended(request_id);
}

void DirectCalls::learn(std::vector<std::string> feeds, std::vector<std::string> fetches,
                        std::vector<std::string> targets,
                        std::shared_ptr<const DirectGraph> graph) {
  std::scoped_lock guard(lock_);
  std::erase_if(learnt_, [&](const Learnt& known) {
    return known.feeds == feeds && known.fetches == fetches && known.targets == targets;
  });
  if (learnt_.size() == max_learnt)
    learnt_.erase(learnt_.begin());
  learnt_.push_back({std::move(feeds), std::move(fetches), std::move(targets), std::move(graph)});
}

void DirectCalls::forget() {
  std::vector<Learnt> dropped; // outside of the lock
  std::scoped_lock guard(lock_);
  dropped.swap(learnt_);
}

} // namespace troupe
