// What the optimizers' ops share.
#include "kernels/train/internal/update.hpp"

#include <algorithm>
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
  if (is_ref(c.node().types.inputs[static_cast<std::size_t>(i)])) {
    out = c.input_ref(i);
  } else {
    TROUPE_ASSIGN(ResourceHandle handle, local_handle(c, i));
    auto found = c.resources().lookup<Variable>(handle.container, handle.name);
    if (!found.ok())
      return uninitialized_resource(handle, found.status().message());
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
    if (i != inputs.gradient && !c.input(i).shape().is_scalar()) {
      const std::string& name = input_name(c, i);
      return invalid_argument(str_cat(name, " is not a scalar",
                                      inputs.adam_wording && name == "lr" ? " : " : ": ",
                                      c.input(i).shape()));
    }
  return {};
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
  return check(inputs.gradient, c.input(inputs.gradient).shape());
}

/// Locks variables[order[depth …]] one inside the other, then runs `body`.
Status lock_all(std::span<const VariableRef> variables, std::span<const std::size_t> order,
                std::span<Tensor*> values, FunctionView<Status()> body) {
  if (order.empty())
    return body();
  const std::size_t i = order.front();
  const auto rest = order.subspan(1);
  return variables[i]->update([&](Tensor& value) {
    for (std::size_t k = 0; k < variables.size(); ++k)
      if (variables[k] == variables[i])
        values[k] = &value;
    return lock_all(variables, rest, values, body);
  });
}

} // namespace

Status infer_shape(ShapeContext& c, const Inputs& inputs) {
  for (int i = inputs.variables; i < c.num_inputs(); ++i)
    if (i != inputs.gradient)
      TROUPE_TRY(c.require_rank(i, 0));
  if (!c.schema().inputs[0].is_ref)
    return {};
  PartialShape shape = c.input(0);
  for (int i = 1; i < inputs.variables; ++i) {
    TROUPE_ASSIGN(shape, shape_rules::merge_shapes(shape, c.input(i)));
  }
  TROUPE_ASSIGN(shape, shape_rules::merge_shapes(shape, c.input(inputs.gradient)));
  return c.set_output(0, std::move(shape));
}

double scalar(const KernelContext& c, int i) {
  const Tensor& value = c.input(i);
  return value.dtype() == DType::float32 ? static_cast<double>(value.value<float>())
                                         : value.value<double>();
}

Status update(KernelContext& c, const Inputs& inputs, double unit_cost,
              FunctionView<void(std::span<void* const>, std::int64_t, std::int64_t)> body) {
  const auto count = static_cast<std::size_t>(inputs.variables);
  std::vector<VariableRef> variables;
  for (int i = 0; i < inputs.variables; ++i) {
    TROUPE_ASSIGN(VariableRef found, variable(c, i));
    variables.push_back(std::move(found));
  }
  TROUPE_TRY(check_scalars(c, inputs));

  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i)
    order[i] = i;
  std::ranges::sort(order, std::less<>{}, [&](std::size_t i) { return variables[i].get(); });
  order.erase(
      std::unique(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return variables[a] == variables[b]; }),
      order.end());

  std::vector<Tensor*> values(count);
  TROUPE_TRY(lock_all(variables, order, values, [&]() -> Status {
    TROUPE_TRY(check_shapes(c, inputs, values));
    std::vector<void*> data;
    for (Tensor* value : values)
      data.push_back(value->mutable_raw());
    c.parallel_for(values[0]->num_elements(), unit_cost,
                   [&](std::int64_t begin, std::int64_t end) { body(data, begin, end); });
    return {};
  }));
  if (c.num_outputs() > 0)
    c.set_output_ref(0, variables[0]);
  return {};
}

KernelOptions kernel_options() {
  KernelOptions out;
  out.types = {{"T", {DType::float32, DType::float64}}};
  return out;
}

} // namespace troupe::train
