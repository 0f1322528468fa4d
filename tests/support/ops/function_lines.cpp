#include "tests/support/ops/function_lines.hpp"

#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/functions.hpp"
#include "tests/support/ops/internal/mutants.hpp"
#include "tests/support/ops/internal/text_mutants.hpp"

namespace troupe::testing {
namespace {

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> out;
  for (std::string_view name : str_split(list, ','))
    if (name = str_trim(name); !name.empty())
      out.emplace_back(name);
  return out;
}

std::string stateful_op_in(const Graph& graph) {
  for (const Node* node : graph.nodes())
    if (node->op->is_stateful && node->output_types != std::vector<DType>{DType::variant} &&
        !node->op->roles.has(Role::check))
      return node->op_name();
  return {};
}

/// The body is interpreted on the caller's thread, each time.
class LinesFunction final : public Function {
public:
  LinesFunction(std::string name, Graph body, std::vector<std::string> arg_names,
                std::vector<DType> args, std::vector<std::string> fetches,
                std::vector<DType> results, Functions& owner, std::weak_ptr<TestDevice> device)
      : name_(std::move(name)), body_(std::move(body)), arg_names_(std::move(arg_names)),
        args_(std::move(args)), fetches_(std::move(fetches)), results_(std::move(results)),
        stateful_op_(stateful_op_in(body_)), owner_(owner), device_(std::move(device)) {}

  const std::string& name() const override { return name_; }
  const std::vector<DType>& arg_types() const override { return args_; }
  const std::vector<DType>& result_types() const override { return results_; }
  const std::string& stateful_op() const override { return stateful_op_; }
  std::string activity() const override { return {}; }

  void call(FunctionCall call, FunctionDone done) const override { done(run(std::move(call))); }

private:
  Result<Tensors> run(FunctionCall call) const {
    const auto device = device_.lock();
    if (!device)
      return cancelled("the device is gone");
    if (call.cancellation && call.cancellation->is_cancelled())
      return call.cancellation->status().as_derived();
    Cancellation own;
    ResourceManager resources;
    StepEnvironment step = device->step();
    step.cancellation = call.cancellation ? call.cancellation : &own;
    step.node_states = call.states ? call.states.get() : states_.get();
    step.step_resources = &resources;
    step.functions = &owner_;
    step.call_depth = call.depth;
    if (call.args.size() != args_.size())
      return invalid_argument(str_cat("Expects ", args_.size(), " arguments, but ",
                                      call.args.size(), " is provided to function ", name_));
    Feeds feeds;
    for (std::size_t i = 0; i < args_.size(); ++i)
      feeds.emplace_back(arg_names_[i], call.args[i]);
    return interpret(body_, op_library().kernels, step, feeds, fetches_);
  }

  const std::string name_;
  const Graph body_;
  const std::vector<std::string> arg_names_;
  const std::vector<DType> args_;
  const std::vector<std::string> fetches_;
  const std::vector<DType> results_;
  const std::string stateful_op_;
  Functions& owner_; // whose pointer is held by whoever holds ours
  const std::weak_ptr<TestDevice> device_;
  const std::shared_ptr<NodeStates> states_ = std::make_shared<NodeStates>();
};

} // namespace

/// Threads that run what was submitted.
class FunctionLines::Running {
public:
  void run(std::function<void()> work, const std::shared_ptr<Running>& self) {
    {
      std::scoped_lock guard(lock_);
      ++count_;
    }
    std::thread([work = std::move(work), self]() mutable {
      work();
      work = nullptr;
      std::scoped_lock guard(self->lock_);
      --self->count_;
      self->ended_.notify_all();
    }).detach();
  }
  void await_end() {
    std::unique_lock guard(lock_);
    ended_.wait(guard, [&] { return count_ == 0; });
  }

private:
  std::mutex lock_;
  std::condition_variable ended_;
  int count_ = 0;
};

/// What work that was submitted keeps.
struct FunctionLines::Home {
  class All final : public Functions {
  public:
    All(std::weak_ptr<TestDevice> device, std::shared_ptr<Running> running)
        : device_(std::move(device)), running_(std::move(running)) {}
    Result<std::shared_ptr<const Function>> find(const FunctionRef& function) override {
      auto at = functions_.find(function.name);
      if (at == functions_.end())
        return not_found(str_cat("Function ", function.name, " is not defined."));
      return std::shared_ptr<const Function>(shared_from_this(), at->second.get());
    }
    // Bodies of lines are no definitions.
    Result<std::shared_ptr<Functions>> on(std::string_view) override { return shared_from_this(); }
    Result<std::vector<std::string>> takers_of_arguments(const FunctionRef&) override {
      return unimplemented("functions of lines have no definitions");
    }
    Result<std::string> write_graph(const std::vector<WrittenNode>&) override {
      return unimplemented("functions of lines have no definitions");
    }
    Result<std::shared_ptr<const Function>> read_graph(std::string_view) override {
      return unimplemented("functions of lines have no definitions");
    }
    void submit(std::function<void()> work) override {
      auto device = device_.lock();
      if (!device)
        return work();
      running_->run(
          [device = std::move(device), work = std::move(work)]() mutable {
            work();
            work = nullptr; // before what it uses
          },
          running_);
    }
    int threads() const override { return 2; }

    std::map<std::string, std::unique_ptr<LinesFunction>> functions_;
    const std::weak_ptr<TestDevice> device_;

  private:
    const std::shared_ptr<Running> running_;
  };

  explicit Home(std::shared_ptr<TestDevice> of) : device(std::move(of)) {}
  std::shared_ptr<TestDevice> device;
  std::shared_ptr<All> functions;
};

FunctionLines::FunctionLines()
    : home_(std::make_shared<Home>(std::make_shared<TestDevice>())),
      running_(std::make_shared<Running>()) {
  home_->functions = std::make_shared<Home::All>(home_->device, running_);
  home_->device->step().functions = home_->functions.get();
}

FunctionLines::FunctionLines(std::unique_ptr<Device> device)
    : home_(std::make_shared<Home>(std::make_shared<TestDevice>(std::move(device)))),
      running_(std::make_shared<Running>()), is_mutant_(true) {
  home_->functions = std::make_shared<Home::All>(home_->device, running_);
  home_->device->step().functions = home_->functions.get();
}

FunctionLines::~FunctionLines() {
  home_ = nullptr;
  running_->await_end();
  if (!is_mutant_)
    run_mutants();
}

TestDevice& FunctionLines::device() {
  return *home_->device;
}

void FunctionLines::add(std::string_view lines) {
  said_.push_back({.what = Said::What::lines, .lines = std::string(lines)});
  str_append(all_, lines, "\n");
}

void FunctionLines::function(const std::string& name, std::string_view args,
                             std::string_view results, std::string_view lines) {
  said_.push_back({.what = Said::What::function,
                   .name = name,
                   .args = std::string(args),
                   .results = std::string(results),
                   .lines = std::string(lines)});
  const Status status = define(said_.back());
  TROUPE_CHECK(status.ok(), str_cat("function ", name, ": ", status.to_string()));
}

Status FunctionLines::define(const Said& function) {
  std::string text;
  std::vector<std::string> arg_names;
  std::vector<DType> arg_types, result_types;
  for (const std::string& arg : names_in(function.args)) {
    const auto colon = arg.find(':');
    arg_names.push_back(arg.substr(0, colon));
    const auto type = str_trim(std::string_view(arg).substr(colon + 1));
    str_append(text, arg_names.back(), " = Placeholder[dtype=", type, "]()\n");
  }
  str_append(text, function.lines, "\n");
  TROUPE_ASSIGN(Graph graph, parse_graph(text, op_library().ops));
  for (const std::string& arg : arg_names)
    arg_types.push_back(graph.find(arg)->output_types[0]);
  const auto fetches = names_in(function.results);
  for (const std::string& fetch : fetches) {
    TROUPE_ASSIGN(const TensorName at, parse_tensor_name(fetch));
    const Node* node = graph.find(at.node);
    if (!node || at.slot >= node->num_outputs())
      return not_found(str_cat("the function has no ", fetch));
    if (at.slot >= 0)
      result_types.push_back(node->output_types[static_cast<std::size_t>(at.slot)]);
  }
  home_->functions->functions_[function.name] = std::make_unique<LinesFunction>(
      function.name, std::move(graph), std::move(arg_names), std::move(arg_types), fetches,
      std::move(result_types), *home_->functions, home_->device);
  return {};
}

/// Again, as a mutant: until something is refused, or it has waited for too long.
void FunctionLines::run_again(const std::vector<Said>& said) {
  Cancellation& cancellation = *device().step().cancellation;
  const Watchdog watchdog(cancellation);
  for (const Said& one : said) {
    if (one.what == Said::What::lines) {
      str_append(all_, one.lines, "\n");
    } else if (one.what == Said::What::function) {
      if (!define(one).ok())
        return;
    } else {
      try {
        auto got = values(one.fetches, one.feeds);
        CHECK((got.ok() || !got.status().message().empty()));
      } catch (const StepCancelled&) {
      }
    }
    if (cancellation.is_cancelled())
      return;
  }
}

void FunctionLines::run_mutants() const {
  std::string all;
  for (const Said& one : said_)
    str_append(all, one.lines, "\n");
  TextMutator mutator(all);
  for (int i = 0; i < mutants_of_each_graph() && !all.empty(); ++i) {
    auto said = said_;
    std::string now;
    mutator.next();
    std::size_t at = 0;
    for (Said& one : said) {
      const std::size_t length = one.lines.size() + 1;
      one.lines = mutator.part(at, one.lines);
      str_append(now, one.name, one.name.empty() ? "" : ":\n", one.lines, "\n");
      at += length;
    }
    INFO("mutant ", i, ":\n", now);
    if (mutants_are_told())
      std::cerr << "mutant " << i << ":\n" << now << std::endl;
    FunctionLines(make_small_device()).run_again(said);
  }
}

Result<std::vector<Tensor>> FunctionLines::values(const std::vector<std::string>& fetches,
                                                  const Feeds& feeds) {
  if (!is_mutant_)
    said_.push_back({.what = Said::What::run, .fetches = fetches, .feeds = feeds});
  TROUPE_ASSIGN(const Graph graph, parse_graph(all_, op_library().ops));
  return interpret(graph, op_library().kernels, home_->device->step(), feeds, fetches);
}

std::string FunctionLines::run(const std::vector<std::string>& fetches) {
  auto all = values(fetches);
  if (!all.ok())
    return all.status().to_string();
  std::string out = "ok";
  for (const Tensor& value : *all)
    if (value.has_value())
      str_append(out, " ", value.to_string(100));
  return out;
}

} // namespace troupe::testing
