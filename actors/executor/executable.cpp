#include "actors/executor/executable.hpp"

#include <algorithm>
#include <set>

#include "actors/executor/internal/compiler.hpp"
#include "actors/executor/internal/step_state.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

// Every executable that is alive: after the actors' end it still tells which kernels run.
struct AllExecutables {
  std::mutex lock;
  std::set<const Executable*> alive;
};
AllExecutables& all_executables() {
  static auto* instance = new AllExecutables;
  return *instance;
}

} // namespace

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
    : program_(std::move(program)), options_(options) {
  std::scoped_lock guard(all_executables().lock);
  all_executables().alive.insert(this);
}

Executable::~Executable() {
  std::scoped_lock guard(all_executables().lock);
  all_executables().alive.erase(this);
}

void Executable::append_states(std::vector<std::shared_ptr<const program::StepState>>& to) const {
  std::scoped_lock guard(lock_);
  for (const auto& weak : all_states_)
    if (auto state = weak.lock())
      to.push_back(std::move(state));
}

std::vector<std::string> Executable::running_kernels() {
  // Let go of after the lock: the last reference to a state may end its executable.
  std::vector<std::shared_ptr<const program::StepState>> states;
  std::vector<std::string> out;
  std::scoped_lock guard(all_executables().lock);
  for (const Executable* executable : all_executables().alive) {
    std::size_t first = states.size();
    executable->append_states(states);
    for (std::size_t i = first; i < states.size(); ++i)
      for (const program::KernelAtWork* at_work :
           {&states[i]->at_work.of_owner, &states[i]->at_work.handed_out})
        if (auto n = at_work->node.load(std::memory_order_acquire); n >= 0) {
          const KernelNode& info = executable->program_->info[static_cast<std::size_t>(n)];
          auto ms = (steady_micros() - at_work->since_us.load(std::memory_order_relaxed)) / 1000;
          out.push_back(str_cat(info.schema->name, " '", info.name, "' for ",
                                std::max<std::int64_t>(0, ms), " ms"));
        }
  }
  return out;
}

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
  std::size_t bytes = program_->sources.slots.size() * sizeof(Entry) +
                      program_->nodes.size() * sizeof(program::Counts);
  std::scoped_lock guard(lock_);
  std::size_t count = free_states_.size();
  if (count == 0 ||
      (count < options_.cached_states && (count + 1) * bytes <= options_.cached_bytes))
    free_states_.push_back(std::move(state));
}

} // namespace troupe
