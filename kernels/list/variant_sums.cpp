// AddN and ZerosLike of variants; the ops themselves are in math/ and array/.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/list/internal/variant_math.hpp"

namespace troupe::list_variant_sums {
namespace {

Status add_n(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    if (!c.input(i).shape().is_scalar())
      return invalid_argument(
          str_cat("AddN of non-scalar Tensor with dtype=DT_VARIANT is not supported; inputs[", i,
                  " has shape: ", c.input(i).shape(), "."));
  Tensor sum = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    TROUPE_ASSIGN(sum, list::add(c, sum, c.input(i)));
  }
  return c.set_output(0, std::move(sum));
}

Status zeros_like(KernelContext& c) {
  TROUPE_ASSIGN(Tensor out, list::zeros_like(c, c.input(0)));
  return c.set_output(0, std::move(out));
}

} // namespace

void register_ops(OpLibrary& library) {
  const TypeConstraint variants{.attr = "T", .dtypes = {DType::variant}};
  library.kernels.add(
      {.op = "AddN", .device_type = "CPU", .compute = add_n, .options = {.types = {variants}}});
  library.kernels.add({.op = "ZerosLike",
                       .device_type = "CPU",
                       .compute = zeros_like,
                       .options = {.types = {variants}}});
}

} // namespace troupe::list_variant_sums
