// TensorArrays: making them and their gradients, single elements, size, end. The float "flow" that
// ops hand on orders them.
#include <atomic>

#include "core/base/strings.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/list/internal/tensor_array.hpp"

namespace troupe::list_tensor_array {
namespace {

using list::TensorArray;
using list::TensorArrayTraits;

/// Numbers the arrays of a step.
struct ArrayCounter final : Resource {
  std::atomic<int> next{0};
  std::string description() const override { return "names of TensorArrays"; }
};

Result<std::shared_ptr<const void>> keep_traits(PrepareContext& c) {
  TensorArrayTraits out;
  TROUPE_ASSIGN(out.dtype, c.attr<DType>("dtype"));
  TROUPE_ASSIGN(out.element_shape, c.attr<PartialShape>("element_shape"));
  out.dynamic_size = c.attrs().get_or("dynamic_size", false);
  out.clear_after_read = c.attrs().get_or("clear_after_read", true);
  out.identical_element_shapes = c.attrs().get_or("identical_element_shapes", false);
  out.name = c.attrs().get_or("tensor_array_name", std::string());
  if (out.name.empty())
    out.name = c.node_name();
  return prepared(std::move(out));
}

Status give_handle(KernelContext& c, std::string key) {
  TROUPE_TRY(
      c.set_output(0, Tensor::scalar(make_handle<TensorArray>(c.device(), "", std::move(key)))));
  return c.set_output(1, Tensor::scalar<float>(0));
}

Status make_array(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(
        str_cat("TensorArray size must be scalar, but had shape: ", c.input(0).shape()));
  const std::int32_t size = c.input(0).value<std::int32_t>();
  if (size < 0)
    return invalid_argument("Size should be >= 0.");
  ResourceManager& arrays = *c.step().step_resources;
  TROUPE_ASSIGN(auto counter, arrays.lookup_or_create<ArrayCounter>("", "tensor_arrays", [] {
    return Result<std::shared_ptr<ArrayCounter>>(std::make_shared<ArrayCounter>());
  }));
  auto traits = c.prepared<TensorArrayTraits>();
  traits.name = str_cat(traits.name, "_", counter->next.fetch_add(1));
  const std::string key = str_cat(list::arrays_prefix, traits.name);
  auto made = std::make_shared<TensorArray>(std::move(traits));
  TROUPE_TRY(made->set_size(size, c.device().host_side_allocator()));
  TROUPE_TRY(arrays
                 .lookup_or_create<TensorArray>(
                     "", key, [&] { return Result<std::shared_ptr<TensorArray>>(made); })
                 .status());
  return give_handle(c, key);
}

// TensorArrayGradWithShape says what its elements have in front of the array's shapes.
Status make_gradient(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  if (!handle->name.starts_with(list::arrays_prefix))
    return invalid_argument(str_cat("Wrong input container. ", handle->name));
  TROUPE_ASSIGN(auto array, list::input_array(c));
  Shape prepended;
  if (c.num_inputs() > 2) {
    TROUPE_ASSIGN(prepended, shape_from(c.input(2)));
  }
  const std::string name =
      str_cat(handle->name.substr(list::arrays_prefix.size()), "@", c.prepared<std::string>());
  const std::string key = str_cat(list::gradients_prefix, name);
  TROUPE_TRY(c.step()
                 .step_resources
                 ->lookup_or_create<TensorArray>("", key,
                                                 [&] {
                                                   return array->make_gradient(
                                                       name, prepended,
                                                       c.device().host_side_allocator());
                                                 })
                 .status());
  return give_handle(c, key);
}

Result<std::int32_t> index_input(KernelContext& c) {
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(
        str_cat("TensorArray index must be scalar, but had shape: ", c.input(1).shape()));
  return c.input(1).value<std::int32_t>();
}

Status write(KernelContext& c) {
  TROUPE_ASSIGN(const std::int32_t index, index_input(c));
  TROUPE_ASSIGN(auto array, list::input_array_to_write(c, c.input(2).dtype()));
  std::vector<Tensor> values;
  values.push_back(c.take_input(2));
  TROUPE_TRY(array->write(c, {&index, 1}, std::move(values)));
  return c.set_output(0, c.take_input(3));
}

Status read(KernelContext& c) {
  TROUPE_ASSIGN(const std::int32_t index, index_input(c));
  TROUPE_ASSIGN(auto array, list::input_array_to_read(c));
  TROUPE_ASSIGN(auto values, array->read(c, {&index, 1}));
  return c.set_output(0, std::move(values[0]));
}

Status size(KernelContext& c) {
  TROUPE_ASSIGN(auto array, list::input_array(c));
  TROUPE_ASSIGN(const std::int32_t size, array->size());
  return c.set_output(0, Tensor::scalar(size));
}

Status close(KernelContext& c) {
  TROUPE_ASSIGN(auto array, list::input_array(c));
  array->close();
  return {};
}

Status infer_write(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  TROUPE_TRY(c.require_rank(3, 0));
  return shape_scalar(c);
}

Status infer_read(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  TROUPE_TRY(c.require_rank(2, 0));
  return shape_unknown(c);
}

Status infer_made(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  return shape_scalar(c);
}

constexpr auto python = "TensorFlow's clients bring its gradient";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TensorArrayV3")
      .input("size: int32")
      .output("handle: resource; flow: float")
      .attr("dtype: type; element_shape: shape = { unknown_rank: true }")
      .attr("dynamic_size: bool = false; clear_after_read: bool = true")
      .attr("identical_element_shapes: bool = false; tensor_array_name: string = ''")
      .stateful()
      .shape_fn(infer_made)
      .not_differentiable(python)
      .cpu_kernel(make_array, {.prepare = keep_traits})
      .host_kernel_on_gpu(make_array, {.prepare = keep_traits})
      .doc("An array of `size` tensors, none of them written, that lives as long as the step.");
  library.op("TensorArrayGradV3")
      .input("handle: resource; flow_in: float")
      .output("grad_handle: resource; flow_out: float")
      .attr("source: string")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(make_gradient, {.prepare = keep_attr<std::string, "source">})
      .host_kernel_on_gpu(make_gradient, {.prepare = keep_attr<std::string, "source">})
      .doc("The array of gradients of `source` for an array; what is written there adds up.");
  library.op("TensorArrayGradWithShape")
      .input("handle: resource; flow_in: float; shape_to_prepend: int32")
      .output("grad_handle: resource; flow_out: float")
      .attr("source: string")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(make_gradient, {.prepare = keep_attr<std::string, "source">})
      .host_kernel_on_gpu(make_gradient, {.prepare = keep_attr<std::string, "source">})
      .doc("TensorArrayGradV3 for elements with more dimensions in front.");
  library.op("TensorArrayWriteV3")
      .input("handle: resource; index: int32; value: T; flow_in: float")
      .output("flow_out: float")
      .attr("T: type")
      .stateful()
      .shape_fn(infer_write)
      .not_differentiable(python)
      .cpu_kernel(write)
      .gpu_kernel(write, list::elements_on_gpu({}, "T"))
      .host_kernel_on_gpu(write, array::int32_on_host({}, "T"))
      .doc("Writes element `index`, once.");
  library.op("TensorArrayReadV3")
      .input("handle: resource; index: int32; flow_in: float")
      .output("value: dtype")
      .attr("dtype: type")
      .stateful()
      .shape_fn(infer_read)
      .not_differentiable(python)
      .cpu_kernel(read)
      .gpu_kernel(read, list::elements_on_gpu({}, "dtype"))
      .host_kernel_on_gpu(read, array::int32_on_host({}, "dtype"))
      .doc("Element `index`.");
  library.op("TensorArraySizeV3")
      .input("handle: resource; flow_in: float")
      .output("size: int32")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("it counts")
      .cpu_kernel(size)
      .host_kernel_on_gpu(size)
      .doc("How many elements the array has.");
  library.op("TensorArrayCloseV3")
      .input("handle: resource")
      .stateful()
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .cpu_kernel(close)
      .host_kernel_on_gpu(close)
      .doc("Drops the array's elements; whoever uses it afterwards fails.");
}

} // namespace troupe::list_tensor_array
