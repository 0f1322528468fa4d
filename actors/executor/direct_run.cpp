#include "actors/executor/direct_run.hpp"

#include <utility>

namespace troupe {

namespace {
/// The memory of larger programs is shared by all runners.
constexpr std::size_t max_own_nodes = 1000;
} // namespace

BegunPart::~BegunPart() {
  if (!environment)
    return;
  run.reset();
  environment->abandon();
}

DirectRunner::DirectRunner(Services services, std::shared_ptr<NodeStates> node_states,
                           std::shared_ptr<const Executable> executable)
    : services_(std::move(services)), node_states_(std::move(node_states)),
      executable_(std::move(executable)), keeps_memory_(executable_->num_nodes() <= max_own_nodes) {
}

DirectRunner::~DirectRunner() = default;

std::shared_ptr<BegunPart> DirectRunner::run(std::uint64_t step_id, std::int64_t start_us,
                                             std::int64_t timeout_us, bool may_compute,
                                             std::vector<Tensor> args,
                                             std::vector<Tensor>& retvals) {
  if (!environment_) {
    environment_ =
        std::make_shared<ExecutorEnvironment>(services_, node_states_, caf::actor_addr{});
    environment_->cancellation = std::make_shared<Cancellation>();
  }
  environment_->cancellation->set_deadline(step_id, start_us, timeout_us);
  environment_->begin(executable_, step_id, nullptr);
  std::optional<StepRun> run;
  run.emplace(executable_, environment_->step,
              StepHooks{ExecutorEnvironment::completed, environment_, false, nullptr},
              std::move(args), keeps_memory_ ? &memory_ : nullptr);
  StepRun::Progress progress{};
  {
    OwnThread own(*environment_);
    progress = run_slice(*environment_, *run, may_compute);
  }
  if (progress == StepRun::Progress::finished && run->status().ok()) {
    retvals = std::move(run->retvals());
    run.reset();
    if (!environment_->rests(environment_))
      environment_.reset();
    return nullptr;
  }
  environment_->cancellation->clear_deadline();
  auto begun = std::make_shared<BegunPart>();
  begun->environment = std::move(environment_);
  begun->run.emplace(std::move(*run));
  return begun;
}

} // namespace troupe
