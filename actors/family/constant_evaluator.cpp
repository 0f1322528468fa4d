#include "actors/family/constant_evaluator.hpp"

#include "core/base/denormals.hpp"
#include "core/base/strings.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "kernels/framework/context.hpp"

namespace troupe {

namespace {
// One for the process, made when first needed: folding takes few and small steps.
ComputePool& folding_pool() {
  static ComputePool pool(1);
  return pool;
}

// Refuses a value that no pass would keep, whatever its kernel makes of a shape that was not known
// before. For ever, as values are kept.
class SmallBlocks final : public Allocator {
public:
  static constexpr std::size_t largest = std::size_t{16} << 20;
  const char* name() const override { return "folding"; }
  void* allocate(std::size_t bytes) override {
    return bytes > largest ? nullptr : host_allocator().allocate(bytes);
  }
  void deallocate(void* memory, std::size_t bytes) override {
    host_allocator().deallocate(memory, bytes);
  }
  bool charge(std::size_t bytes) override { return bytes <= largest; }
  std::string refusal() const override { return "a folded constant is not to be so large"; }
};
Allocator& small_blocks() {
  static SmallBlocks blocks;
  return blocks;
}
} // namespace

KernelConstantEvaluator::KernelConstantEvaluator(const NodeServices& services)
    : kernels_(services.library->kernels),
      device_(make_cpu_device("/job:localhost/replica:0/task:0/device:CPU:0", folding_pool(),
                              small_blocks())) {}

KernelConstantEvaluator::~KernelConstantEvaluator() = default;

bool KernelConstantEvaluator::can_evaluate(const Node& node) const {
  if (node.has_role(Role::runs_functions))
    return false; // those of the graph are not compiled yet
  auto kernel = kernels_.find(node.op_name(), node.attrs, "CPU", node.name);
  return kernel.ok() && (*kernel)->compute != nullptr;
}

Result<std::vector<Tensor>> KernelConstantEvaluator::evaluate(const Node& node,
                                                              std::span<const Tensor> inputs) {
  TROUPE_ASSIGN(const KernelNode compiled,
                KernelBinder(kernels_, *device_)
                    .bind(node.name, *node.op, node.attrs, node.input_types, node.output_types));
  FlushDenormals flush; // as in a step
  Cancellation cancellation;
  NodeStates states;
  StepEnvironment step;
  step.device = device_.get();
  step.cancellation = &cancellation;
  step.node_states = &states;
  std::vector<Entry> in(inputs.size()), out(static_cast<std::size_t>(node.num_outputs()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    in[i].tensor = inputs[i];
  KernelContext context(compiled, step, in, out);
  TROUPE_TRY(compiled.kernel->compute(context));
  std::vector<Tensor> values;
  for (Entry& entry : out) {
    if (!entry.tensor.has_value())
      return internal(str_cat("an output of '", node.name, "' has no value"));
    values.push_back(std::move(entry.tensor));
  }
  return values;
}

} // namespace troupe
