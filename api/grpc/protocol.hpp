// The gateway's actors: what gRPC's threads hand to them. Nothing here leaves the process.
#pragma once

#include <memory>
#include <variant>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>

#include "actors/protocol/tree.hpp"
#include "api/grpc/direct_calls.hpp"
#include "api/grpc/master_codec.hpp"
#include "api/grpc/rpc_server.hpp"

namespace troupe {

/// What a client asks of the master.
struct ClientCall {
  struct ListDevices {}; ///< of the whole cluster
  std::shared_ptr<RpcCall> call;
  std::variant<master_codec::CreateSession, master_codec::Reset, ListDevices> request;
};
/// What a client asks of its session.
struct SessionCall {
  struct Close {};
  struct ListDevices {};
  std::shared_ptr<RpcCall> call;
  std::variant<master_codec::RunStep, master_codec::PartialRunSetup, master_codec::ExtendSession,
               master_codec::MakeCallable, master_codec::RunCallable, master_codec::ReleaseCallable,
               ListDevices, Close>
      request;
  StepNote note = {}; ///< of a RunStep
};
/// Fails the call with the status, as its client knows errors; in the answer's body if it looks for
/// that there: gRPC cuts long texts.
inline void fail_call(RpcCall& call, bool in_body, const Status& status) {
  if (in_body)
    call.answer(
        master_codec::write_step_failed(status.code(), master_codec::client_message(status)));
  else
    call.fail(Status(status.code(), master_codec::client_message(status)));
}

/// The client of a call has gone.
struct ClientGone {
  std::uint64_t number = 0;  ///< of the call, within its session
  bool has_given_up = false; ///< its deadline has passed: it does not come back
};
/// Of a session to itself: a step whose client has not come back may end now.
struct EndAbandonedStep {
  std::uint64_t request_id = 0;
};
/// Of a session to itself: has it been idle for too long?
struct LookIfIdle {};

/// The GATEWAY: makes sessions for gRPC clients; its children are those sessions.
/// Drain: Refuses new sessions; answers at once, since the master waits for the steps.
using GatewayActor = DrainActor::extend<caf::reacts_to<ClientCall>>;

/// The GATEWAY SESSION: a gRPC client's session, beside its master session; ends with it.
using GatewaySessionActor =
    TreeActor::extend<caf::reacts_to<SessionCall>, caf::reacts_to<ClientGone>,
                      caf::reacts_to<EndAbandonedStep>, caf::reacts_to<LookIfIdle>>;

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ClientCall)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::SessionCall)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ClientGone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::EndAbandonedStep)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::LookIfIdle)
