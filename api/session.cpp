#include "api/session.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include "actors/master_session/direct_steps.hpp"
#include "actors/node/handles.hpp"
#include "actors/node/shared.hpp"
#include "actors/session/session.hpp"
#include "actors/step/step_text.hpp"
#include "api/internal/pending_run_state.hpp"
#include "api/internal/settings.hpp"
#include "api/internal/step_result.hpp"
#include "api/scope.hpp"
#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "core/trace/recorder.hpp"
#include "devices/factory.hpp"
#include "devices/memory/machine_memory.hpp"
#include "net/transport/caller.hpp"
#include "net/transport/log_guard.hpp"
#include "net/wire/wire_tensor.hpp"

namespace troupe {

namespace {

/// How often a step looks for the master session that goes on after another one.
constexpr int most_attempts = 3;

/// Carries one request of run_async. A tick cancels its step.
using CourierActor = caf::typed_actor<caf::reacts_to<caf::tick_atom>>;

// What the caller of a traced step saw of it.
void add_callers_span(RunMetadata& metadata, std::int64_t start_us) {
  NodeStats span;
  span.node = "step";
  span.op = "Session::run";
  span.start_us = start_us;
  span.end_us = wall_micros();
  span.thread_id = thread_number();
  metadata.step_stats.devices.insert(metadata.step_stats.devices.begin(),
                                     {"client", {std::move(span)}});
}

Result<std::vector<Tensor>> tensors_of(RunStepResult& result, std::size_t wanted) {
  if (result.tensors.size() != wanted)
    return internal(str_cat("the master answered with ", result.tensors.size(), " values, where ",
                            wanted, " were fetched; are both of the same version?"));
  std::vector<Tensor> out;
  out.reserve(wanted);
  for (WireTensor& tensor : result.tensors)
    out.push_back(std::move(tensor.tensor));
  return out;
}

/// Answers when the courier is destroyed without having done so.
class Answerer {
public:
  explicit Answerer(std::shared_ptr<PendingRun::State> state) : state_(std::move(state)) {}
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;
  ~Answerer() { state_->answer(aborted("the session ended before the step did")); }
  void operator()(Result<std::vector<Tensor>> result, RunMetadata metadata = {}) const {
    state_->answer(std::move(result), std::move(metadata));
  }

private:
  std::shared_ptr<PendingRun::State> state_;
};

CourierActor::behavior_type courier(CourierActor::pointer self, const SessionActor& session,
                                    const std::shared_ptr<RunStep>& request, caf::timespan budget,
                                    const std::shared_ptr<PendingRun::State>& state) {
  guard_actor(self);
  std::uint64_t id = request->request_id;
  std::size_t wanted = request->fetches.size();
  auto answer = std::make_shared<const Answerer>(state);
  self->request(session, budget, std::move(*request))
      .then(
          [=](RunStepResult& result) {
            RunMetadata metadata = metadata_of(result);
            (*answer)(tensors_of(result, wanted), std::move(metadata));
            self->quit();
          },
          [=](caf::error& error) {
            make_plain(error);
            (*answer)(to_status(error, "RunStep"));
            self->quit();
          });
  return {[=](caf::tick_atom) { self->send(session, CancelRun{id}); }};
}

} // namespace

struct Session::Impl {
  bool local = false;                 // its master is in this process
  std::shared_ptr<ClusterNode> node;  // of a local session; others may have it too
  std::shared_ptr<ClientNode> client; // of a remote one; likewise
  Timeouts timeouts;
  SessionActor actor;
  MasterSessionActor master; // of a local session; takes its steps without the session's help
  /// Another one goes on, which the session's actor knows.
  std::atomic<bool> master_has_ended = false;
  std::shared_ptr<DirectSteps> direct; // of a local session: steps that need no actor
  std::string handle;
  std::int64_t operation_timeout_ms = 0;
  std::size_t num_thread_pools = 0; // that RunOptions may name

  std::mutex lock; // guards what follows
  std::vector<std::unique_ptr<Caller>> idle;

  std::mutex extending; // held while a scope's nodes are on their way; guards what follows
  std::vector<std::pair<std::weak_ptr<Graph>, NodeId>> extended; // how many nodes of which graph

  std::atomic<bool> ended = false;

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
    return std::make_unique<Caller>(system());
  }
  void give_back(std::unique_ptr<Caller> caller) {
    std::scoped_lock guard(lock);
    idle.push_back(std::move(caller));
  }

  /// Asks the session actor; everything that can happen on this thread does.
  template <class Answer, class Message>
  Result<Answer> ask(Message message, std::chrono::nanoseconds budget, std::string_view what) {
    auto caller = borrow();
    Result<Answer> out = Answer{};
    // The session's actor ends each call in better words.
    caller->ask(
        actor, caf::timespan(budget + std::chrono::seconds(1)), std::move(message),
        [&](Answer& answer) { out = std::move(answer); },
        [&](caf::error& error) { out = to_status(error, what); });
    give_back(std::move(caller));
    return out;
  }

  /// For a step. A master session that has ended takes none: the session's actor knows whether another
  /// one goes on, or says why not. What found nobody was not begun there, so it is made again; not
  /// where `make` can make it `only_once`.
  template <class Make>
  Result<RunStepResult> ask_master(Make make, bool only_once, std::chrono::nanoseconds budget,
                                   std::string_view what) {
    if (!master)
      return ask<RunStepResult>(make(), budget, what);
    bool has_ended = false;
    auto ask_once = [&](const auto& whom) {
      auto caller = borrow();
      Result<RunStepResult> out = RunStepResult{};
      has_ended = false;
      caller->ask(
          whom, caf::timespan(budget.count()), make(),
          [&](RunStepResult& answer) { out = std::move(answer); },
          [&](caf::error& error) {
            has_ended = error == caf::sec::request_receiver_down;
            out = to_status(error, what);
          });
      give_back(std::move(caller));
      return out;
    };
    auto out =
        master_has_ended.load(std::memory_order_relaxed) ? ask_once(actor) : ask_once(master);
    if (has_ended)
      master_has_ended.store(true, std::memory_order_relaxed);
    if (has_ended && only_once) {
      TROUPE_TRY(ask<DeviceList>(ListDevices{}, timeouts.request, what).status());
      return aborted(str_cat(what, ": the master session of session ", handle,
                             " ended while a step of it ran; what that has done of its work is not "
                             "known. The session goes on: run the step again if it may be done "
                             "twice"));
    }
    for (int i = 0; has_ended && i < most_attempts; ++i)
      out = ask_once(actor);
    return out;
  }

  /// A step answers by its own deadline; this one is only for a master that is gone.
  std::chrono::nanoseconds step_budget(std::int64_t timeout_ms) const {
    std::int64_t us =
        limit_us(timeout_ms > 0 ? timeout_ms : operation_timeout_ms, timeouts.step.count());
    return us > 0 ? std::chrono::microseconds(us) + timeouts.cancel + timeouts.request
                  : timeouts.step;
  }

  template <class Request, class Make>
  Result<std::vector<Tensor>> run(const DirectRequest& step, std::size_t num_fetches,
                                  const RunOptions& options, RunMetadata* metadata,
                                  std::string_view what, Make make);

  /// What every session asks for, wherever its master is.
  Result<OpenSession> prepare(const SessionOptions& options) {
    OpenSession request;
    TROUPE_ASSIGN(request.request.settings, settings_of(options, timeouts.step.count()));
    operation_timeout_ms = options.operation_timeout_ms;
    request.operation_timeout_us = request.request.settings.operation_timeout_us;
    // Without a time of its own a call ends when silence has been judged.
    timeouts.dial = options.operation_timeout_ms > 0
                        ? std::chrono::milliseconds(options.operation_timeout_ms)
                        : timeouts.verdict();
    return request;
  }
  std::chrono::milliseconds opening_budget() const {
    return timeouts.dial + 4 * timeouts.request + timeouts.compile;
  }
  Result<SessionCreated> create(OpenSession request, std::chrono::milliseconds budget,
                                const std::string& where) {
    return ask<SessionCreated>(std::move(request), budget,
                               str_cat("opening a session at '", where, "'"));
  }
  /// The master is in this process, at `node`.
  Status open_on_node(OpenSession request, const std::string& where) {
    local = true;
    actor = node->system().spawn(session, node->shared_services(), node->handles().master,
                                 node->handles().transport);
    std::chrono::milliseconds budget = opening_budget();
    if (request.timeout_us > 0)
      budget = std::chrono::milliseconds(request.timeout_us / 1000);
    TROUPE_ASSIGN(SessionCreated created, create(std::move(request), budget, where));
    handle = created.session_handle;
    master = created.session;
    direct = std::move(created.direct);
    return {};
  }

  void end() {
    if (actor && !ended.exchange(true))
      (void)ask<caf::ok_atom>(CloseSession{}, timeouts.request, "closing");
  }

  ~Impl() {
    end();
    if (actor)
      stop(actor);
    actor = SessionActor{};
    master = MasterSessionActor{};
    idle.clear();
  }
};

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) {
    Session ending(std::move(*this));
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Session::~Session() {
  if (impl_)
    impl_->end();
}

Result<Session> Session::open(const std::string& target, const SessionOptions& options) {
  LogGuard log_guard;
  auto impl = std::make_shared<Impl>();
  const bool own_process = target.empty() || target == "local";
  if (own_process) {
    NodeOptions node;
    node.compute_threads = options.intra_op_threads;
    node.memory_limit =
        options.memory_limit > 0 ? options.memory_limit : default_memory_limit(machine_memory());
    for (const DeviceFactory& factory : device_factories())
      if (auto it = options.device_count.find(std::string(factory.type));
          it != options.device_count.end())
        node.device_count[it->first] = it->second;
    OpenSession request;
    TROUPE_ASSIGN(request, impl->prepare(options));
    TROUPE_TRY(check_thread_pools(options));
    impl->num_thread_pools = options.thread_pools.size();
    request.request.settings.isolate_session_state = true; // variables of its own
    TROUPE_ASSIGN(impl->node,
                  options.per_session_threads ? own_local_node(node) : shared_local_node(node));
    TROUPE_TRY(impl->open_on_node(std::move(request), target));
    return Session(std::move(impl));
  }
  std::int64_t began_us = steady_micros();
  OpenSession request;
  TROUPE_ASSIGN(request, impl->prepare(options));
  TROUPE_TRY(refuse_own_threads(options));
  TROUPE_ASSIGN(Address address, Address::of_target(target));
  if (options.memory_limit > 0)
    return invalid_argument(str_cat("SessionOptions::memory_limit is for a session in this "
                                    "process; the tasks that '",
                                    target,
                                    "' leads to have theirs from their config file, "
                                    "memory-limit in [troupe]"));
  impl->client = shared_client_node();
  TROUPE_ASSIGN(GuardianActor guardian, impl->client->dial(address, impl->timeouts.dial));
  request.guardian = guardian;
  request.master = address;
  impl->actor = impl->client->system().spawn(session, impl->client->services(), MasterActor{},
                                             impl->client->transport());
  std::chrono::milliseconds budget = impl->opening_budget();
  if (options.operation_timeout_ms > 0) { // what dialling has left of it
    auto spent = std::chrono::milliseconds((steady_micros() - began_us) / 1000);
    auto left = std::chrono::milliseconds(options.operation_timeout_ms) - spent;
    budget = std::max(left, std::chrono::milliseconds(1));
    request.timeout_us = std::chrono::microseconds(budget).count();
  }
  TROUPE_ASSIGN(SessionCreated created, impl->create(std::move(request), budget, target));
  impl->handle = created.session_handle;
  return Session(std::move(impl));
}

Result<Session> Session::open(std::shared_ptr<ClusterNode> node, const SessionOptions& options) {
  LogGuard log_guard;
  if (!node)
    return invalid_argument("Session::open was given no node; start one with ClusterNode::start");
  if (options.memory_limit > 0)
    return invalid_argument(
        str_cat("SessionOptions::memory_limit is for a session with a node of its "
                "own; ",
                node->task(), " was started with NodeOptions::memory_limit"));
  auto impl = std::make_shared<Impl>();
  impl->timeouts = node->services().timeouts;
  TROUPE_TRY(refuse_own_threads(options));
  OpenSession request;
  TROUPE_ASSIGN(request, impl->prepare(options));
  impl->node = std::move(node);
  request.timeout_us = request.operation_timeout_us;
  request.request.timeout_us = request.timeout_us - request.timeout_us / 10; // names who is silent
  const std::string where = impl->node->task();
  TROUPE_TRY(impl->open_on_node(std::move(request), where));
  return Session(std::move(impl));
}

namespace {

Status moved_from() {
  return failed_precondition("this Session was moved from; ask the one that it was moved to");
}

} // namespace

Status Session::extend(const Scope& scope) {
  if (!impl_)
    return moved_from();
  TROUPE_TRY(scope.status());
  std::scoped_lock guard(impl_->extending);
  auto& extended = impl_->extended;
  std::erase_if(extended, [](const auto& entry) { return entry.first.expired(); });
  auto known = std::find_if(extended.begin(), extended.end(),
                            [&](const auto& entry) { return entry.first.lock() == scope.graph(); });
  NodeId from = known == extended.end() ? 0 : known->second;
  NodeId to = scope.graph()->capacity();
  if (from == to)
    return {};
  TROUPE_ASSIGN(std::string bytes, scope.graph_def_from(from));
  TROUPE_TRY(extend_graph_def(bytes));
  if (known == extended.end())
    extended.emplace_back(scope.graph(), to);
  else
    known->second = to;
  return {};
}

Status Session::extend_graph_def(const std::string& bytes) {
  if (!impl_)
    return moved_from();
  Status status =
      impl_->ask<GraphExtended>(ExtendGraph{bytes, -1}, impl_->timeouts.compile, "ExtendGraph")
          .status();
  // A node closes the connection on what is too large for it, before it could answer.
  if (status.code() == Code::unavailable && !impl_->local && bytes.size() >= max_message_bytes)
    return resource_exhausted(
        str_cat("the graph is ", bytes.size(), " bytes, and a node takes messages of at most ",
                max_message_bytes,
                " unless its config says otherwise. Raise message-limit in [troupe], feed large "
                "values instead of making them constants, or extend in parts. (",
                status.message(), ")"));
  return status;
}

namespace {

RunStep make_run(const Feeds& feeds, const std::vector<std::string>& fetches,
                 const std::vector<std::string>& targets, const RunOptions& options,
                 const Timeouts& timeouts) {
  RunStep out;
  out.feeds.reserve(feeds.size());
  for (const auto& [name, tensor] : feeds)
    out.feeds.emplace_back(name, tensor);
  out.fetches = fetches;
  out.targets = targets;
  put_options(options, timeouts.step.count(), out);
  return out;
}

// What is recorded of a step is the actors' to tell.
bool may_run_directly(const RunOptions& options) {
  return options.trace_level == TraceLevel::none && !options.output_partition_graphs &&
         !options.report_allocations_upon_oom && options.debug.is_empty();
}

} // namespace

// A callable's feeds are its own, and move with it.
template <class Request>
constexpr bool takes_its_feeds = std::is_same_v<Request, RunCallable>;

// On this thread as far as it goes, else by the actors. `make` makes the actors' request.
template <class Request, class Make>
Result<std::vector<Tensor>> Session::Impl::run(const DirectRequest& step, std::size_t num_fetches,
                                               const RunOptions& options, RunMetadata* metadata,
                                               std::string_view what, Make make) {
  DirectOutcome direct;
  if (this->direct && may_run_directly(options))
    direct = this->direct->run(step);
  if (direct.values) {
    if (metadata)
      *metadata = {};
    return *std::move(direct.values);
  }
  auto budget = step_budget(options.timeout_ms);
  auto go_on = [&] {
    RunStep request;
    request.timeout_us = limit_us(options.timeout_ms, timeouts.step.count());
    request.begun = std::move(direct.begun);
    return request;
  };
  auto begin = [&] {
    Request request = make();
    request.wants_direct = direct.is_new;
    return request;
  };
  auto ask = [&] {
    return direct.begun ? ask_master(go_on, true, budget, what)
                        : ask_master(begin, takes_its_feeds<Request>, budget, what);
  };
  TROUPE_ASSIGN(RunStepResult result, ask());
  if (result.direct)
    this->direct->learn(step, std::move(result.direct));
  if (metadata)
    *metadata = metadata_of(result);
  return tensors_of(result, num_fetches);
}

Result<std::vector<Tensor>> Session::run(const Feeds& feeds,
                                         const std::vector<std::string>& fetches,
                                         const std::vector<std::string>& targets,
                                         const RunOptions& options, RunMetadata* metadata) {
  if (!impl_)
    return moved_from();
  TROUPE_TRY(check_options(options, impl_->num_thread_pools));
  bool traced = metadata && options.trace_level != TraceLevel::none;
  std::int64_t start_us = traced ? wall_micros() : 0;
  DirectRequest step;
  step.named_feeds = feeds;
  step.fetches = fetches;
  step.targets = targets;
  step.timeout_us = limit_us(options.timeout_ms, impl_->timeouts.step.count());
  auto values = impl_->run<RunStep>(step, fetches.size(), options, metadata, "RunStep", [&] {
    return make_run(feeds, fetches, targets, options, impl_->timeouts);
  });
  if (traced && values.ok())
    add_callers_span(*metadata, start_us);
  return values;
}

PendingRun Session::run_async(Feeds feeds, std::vector<std::string> fetches,
                              std::vector<std::string> targets, const RunOptions& options) {
  LogGuard log_guard;
  auto state = std::make_shared<PendingRun::State>();
  if (Status status = impl_ ? check_options(options, impl_->num_thread_pools) : moved_from();
      !status.ok()) {
    state->answer(status);
    return PendingRun(state);
  }
  auto request =
      std::make_shared<RunStep>(make_run(feeds, fetches, targets, options, impl_->timeouts));
  feeds.clear(); // the step alone has them now
  request->request_id = random_id();
  caf::timespan budget(impl_->step_budget(options.timeout_ms));
  CourierActor actor = impl_->system().spawn(courier, impl_->actor, request, budget, state);
  std::scoped_lock guard(state->lock);
  if (!state->outcome)
    state->ask_to_cancel = [actor] { caf::anon_send(actor, caf::tick_atom::value); };
  return PendingRun(state);
}

Result<std::string> Session::partial_run_setup(const std::vector<std::string>& feeds,
                                               const std::vector<std::string>& fetches,
                                               const std::vector<std::string>& targets) {
  if (!impl_)
    return moved_from();
  TROUPE_ASSIGN(PartialRunSetUp made,
                impl_->ask<PartialRunSetUp>(SetUpPartialRun{feeds, fetches, targets},
                                            impl_->timeouts.request, "PartialRunSetup"));
  return std::move(made.handle);
}

Result<std::vector<Tensor>> Session::partial_run(const std::string& handle, const Feeds& feeds,
                                                 const std::vector<std::string>& fetches,
                                                 const RunOptions& options) {
  if (!impl_)
    return moved_from();
  TROUPE_TRY(check_options(options, impl_->num_thread_pools));
  auto request = std::make_shared<RunStep>(
      make_run(feeds, fetches, {}, {.timeout_ms = options.timeout_ms}, impl_->timeouts));
  request->partial_run_handle = handle;
  request->request_id = random_id();
  // Not on this thread: it would go on with the rest of the step before it looks at the answer.
  auto state = std::make_shared<PendingRun::State>();
  impl_->system().spawn(courier, impl_->actor, request,
                        caf::timespan(impl_->step_budget(options.timeout_ms)), state);
  return PendingRun(state).get();
}

struct Session::Callable::Handle {
  std::shared_ptr<Impl> impl;
  std::uint64_t id = 0;
  std::size_t num_fetches = 0;
  RunOptions options; ///< of each run
  ~Handle() {
    (void)impl->ask<caf::ok_atom>(ReleaseCallable{id}, impl->timeouts.request, "ReleaseCallable");
  }

  /// With what a call asks for besides.
  Result<RunOptions> with(const RunOptions& call) const {
    if (call.output_partition_graphs && !options.output_partition_graphs)
      return unimplemented(
          "this Callable was not made to tell what each device ran; make it with "
          "CallableOptions::options.output_partition_graphs, or ask with Session::run");
    if (!call.debug.is_empty())
      return unimplemented(
          "the tensors that a debugger watches are given to Session::make_callable, or "
          "to Session::run");
    RunOptions out = options;
    out.trace_level = std::max(options.trace_level, call.trace_level);
    if (call.timeout_ms > 0)
      out.timeout_ms = call.timeout_ms;
    out.report_allocations_upon_oom |= call.report_allocations_upon_oom;
    return out;
  }
};

Result<Session::Callable> Session::make_callable(const std::vector<std::string>& feeds,
                                                 const std::vector<std::string>& fetches,
                                                 const std::vector<std::string>& targets) {
  return make_callable({.feeds = feeds, .fetches = fetches, .targets = targets});
}

Result<Session::Callable> Session::make_callable(const CallableOptions& options) {
  if (!impl_)
    return moved_from();
  if (options.names_devices)
    return unimplemented(
        "CallableOptions names devices of feeds or fetches; they are in the host's "
        "memory: leave it out");
  TROUPE_TRY(check_options(options.options, impl_->num_thread_pools));
  MakeCallable request{options.feeds, options.fetches, options.targets};
  for (const auto& [from, to] : options.connections)
    request.connections.push_back({from, to});
  request.watches = options.options.debug.watches;
  request.partition_graphs = options.options.output_partition_graphs;
  TROUPE_ASSIGN(
      CallableMade made,
      impl_->ask<CallableMade>(std::move(request), impl_->timeouts.request, "MakeCallable"));
  Callable out;
  out.handle_ = std::make_shared<Callable::Handle>();
  out.handle_->impl = impl_;
  out.handle_->id = made.handle;
  out.handle_->num_fetches = options.fetches.size();
  out.handle_->options = options.options;
  return out;
}

Result<std::vector<Tensor>> Session::Callable::operator()(std::vector<Tensor> feeds,
                                                          const RunOptions& of_call,
                                                          RunMetadata* metadata) const {
  if (!handle_)
    return failed_precondition("this Callable is empty; Session::make_callable makes one");
  Impl& impl = *handle_->impl;
  TROUPE_TRY(check_options(of_call, impl.num_thread_pools));
  TROUPE_ASSIGN(const RunOptions options, handle_->with(of_call));
  DirectRequest step;
  step.callable = handle_->id;
  step.feeds = feeds;
  step.timeout_us = limit_us(options.timeout_ms, impl.timeouts.step.count());
  return impl.run<RunCallable>(step, handle_->num_fetches, options, metadata, "RunCallable", [&] {
    RunCallable request;
    request.handle = handle_->id;
    for (Tensor& feed : feeds)
      request.feeds.emplace_back(std::move(feed));
    put_options(options, impl.timeouts.step.count(), request);
    return request;
  });
}

Result<std::vector<DeviceAttributes>> Session::devices() {
  if (!impl_)
    return moved_from();
  TROUPE_ASSIGN(DeviceList list,
                impl_->ask<DeviceList>(ListDevices{}, impl_->timeouts.request, "ListDevices"));
  return std::move(list.devices);
}

Result<std::vector<StepSummary>> Session::steps() {
  if (!impl_)
    return moved_from();
  TROUPE_ASSIGN(StepList list,
                impl_->ask<StepList>(GetSteps{}, impl_->timeouts.request, "GetSteps"));
  std::vector<StepSummary> out;
  for (StepInfo& step : list.steps)
    out.push_back(
        {step.step_id, std::move(step.signature), std::move(step.state), step.duration_us});
  return out;
}

std::string WaitReport::to_text() const {
  std::string out;
  for (const StepWait& step : steps)
    out += format_step({step.step_id, step.signature, step.running_us, step.tree, step.cause});
  for (const std::string& remark : remarks)
    str_append(out, remark, "\n");
  return out;
}

Result<WaitReport> Session::why(std::uint64_t step_id) {
  if (!impl_)
    return moved_from();
  const Timeouts& t = impl_->timeouts;
  TROUPE_ASSIGN(StepsExplained explained,
                impl_->ask<StepsExplained>(ExplainStep{step_id}, t.request + 3 * t.explain,
                                           "asking why steps run"));
  WaitReport out;
  for (StepExplained& step : explained.steps)
    out.steps.push_back({step.step_id, std::move(step.signature), step.running_us,
                         std::move(step.tree), std::move(step.cause)});
  out.remarks = std::move(explained.remarks);
  return out;
}

Result<Placement> Session::explain(const std::vector<std::string>& feeds,
                                   const std::vector<std::string>& fetches,
                                   const std::vector<std::string>& targets) {
  if (!impl_)
    return moved_from();
  TROUPE_ASSIGN(GraphExplained found,
                impl_->ask<GraphExplained>(ExplainGraph{feeds, fetches, targets},
                                           impl_->timeouts.compile, "ExplainGraph"));
  return Placement{std::move(found.placement), std::move(found.partitions)};
}

const std::string& Session::handle() const {
  static const std::string none;
  return impl_ ? impl_->handle : none;
}

ClusterNode* Session::local_node() const {
  return impl_ ? impl_->node.get() : nullptr;
}

Status Session::close() {
  if (!impl_)
    return moved_from();
  return impl_->ask<caf::ok_atom>(CloseSession{}, impl_->timeouts.request, "CloseSession").status();
}

} // namespace troupe
