// What the optimizers' ops share.
#include "kernels/train/internal/update.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <functional>

#include "core/base/strings.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe::train {
namespace {

using VariableRef = std::shared_ptr<Variable>;

const std::string& input_name(const KernelContext& c, int i) {
  return c.node().schema->inputs[static_cast<std::size_t>(i)].name;
}

Result<VariableRef> variable(KernelContext& c, int i) {
  VariableRef out;
  if (is_ref(c.io().types.inputs[static_cast<std::size_t>(i)])) {
    out = c.input_ref(i);
  } else {
    TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, i));
    auto found = c.resources().lookup<Variable>(handle->container, handle->name);
    if (!found.ok())
      return internal(str_cat("Invalid variable reference. ", found.status().message()));
    out = *found;
  }
  const DType wanted = c.node().attrs.get_or<DType>("T", DType::invalid);
  if (out->dtype() != wanted)
    return invalid_argument(str_cat("Trying to update variable '", input_name(c, i),
                                    "' with wrong dtype. Expected ", to_string(out->dtype()),
                                    " got ", to_string(wanted)));
  if (!out->is_initialized())
    return failed_precondition(
        str_cat("Attempting to use uninitialized value: the variable given as '", input_name(c, i),
                "' has none. Run its initializer first"));
  return out;
}

Status check_scalars(const KernelContext& c, const Inputs& inputs) {
  for (int i = inputs.variables; i < c.num_inputs(); ++i)
    if (i != inputs.gradient && i != inputs.indices && !c.input(i).shape().is_scalar()) {
      const std::string& name = input_name(c, i);
      const char* colon = name == "lr_power"                    ? ""
                          : inputs.adam_wording && name == "lr" ? " : "
                                                                : ": ";
      return invalid_argument(
          str_cat(name_in_messages(name), " is not a scalar", colon, c.input(i).shape()));
    }
  return {};
}

Status check_indices(const Tensor& indices, std::int64_t rows) {
  return dispatch(Indices{}, indices.dtype(), [&]<class T>() -> Status {
    const auto all = indices.data<T>();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] < 0 || static_cast<std::int64_t>(all[i]) >= rows)
        return invalid_argument(
            str_cat("Index ", all[i], " at offset ", i, " in indices is out of range"));
    return {};
  });
}

Status check_rows(const Inputs& inputs, const Shape& var, const Shape& grad,
                  const Tensor& indices) {
  if (var.rank() < 1)
    return invalid_argument("var must be at least 1 dimensional");
  if (indices.shape().rank() != 1)
    return invalid_argument("indices must be one-dimensional");
  if (inputs.rank_of_grad && grad.rank() != var.rank())
    return invalid_argument("grad must have the same number of dimensions as var");
  std::int64_t row = 1;
  for (int d = 1; d < var.rank(); ++d) {
    if (d >= grad.rank() || var[d] != grad[d])
      return invalid_argument(str_cat("var and grad must match in dimension ", d));
    row *= grad[d];
  }
  if (grad.rank() == 0 || grad[0] != indices.shape()[0])
    return invalid_argument("grad must be the same size as indices in the first dimension.");
  if (inputs.rows_have_elements && row == 0)
    return invalid_argument("Inner dimension should be greater than zero.");
  if (grad.rank() != var.rank())
    return invalid_argument(
        str_cat("var and grad must have the same rank; their shapes are ", var, " and ", grad));
  return check_indices(indices, var[0]);
}

Status check_shapes(const KernelContext& c, const Inputs& inputs, std::span<Tensor* const> values) {
  const Shape& shape = values[0]->shape();
  const auto check = [&](int i, const Shape& other) -> Status {
    if (other == shape)
      return {};
    return invalid_argument(
        str_cat("var and ", input_name(c, i), " do not have the same shape", shape, " ", other));
  };
  for (std::size_t i = 1; i < values.size(); ++i)
    TROUPE_TRY(check(static_cast<int>(i), values[i]->shape()));
  if (inputs.indices >= 0)
    return check_rows(inputs, shape, c.input(inputs.gradient).shape(), c.input(inputs.indices));
  return check(inputs.gradient, c.input(inputs.gradient).shape());
}

/// Locks variables[order[depth …]] one inside the other, then runs `body`.
Status lock_all(std::span<const VariableRef> variables, std::span<const std::size_t> order,
                std::span<Tensor*> values, FunctionView<Status()> body) {
  if (order.empty())
    return body();
  const std::size_t i = order.front();
  const auto rest = order.subspan(1);
  auto locked = [&](Tensor& value) {
    for (std::size_t k = 0; k < variables.size(); ++k)
      if (variables[k] == variables[i])
        values[k] = &value;
    return lock_all(variables, rest, values, body);
  };
  return variables[i]->update(locked);
}

/// What the gradient says of the variables' shape: of rows, nothing of their number.
Result<PartialShape> shape_of_gradient(ShapeContext& c, const Inputs& inputs,
                                       const PartialShape& var) {
  const PartialShape& grad = c.input(inputs.gradient);
  if (inputs.indices < 0 || !grad.has_rank())
    return grad;
  if (grad.rank() == 0)
    return invalid_argument("grad must be at least 1 dimensional");
  const PartialShape& indices = c.input(inputs.indices);
  if (indices.has_rank())
    TROUPE_TRY(shape_rules::merge_dims(indices.dim(0), grad.dim(0)).status());
  std::vector<std::int64_t> dims = grad.dims();
  dims[0] = var.has_rank() && var.rank() > 0 ? var.dim(0) : shape_rules::unknown_dim;
  return PartialShape(std::move(dims));
}

} // namespace

Status infer_shape(ShapeContext& c, const Inputs& inputs) {
  for (int i = inputs.variables; i < c.num_inputs(); ++i)
    if (i != inputs.gradient && i != inputs.indices)
      TROUPE_TRY(c.require_rank(i, 0));
  if (inputs.indices >= 0)
    TROUPE_TRY(c.require_rank(inputs.indices, 1));
  if (!c.schema().inputs[0].is_ref)
    return {};
  PartialShape shape = c.input(0);
  for (int i = 1; i < inputs.variables; ++i) {
    TROUPE_ASSIGN(shape, shape_rules::merge_shapes(shape, c.input(i)));
  }
  TROUPE_ASSIGN(const PartialShape changed, shape_of_gradient(c, inputs, shape));
  TROUPE_ASSIGN(shape, shape_rules::merge_shapes(shape, changed));
  return c.set_output(0, std::move(shape));
}

std::string_view name_in_messages(std::string_view name) {
  return name == "l1"             ? "l1 regularization strength"
         : name == "l2"           ? "l2 regularization strength"
         : name == "l2_shrinkage" ? "l2 shrinkage regularization strength"
                                  : name;
}

Status check_scalar(const KernelContext& c, int i, std::string_view what,
                    FunctionView<bool(double)> holds) {
  const Shape& shape = c.input(i).shape();
  if (shape.is_scalar() && holds(scalar(c, i).real))
    return {};
  return invalid_argument(
      str_cat(name_in_messages(input_name(c, i)), " is not a ", what, " scalar: ", shape));
}

arith::Scalar scalar(const KernelContext& c, int i) {
  const Tensor& value = c.input(i);
  switch (value.dtype()) {
  case DType::float32:
    return {static_cast<double>(value.value<float>())};
  case DType::float16:
    return {static_cast<double>(static_cast<float>(value.value<Half>()))};
  case DType::int64:
    return {static_cast<double>(value.value<std::int64_t>())};
  case DType::bfloat16:
    return {static_cast<double>(static_cast<float>(value.value<BFloat16>()))};
  case DType::complex64: {
    const std::complex<double> number(value.value<std::complex<float>>());
    return {number.real(), number.imag()};
  }
  case DType::complex128: {
    const auto number = value.value<std::complex<double>>();
    return {number.real(), number.imag()};
  }
  default:
    return {value.value<double>()};
  }
}

Status update(KernelContext& c, const Inputs& inputs, double unit_cost,
              FunctionView<void(std::span<void* const>, std::int64_t, std::int64_t)> body) {
  return update_locked(c, inputs, [&](std::span<Tensor* const> values) -> Status {
    std::array<void*, max_variables> elements{};
    for (std::size_t i = 0; i < values.size(); ++i)
      elements[i] = values[i]->mutable_raw();
    const std::span<void* const> data(elements.data(), values.size());
    c.parallel_for_to_the_end(
        values[0]->num_elements(), unit_cost,
        [&](std::int64_t begin, std::int64_t end) { body(data, begin, end); });
    return {};
  });
}

Status update_locked(KernelContext& c, const Inputs& inputs,
                     FunctionView<Status(std::span<Tensor* const> values)> body) {
  const auto count = static_cast<std::size_t>(inputs.variables);
  TROUPE_CHECK(count <= max_variables, "an optimizer updates few variables at once");
  std::array<VariableRef, max_variables> found;
  const std::span variables(found.data(), count);
  for (std::size_t i = 0; i < count; ++i) {
    TROUPE_ASSIGN(variables[i], variable(c, static_cast<int>(i)));
  }
  if (inputs.check)
    TROUPE_TRY(inputs.check(c, inputs.indices >= 0));
  TROUPE_TRY(check_scalars(c, inputs));

  // Each variable once, by address: everybody locks in the same order.
  std::array<std::size_t, max_variables> positions{};
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_same = [&](std::size_t k) { return variables[k] == variables[i]; };
    if (std::any_of(positions.begin(), positions.begin() + distinct, is_same))
      continue;
    std::size_t k = distinct++;
    for (; k > 0 && std::less<>{}(variables[i].get(), variables[positions[k - 1]].get()); --k)
      positions[k] = positions[k - 1];
    positions[k] = i;
  }
  const std::span<const std::size_t> order(positions.data(), distinct);

  std::array<Tensor*, max_variables> pointers{};
  const std::span values(pointers.data(), count);
  TROUPE_TRY(lock_all(variables, order, values, [&]() -> Status {
    TROUPE_TRY(check_shapes(c, inputs, values));
    return body(values);
  }));
  if (c.num_outputs() > 0)
    c.set_output_ref(0, variables[0]);
  return {};
}

KernelOptions kernel_options() {
  KernelOptions out;
  out.types = {{"T",
                {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::complex64,
                 DType::complex128}}};
  return out;
}

} // namespace troupe::train
