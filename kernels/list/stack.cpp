// Stacks: tensors pushed in a loop and popped in its gradient's, last in, first out. They live as
// long as their step.
#include <atomic>
#include <mutex>

#include "core/base/strings.hpp"
#include "core/tensor/variant.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/list/internal/held_tensors.hpp"

namespace troupe::list_stack {
namespace {

constexpr std::string_view prefix = "_stacks";

class Stack final : public Resource {
public:
  Stack(std::string name, DType dtype, std::int32_t max_size)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}
  DType dtype() const { return dtype_; }

  Status push(Tensor value, Allocator& account) {
    std::scoped_lock guard(lock_);
    TROUPE_TRY(check_open());
    if (max_size_ >= 0 && values_.size() >= static_cast<std::size_t>(max_size_))
      return invalid_argument(
          str_cat("Stack[", name_, "] overflowed its max_size (", max_size_, ")"));
    TROUPE_TRY(check_nesting(value));
    return values_.push(std::move(value), account);
  }
  Result<Tensor> pop() {
    std::scoped_lock guard(lock_);
    TROUPE_TRY(check_open());
    if (values_.size() == 0)
      return invalid_argument(str_cat("Stack[", name_, "] is empty when calling Pop()."));
    return values_.pop();
  }
  void close() {
    std::scoped_lock guard(lock_);
    values_.clear();
    closed_ = true;
  }
  std::string description() const override { return str_cat("Stack[", name_, "]"); }

private:
  Status check_open() const {
    if (closed_)
      return invalid_argument(str_cat("Stack[", name_, "] has already been closed."));
    return {};
  }

  std::mutex lock_;
  const std::string name_;
  const DType dtype_;
  const std::int32_t max_size_; ///< negative: no bound
  list::HeldTensors values_;
  bool closed_ = false;
};

/// Numbers the stacks of a step.
struct StackCounter final : Resource {
  std::atomic<int> next{0};
  std::string description() const override { return "names of stacks"; }
};

/// Makes a stack; its name within the step.
Result<std::string> make(KernelContext& c, std::int32_t max_size) {
  TROUPE_ASSIGN(const DType dtype, c.attr<DType>("elem_type"));
  ResourceManager& stacks = *c.step().step_resources;
  TROUPE_ASSIGN(auto counter, stacks.lookup_or_create<StackCounter>("", "stacks", [] {
    return Result<std::shared_ptr<StackCounter>>(std::make_shared<StackCounter>());
  }));
  std::string name = c.attrs().get_or("stack_name", std::string());
  // Of two steps, too, no two stacks have one name.
  name = str_cat(name.empty() ? c.node_name() : name, "_", c.step().step_id, "_",
                 counter->next.fetch_add(1));
  TROUPE_TRY(stacks
                 .lookup_or_create<Stack>("", str_cat(prefix, name),
                                          [&] {
                                            return Result<std::shared_ptr<Stack>>(
                                                std::make_shared<Stack>(name, dtype, max_size));
                                          })
                 .status());
  return name;
}

Status make_by_handle(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(
        str_cat("Stack size must be a scalar, but had shape: ", c.input(0).shape()));
  const std::int32_t size = c.input(0).value<std::int32_t>();
  TROUPE_ASSIGN(const std::string name, make(c, size));
  return c.set_output(0, Tensor::scalar(make_handle<Stack>(c.device(), "", str_cat(prefix, name))));
}

// The first Stack op gives a reference to the two halves of the name.
Status make_by_name(KernelContext& c) {
  TROUPE_ASSIGN(const std::string name, make(c, -1));
  auto handle = std::make_shared<Variable>(DType::string);
  handle->assign(Tensor::vector<std::string>({std::string(prefix), name}));
  c.set_output_ref(0, std::move(handle));
  return {};
}

Result<std::shared_ptr<Stack>> input_stack(KernelContext& c) {
  ResourceManager& stacks = *c.step().step_resources;
  if (!c.input_entry(0).ref) {
    TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
    return stacks.lookup<Stack>(handle->container, handle->name);
  }
  const Tensor name = c.input_ref(0)->snapshot();
  if (!name.has_value() || name.dtype() != DType::string || name.num_elements() != 2)
    return invalid_argument(
        str_cat("Stack handle must have two elements, but had shape: ", name.shape()));
  const auto parts = name.data<std::string>();
  return stacks.lookup<Stack>("", str_cat(parts[0], parts[1]));
}

Status push(KernelContext& c) {
  TROUPE_ASSIGN(auto stack, input_stack(c));
  const Tensor value = c.take_input(1);
  if (value.dtype() != stack->dtype())
    return invalid_argument(str_cat("Must have type ", static_cast<int>(stack->dtype()),
                                    " but got ", static_cast<int>(value.dtype())));
  TROUPE_TRY(stack->push(value, c.device().host_side_allocator()));
  return c.set_output(0, value);
}

Status pop(KernelContext& c) {
  TROUPE_ASSIGN(auto stack, input_stack(c));
  TROUPE_ASSIGN(Tensor value, stack->pop());
  return set_untyped_output(c, 0, std::move(value));
}

Status close(KernelContext& c) {
  TROUPE_ASSIGN(auto stack, input_stack(c));
  stack->close();
  return {};
}

Status infer_push(ShapeContext& c) {
  return c.output_like(0, 1);
}

Status infer_name(ShapeContext& c) {
  return c.set_output(0, PartialShape{2});
}

constexpr auto python = "TensorFlow's clients bring its gradient";

void register_by_handle(OpLibrary& library) {
  library.op("StackV2")
      .input("max_size: int32")
      .output("handle: resource")
      .attr("elem_type: type; stack_name: string = ''")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(make_by_handle)
      .host_kernel_on_gpu(make_by_handle)
      .doc("A stack for at most `max_size` tensors (negative: any number), empty, that lives as "
           "long as the step.");
  library.op("StackPushV2")
      .input("handle: resource; elem: T")
      .output("output: T")
      .attr("T: type; swap_memory: bool = false")
      .stateful()
      .shape_fn(infer_push)
      .not_differentiable(python)
      .cpu_kernel(push)
      .gpu_kernel(push, array::on_gpu({}, "T", {"handle"}))
      .host_kernel_on_gpu(push, array::int32_on_host({}))
      .doc("Puts a tensor on the stack; gives it, too.");
  library.op("StackPopV2")
      .input("handle: resource")
      .output("elem: elem_type")
      .attr("elem_type: type")
      .stateful()
      .shape_fn(shape_unknown)
      .not_differentiable(python)
      .cpu_kernel(pop)
      .gpu_kernel(pop, array::on_gpu({}, "elem_type", {"handle"}))
      .host_kernel_on_gpu(pop, array::int32_on_host({}, "elem_type"))
      .doc("Takes the uppermost tensor off the stack.");
  library.op("StackCloseV2")
      .input("handle: resource")
      .stateful()
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .cpu_kernel(close)
      .host_kernel_on_gpu(close)
      .doc("Drops the stack's tensors; whoever uses it afterwards fails.");
}

void register_by_name(OpLibrary& library) {
  library.op("Stack")
      .output("handle: Ref(string)")
      .attr("elem_type: type; stack_name: string = ''")
      .stateful()
      .shape_fn(infer_name)
      .not_differentiable(python)
      .cpu_kernel(make_by_name)
      .doc("StackV2 as old graphs have it, without a bound.");
  library.op("StackPush")
      .input("handle: Ref(string); elem: T")
      .output("output: T")
      .attr("T: type; swap_memory: bool = false")
      .roles(Role::side_effect)
      .shape_fn(infer_push)
      .not_differentiable(python)
      .cpu_kernel(push)
      .doc("StackPushV2 as old graphs have it.");
  library.op("StackPop")
      .input("handle: Ref(string)")
      .output("elem: elem_type")
      .attr("elem_type: type")
      .roles(Role::side_effect)
      .shape_fn(shape_unknown)
      .not_differentiable(python)
      .cpu_kernel(pop)
      .doc("StackPopV2 as old graphs have it.");
  library.op("StackClose")
      .input("handle: Ref(string)")
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .cpu_kernel(close)
      .doc("StackCloseV2 as old graphs have it.");
}

} // namespace

void register_ops(OpLibrary& library) {
  register_by_handle(library);
  register_by_name(library);
}

} // namespace troupe::list_stack
