#include "actors/executor/kernel_rendezvous.hpp"

#include <caf/actor_cast.hpp>
#include <caf/scheduled_actor.hpp>

#include "actors/family/ask.hpp"
#include "net/wire/wire_tensor.hpp"

namespace troupe {

PendingReceive::~PendingReceive() {
  if (done_)
    answer(cancelled("the step was given up while it waited for a value").as_derived(), {});
}

void PendingReceive::answer(Status status, EdgeValue value) {
  auto done = std::exchange(done_, nullptr);
  if (status.ok())
    done(std::move(value));
  else
    done(std::move(status));
}

KernelRendezvous::KernelRendezvous(caf::scheduled_actor* owner, RendezvousActor actor,
                                   std::uint64_t step_id, LentMemory& lent)
    : owner_(owner), owner_address_(owner->address()), actor_(std::move(actor)), step_id_(step_id),
      lent_(lent) {}

Status KernelRendezvous::send(const std::string& key, EdgeValue value) {
  post(caf::make_message(PutEdge{step_id_, key, std::move(value.tensor), value.is_dead}));
  return {};
}

void KernelRendezvous::recv(const std::string& key, std::function<void(Result<EdgeValue>)> done) {
  post(caf::make_message(
      TakeEdge{step_id_, key, owner_address_, std::make_shared<PendingReceive>(std::move(done))}));
}

// What fits into a message goes with it.
BufferRef KernelRendezvous::memory_of(const std::string& task, std::uint64_t bytes) {
  return bytes > max_inline_tensor ? lent_.reserve(task, bytes) : BufferRef{};
}

std::shared_ptr<VariableMemory> KernelRendezvous::variable_memory(const std::string& task,
                                                                  std::uint64_t bytes) {
  return bytes > max_inline_tensor && lent_.shows_to(task, bytes) ? lent_.shared_from_this()
                                                                  : nullptr;
}

void KernelRendezvous::post(caf::message content) {
  auto* receiver = caf::actor_cast<caf::abstract_actor*>(actor_);
  bool own = thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  if (own)
    has_posted_ = true;
  receiver->enqueue(own ? caf::strong_actor_ptr(owner_->ctrl()) : nullptr, caf::make_message_id(),
                    std::move(content), own ? owner_->context() : nullptr);
}

} // namespace troupe
