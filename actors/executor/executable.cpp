#include "actors/executor/executable.hpp"

#include "actors/executor/internal/compiler.hpp"
#include "actors/executor/internal/step_state.hpp"

namespace troupe {

Result<std::shared_ptr<const Executable>> Executable::compile(const Graph& graph, Device& device,
                                                              const KernelRegistry& kernels,
                                                              const CompileOptions& options) {
  TROUPE_ASSIGN(auto program, program::compile(graph, device, kernels));
  if (!options.use_compute_threads)
    for (program::ProgramNode& node : program->nodes)
      node.flags &= static_cast<decltype(node.flags)>(~program::expensive);
  return std::shared_ptr<const Executable>(new Executable(std::move(program), options));
}

Executable::Executable(std::unique_ptr<program::Program> program, const CompileOptions& options)
    : program_(std::move(program)), options_(options) {}

Executable::~Executable() = default;

Device& Executable::device() const {
  return *program_->device;
}

std::size_t Executable::num_nodes() const {
  return program_->nodes.size();
}

bool Executable::has_frames() const {
  return program_->has_frames;
}

const std::vector<int>& Executable::arg_indices() const {
  return program_->arg_indices;
}

const std::vector<int>& Executable::retval_indices() const {
  return program_->retval_indices;
}

std::shared_ptr<program::StepState> Executable::take_state() const {
  {
    std::scoped_lock guard(lock_);
    if (!free_states_.empty()) {
      auto state = std::move(free_states_.back());
      free_states_.pop_back();
      return state;
    }
  }
  auto state = std::make_shared<program::StepState>(*program_);
  std::scoped_lock guard(lock_);
  std::erase_if(all_states_, [](const auto& known) { return known.expired(); });
  all_states_.push_back(state);
  return state;
}

void Executable::keep_state(std::shared_ptr<program::StepState> state) const {
  std::size_t bytes = program_->slot_source.size() * sizeof(Entry) +
                      program_->nodes.size() * sizeof(program::Counts);
  std::scoped_lock guard(lock_);
  std::size_t count = free_states_.size();
  if (count == 0 ||
      (count < options_.cached_states && (count + 1) * bytes <= options_.cached_bytes))
    free_states_.push_back(std::move(state));
}

} // namespace troupe
