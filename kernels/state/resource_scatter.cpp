// ResourceScatterUpdate, Add, Sub, Mul, Min, Max: rows of a resource variable are changed in
// place; a row that is named twice is changed twice, in order.
#include <algorithm>
#include <optional>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/state/internal/rows.hpp"

namespace troupe {
namespace {

using arith::BinaryOp;

Status infer_shape(ShapeContext& c) {
  const PartialShape &indices = c.input(1), &updates = c.input(2);
  if (!indices.has_rank() || !updates.has_rank() || updates.rank() == 0)
    return {};
  if (updates.rank() < indices.rank())
    return invalid_argument(
        str_cat("Shape must be at least rank ", indices.rank(), " but is rank ", updates.rank()));
  for (int i = 0; i < indices.rank(); ++i)
    TROUPE_TRY(shape_rules::merge_dims(indices.dim(i), updates.dim(i)).status());
  return {};
}

Status check_shapes(const Shape& params, const Shape& indices, const Shape& updates) {
  if (params.rank() < 1)
    return invalid_argument(str_cat("the variable must have rows, but its shape is ", params));
  bool fits = updates.is_scalar() || updates.rank() == indices.rank() + params.rank() - 1;
  for (int i = 0; fits && !updates.is_scalar() && i < updates.rank(); ++i)
    fits = updates[i] == (i < indices.rank() ? indices[i] : params[i - indices.rank() + 1]);
  if (fits)
    return {};
  return invalid_argument(
      str_cat("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
              "got updates.shape ",
              updates, ", indices.shape ", indices, ", params.shape ", params));
}

/// Changes rows one after the other; without `kernel` they are replaced.
void change_rows(const arith::BinaryKernel& kernel, Tensor& params, const Tensor& indices,
                 const Tensor& updates, int size) {
  const std::int64_t row = params.num_elements() / std::max<std::int64_t>(params.shape()[0], 1);
  const bool one_for_all = updates.shape().is_scalar();
  auto* to = static_cast<std::byte*>(params.mutable_raw());
  const auto* from = static_cast<const std::byte*>(updates.raw());
  for (std::int64_t i = 0; i < indices.num_elements(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t index = indices.dtype() == DType::int64 ? indices.data<std::int64_t>()[at]
                                                               : indices.data<std::int32_t>()[at];
    std::byte* here = to + index * row * size;
    const std::byte* update = one_for_all ? from : from + i * row * size;
    if (kernel)
      kernel.row(here, update, here, row,
                 one_for_all ? arith::RowMode::right_scalar : arith::RowMode::both_rows);
    else if (one_for_all)
      arith::fill(size, update, here, 0, row);
    else
      std::copy_n(update, row * size, here);
  }
}

Status scatter(KernelContext& c, std::optional<BinaryOp> op) {
  TROUPE_ASSIGN(auto variable, resource_variable(c, 0));
  const Tensor &indices = c.input(1), &updates = c.input(2);
  if (variable->dtype() != updates.dtype())
    return invalid_argument(str_cat("Trying to scatter into variable with wrong dtype. Expected ",
                                    to_string(variable->dtype()), " got ",
                                    to_string(updates.dtype())));
  return variable->update([&](Tensor& params) -> Status {
    TROUPE_TRY(check_shapes(params.shape(), indices.shape(), updates.shape()));
    if (indices.num_elements() == 0)
      return {};
    TROUPE_TRY(state::check_rows(indices, params.shape()[0]));
    arith::BinaryKernel kernel;
    if (op) {
      TROUPE_ASSIGN(kernel, arith::binary(*op, updates.dtype()));
    }
    change_rows(kernel, params, indices, updates, static_cast<int>(dtype_size(updates.dtype())));
    return {};
  });
}

constexpr auto in_place = "it changes a variable in place";
constexpr auto any_number = "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, "
                            "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
                            "half, uint32, uint64}";

/// Without `function` rows are replaced.
void add_op(OpLibrary& library, std::string_view name, KernelFn fn, std::string_view types,
            std::optional<BinaryOp> function, std::string_view doc) {
  std::vector<DType> dtypes = arith::dtypes_of(function.value_or(BinaryOp::add));
  if (!function)
    dtypes.push_back(DType::bool_);
  KernelOptions options;
  options.types = {{"Tindices", {DType::int32, DType::int64}}, {"dtype", std::move(dtypes)}};
  options.expensive = true;
  library.op(name)
      .input("resource: resource; indices: Tindices; updates: dtype")
      .attr(types)
      .attr("Tindices: {int32, int64}")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(in_place)
      .cpu_kernel(fn, std::move(options))
      .doc(doc);
}

} // namespace

void register_state_resource_scatter(OpLibrary& library) {
  add_op(
      library, "ResourceScatterUpdate", [](KernelContext& c) { return scatter(c, std::nullopt); },
      "dtype: type", std::nullopt, "variable[indices] = updates.");
  add_op(
      library, "ResourceScatterAdd", [](KernelContext& c) { return scatter(c, BinaryOp::add); },
      any_number, BinaryOp::add, "variable[indices] += updates.");
  add_op(
      library, "ResourceScatterSub", [](KernelContext& c) { return scatter(c, BinaryOp::sub); },
      any_number, BinaryOp::sub, "variable[indices] -= updates.");
  add_op(
      library, "ResourceScatterMul", [](KernelContext& c) { return scatter(c, BinaryOp::mul); },
      any_number, BinaryOp::mul, "variable[indices] *= updates.");
  add_op(
      library, "ResourceScatterMin", [](KernelContext& c) { return scatter(c, BinaryOp::minimum); },
      any_number, BinaryOp::minimum, "variable[indices] = min(variable[indices], updates).");
  add_op(
      library, "ResourceScatterMax", [](KernelContext& c) { return scatter(c, BinaryOp::maximum); },
      any_number, BinaryOp::maximum, "variable[indices] = max(variable[indices], updates).");
}

} // namespace troupe
