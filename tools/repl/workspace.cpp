#include "tools/repl/workspace.hpp"

#include <chrono>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "kernels/framework/op_library.hpp"
#include "tools/troupe/graph_file.hpp"

namespace troupe {
namespace {

/// How long people wait before they wonder.
constexpr std::chrono::seconds patience(1);
/// How often a waiting prompt looks whether it was interrupted: too short for people to notice.
constexpr std::chrono::milliseconds glance{20};

Status not_connected() {
  return failed_precondition(
      "not connected; type `connect` for a session in this process, or `connect caf://HOST:PORT`");
}

} // namespace

Workspace::Workspace() : graph_(std::make_unique<Graph>(op_library().ops)) {}

Workspace::~Workspace() {
  disconnect();
}

void Workspace::disconnect() {
  // Cancels what runs, so that the futures' ends, which wait, come soon.
  if (session_)
    (void)session_->close();
  background_.clear();
  partial_step_ = {};
  watch_.reset();
  session_.reset();
  graph_ = std::make_unique<Graph>(op_library().ops);
  feeds_.clear();
  trace_.reset();
}

Status Workspace::connect(const std::string& target) {
  std::optional<Address> address; // of a node elsewhere
  if (!target.empty() && target != "local") {
    TROUPE_ASSIGN(address, Address::of_target(target));
  }
  disconnect();
  target_ = target.empty() ? "local" : target;
  SessionOptions options;
  options.allow_soft_placement = true;
  TROUPE_ASSIGN(Session session, Session::open(target_, options));
  auto watch = address ? NodeWatch::dial(*address) : NodeWatch::of(*session.local_node());
  TROUPE_TRY(watch.status());
  session_.emplace(std::move(session));
  watch_.emplace(*std::move(watch));
  return {};
}

Result<Session*> Workspace::session() {
  if (!session_)
    return not_connected();
  return &*session_;
}

Result<NodeWatch*> Workspace::watch() {
  if (!watch_)
    return not_connected();
  watch_->limit(NodeWatch::patience); // for one command
  return &*watch_;
}

Result<std::size_t> Workspace::load(const std::string& path) {
  TROUPE_ASSIGN(Session * open, session());
  TROUPE_ASSIGN(GraphFile file, read_graph_file(path));
  Status added = open->extend_graph_def(file.bytes);
  if (added.message().find("created by a previous call") != std::string::npos)
    return already_exists(str_cat(path, ": ", added.message(), " A graph only grows: `connect ",
                                  target_,
                                  "` opens a new session, without graph and feeds, to load it "
                                  "into; variables that the cluster holds stay"));
  if (!added.ok())
    return added.with_context(path);
  std::size_t before = graph_->num_nodes();
  TROUPE_TRY(extend_graph_bytes(*graph_, file.bytes, {.ignore_unknown_attrs = true}));
  return graph_->num_nodes() - before;
}

Result<BackgroundStep> Workspace::start(StepCommand request) {
  TROUPE_ASSIGN(Session * open, session());
  BackgroundStep step;
  RunOptions options;
  options.timeout_ms = request.timeout_ms;
  options.trace_level = request.trace ? TraceLevel::full : TraceLevel::none;
  std::int64_t start = steady_micros();
  step.pending = open->run_async(Feeds(feeds_.begin(), feeds_.end()), request.fetches,
                                 request.targets, options);
  step.request = std::move(request);
  step.outcome = std::async(std::launch::async, [pending = step.pending, start] {
    RunMetadata metadata;
    auto values = pending.get(&metadata);
    return StepAnswer{std::move(values), std::move(metadata.step_stats), steady_micros() - start};
  });
  return step;
}

std::optional<StepAnswer> Workspace::wait(BackgroundStep& step,
                                          const std::atomic<bool>& interrupted,
                                          const std::function<void()>& when_long) {
  auto wonder = std::chrono::steady_clock::now() + patience;
  bool has_wondered = !when_long || !is_interruptible_;
  while (step.outcome.wait_for(glance) != std::future_status::ready) {
    if (interrupted)
      return std::nullopt;
    if (!has_wondered && std::chrono::steady_clock::now() >= wonder) {
      has_wondered = true;
      when_long();
    }
  }
  return step.outcome.get();
}

int Workspace::put_in_background(BackgroundStep step) {
  step.number = next_step_++;
  background_.push_back(std::move(step));
  return background_.back().number;
}

std::optional<std::pair<BackgroundStep, StepAnswer>>
Workspace::take_finished(bool block, const std::atomic<bool>& interrupted) {
  for (auto it = background_.begin(); it != background_.end(); ++it) {
    if (!block && it->outcome.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      continue;
    auto outcome = wait(*it, interrupted);
    if (!outcome)
      return std::nullopt;
    BackgroundStep step = std::move(*it);
    background_.erase(it);
    return std::pair(std::move(step), *std::move(outcome));
  }
  return std::nullopt;
}

} // namespace troupe
