#include "actors/guardian/guardian.hpp"

#include "actors/family/gather.hpp"
#include "actors/family/spawn_apart.hpp"

#include <cstdio>
#include <map>

#include <unistd.h>

#include "actors/master/master.hpp"
#include "actors/membership/loss_sentence.hpp"
#include "actors/membership/membership.hpp"
#include "actors/protocol/error_text.hpp"
#include "actors/transport/transport.hpp"
#include "actors/worker/worker.hpp"
#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "core/base/version.hpp"
#include "core/trace/counters.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe {

GuardianState::~GuardianState() {
  if (!on_end)
    return;
  children.stop_all();
  on_end(end.failure().empty() ? "the guardian ended unexpectedly; the node ends" : end.failure(),
         false);
}

namespace {

using Self = GuardianActor::stateful_pointer<GuardianState>;

std::int64_t resident_bytes() {
  long pages_total = 0, pages_resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages_total, &pages_resident) != 2)
      pages_resident = 0;
    std::fclose(file);
  }
  return pages_resident * ::sysconf(_SC_PAGESIZE);
}

void start(Self self, const Services& services) {
  auto& state = self->state;
  auto add = [&](const char* name, auto actor) {
    self->monitor(actor);
    state.children.add(name, actor);
    return actor;
  };
  state.transport = add("transport", self->spawn(transport, services));
  state.membership = add("membership", self->spawn(membership, services));
  state.worker = add("worker", self->spawn(worker, services, state.membership, state.transport));
  state.master =
      add("master", self->spawn(master, services, state.worker, state.membership, state.transport));
  self->send(state.membership, Peer{services->task, services->incarnation, state.worker,
                                    state.master, state.transport, state.membership});
}

void stop_all(Self self);

// Hands `drain` to every child that may have steps or bytes under way. Calls `next` when none has
// any more, or after `budget`.
void drain(Self self, std::chrono::nanoseconds budget, const Drain& drain,
           std::function<void()> next) {
  auto& state = self->state;
  auto answered = gather(4 + state.adopted.size(), std::move(next));
  auto tell = [&](const auto& actor) {
    ask(self, actor, budget, drain)
        .then([=](caf::ok_atom) mutable { answered(); }, [=](caf::error&) mutable { answered(); });
  };
  for (const DrainActor& actor : state.adopted)
    tell(actor);
  tell(state.master);
  tell(state.worker);
  tell(state.membership);
  tell(state.transport);
}

void end_in_order(Self self, const Services& services, const ShutDown& m) {
  const NodeEnd::Next next = self->state.end.shut_down(m.grace_us > 0);
  if (next == NodeEnd::Next::stop)
    return stop_all(self);
  if (next != NodeEnd::Next::finish)
    return;
  std::string task = services->task;
  Status refusal = unavailable(
      str_cat(task, " is shutting down (", m.reason, "): it takes nothing new, running steps have ",
              m.grace_us / 1000, " ms to finish; use another task, or wait until it is back"));
  auto address = services->cluster.address_of(task);
  Status left = unavailable(loss_sentence(task, address.ok() ? address->to_string() : "no address",
                                          LossReason::left, 0))
                    .with_origin({"", "", task, 0});
  drain(self, std::chrono::microseconds(m.grace_us), Drain{refusal, {}}, [=] {
    if (self->state.end.drained() == NodeEnd::Next::leave)
      drain(self, services->timeouts.leave, Drain{refusal, left}, [=] {
        if (self->state.end.drained() == NodeEnd::Next::stop)
          stop_all(self);
      });
  });
}

// Handlers hold handles; dropping them lets the children, and then us, go.
void release(GuardianState& state) {
  state.adopted.clear();
  state.master = MasterActor{};
  state.worker = WorkerActor{};
  state.membership = MembershipActor{};
  state.transport = TransportActor{};
}

void stop_all(Self self) {
  auto& state = self->state;
  for (const DrainActor& actor : state.adopted)
    stop(actor);
  stop(state.master);
  stop(state.worker);
  stop(state.membership);
  stop(state.transport);
  release(state);
}

caf::result<caf::ok_atom> adopt(Self self, const Services& services, const Adopt& m) {
  auto& state = self->state;
  if (!state.end.takes_work())
    return to_error(unavailable(str_cat(services->task, " is shutting down; start it again")));
  self->monitor(m.actor);
  state.children.add(m.name, m.actor);
  state.adopted.push_back(m.actor);
  return caf::ok_atom::value;
}

caf::result<ActorTree> actors(Self self) {
  const bool is_elsewhere = asked_from_elsewhere(self);
  auto promise = self->make_response_promise<ActorTree>();
  // One level down is described by each child itself; here the paths get their root.
  auto inner = std::make_shared<ActorTree>();
  ActorInfo own;
  own.path = "guardian";
  own.id = self->id();
  own.mailbox = self->mailbox().size();
  inner->actors.push_back(own);
  auto answered = gather(self->state.children.size(), [=]() mutable {
    std::sort(inner->actors.begin(), inner->actors.end(),
              [](auto& a, auto& b) { return a.path < b.path; });
    if (is_elsewhere)
      hide_handles(*inner);
    promise.deliver(std::move(*inner));
  });
  for (const auto& [name, child] : self->state.children.all())
    ask(self, child, std::chrono::seconds(2), GetActors{})
        .then(
            [=, name = name](ActorTree& below) mutable {
              for (ActorInfo& info : below.actors) {
                info.path = info.path.empty() ? str_cat("guardian/", name)
                                              : str_cat("guardian/", name, "/", info.path);
                inner->actors.push_back(std::move(info));
              }
              answered();
            },
            [=](caf::error&) mutable { answered(); });
  return promise;
}

caf::result<caf::ok_atom> kill(Self self, const std::string& path) {
  auto promise = self->make_response_promise<caf::ok_atom>();
  ask(self, caf::actor_cast<GuardianActor>(self->ctrl()), std::chrono::seconds(5), GetActors{})
      .then(
          [=](const ActorTree& tree) mutable {
            std::vector<std::string> paths;
            for (const ActorInfo& info : tree.actors) {
              if (info.path == path && info.actor) {
                log_warning("actor ", path, " is killed on request");
                caf::anon_send_exit(caf::actor_cast<caf::actor>(info.actor),
                                    caf::exit_reason::kill);
                promise.deliver(caf::ok_atom::value);
                return;
              }
              paths.push_back(info.path);
            }
            promise.deliver(to_error(not_found(
                path == "guardian" ? str_cat("'", path,
                                             "' is the node itself, which ends with its process; "
                                             "of its actors there are ",
                                             str_join(paths, ", "))
                                   : str_cat("there is no actor at '", path, "'; there are ",
                                             str_join(paths, ", ")))));
          },
          [=](caf::error& error) mutable { promise.deliver(std::move(error)); });
  return promise;
}

// Reads what the devices hold. A resource may be busy for long, so this has a thread of its own,
// and ends after one answer.
using ResourceReader = caf::typed_actor<caf::replies_to<GetResources>::with<ResourceList>>;
struct ResourceReaderState {
  static constexpr const char* name = "resource-reader";
};
ResourceReader::behavior_type
resource_reader(ResourceReader::stateful_pointer<ResourceReaderState> self, Services services) {
  guard_actor(self);
  return {[=](const GetResources&) {
    self->quit();
    ResourceList out;
    for (const auto& device : services->devices.all())
      for (ResourceManager::Entry& entry : device->resources().list())
        out.resources.push_back({device->name(), std::move(entry.container), std::move(entry.name),
                                 std::move(entry.description),
                                 static_cast<std::int64_t>(entry.bytes)});
    return out;
  }};
}

Result<ResourceReader> spawn_resource_reader(Self self, const Services& services) {
  return spawn_apart(self, services->threads->are_real(), "to read the variables", resource_reader,
                     services);
}

caf::result<ResourceList> resources(Self self, const Services& services) {
  auto promise = self->make_response_promise<ResourceList>();
  auto reader = spawn_resource_reader(self, services);
  if (!reader) {
    promise.deliver(to_error(reader.status()));
    return promise;
  }
  ask(self, *reader, std::chrono::seconds(2), GetResources{})
      .then([=](ResourceList& list) mutable { promise.deliver(std::move(list)); },
            [=](caf::error& error) mutable {
              promise.deliver(to_error(to_status(error, "reading the variables")));
            });
  return promise;
}

std::vector<ContainerInfo> by_container(const ResourceList& list) {
  std::map<std::string, ContainerInfo> containers;
  for (const ResourceInfo& resource : list.resources) {
    ContainerInfo& info = containers[resource.container];
    info.container = resource.container;
    ++info.resources;
    info.bytes += resource.bytes;
  }
  std::vector<ContainerInfo> out;
  for (auto& [name, info] : containers)
    out.push_back(std::move(info));
  return out;
}

caf::result<NodeStatus> node_status(Self self, const Services& services) {
  NodeStatus out;
  out.task = services->task;
  out.incarnation = services->incarnation;
  out.uptime_us = steady_micros() - services->started_us;
  out.resident_bytes = resident_bytes();
  out.devices = services->devices.attributes();
  for (const auto& [name, value] : counter_snapshot())
    out.counters.emplace_back(name, value);
  out.counters.emplace_back("lent_slots",
                            static_cast<std::int64_t>(services->lent_memory->slots_in_use()));
  out.counters.emplace_back("dropped_log_lines", num_dropped_log_lines());
  out.paths = services->path_book->sentences();
  if (!self->state.membership) // handles were dropped: the node is ending
    return out;
  auto promise = self->make_response_promise<NodeStatus>();
  auto status = std::make_shared<NodeStatus>(std::move(out));
  // What is not answered in time is left out.
  auto answered = gather(2, [=]() mutable { promise.deliver(std::move(*status)); });
  ask(self, self->state.membership, std::chrono::seconds(2), GetPeers{})
      .then(
          [=](PeerList& list) mutable {
            status->peers = std::move(list.peers);
            answered();
          },
          [=](caf::error&) mutable { answered(); });
  auto reader = spawn_resource_reader(self, services);
  if (!reader) { // the rest of the answer needs no thread
    answered();
    return promise;
  }
  ask(self, *reader, std::chrono::seconds(2), GetResources{})
      .then(
          [=](const ResourceList& list) mutable {
            status->containers = by_container(list);
            answered();
          },
          [=](caf::error&) mutable { answered(); });
  return promise;
}

} // namespace

GuardianActor::behavior_type guardian(Self self, Services services,
                                      std::function<void(std::string, bool)> on_end) {
  guard_actor(self);
  self->state.on_end = std::move(on_end);
  start(self, services);
  self->set_down_handler([=](caf::down_msg& down) {
    auto& state = self->state;
    std::string child = state.children.remove(down.source);
    if (child.empty())
      return;
    if (state.end.child_ended(child, error_text(down.reason)) == NodeEnd::Next::stop) {
      log_error(state.end.failure());
      stop_all(self);
    }
    if (state.children.size() == 0) {
      auto told = std::exchange(state.on_end, nullptr);
      const std::string& failure = state.end.failure();
      told(failure.empty() ? str_cat("the tree of ", services->task, " has stopped") : failure,
           failure.empty());
      self->quit(caf::exit_reason::user_shutdown);
    }
  });
  self->set_exit_handler([=](caf::exit_msg&) {
    if (self->state.end.stop() == NodeEnd::Next::stop)
      stop_all(self);
  });
  return {
      [=](const Hello& m) -> caf::result<Welcome> {
        if (m.version != protocol_version)
          return to_error(failed_precondition(
              str_cat(m.from, " speaks version ", m.version, " of the protocol, ", services->task,
                      " version ", protocol_version, "; run the same release everywhere")));
        const auto& state = self->state;
        if (!self->state.membership) // handles were dropped: the node is ending
          return to_error(
              unavailable(str_cat(services->task, " is shutting down; use another task, "
                                                  "or wait until it is back")));
        return Welcome{protocol_version,
                       services->task,
                       services->incarnation,
                       str_cat("troupe ", version),
                       state.worker,
                       state.master,
                       state.transport,
                       state.membership,
                       services->cluster.identity_between(services->task, m.from)};
      },
      [=](const GetActors&) { return actors(self); },
      [=](const Adopt& m) { return adopt(self, services, m); },
      [=](const KillActor& m) { return kill(self, m.path); },
      [=](const GetNodeStatus&) { return node_status(self, services); },
      [=](const GetResources&) { return resources(self, services); },
      [=](const ShutDown& m) {
        log_info("shutting down: ", m.reason);
        end_in_order(self, services, m);
        return caf::ok_atom::value;
      },
  };
}

} // namespace troupe
