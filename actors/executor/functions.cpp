#include "actors/executor/functions.hpp"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "actors/executor/executable.hpp"
#include "actors/executor/step_run.hpp"
#include "actors/family/constant_evaluator.hpp"
#include "core/base/clock.hpp"
#include "core/base/device_name.hpp"
#include "core/base/node_mark.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/functions/body.hpp"
#include "graph/functions/needed.hpp"
#include "graph/passes/optimize.hpp"

namespace troupe {

namespace {

/// Nested function calls run on one thread up to this depth; deeper ones go to another thread, to
/// bound the stack.
constexpr int max_nested_calls = 16;
thread_local int t_nested_calls = 0;
/// Whether this is a compute thread, not a thread that runs actors.
thread_local bool t_may_compute = false;

template <class T>
class Restored {
public:
  Restored(T& variable, T value) : variable_(variable), before_(std::exchange(variable, value)) {}
  ~Restored() { variable_ = before_; }
  Restored(const Restored&) = delete;

private:
  T& variable_;
  T before_;
};

class CompiledFunction;

class GraphFunctions final : public Functions {
public:
  explicit GraphFunctions(FunctionsOrigin origin) : origin_(std::move(origin)) {}

  Result<std::shared_ptr<const Function>> find(const FunctionRef& function) override;
  Result<std::shared_ptr<Functions>> on(std::string_view device) override;
  Result<std::vector<std::string>> takers_of_arguments(const FunctionRef& function) override;
  Result<std::string> write_graph(const std::vector<WrittenNode>& nodes) override;
  Result<std::shared_ptr<const Function>> read_graph(std::string_view graph_def) override;
  void submit(std::function<void()> work) override;
  int threads() const override { return threads_; }

  const FunctionsOrigin& origin() const { return origin_; }

private:
  Result<FunctionGraph> body_of(const FunctionRef& function) const;
  Status add_takers(const FunctionRef& function, std::set<std::string>& seen,
                    std::vector<std::string>& out) const;
  Result<std::unique_ptr<CompiledFunction>> compile(const std::string& name, FunctionGraph body);

  const FunctionsOrigin origin_;
  const int threads_ = origin_.device->compute().threads();
  std::mutex lock_; // held while one is compiled, which waits for nothing
  std::map<std::string, std::deque<std::pair<AttrMap, std::unique_ptr<CompiledFunction>>>>
      compiled_;
  std::map<Device*, std::shared_ptr<GraphFunctions>> elsewhere_;
  std::unique_ptr<CompiledFunction> graph_; // that was read, of whoever was made for it
};

class FunctionRun;

class CompiledFunction final : public Function {
public:
  CompiledFunction(GraphFunctions& owner, std::string name, std::string stateful_op,
                   std::vector<DType> args, std::vector<DType> results,
                   std::shared_ptr<const Executable> executable)
      : owner_(owner), name_(std::move(name)), stateful_op_(std::move(stateful_op)),
        args_(std::move(args)), results_(std::move(results)), executable_(std::move(executable)) {}

  const std::string& name() const override { return name_; }
  const std::vector<DType>& arg_types() const override { return args_; }
  const std::vector<DType>& result_types() const override { return results_; }
  const std::string& stateful_op() const override { return stateful_op_; }
  void call(FunctionCall call, FunctionDone done) const override;
  std::string activity() const override;

  GraphFunctions& owner() const { return owner_; }
  const std::shared_ptr<const Executable>& executable() const { return executable_; }
  void began(FunctionRun* run) const {
    std::scoped_lock guard(lock_);
    running_.insert(run);
  }
  void ended(FunctionRun* run) const {
    std::scoped_lock guard(lock_);
    running_.erase(run);
  }

private:
  Status check(const FunctionCall& call) const;

  GraphFunctions& owner_; // whose pointer is held by whoever holds ours
  const std::string name_, stateful_op_;
  const std::vector<DType> args_, results_;
  const std::shared_ptr<const Executable> executable_;
  const std::shared_ptr<NodeStates> states_ = std::make_shared<NodeStates>();
  mutable std::mutex lock_;
  mutable std::set<FunctionRun*> running_;
};

/// One call. Whoever brings it forward has it alone:
///
///   resting ──begin, or a kernel has ended──▶ running ──nothing ready──▶ resting … ──▶ over
///
/// A kernel that ends while it rests makes somebody go on; one that ends while it runs is taken
/// along.
class FunctionRun : public std::enable_shared_from_this<FunctionRun> {
public:
  FunctionRun(const CompiledFunction& function, FunctionCall call, FunctionDone done,
              std::shared_ptr<const void> home, std::shared_ptr<const NodeServices> services)
      : functions_(function.owner().shared_from_this()), function_(function),
        home_(std::move(home)), slice_(services->threads->slice()), states_(std::move(call.states)),
        caller_(call.cancellation), done_(std::move(done)) {
    step_.step_id = call.step_id;
    step_.device = function.owner().origin().device;
    step_.cancellation = &cancellation_;
    step_.node_states = states_.get();
    step_.step_resources = &resources_;
    step_.functions = &function.owner();
    step_.call_depth = call.depth;
    args_ = std::move(call.args);
  }

  void begin() {
    auto self = shared_from_this();
    function_.began(this);
    if (caller_) {
      token_ = caller_->on_cancel([self] { self->cancel(self->caller_->status()); });
      if (token_ == 0)
        cancellation_.cancel(caller_->status());
    }
    run_.emplace(function_.executable(), step_, StepHooks{completed, self, false, nullptr},
                 std::move(args_));
    if (t_nested_calls >= max_nested_calls)
      return go_on_elsewhere();
    Restored nested(t_nested_calls, t_nested_calls + 1);
    advance(t_may_compute);
  }

  /// Of a run that computes or waits; empty if that has just begun.
  std::string activity() {
    std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard.owns_lock() || is_running_ || !run_)
      return {};
    const DeviceRecord record = run_->record(20);
    for (const NodeRecord& node : record.nodes)
      if (node.state == NodeRecord::State::running)
        return str_cat("node '", node.node, "' (", node.op, ")",
                       node.waits_for.empty() ? "" : " waits for ", node.waits_for);
    return {};
  }

private:
  static void completed(void* self, Completion completion) {
    static_cast<FunctionRun*>(self)->arrive(std::move(completion));
  }

  void arrive(Completion completion) {
    {
      std::scoped_lock guard(lock_);
      if (is_over_)
        return; // nobody is left to take it
      arrived_.push_back(std::move(completion));
      if (is_running_)
        return;
      is_running_ = true;
    }
    go_on_elsewhere();
  }

  void cancel(const Status& why) { cancellation_.cancel(why.as_derived()); }

  void go_on_elsewhere() {
    functions_->submit([self = shared_from_this()] { self->advance(true); });
  }

  // Requires is_running_.
  void advance(bool may_compute) {
    for (;;) {
      std::vector<Completion> arrived;
      {
        std::scoped_lock guard(lock_);
        arrived.swap(arrived_);
      }
      for (const Completion& completion : arrived)
        run_->complete(completion);
      arrived.clear();
      if (cancellation_.is_cancelled())
        run_->cancel(cancellation_.status());
      switch (run_->run(slice_, may_compute)) {
      case StepRun::Progress::finished:
        return finish();
      case StepRun::Progress::yielded:
        return go_on_elsewhere(); // behind what waits there
      case StepRun::Progress::waiting:
        std::scoped_lock guard(lock_);
        if (!arrived_.empty())
          break;
        is_running_ = false;
        return;
      }
    }
  }

  void finish() {
    function_.ended(this);
    if (token_ != 0)
      caller_->forget(token_);
    Result<Tensors> out = outcome();
    std::vector<Completion> late; // they hold the memory that holds us
    {
      std::scoped_lock guard(lock_);
      is_over_ = true;
      late.swap(arrived_);
      run_.reset();
    }
    late.clear();
    std::exchange(done_, nullptr)(std::move(out));
  }

  Result<Tensors> outcome() {
    const Status& status = run_->status();
    if (status.ok())
      return std::move(run_->retvals());
    if (status.derived())
      return status;
    const Origin& at = status.origin();
    std::string text = str_cat("{{function_node ", function_.name(), "}} ", status.message());
    if (!at.node.empty())
      text = naming_node(text, at.node);
    return Status(status.code(), std::move(text));
  }

  std::shared_ptr<Functions> functions_; // keeps the function
  const CompiledFunction& function_;
  std::shared_ptr<const void> home_;
  const Duration slice_;
  std::shared_ptr<NodeStates> states_;
  Cancellation* caller_;
  Cancellation::Token token_ = 0;
  FunctionDone done_;
  Cancellation cancellation_;
  ResourceManager resources_;
  StepEnvironment step_;
  Tensors args_;
  std::mutex lock_;
  bool is_running_ = true; // from birth: `begin` is the first to bring it forward
  bool is_over_ = false;
  std::vector<Completion> arrived_;
  std::optional<StepRun> run_;
};

Status CompiledFunction::check(const FunctionCall& call) const {
  if (call.depth > max_call_depth)
    return resource_exhausted(str_cat("Function '", name_, "' is called within ", max_call_depth,
                                      " calls that have not ended; give its recursion an end, or "
                                      "make it a loop"));
  if (call.args.size() != args_.size())
    return invalid_argument(str_cat("Expects ", args_.size(), " arguments, but ", call.args.size(),
                                    " is provided to function ", name_));
  for (std::size_t i = 0; i < args_.size(); ++i)
    if (call.args[i].dtype() != args_[i])
      return invalid_argument(str_cat("Expects arg[", i, "] to be ", to_string(args_[i]), " but ",
                                      to_string(call.args[i].dtype()), " is provided to function ",
                                      name_));
  return {};
}

void CompiledFunction::call(FunctionCall call, FunctionDone done) const {
  if (Status status = check(call); !status.ok())
    return done(std::move(status));
  const FunctionsOrigin& origin = owner_.origin();
  auto home = origin.home.lock();
  auto services = origin.services.lock();
  if (!home || !services)
    return done(cancelled(
        str_cat("the session or the node whose function '", name_, "' was to run has ended")));
  if (!call.states)
    call.states = states_;
  std::make_shared<FunctionRun>(*this, std::move(call), std::move(done), std::move(home),
                                std::move(services))
      ->begin();
}

std::string CompiledFunction::activity() const {
  std::scoped_lock guard(lock_);
  for (FunctionRun* run : running_)
    if (std::string text = run->activity(); !text.empty())
      return str_cat(text, " in function '", name_, "'");
  return {};
}

Result<std::shared_ptr<const Function>> GraphFunctions::find(const FunctionRef& function) {
  const AttrMap attrs = function.attrs ? *function.attrs : AttrMap();
  std::scoped_lock guard(lock_);
  auto& known = compiled_[function.name];
  auto at =
      std::ranges::find(known, attrs, [](const auto& one) -> const AttrMap& { return one.first; });
  if (at == known.end()) {
    auto body = body_of(function);
    auto made = body.ok() ? compile(function.name, *std::move(body)) : body.status();
    if (!made.ok())
      return made.status().with_context(str_cat("Function '", function.name, "'"));
    known.emplace_back(attrs, *std::move(made));
    at = std::prev(known.end());
  }
  return std::shared_ptr<const Function>(shared_from_this(), at->second.get());
}

Result<std::shared_ptr<Functions>> GraphFunctions::on(std::string_view device) {
  TROUPE_ASSIGN(DeviceName name, DeviceName::parse(device));
  const DeviceName& own = origin_.device->parsed_name();
  if ((name.job && name.job != own.job) || (name.task && name.task != own.task) ||
      (name.replica && name.replica != own.replica))
    return unimplemented(str_cat("a function is to be called on ", device, " from ",
                                 origin_.device->name(),
                                 ", and the graph computes that name; make it a constant where it "
                                 "is another task's"));
  name = {own.job, own.replica, own.task, name.type ? name.type : own.type,
          name.id ? name.id : own.id};
  Device* found = origin_.device_named ? origin_.device_named(name.to_string()) : nullptr;
  if (found == origin_.device)
    return std::static_pointer_cast<Functions>(shared_from_this());
  if (!found)
    return invalid_argument(str_cat(device, " is none of the devices of this task"));
  std::scoped_lock guard(lock_);
  auto& there = elsewhere_[found];
  if (!there) {
    FunctionsOrigin origin = origin_;
    origin.device = found;
    there = std::make_shared<GraphFunctions>(std::move(origin));
  }
  return std::static_pointer_cast<Functions>(there);
}

void GraphFunctions::submit(std::function<void()> work) {
  auto home = origin_.home.lock();
  auto services = origin_.services.lock();
  if (!home || !services)
    return work();
  services->threads->run([home = std::move(home), work = std::move(work)]() mutable {
    Restored may_compute(t_may_compute, true);
    Restored nested(t_nested_calls, 0);
    work();
    work = nullptr; // before what it uses
  });
}

// A body stands on one device; it may ask for that one, or for none of another task.
Status check_devices(const Graph& graph, const Device& device) {
  for (const Node* node : graph.nodes()) {
    if (node->device.empty())
      continue;
    TROUPE_ASSIGN(const DeviceName asked, DeviceName::parse(node->device));
    const DeviceName& here = device.parsed_name();
    if ((asked.job && asked.job != here.job) || (asked.task && asked.task != here.task) ||
        (asked.replica && asked.replica != here.replica))
      return unimplemented(str_cat("node '", node->name, "' asks for ", node->device,
                                   ", and what runs the function is on ", device.name(),
                                   "; a function that is run for each element stays on one task"));
  }
  return {};
}

// What makes a dataset is called stateful so that it is not folded, and what only checks has no
// state.
std::string stateful_op_of(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const bool makes_dataset = node->output_types == std::vector<DType>{DType::variant};
    if (node->op->is_stateful && !makes_dataset &&
        !node->op->roles.has_any({Role::argument, Role::result, Role::check}))
      return node->op_name();
  }
  return {};
}

Status gone() {
  return cancelled("its session or its node has ended");
}

LowerOptions lower_options(const NodeServices& services) {
  LowerOptions out;
  out.memory = services.host_memory;
  return out;
}

Result<FunctionGraph> GraphFunctions::body_of(const FunctionRef& function) const {
  auto services = origin_.services.lock();
  if (!services)
    return gone();
  TROUPE_ASSIGN(
      FunctionGraph body,
      function_graph(function, origin_.library, services->library->ops, lower_options(*services)));
  body.graph.versions.producer = origin_.graph_version;
  return body;
}

Status GraphFunctions::add_takers(const FunctionRef& function, std::set<std::string>& seen,
                                  std::vector<std::string>& out) const {
  if (!seen.insert(function.name).second)
    return {};
  TROUPE_ASSIGN(const FunctionGraph body, body_of(function));
  for (const Node* node : body.graph.nodes()) {
    for (const Endpoint& input : node->inputs)
      if (body.graph.node(input.node)->op->roles.has(Role::argument)) {
        out.push_back(node->op_name());
        break;
      }
    std::vector<FunctionRef> named;
    for (const auto& [name, value] : node->attrs)
      append_functions(value, named);
    for (const FunctionRef& one : named)
      TROUPE_TRY(add_takers(one, seen, out));
  }
  return {};
}

Result<std::vector<std::string>> GraphFunctions::takers_of_arguments(const FunctionRef& function) {
  std::set<std::string> seen;
  std::vector<std::string> out;
  TROUPE_TRY(add_takers(function, seen, out));
  return out;
}

Result<std::string> GraphFunctions::write_graph(const std::vector<WrittenNode>& nodes) {
  auto services = origin_.services.lock();
  if (!services)
    return gone();
  Graph graph(services->library->ops);
  graph.functions = origin_.library;
  std::map<std::string_view, NodeId> ids;
  for (const WrittenNode& node : nodes) {
    std::vector<Endpoint> inputs;
    for (const std::string& name : node.inputs) {
      auto at = ids.find(name);
      if (at == ids.end())
        return invalid_argument(str_cat("node '", node.name, "' has the input '", name,
                                        "', which is no node before it"));
      inputs.push_back({at->second, 0});
    }
    TROUPE_ASSIGN(const Node* added, graph.add(node.name, node.op, std::move(inputs), node.attrs));
    ids.emplace(node.name, added->id);
  }
  graph.functions = needed_functions(graph);
  return write_graph_bytes(graph);
}

// The graph as the body of a function.
Result<FunctionGraph> as_body(Graph graph, const LowerOptions& options) {
  FunctionGraph out{std::move(graph), {}, {}, {}};
  for (const Node* node : out.graph.nodes())
    if (node->op_name().starts_with('_') && !node->op->roles.has(Role::result))
      return invalid_argument(str_cat("node '", node->name, "' has the op ", node->op_name(),
                                      ", which is the runtime's own"));
  TROUPE_TRY(lower_functions(out.graph, options));
  std::map<std::int64_t, DType> results;
  for (const Node* node : out.graph.nodes())
    if (node->op->roles.has(Role::result))
      results.emplace(node->attrs.get_or<std::int64_t>("index", -1),
                      remove_ref(node->input_types[0]));
  for (const auto& [index, type] : results) {
    if (index != static_cast<std::int64_t>(out.results.size()))
      return invalid_argument(str_cat("the graph has no _Retval of index ", out.results.size()));
    out.results.push_back(type);
  }
  return out;
}

Result<std::shared_ptr<const Function>> GraphFunctions::read_graph(std::string_view graph_def) {
  auto services = origin_.services.lock();
  if (!services)
    return gone();
  ImportOptions options;
  options.allow_internal_ops = true; // `as_body` looks at them
  options.ignore_unknown_attrs = true;
  options.limits = DecodeLimits::bounded_by(services->host_memory);
  TROUPE_ASSIGN(Graph graph, read_graph_bytes(graph_def, services->library->ops, options));
  auto all =
      std::make_shared<FunctionLibrary>(origin_.library ? *origin_.library : FunctionLibrary());
  if (graph.functions)
    TROUPE_TRY(all->merge(*graph.functions));
  graph.functions = all;
  FunctionsOrigin origin = origin_;
  origin.library = std::move(all);
  auto owner = std::make_shared<GraphFunctions>(std::move(origin));
  TROUPE_ASSIGN(FunctionGraph body, as_body(std::move(graph), lower_options(*services)));
  TROUPE_ASSIGN(owner->graph_, owner->compile("the graph that was read", std::move(body)));
  return std::shared_ptr<const Function>(owner, owner->graph_.get());
}

Result<std::unique_ptr<CompiledFunction>> GraphFunctions::compile(const std::string& name,
                                                                  FunctionGraph body) {
  auto home = origin_.home.lock();
  auto services = origin_.services.lock();
  if (!home || !services)
    return gone();
  const OpLibrary& library = *services->library;
  TROUPE_TRY(check_devices(body.graph, *origin_.device));
  for (Node* node : body.graph.nodes())
    node->assigned_device = origin_.device->name();
  KernelConstantEvaluator evaluator(*services);
  OptimizeOptions optimize_options;
  optimize_options.disabled = origin_.disabled_passes;
  optimize_options.evaluator = &evaluator;
  optimize_options.preserve = body.effects;
  for (const Node* node : body.graph.nodes())
    if (node->op->roles.has_any({Role::argument, Role::result, Role::check}))
      optimize_options.preserve.push_back(node->name);
  TROUPE_TRY(optimize(body.graph, optimize_options));
  CompileOptions options;
  options.use_compute_threads = services->threads->are_real();
  TROUPE_ASSIGN(auto executable,
                Executable::compile(body.graph, *origin_.device, library.kernels, options));
  return std::make_unique<CompiledFunction>(*this, name, stateful_op_of(body.graph),
                                            std::move(body.args), std::move(body.results),
                                            std::move(executable));
}

} // namespace

std::shared_ptr<Functions> make_functions(FunctionsOrigin origin) {
  return std::make_shared<GraphFunctions>(std::move(origin));
}

} // namespace troupe
