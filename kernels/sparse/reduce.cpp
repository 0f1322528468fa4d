// SparseReduceSum and SparseReduceMax, and the same with sparse results: the entries of a sparse
// tensor that differ only along the axes, taken together. What has no entries is 0.
#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/framework/wrapping.hpp"
#include "kernels/sparse/internal/sparse.hpp"

namespace troupe::sparse_reduce {
namespace {

using sparse::Dims;
using sparse::Sparse;
using Computed =
    Types<float, double, std::int32_t, std::int64_t, std::uint64_t, std::complex<double>>;

/// Entries by what they have in common.
struct Groups {
  std::vector<bool> reduced;       ///< by dimension
  Dims order;                      ///< entries, group by group
  std::vector<std::size_t> begins; ///< of each group in `order`, and the end
};

Result<Sparse> read(KernelContext& c) {
  const Tensor &shape = c.input(2), &axes = c.input(3);
  if (shape.shape().rank() != 1)
    return invalid_argument(
        str_cat("Expected input_shape to be a vector; got shape: ", shape.shape()));
  if (axes.shape().rank() > 1)
    return invalid_argument(
        str_cat("Expected reduction_axes to be a scalar or a vector; got shape: ", axes.shape()));
  const std::int64_t rank = shape.num_elements();
  TROUPE_ASSIGN(const Integers numbers, integers(axes));
  for (std::int64_t axis : numbers)
    if (axis < -rank || axis >= rank)
      return invalid_argument(
          str_cat("Invalid reduction dimension ", axis, ", for input with ", rank, " dimensions."));
  TROUPE_TRY(sparse::check_shape(shape.data<std::int64_t>()));
  return sparse::sparse_tensor(c.input(0), c.input(1), shape);
}

Result<Groups> group(KernelContext& c, const Sparse& s) {
  Groups out;
  out.reduced.assign(static_cast<std::size_t>(s.rank), false);
  TROUPE_ASSIGN(const Integers axes, integers(c.input(3)));
  for (std::int64_t axis : axes)
    out.reduced[static_cast<std::size_t>(axis < 0 ? axis + s.rank : axis)] = true;
  Dims dims;
  for (bool reduced : {false, true})
    for (std::size_t d = 0; d < out.reduced.size(); ++d)
      if (out.reduced[d] == reduced)
        dims.push_back(static_cast<std::int64_t>(d));
  const auto kept = static_cast<std::size_t>(std::ranges::count(out.reduced, false));
  const auto compare = [&](std::int64_t a, std::int64_t b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto d = static_cast<std::size_t>(dims[i]);
      if (s.index(a)[d] != s.index(b)[d])
        return s.index(a)[d] < s.index(b)[d] ? -1 : 1;
    }
    return 0;
  };
  out.order.resize(static_cast<std::size_t>(s.entries));
  std::iota(out.order.begin(), out.order.end(), std::int64_t{0});
  std::ranges::stable_sort(
      out.order, [&](std::int64_t a, std::int64_t b) { return compare(a, b, dims.size()) < 0; });
  for (std::size_t i = 0; i < out.order.size(); ++i)
    if (i == 0 || compare(out.order[i - 1], out.order[i], kept) != 0)
      out.begins.push_back(i);
  out.begins.push_back(out.order.size());
  return out;
}

template <class T, bool max>
T combine(const Groups& groups, std::size_t g, std::span<const T> values) {
  const auto at = [&](std::size_t i) { return values[static_cast<std::size_t>(groups.order[i])]; };
  T out = at(groups.begins[g]);
  for (std::size_t i = groups.begins[g] + 1; i < groups.begins[g + 1]; ++i) {
    const T value = at(i);
    if constexpr (max) {
      if constexpr (std::is_arithmetic_v<T>)
        out = std::max(out, value);
    } else if constexpr (std::is_integral_v<T>) {
      out = static_cast<T>(static_cast<std::make_unsigned_t<T>>(out) +
                           static_cast<std::make_unsigned_t<T>>(value));
    } else {
      out += value;
    }
  }
  return out;
}

/// The output's shape; of reduced dimensions 1 or nothing.
Dims reduced_shape(KernelContext& c, const Sparse& s, const Groups& groups) {
  const bool keep = c.attrs().get_or("keep_dims", false);
  Dims out;
  for (std::size_t d = 0; d < s.shape.size(); ++d)
    if (!groups.reduced[d] || keep)
      out.push_back(groups.reduced[d] ? 1 : s.shape[d]);
  return out;
}

/// Where a group is in the output.
Dims place(const Sparse& s, const Groups& groups, std::size_t g, bool keep) {
  const auto index = s.index(groups.order[groups.begins[g]]);
  Dims out;
  for (std::size_t d = 0; d < s.shape.size(); ++d)
    if (!groups.reduced[d] || keep)
      out.push_back(groups.reduced[d] ? 0 : index[d]);
  return out;
}

DType computed_in(DType dtype, bool max) {
  return max ? arith::widened_dtype(dtype) : arith::computed_in(dtype);
}

template <bool max>
Status compute_dense(KernelContext& c) {
  TROUPE_ASSIGN(const Sparse s, read(c));
  TROUPE_ASSIGN(const Groups groups, group(c, s));
  const Dims dims = reduced_shape(c, s, groups);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  const DType wide = computed_in(s.values->dtype(), max);
  TROUPE_ASSIGN(Tensor out, wide == c.output_type(0) ? c.allocate_output(0, shape)
                                                     : c.allocate_temp(wide, shape));
  TROUPE_ASSIGN(const Tensor values, widened(c, *s.values, wide));
  TROUPE_TRY(dispatch(Computed{}, wide, [&]<class T>() -> Status {
    const auto to = out.mutable_data<T>();
    std::ranges::fill(to, T{});
    for (std::size_t g = 0; g + 1 < groups.begins.size(); ++g) {
      std::int64_t at = 0;
      const Dims index = place(s, groups, g, true);
      for (std::size_t d = 0; d < index.size(); ++d)
        if (!groups.reduced[d])
          at = add_wrapping(multiply_wrapping(at, s.shape[d]), index[d]); // nobody has checked them
      if (at < 0 || at >= shape.num_elements())
        return internal(str_cat("Obtained a write index of ", at,
                                " which is outside of bounds of [0, ", shape.num_elements(), ")"));
      to[static_cast<std::size_t>(at)] = combine<T, max>(groups, g, values.data<T>());
    }
    return {};
  }));
  return narrow(c, 0, out);
}

template <bool max>
Status compute_sparse(KernelContext& c) {
  TROUPE_ASSIGN(const Sparse s, read(c));
  TROUPE_ASSIGN(const Groups groups, group(c, s));
  const bool keep = c.attrs().get_or("keep_dims", false);
  const Dims shape = reduced_shape(c, s, groups);
  const auto count = static_cast<std::int64_t>(groups.begins.size()) - 1;
  TROUPE_ASSIGN(Tensor indices,
                c.allocate_output(0, Shape{count, static_cast<std::int64_t>(shape.size())}));
  auto to_index = indices.mutable_data<std::int64_t>().begin();
  const DType wide = computed_in(s.values->dtype(), max);
  TROUPE_ASSIGN(Tensor out, wide == c.output_type(1) ? c.allocate_output(1, Shape{count})
                                                     : c.allocate_temp(wide, Shape{count}));
  TROUPE_ASSIGN(const Tensor values, widened(c, *s.values, wide));
  TROUPE_TRY(dispatch(Computed{}, wide, [&]<class T>() -> Status {
    for (std::size_t g = 0; g + 1 < groups.begins.size(); ++g) {
      to_index = std::ranges::copy(place(s, groups, g, keep), to_index).out;
      out.mutable_data<T>()[g] = combine<T, max>(groups, g, values.data<T>());
    }
    return {};
  }));
  TROUPE_TRY(narrow(c, 1, out));
  return sparse::give(c, 2, shape);
}

Status infer_dense(ShapeContext& c) {
  const auto shape = c.input_as_ints(2), axes = c.input_as_ints(3);
  if (!shape || !axes)
    return {};
  TROUPE_ASSIGN(const bool keep, c.attr<bool>("keep_dims"));
  const auto rank = static_cast<std::int64_t>(shape->size());
  std::vector<bool> reduced(shape->size(), false);
  for (std::int64_t axis : *axes) {
    if (axis < -rank || axis >= rank)
      return invalid_argument(
          str_cat("Invalid reduction dimension ", axis, ", for input with ", rank, " dimensions."));
    reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  Dims out;
  for (std::size_t d = 0; d < shape->size(); ++d) {
    if ((*shape)[d] < 0)
      return invalid_argument(
          str_cat("Expected shape dimensions to be non-negative, got ", (*shape)[d]));
    if (!reduced[d] || keep)
      out.push_back(reduced[d] ? 1 : (*shape)[d]);
  }
  return c.set_output(0, PartialShape(std::move(out)));
}

Status infer_sparse(ShapeContext& c) {
  TROUPE_TRY(c.set_output(0, {-1, -1}));
  TROUPE_TRY(c.set_output(1, {-1}));
  return c.set_output(2, {-1});
}

template <bool max>
void add(OpLibrary& library, const std::string& name, const char* types, const std::string& what) {
  KernelOptions options;
  options.expensive = true;
  options.types = {{"T", arith::dtypes_of(max ? arith::BinaryOp::maximum : arith::BinaryOp::add)}};
  constexpr auto inputs =
      "input_indices: int64; input_values: T; input_shape: int64; reduction_axes: int32";
  constexpr auto by_clients = "its gradient is made where graphs are written";
  library.op(name)
      .input(inputs)
      .output("output: T")
      .attr("keep_dims: bool = false")
      .attr(types)
      .shape_fn(infer_dense)
      .not_differentiable(by_clients)
      .cpu_kernel(compute_dense<max>, options)
      .doc("The " + what + " of a sparse tensor along the axes.");
  library.op(name + "Sparse")
      .input(inputs)
      .output("output_indices: int64; output_values: T; output_shape: int64")
      .attr("keep_dims: bool = false")
      .attr(types)
      .shape_fn(infer_sparse)
      .not_differentiable(by_clients)
      .cpu_kernel(compute_sparse<max>, options)
      .doc("The same as a sparse tensor.");
}

} // namespace

void register_ops(OpLibrary& library) {
  add<false>(library, "SparseReduceSum", "T: numbertype", "sums");
  add<true>(library, "SparseReduceMax", "T: realnumbertype", "largest entries");
}

} // namespace troupe::sparse_reduce
