#include "api/grpc/foreign_task.hpp"

#include <algorithm>
#include <future>
#include <map>

#include <caf/actor_system.hpp>

#include "actors/family/children.hpp"
#include "actors/protocol/wire/collectives.hpp"
#include "api/grpc/foreign_session.hpp"
#include "api/grpc/worker_client_codec.hpp"
#include "core/base/device_name.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

/// The FOREIGN TASK: guardian, membership and worker of a task that is TensorFlow's, as far as
/// others need them.
using ForeignTaskActor =
    WorkerActor::extend<caf::replies_to<Hello>::with<Welcome>,
                        caf::replies_to<Heartbeat>::with<Heartbeat>,
                        caf::replies_to<Farewell>::with<caf::ok_atom>, caf::reacts_to<PeerAnswered>,
                        caf::reacts_to<CheckLeases>>;

struct ForeignTaskState {
  static constexpr const char* name = "foreign-task";
  std::map<std::string, ForeignSessionActor> sessions; ///< by handle
  caf::actor_addr membership;                          ///< our own node's, which has greeted us
  std::int64_t heard_us = 0;                           ///< the last word of it
  PeerCalls calls;
  ~ForeignTaskState() {
    for (const auto& [handle, session] : sessions)
      stop(session);
  }
};

using TaskSelf = ForeignTaskActor::stateful_pointer<ForeignTaskState>;
using Info = std::shared_ptr<const ForeignTaskInfo>;

struct TaskParts {
  Services services;
  std::shared_ptr<RpcPeers> peers;
  Info info;
};

Welcome welcome(TaskSelf self, const TaskParts& parts) {
  if (auto sender = self->current_sender()) {
    self->state.membership = sender->address();
    self->monitor(caf::actor_cast<caf::actor>(sender));
  }
  Welcome out;
  out.version = protocol_version;
  out.task = parts.info->task;
  out.incarnation = parts.info->incarnation;
  out.software = "tensorflow";
  const caf::strong_actor_ptr own = self->ctrl();
  out.worker = typed<WorkerActor>(own);
  out.master = typed<MasterActor>(own); // what it does not know it answers with an error
  out.transport = typed<TransportActor>(own);
  out.membership = typed<MembershipActor>(own);
  out.cluster = parts.services->cluster.identity_between(parts.services->task, parts.info->task);
  return out;
}

/// Calls `done(Result<std::vector<DeviceAttributes>>)`.
template <class Done>
void ask_devices(TaskSelf self, const TaskParts& parts, Done done) {
  self->state.calls.start(self, "GetStatus", "", parts.services->timeouts.lease,
                          [=](Result<std::string>& bytes) mutable {
                            using Devices = Result<std::vector<DeviceAttributes>>;
                            done(bytes.ok() ? worker_codec::read_devices(*bytes)
                                            : Devices(bytes.status()));
                          });
}

/// Whether it has ended, by what it said of itself: another one has taken its place, or nobody has.
bool has_ended(const TaskParts& parts, const Result<std::vector<DeviceAttributes>>& devices) {
  return devices.ok() ? devices->empty() || devices->front().incarnation != parts.info->incarnation
                      : devices.status().code() == Code::unavailable;
}

/// As the end of a connection: whoever wants the task dials again.
constexpr auto its_end = caf::exit_reason::remote_link_unreachable;

caf::result<Heartbeat> beat(TaskSelf self, const TaskParts& parts) {
  self->state.heard_us = now_us(self);
  auto promise = self->make_response_promise<Heartbeat>();
  ask_devices(self, parts, [=](const Result<std::vector<DeviceAttributes>>& devices) mutable {
    if (has_ended(parts, devices))
      return self->quit(its_end);
    if (!devices.ok())
      return; // it is silent: the lease judges
    Heartbeat out;
    out.from = parts.info->task;
    out.incarnation = parts.info->incarnation;
    out.cluster =
        parts.services->cluster.identity_between(parts.services->task, parts.info->task).digest;
    promise.deliver(std::move(out));
  });
  return promise;
}

// `reader`: the worker session of ours that only takes values; null: a master session's of ours.
ForeignSessionActor spawn_session(TaskSelf self, const TaskParts& parts, const std::string& handle,
                                  const caf::strong_actor_ptr& reader) {
  ForeignSessionSetup setup{parts.services, parts.peers, parts.info, handle,
                            reader ? reader->address() : caf::actor_addr{}};
  auto session = self->spawn<caf::monitored>(foreign_session, std::move(setup));
  self->state.sessions[handle] = session;
  return session;
}

WorkerSessionCreated created(const TaskParts& parts, const ForeignSessionActor& session) {
  WorkerSessionCreated out;
  out.session = session;
  out.devices = parts.info->devices;
  out.is_foreign = true;
  return out;
}

void create_there(TaskSelf self, const TaskParts& parts, const CreateWorkerSession& m,
                  caf::typed_response_promise<WorkerSessionCreated> promise) {
  self->state.calls.start(
      self, "CreateWorkerSession",
      worker_codec::write_create_worker_session(m.session_handle, parts.info->task, m.isolate,
                                                parts.services->task, parts.services->incarnation),
      parts.services->timeouts.lease,
      [=, handle = m.session_handle](Result<std::string>& bytes) mutable {
        if (bytes.ok())
          promise.deliver(created(parts, spawn_session(self, parts, handle, nullptr)));
        else
          promise.deliver(
              to_error(of_task(bytes.status().with_context("CreateWorkerSession"), *parts.info)));
      });
}

// A server that was started again would know the session, and not the devices that it was placed
// on.
caf::result<WorkerSessionCreated> create(TaskSelf self, const TaskParts& parts,
                                         const CreateWorkerSession& m) {
  if (auto known = self->state.sessions.find(m.session_handle); known != self->state.sessions.end())
    return created(parts, known->second);
  auto promise = self->make_response_promise<WorkerSessionCreated>();
  ask_devices(self, parts, [=](const Result<std::vector<DeviceAttributes>>& devices) mutable {
    if (has_ended(parts, devices)) {
      promise.deliver(caf::make_error(caf::sec::request_receiver_down));
      return self->quit(its_end);
    }
    if (!devices.ok())
      return void(promise.deliver(
          to_error(of_task(devices.status().with_context("GetStatus"), *parts.info))));
    create_there(self, parts, m, promise);
  });
  return promise;
}

// Who asks for a session that we have not made is a worker session that takes values from there.
caf::result<WorkerSessionCreated> find(TaskSelf self, const TaskParts& parts,
                                       const std::string& handle) {
  if (auto known = self->state.sessions.find(handle); known != self->state.sessions.end())
    return created(parts, known->second);
  auto asker = self->current_sender();
  if (!asker)
    return to_error(invalid_argument("nobody asks for a session"));
  return created(parts, spawn_session(self, parts, handle, asker));
}

caf::result<WorkerStatus> status(TaskSelf self, const TaskParts& parts) {
  auto promise = self->make_response_promise<WorkerStatus>();
  ask_devices(self, parts, [=](const Result<std::vector<DeviceAttributes>>& devices) mutable {
    if (devices.ok())
      promise.deliver(WorkerStatus{parts.info->task, *devices});
    else
      promise.deliver(to_error(of_task(devices.status().with_context("GetStatus"), *parts.info)));
  });
  return promise;
}

caf::result<caf::ok_atom> clear(TaskSelf self, const TaskParts& parts, const ClearContainers& m) {
  auto promise = self->make_response_promise<caf::ok_atom>();
  self->state.calls.start(self, "CleanupAll", worker_codec::write_cleanup_all(m.containers),
                          parts.services->timeouts.lease, [=](Result<std::string>& bytes) mutable {
                            if (bytes.ok())
                              promise.deliver(caf::ok_atom::value);
                            else
                              promise.deliver(to_error(
                                  of_task(bytes.status().with_context("CleanupAll"), *parts.info)));
                          });
  return promise;
}

ForeignTaskActor::behavior_type foreign_task(TaskSelf self, TaskParts parts) {
  guard_actor(self);
  self->state.calls = PeerCalls(parts.peers, parts.info->address);
  self->state.heard_us = now_us(self);
  const auto unheard = 3 * parts.services->timeouts.lease;
  self->set_down_handler([=](const caf::down_msg& down) {
    std::erase_if(self->state.sessions,
                  [&](const auto& entry) { return entry.second->address() == down.source; });
    if (self->state.membership == down.source) // our node ends
      self->quit(caf::exit_reason::user_shutdown);
  });
  self->set_exit_handler([self](caf::exit_msg& exit) { self->quit(exit.reason); });
  self->delayed_send(self, unheard, CheckLeases{});
  return {
      [=](const Hello&) { return welcome(self, parts); },
      [=](const Heartbeat&) { return beat(self, parts); },
      [=](const Farewell&) { return caf::ok_atom::value; },
      [=](const GetWorkerStatus&) { return status(self, parts); },
      [=](const CreateWorkerSession& m) { return create(self, parts, m); },
      [=](const DeleteWorkerSession& m) {
        if (auto session = self->state.sessions.extract(m.session_handle); !session.empty())
          stop(session.mapped());
        return caf::ok_atom::value;
      },
      [=](const FindWorkerSession& m) { return find(self, parts, m.session_handle); },
      [=](const ClearContainers& m) { return clear(self, parts, m); },
      [=](const FindCollectives&) -> caf::result<CollectivesFound> {
        return to_error(unimplemented(str_cat(
            parts.info->task, " is TensorFlow's: let the tasks of a collective be of one kind")));
      },
      [=](const Drain&) { return caf::ok_atom::value; },
      [=](const GetActors&) {
        return describe_tree(self, str_cat(self->state.sessions.size(), " sessions"), Children{});
      },
      [=](PeerAnswered& m) { self->state.calls.answered(m); },
      [=](CheckLeases) {
        if (self->state.heard_us < now_us(self) - std::chrono::microseconds(unheard).count())
          self->quit(caf::exit_reason::user_shutdown); // nobody here wants the task any more
        else
          self->delayed_send(self, unheard, CheckLeases{});
      },
  };
}

} // namespace

void ForeignTasks::attach(Services services) {
  std::scoped_lock guard(lock_);
  if (!ended_) // they hold what holds this
    services_ = std::move(services);
}

Result<caf::strong_actor_ptr> ForeignTasks::dial(caf::actor_system& system, const Address& address,
                                                 std::chrono::milliseconds budget) {
  Services services;
  {
    std::scoped_lock guard(lock_);
    if (ended_ || !services_)
      return unavailable(str_cat("this node reaches nobody at ", address,
                                 ended_ ? " any more: it ends" : " yet: it begins"));
    services = services_;
  }
  auto answer = std::make_shared<std::promise<Result<std::string>>>();
  peers_->start(
      address, "/tensorflow.WorkerService/GetStatus", "", budget,
      [answer](Result<std::string> bytes) { answer->set_value(std::move(bytes)); },
      RpcPeers::Absent::waits);
  const Result<std::string> bytes = answer->get_future().get(); // ends with the call's budget
  if (bytes.status().code() == Code::deadline_exceeded)
    return unavailable(str_cat("the server at ", address, " did not answer GetStatus within ",
                               budget.count(), " ms"));
  if (!bytes.ok())
    return bytes.status().with_context(str_cat("GetStatus of the server at ", address));
  TROUPE_ASSIGN(auto devices, worker_codec::read_devices(*bytes));
  if (devices.empty())
    return unimplemented(str_cat("the server at ", address, " has no devices"));
  auto info = std::make_shared<ForeignTaskInfo>();
  info->task = task_of_device(devices.front().name);
  info->address = address;
  info->incarnation = devices.front().incarnation;
  info->devices = std::move(devices);
  log_info(info->task, " at ", address, " is TensorFlow's: this node speaks gRPC to it");
  auto task = system.spawn(foreign_task, TaskParts{services, peers_, std::move(info)});
  return caf::actor_cast<caf::strong_actor_ptr>(task);
}

void ForeignTasks::shut_down() {
  Services last; // the node's services hold whoever dials for it, which is us
  {
    std::scoped_lock guard(lock_);
    ended_ = true;
    last = std::move(services_);
  }
  peers_->shut_down();
}

} // namespace troupe
