#include "kernels/train/internal/rule.hpp"

#include "core/base/strings.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::train::detail {
namespace {

/// Names of inputs: the variables, then the scalars and the gradient, and behind it the indices.
struct Names {
  std::vector<std::string_view> variables, others;
  int gradient = 0;
};

bool is_gradient(std::string_view name) {
  return name == "grad" || name == "delta";
}

Names names_of(const Rule& rule, bool sparse) {
  Names out{.variables = str_split(rule.variables, ' '), .others = {}};
  for (std::string_view name : str_split(sparse ? rule.sparse_numbers : rule.numbers, ' ')) {
    if (is_gradient(name))
      out.gradient = static_cast<int>(out.variables.size() + out.others.size());
    out.others.push_back(name);
    if (is_gradient(name) && sparse)
      out.others.emplace_back("indices");
  }
  return out;
}

Inputs inputs_of(const Rule& rule, bool sparse) {
  const Names names = names_of(rule, sparse);
  return {.variables = static_cast<int>(names.variables.size()),
          .gradient = names.gradient,
          .indices = sparse ? names.gradient + 1 : -1,
          .adam_wording = rule.adam_wording,
          .check = rule.check,
          .rows_have_elements = rule.rows_have_elements,
          .rank_of_grad = rule.rank_of_grad};
}

std::vector<DType> dtypes_of(const Rule& rule) {
  std::vector<DType> out;
  for (DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16,
                      DType::complex64, DType::complex128})
    if (rule.find(dtype))
      out.push_back(dtype);
  return out;
}

/// What a node's runs have in common.
struct Plan {
  Inputs inputs;
  UpdateFn update;
  std::array<bool, 2> flags{};
};

Numbers numbers_of(const KernelContext& c, const Plan& plan) {
  Numbers out;
  std::size_t at = 0;
  for (int i = plan.inputs.variables; i < c.num_inputs(); ++i)
    if (i != plan.inputs.gradient && i != plan.inputs.indices)
      out.scalars[at++] = scalar(c, i);
  out.flags = plan.flags;
  return out;
}

std::int64_t index_at(const Tensor& indices, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  return indices.dtype() == DType::int64 ? indices.data<std::int64_t>()[at]
                                         : indices.data<std::int32_t>()[at];
}

/// Row after row: one that is named twice is updated twice.
void update_rows(const KernelContext& c, const Inputs& inputs, std::span<Tensor* const> values,
                 UpdateFn update, const Numbers& numbers) {
  const Tensor &grad = c.input(inputs.gradient), &indices = c.input(inputs.indices);
  const std::int64_t rows = indices.num_elements();
  if (rows == 0 || grad.num_elements() == 0)
    return;
  const std::int64_t row = grad.num_elements() / rows;
  const std::int64_t bytes = row * static_cast<std::int64_t>(dtype_size(grad.dtype()));
  std::array<void*, max_variables> data{};
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t index = index_at(indices, i);
    for (std::size_t k = 0; k < values.size(); ++k)
      data[k] = static_cast<std::byte*>(values[k]->mutable_raw()) + index * bytes;
    update(data.data(), static_cast<const std::byte*>(grad.raw()) + i * bytes, numbers, row);
  }
}

void update_all(const KernelContext& c, const Inputs& inputs, std::span<Tensor* const> values,
                UpdateFn update, const Numbers& numbers) {
  const Tensor& grad = c.input(inputs.gradient);
  const auto size = static_cast<std::int64_t>(dtype_size(grad.dtype()));
  c.parallel_for_to_the_end(grad.num_elements(), 4, [&](std::int64_t begin, std::int64_t end) {
    std::array<void*, max_variables> data{};
    for (std::size_t k = 0; k < values.size(); ++k)
      data[k] = static_cast<std::byte*>(values[k]->mutable_raw()) + begin * size;
    update(data.data(), static_cast<const std::byte*>(grad.raw()) + begin * size, numbers,
           end - begin);
  });
}

Status compute(KernelContext& c) {
  const auto& plan = c.prepared<Plan>();
  const bool sparse = plan.inputs.indices >= 0;
  return update_locked(c, plan.inputs, [&](std::span<Tensor* const> values) -> Status {
    (sparse ? update_rows : update_all)(c, plan.inputs, values, plan.update, numbers_of(c, plan));
    return {};
  });
}

} // namespace

Result<std::shared_ptr<const void>> prepare(PrepareContext& c, const Rule& rule, bool sparse) {
  TROUPE_ASSIGN(const DType dtype, c.attr<DType>("T"));
  Plan plan{.inputs = inputs_of(rule, sparse), .update = rule.find(dtype)};
  std::size_t at = 0;
  if (!rule.flags.empty())
    for (std::string_view flag : str_split(rule.flags, ';'))
      plan.flags[at++] = c.attrs().get_or(str_split(str_trim(flag), ':')[0], false);
  return prepared(std::move(plan));
}

Status infer_shape(ShapeContext& c, const Rule& rule, bool sparse) {
  return train::infer_shape(c, inputs_of(rule, sparse));
}

void add_op(OpLibrary& library, const Rule& rule, bool sparse, bool resource, PrepareFn prepare,
            ShapeFn shape) {
  const Names names = names_of(rule, sparse);
  auto op =
      library.op(str_cat(resource ? "Resource" : "", sparse ? "Sparse" : "", "Apply", rule.name));
  for (std::string_view name : names.variables)
    op.input(str_cat(name, resource ? ": resource" : ": Ref(T)"));
  for (std::string_view name : names.others)
    op.input(str_cat(name, name == "indices"       ? ": Tindices"
                           : name == "global_step" ? ": int64"
                                                   : ": T"));
  op.attr(any_number).attr("use_locking: bool = false");
  KernelOptions options;
  options.prepare = prepare;
  options.types = {{"T", dtypes_of(rule)}};
  if (sparse) {
    op.attr("Tindices: {int32, int64}");
    options.types.push_back({"Tindices", {DType::int32, DType::int64}});
  }
  if (!rule.flags.empty())
    op.attr(rule.flags);
  if (resource)
    op.stateful();
  else
    op.output("out: Ref(T)");
  op.roles(Role::side_effect)
      .shape_fn(shape)
      .not_differentiable(in_place)
      .cpu_kernel(compute, std::move(options))
      .doc(rule.doc);
  if (rule.dense_on_gpu && !sparse)
    op.gpu_kernel(rule.dense_on_gpu, {.types = {{"T", gpu::floats()}}});
}

} // namespace troupe::train::detail
