#include "actors/master/master.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "actors/family/drain.hpp"
#include "actors/family/gather.hpp"
#include "actors/master/ask_task.hpp"
#include "actors/master/remake.hpp"
#include "actors/master_session/direct_steps.hpp"
#include "actors/master_session/session_record.hpp"
#include "core/base/device_name.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"

namespace troupe {

MasterState::~MasterState() {
  for (auto& [handle, session] : sessions)
    for (auto& promise : session.waiting)
      promise.deliver(to_error(
          aborted(str_cat("Session ", handle, " is not found: its master has ended meanwhile"))));
}

Result<std::vector<std::string>> admitted_tasks(const std::vector<std::string>& tasks,
                                                const std::string& own_task,
                                                const std::vector<std::string>& filters) {
  std::vector<DeviceName> wanted;
  for (const std::string& filter : filters) {
    TROUPE_ASSIGN(DeviceName name, DeviceName::parse(filter));
    wanted.push_back(std::move(name));
  }
  std::vector<std::string> out;
  for (const std::string& task : tasks) {
    TROUPE_ASSIGN(DeviceName name, DeviceName::parse(task));
    bool admitted = wanted.empty() || task == own_task ||
                    std::any_of(wanted.begin(), wanted.end(), [&](const DeviceName& w) {
                      return w.task_part().is_compatible_with(name);
                    });
    if (admitted)
      out.push_back(task);
  }
  return out;
}

// What it takes to open a session: every admitted task dialled and asked for a worker session.
// Answers once.
struct Opening {
  CreateSession request;
  std::string handle;
  std::vector<SessionWorker> workers;
  std::size_t missing = 0;
  std::vector<std::string> failures;
  Code code = Code::unavailable;
  bool is_answered = false; ///< before all tasks have been heard of
  std::int64_t began_us = 0, timeout_us = 0;
  caf::typed_response_promise<SessionCreated> promise;
};

namespace {

using Self = MasterSelf;
using Parts = MasterParts;

std::vector<RecordedTask> recorded_tasks(const std::vector<SessionWorker>& workers) {
  std::vector<RecordedTask> out;
  for (const SessionWorker& worker : workers)
    out.push_back({worker.task, worker.devices});
  return out;
}

// Parts that wait for a late task hear of their master as those of an open session do. The word has
// no sender: the session that will ask them for steps is not there yet.
void renew_opening(Self self, const Parts& parts, const std::weak_ptr<Opening>& waiting) {
  const auto opening = waiting.lock();
  if (!opening || opening->is_answered || opening->missing == 0)
    return;
  for (const SessionWorker& worker : opening->workers)
    if (worker.session && worker.task != parts.services->task)
      caf::anon_send(worker.session, RenewLease{});
  self->delayed_send(self, parts.services->timeouts.lease / 4, RenewOpening{waiting});
}

void abandon(Self self, const Parts& parts, const std::shared_ptr<Opening>& opening) {
  for (const SessionWorker& worker : opening->workers)
    if (worker.worker)
      ask(self, worker.worker, parts.services->timeouts.request,
          DeleteWorkerSession{opening->handle})
          .then([](caf::ok_atom) {}, [](caf::error&) {}); // gone is as good as deleted
}

void refuse(Self self, const Parts& parts, const std::shared_ptr<Opening>& opening) {
  opening->is_answered = true;
  abandon(self, parts, opening);
  std::string others;
  if (opening->missing > 0)
    others = opening->missing == 1
                 ? std::string(" (another one had not answered yet)")
                 : str_cat(" (", opening->missing, " others had not answered yet)");
  opening->promise.deliver(to_error(
      Status(opening->code,
             str_cat("a session needs every task it may use: ", str_join(opening->failures, "; "),
                     others, ". Start what is missing, or leave it out with a device filter"))));
}

void opened(Self self, const Parts& parts, const std::shared_ptr<Opening>& opening) {
  if (!opening->failures.empty())
    return refuse(self, parts, opening);
  if (!self->state.refusal.ok()) { // the node began to leave meanwhile
    abandon(self, parts, opening);
    opening->promise.deliver(to_error(self->state.refusal));
    return;
  }
  auto direct = std::make_shared<DirectSteps>(parts.services);
  auto record = std::make_shared<SessionRecord>(
      SessionRecord::begin(opening->handle, opening->request.settings,
                           recorded_tasks(opening->workers), parts.services->library->ops));
  auto session = spawn_session(self, parts, *record, opening->workers, direct);
  self->state.sessions.emplace(opening->handle,
                               MasterState::Session{SessionLife(record), session, direct, {}});
  SessionCreated created;
  created.session_handle = opening->handle;
  created.session = session;
  created.direct = direct;
  for (const SessionWorker& worker : opening->workers)
    created.devices.insert(created.devices.end(), worker.devices.begin(), worker.devices.end());
  if (opening->request.graph_def.empty()) {
    opening->promise.deliver(std::move(created));
    return;
  }
  std::chrono::microseconds budget(parts.services->timeouts.compile);
  if (opening->timeout_us > 0)
    budget = std::chrono::microseconds(
        std::max<std::int64_t>(opening->began_us + opening->timeout_us - now_us(self), 1000));
  ask(self, session, budget, ExtendGraph{std::move(opening->request.graph_def), -1, true})
      .then(
          [=](const GraphExtended& extended) mutable {
            created.graph_version = extended.graph_version;
            opening->promise.deliver(std::move(created));
          },
          [=](caf::error& error) {
            stop(session);
            opening->promise.deliver(std::move(error));
          });
}

void failed(Self self, const Parts& parts, const std::shared_ptr<Opening>& opening,
            const std::string& task, const TaskFailure& failure) {
  if (opening->is_answered)
    return;
  if (opening->failures.empty())
    opening->code = failure.status.code();
  opening->failures.push_back(str_cat(task, ": ", failure.status.message()));
  if (--opening->missing == 0 || failure.is_sudden)
    refuse(self, parts, opening);
}

void ask_for_session(Self self, const Parts& parts, const std::shared_ptr<Opening>& opening,
                     std::size_t index, std::int64_t due) {
  const std::string& task = opening->workers[index].task;
  CreateWorkerSession request;
  request.session_handle = opening->handle;
  request.master_task = parts.services->task;
  request.isolate = opening->request.settings.isolate_session_state;
  if (task != parts.services->task)
    request.lease_us = std::chrono::microseconds(parts.services->timeouts.lease).count();
  ask_task<WorkerSessionCreated>(
      self, parts, task, std::move(request), due,
      [=](const WorkerActor& worker) {
        opening->workers[index].worker = worker;
        return !opening->is_answered;
      },
      [=](WorkerSessionCreated& created) {
        if (opening->is_answered) // it came after it was told to delete what it had not made yet
          return abandon(self, parts, opening);
        if (!created.session)
          return failed(self, parts, opening, opening->workers[index].task,
                        {internal("it answered without a worker session"), false});
        opening->workers[index].session = created.session;
        opening->workers[index].devices = std::move(created.devices);
        opening->workers[index].is_foreign = created.is_foreign;
        if (--opening->missing == 0)
          opened(self, parts, opening);
      },
      [=](const TaskFailure& failure) {
        failed(self, parts, opening, opening->workers[index].task, failure);
      });
}

caf::result<SessionCreated> create(Self self, const Parts& parts, CreateSession& m) {
  if (!self->state.refusal.ok())
    return to_error(self->state.refusal);
  std::vector<std::string> all = parts.services->cluster.tasks();
  if (all.empty())
    all.push_back(parts.services->task);
  auto tasks = admitted_tasks(all, parts.services->task, m.settings.device_filters);
  if (!tasks.ok())
    return to_error(tasks.status());
  auto opening = std::make_shared<Opening>();
  opening->request = std::move(m);
  // Only a client of this process may be silent for ever; one elsewhere is lost in silence.
  if (auto sender = self->current_sender(); sender && sender->node() != self->node())
    opening->request.settings.lease_us = std::min<std::int64_t>(
        bounded_lease(opening->request.settings.lease_us, parts.services->timeouts),
        10 * std::chrono::microseconds(parts.services->timeouts.lease).count());
  opening->began_us = now_us(self);
  opening->timeout_us = bounded_timeout(opening->request.timeout_us, parts.services->timeouts);
  opening->handle = hex16(random_id());
  opening->missing = tasks->size();
  opening->workers.resize(tasks->size());
  opening->promise = self->make_response_promise<SessionCreated>();
  for (std::size_t i = 0; i < tasks->size(); ++i)
    opening->workers[i].task = (*tasks)[i];
  const std::int64_t due = due_us(self, parts.services, opening->timeout_us);
  for (std::size_t i = 0; i < tasks->size(); ++i)
    ask_for_session(self, parts, opening, i, due);
  self->delayed_send(self, parts.services->timeouts.lease / 4, RenewOpening{opening});
  return opening->promise;
}

// The devices of every task that answers in time, the own ones first.
caf::result<DeviceList> list_devices(Self self, const Parts& parts) {
  auto list = std::make_shared<DeviceList>();
  list->devices = parts.services->devices.attributes();
  std::vector<std::string> others = parts.services->cluster.tasks();
  std::erase(others, parts.services->task);
  auto promise = self->make_response_promise<DeviceList>();
  auto answered = gather(others.size(), [=, own = parts.services->task]() mutable {
    std::ranges::sort(list->devices, {}, [&](const DeviceAttributes& device) {
      return std::pair(task_of_device(device.name) != own, std::string_view(device.name));
    });
    promise.deliver(std::move(*list));
  });
  const std::int64_t due = due_us(self, parts.services, 0);
  for (const std::string& task : others)
    ask_task<WorkerStatus>(
        self, parts, task, GetWorkerStatus{}, due, nullptr,
        [=](WorkerStatus& status) mutable {
          for (DeviceAttributes& device : status.devices)
            list->devices.push_back(std::move(device));
          answered();
        },
        [=](const TaskFailure&) mutable { answered(); });
  return promise;
}

caf::result<SessionList> list_sessions(Self self, const Parts& parts) {
  auto list = std::make_shared<SessionList>();
  auto promise = self->make_response_promise<SessionList>();
  const std::vector<MasterSessionActor> sessions = living_sessions(self->state);
  auto answered = gather(sessions.size(), [=]() mutable { promise.deliver(std::move(*list)); });
  for (const MasterSessionActor& session : sessions)
    ask(self, session, parts.services->timeouts.request, GetSessions{})
        .then(
            [=](SessionList& one) mutable {
              for (SessionInfo& info : one.sessions)
                list->sessions.push_back(std::move(info));
              answered();
            },
            [=](caf::error&) mutable { answered(); });
  return promise;
}

caf::result<caf::ok_atom> reset(Self self, const Parts& parts, const ResetContainers& m) {
  self->state.children.stop_all();
  give_up_remakes(self, parts, aborted("its master was reset meanwhile"));
  std::vector<std::string> tasks = parts.services->cluster.tasks();
  std::erase(tasks, parts.services->task);
  tasks.push_back(parts.services->task);
  struct Clearing {
    Code code = Code::unavailable;
    std::vector<std::string> failures;
  };
  auto clearing = std::make_shared<Clearing>();
  auto promise = self->make_response_promise<caf::ok_atom>();
  auto answered = gather(tasks.size(), [=]() mutable {
    if (clearing->failures.empty())
      promise.deliver(caf::ok_atom::value);
    else
      promise.deliver(
          to_error(Status(clearing->code, str_cat("not every task was cleared: ",
                                                  str_join(clearing->failures, "; ")))));
  });
  const std::int64_t due =
      due_us(self, parts.services, bounded_timeout(m.timeout_us, parts.services->timeouts));
  for (const std::string& task : tasks)
    ask_task<caf::ok_atom>(
        self, parts, task, ClearContainers{m.containers}, due, nullptr,
        [=](caf::ok_atom) mutable { answered(); },
        [=](const TaskFailure& failure) mutable {
          if (clearing->failures.empty())
            clearing->code = failure.status.code();
          clearing->failures.push_back(str_cat(task, ": ", failure.status.message()));
          answered();
        });
  return promise;
}

} // namespace

MasterActor::behavior_type master(Self self, Services services, WorkerActor own_worker,
                                  MembershipActor membership, TransportActor transport) {
  guard_actor(self);
  Parts parts{services, own_worker, membership, transport};
  self->set_down_handler([=](caf::down_msg& down) {
    self->state.children.remove(down.source);
    session_ended(self, parts, down);
  });
  self->set_exit_handler([self](caf::exit_msg& exit) {
    self->state.children.stop_all();
    self->quit(exit.reason);
  });
  return {
      [=](CreateSession& m) { return create(self, parts, m); },
      [=](const ListDevices&) { return list_devices(self, parts); },
      [=](const ResetContainers& m) { return reset(self, parts, m); },
      [=](const RenewOpening& m) { renew_opening(self, parts, m.opening); },
      [=](const GetSessions&) { return list_sessions(self, parts); },
      [=](const FindSession& m) { return find_session(self, m.session_handle); },
      [=](const SessionChanged& m) {
        auto it = self->state.sessions.find(m.record->handle);
        if (it != self->state.sessions.end() && it->second.actor == self->current_sender())
          it->second.life.changed(m.record);
      },
      [=](const Drain& m) {
        self->state.refusal = m.refusal;
        give_up_remakes(self, parts, m.refusal);
        return drain_children(self, living_sessions(self->state), services->timeouts.step, m);
      },
      [=](const GetActors&) {
        return describe_tree(self, str_cat(self->state.sessions.size(), " sessions"),
                             self->state.children);
      },
  };
}

} // namespace troupe
