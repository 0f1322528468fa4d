// Reshape and QuantizedReshape: the same elements, in the same buffer, under another shape; one
// dimension may be -1.
#include <algorithm>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_reshape {
namespace {

using array::Dims;

// Number of elements, or -1: not known, or of a shape that no tensor has.
std::int64_t elements_of(const PartialShape& shape) {
  const bool is_empty =
      shape.has_rank() && std::ranges::find(shape.dims(), 0) != shape.dims().end();
  const auto whole = shape.to_shape();
  return is_empty ? 0 : whole ? whole->num_elements() : -1;
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape wanted, c.input_as_shape(1));
  const std::int64_t elements = elements_of(c.input(0));
  if (!wanted.has_rank() || !c.input_as_ints(1) || elements < 0)
    return c.set_output(0, std::move(wanted));
  Dims dims = wanted.dims();
  std::int64_t product = 1;
  std::size_t unknown = dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0)
      product *= dims[i];
    else if (unknown == dims.size())
      unknown = i;
    else
      return invalid_argument(
          str_cat("Only one input size may be -1, not both ", unknown, " and ", i));
  }
  if (unknown == dims.size()) {
    if (product != elements)
      return invalid_argument(str_cat("Cannot reshape a tensor with ", elements,
                                      " elements to shape ", wanted, " (", product, " elements)"));
  } else if (product > 0) {
    if (elements % product != 0)
      return invalid_argument(
          str_cat("Dimension size must be evenly divisible by ", product, " but is ", elements));
    dims[unknown] = elements / product;
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status infer_with_range(ShapeContext& c) {
  TROUPE_TRY(infer_shape(c));
  for (int i : {1, 2}) {
    TROUPE_TRY(c.require_rank(i + 1, 0));
    TROUPE_TRY(c.set_output(i, PartialShape(Dims{})));
  }
  return {};
}

Status differentiate(GradContext& g) {
  return g.set_input_grad(0, array::reshape_like(g, g.output_grad(0), g.input(0)));
}

/// The number of elements, leaving out dimensions of 0: what a -1 beside a 0 is computed from.
std::int64_t elements_without_zeros(const Shape& shape) {
  std::int64_t product = 1;
  for (std::int64_t dim : shape.dims())
    product *= dim == 0 ? 1 : dim;
  return product;
}

Result<Shape> target_shape(const Tensor& sizes, const Shape& input) {
  // A scalar -1 means "flat", as a vector of that one number would.
  if (sizes.shape().rank() > 1)
    return invalid_argument(str_cat("sizes input must be 1-D, not ", sizes.shape()));
  TROUPE_ASSIGN(Integers dims, integers(sizes));
  std::size_t unknown = dims.size();
  bool has_zero = false;
  std::int64_t product = 1; // of the sizes that are neither -1 nor 0
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1) {
      if (unknown != dims.size())
        return invalid_argument(
            str_cat("Only one input size may be -1, not both ", unknown, " and ", i));
      unknown = i;
    } else if (dims[i] < 0) {
      return invalid_argument(str_cat("Size ", i, " must be non-negative, not ", dims[i]));
    } else if (dims[i] == 0) {
      has_zero = true;
    } else if (__builtin_mul_overflow(product, dims[i], &product)) {
      return invalid_argument(str_cat("The requested shape [", str_join(dims, ","),
                                      "] has more than 2^63 - 1 elements"));
    }
  }
  const std::int64_t elements = input.num_elements();
  if (unknown != dims.size()) {
    const std::int64_t divided = has_zero ? elements_without_zeros(input) : elements;
    if (divided % product != 0 && !(has_zero && elements == 0))
      return invalid_argument(str_cat("Input to reshape is a tensor with ", elements,
                                      " values, but the requested shape requires a multiple of ",
                                      product));
    dims[unknown] = divided / product;
  }
  TROUPE_ASSIGN(Shape shape, Shape::make(dims));
  if (shape.num_elements() != elements)
    return invalid_argument(str_cat("Input to reshape is a tensor with ", elements,
                                    " values, but the requested shape has ", shape.num_elements()));
  return shape;
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(Shape shape, target_shape(c.input(1), c.input(0).shape()));
  return c.set_output(0, c.take_input(0).reshaped(std::move(shape)));
}

Status compute_with_range(KernelContext& c) {
  TROUPE_ASSIGN(Shape shape, target_shape(c.input(1), c.input(0).shape()));
  for (int i : {1, 2}) {
    const Tensor& bound = c.input(i + 1);
    if (bound.num_elements() != 1 || bound.shape().rank() > 1)
      return invalid_argument(str_cat(i == 1 ? "input_min" : "input_max",
                                      " must be a scalar or a vector of 1 element"));
    TROUPE_TRY(c.set_output(i, bound.reshaped(Shape{})));
  }
  return c.set_output(0, c.take_input(0).reshaped(std::move(shape)));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Reshape")
      .input("tensor: T; shape: Tshape")
      .output("output: T")
      .attr("T: type; Tshape: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute)
      .gpu_kernel(compute, array::on_gpu({}, "T", {"shape"}))
      .host_kernel_on_gpu(compute, array::int32_on_host({}))
      .doc("The same elements under another shape; one dimension may be -1, for what is left.");
  library.op("QuantizedReshape")
      .input("tensor: T; shape: Tshape; input_min: float; input_max: float")
      .output("output: T; output_min: float; output_max: float")
      .attr("T: type; Tshape: {int32, int64} = DT_INT32")
      .shape_fn(infer_with_range)
      .not_differentiable("it moves integers")
      .cpu_kernel(compute_with_range, {.types = {{"T", {DType::quint8, DType::qint32}}}})
      .doc("Reshape of quantised numbers; the range stays.");
}

} // namespace troupe::array_reshape
