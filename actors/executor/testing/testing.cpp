#include "actors/executor/testing/testing.hpp"

#include <new>

#include "core/base/strings.hpp"
#include "devices/memory/caching_allocator.hpp"
#include "graph/ir/text.hpp"
#include "graph/op/test_roles.hpp"

namespace troupe {
void register_math(OpLibrary& library);
}

namespace troupe::testing {

Status LocalRendezvous::send(const std::string& key, EdgeValue value) {
  Done done;
  {
    std::scoped_lock guard(lock_);
    if (!aborted_.ok())
      return aborted_;
    auto it = waiters_.find(key);
    if (it == waiters_.end() || it->second.empty()) {
      values_[key].push_back(std::move(value));
      return {};
    }
    done = std::move(it->second.front());
    it->second.pop_front();
  }
  done(std::move(value));
  return {};
}

void LocalRendezvous::recv(const std::string& key, Done done) {
  Result<EdgeValue> value = EdgeValue{};
  {
    std::scoped_lock guard(lock_);
    auto it = values_.find(key);
    if (!aborted_.ok()) {
      value = aborted_;
    } else if (it != values_.end() && !it->second.empty()) {
      value = std::move(it->second.front());
      it->second.pop_front();
    } else {
      waiters_[key].push_back(std::move(done));
      return;
    }
  }
  done(std::move(value));
}

BufferRef LocalRendezvous::memory_of(const std::string& task, std::uint64_t bytes) {
  std::scoped_lock guard(lock_);
  return memory[task].emplace_back(gives_memory ? Buffer::allocate(host_allocator(), bytes)
                                                : BufferRef{});
}

void LocalRendezvous::abort(const Status& why) {
  std::map<std::string, std::deque<Done>> waiters;
  {
    std::scoped_lock guard(lock_);
    if (aborted_.ok())
      aborted_ = why;
    waiters.swap(waiters_);
  }
  for (auto& [key, list] : waiters)
    for (Done& done : list)
      done(why);
}

std::size_t LocalRendezvous::num_waiting() {
  std::scoped_lock guard(lock_);
  std::size_t count = 0;
  for (auto& [key, list] : waiters_)
    count += list.size();
  return count;
}

namespace {

Status unreached(KernelContext&) {
  return internal("the executor does this op itself");
}

Status identity(KernelContext& c) {
  return c.set_output(0, c.take_input(0));
}

std::string key_of(KernelContext& c) {
  return str_cat(c.attrs().get_or<std::string>("tensor_name", ""), ";", c.frame_id, ":",
                 c.iteration);
}

struct Meeting {
  std::mutex lock;
  std::condition_variable met;
  int present = 0;
};

// Bounded, so that a step that runs them one after the other fails rather than hangs.
Status meet(KernelContext& c) {
  auto meeting = c.step().node_states->get<Meeting>("meeting", [] { return new Meeting; });
  std::unique_lock guard(meeting->lock);
  ++meeting->present;
  meeting->met.notify_all();
  if (!meeting->met.wait_for(guard, std::chrono::seconds(60),
                             [&] { return meeting->present >= 2; }))
    return deadline_exceeded("nobody came");
  return c.set_output(0, c.take_input(0));
}

void add_control_flow(OpLibrary& lib) {
  auto op = [&lib](std::string_view name, std::string_view in, std::string_view out,
                   std::string_view attrs) {
    auto builder = lib.op(name);
    builder.roles(test_roles(name));
    if (!in.empty())
      builder.input(in);
    if (!out.empty())
      builder.output(out);
    if (!attrs.empty())
      builder.attr(attrs);
    builder.not_differentiable("a test op").kernel_on_all_devices(unreached);
  };
  op("_Arg", "", "output: T", "T: type; index: int");
  op("_Retval", "input: T", "", "T: type; index: int");
  op("Const", "", "output: dtype", "value: tensor; dtype: type");
  op("NoOp", "", "", "");
  op("ControlTrigger", "", "", "");
  op("Identity", "input: T", "output: T", "T: type");
  op("LoopCond", "input: bool", "output: bool", "");
  op("Switch", "data: T; pred: bool", "output_false: T; output_true: T", "T: type");
  op("Merge", "inputs: N * T", "output: T; value_index: int32", "T: type; N: int >= 1");
  op("Enter", "data: T", "output: T",
     "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10");
  op("Exit", "data: T", "output: T", "T: type");
  op("NextIteration", "data: T", "output: T", "T: type");
}

// What the executor knows by their roles alone.
void add_invented(OpLibrary& lib) {
  auto op = [&lib](std::string_view name, RoleSet roles, std::string_view in, std::string_view out,
                   std::string_view attrs, KernelFn fn) {
    lib.op(name)
        .input(in)
        .output(out)
        .attr(attrs)
        .roles(roles)
        .not_differentiable("a test op")
        .kernel_on_all_devices(fn);
  };
  op("Fork", Role::branch, "data: T; which: bool", "no: T; yes: T", "T: type", unreached);
  op("Choose", Role::branch, "data: T; which: int64", "output: N * T", "T: type; N: int >= 1",
     [](KernelContext& c) {
       for (int i = 0; i < c.num_outputs(); ++i)
         if (i != c.input(1).value<std::int64_t>())
           c.set_output_dead(i);
       c.output_entry(static_cast<int>(c.input(1).value<std::int64_t>())) =
           std::move(c.input_entry(0));
       return Status{};
     });
  op("Join", Role::merge, "inputs: N * T", "output: T; value_index: int32", "T: type; N: int >= 1",
     unreached);
  op("Hand", Role::passes_on, "x: T", "y: T", "T: type", unreached);
  op("Begin", Role::enter, "data: T", "output: T",
     "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
     unreached);
  op("Again", Role::next_iteration, "data: T", "output: T", "T: type", unreached);
  op("Leave", Role::exit, "data: T", "output: T", "T: type", unreached);
  op("GoOn", {Role::loop_condition, Role::passes_on}, "input: bool", "output: bool", "", unreached);
}

void add_transfer(OpLibrary& lib) {
  lib.op("_Send")
      .roles(test_roles("_Send"))
      .input("tensor: T")
      .attr("T: type; tensor_name: string; send_device: string = ''; recv_device: string = ''")
      .stateful()
      .not_differentiable("a test op")
      .cpu_kernel([](KernelContext& c) {
        return c.rendezvous()->send(
            key_of(c), {c.is_input_dead ? Tensor{} : c.take_input(0), c.is_input_dead});
      });
  lib.op("_Recv")
      .roles(test_roles("_Recv"))
      .output("tensor: tensor_type")
      .attr("tensor_type: type; tensor_name: string")
      .stateful()
      .not_differentiable("a test op")
      .cpu_kernel_async([](KernelContext& c, KernelDone done) {
        c.rendezvous()->recv(key_of(c), [&c, done = std::move(done)](Result<EdgeValue> value) {
          if (value.ok() && !value->is_dead)
            c.output_entry(0).tensor = std::move(value->tensor);
          done(value.status());
        });
      });
}

void add_kernels(OpLibrary& lib) {
  auto unary = [&lib](std::string_view name, KernelFn fn, bool expensive = false) {
    KernelOptions options;
    options.expensive = expensive;
    lib.op(name)
        .input("x: T")
        .output("y: T")
        .attr("T: type")
        .not_differentiable("a test op")
        .cpu_kernel(fn, std::move(options));
  };
  unary("Fail", [](KernelContext&) { return invalid_argument("told to fail"); });
  unary("Exhaust", [](KernelContext&) { return resource_exhausted("no memory"); });
  unary("Throw", [](KernelContext&) -> Status { throw std::bad_alloc(); });
  unary("Unset", [](KernelContext&) { return Status{}; });
  unary("WrongType", [](KernelContext& c) {
    c.output_entry(0).tensor = Tensor::scalar("text");
    return Status{};
  });
  unary("Costly", identity, true);
  unary("Meet", meet, true);
  auto async = [&lib](std::string_view name, AsyncKernelFn fn) {
    lib.op(name)
        .input("x: T")
        .output("y: T")
        .attr("T: type")
        .not_differentiable("a test op")
        .cpu_kernel_async(fn);
  };
  async("AtOnce", [](KernelContext& c, KernelDone done) { done(identity(c)); });
  async("Elsewhere", [](KernelContext& c, KernelDone done) {
    c.device().compute().submit([&c, done = std::move(done)] { done(identity(c)); });
  });
}

void add_variables(OpLibrary& lib) {
  lib.op("Variable")
      .output("ref: Ref(dtype)")
      .attr("dtype: type")
      .stateful()
      .not_differentiable("a test op")
      .cpu_kernel([](KernelContext& c) {
        c.set_output_ref(
            0, c.node_state<Variable>([&] { return new Variable(remove_ref(c.output_type(0))); }));
        return Status{};
      });
  lib.op("Assign")
      .input("ref: Ref(T); value: T")
      .output("output_ref: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input()
      .not_differentiable("a test op")
      .cpu_kernel([](KernelContext& c) {
        c.input_ref(0)->assign(c.take_input(1));
        c.set_output_ref(0, c.input_ref(0));
        return Status{};
      });
  lib.op("Accumulate")
      .input("ref: Ref(T); value: T")
      .output("output_ref: Ref(T)")
      .attr("T: type")
      .not_differentiable("a test op")
      .cpu_kernel([](KernelContext& c) {
        c.set_output_ref(0, c.input_ref(0));
        std::int64_t amount = c.input(1).value<std::int64_t>();
        return c.input_ref(0)->update([amount](Tensor& value) {
          value.mutable_data<std::int64_t>()[0] += amount;
          return Status{};
        });
      });
}

} // namespace

const OpLibrary& library() {
  static const OpLibrary& instance = *[] {
    auto* lib = new OpLibrary;
    add_control_flow(*lib);
    add_invented(*lib);
    add_transfer(*lib);
    add_kernels(*lib);
    add_variables(*lib);
    register_math(*lib);
    return lib;
  }();
  return instance;
}

Rig::Rig(int threads) : host(threads) {
  device = std::move(make_cpu_devices(host, "/job:local/replica:0/task:0", 1)[0]);
}

Rig::~Rig() {
  host.compute.reset(); // kernels of steps given up may still be running
  mailbox_->completions.clear();
}

std::int64_t Rig::bytes_in_use() const {
  return dynamic_cast<const CachingAllocator&>(*host.allocator).stats().bytes_in_use;
}

Rig::Account::~Account() {
  TROUPE_CHECK(rig.bytes_in_use() == 0, str_cat("a step has kept ", rig.bytes_in_use(), " bytes"));
}

std::int64_t only(const Rig::Outcome& outcome) {
  TROUPE_CHECK(outcome.status.ok(), outcome.status.to_string());
  TROUPE_CHECK(outcome.retvals.size() == 1, str_cat(outcome.retvals.size(), " values for one"));
  return outcome.retvals[0].value<std::int64_t>();
}

Graph Rig::parse(std::string_view text) {
  auto graph = parse_graph(text, library().ops);
  TROUPE_CHECK(graph.ok(), graph.status().to_string());
  return *std::move(graph);
}

std::shared_ptr<const Executable> Rig::compile(std::string_view text) {
  auto executable = Executable::compile(parse(text), *device, library().kernels);
  TROUPE_CHECK(executable.ok(), executable.status().to_string());
  return *std::move(executable);
}

std::unique_ptr<StepRun> Rig::start(std::shared_ptr<const Executable> executable,
                                    std::vector<Tensor> args, bool trace) {
  // What the kernels of a step that was given up still look at.
  struct Kept {
    std::shared_ptr<Mailbox> mailbox;
    std::shared_ptr<StepEnvironment> environment;
    std::shared_ptr<LocalRendezvous> rendezvous;
    std::shared_ptr<Cancellation> cancellation;
  };
  cancellation = std::make_shared<Cancellation>();
  rendezvous = std::make_shared<LocalRendezvous>();
  cancellation->on_cancel(
      [to = rendezvous.get(), from = cancellation.get()] { to->abort(from->status()); });
  environment_ = std::make_shared<StepEnvironment>(*environment_);
  environment_->step_id = 7;
  environment_->device = device.get();
  environment_->rendezvous = rendezvous.get();
  environment_->cancellation = cancellation.get();
  environment_->node_states = &node_states;
  environment_->step_resources = &step_resources;
  StepHooks hooks;
  hooks.report_allocations = report_allocations;
  hooks.completed = [](void* mailbox, Completion completion) {
    auto& to = *static_cast<Mailbox*>(mailbox);
    std::scoped_lock guard(to.lock);
    to.completions.push_back(std::move(completion));
    to.arrived.notify_one();
  };
  auto kept = std::make_shared<Kept>(Kept{mailbox_, environment_, rendezvous, cancellation});
  hooks.keep_alive = std::shared_ptr<void>(kept, mailbox_.get());
  hooks.trace = trace;
  mailbox_->wants_turn = &wants_turn;
  hooks.wants_turn = [](const void* mailbox) {
    return *static_cast<const Mailbox*>(mailbox)->wants_turn;
  };
  return std::make_unique<StepRun>(std::move(executable), *environment_, std::move(hooks),
                                   std::move(args));
}

bool Rig::drain(StepRun& run, bool wait) {
  std::vector<Completion> arrived;
  {
    std::unique_lock guard(mailbox_->lock);
    if (wait)
      mailbox_->arrived.wait(guard, [&] { return !mailbox_->completions.empty(); });
    arrived.swap(mailbox_->completions);
  }
  completions_seen += arrived.size();
  for (const Completion& completion : arrived)
    run.complete(completion);
  return !arrived.empty();
}

bool Rig::advance(StepRun& run, Duration slice) {
  for (;;) {
    if (run.run(slice) == StepRun::Progress::finished)
      return true;
    if (!drain(run, false))
      return false;
  }
}

Status Rig::finish(StepRun& run) {
  for (;;) {
    auto progress = run.run();
    if (progress == StepRun::Progress::finished)
      return run.status();
    if (progress == StepRun::Progress::waiting)
      drain(run, true);
  }
}

Rig::Outcome Rig::run(const std::shared_ptr<const Executable>& executable,
                      std::vector<Tensor> args) {
  auto step = start(executable, std::move(args));
  Status status = finish(*step);
  return {status, std::move(step->retvals()), step->counters()};
}

} // namespace troupe::testing
