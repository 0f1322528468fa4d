// Fill: a tensor of one value. Empty: one of zeros. ZerosLike, OnesLike: zeros and ones of a
// tensor's shape.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::array_fill {
namespace {

Status infer_fill(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(1, 1)); // [1], too, as TensorFlow's kernel takes it
  if (c.input(1).has_rank() && c.input(1).rank() == 1 && c.input(1).dim(0) > 1)
    return invalid_argument(str_cat("value must represent a scalar, got shape ", c.input(1)));
  if (c.input(0).has_rank() && c.input(0).rank() == 0) { // one dimension, as TensorFlow takes it
    const auto size = c.input_as_ints(0);
    if (size && (*size)[0] < 0)
      return invalid_argument(str_cat("Dimension ", (*size)[0], " must be >= 0"));
    return c.set_output(0, PartialShape{size ? (*size)[0] : -1});
  }
  TROUPE_TRY(c.require_rank(0, 1));
  if (const auto dims = c.input_as_ints(0))
    for (std::int64_t dim : *dims)
      if (dim < 0)
        return invalid_argument(str_cat("Dimension ", dim, " must be >= 0"));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  return c.set_output(0, std::move(shape));
}

Status differentiate_fill(GradContext& g) {
  const Value dz = g.output_grad(0);
  return g.set_input_grad(1, g.op("Sum", {dz, array::all_axes(g, dz)}));
}

Status compute_fill(KernelContext& c) {
  if (c.input(0).shape().rank() > 1)
    return invalid_argument(
        str_cat("dims must represent a vector, got shape ", c.input(0).shape()));
  if (c.input(1).shape().rank() > 1 || c.input(1).num_elements() != 1)
    return invalid_argument(
        str_cat("value must represent a scalar, got shape ", c.input(1).shape()));
  TROUPE_ASSIGN(const Shape shape, shape_from(c.input(0)));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  return array::fill(c, c.input(1), out);
}

Status compute_zeros_like(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  const bool objects = is_object(c.input(0).dtype());
  TROUPE_ASSIGN(Tensor out,
                objects ? c.allocate_output(0, shape) : c.forward_or_allocate(0, 0, shape));
  TROUPE_TRY(array::fill_with_zeros(c, out));
  return {};
}

Status compute_ones_like(KernelContext& c) {
  const DType dtype = c.input(0).dtype();
  const Shape shape = c.input(0).shape();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  if (out.kind() == MemoryKind::device)
    return gpu::fill_with_ones(c, out.dtype(), out.mutable_raw(), out.num_elements());
  return dispatch(Types<float, double, std::int32_t, std::int64_t, std::uint8_t, std::int8_t,
                        std::int16_t, std::uint16_t, std::uint32_t, std::uint64_t, bool, Half,
                        BFloat16, std::complex<float>, std::complex<double>>{},
                  dtype, [&]<class T>() -> Status {
                    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
                      return array::fill(c, Tensor::scalar(T(1.0F)), out);
                    else
                      return array::fill(c, Tensor::scalar(static_cast<T>(1)), out);
                  });
}

Status infer_empty(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(0));
  return c.set_output(0, std::move(shape));
}

// Zeros without `init`, too: nobody sees what the memory held before.
Status compute_empty(KernelContext& c) {
  if (c.input(0).shape().rank() != 1)
    return invalid_argument(
        str_cat("shape must be a vector of int32, got shape ", c.input(0).shape()));
  TROUPE_ASSIGN(const Shape shape, shape_from(c.input(0)));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_TRY(array::fill_with_zeros(c, out));
  return {};
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

// Those are in list/variant_sums.cpp.
KernelOptions options_but_for_variants() {
  KernelOptions out = options();
  std::vector<DType> dtypes;
  for (int number = 1; number < 100; ++number)
    if (const auto dtype = static_cast<DType>(number); is_known(dtype) && dtype != DType::variant)
      dtypes.push_back(dtype);
  out.types = {{"T", std::move(dtypes)}};
  return out;
}

KernelOptions ones_on_gpu_options() {
  return {.types = {{"T", gpu::numbers()}}};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Fill")
      .input("dims: index_type; value: T")
      .output("output: T")
      .attr("T: type; index_type: {int32, int64} = DT_INT32")
      .shape_fn(infer_fill)
      .gradient(differentiate_fill)
      .cpu_kernel(compute_fill, options())
      .gpu_kernel(compute_fill, array::on_gpu(options(), "T", {"dims"}))
      .host_kernel_on_gpu(compute_fill, array::int32_on_host(options()))
      .doc("A tensor of the given dimensions, every element of which is the value.");
  library.op("Empty")
      .input("shape: int32")
      .output("output: dtype")
      .attr("dtype: type; init: bool = false")
      .stateful()
      .shape_fn(infer_empty)
      .not_differentiable("it is constant")
      .cpu_kernel(compute_empty, options())
      .gpu_kernel(compute_empty, array::on_gpu(options(), "dtype", {"shape"}))
      .doc(
          "A tensor of the given dimensions, which holds zeros whether init asks for them or not.");
  library.op("ZerosLike")
      .input("x: T")
      .output("y: T")
      .attr("T: type")
      .roles(Role::flat)
      .shape_fn(shape_unchanged)
      .not_differentiable("it is constant")
      .cpu_kernel(compute_zeros_like, options_but_for_variants())
      .gpu_kernel(compute_zeros_like, array::on_gpu(options()))
      .host_kernel_on_gpu(compute_zeros_like, array::int32_on_host(options()))
      .doc("Zeros (false, empty objects) of x's shape.");
  library.op("OnesLike")
      .input("x: T")
      .output("y: T")
      .attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
            "uint64, complex64, complex128, bool}")
      .roles(Role::flat)
      .shape_fn(shape_unchanged)
      .not_differentiable("it is constant")
      .cpu_kernel(compute_ones_like, options())
      .gpu_kernel(compute_ones_like, ones_on_gpu_options())
      .host_kernel_on_gpu(compute_ones_like, array::int32_on_host(options()))
      .doc("Ones of x's shape.");
}

} // namespace troupe::array_fill
