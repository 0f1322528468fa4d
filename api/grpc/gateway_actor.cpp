#include "api/grpc/gateway_actor.hpp"

#include <algorithm>

#include "actors/family/ask.hpp"
#include "api/grpc/gateway_session.hpp"
#include "api/internal/settings.hpp"
#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

using Self = GatewayActor::stateful_pointer<GatewayState>;
namespace codec = master_codec;

struct Parts {
  Services services;
  MasterActor master;
  std::shared_ptr<SessionTable> sessions;
  GatewayLimits limits;
};

Status check_room(Self self, const Parts& parts) {
  TROUPE_TRY(self->state.refusal);
  const std::size_t open = self->state.children.size() + self->state.opening;
  if (parts.limits.max_sessions > 0 && open >= static_cast<std::size_t>(parts.limits.max_sessions))
    return resource_exhausted(str_cat("as many sessions are open as ", parts.services->task,
                                      " takes (", parts.limits.max_sessions,
                                      "): close some, or take another task"));
  return {};
}

void add_session(Self self, const Parts& parts, const SessionCreated& created,
                 std::int64_t operation_timeout_us) {
  auto direct =
      created.direct
          ? std::make_shared<DirectCalls>(created.direct, parts.services->timeouts.step.count())
          : nullptr;
  auto session = self->spawn<caf::monitored>(
      gateway_session, parts.services, created.session_handle, parts.master, created.session,
      direct, parts.sessions, parts.limits, operation_timeout_us);
  self->state.children.add("session-" + created.session_handle, session);
  parts.sessions->add(created.session_handle, {session, direct});
}

// Clears the options that TensorFlow's servers ignore, because they configure the client's process.
void drop_hints(SessionOptions& options) {
  options.device_count.clear();
  options.intra_op_threads = options.inter_op_threads = 0;
  options.cost_model_every = std::max<std::int64_t>(options.cost_model_every, 0);
  options.timeline_every = std::max(options.timeline_every, 0);
  options.operation_timeout_ms = std::max<std::int64_t>(options.operation_timeout_ms, 0);
}

void create(Self self, const Parts& parts, const std::shared_ptr<RpcCall>& call,
            codec::CreateSession& m) {
  if (Status full = check_room(self, parts); !full.ok())
    return call->fail(full);
  drop_hints(m.options);
  if (Status refused = refuse_own_threads(m.options); !refused.ok())
    return call->fail(refused);
  auto settings = settings_of(m.options, parts.services->timeouts.step.count());
  if (!settings.ok())
    return call->fail(settings.status());
  const Timeouts& t = parts.services->timeouts;
  CreateSession request;
  request.settings = *std::move(settings);
  // As TensorFlow's servers do, which leave shapes to their clients.
  request.settings.any_feed_shape = true;
  request.graph_def = std::move(m.graph_def);
  // A client waits for ever unless it says otherwise; silent tasks are named once they are judged.
  const std::chrono::microseconds longest(t.verdict() + t.compile);
  const auto left = call->time_left(longest);
  const bool has_deadline = left < longest;
  if (has_deadline)
    request.timeout_us = std::max<std::int64_t>((left - left / 10).count(), 1000);
  const std::int64_t operation_timeout_us = request.settings.operation_timeout_us;
  ++self->state.opening;
  ask(self, parts.master, longest + t.request, std::move(request))
      .then(
          [=](const SessionCreated& created) {
            --self->state.opening;
            add_session(self, parts, created, operation_timeout_us);
            call->answer(
                codec::write_session_created(created.session_handle, created.graph_version));
            // Nobody knows its handle if the client has gone meanwhile.
            call->when_gone(
                [session = created.session] { caf::anon_send(session, CloseSession{}); });
          },
          [=](caf::error& error) {
            --self->state.opening;
            Status status = to_status(error, "CreateSession");
            // Clients repeat what is UNAVAILABLE, with their whole time-out anew: not once a
            // quarter of it is used up. A dial that ends since its next attempt would come too late
            // has used a third.
            const bool is_late = has_deadline && call->time_left(longest) <= left - left / 4;
            if (is_late && status.code() == Code::unavailable)
              status = deadline_exceeded(status.message());
            call->fail(status);
          });
}

void reset(Self self, const Parts& parts, const std::shared_ptr<RpcCall>& call, codec::Reset& m) {
  const Timeouts& t = parts.services->timeouts;
  ResetContainers request;
  request.containers = std::move(m.containers);
  const std::chrono::microseconds longest(t.verdict());
  request.timeout_us = call->time_left(longest).count();
  ask(self, parts.master, longest + t.request, std::move(request))
      .then([=](caf::ok_atom) { call->answer({}); },
            [=](caf::error& error) { call->fail(to_status(error, "Reset")); });
}

void list_devices(Self self, const Parts& parts, const std::shared_ptr<RpcCall>& call) {
  const Timeouts& t = parts.services->timeouts;
  ask(self, parts.master, t.verdict() + t.request, ListDevices{})
      .then(
          [=](const DeviceList& list) {
            std::vector<DeviceAttributes> own, others;
            for (const DeviceAttributes& device : list.devices)
              (task_of_device(device.name) == parts.services->task ? own : others)
                  .push_back(device);
            call->answer(codec::write_device_list(own, others));
          },
          [=](caf::error& error) { call->fail(to_status(error, "ListDevices")); });
}

} // namespace

GatewayActor::behavior_type gateway(Self self, Services services, MasterActor master,
                                    std::shared_ptr<SessionTable> sessions, GatewayLimits limits) {
  guard_actor(self);
  const Parts parts{std::move(services), std::move(master), std::move(sessions), limits};
  self->set_down_handler([=](caf::down_msg& down) {
    constexpr std::string_view prefix = "session-";
    if (std::string name = self->state.children.remove(down.source); name.starts_with(prefix))
      parts.sessions->remove(name.substr(prefix.size()));
  });
  self->set_exit_handler([=](caf::exit_msg& exit) {
    self->state.children.stop_all();
    self->quit(exit.reason);
  });
  return {
      [=](const GetActors&) {
        return describe_tree(self, str_cat(self->state.children.size(), " sessions"),
                             self->state.children);
      },
      [=](const Drain& m) {
        self->state.refusal = m.refusal;
        return caf::ok_atom::value;
      },
      [=](ClientCall& m) {
        std::visit(
            [&](auto& request) {
              using T = std::decay_t<decltype(request)>;
              if constexpr (std::is_same_v<T, codec::CreateSession>)
                create(self, parts, m.call, request);
              else if constexpr (std::is_same_v<T, codec::Reset>)
                reset(self, parts, m.call, request);
              else
                list_devices(self, parts, m.call);
            },
            m.request);
      },
  };
}

} // namespace troupe
