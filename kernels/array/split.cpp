// Split: equal parts of a tensor along a dimension. SplitV: parts of given sizes, one of which may
// be -1, the rest.
#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_split {
namespace {

using array::Dims;

Status check_axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return invalid_argument(
        str_cat("-input rank(-", rank, ") <= split_dim < input rank (", rank, "), but got ", axis));
  return {};
}

Status uneven(std::int64_t axis, std::int64_t extent, int parts) {
  return invalid_argument(str_cat(
      "Number of ways to split should evenly divide the split dimension, but got split_dim ", axis,
      " (size = ", extent, ") and num_split ", parts));
}

constexpr auto wrong_total =
    "Determined shape must either match input shape along split_dim exactly if fully specified, or "
    "be less than the size of the input along split_dim if not fully specified.  Got: ";

/// The sizes with -1 replaced; `extent` is what they divide.
Result<Dims> complete_sizes(Dims sizes, std::int64_t extent) {
  if (sizes.size() == 1 && sizes[0] != -1 && sizes[0] != extent)
    return invalid_argument(str_cat(
        "If there is only one output, it must have the same size as the input. Input size: ",
        extent, " output size: ", sizes[0]));
  std::int64_t total = 0;
  std::size_t open = sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      if (open != sizes.size())
        return invalid_argument("There can only be one -1 in the input.");
      open = i;
    } else if (__builtin_add_overflow(total, sizes[i], &total)) {
      return invalid_argument(str_cat(wrong_total, "more than 2^63 - 1"));
    }
  }
  if (open == sizes.size() ? total != extent : total > extent)
    return invalid_argument(str_cat(wrong_total, total));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < -1)
      return invalid_argument(str_cat("Split size at index ", i, " must be >= 0. Got: ", sizes[i]));
  if (open != sizes.size())
    sizes[open] = extent - total;
  return sizes;
}

Status infer(ShapeContext& c, int value_at, int axis_at, bool equal) {
  TROUPE_TRY(c.require_rank(axis_at, 0));
  const PartialShape& value = c.input(value_at);
  if (!value.has_rank())
    return {};
  const int parts = c.num_outputs();
  const auto axis = c.input_as_ints(axis_at);
  if (!axis) {
    const Dims unknown(value.dims().size(), -1);
    for (int i = 0; i < parts; ++i)
      TROUPE_TRY(c.set_output(i, PartialShape(unknown)));
    return {};
  }
  TROUPE_TRY(check_axis((*axis)[0], value.rank()));
  const auto at = static_cast<std::size_t>((*axis)[0] < 0 ? (*axis)[0] + value.rank() : (*axis)[0]);
  const std::int64_t extent = value.dims()[at];
  Dims sizes(static_cast<std::size_t>(parts), -1);
  if (equal && extent >= 0) {
    if (extent % parts != 0)
      return uneven((*axis)[0], extent, parts);
    std::ranges::fill(sizes, extent / parts);
  } else if (const auto given = equal ? std::nullopt : c.input_as_ints(1);
             given && given->size() == sizes.size()) {
    sizes = *given;
    if (extent >= 0) {
      TROUPE_ASSIGN(sizes, complete_sizes(std::move(sizes), extent));
    }
  }
  for (int i = 0; i < parts; ++i) {
    Dims dims = value.dims();
    dims[at] = sizes[static_cast<std::size_t>(i)];
    TROUPE_TRY(c.set_output(i, PartialShape(std::move(dims))));
  }
  return {};
}

Status differentiate(GradContext& g, int value_at, int axis_at) {
  if (g.num_outputs() == 1)
    return g.set_input_grad(value_at, g.output_grad(0));
  std::vector<Value> inputs;
  for (int i = 0; i < g.num_outputs(); ++i)
    inputs.push_back(array::output_grad_or_zeros(g, i));
  inputs.push_back(g.input(axis_at));
  return g.set_input_grad(
      value_at, g.op("ConcatV2", inputs, {{"N", static_cast<std::int64_t>(g.num_outputs())}}));
}

Status cut(KernelContext& c, const Tensor& value, int axis, const Dims& sizes) {
  if (sizes.size() == 1)
    return c.set_output(0, value);
  const auto whole = array::around_axis(value.shape(), axis);
  std::int64_t at = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const int i = static_cast<int>(k);
    const std::int64_t size = sizes[k], from = at;
    at += size;
    if (axis == 0)
      if (Tensor rows = array::shared_rows(value, from, at); rows.has_value()) {
        TROUPE_TRY(c.set_output(i, std::move(rows)));
        continue;
      }
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i, value.shape().with_dim(axis, size)));
    const std::int64_t n = size * whole.inner, row = whole.middle * whole.inner;
    TROUPE_TRY(array::copy_runs(c, value, from * whole.inner, row, out, 0, n, whole.outer, n));
  }
  return {};
}

Result<int> read_axis(const Tensor& tensor, int rank) {
  TROUPE_ASSIGN(const Integers axis, integers(tensor));
  TROUPE_TRY(check_axis(axis[0], rank));
  return static_cast<int>(axis[0] < 0 ? axis[0] + rank : axis[0]);
}

Status compute_split(KernelContext& c) {
  const Tensor value = c.input(1);
  const int parts = c.num_outputs();
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(
        str_cat("split_dim must be a scalar but has rank ", c.input(0).shape().rank()));
  TROUPE_ASSIGN(const int axis, read_axis(c.input(0), value.shape().rank()));
  const std::int64_t extent = value.shape()[axis];
  if (extent % parts != 0)
    return uneven(axis, extent, parts);
  return cut(c, value, axis, Dims(static_cast<std::size_t>(parts), extent / parts));
}

Status compute_split_v(KernelContext& c) {
  const Tensor value = c.input(0);
  const Tensor& sizes = c.input(1);
  if (c.input(2).num_elements() != 1)
    return invalid_argument("split_dim_tensor must have exactly one element.");
  if (sizes.shape().rank() != 1 || sizes.num_elements() != c.num_outputs())
    return invalid_argument(
        str_cat("size of the split_tensor must be 1-D and have the same elements as outputs got ",
                sizes.shape().rank(), " -D and ", sizes.num_elements(), " elements"));
  if (value.shape().is_scalar() && c.num_outputs() == 1) // as TensorFlow does
    return c.set_output(0, value);
  TROUPE_ASSIGN(const int axis, read_axis(c.input(2), value.shape().rank()));
  TROUPE_ASSIGN(const Integers given, integers(sizes));
  TROUPE_ASSIGN(const Dims wanted,
                complete_sizes(Dims(given.begin(), given.end()), value.shape()[axis]));
  return cut(c, value, axis, wanted);
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Split")
      .input("split_dim: int32; value: T")
      .output("output: num_split * T")
      .attr("num_split: int >= 1; T: type")
      .shape_fn([](ShapeContext& c) { return infer(c, 1, 0, true); })
      .gradient([](GradContext& g) { return differentiate(g, 1, 0); })
      .cpu_kernel(compute_split, options())
      .gpu_kernel(compute_split, array::on_gpu(options(), "T", {"split_dim"}))
      .host_kernel_on_gpu(compute_split, array::int32_on_host(options()))
      .doc("num_split equal parts along a dimension.");
  library.op("SplitV")
      .input("value: T; size_splits: Tlen; split_dim: int32")
      .output("output: num_split * T")
      .attr("num_split: int >= 1; T: type; Tlen: {int8, int32, int64} = DT_INT64")
      .shape_fn([](ShapeContext& c) { return infer(c, 0, 2, false); })
      .gradient([](GradContext& g) { return differentiate(g, 0, 2); })
      .cpu_kernel(compute_split_v, options())
      .gpu_kernel(compute_split_v, array::on_gpu(options(), "T", {"size_splits", "split_dim"}))
      .host_kernel_on_gpu(compute_split_v, array::int32_on_host(options()))
      .doc("Parts of the given sizes along a dimension; one size may be -1, for the rest.");
}

} // namespace troupe::array_split
