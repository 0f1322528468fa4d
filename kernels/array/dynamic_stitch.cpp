// DynamicStitch, ParallelDynamicStitch: merged[indices[m][i, ...]] = data[m][i, ...], the later one
// where two write to one row.
#include <algorithm>

#include "graph/op/grad_context.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_dynamic_stitch {
namespace {

using array::Dims;

/// What follows the indices' dimensions in the shape of their data.
template <class ShapeLike>
Dims row_dims(const ShapeLike& data, int indices_rank) {
  const auto dims = data.dims();
  return {dims.begin() + indices_rank, dims.end()};
}

// The number of rows where all indices are constant.
Result<std::int64_t> infer_rows(ShapeContext& c, int count) {
  std::int64_t rows = 0;
  bool known = true;
  for (int i = 0; i < count; ++i) {
    const auto values = c.input_as_ints(i);
    known &= values.has_value();
    for (std::size_t k = 0; values && k < values->size(); ++k) {
      if ((*values)[k] < 0)
        return invalid_argument(str_cat("indices[", k, "] = ", (*values)[k], " is out of range"));
      rows = std::max(rows, (*values)[k] + 1);
    }
  }
  return known ? rows : shape_rules::unknown_dim;
}

Status infer_shape(ShapeContext& c) {
  const int count = c.num_inputs() / 2;
  PartialShape row;
  for (int i = 0; i < count; ++i) {
    const PartialShape &indices = c.input(i), &data = c.input(count + i);
    if (!indices.has_rank() || !data.has_rank())
      continue;
    if (data.rank() < indices.rank())
      return invalid_argument(str_cat("data[", i, "].shape = ", data,
                                      " does not start with indices[", i, "].shape = ", indices));
    for (int k = 0; k < indices.rank(); ++k)
      TROUPE_TRY(shape_rules::merge_dims(data.dim(k), indices.dim(k)).status());
    TROUPE_ASSIGN(row,
                  shape_rules::merge_shapes(row, PartialShape(row_dims(data, indices.rank()))));
  }
  TROUPE_ASSIGN(const std::int64_t rows, infer_rows(c, count));
  if (!row.has_rank())
    return {};
  Dims dims = row.dims();
  dims.insert(dims.begin(), rows);
  return c.set_output(0, PartialShape(std::move(dims)));
}

// Each piece of the data gets its rows of the gradient; a row that was written twice counts for
// both, as in TensorFlow.
Status differentiate(GradContext& g) {
  const int count = g.num_inputs() / 2;
  const Value axis = g.constant(Tensor::scalar<std::int32_t>(0));
  for (int i = 0; i < count; ++i)
    TROUPE_TRY(g.set_input_grad(count + i, g.op("GatherV2", {g.output_grad(0), g.input(i), axis})));
  return {};
}

Status check_shapes(const KernelContext& c, int count) {
  const int first_rank = c.input(0).shape().rank();
  for (int i = 0; i < count; ++i) {
    const Shape &indices = c.input(i).shape(), &data = c.input(count + i).shape();
    bool starts = indices.rank() <= data.rank();
    for (int k = 0; starts && k < indices.rank(); ++k)
      starts = indices[k] == data[k];
    if (!starts)
      return invalid_argument(str_cat("data[", i, "].shape = ", data,
                                      " does not start with indices[", i, "].shape = ", indices));
    if (row_dims(data, indices.rank()) != row_dims(c.input(count).shape(), first_rank))
      return invalid_argument(str_cat(
          "Need data[0].shape[", first_rank, ":] = data[", i, "].shape[", indices.rank(),
          ":], got data[0].shape = ", c.input(count).shape(), ", data[", i, "].shape = ", data,
          ", indices[0].shape = ", c.input(0).shape(), ", indices[", i, "].shape = ", indices));
  }
  return {};
}

Status compute(KernelContext& c) {
  const int count = c.num_inputs() / 2;
  TROUPE_TRY(check_shapes(c, count));
  std::int64_t rows = 0;
  std::size_t text = 0;
  for (int i = 0; i < count; ++i) {
    const Tensor& data = c.input(count + i);
    const auto indices = c.input(i).data<std::int32_t>();
    for (std::size_t k = 0; k < indices.size(); ++k) {
      if (indices[k] < 0)
        return invalid_argument(str_cat("indices[", k, "] is out of range"));
      rows = std::max(rows, std::int64_t{indices[k]} + 1);
    }
    text += array::text_bytes(data, 0, data.num_elements());
  }
  Dims dims = row_dims(c.input(count).shape(), c.input(0).shape().rank());
  dims.insert(dims.begin(), rows);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor merged, c.allocate_output(0, shape));
  if (text > 0)
    TROUPE_TRY(merged.charge(text));
  TROUPE_TRY(array::fill_with_zeros(c, merged)); // rows that nobody writes
  const std::int64_t row = rows == 0 ? 0 : shape.num_elements() / rows;
  for (int i = 0; i < count; ++i) {
    const auto indices = c.input(i).data<std::int32_t>();
    for (std::size_t k = 0; k < indices.size(); ++k) {
      // A peer's variable, read where it lies, may change if the peer breaks the rules.
      const std::int64_t at = indices[k];
      if (at >= 0 && at < rows)
        array::copy_elements(c.input(count + i), static_cast<std::int64_t>(k) * row, merged,
                             at * row, row);
    }
  }
  return {};
}

void add_stitch(OpLibrary& library, std::string_view name, std::string_view doc) {
  KernelOptions options;
  options.expensive = true;
  library.op(name)
      .input("indices: N * int32; data: N * T")
      .output("merged: T")
      .attr("N: int >= 1; T: type")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, options)
      .host_kernel_on_gpu(compute, array::int32_on_host(options))
      .doc(doc);
}

} // namespace

void register_ops(OpLibrary& library) {
  add_stitch(library, "DynamicStitch",
             "The rows of all data, each at the place that its index names; the last one where "
             "several name one place, zeros where none does.");
  add_stitch(library, "ParallelDynamicStitch", "As DynamicStitch, for indices that do not repeat.");
}

} // namespace troupe::array_dynamic_stitch
