#include "tools/troupe/node_watch.hpp"

#include <algorithm>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/family/ask.hpp"
#include "actors/node/client.hpp"
#include "actors/node/handles.hpp"
#include "actors/node/node.hpp"
#include "core/base/strings.hpp"
#include "net/transport/wire_state.hpp"

namespace troupe {

struct NodeWatch::Impl {
  std::unique_ptr<ClientNode> client; // of a node elsewhere
  ClusterNode* local = nullptr;
  Address address;
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now() + patience;
  GuardianActor guardian;
  Welcome welcome;

  std::chrono::milliseconds left() const {
    auto time =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    return std::max(time, std::chrono::milliseconds(1));
  }

  std::string name() const {
    std::string task = welcome.task.empty() ? "the node" : str_cat("task ", welcome.task);
    return local ? task : str_cat(task, " at ", address);
  }

  // What the kernel knows of the connection says whether it is frozen, cut off or busy.
  Status silence(std::string_view what, std::chrono::milliseconds waited) const {
    std::string said = str_cat(name(), " has not answered within ", waited.count(), " ms, ", what);
    auto wire = local ? std::nullopt : wire_state(address.host, address.port);
    if (!wire || wire->silent < waited)
      return deadline_exceeded(str_cat(said, ": it is busy; ask again with more time"));
    if (wire->is_cut)
      return unavailable(str_cat(said, ": it is cut off, what is sent to it is not acknowledged; "
                                       "check the network and that its machine runs"));
    return unavailable(str_cat(said,
                               ", and said nothing though its connection is open: it is frozen "
                               "or overloaded; look at that machine"));
  }

  // Another part of this process, which has heard nothing of the node for too long, may have closed
  // the connections to it: a new one tells whether it is frozen or has ended.
  std::string why_closed() const {
    auto again = client->dial(address, std::min(left(), std::chrono::milliseconds(1000)));
    return again.ok() ? ", has closed its connection, and can be reached again: ask once more"
                      : str_cat(": its connection is closed; ", again.status().message());
  }

  template <class Answer, class Handle, class Message>
  Result<Answer> ask(const Handle& to, Message message, std::string_view what) {
    caf::scoped_actor self{client ? client->system() : local->system()};
    Result<Answer> out = unknown("no answer");
    const auto time = left();
    auto request = self->request(to, caf::timespan(time), std::move(message));
    RequestGuard guard(untyped(to), self->address(), request.id());
    request.receive([&](Answer& answer) { out = std::move(answer); },
                    [&](caf::error& error) {
                      if (error == caf::sec::request_timeout)
                        out = silence(what, time);
                      else if (error == caf::sec::request_receiver_down && client)
                        out = unavailable(str_cat(name(), ", ", what, why_closed()));
                      else
                        out = to_status(error, what);
                    });
    return out;
  }

  Status greet() {
    TROUPE_ASSIGN(welcome,
                  ask<Welcome>(guardian, Hello{protocol_version, "client"}, "greeting the node"));
    return {};
  }
  Status check_master() const {
    return welcome.master ? Status{} : unavailable(str_cat(welcome.task, " is shutting down"));
  }
  Result<MasterSessionActor> find_session(const std::string& handle) {
    TROUPE_TRY(check_master());
    TROUPE_ASSIGN(SessionCreated found, ask<SessionCreated>(welcome.master, FindSession{handle},
                                                            "asking the master for a session"));
    return found.session;
  }
};

NodeWatch::NodeWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NodeWatch::NodeWatch(NodeWatch&&) noexcept = default;
NodeWatch& NodeWatch::operator=(NodeWatch&&) noexcept = default;
NodeWatch::~NodeWatch() {
  if (!impl_)
    return;
  // Handles go before the actor system that they belong to.
  impl_->guardian = GuardianActor{};
  impl_->welcome = Welcome{};
}

Result<NodeWatch> NodeWatch::dial(const Address& address, std::chrono::milliseconds limit) {
  auto impl = std::make_unique<Impl>();
  impl->address = address;
  impl->client = std::make_unique<ClientNode>();
  NodeWatch out(std::move(impl));
  out.limit(limit);
  TROUPE_ASSIGN(out.impl_->guardian, out.impl_->client->dial(address, out.impl_->left()));
  TROUPE_TRY(out.impl_->greet());
  return out;
}

Result<NodeWatch> NodeWatch::of(ClusterNode& node) {
  auto impl = std::make_unique<Impl>();
  impl->local = &node;
  impl->guardian = node.handles().guardian;
  NodeWatch out(std::move(impl));
  TROUPE_TRY(out.impl_->greet());
  return out;
}

void NodeWatch::limit(std::chrono::milliseconds time) {
  impl_->end = std::chrono::steady_clock::now() + time;
}

const Welcome& NodeWatch::welcome() const {
  return impl_->welcome;
}

Result<NodeStatus> NodeWatch::status() {
  return impl_->ask<NodeStatus>(impl_->guardian, GetNodeStatus{}, "asking for the node's state");
}

Result<ActorTree> NodeWatch::actors() {
  TROUPE_ASSIGN(ActorTree tree,
                impl_->ask<ActorTree>(impl_->guardian, GetActors{}, "asking for the actors"));
  std::sort(tree.actors.begin(), tree.actors.end(), [](const ActorInfo& a, const ActorInfo& b) {
    // What lies below an actor comes before its next sibling, whatever their names.
    return std::lexicographical_compare(
        a.path.begin(), a.path.end(), b.path.begin(), b.path.end(),
        [](char x, char y) { return (x == '/' ? 0 : x) < (y == '/' ? 0 : y); });
  });
  return tree;
}

Status NodeWatch::kill(const std::string& path) {
  return impl_->ask<caf::ok_atom>(impl_->guardian, KillActor{path}, "killing the actor").status();
}

Result<ResourceList> NodeWatch::resources() {
  return impl_->ask<ResourceList>(impl_->guardian, GetResources{}, "asking for the variables");
}

Status NodeWatch::reset(const std::vector<std::string>& containers, bool is_timed) {
  TROUPE_TRY(impl_->check_master());
  ResetContainers request{containers, 0};
  if (is_timed) // its answer, with names, is to come before our time ends
    request.timeout_us = std::chrono::microseconds(impl_->left() * 9 / 10).count();
  return impl_
      ->ask<caf::ok_atom>(impl_->welcome.master, std::move(request), "resetting the cluster")
      .status();
}

Result<SessionList> NodeWatch::sessions() {
  TROUPE_TRY(impl_->check_master());
  return impl_->ask<SessionList>(impl_->welcome.master, GetSessions{},
                                 "asking the master for its sessions");
}

Result<StepsExplained> NodeWatch::why(const std::string& session_handle, std::uint64_t step_id) {
  TROUPE_ASSIGN(MasterSessionActor session, impl_->find_session(session_handle));
  // A silent task is waited for by the session itself.
  return impl_->ask<StepsExplained>(session, ExplainStep{step_id},
                                    "asking the session why its steps run");
}

Result<StepList> NodeWatch::steps(const std::string& session_handle) {
  TROUPE_ASSIGN(MasterSessionActor session, impl_->find_session(session_handle));
  return impl_->ask<StepList>(session, GetSteps{}, "asking the session for its steps");
}

} // namespace troupe
