#include "api/grpc/gateway.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/family/ask.hpp"
#include "actors/node/handles.hpp"
#include "actors/node/node.hpp"
#include "api/grpc/gateway_actor.hpp"
#include "api/grpc/joined_clusters.hpp"
#include "api/grpc/node_address.hpp"
#include "api/grpc/rpc_server.hpp"
#include "api/grpc/worker_dispatcher.hpp"
#include "api/grpc/worker_gateway.hpp"
#include "core/base/strings.hpp"
#include "net/transport/log_guard.hpp"

namespace troupe {

namespace {

namespace codec = master_codec;

// Hands each call to its actor, decoded; on gRPC's threads, so that an actor's time is not spent on
// reading tensors.
class Dispatcher {
public:
  Dispatcher(GatewayActor gateway, const WorkerGatewayActor& worker_gateway,
             std::shared_ptr<SessionTable> sessions, std::shared_ptr<JoinedClusters> clusters,
             const NodeServices& services, std::string session_config)
      : gateway_(std::move(gateway)), sessions_(std::move(sessions)),
        clusters_(std::move(clusters)), own_task_(services.task),
        session_config_(std::move(session_config)),
        limits_(DecodeLimits::bounded_by(services.host_memory)),
        to_worker_(worker_gateway, limits_) {}

  void operator()(const std::shared_ptr<RpcCall>& call) const {
    LogGuard log_guard;
    if (WorkerDispatcher::is_for_worker(call->method()))
      return to_worker_(call);
    bool in_body = false;
    if (Status status = dispatch(call, in_body); !status.ok())
      fail_call(*call, in_body, status);
  }

private:
  /// `in_body`: where the client looks for an error.
  Status dispatch(const std::shared_ptr<RpcCall>& call, bool& in_body) const {
    const std::string_view method = call->method();
    std::string& bytes = call->request();
    if (method == "CreateSession")
      return create_session(call, bytes);
    if (method == "Reset")
      return to_gateway(call, codec::read_reset(bytes));
    for (const auto& [name, read] : session_methods)
      if (name == method)
        return to_session(call, bytes, read, in_body);
    if (method == join_cluster_method)
      return join_cluster(call);
    return unimplemented(str_cat("tensorflow.MasterService has no method ", method));
  }

  // One with a cluster of its own goes to the node that is this task of that cluster.
  Status create_session(const std::shared_ptr<RpcCall>& call, std::string& bytes) const {
    TROUPE_ASSIGN(auto request, codec::read_create_session(bytes, session_config_));
    if (request.options.cluster.empty())
      return to_gateway(call, Result<codec::CreateSession>(std::move(request)));
    TROUPE_ASSIGN(auto spec, find_own_task(request.options.cluster, request.target, own_task_));
    std::string().swap(bytes);
    request.options.cluster.clear();
    const bool keeps_state = request.options.shares_state_in_own_cluster;
    request.options.isolate_session_state = !keeps_state;
    auto held = std::make_shared<codec::CreateSession>(std::move(request));
    clusters_->join(std::move(spec), keeps_state,
                    [call, held](Result<JoinedClusters::Joined> joined) {
                      if (joined.ok())
                        caf::anon_send(joined->gateway, ClientCall{call, std::move(*held)});
                      else
                        call->fail(joined.status());
                    });
    return {};
  }

  // Another task's: this one is to be a task of that cluster, too.
  Status join_cluster(const std::shared_ptr<RpcCall>& call) const {
    TROUPE_ASSIGN(ClusterSpec spec, parse_tf_config(call->request()));
    if (spec.cluster.size() == 0 || spec.task < 0 ||
        !spec.cluster.contains(task_name(spec.job, spec.task)))
      return invalid_argument("the cluster does not have the task that this one is to be");
    clusters_->join(std::move(spec), false, [call](Result<JoinedClusters::Joined> joined) {
      if (joined.ok())
        call->answer(std::to_string(joined->port));
      else
        call->fail(joined.status());
    });
    return {};
  }

  template <class Request>
  Status to_gateway(const std::shared_ptr<RpcCall>& call, Result<Request> request) const {
    if (!request.ok())
      return request.status();
    call->request().clear();
    caf::anon_send(gateway_, ClientCall{call, *std::move(request)});
    return {};
  }

  using Read = Result<decltype(SessionCall::request)> (*)(std::string_view, const DecodeLimits&);
  Status to_session(const std::shared_ptr<RpcCall>& call, std::string& bytes, Read read,
                    bool& in_body) const {
    TROUPE_ASSIGN(const codec::RequestHead head, codec::read_head(call->method(), bytes));
    const std::string& handle = head.session_handle;
    in_body = head.errors_in_body;
    if (call->method() == "ListDevices" && handle.empty()) {
      caf::anon_send(gateway_, ClientCall{call, ClientCall::ListDevices{}});
      return {};
    }
    const SessionTable::Session session = sessions_->find(handle);
    if (!session.actor)
      return not_here(call->method(), handle);
    TROUPE_ASSIGN(auto request, read(bytes, limits_));
    call->drop_request(); // its tensors have their own memory
    if (auto* step = std::get_if<codec::RunStep>(&request); step && session.direct)
      session.direct->take(*seats_, call, std::move(*step), [&](DirectCalls::ForActors step) {
        tell_of_lost_session(*step.call, handle, step.step.errors_in_body);
        caf::anon_send(session.actor, SessionCall{std::move(step.call), std::move(step.step),
                                                  std::move(step.note)});
      });
    else {
      tell_of_lost_session(*call, handle, in_body);
      caf::anon_send(session.actor, SessionCall{call, std::move(request)});
    }
    return {};
  }

  // A session may end while a call is on its way to it.
  static void tell_of_lost_session(RpcCall& call, const std::string& handle, bool in_body) {
    call.when_dropped([handle, in_body](RpcCall& lost) {
      fail_call(lost, in_body, not_here(lost.method(), handle));
    });
  }

  // In TensorFlow's words: MonitoredSession makes a new session upon ABORTED.
  static Status not_here(std::string_view method, const std::string& handle) {
    if (method == "CloseSession")
      return aborted(
          str_cat("Session ", handle, " is not found. Possibly, this master has restarted."));
    if (method == "ListDevices")
      return invalid_argument(
          str_cat("Session ", handle, " is not found. Possibly, this master has restarted."));
    return aborted(str_cat("Session ", handle, " is not found."));
  }

  template <auto read>
  static Result<decltype(SessionCall::request)> plain(std::string_view bytes, const DecodeLimits&) {
    TROUPE_ASSIGN(auto request, read(bytes));
    return decltype(SessionCall::request)(std::move(request));
  }
  template <auto read>
  static Result<decltype(SessionCall::request)> with_tensors(std::string_view bytes,
                                                             const DecodeLimits& limits) {
    TROUPE_ASSIGN(auto request, read(bytes, limits));
    return decltype(SessionCall::request)(std::move(request));
  }
  template <class Request>
  static Result<decltype(SessionCall::request)> empty(std::string_view, const DecodeLimits&) {
    return decltype(SessionCall::request)(Request{});
  }

  struct Method {
    std::string_view name;
    Read read;
  };
  static constexpr Method session_methods[] = {
      {"RunStep", with_tensors<codec::read_run_step>},
      {"RunCallable", with_tensors<codec::read_run_callable>},
      {"PartialRunSetup", plain<codec::read_partial_run_setup>},
      {"ExtendSession", plain<codec::read_extend_session>},
      {"MakeCallable", plain<codec::read_make_callable>},
      {"ReleaseCallable", plain<codec::read_release_callable>},
      {"ListDevices", empty<SessionCall::ListDevices>},
      {"CloseSession", empty<SessionCall::Close>},
  };

  GatewayActor gateway_;
  std::shared_ptr<SessionTable> sessions_;
  std::shared_ptr<JoinedClusters> clusters_;
  std::string own_task_, session_config_;
  DecodeLimits limits_;
  WorkerDispatcher to_worker_;
  /// One of the server's threads always takes calls.
  std::shared_ptr<DirectCalls::Seats> seats_ =
      std::make_shared<DirectCalls::Seats>(RpcServer::num_threads - 1);
};

} // namespace

struct Gateway::Impl {
  std::shared_ptr<SessionTable> sessions = std::make_shared<SessionTable>();
  std::shared_ptr<JoinedClusters> clusters;
  std::shared_ptr<RpcPeers> peers = std::make_shared<RpcPeers>();
  GatewayActor actor;
  WorkerGatewayActor worker_gateway;
  std::unique_ptr<RpcServer> server;
};

Gateway::Gateway() : impl_(std::make_unique<Impl>()) {}

Result<std::unique_ptr<Gateway>> Gateway::start(ClusterNode& node, const GatewayOptions& options) {
  LogGuard log_guard;
  std::unique_ptr<Gateway> out(new Gateway);
  Impl& impl = *out->impl_;
  auto services = node.shared_services();
  const GatewayLimits limits{options.max_sessions, options.idle_session};
  impl.actor = node.system().spawn(gateway, Services(services), node.handles().master,
                                   impl.sessions, limits);
  TROUPE_TRY(node.adopt("gateway", impl.actor));
  impl.worker_gateway = node.system().spawn(
      worker_gateway,
      WorkerGatewayParts{services, node.handles().worker, impl.peers, options.cluster,
                         options.idle_session, options.max_sessions});
  TROUPE_TRY(node.adopt("worker-gateway", impl.worker_gateway));
  impl.clusters =
      std::make_shared<JoinedClusters>(node, options.address.host, impl.sessions, limits);
  RpcServerOptions rpc;
  rpc.address = options.address;
  rpc.service = "tensorflow.MasterService";
  rpc.max_request = options.max_request;
  rpc.max_calls = options.max_calls;
  rpc.max_pending = options.max_pending;
  if (node.port() != 0)
    rpc.constants[std::string(node_address_method)] = std::to_string(node.port());
  rpc.others = WorkerDispatcher::methods();
  rpc.others.emplace_back(join_cluster_method);
  TROUPE_ASSIGN(impl.server, RpcServer::start(rpc, Dispatcher(impl.actor, impl.worker_gateway,
                                                              impl.sessions, impl.clusters,
                                                              *services, options.session_config)));
  return out;
}

Gateway::~Gateway() {
  LogGuard log_guard;
  impl_->server.reset();
  impl_->peers->shut_down();
  impl_->clusters.reset();
}

void Gateway::shut_down(const std::string& reason, std::chrono::milliseconds grace) {
  LogGuard log_guard;
  impl_->clusters->shut_down(reason, grace);
}

std::uint16_t Gateway::port() const {
  return impl_->server->port();
}

} // namespace troupe
