#include "actors/executor/internal/crew.hpp"

#include <algorithm>
#include <chrono>

#include "actors/executor/internal/loop.hpp"
#include "actors/executor/internal/step_state.hpp"
#include "devices/host/compute_pool.hpp"
#include "devices/host/spin.hpp"

namespace troupe::program {

namespace {

/// How long a helper looks for the next batch, and an owner without work for one that is done,
/// before either goes: about what waking a thread takes.
constexpr auto patience = std::chrono::microseconds(30);
/// Batches that a helper runs at most before the pool's other work has its turn.
constexpr int batches_at_once = 64;

} // namespace

// Marks that are no batch of any crew.
Batch* Crew::asleep() {
  static Batch mark;
  return &mark;
}
Batch* Crew::gone() {
  static Batch mark;
  return &mark;
}

Crew::Crew(ComputePool& pool)
    : pool_(pool), most_helpers_(std::clamp<std::size_t>(
                       static_cast<std::size_t>(pool.threads()) - 1, 1, ring_size / 2)) {
  for (std::size_t i = 0; i < 2 * most_helpers_; ++i) {
    batches_.push_back(std::make_unique<Batch>());
    free_.push_back(batches_.back().get());
  }
}

Crew::~Crew() = default;

void Crew::unref() {
  if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete this;
}

void Crew::publish(std::size_t helpers) {
  Batch* batch = free_.back();
  free_.pop_back();
  ++num_out_;
  const std::uint64_t end = end_.load(std::memory_order_relaxed);
  ring_[end % ring_size].store(batch, std::memory_order_relaxed);
  end_.store(end + 1, std::memory_order_release);
  is_wanted_.store(true, std::memory_order_relaxed);
  if (helpers_.load(std::memory_order_relaxed) >= std::min({most_helpers_, num_out_, helpers}))
    return;
  helpers_.fetch_add(1, std::memory_order_relaxed);
  ref();
  pool_.submit([this] { help(); });
}

// What lies at `begin` is read before that is known to be ours; the owner writes there again only
// after somebody has taken it, and then the exchange fails.
Batch* Crew::take() {
  std::uint64_t begin = begin_.load(std::memory_order_relaxed);
  while (begin < end_.load(std::memory_order_acquire)) {
    Batch* batch = ring_[begin % ring_size].load(std::memory_order_relaxed);
    if (begin_.compare_exchange_weak(begin, begin + 1, std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
      return batch;
  }
  return nullptr;
}

Batch* Crew::take_back() {
  Batch* batch = num_out_ > 0 ? take() : nullptr;
  num_out_ -= batch != nullptr;
  return batch;
}

Batch* Crew::take_done() {
  Batch* list = done_.exchange(nullptr, std::memory_order_acquire);
  if (list == asleep())
    return nullptr;
  for (Batch* batch = list; batch; batch = batch->next)
    --num_out_;
  return list;
}

bool Crew::wait_a_little() {
  return spin_until([this] { return is_some_done(); }, patience);
}

bool Crew::sleep() {
  Batch* none = nullptr;
  return done_.compare_exchange_strong(none, asleep(), std::memory_order_acq_rel) ||
         none == asleep();
}

void Crew::recycle(Batch& batch) {
  batch.state = nullptr;
  batch.status = Status{};
  free_.push_back(&batch);
}

void Crew::leave(std::shared_ptr<StepState> state) {
  left_ = std::move(state);
  while (take() != nullptr) { // nobody runs these any more
  }
  done_.exchange(gone(), std::memory_order_acq_rel);
  unref();
}

void Crew::help() {
  int left = batches_at_once;
  for (;;) {
    Batch* batch = take();
    if (batch) {
      Loop<false>(*batch->state).run_batch(*batch);
      give_back(*batch);
      if (--left > 0)
        continue;
      ref();
      pool_.submit([this] { help(); }); // behind what waits there
      return unref();
    }
    const auto has_more = [this] {
      return begin_.load(std::memory_order_relaxed) != end_.load(std::memory_order_relaxed);
    };
    const auto has_more_or_may_go = [&] {
      return has_more() || !is_wanted_.load(std::memory_order_relaxed);
    };
    if (!spin_until(has_more_or_may_go, patience) || !has_more())
      break;
  }
  // A batch that comes now waits for the next helper, or its owner takes it back.
  helpers_.fetch_sub(1, std::memory_order_relaxed);
  unref();
}

// Until the batch is on the stack its step has not ended, so its state is there; afterwards it may
// be gone at any time, unless it is held.
void Crew::give_back(Batch& batch) {
  std::shared_ptr<StepState> held;
  Batch* head = done_.load(std::memory_order_relaxed);
  do {
    if (head == gone())
      return;
    batch.next = head == asleep() ? nullptr : head;
    if (head == asleep() && !held)
      held = batch.state->shared_from_this();
  } while (!done_.compare_exchange_weak(head, &batch, std::memory_order_acq_rel,
                                        std::memory_order_relaxed));
  if (head == asleep())
    tell_owner(std::move(held), nullptr);
}

} // namespace troupe::program
