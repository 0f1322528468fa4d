#include "kernels/framework/widened.hpp"

#include <vector>

#include "kernels/arith/lookup.hpp"

namespace troupe {
namespace {

Status cast_all(KernelContext& c, const Tensor& from, Tensor& to) {
  constexpr double unit_cost = 0.2; // nanoseconds per element
  TROUPE_ASSIGN(const auto cast, arith::cast(from.dtype(), to.dtype()));
  void* out = to.mutable_raw();
  c.parallel_for(from.num_elements(), unit_cost,
                 [&](std::int64_t begin, std::int64_t end) { cast(from.raw(), out, begin, end); });
  return {};
}

std::vector<DType> widened_types(std::vector<DType> types, DType all) {
  for (DType& type : types)
    type = all == DType::invalid ? arith::widened_dtype(type) : all;
  return types;
}

} // namespace

Result<Tensor> widened(KernelContext& c, const Tensor& tensor, DType wide) {
  if (wide == tensor.dtype())
    return tensor;
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(wide, tensor.shape()));
  TROUPE_TRY(cast_all(c, tensor, out));
  return out;
}

Result<Tensor> widened(KernelContext& c, const Tensor& tensor) {
  return widened(c, tensor, arith::computed_in(tensor.dtype()));
}

Result<Tensor> allocate_widened(KernelContext& c, int i, const Shape& shape) {
  const DType wide = arith::computed_in(c.output_type(i));
  return wide == c.output_type(i) ? c.allocate_output(i, shape) : c.allocate_temp(wide, shape);
}

Status narrow(KernelContext& c, int i, const Tensor& wide) {
  if (wide.dtype() == c.output_type(i))
    return {};
  TROUPE_ASSIGN(Tensor out, c.allocate_output(i, wide.shape()));
  return cast_all(c, wide, out);
}

Status compute_widened(KernelContext& c, KernelFn compute, DType all) {
  KernelIo io = c.io();
  io.types.inputs = widened_types(std::move(io.types.inputs), all);
  io.types.outputs = widened_types(std::move(io.types.outputs), all);
  std::vector<Entry> inputs(io.types.inputs.size()), outputs(io.types.outputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TROUPE_ASSIGN(inputs[i].tensor, widened(c, c.input(static_cast<int>(i)), io.types.inputs[i]));
  }
  KernelContext wide(c.node(), io, c.step(), inputs, outputs);
  TROUPE_TRY(compute(wide));
  inputs.clear(); // their memory may serve the outputs
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const int output = static_cast<int>(i);
    if (io.types.outputs[i] == c.output_type(output))
      c.output_entry(output) = std::move(outputs[i]);
    else
      TROUPE_TRY(narrow(c, output, outputs[i].tensor));
  }
  return {};
}

} // namespace troupe
