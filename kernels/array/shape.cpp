// Shape, ShapeN, Size, Rank: what a tensor's dimensions are.
#include <limits>

#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_shape {
namespace {

constexpr auto discrete = "it depends on the input's shape alone";

template <class T>
Status write_dims(const Shape& shape, Tensor& out) {
  auto dims = out.mutable_data<T>();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] > std::numeric_limits<T>::max())
      return invalid_argument(str_cat("Shape output type is 32-bit but dim ", i, " is ", shape[i]));
    dims[static_cast<std::size_t>(i)] = static_cast<T>(shape[i]);
  }
  return {};
}

Status compute_shape(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& shape = c.input(i).shape();
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i, Shape{shape.rank()}));
    TROUPE_TRY(dispatch(Indices{}, out.dtype(),
                        [&]<class T>() -> Status { return write_dims<T>(shape, out); }));
  }
  return {};
}

Status compute_size(KernelContext& c) {
  const std::int64_t size = c.input(0).num_elements();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
  return dispatch(Indices{}, out.dtype(), [&]<class T>() -> Status {
    if (size > std::numeric_limits<T>::max())
      return invalid_argument(str_cat(
          "Number of elements was larger than representable by 32-bit output type: ", size));
    out.mutable_data<T>()[0] = static_cast<T>(size);
    return {};
  });
}

Status compute_rank(KernelContext& c) {
  const int rank = c.input(0).shape().rank();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
  out.mutable_data<std::int32_t>()[0] = rank;
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Shape")
      .input("input: T")
      .output("output: out_type")
      .attr("T: type; out_type: {int32, int64} = DT_INT32")
      .roles(Role::metadata)
      .shape_fn(shape_of_dims)
      .not_differentiable(discrete)
      .cpu_kernel(compute_shape)
      .gpu_kernel(compute_shape, {.host_outputs = {all_args}})
      .doc("The dimensions of a tensor, as a vector.");
  library.op("ShapeN")
      .input("input: N * T")
      .output("output: N * out_type")
      .attr("N: int >= 1; T: type; out_type: {int32, int64} = DT_INT32")
      .roles(Role::metadata)
      .shape_fn(shape_of_dims)
      .not_differentiable(discrete)
      .cpu_kernel(compute_shape)
      .gpu_kernel(compute_shape, {.host_outputs = {all_args}})
      .doc("The dimensions of each of N tensors.");
  library.op("Size")
      .input("input: T")
      .output("output: out_type")
      .attr("T: type; out_type: {int32, int64} = DT_INT32")
      .roles(Role::metadata)
      .shape_fn(shape_of_num_elements)
      .not_differentiable(discrete)
      .cpu_kernel(compute_size)
      .gpu_kernel(compute_size, {.host_outputs = {all_args}})
      .doc("The number of elements.");
  library.op("Rank")
      .input("input: T")
      .output("output: int32")
      .attr("T: type")
      .roles(Role::metadata)
      .shape_fn(shape_of_rank)
      .not_differentiable(discrete)
      .cpu_kernel(compute_rank)
      .gpu_kernel(compute_rank, {.host_outputs = {all_args}})
      .doc("The number of dimensions.");
}

} // namespace troupe::array_shape
