#include "actors/master/remake.hpp"

#include <algorithm>
#include <chrono>

#include "actors/family/gather.hpp"
#include "actors/master_session/session_record.hpp"
#include "actors/protocol/error_text.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using Self = MasterSelf;
using Parts = MasterParts;

/// Sessions that ended too often, and are remembered.
constexpr std::size_t max_given_up = 16;

// A session that is being made again: every task that it used is asked for what it holds of it.
struct Remake {
  std::string handle;
  Status why; ///< what steps that still run end with
  std::vector<SessionWorker> workers;
};
using RemakeRef = std::shared_ptr<Remake>;

Status not_found(std::string_view handle, std::string_view why = {}) {
  return aborted(str_cat("Session ", handle, " is not found.", why.empty() ? "" : " ", why));
}

// Its part on this task has no lease, and would stay; the others' frees them.
void delete_own_part(Self self, const Parts& parts, const std::string& handle) {
  ask(self, parts.own_worker, parts.services->timeouts.request, DeleteWorkerSession{handle})
      .then([](caf::ok_atom) {}, [](caf::error&) {}); // gone is as good as deleted
}

void forget(Self self, const Parts& parts, const std::string& handle, const Status& why) {
  auto session = self->state.sessions.extract(handle);
  if (session.empty())
    return;
  delete_own_part(self, parts, handle);
  for (auto& promise : session.mapped().waiting)
    promise.deliver(to_error(why));
}

void give_up(Self self, const Parts& parts, const std::string& handle, std::string_view reason) {
  Status why =
      aborted(str_cat("Session ", handle, " was closed by its master, task ", parts.services->task,
                      ": its master session ended (", reason, ") after it had been made again ",
                      SessionLife::most_remakes, " times within a minute; make a new session"));
  log_warning(why.message());
  auto& known = self->state.given_up;
  known.emplace_back(handle, why);
  if (known.size() > max_given_up)
    known.pop_front();
  forget(self, parts, handle, why);
}

// Null if it is not wanted any more.
MasterState::Session* wanted(Self self, const Remake& remake) {
  auto it = self->state.sessions.find(remake.handle);
  return it != self->state.sessions.end() && it->second.life.is_being_made() ? &it->second
                                                                             : nullptr;
}

// All tasks have been heard of.
void made(Self self, const Parts& parts, const RemakeRef& remake) {
  MasterState::Session* session = wanted(self, *remake);
  if (!session) {
    for (const SessionWorker& worker : remake->workers)
      if (worker.worker)
        ask(self, worker.worker, parts.services->timeouts.request,
            DeleteWorkerSession{remake->handle})
            .then([](caf::ok_atom) {}, [](caf::error&) {}); // its lease frees it too
    return;
  }
  session->actor =
      spawn_session(self, parts, *session->life.record(), remake->workers, session->direct);
  session->life.made();
  log_info("session ", remake->handle, " goes on: its master session was made again");
  for (auto& promise : std::exchange(session->waiting, {}))
    promise.deliver(SessionCreated{remake->handle, session->actor, 0, {}});
}

// A task that holds nothing of the session any more is lost to it, as if it had been lost before.
template <class Answered>
void take_over(Self self, const Parts& parts, const RemakeRef& remake, std::size_t index,
               std::int64_t due, Answered answered) {
  const std::string& task = remake->workers[index].task;
  auto lost = [=](const Status& why) mutable {
    remake->workers[index].lost = why;
    remake->workers[index].session = WorkerSessionActor{};
    answered();
  };
  ask_task<WorkerSessionCreated>(
      self, parts, task, FindWorkerSession{remake->handle}, due,
      [=](const WorkerActor& worker) {
        remake->workers[index].worker = worker;
        return true;
      },
      [=](WorkerSessionCreated& found) mutable {
        SessionWorker& worker = remake->workers[index];
        worker.session = found.session;
        worker.is_foreign = found.is_foreign;
        if (!found.session)
          return lost(internal(str_cat("task ", worker.task, " answered without a session")));
        ask(self, found.session, std::chrono::microseconds(due - now_us(self)),
            ResumeSession{{remake->why}})
            .then([=](caf::ok_atom) mutable { answered(); },
                  [=](caf::error& error) mutable {
                    lost(to_status(error, str_cat("taking the session over on ",
                                                  remake->workers[index].task)));
                  });
      },
      [=](const TaskFailure& failure) mutable { lost(failure.status); });
}

void make_again(Self self, const Parts& parts, const SessionRecord& record,
                const std::string& reason) {
  auto remake = std::make_shared<Remake>();
  remake->handle = record.handle;
  remake->why = aborted(str_cat("the master session of session ", record.handle, ", on task ",
                                parts.services->task, ", has ended (", reason,
                                "); the session goes on without its steps"));
  log_warning("the master session of session ", record.handle, " has ended (", reason,
              "); it is made again");
  for (const RecordedTask& task : *record.tasks)
    remake->workers.push_back(
        {task.task, WorkerActor{}, WorkerSessionActor{}, task.devices, {}, false});
  auto answered = gather(remake->workers.size(), [=] { made(self, parts, remake); });
  // Those that have answered keep what they hold for a lease.
  const std::int64_t due =
      now_us(self) + std::chrono::microseconds(parts.services->timeouts.lease * 3 / 4).count();
  for (std::size_t i = 0; i < remake->workers.size(); ++i)
    take_over(self, parts, remake, i, due, answered);
}

} // namespace

MasterSessionActor spawn_session(Self self, const Parts& parts, SessionRecord record,
                                 std::vector<SessionWorker> workers,
                                 std::shared_ptr<DirectSteps> direct) {
  const std::string name = "session-" + record.handle;
  auto session = self->spawn<caf::monitored>(
      master_session,
      MasterSessionParts{parts.services, parts.membership, parts.transport, self->address()},
      std::move(record), std::move(workers), std::move(direct));
  self->state.children.add(name, session);
  return session;
}

void session_ended(Self self, const Parts& parts, const caf::down_msg& down) {
  auto& sessions = self->state.sessions;
  auto ended = std::find_if(sessions.begin(), sessions.end(), [&](const auto& entry) {
    return entry.second.actor && entry.second.actor == down.source;
  });
  if (ended == sessions.end())
    return;
  auto& [handle, session] = *ended;
  const std::string reason = error_text(down.reason);
  const bool by_fault = is_fault(down.reason) && self->state.refusal.ok();
  switch (session.life.ended(by_fault, now_us(self))) {
  case SessionLife::End::gone:
    return forget(self, parts, std::string(handle), not_found(handle));
  case SessionLife::End::given_up:
    return give_up(self, parts, std::string(handle), reason);
  case SessionLife::End::made_again:
    session.actor = MasterSessionActor{};
    return make_again(self, parts, *session.life.record(), reason);
  }
}

void give_up_remakes(Self self, const Parts& parts, const Status& why) {
  std::vector<std::string> handles;
  for (const auto& [handle, session] : self->state.sessions)
    if (session.life.is_being_made())
      handles.push_back(handle);
  for (const std::string& handle : handles)
    forget(self, parts, handle, not_found(handle, why.message()));
}

caf::result<SessionCreated> find_session(Self self, const std::string& handle) {
  auto it = self->state.sessions.find(handle);
  if (it == self->state.sessions.end()) {
    for (const auto& [known, why] : self->state.given_up)
      if (known == handle)
        return to_error(why);
    return to_error(not_found(handle));
  }
  const MasterSessionActor& actor = it->second.actor;
  // One that has ended, of which we are about to be told, is found once that is decided.
  if (actor &&
      !caf::actor_cast<caf::abstract_actor*>(actor)->getf(caf::abstract_actor::is_cleaned_up_flag))
    return SessionCreated{handle, actor, 0, {}};
  auto promise = self->make_response_promise<SessionCreated>();
  it->second.waiting.push_back(promise);
  return promise;
}

std::vector<MasterSessionActor> living_sessions(const MasterState& state) {
  std::vector<MasterSessionActor> out;
  for (const auto& [handle, session] : state.sessions)
    if (session.actor)
      out.push_back(session.actor);
  return out;
}

} // namespace troupe
