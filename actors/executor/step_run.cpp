#include "actors/executor/step_run.hpp"

#include "actors/executor/internal/loop.hpp"
#include "actors/executor/internal/step_state.hpp"

namespace troupe {

using program::Loop;
using program::PendingKernel;
using program::StepState;

namespace {

// The node that gives the value at `position` of retvals().
std::int32_t retval_node(const program::Program& program, std::size_t position) {
  for (std::size_t n = 0; n < program.nodes.size(); ++n)
    if (program.nodes[n].kind == program::Kind::retval &&
        program.nodes[n].position == static_cast<std::int32_t>(position))
      return static_cast<std::int32_t>(n);
  return -1;
}

} // namespace

StepRun::StepRun(std::shared_ptr<const Executable> executable, const StepEnvironment& environment,
                 StepHooks hooks, std::vector<Tensor> args, StepMemory* memory)
    : state_(memory && memory->state_ ? std::move(memory->state_) : executable->take_state()),
      memory_(memory) {
  StepState& s = *state_;
  s.environment = &environment;
  s.hooks = std::move(hooks);
  s.args = std::move(args);
  s.retvals.resize(s.program.retval_indices.size());
  std::copy_n(s.program.initial.begin(), s.program.frames[0].num_nodes, s.frames.root->counts);
  s.executable = std::move(executable);
  s.sampling.begin();
  if (s.hooks.trace) [[unlikely]] {
    s.trace.begun_us = wall_micros();
    Device& device = *s.program.device;
    s.trace.of_stream = (environment.stream ? *environment.stream : device.stream()).trace();
  }
}

StepRun::~StepRun() {
  if (!state_)
    return; // moved from
  StepState& s = *state_;
  if (s.kernels.num_running > 0) {
    // The kernels keep the state; the last of them to end frees it.
    if (s.environment->cancellation)
      s.environment->cancellation->cancel(cancelled("the step was given up"));
    if (s.crew && s.crew->num_out() > 0)
      std::exchange(s.crew, nullptr)->leave(std::move(state_));
    return;
  }
  // A thread may still be on its way out of the hook; then the state is its to free.
  if (s.in_hook.load(std::memory_order_acquire) > 0 || state_.use_count() > 1)
    return;
  std::shared_ptr<const Executable> executable = std::move(s.executable);
  bool clean = s.finished && !s.failed &&
               s.frames.root_nodes == static_cast<std::size_t>(s.program.frames[0].num_nodes);
  s.reset(clean);
  if (memory_)
    memory_->state_ = std::move(state_);
  else
    executable->keep_state(std::move(state_));
}

StepRun::Progress StepRun::run(Duration slice, bool may_compute) {
  StepState& s = *state_;
  if (s.finished)
    return Progress::finished;
  auto go = [&]<class L>(L loop) {
    if (!std::exchange(s.started, true) && !s.failed)
      loop.start();
    return loop.run(slice, may_compute);
  };
  bool idle = s.program.has_frames ? go(Loop<true>(s)) : go(Loop<false>(s));
  if (!idle)
    return Progress::yielded;
  if (s.kernels.num_running > 0)
    return Progress::waiting;
  if (!s.failed)
    s.read_late_values();
  if (!s.device_is_done())
    return Progress::waiting;
  for (std::size_t i = 0; i < s.retvals.size() && !s.failed; ++i)
    if (!s.retvals[i].has_value())
      s.fail(retval_node(s.program, i),
             invalid_argument(
                 str_cat("Retval[", s.program.retval_indices[i], "] does not have value")));
  s.finished = true;
  return Progress::finished;
}

void StepRun::complete(const Completion& completion) {
  std::shared_ptr<StepState> state = std::move(completion.state);
  if (state != state_)
    return;
  auto& device = state_->device_wait;
  if (device.phase == program::DeviceWait::Phase::waiting &&
      device.is_over.load(std::memory_order_acquire)) {
    device.phase = program::DeviceWait::Phase::over;
    --state_->kernels.num_running;
    if (!device.status.ok())
      state_->fail(-1, device.status);
    return;
  }
  if (state_->program.has_frames)
    Loop<true>(*state_).complete(completion.kernel);
  else
    Loop<false>(*state_).complete(completion.kernel);
}

void StepRun::cancel(Status why) {
  if (!state_->finished)
    state_->fail(-1, why);
}

bool StepRun::finished() const {
  return state_->finished;
}

const Status& StepRun::status() const {
  return state_->status;
}

std::vector<Tensor>& StepRun::retvals() {
  return state_->retvals;
}

const StepCounters& StepRun::counters() const {
  return state_->counters;
}

void StepRun::note_transfer(std::string_view key, std::string text) {
  if (auto parsed = parse_rendezvous_key(key); parsed.ok())
    state_->trace.transfers[std::string(parsed->edge)].push_back(std::move(text));
}

namespace {

std::vector<std::string> input_names(const program::Program& p, std::int32_t n) {
  std::vector<std::string> out;
  const program::ProgramNode& node = p.nodes[static_cast<std::size_t>(n)];
  for (auto slot = static_cast<std::size_t>(node.first_input);
       out.size() < static_cast<std::size_t>(node.num_inputs); ++slot) {
    const program::Source& from = p.sources.slots[slot];
    std::string& name = out.emplace_back(
        from.node < 0 ? p.constant_nodes[static_cast<std::size_t>(p.slot_constant[slot])]
                      : p.info[static_cast<std::size_t>(from.node)].name);
    if (from.slot > 0)
      name += str_cat(":", from.slot);
  }
  const auto& first = p.sources.control_first;
  for (auto i = first[static_cast<std::size_t>(n)]; i < first[static_cast<std::size_t>(n) + 1]; ++i)
    out.push_back(str_cat(
        "^", p.info[static_cast<std::size_t>(p.sources.control_nodes[static_cast<std::size_t>(i)])]
                 .name));
  return out;
}

} // namespace

DeviceStats StepRun::take_stats() {
  StepState& s = *state_;
  DeviceStats stats{s.program.device->name(), {}};
  stats.nodes.reserve(s.trace.spans.size() + s.program.constants.size());
  // Constants are there from the beginning.
  for (std::size_t i = 0; i < s.program.constants.size(); ++i)
    stats.nodes.push_back({s.program.constant_nodes[i],
                           "Const",
                           s.trace.begun_us,
                           s.trace.begun_us,
                           0,
                           0,
                           {},
                           {program::describe(0, s.program.constants[i])}});
  for (program::TraceRecord& span : s.trace.spans) {
    const KernelNode& info = s.program.info[static_cast<std::size_t>(span.node)];
    NodeStats& node = stats.nodes.emplace_back();
    node = {info.name,
            info.attrs.get_or<std::string>("_shown_as", info.schema->name),
            span.start_us,
            span.end_us,
            span.thread,
            0,
            {},
            std::move(span.outputs),
            input_names(s.program, span.node)};
    if (!info.schema->roles.has(Role::passes_on)) // it takes no memory
      for (const OutputStats& output : node.outputs)
        node.bytes += output.bytes;
    if (s.trace.transfers.empty())
      continue;
    // What a receive has to say stands under the name of its edge.
    auto edge = s.trace.transfers.find(info.attrs.get_or<std::string>("tensor_name", ""));
    if (edge != s.trace.transfers.end() && !edge->second.empty() &&
        !info.schema->roles.has(Role::send)) {
      stats.nodes.back().detail = std::move(edge->second.front());
      edge->second.pop_front();
    }
  }
  s.trace.spans.clear();
  s.trace.transfers.clear();
  return stats;
}

DeviceStats StepRun::take_stream_stats() {
  StepState& s = *state_;
  DeviceStats stats{str_cat(s.program.device->name(), "/stream:all"), {}};
  if (!s.trace.of_stream || !s.finished)
    return stats;
  for (StreamSpan& span : s.trace.of_stream->take()) {
    NodeStats& node = stats.nodes.emplace_back();
    node.node = std::move(span.node);
    node.op = std::move(span.op);
    node.start_us = span.start_us;
    node.end_us = span.end_us;
  }
  s.trace.of_stream = nullptr;
  return stats;
}

std::size_t StepRun::num_running() const {
  return state_->kernels.num_running;
}

std::size_t StepRun::num_queued() const {
  return state_->ready.size();
}

} // namespace troupe
