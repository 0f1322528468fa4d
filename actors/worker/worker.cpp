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
  using Answer = SessionBook<WorkerSessionActor>::Answer;
  auto& state = self->state;
  switch (state.sessions.asked(m.session_handle, m.master_task)) {
  case Answer::refuse:
    return to_error(state.sessions.refusal());
  case Answer::known:
    return WorkerSessionCreated{*state.sessions.find(m.session_handle),
                                services->devices.attributes()};
  case Answer::exists:
    return to_error(already_exists(
        str_cat("session ", m.session_handle, " exists already on ", services->task)));
  case Answer::make:
    break;
  }
  CreateWorkerSession request = m;
  // Only a master of this process may be silent for ever; one elsewhere is lost in silence.
  if (auto sender = self->current_sender(); sender && sender->node() != self->node())
    request.lease_us =
        std::min<std::int64_t>(bounded_lease(request.lease_us, services->timeouts),
                               10 * std::chrono::microseconds(services->timeouts.lease).count());
  auto session = self->spawn<caf::monitored>(
      worker_session, services, std::move(request), membership, transport,
      session_collectives(state.collectives, m.session_handle, state.notes));
  state.sessions.made(m.session_handle, m.master_task, session);
  state.children.add("session-" + m.session_handle, session);
  return WorkerSessionCreated{session, services->devices.attributes()};
}

} // namespace

WorkerActor::behavior_type worker(Self self, Services services, MembershipActor membership,
                                  TransportActor transport) {
  guard_actor(self);
  self->state.collectives =
      self->spawn<caf::monitored>(collectives, services, membership, transport, self->state.notes);
  self->state.children.add("collectives", self->state.collectives);
  self->set_down_handler([self](caf::down_msg& down) {
    // What its calls and the members of its groups wait for is lost: the node ends.
    if (self->state.collectives == down.source)
      return self->quit(down.reason ? down.reason : caf::error(caf::exit_reason::kill));
    self->state.children.remove(down.source);
    self->state.sessions.ended(down.source);
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
        if (const WorkerSessionActor* session = self->state.sessions.find(m.session_handle))
          stop(*session); // its DOWN takes it off the table
        return caf::ok_atom::value;
      },
      [=](const FindWorkerSession& m) -> caf::result<WorkerSessionCreated> {
        const WorkerSessionActor* session = self->state.sessions.find(m.session_handle);
        if (!session)
          return to_error(unknown_session(services, m.session_handle));
        return WorkerSessionCreated{*session, services->devices.attributes()};
      },
      [=](const FindCollectives&) { return CollectivesFound{self->state.collectives}; },
      [=](const ClearContainers& m) {
        for (const auto& device : services->devices.all()) {
          if (m.containers.empty())
            device->resources().clear_container("");
          for (const std::string& container : m.containers)
            if (!container.empty()) // in TensorFlow "" names no container
              device->resources().clear_container(container);
        }
        return caf::ok_atom::value;
      },
      [=](const Drain& m) {
        self->state.sessions.refuse(m.refusal);
        return drain_children(self, self->state.sessions.all(), services->timeouts.step, m);
      },
      [=](const GetActors&) {
        return describe_tree(self, str_cat(self->state.sessions.size(), " sessions"),
                             self->state.children);
      },
  };
}

} // namespace troupe
