#include "actors/worker/worker.hpp"

#include <algorithm>

#include "actors/family/drain.hpp"
#include "actors/worker_session/worker_session.hpp"
#include "core/base/strings.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe {

namespace {

using Self = WorkerActor::stateful_pointer<WorkerState>;

Status unknown_session(const Services& services, const std::string& handle) {
  return aborted(str_cat("Session handle is not found: ", handle, ". Possibly this worker (\"",
                         services->task, "\") just restarted; make a new session."));
}

caf::result<WorkerSessionCreated> create(Self self, const Services& services,
                                         const MembershipActor& membership,
                                         const TransportActor& transport,
                                         const CreateWorkerSession& m) {
  auto& state = self->state;
  if (!state.refusal.ok())
    return to_error(state.refusal);
  if (auto it = state.sessions.find(m.session_handle); it != state.sessions.end()) {
    // Asked for again: the connection was lost that should have carried the first answer.
    if (!m.master_task.empty() && it->second.master == m.master_task)
      return WorkerSessionCreated{it->second.actor, services->devices.attributes()};
    return to_error(already_exists(
        str_cat("session ", m.session_handle, " exists already on ", services->task)));
  }
  CreateWorkerSession request = m;
  // Only a master of this process may be silent for ever; one elsewhere is lost in silence.
  if (auto sender = self->current_sender(); sender && sender->node() != self->node())
    request.lease_us =
        std::min<std::int64_t>(bounded_lease(request.lease_us, services->timeouts),
                               10 * std::chrono::microseconds(services->timeouts.lease).count());
  auto session = self->spawn<caf::monitored>(worker_session, services, std::move(request),
                                             membership, transport);
  state.sessions.emplace(m.session_handle, WorkerState::Session{session, m.master_task});
  state.children.add("session-" + m.session_handle, session);
  return WorkerSessionCreated{session, services->devices.attributes()};
}

} // namespace

WorkerActor::behavior_type worker(Self self, Services services, MembershipActor membership,
                                  TransportActor transport) {
  guard_actor(self);
  self->set_down_handler([self](caf::down_msg& down) {
    self->state.children.remove(down.source);
    std::erase_if(self->state.sessions,
                  [&](const auto& entry) { return entry.second.actor == down.source; });
  });
  self->set_exit_handler([self](caf::exit_msg& exit) {
    self->state.children.stop_all();
    self->quit(exit.reason);
  });
  return {
      [services](const GetWorkerStatus&) {
        return WorkerStatus{services->task, services->devices.attributes()};
      },
      [=](const CreateWorkerSession& m) {
        return create(self, services, membership, transport, m);
      },
      [=](const DeleteWorkerSession& m) {
        auto it = self->state.sessions.find(m.session_handle);
        if (it != self->state.sessions.end())
          stop(it->second.actor); // its DOWN takes it off the table
        return caf::ok_atom::value;
      },
      [=](const FindWorkerSession& m) -> caf::result<WorkerSessionCreated> {
        auto it = self->state.sessions.find(m.session_handle);
        if (it == self->state.sessions.end())
          return to_error(unknown_session(services, m.session_handle));
        return WorkerSessionCreated{it->second.actor, services->devices.attributes()};
      },
      [=](const ClearContainers& m) {
        for (const auto& device : services->devices.all()) {
          if (m.containers.empty())
            device->resources().clear_container("");
          for (const std::string& container : m.containers)
            device->resources().clear_container(container);
        }
        return caf::ok_atom::value;
      },
      [=](const Drain& m) {
        self->state.refusal = m.refusal;
        std::vector<WorkerSessionActor> sessions;
        for (const auto& [handle, session] : self->state.sessions)
          sessions.push_back(session.actor);
        return drain_children(self, sessions, services->timeouts.step, m);
      },
      [=](const GetActors&) {
        return describe_tree(self, str_cat(self->state.sessions.size(), " sessions"),
                             self->state.children);
      },
  };
}

} // namespace troupe
