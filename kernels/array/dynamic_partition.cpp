// DynamicPartition: outputs[p] holds the rows of data whose partition is p, in order.
#include <vector>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/position.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_dynamic_partition {
namespace {

using array::Dims;

Status infer_shape(ShapeContext& c) {
  const PartialShape &data = c.input(0), &partitions = c.input(1);
  if (!data.has_rank() || !partitions.has_rank())
    return {};
  if (partitions.rank() > data.rank())
    return invalid_argument(
        str_cat("data.shape must start with partitions.shape, got data.shape = ", data,
                ", partitions.shape = ", partitions));
  for (int i = 0; i < partitions.rank(); ++i)
    TROUPE_TRY(shape_rules::merge_dims(data.dim(i), partitions.dim(i)).status());
  Dims dims{-1};
  dims.insert(dims.end(), data.dims().begin() + partitions.rank(), data.dims().end());
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, PartialShape(dims)));
  return {};
}

// Rows go back to where they came from.
Status differentiate(GradContext& g) {
  const Value data = g.input(0), partitions = g.input(1);
  const auto count = static_cast<std::int64_t>(g.num_outputs());
  const Value numbers =
      g.op("Range", {array::int_scalar(g, 0), g.op("Size", {partitions}), array::int_scalar(g, 1)});
  const Value places =
      g.op("DynamicPartition", {g.reshape(numbers, array::shape_vector(g, partitions)), partitions},
           {{"num_partitions", count}});
  std::vector<Value> inputs;
  for (int i = 0; i < count; ++i)
    inputs.push_back(g.slot(places, i));
  for (int i = 0; i < count; ++i)
    inputs.push_back(array::output_grad_or_zeros(g, i));
  const Value all = g.op("DynamicStitch", inputs, {{"N", count}});
  return g.set_input_grad(0, array::reshape_like(g, all, data));
}

Status compute(KernelContext& c) {
  const Tensor &data = c.input(0), &partitions = c.input(1);
  const Shape &shape = data.shape(), &ids = partitions.shape();
  bool starts = ids.rank() <= shape.rank();
  for (int i = 0; starts && i < ids.rank(); ++i)
    starts = shape[i] == ids[i];
  if (!starts)
    return invalid_argument(
        str_cat("data.shape must start with partitions.shape, got data.shape = ", shape,
                ", partitions.shape = ", ids));
  const auto which = partitions.data<std::int32_t>();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(c.num_outputs()));
  std::vector<std::int32_t> chosen(which.begin(), which.end()); // a peer may change its variable
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] < 0 || chosen[i] >= c.num_outputs())
      return invalid_argument(str_cat("partitions",
                                      position_text(ids, static_cast<std::int64_t>(i)), " = ",
                                      chosen[i], " is not in [0, ", c.num_outputs(), ")"));
    ++rows[static_cast<std::size_t>(chosen[i])];
  }
  Dims dims(shape.dims().begin() + ids.rank(), shape.dims().end());
  dims.insert(dims.begin(), 0);
  std::vector<Tensor> outputs;
  std::int64_t row = 1;
  for (int i = ids.rank(); i < shape.rank(); ++i)
    row *= shape[i];
  for (int i = 0; i < c.num_outputs(); ++i) {
    dims[0] = rows[static_cast<std::size_t>(i)];
    TROUPE_ASSIGN(const Shape part, Shape::make(dims));
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i, part));
    outputs.push_back(std::move(out));
  }
  if (is_object(data.dtype()))
    TROUPE_TRY(outputs[0].charge(array::text_bytes(data, 0, data.num_elements())));
  std::vector<std::int64_t> next(outputs.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto p = static_cast<std::size_t>(chosen[i]);
    array::copy_elements(data, static_cast<std::int64_t>(i) * row, outputs[p], next[p]++ * row,
                         row);
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("DynamicPartition")
      .input("data: T; partitions: int32")
      .output("outputs: num_partitions * T")
      .attr("num_partitions: int >= 1; T: type")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, std::move(options))
      .doc("The rows of data, split by partition.");
}

} // namespace troupe::array_dynamic_partition
