// Session: steps, run at once, in the background, in pieces, and as callables.
#include "api/internal/session_impl.hpp"

#include <caf/event_based_actor.hpp>

#include "api/internal/pending_run_state.hpp"
#include "api/internal/settings.hpp"
#include "api/internal/step_result.hpp"
#include "core/base/clock.hpp"
#include "core/base/random.hpp"
#include "core/trace/recorder.hpp"
#include "net/transport/log_guard.hpp"
#include "net/wire/wire_tensor.hpp"

namespace troupe {

namespace {

/// How often a step looks for the master session that goes on after another one.
constexpr int most_attempts = 3;

/// Carries one request of run_async. A tick cancels its step.
using CourierActor = caf::typed_actor<caf::reacts_to<caf::tick_atom>>;

/// What is to know how the next step of a kind is run without the actors.
struct Learner {
  std::shared_ptr<DirectSteps> steps;
  StepSignature signature;
};

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
                                    const std::shared_ptr<PendingRun::State>& state,
                                    std::size_t wanted, const std::shared_ptr<Learner>& learner) {
  guard_actor(self);
  std::uint64_t id = request->request_id;
  auto answer = std::make_shared<const Answerer>(state);
  self->request(session, budget, std::move(*request))
      .then(
          [=](RunStepResult& result) {
            if (learner && result.direct)
              learner->steps->learn_for_all(std::move(learner->signature),
                                            std::move(result.direct));
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

} // namespace

template <class Make>
Result<RunStepResult> Session::Impl::ask_master(Make make, bool only_once,
                                                std::chrono::nanoseconds budget,
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
  auto out = master_has_ended.load(std::memory_order_relaxed) ? ask_once(actor) : ask_once(master);
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
    return moved_from_session();
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
  if (Status status =
          impl_ ? check_options(options, impl_->num_thread_pools) : moved_from_session();
      !status.ok()) {
    state->answer(status);
    return PendingRun(state);
  }
  DirectRequest step;
  step.named_feeds = feeds;
  step.fetches = fetches;
  step.targets = targets;
  step.timeout_us = limit_us(options.timeout_ms, impl_->timeouts.step.count());
  step.only_short = true;
  step.may_compute = false;
  DirectOutcome direct;
  if (impl_->direct && may_run_directly(options))
    direct = impl_->direct->run(step);
  if (direct.values) {
    state->answer(*std::move(direct.values));
    return PendingRun(state);
  }
  std::shared_ptr<Learner> learner;
  if (direct.is_new)
    learner = std::make_shared<Learner>(Learner{impl_->direct, StepSignature::of(step)});
  auto request = std::make_shared<RunStep>();
  if (direct.begun) { // it waits, is expensive, or has failed
    request->timeout_us = step.timeout_us;
    request->begun = std::move(direct.begun);
  } else {
    *request = make_run(feeds, fetches, targets, options, impl_->timeouts);
    request->wants_direct = direct.is_new;
  }
  feeds.clear(); // the step alone has them now
  request->request_id = random_id();
  CourierActor actor = impl_->system().spawn(courier, impl_->actor, request,
                                             caf::timespan(impl_->step_budget(options.timeout_ms)),
                                             state, fetches.size(), learner);
  std::scoped_lock guard(state->lock);
  if (!state->outcome)
    state->ask_to_cancel = [actor] { caf::anon_send(actor, caf::tick_atom::value); };
  return PendingRun(state);
}

Result<std::string> Session::partial_run_setup(const std::vector<std::string>& feeds,
                                               const std::vector<std::string>& fetches,
                                               const std::vector<std::string>& targets) {
  if (!impl_)
    return moved_from_session();
  TROUPE_ASSIGN(PartialRunSetUp made,
                impl_->ask<PartialRunSetUp>(SetUpPartialRun{feeds, fetches, targets},
                                            impl_->timeouts.request, "PartialRunSetup"));
  return std::move(made.handle);
}

Result<std::vector<Tensor>> Session::partial_run(const std::string& handle, const Feeds& feeds,
                                                 const std::vector<std::string>& fetches,
                                                 const RunOptions& options) {
  if (!impl_)
    return moved_from_session();
  TROUPE_TRY(check_options(options, impl_->num_thread_pools));
  auto request = std::make_shared<RunStep>(
      make_run(feeds, fetches, {}, {.timeout_ms = options.timeout_ms}, impl_->timeouts));
  request->partial_run_handle = handle;
  request->request_id = random_id();
  // Not on this thread: it would go on with the rest of the step before it looks at the answer.
  auto state = std::make_shared<PendingRun::State>();
  impl_->system().spawn(courier, impl_->actor, request,
                        caf::timespan(impl_->step_budget(options.timeout_ms)), state,
                        fetches.size(), std::shared_ptr<Learner>());
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
    return moved_from_session();
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

} // namespace troupe
