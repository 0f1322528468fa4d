#include "api/session.hpp"

#include <algorithm>
#include <mutex>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/node/client.hpp"
#include "actors/node/handles.hpp"
#include "actors/node/node.hpp"
#include "actors/session/session.hpp"
#include "api/scope.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "net/transport/caller_unit.hpp"

namespace troupe {

namespace {

/// What one thread needs to ask actors: a mailbox of its own, and, for a local session, the list of
/// actors it resumes itself.
struct Caller {
  Caller(caf::actor_system& system, bool local) : self(system), unit(system) {
    if (local)
      self->context(&unit);
  }
  caf::scoped_actor self;
  CallerUnit unit;
};

SessionSettings settings_of(const SessionOptions& options) {
  SessionSettings out;
  out.device_filters = options.device_filters;
  out.allow_soft_placement = options.allow_soft_placement;
  out.log_device_placement = options.log_device_placement;
  out.isolate_session_state = options.isolate_session_state;
  out.optimize = options.opt_level >= 0;
  out.disabled_passes = options.disabled_passes;
  out.operation_timeout_us = options.operation_timeout_ms * 1000;
  return out;
}

} // namespace

struct Session::Impl {
  bool local = false;
  std::unique_ptr<ClusterNode> node;  // of a local session
  std::unique_ptr<ClientNode> client; // of a remote one
  Timeouts timeouts;
  SessionActor actor;
  std::string handle;
  std::int64_t operation_timeout_ms = 0;

  std::mutex lock; // guards what follows
  std::vector<std::unique_ptr<Caller>> idle;
  NodeId extended_nodes = 0; // of the scope that was last extended with
  std::weak_ptr<Graph> extended_graph;

  caf::actor_system& system() { return local ? node->system() : client->system(); }

  std::unique_ptr<Caller> borrow() {
    {
      std::scoped_lock guard(lock);
      if (!idle.empty()) {
        auto caller = std::move(idle.back());
        idle.pop_back();
        return caller;
      }
    }
    return std::make_unique<Caller>(system(), local);
  }
  void give_back(std::unique_ptr<Caller> caller) {
    std::scoped_lock guard(lock);
    idle.push_back(std::move(caller));
  }

  /// Asks the session actor; on a local session everything that can happen on this thread does.
  template <class Answer, class Message>
  Result<Answer> ask(Message message, std::chrono::nanoseconds budget, std::string_view what) {
    auto caller = borrow();
    Result<Answer> out = internal("no answer");
    auto request = caller->self->request(actor, caf::timespan(budget.count()), std::move(message));
    if (local)
      caller->unit.drain();
    request.receive([&](Answer& answer) { out = std::move(answer); },
                    [&](caf::error& error) { out = to_status(error, what); });
    give_back(std::move(caller));
    return out;
  }

  /// A step answers by its own deadline; this one is only for a session actor that is gone.
  std::chrono::nanoseconds step_budget(std::int64_t timeout_ms) const {
    std::int64_t ms = timeout_ms > 0 ? timeout_ms : operation_timeout_ms;
    return ms > 0 ? std::chrono::milliseconds(ms) + timeouts.cancel + timeouts.request
                  : timeouts.step;
  }

  ~Impl() {
    if (actor) {
      (void)ask<caf::ok_atom>(CloseSession{}, timeouts.request, "closing");
      stop(untyped(actor));
    }
    actor = SessionActor{};
    idle.clear();
  }
};

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const std::string& target, const SessionOptions& options) {
  auto impl = std::make_shared<Impl>();
  OpenSession request;
  request.request.settings = settings_of(options);
  impl->operation_timeout_ms = options.operation_timeout_ms;
  if (options.operation_timeout_ms > 0)
    impl->timeouts.dial =
        std::min(impl->timeouts.dial, std::chrono::milliseconds(options.operation_timeout_ms));
  impl->local = target.empty() || target == "local";
  if (impl->local) {
    NodeOptions node;
    node.compute_threads = options.intra_op_threads;
    if (auto it = options.device_count.find("CPU"); it != options.device_count.end())
      node.cpu_devices = it->second;
    TROUPE_ASSIGN(impl->node, ClusterNode::start(node));
    impl->actor =
        impl->node->system().spawn(session, impl->node->shared_services(),
                                   impl->node->handles().master, impl->node->handles().transport);
  } else {
    constexpr std::string_view scheme = "caf://";
    if (!target.starts_with(scheme))
      return invalid_argument(
          str_cat("'", target, "' is no target; use 'local' or 'caf://host:port'"));
    TROUPE_ASSIGN(Address address, Address::parse(std::string_view(target).substr(scheme.size())));
    impl->client = std::make_unique<ClientNode>();
    TROUPE_ASSIGN(GuardianActor guardian, impl->client->dial(address, impl->timeouts.dial));
    request.guardian = untyped(guardian);
    impl->actor = impl->client->system().spawn(session, impl->client->services(), MasterActor{},
                                               impl->client->transport());
  }
  auto budget = impl->timeouts.dial + 4 * impl->timeouts.request + impl->timeouts.compile;
  TROUPE_ASSIGN(SessionCreated created,
                impl->ask<SessionCreated>(std::move(request), budget,
                                          str_cat("opening a session at '", target, "'")));
  impl->handle = created.session_handle;
  return Session(std::move(impl));
}

Status Session::extend(const Scope& scope) {
  TROUPE_TRY(scope.status());
  NodeId from = 0;
  {
    std::scoped_lock guard(impl_->lock);
    if (impl_->extended_graph.lock() == scope.graph())
      from = impl_->extended_nodes;
  }
  NodeId to = scope.graph()->capacity();
  if (from == to)
    return {};
  std::string bytes = scope.graph_def_from(from);
  TROUPE_TRY(extend_graph_def(bytes));
  std::scoped_lock guard(impl_->lock);
  impl_->extended_graph = scope.graph();
  impl_->extended_nodes = to;
  return {};
}

Status Session::extend_graph_def(const std::string& bytes) {
  return impl_->ask<GraphExtended>(ExtendGraph{bytes, -1}, impl_->timeouts.compile, "ExtendGraph")
      .status();
}

namespace {

RunStep make_run(Feeds feeds, std::vector<std::string> fetches, std::vector<std::string> targets,
                 const RunOptions& options) {
  RunStep out;
  for (auto& [name, tensor] : feeds)
    out.feeds.emplace_back(std::move(name), WireTensor(std::move(tensor)));
  out.fetches = std::move(fetches);
  out.targets = std::move(targets);
  out.timeout_us = options.timeout_ms * 1000;
  out.trace = options.trace_level != TraceLevel::none;
  out.partition_graphs = options.output_partition_graphs;
  return out;
}

std::vector<Tensor> tensors_of(RunStepResult& result) {
  std::vector<Tensor> out;
  out.reserve(result.tensors.size());
  for (WireTensor& tensor : result.tensors)
    out.push_back(std::move(tensor.tensor));
  return out;
}

} // namespace

Result<std::vector<Tensor>> Session::run(const Feeds& feeds,
                                         const std::vector<std::string>& fetches,
                                         const std::vector<std::string>& targets,
                                         const RunOptions& options, RunMetadata* metadata) {
  TROUPE_ASSIGN(RunStepResult result,
                impl_->ask<RunStepResult>(make_run(feeds, fetches, targets, options),
                                          impl_->step_budget(options.timeout_ms), "RunStep"));
  if (metadata) {
    metadata->step_stats.devices = std::move(result.metadata.stats);
    metadata->partition_graphs = std::move(result.metadata.partition_graphs);
  }
  return tensors_of(result);
}

std::future<Result<std::vector<Tensor>>> Session::run_async(Feeds feeds,
                                                            std::vector<std::string> fetches,
                                                            std::vector<std::string> targets,
                                                            RunOptions options) {
  auto promise = std::make_shared<std::promise<Result<std::vector<Tensor>>>>();
  auto future = promise->get_future();
  auto request = std::make_shared<RunStep>(
      make_run(std::move(feeds), std::move(fetches), std::move(targets), options));
  auto budget = impl_->step_budget(options.timeout_ms);
  // A courier that lives for this one request.
  impl_->system().spawn([=, actor = impl_->actor](caf::event_based_actor* self) {
    self->request(actor, caf::timespan(budget), std::move(*request))
        .then([=](RunStepResult& result) { promise->set_value(tensors_of(result)); },
              [=](caf::error& error) { promise->set_value(to_status(error, "RunStep")); });
  });
  return future;
}

struct Session::Callable::Handle {
  std::shared_ptr<Impl> impl;
  std::uint64_t id = 0;
  ~Handle() {
    (void)impl->ask<caf::ok_atom>(ReleaseCallable{id}, impl->timeouts.request, "ReleaseCallable");
  }
};

Result<Session::Callable> Session::make_callable(const std::vector<std::string>& feeds,
                                                 const std::vector<std::string>& fetches,
                                                 const std::vector<std::string>& targets) {
  TROUPE_ASSIGN(CallableMade made,
                impl_->ask<CallableMade>(MakeCallable{feeds, fetches, targets},
                                         impl_->timeouts.request, "MakeCallable"));
  Callable out;
  out.handle_ = std::make_shared<Callable::Handle>();
  out.handle_->impl = impl_;
  out.handle_->id = made.handle;
  return out;
}

Result<std::vector<Tensor>> Session::Callable::operator()(std::vector<Tensor> feeds,
                                                          const RunOptions& options) const {
  RunCallable request;
  request.handle = handle_->id;
  for (Tensor& feed : feeds)
    request.feeds.emplace_back(std::move(feed));
  request.timeout_us = options.timeout_ms * 1000;
  request.trace = options.trace_level != TraceLevel::none;
  Impl& impl = *handle_->impl;
  TROUPE_ASSIGN(RunStepResult result,
                impl.ask<RunStepResult>(std::move(request), impl.step_budget(options.timeout_ms),
                                        "RunCallable"));
  return tensors_of(result);
}

Result<std::vector<DeviceAttributes>> Session::devices() {
  TROUPE_ASSIGN(DeviceList list,
                impl_->ask<DeviceList>(ListDevices{}, impl_->timeouts.request, "ListDevices"));
  return std::move(list.devices);
}

Result<std::vector<StepSummary>> Session::steps() {
  TROUPE_ASSIGN(StepList list,
                impl_->ask<StepList>(GetSteps{}, impl_->timeouts.request, "GetSteps"));
  std::vector<StepSummary> out;
  for (StepInfo& step : list.steps)
    out.push_back(
        {step.step_id, std::move(step.signature), std::move(step.state), step.duration_us});
  return out;
}

Result<Placement> Session::explain(const std::vector<std::string>& feeds,
                                   const std::vector<std::string>& fetches,
                                   const std::vector<std::string>& targets) {
  TROUPE_ASSIGN(GraphExplained found,
                impl_->ask<GraphExplained>(ExplainGraph{feeds, fetches, targets},
                                           impl_->timeouts.compile, "ExplainGraph"));
  return Placement{std::move(found.placement), std::move(found.partitions)};
}

const std::string& Session::handle() const {
  return impl_->handle;
}

ClusterNode* Session::local_node() const {
  return impl_->node.get();
}

Status Session::close() {
  return impl_->ask<caf::ok_atom>(CloseSession{}, impl_->timeouts.request, "CloseSession").status();
}

} // namespace troupe
