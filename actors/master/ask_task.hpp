// A request of the MASTER to the worker of one task, with an end: dials the task if need be, asks
// again where the connection was lost under the request, and says why there was no answer.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "actors/family/ask.hpp"
#include "actors/master/master.hpp"
#include "core/base/strings.hpp"

namespace troupe {

using MasterSelf = MasterActor::stateful_pointer<MasterState>;

struct MasterParts {
  Services services;
  WorkerActor own_worker;
  MembershipActor membership;
  TransportActor transport;
};

/// Why a task did not answer.
struct TaskFailure {
  Status status;
  bool is_sudden = false; ///< it ended under the request: nobody need wait for others to say so
};

/// When whoever asks several tasks has to have heard of all, on the actors' clock.
inline std::int64_t due_us(MasterSelf self, const Services& services, std::int64_t timeout_us) {
  return now_us(self) + (timeout_us > 0 ? std::chrono::microseconds(timeout_us)
                                        : std::chrono::microseconds(services->timeouts.verdict()))
                            .count();
}

/// The task at its address, and for how long it was waited for: "task … at … has not answered for
/// …".
Status silence_of_task(const Services& services, const std::string& task, std::int64_t waited_us,
                       const PeerList& peers);

/// A worker is asked at most so often: a connection may be lost under the request, but one that is
/// lost again and again is told.
inline constexpr int most_attempts_at_task = 3;

template <class Answer, class Message>
struct TaskErrand {
  MasterSelf self;
  MasterParts parts;
  std::string task;
  Message message;
  std::int64_t due_us = 0;
  /// The worker is known; false: nobody wants its answer any more.
  std::function<bool(const WorkerActor&)> reached;
  std::function<void(Answer&)> done;
  std::function<void(const TaskFailure&)> failed;
  int attempt = 1;
  std::int64_t began_us = 0;

  std::chrono::microseconds left() const {
    return std::chrono::microseconds(std::max<std::int64_t>(due_us - now_us(self), 1000));
  }
};

template <class Answer, class Message>
void reach_task(const std::shared_ptr<TaskErrand<Answer, Message>>& errand);

// Its time is over: membership knows what of the task was heard, or how it was lost.
template <class Answer, class Message>
void fail_for_silence(const std::shared_ptr<TaskErrand<Answer, Message>>& errand) {
  auto fail = [errand](const PeerList& peers) {
    errand->failed({silence_of_task(errand->parts.services, errand->task,
                                    now_us(errand->self) - errand->began_us, peers),
                    false});
  };
  ask(errand->self, errand->parts.membership, errand->parts.services->timeouts.request, GetPeers{})
      .then([=](const PeerList& peers) { fail(peers); }, [=](caf::error&) { fail({}); });
}

template <class Answer, class Message>
void ask_reached_task(const std::shared_ptr<TaskErrand<Answer, Message>>& errand,
                      const WorkerActor& worker) {
  if (errand->reached && !errand->reached(worker))
    return;
  ask(errand->self, worker, errand->left(), errand->message)
      .then([=](Answer answer) { errand->done(answer); },
            [=](caf::error& error) {
              const bool is_elsewhere = errand->task != errand->parts.services->task;
              // One that has done it already says so again.
              if (is_elsewhere && error == caf::sec::request_receiver_down &&
                  errand->attempt < most_attempts_at_task) {
                ++errand->attempt;
                return reach_task(errand);
              }
              if (error == caf::sec::request_timeout)
                return fail_for_silence(errand);
              errand->failed({to_status(error, str_cat("task ", errand->task)), false});
            });
}

// One whose connection was lost is dialled again at once: where nobody listens any more, it has
// ended.
template <class Answer, class Message>
void reach_task(const std::shared_ptr<TaskErrand<Answer, Message>>& errand) {
  const MasterParts& parts = errand->parts;
  if (errand->task == parts.services->task)
    return ask_reached_task(errand, parts.own_worker);
  const bool is_first = errand->attempt == 1;
  // A dial that ends before our own time does says why.
  const auto budget = errand->left() * 9 / 10;
  ask(errand->self, parts.membership, errand->left(),
      GetPeer{errand->task, budget.count(), is_first})
      .then([=](const Peer& peer) { ask_reached_task(errand, peer.worker); },
            [=](caf::error& error) {
              if (error == caf::sec::request_timeout)
                return fail_for_silence(errand);
              errand->failed({to_status(error, "dialling"), !is_first});
            });
}

/// Ends with one call of `done` or `failed`, at `due` at the latest; with none if `reached` (may be
/// null) says no.
template <class Answer, class Message>
void ask_task(MasterSelf self, const MasterParts& parts, std::string task, Message message,
              std::int64_t due, std::function<bool(const WorkerActor&)> reached,
              std::function<void(Answer&)> done, std::function<void(const TaskFailure&)> failed) {
  using Errand = TaskErrand<Answer, Message>;
  reach_task(std::make_shared<Errand>(Errand{self, parts, std::move(task), std::move(message), due,
                                             std::move(reached), std::move(done), std::move(failed),
                                             1, now_us(self)}));
}

} // namespace troupe
