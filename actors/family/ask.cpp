#include "actors/family/ask.hpp"

#include <exception>

#include <caf/attachable.hpp>
#include <caf/message.hpp>

#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

namespace {

/// Number of our kind of attachables; CAF's are below ten.
constexpr std::size_t fuse_kind = 100;

/// Hangs at a proxy; blows when that ends.
class Fuse final : public caf::attachable {
public:
  Fuse(const RequestGuard* owner, const caf::actor_addr& asker, caf::message_id response)
      : owner_(owner), asker_(asker), response_(response) {}

  void actor_exited(const caf::error&, caf::execution_unit*) override {
    if (auto asker = caf::actor_cast<caf::strong_actor_ptr>(asker_))
      asker->enqueue(nullptr, response_,
                     caf::make_message(caf::make_error(caf::sec::request_receiver_down)), nullptr);
  }
  bool matches(const token& what) override {
    return what.subtype == fuse_kind && what.ptr == owner_;
  }

private:
  const RequestGuard* owner_;
  caf::actor_addr asker_;
  caf::message_id response_;
};

caf::error exception_to_error(std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return to_error(internal(str_cat("an actor ended with an exception: ", e.what())));
  } catch (...) {
    return to_error(internal("an actor ended with an unknown exception"));
  }
}

} // namespace

RequestGuard::RequestGuard(caf::strong_actor_ptr peer, const caf::actor_addr& asker,
                           caf::message_id response)
    : peer_(std::move(peer)) {
  if (peer_)
    peer_->get()->attach(caf::attachable_ptr(new Fuse(this, asker, response)));
}

RequestGuard::~RequestGuard() {
  if (peer_)
    peer_->get()->detach(caf::attachable::token(fuse_kind, this));
}

void make_plain(caf::error& error) {
  if (!error)
    error = to_error(internal("a peer answered with an error that says nothing"));
  else if (error.category() == caf::atom("system") && !error.context().empty())
    error = caf::error{error.code(), error.category()};
}

void guard_actor(caf::scheduled_actor* self) {
  static Counter& strays = counter("stray_messages");
  self->set_exception_handler(
      [](std::exception_ptr& exception) -> caf::error { return exception_to_error(exception); });
  self->set_error_handler([](caf::scheduled_actor*, caf::error&) { strays.add(1); });
  self->set_down_handler([](caf::scheduled_actor*, caf::down_msg&) { strays.add(1); });
  self->set_default_handler(
      [](caf::scheduled_actor* receiver, caf::message_view&) -> caf::result<caf::message> {
        strays.add(1);
        if (!receiver->current_message_id().is_request())
          return caf::message{};
        return to_error(unimplemented(str_cat("an actor of kind ", receiver->name(),
                                              " does not know this request; are both nodes of the "
                                              "same version?")));
      });
}

} // namespace troupe
