// ScatterUpdate, Add, Sub, Mul, Div, Min, Max and their Resource forms: rows of a variable are
// changed in place; a row that is named twice is changed twice, in order.
#include <algorithm>
#include <optional>

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/state/internal/change.hpp"
#include "kernels/state/internal/rows.hpp"

namespace troupe::state_scatter {
namespace {

using arith::BinaryOp;

Status infer_shape(ShapeContext& c) {
  const PartialShape &indices = c.input(1), &updates = c.input(2);
  if (c.num_outputs() > 0)
    TROUPE_TRY(c.output_like(0, 0));
  if (!indices.has_rank() || !updates.has_rank() || updates.rank() == 0)
    return {};
  if (updates.rank() < indices.rank())
    return invalid_argument(
        str_cat("Shape must be at least rank ", indices.rank(), " but is rank ", updates.rank()));
  for (int i = 0; i < indices.rank(); ++i)
    TROUPE_TRY(shape_rules::merge_dims(indices.dim(i), updates.dim(i)).status());
  return {};
}

/// `by_ref`: the variable is given by reference, where TensorFlow's sentences are others.
Status check_shapes(const Shape& params, const Shape& indices, const Shape& updates, bool by_ref) {
  if (by_ref && params.rank() < 1)
    return invalid_argument(str_cat("params must be at least 1-D, got shape ", params));
  bool fits = params.rank() > 0 &&
              (updates.is_scalar() || updates.rank() == indices.rank() + params.rank() - 1);
  if (fits && !by_ref && !updates.is_scalar()) {
    if (indices.num_elements() == 0)
      return {};
    if (!std::ranges::equal(indices.dims(), updates.dims().first(indices.dims().size())))
      return invalid_argument(str_cat("The shape of indices (", indices,
                                      ") must be a prefix of the shape of updates (", updates,
                                      ")"));
  }
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

/// Objects can only be replaced.
void replace_objects(Tensor& params, const Tensor& indices, const Tensor& updates) {
  const std::int64_t row = params.num_elements() / std::max<std::int64_t>(params.shape()[0], 1);
  const bool one_for_all = updates.shape().is_scalar();
  for (std::int64_t i = 0; i < indices.num_elements(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t index = indices.dtype() == DType::int64 ? indices.data<std::int64_t>()[at]
                                                               : indices.data<std::int32_t>()[at];
    for (std::int64_t k = 0; k < row; ++k)
      copy_elements(updates, one_for_all ? 0 : i * row + k, params, index * row + k, 1);
  }
}

bool has_zero(const Tensor& numbers) {
  const auto bytes = numbers.bytes();
  const std::size_t size = dtype_size(numbers.dtype());
  for (std::size_t at = 0; at < bytes.size(); at += size)
    if (std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    bytes.begin() + static_cast<std::ptrdiff_t>(at + size),
                    [](std::byte b) { return b == std::byte{0}; }))
      return true;
  return false;
}

/// The function of `op` for a dtype: integers are divided towards zero.
Result<arith::BinaryKernel> kernel_of(BinaryOp op, const Tensor& updates, bool by_ref) {
  if (op == BinaryOp::real_div && !by_ref && has_zero(updates))
    return invalid_argument("updates must not contain 0");
  if (op != BinaryOp::real_div || !is_integer(updates.dtype()))
    return arith::binary(op, updates.dtype());
  if (has_zero(updates))
    return invalid_argument("Integer division by zero");
  return arith::binary(BinaryOp::trunc_div, updates.dtype());
}

Status add_on_gpu(KernelContext& c, Tensor& params, const Tensor& indices, const Tensor& updates) {
  const std::int64_t rows = params.shape()[0];
  const std::int64_t inner = params.num_elements() / std::max<std::int64_t>(rows, 1);
  if (!updates.shape().is_scalar())
    return gpu::add_rows(c, updates, indices, params.mutable_raw(), rows, inner);
  TROUPE_ASSIGN(Tensor repeated,
                c.allocate_temp(updates.dtype(), Shape{indices.num_elements(), inner}));
  TROUPE_TRY(gpu::fill_with(c, dtype_size(updates.dtype()), updates.raw(), repeated.mutable_raw(),
                            repeated.num_elements()));
  return gpu::add_rows(c, repeated, indices, params.mutable_raw(), rows, inner);
}

Status scatter(KernelContext& c, std::optional<BinaryOp> op) {
  TROUPE_ASSIGN(auto variable, state::variable_to_change(c, 0));
  const Tensor &indices = c.input(1), &updates = c.input(2);
  const bool by_ref = is_ref(c.io().types.inputs[0]);
  if (variable->dtype() != updates.dtype())
    return invalid_argument(str_cat("Trying to scatter into variable with wrong dtype. Expected ",
                                    to_string(variable->dtype()), " got ",
                                    to_string(updates.dtype())));
  TROUPE_TRY(variable->update([&](Tensor& params) -> Status {
    TROUPE_TRY(check_shapes(params.shape(), indices.shape(), updates.shape(), by_ref));
    if (indices.num_elements() == 0)
      return {};
    if (params.kind() == MemoryKind::device) // addition alone
      return add_on_gpu(c, params, indices, updates);
    TROUPE_TRY(state::check_rows(indices, params.shape()[0]));
    if (is_object(updates.dtype())) {
      replace_objects(params, indices, updates);
      return {};
    }
    arith::BinaryKernel kernel;
    if (op) {
      TROUPE_ASSIGN(kernel, kernel_of(*op, updates, by_ref));
    }
    change_rows(kernel, params, indices, updates, static_cast<int>(dtype_size(updates.dtype())));
    return {};
  }));
  state::give_ref(c, std::move(variable));
  return {};
}

constexpr auto in_place = "it changes a variable in place";
constexpr auto any_number = "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, "
                            "quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, "
                            "uint32, uint64}";

/// One function. Without `op` rows are replaced.
struct Kind {
  std::string_view name, doc;
  std::optional<BinaryOp> op;
  KernelFn kernel;
  std::string_view ref_types = any_number;
};

constexpr Kind kinds[] = {
    {"ScatterUpdate", "variable[indices] = updates.", std::nullopt,
     [](KernelContext& c) { return scatter(c, std::nullopt); }, "type"},
    {"ScatterAdd", "variable[indices] += updates.", BinaryOp::add,
     [](KernelContext& c) { return scatter(c, BinaryOp::add); }},
    {"ScatterSub", "variable[indices] -= updates.", BinaryOp::sub,
     [](KernelContext& c) { return scatter(c, BinaryOp::sub); }},
    {"ScatterMul", "variable[indices] *= updates.", BinaryOp::mul,
     [](KernelContext& c) { return scatter(c, BinaryOp::mul); }},
    {"ScatterDiv", "variable[indices] /= updates.", BinaryOp::real_div,
     [](KernelContext& c) { return scatter(c, BinaryOp::real_div); }},
    {"ScatterMin", "variable[indices] = min(variable[indices], updates).", BinaryOp::clip_above,
     [](KernelContext& c) { return scatter(c, BinaryOp::clip_above); },
     "{half, bfloat16, float, double, int32, int64}"},
    {"ScatterMax", "variable[indices] = max(variable[indices], updates).", BinaryOp::clip_below,
     [](KernelContext& c) { return scatter(c, BinaryOp::clip_below); },
     "{half, bfloat16, float, double, int32, int64}"},
};

std::vector<DType> dtypes_of(const Kind& kind) {
  std::vector<DType> out =
      arith::dtypes_of(kind.op && kind.op != BinaryOp::real_div ? *kind.op : BinaryOp::add);
  if (!kind.op)
    out.insert(out.end(), {DType::bool_, DType::string, DType::resource, DType::variant});
  return out;
}

void add_op(OpLibrary& library, const Kind& kind, bool resource) {
  const std::string type = resource ? "dtype" : "T";
  KernelOptions options;
  options.types = {{"Tindices", {DType::int32, DType::int64}}, {type, dtypes_of(kind)}};
  options.expensive = true;
  auto op = library.op(str_cat(resource ? "Resource" : "", kind.name));
  op.input(resource ? "resource: resource" : "ref: Ref(T)")
      .input(str_cat("indices: Tindices; updates: ", type))
      .attr(str_cat(type, ": ",
                    !resource ? kind.ref_types
                    : kind.op ? any_number
                              : "type"))
      .attr("Tindices: {int32, int64}")
      .roles(Role::side_effect)
      .shape_fn(infer_shape)
      .not_differentiable(in_place)
      .cpu_kernel(kind.kernel, std::move(options))
      .doc(kind.doc);
  if (kind.op == BinaryOp::add)
    op.gpu_kernel(kind.kernel,
                  {.types = {{"Tindices", {DType::int32, DType::int64}}, {type, gpu::numbers()}}});
  if (resource)
    op.stateful();
  else
    op.output("output_ref: Ref(T)")
        .attr(kind.op ? "use_locking: bool = false" : "use_locking: bool = true");
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const Kind& kind : kinds)
    for (const bool resource : {false, true})
      add_op(library, kind, resource);
}

} // namespace troupe::state_scatter
