// What an actor does with a Drain (actors/protocol/node.hpp): says when nothing runs any more.
#pragma once

#include <memory>
#include <vector>

#include <caf/typed_response_promise.hpp>

#include "actors/family/ask.hpp"
#include "actors/family/children.hpp"

namespace troupe {

/// Those who wait until an actor is idle. Answered in the destructor too: an actor that has ended
/// runs nothing.
class IdleWaiters {
public:
  IdleWaiters() = default;
  IdleWaiters(const IdleWaiters&) = delete;
  IdleWaiters& operator=(const IdleWaiters&) = delete;
  ~IdleWaiters() { answer(); }

  void add(caf::typed_response_promise<caf::ok_atom> promise) {
    waiting_.push_back(std::move(promise));
  }
  void answer() {
    for (auto& promise : waiting_)
      promise.deliver(caf::ok_atom::value);
    waiting_.clear();
  }

private:
  std::vector<caf::typed_response_promise<caf::ok_atom>> waiting_;
};

/// Hands a Drain on to every child, each of which is a `Child`, and answers when all have answered
/// or ended.
template <class Child, class Self>
caf::result<caf::ok_atom> drain_children(Self* self, const std::vector<caf::strong_actor_ptr>& all,
                                         std::chrono::nanoseconds budget, const Drain& drain) {
  if (all.empty())
    return caf::ok_atom::value;
  auto promise = self->template make_response_promise<caf::ok_atom>();
  auto missing = std::make_shared<std::size_t>(all.size());
  auto one_less = [=]() mutable {
    if (--*missing == 0)
      promise.deliver(caf::ok_atom::value);
  };
  for (const caf::strong_actor_ptr& child : all)
    ask(self, typed<Child>(child), budget, drain)
        .then([=](caf::ok_atom) mutable { one_less(); },
              [=](caf::error&) mutable { one_less(); }); // gone is idle
  return promise;
}

} // namespace troupe
