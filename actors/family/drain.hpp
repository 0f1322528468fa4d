// How an actor answers a Drain (actors/protocol/local/node.hpp): when nothing runs any more.
#pragma once

#include <memory>
#include <vector>

#include <caf/typed_response_promise.hpp>

#include "actors/family/ask.hpp"
#include "actors/family/children.hpp"
#include "actors/family/gather.hpp"

namespace troupe {

/// Promises to those who wait until an actor is idle. The destructor keeps them too, since an actor
/// that has ended runs nothing.
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

/// Hands a Drain on to every child, and answers when all have answered
/// or ended.
template <class Child, class Self>
caf::result<caf::ok_atom> drain_children(Self* self, const std::vector<Child>& all,
                                         std::chrono::nanoseconds budget, const Drain& drain) {
  auto promise = self->template make_response_promise<caf::ok_atom>();
  auto answered = gather(all.size(), [promise]() mutable { promise.deliver(caf::ok_atom::value); });
  for (const Child& child : all)
    ask(self, child, budget, drain)
        .then([=](caf::ok_atom) mutable { answered(); },
              [=](caf::error&) mutable { answered(); }); // gone is idle
  return promise;
}

} // namespace troupe
