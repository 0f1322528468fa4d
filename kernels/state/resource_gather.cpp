// ResourceGather: rows of a resource variable, without a copy of the whole.
#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/arith/movement.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/variables.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/state/internal/rows.hpp"

namespace troupe::state_resource_gather {
namespace {

using Dims = std::vector<std::int64_t>;

/// params[:batch] + indices[batch:] + params[batch + 1:]
Dims result_dims(std::span<const std::int64_t> params, std::span<const std::int64_t> indices,
                 std::size_t batch) {
  Dims out(indices.begin(), indices.end());
  out.insert(out.end(), params.begin() + static_cast<std::ptrdiff_t>(batch) + 1, params.end());
  return out;
}

/// Text, handles and variants, element by element.
Status gather_objects(KernelContext& c, const Tensor& params, std::int64_t limit,
                      std::int64_t batches, Tensor& out) {
  TROUPE_ASSIGN(const Integers indices, integers(c.input(1)));
  const std::int64_t row = out.num_elements() / static_cast<std::int64_t>(indices.size());
  const std::int64_t count = static_cast<std::int64_t>(indices.size()) / batches;
  TROUPE_TRY(dispatch(
      Types<std::string, ResourceHandle, Variant>{}, params.dtype(), [&]<class T>() -> Status {
        const auto from = params.data<T>();
        auto to = out.mutable_data<T>().begin();
        for (std::size_t i = 0; i < indices.size(); ++i) {
          const std::int64_t batch = static_cast<std::int64_t>(i) / count;
          to = std::copy_n(from.begin() + (batch * limit + indices[i]) * row, row, to);
        }
        return {};
      }));
  return out.settle(c.device().host_side_allocator());
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(auto variable, resource_variable(c, 0));
  const Tensor params = variable->snapshot();
  const Tensor& indices = c.input(1);
  if (params.dtype() != c.output_type(0))
    return invalid_argument(str_cat("Trying to gather from variable with wrong dtype. Expected ",
                                    to_string(c.output_type(0)), " got ",
                                    to_string(params.dtype())));
  if (params.shape().rank() < 1)
    return invalid_argument("params must be at least 1 dimensional");
  const auto batch_dims = c.attrs().get_or("batch_dims", std::int64_t{0});
  if (batch_dims < 0 || batch_dims > indices.shape().rank() || batch_dims >= params.shape().rank())
    return invalid_argument(str_cat(
        "batch_dims = ", batch_dims, " must be from 0 to the rank of indices (",
        indices.shape().rank(), ") and less than that of params (", params.shape().rank(), ")"));
  std::int64_t batches = 1;
  for (int i = 0; i < batch_dims; ++i) {
    if (params.shape()[i] != indices.shape()[i])
      return invalid_argument(str_cat("params.shape[", i, "]: ", params.shape()[i],
                                      " should be equal to indices.shape[", i,
                                      "]: ", indices.shape()[i]));
    batches *= indices.shape()[i];
  }
  const std::int64_t limit = params.shape()[static_cast<int>(batch_dims)];
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(result_dims(params.shape().dims(), indices.shape().dims(),
                                        static_cast<std::size_t>(batch_dims))));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  const bool on_device = out.kind() == MemoryKind::device; // checks the rows as it reads them
  if (!on_device)
    TROUPE_TRY(state::check_rows(indices, limit));
  if (shape.num_elements() == 0)
    return {};
  if (on_device)
    return gpu::gather_rows(c, params, indices, out, batches, 1, limit,
                            out.num_elements() / indices.num_elements());
  if (is_object(params.dtype()))
    return gather_objects(c, params, limit, batches, out);
  TROUPE_ASSIGN(const auto index_type, arith::index_type(indices.dtype()));
  const std::int64_t count = indices.num_elements() / batches;
  const auto row = static_cast<std::int64_t>(out.byte_size()) / indices.num_elements();
  const auto index_size = static_cast<std::int64_t>(dtype_size(indices.dtype()));
  for (std::int64_t b = 0; b < batches; ++b) {
    const auto* from = static_cast<const std::byte*>(params.raw()) + b * limit * row;
    const auto* which = static_cast<const std::byte*>(indices.raw()) + b * count * index_size;
    auto* to = static_cast<std::byte*>(out.mutable_raw()) + b * count * row;
    c.parallel_for(count, 2 + 0.1 * static_cast<double>(row),
                   [&](std::int64_t begin, std::int64_t end) {
                     arith::gather_rows(index_type, from, limit, row, which, count, to, begin, end);
                   });
  }
  return {};
}

// Each row's gradient is added to the row that it came from.
Status differentiate(GradContext& g) {
  if (g.attrs().get_or("batch_dims", std::int64_t{0}) != 0)
    return unimplemented("the gradient of ResourceGather is not defined for batch_dims other than "
                         "0");
  const Value shape = g.op("VariableShape", {g.input(0)});
  const Value limit = g.op("StridedSlice", {shape, g.ints({0}), g.ints({1}), g.ints({1})},
                           {{"shrink_axis_mask", std::int64_t{1}}});
  return g.set_input_grad(0, g.op("UnsortedSegmentSum", {g.output_grad(0), g.input(1), limit}));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"Tindices", {DType::int32, DType::int64}},
                   {"dtype", {DType::float32,  DType::float64,   DType::int32,      DType::int64,
                              DType::uint8,    DType::int8,      DType::int16,      DType::uint16,
                              DType::uint32,   DType::uint64,    DType::bool_,      DType::float16,
                              DType::bfloat16, DType::complex64, DType::complex128, DType::qint8,
                              DType::quint8,   DType::qint32,    DType::string,     DType::resource,
                              DType::variant}}};
  options.expensive = true;
  library.op("ResourceGather")
      .input("resource: resource; indices: Tindices")
      .output("output: dtype")
      .attr("batch_dims: int = 0; validate_indices: bool = true; dtype: type")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .shape_fn(shape_unknown)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .gpu_kernel(compute,
                  {.types = {{"Tindices", {DType::int32, DType::int64}}, {"dtype", gpu::movable()}},
                   .host_inputs = {"resource"}})
      .doc("The rows of a variable that the indices name.");
}

} // namespace troupe::state_resource_gather
