// What a Session has behind it. Included by the files that define Session's members.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>

#include "actors/master_session/direct_steps.hpp"
#include "actors/node/handles.hpp"
#include "actors/node/shared.hpp"
#include "actors/session/session.hpp"
#include "api/session.hpp"
#include "core/base/strings.hpp"
#include "net/transport/caller.hpp"

namespace troupe {

struct Session::Impl {
  bool local = false;                 // its master is in this process
  std::shared_ptr<ClusterNode> node;  // of a local session; others may have it too
  std::shared_ptr<ClientNode> client; // of a remote one; likewise
  Timeouts timeouts;
  SessionActor actor;
  MasterSessionActor master; // of a local session; takes its steps without the session's help
  /// The master session has ended; the session actor knows its successor.
  std::atomic<bool> master_has_ended = false;
  std::shared_ptr<DirectSteps> direct; // of a local session: steps that need no actor
  std::string handle;
  std::int64_t operation_timeout_ms = 0;
  std::size_t num_thread_pools = 0; // that RunOptions may name

  std::mutex lock; // guards what follows
  std::vector<std::unique_ptr<Caller>> idle;

  std::mutex extending; // held while a scope's nodes are on their way; guards what follows
  std::vector<std::pair<std::weak_ptr<Graph>, NodeId>> extended; // how many nodes of which graph

  std::atomic<bool> ended = false;

  caf::actor_system& system() { return local ? node->system() : client->system(); }

  std::unique_ptr<Caller> borrow() {
    {
      std::scoped_lock guard(lock);
      if (!idle.empty()) {
        auto caller = std::move(idle.back());
        idle.pop_back();
        return caller;
      }
    }
    return std::make_unique<Caller>(system());
  }
  void give_back(std::unique_ptr<Caller> caller) {
    std::scoped_lock guard(lock);
    idle.push_back(std::move(caller));
  }

  /// Asks the session actor; everything that can happen on this thread does.
  template <class Answer, class Message>
  Result<Answer> ask(Message message, std::chrono::nanoseconds budget, std::string_view what) {
    auto caller = borrow();
    Result<Answer> out = Answer{};
    // The session's actor ends each call in better words.
    caller->ask(
        actor, caf::timespan(budget + std::chrono::seconds(1)), std::move(message),
        [&](Answer& answer) { out = std::move(answer); },
        [&](caf::error& error) { out = to_status(error, what); });
    give_back(std::move(caller));
    return out;
  }

  /// Sends a step to the master session. If that has ended, the session actor names its successor
  /// or the reason. A request that reached no actor was not begun, so it is sent again, unless
  /// `only_once` is set: `make` gives its contents away and cannot be called twice.
  template <class Make>
  Result<RunStepResult> ask_master(Make make, bool only_once, std::chrono::nanoseconds budget,
                                   std::string_view what);

  /// A step answers by its own deadline; this one is only for a master that is gone.
  std::chrono::nanoseconds step_budget(std::int64_t timeout_ms) const;

  template <class Request, class Make>
  Result<std::vector<Tensor>> run(const DirectRequest& step, std::size_t num_fetches,
                                  const RunOptions& options, RunMetadata* metadata,
                                  std::string_view what, Make make);

  /// What every session asks for, wherever its master is.
  Result<OpenSession> prepare(const SessionOptions& options);
  std::chrono::milliseconds opening_budget() const;
  Result<SessionCreated> create(OpenSession request, std::chrono::milliseconds budget,
                                const std::string& where);
  /// The master is in this process, at `node`.
  Status open_on_node(OpenSession request, const std::string& where);

  void end();
  ~Impl();
};

/// FAILED_PRECONDITION for a moved-from session.
Status moved_from_session();

} // namespace troupe
