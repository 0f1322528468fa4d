#include "actors/collectives/pending.hpp"

#include <atomic>

#include "actors/family/ask.hpp"
#include "core/base/strings.hpp"

namespace troupe {
namespace {

class SessionCollectives final : public Collectives {
public:
  SessionCollectives(const CollectivesActor& actor, std::string handle,
                     std::shared_ptr<CollectiveNotes> notes)
      : address_(actor->address()), handle_(std::move(handle)), notes_(std::move(notes)) {}

  // One for the process: tickets of all sessions meet in one actor.
  std::uint64_t ticket() override {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
  void begin(std::uint64_t ticket, CollectiveCall call, Arrived arrived) override {
    auto pending =
        std::make_shared<PendingCollective>(std::move(call), handle_, std::move(arrived));
    if (!post(BeginCollective{ticket, pending}))
      pending->answer(
          unavailable("the part of this task that computes collectives has ended").as_derived());
  }
  void withdraw(std::uint64_t ticket) override { post(WithdrawCollective{ticket}); }
  std::string waits_for(std::uint64_t ticket) override {
    std::string text = notes_->get(ticket);
    return text.empty() ? "the other members of its collective group" : text;
  }
  void step_ended(const std::string& device, std::uint64_t step, const Status& status) override {
    post(SeatEnded{handle_, device, step, {status}});
  }

private:
  template <class Message>
  bool post(Message message) {
    auto actor = caf::actor_cast<caf::strong_actor_ptr>(address_);
    if (actor)
      caf::anon_send(typed<CollectivesActor>(actor), std::move(message));
    return !!actor;
  }

  caf::actor_addr address_;
  std::string handle_;
  std::shared_ptr<CollectiveNotes> notes_;
};

} // namespace

PendingCollective::~PendingCollective() {
  answer(cancelled("the step was given up while it waited for a collective").as_derived());
}

void PendingCollective::answer(Result<Tensors> outcome) {
  if (auto arrived = std::exchange(arrived_, nullptr))
    arrived(std::move(outcome));
}

void CollectiveNotes::set(std::uint64_t ticket, std::string text) {
  std::scoped_lock guard(lock_);
  texts_[ticket] = std::move(text);
}

void CollectiveNotes::forget(std::uint64_t ticket) {
  std::scoped_lock guard(lock_);
  texts_.erase(ticket);
}

std::string CollectiveNotes::get(std::uint64_t ticket) const {
  std::scoped_lock guard(lock_);
  auto found = texts_.find(ticket);
  return found == texts_.end() ? std::string() : found->second;
}

std::shared_ptr<Collectives> session_collectives(const CollectivesActor& actor, std::string handle,
                                                 std::shared_ptr<CollectiveNotes> notes) {
  return std::make_shared<SessionCollectives>(actor, std::move(handle), std::move(notes));
}

} // namespace troupe
