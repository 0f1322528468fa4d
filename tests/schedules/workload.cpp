#include "tests/schedules/workload.hpp"

#include <caf/event_based_actor.hpp>

#include "actors/session/session.hpp"
#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::testing {

namespace {

// A counter on the ps whose step comes over both workers; values that go to and fro between all
// three tasks; a loop whose body runs on another task; a large tensor.
constexpr auto graph_text = R"(
  counter = VarHandleOp[dtype=DT_INT64, shape=[], shared_name="counter"]() @"/job:ps/task:0"
  zero = Const[dtype=DT_INT64, value=i64[] 0]() @"/job:ps/task:0"
  init = AssignVariableOp(counter, zero) @"/job:ps/task:0"
  k = Placeholder[dtype=DT_INT64]() @"/job:worker/task:0"
  k0 = Neg(k) @"/job:worker/task:0"
  k1 = Neg(k0) @"/job:worker/task:1"
  bump = AssignAddVariableOp(counter, k1) @"/job:ps/task:0"
  count = ReadVariableOp[dtype=DT_INT64](counter) @"/job:ps/task:0"

  x = Placeholder[dtype=DT_FLOAT]() @"/job:worker/task:0"
  a = AddV2(x, x) @"/job:worker/task:0"
  b = Neg(a) @"/job:worker/task:1"
  c = Mul(b, a) @"/job:worker/task:0"
  d = AddV2(c, b) @"/job:worker/task:1"
  e = AddV2(d, c) @"/job:ps/task:0"

  n = Placeholder[dtype=DT_INT64]() @"/job:worker/task:1"
  first = Const[dtype=DT_INT64, value=i64[] 0]() @"/job:worker/task:1"
  three = Const[dtype=DT_INT64, value=i64[] 3]() @"/job:worker/task:1"
  one = Const[dtype=DT_INT64, value=i64[] 1]() @"/job:worker/task:1"
  i_in = Enter[frame_name="w", parallel_iterations=3](first) @"/job:worker/task:1"
  v_in = Enter[frame_name="w", parallel_iterations=3](three) @"/job:worker/task:1"
  n_in = Enter[frame_name="w", is_constant=true, parallel_iterations=3](n) @"/job:worker/task:1"
  one_in = Enter[frame_name="w", is_constant=true, parallel_iterations=3](one) @"/job:worker/task:1"
  i = Merge(i_in, i_next) @"/job:worker/task:1"
  v = Merge(v_in, v_next) @"/job:worker/task:1"
  less = Less(i, n_in) @"/job:worker/task:1"
  cond = LoopCond(less) @"/job:worker/task:1"
  i_switch = Switch(i, cond) @"/job:worker/task:1"
  v_switch = Switch(v, cond) @"/job:worker/task:1"
  i_body = Identity(i_switch:1) @"/job:worker/task:1"
  v_body = Identity(v_switch:1) @"/job:worker/task:1"
  i_plus = AddV2(i_body, one_in) @"/job:worker/task:1"
  doubled = AddV2(v_body, v_body) @"/job:worker/task:0"
  i_next = NextIteration(i_plus) @"/job:worker/task:1"
  v_next = NextIteration(doubled) @"/job:worker/task:1"
  v_out = Exit(v_switch:0) @"/job:worker/task:1"

  big = Placeholder[dtype=DT_FLOAT]() @"/job:ps/task:0"
  big_sent = Neg(big) @"/job:ps/task:0"
  big_back = Neg(big_sent) @"/job:worker/task:1"

  r = Placeholder[dtype=DT_FLOAT]() @"/job:ps/task:0"
  r0 = Neg(r) @"/job:worker/task:0"
  r1 = AddV2(r, r) @"/job:worker/task:1"
  s = CollectiveReduce[group_size=3, group_key=1, instance_key=1, merge_op="Add", final_op="Id", subdiv_offsets=[0]](r) @"/job:ps/task:0"
  s0 = CollectiveReduce[group_size=3, group_key=1, instance_key=1, merge_op="Add", final_op="Id", subdiv_offsets=[0]](r0) @"/job:worker/task:0"
  s1 = CollectiveReduce[group_size=3, group_key=1, instance_key=1, merge_op="Add", final_op="Id", subdiv_offsets=[0]](r1) @"/job:worker/task:1"
)";
constexpr auto extension_text = R"(
  extra = Neg(e) @"/job:worker/task:1"
)";

// The graph, and what it is extended with.
struct Graphs {
  std::string base, extension;
  Graphs() {
    auto graph = parse_graph(graph_text, op_library().ops);
    TROUPE_CHECK(graph.ok(), graph.status().to_string());
    base = export_graph(*graph);
    NodeId first = static_cast<NodeId>(graph->capacity());
    Status extended = parse_into(extension_text, *graph);
    TROUPE_CHECK(extended.ok(), extended.to_string());
    extension = export_graph(*graph, ExportOptions{false, false, first});
  }
};
const Graphs& graphs() {
  static const Graphs all;
  return all;
}

constexpr const char* master_task = "worker/0";

Status expect(bool right, std::string_view what) {
  return right ? Status{} : internal(str_cat("a step gave a wrong value: ", what));
}

template <class T>
Status expect_scalar(RunStepResult& result, T wanted) {
  if (result.tensors.size() != 1 || !result.tensors[0].tensor.has_value())
    return internal("a step gave no value");
  T got = result.tensors[0].tensor.template value<T>();
  return expect(got == wanted, str_cat(got, " instead of ", wanted));
}

bool is_loss(const Status& status) {
  return status.code() == Code::unavailable || status.code() == Code::aborted ||
         status.code() == Code::failed_precondition;
}

} // namespace

Workload::Workload(FaultCluster& cluster) : cluster_(cluster) {
  driver_ = cluster.client().system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
    return {[this, self](std::uint64_t index) {
      auto request = requests_.extract(index);
      if (!request.empty())
        request.mapped()(self);
    }};
  });
}

Workload::~Workload() {
  caf::anon_send_exit(driver_, caf::exit_reason::kill);
  drop_session();
}

Workload::History& Workload::history() {
  FaultNode* ps = cluster_.find("ps/0");
  return histories_[ps ? ps->services->incarnation : 0];
}
std::int64_t Workload::least() const {
  FaultNode* ps = cluster_.find("ps/0");
  auto it = histories_.find(ps ? ps->services->incarnation : 0);
  return it == histories_.end() || it->second.init_attempts > 1 ? 0 : it->second.acknowledged;
}
std::int64_t Workload::most() const {
  FaultNode* ps = cluster_.find("ps/0");
  auto it = histories_.find(ps ? ps->services->incarnation : 0);
  return it == histories_.end() ? 0 : it->second.attempted;
}

template <class Answer, class Handle, class Message>
void Workload::call(std::string what, const Handle& peer, Message message,
                    std::function<Status(Answer&)> check, caf::duration budget) {
  std::size_t index = calls_.size();
  calls_.push_back({std::move(what), cluster_.now(), {}, 0, {}});
  ++open_calls_;
  requests_[index] = [=, this](caf::event_based_actor* self) {
    self->request(peer, budget, message)
        .then([=, this](Answer& answer) { answered(index, check(answer)); },
              [=, this](caf::error& error) {
                Status status = to_status(error, "the session");
                answered(index, status);
              });
  };
  caf::anon_send(driver_, std::uint64_t{index});
}

void Workload::answered(std::size_t index, Status status) {
  Call& call = calls_[index];
  cluster_.note(str_cat("client: ", call.what, ": ", status.to_string()));
  if (++call.answers == 1)
    --open_calls_;
  call.answered = cluster_.now();
  call.status = status;
  if (is_loss(status) || (call.what == "open" && !status.ok()))
    broken_ = true;
  // Whoever closes a session is done with it, also where the close is answered with a loss.
  if (call.what == "close")
    drop_session();
  SimTime pause(cluster_.pick(3) == 0 ? cluster_.pick(60000) : 0);
  if (call.what == "open" && !status.ok())
    pause = std::chrono::milliseconds(250);
  if (open_calls_ == 0)
    later(pause);
}

void Workload::later(SimTime pause) {
  if (std::exchange(waiting_, true))
    return;
  cluster_.at(cluster_.now() + pause, [this] {
    waiting_ = false;
    next();
  });
}

void Workload::start(int actions) {
  static constexpr Action random_actions[] = {
      Action::bump,     Action::bumps,  Action::bumps,  Action::exchange, Action::exchange,
      Action::loop,     Action::big,    Action::mixed,  Action::mixed,    Action::callable,
      Action::reduce,   Action::reduce, Action::extend, Action::cancel,   Action::devices,
      Action::deadline, Action::explain};
  for (int i = 0; i < actions; ++i)
    script_.push_back(random_actions[cluster_.pick(std::size(random_actions))]);
  script_.push_back(Action::init);
  script_.push_back(Action::open);
  later(SimTime(0));
}

void Workload::start_check() {
  checking_ = true;
  failed_opens_ = 0;
  counter_value_ = -1;
  script_ = {Action::read, Action::reduce,   Action::bump, Action::big,
             Action::loop, Action::exchange, Action::init, Action::open};
  later(SimTime(0));
}

void Workload::start_session() {
  failed_opens_ = 0;
  script_ = {Action::open};
  later(SimTime(0));
}

void Workload::start_step() {
  exchange(1);
}

void Workload::finish() {
  script_ = {cluster_.pick(3) == 0 ? Action::abandon : Action::close};
  later(SimTime(0));
}

void Workload::drop_session() {
  if (session_)
    caf::anon_send_exit(session_, caf::exit_reason::user_shutdown);
  session_ = SessionActor{};
  broken_ = extended_ = false;
}

void Workload::next() {
  if (open_calls_ > 0 || script_.empty())
    return;
  Action action = script_.back();
  bool needs_session =
      action != Action::open && action != Action::close && action != Action::abandon;
  if (needs_session && (!session_ || broken_)) {
    // A broken session refuses at once and for good; that is tried before a new one is made.
    if (session_ && !checking_ && cluster_.pick(2) == 0) {
      script_.push_back(Action::init);
      script_.push_back(Action::open);
      script_.push_back(cluster_.pick(2) == 0 ? Action::close : Action::abandon);
      broken_ = false;
      exchange(1);
      return;
    }
    script_.push_back(Action::init);
    script_.push_back(Action::open);
    script_.push_back(cluster_.pick(2) == 0 ? Action::close : Action::abandon);
    return next();
  }
  script_.pop_back();
  perform(action);
  if (open_calls_ == 0)
    later(SimTime(0));
}

void Workload::open() {
  drop_session();
  FaultNode& client = cluster_.client();
  auto address = cluster_.cluster().address_of(long_task_name(master_task));
  auto guardian = client.guardians.find(address->to_string());
  if (guardian == client.guardians.end()) {
    if (++failed_opens_ < 200) {
      script_.push_back(Action::open);
      later(std::chrono::milliseconds(100));
    } else {
      script_.clear();
    }
    return;
  }
  session_ =
      client.system.spawn(session, Services(client.services), MasterActor{}, client.transport);
  OpenSession request;
  request.guardian = typed<GuardianActor>(guardian->second);
  request.master = *address;
  request.request.graph_def = graphs().base;
  call<SessionCreated>("open", session_, std::move(request),
                       [](SessionCreated&) { return Status{}; });
}

void Workload::step(std::string what, RunStep run, std::function<Status(RunStepResult&)> check) {
  call<RunStepResult>(std::move(what), session_, std::move(run), std::move(check));
}

void Workload::bump() {
  History& past = history();
  ++past.attempted;
  RunStep run;
  run.feeds.emplace_back("k", WireTensor(Tensor::scalar<std::int64_t>(1)));
  run.targets = {"bump"};
  step("bump", std::move(run), [&past](RunStepResult&) {
    ++past.acknowledged;
    return Status{};
  });
}

void Workload::exchange(float x) {
  RunStep run;
  run.feeds.emplace_back("x", WireTensor(Tensor::scalar(x)));
  run.fetches = {"e"};
  step("exchange", std::move(run),
       [x](RunStepResult& r) { return expect_scalar<float>(r, -8 * x * x - 2 * x); });
}

void Workload::loop(std::int64_t rounds) {
  RunStep run;
  run.feeds.emplace_back("n", WireTensor(Tensor::scalar(rounds)));
  run.fetches = {"v_out"};
  step("loop", std::move(run),
       [rounds](RunStepResult& r) { return expect_scalar<std::int64_t>(r, 3ll << rounds); });
}

void Workload::big(std::size_t elements) {
  Tensor tensor = Tensor::make(DType::float32, {static_cast<std::int64_t>(elements)});
  for (float& value : tensor.mutable_data<float>())
    value = 5;
  RunStep run;
  run.feeds.emplace_back("big", WireTensor(tensor));
  run.fetches = {"big_back"};
  step("big", std::move(run), [elements](RunStepResult& r) {
    if (r.tensors.size() != 1 || !r.tensors[0].tensor.has_value())
      return internal("a step gave no value");
    auto data = r.tensors[0].tensor.data<float>();
    return expect(data.size() == elements && data.front() == 5 && data.back() == 5, "big");
  });
}

void Workload::reduce(std::size_t elements) {
  Tensor tensor = Tensor::make(DType::float32, {static_cast<std::int64_t>(elements)});
  for (float& value : tensor.mutable_data<float>())
    value = 3;
  RunStep run;
  run.feeds.emplace_back("r", WireTensor(tensor));
  run.fetches = {"s", "s0", "s1"};
  step("reduce", std::move(run), [elements](RunStepResult& r) {
    if (r.tensors.size() != 3)
      return internal("a step gave no values");
    for (const WireTensor& got : r.tensors) {
      if (!got.tensor.has_value())
        return internal("a step gave no value");
      auto data = got.tensor.data<float>();
      TROUPE_TRY(
          expect(data.size() == elements && data.front() == 6 && data.back() == 6, "reduce"));
    }
    return Status{};
  });
}

// Made, run twice at once, released: each when the one before is answered.
void Workload::callable() {
  MakeCallable make;
  make.feeds = {"x"};
  make.fetches = {"e"};
  SessionActor session = session_;
  call<CallableMade>("make callable", session, std::move(make), [=, this](CallableMade& made) {
    std::uint64_t handle = made.handle;
    for (float x : {1.0f, 2.0f}) {
      RunCallable run;
      run.handle = handle;
      run.feeds.emplace_back(Tensor::scalar(x));
      call<RunStepResult>("run callable", session, std::move(run), [=, this](RunStepResult& r) {
        if (x == 2)
          call<caf::ok_atom>("release callable", session, ReleaseCallable{handle},
                             [](caf::ok_atom&) { return Status{}; });
        return expect_scalar<float>(r, -8 * x * x - 2 * x);
      });
    }
    return Status{};
  });
}

// Asked of the guardian itself, which may be killed with the question: then nobody answers but the
// connection's end.
void Workload::node_status(const std::string& task) {
  auto address = cluster_.cluster().address_of(long_task_name(task));
  auto& guardians = cluster_.client().guardians;
  auto guardian = guardians.find(address->to_string());
  if (guardian == guardians.end())
    return;
  call<NodeStatus>(
      str_cat("status of ", task), caf::actor_cast<GuardianActor>(guardian->second),
      GetNodeStatus{},
      [task](NodeStatus& status) {
        return expect(status.task == long_task_name(task), "a node's own name");
      },
      caf::duration(std::chrono::seconds(10)));
}

void Workload::perform(Action action) {
  switch (action) {
  case Action::open:
    return open();
  case Action::init: {
    History& past = history();
    if (past.initialised)
      return;
    ++past.init_attempts; // one that was not acknowledged may still happen, after the next one
    RunStep run;
    run.targets = {"init"};
    return step("init", std::move(run), [&past](RunStepResult&) {
      past.initialised = true;
      return Status{};
    });
  }
  case Action::bump:
    return bump();
  case Action::bumps:
    for (std::uint64_t n = 2 + cluster_.pick(3); n > 0; --n)
      bump();
    return;
  case Action::exchange:
    return exchange(static_cast<float>(1 + cluster_.pick(9)));
  case Action::loop:
    return loop(static_cast<std::int64_t>(cluster_.pick(6)));
  case Action::reduce:
    return reduce(cluster_.pick(2) == 0 ? 1 + cluster_.pick(50) : 20000 + cluster_.pick(20000));
  case Action::big:
    return big(cluster_.pick(8) == 0 ? 600000 : 20000 + cluster_.pick(20000));
  case Action::mixed:
    bump();
    exchange(3);
    loop(3);
    if (cluster_.pick(2))
      big(18000);
    return;
  case Action::callable:
    return callable();
  case Action::extend: {
    if (std::exchange(extended_, true))
      return;
    exchange(2); // a step under way keeps the graph that it saw
    return call<GraphExtended>("extend", session_, ExtendGraph{graphs().extension, -1},
                               [this](GraphExtended&) {
                                 RunStep run;
                                 run.feeds.emplace_back("x", WireTensor(Tensor::scalar(1.0f)));
                                 run.fetches = {"extra"};
                                 step("extra", std::move(run),
                                      [](RunStepResult& r) { return expect_scalar<float>(r, 10); });
                                 return Status{};
                               });
  }
  case Action::explain: {
    ExplainGraph explain;
    explain.feeds = {"x"};
    explain.fetches = {"e"};
    return call<GraphExplained>("explain", session_, std::move(explain), [](GraphExplained& x) {
      return expect(x.partitions.size() == 3, "explain names three tasks");
    });
  }
  case Action::cancel: {
    RunStep run;
    run.request_id = 1 + cluster_.pick(1000000);
    run.feeds.emplace_back("n", WireTensor(Tensor::scalar<std::int64_t>(20)));
    run.fetches = {"v_out"};
    std::uint64_t id = run.request_id;
    step("to be cancelled", std::move(run), [](RunStepResult&) { return Status{}; });
    SessionActor session = session_;
    cluster_.at(cluster_.now() + SimTime(cluster_.pick(12000)),
                [=] { caf::anon_send(session, CancelRun{id}); });
    return;
  }
  case Action::devices:
    call<DeviceList>("list devices", session_, ListDevices{}, [](DeviceList& list) {
      return expect(list.devices.size() == 3, "three devices");
    });
    for (const char* task : {"ps/0", "worker/0", "worker/1"})
      node_status(task);
    return call<StepList>("list steps", session_, GetSteps{}, [](StepList&) { return Status{}; });
  case Action::deadline: {
    RunStep run;
    run.timeout_us = static_cast<std::int64_t>(1000 + cluster_.pick(15000));
    run.feeds.emplace_back("n", WireTensor(Tensor::scalar<std::int64_t>(20)));
    run.fetches = {"v_out"};
    return step("with a deadline", std::move(run), [](RunStepResult&) { return Status{}; });
  }
  case Action::read: {
    RunStep run;
    run.fetches = {"count"};
    return step("read", std::move(run), [this](RunStepResult& r) {
      counter_value_ = r.tensors.at(0).tensor.value<std::int64_t>();
      return Status{};
    });
  }
  case Action::close:
    if (!session_)
      return;
    return call<caf::ok_atom>("close", session_, CloseSession{},
                              [](caf::ok_atom&) { return Status{}; });
  case Action::abandon:
    return drop_session();
  }
}

} // namespace troupe::testing
