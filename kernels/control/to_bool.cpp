// ToBool: whether a value counts as true: a number that is not zero, a text that is not empty, a
// tensor of rank 1 or more that has elements.
#include <complex>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::control_to_bool {
namespace {

Result<bool> is_true(const Tensor& x) {
  if (!x.shape().is_scalar())
    return x.num_elements() > 0;
  switch (x.dtype()) {
  case DType::bool_:
    return x.value<bool>();
  case DType::float32:
    return x.value<float>() != 0;
  case DType::float64:
    return x.value<double>() != 0;
  case DType::int32:
    return x.value<std::int32_t>() != 0;
  case DType::int64:
    return x.value<std::int64_t>() != 0;
  case DType::int16:
    return x.value<std::int16_t>() != 0;
  case DType::int8:
    return x.value<std::int8_t>() != 0;
  case DType::uint8:
    return x.value<std::uint8_t>() != 0;
  case DType::string:
    return !x.value<std::string>().empty();
  default:
    return invalid_argument(str_cat(to_string(x.dtype()), " cannot be converted to a boolean"));
  }
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(bool value, is_true(c.input(0)));
  return c.set_output(0, Tensor::scalar<bool>(value));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ToBool")
      .input("input: T")
      .output("output: bool")
      .attr("T: type")
      .shape_fn(shape_scalar)
      .not_differentiable("its output is a bool")
      .cpu_kernel(compute)
      .doc("Whether the input is true: not zero, not empty.");
}

} // namespace troupe::control_to_bool
