// ScatterNd, ScatterNdNonAliasingAdd and the TensorScatter ops: a tensor with updates added to,
// written over or compared with the rows that an index tensor names.
#include <complex>
#include <type_traits>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/nd_index.hpp"
#include "kernels/array/internal/reshaping.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/scatter_nd.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_scatter_nd {
namespace {

using array::Dims;

enum class How { assign, add, sub, min, max };

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// a with b; integers wrap, booleans are joined by "or", text is appended.
template <How how, class T>
T combine(const T& a, const T& b) {
  if constexpr (how == How::assign) {
    return b;
  } else if constexpr (is_small_float<T>) {
    return T(combine<how>(static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (how == How::min || how == How::max) {
    if constexpr (is_number<T>)
      return (how == How::min ? b < a : a < b) ? b : a;
    else
      return a;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const auto x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<T>(static_cast<U>(how == How::add ? x + y : x - y));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return a + b;
  } else {
    return how == How::add ? a + b : a - b;
  }
}

using Ordered = Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t,
                      std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16>;
using Summed = Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t,
                     std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16,
                     std::complex<float>, std::complex<double>, bool, std::string>;

std::vector<DType> ordered_dtypes() {
  return {DType::float32, DType::float64, DType::int32,   DType::uint8,
          DType::int16,   DType::int8,    DType::int64,   DType::uint16,
          DType::uint32,  DType::uint64,  DType::float16, DType::bfloat16};
}
std::vector<DType> with(std::vector<DType> all, std::initializer_list<DType> more) {
  all.insert(all.end(), more);
  return all;
}

template <How how, class T>
void combine_rows(const array::NdIndex& index, const T* from, T* to) {
  for (std::size_t i = 0; i < index.where.size(); ++i) {
    if (index.where[i] < 0)
      continue;
    T* row = to + index.where[i] * index.row;
    const T* update = from + static_cast<std::int64_t>(i) * index.row;
    for (std::int64_t k = 0; k < index.row; ++k)
      row[k] = combine<how>(row[k], update[k]);
  }
}

template <How how>
Status apply(const array::NdIndex& index, const Tensor& updates, Tensor& out) {
  TROUPE_TRY(array::charge_text(updates, out));
  if constexpr (how == How::assign) {
    for (std::size_t i = 0; i < index.where.size(); ++i)
      if (index.where[i] >= 0)
        array::copy_elements(updates, static_cast<std::int64_t>(i) * index.row, out,
                             index.where[i] * index.row, index.row);
    return {};
  } else {
    using All = std::conditional_t<how == How::min || how == How::max, Ordered, Summed>;
    return dispatch(All{}, out.dtype(), [&]<class T>() -> Status {
      combine_rows<how>(index, updates.data<T>().data(), out.mutable_data<T>().data());
      return {};
    });
  }
}

/// Reads the indices; those outside are an error unless the policy says otherwise.
Result<array::NdIndex> read_index(KernelContext& c, const Tensor& indices, const Shape& shape) {
  TROUPE_ASSIGN(const bool ignore,
                ignores_bad_indices(c.attrs().get_or("bad_indices_policy", std::string())));
  TROUPE_ASSIGN(array::NdIndex index, array::read_nd_index(indices, shape));
  if (index.bad >= 0 && !ignore)
    return invalid_argument(
        str_cat(array::nd_index_text(indices, index.bad), " does not index into shape ", shape));
  return index;
}

/// Whether the updates are indices.shape[:-1] + shape[depth:], in the words of ScatterNd.
Status check_updates(const Shape& indices, const Shape& updates, const Shape& shape) {
  const int outer = indices.rank() - 1;
  bool same = updates.rank() >= outer;
  for (int i = 0; same && i < outer; ++i)
    same = indices[i] == updates[i];
  if (!same)
    return invalid_argument(str_cat("Dimensions [0,", outer, ") of indices[shape=", indices,
                                    "] must match dimensions [0,", outer,
                                    ") of updates[shape=", updates, "]"));
  const std::int64_t depth = indices[outer];
  same = depth <= shape.rank() && updates.rank() - outer == shape.rank() - depth;
  for (int i = 0; same && i + outer < updates.rank(); ++i)
    same = updates[i + outer] == shape[static_cast<int>(depth) + i];
  if (!same)
    return invalid_argument(str_cat("Dimensions [", depth, ",", shape.rank(),
                                    ") of input[shape=", shape, "] must match dimensions [", outer,
                                    ",", updates.rank(), ") of updates[shape=", updates, "]"));
  return {};
}

Status check_ranks(const Shape& indices, const Shape& updates) {
  if (indices.rank() < 1)
    return invalid_argument(str_cat("Indices shape must have rank at least one. Found:", indices));
  if (updates.rank() < 1)
    return invalid_argument(str_cat("Updates shape must have rank at least one. Found:", updates));
  return {};
}

/// Without elements there may be neither indices nor updates; `elements`: of the output, or in
/// ScatterNd of its shape.
Status check_not_empty(std::int64_t elements, const Shape& indices, const Shape& updates) {
  const bool no_indices = indices.num_elements() == 0, no_updates = updates.num_elements() == 0;
  if ((no_indices && no_updates) || (elements != 0 && !no_indices && !no_updates))
    return {};
  return invalid_argument("Indices and updates specified for empty output shape");
}

Status compute_scatter_nd(KernelContext& c) {
  const Tensor &indices = c.input(0), &updates = c.input(1);
  TROUPE_TRY(check_ranks(indices.shape(), updates.shape()));
  TROUPE_TRY(check_not_empty(c.input(2).num_elements(), indices.shape(), updates.shape()));
  if (c.input(2).shape().rank() != 1)
    return invalid_argument("Shape must be a vector");
  TROUPE_ASSIGN(const Shape shape, shape_from(c.input(2)));
  TROUPE_TRY(check_updates(indices.shape(), updates.shape(), shape));
  TROUPE_TRY(check_scatter_nd(shape, indices.shape(), updates.shape()));
  TROUPE_ASSIGN(const array::NdIndex index, read_index(c, indices, shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_TRY(array::fill_with_zeros(c, out));
  return apply<How::add>(index, updates, out);
}

/// Input 0 as the output, in its own memory where nobody else holds that.
Result<Tensor> copy_of_input(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  const void* before = c.input(0).raw();
  TROUPE_ASSIGN(Tensor out, c.forward_or_allocate(0, 0, shape));
  if (out.raw() == before)
    return out;
  TROUPE_TRY(array::charge_text(c.input(0), out));
  array::copy_elements(c.input(0), 0, out, 0, shape.num_elements());
  return out;
}

Status compute_non_aliasing_add(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  const Tensor &indices = c.input(1), &updates = c.input(2);
  TROUPE_TRY(check_scatter_nd(shape, indices.shape(), updates.shape()));
  const bool is_vector = indices.shape().rank() == 1;
  TROUPE_ASSIGN(const array::NdIndex index,
                read_index(c,
                           is_vector ? indices.reshaped(Shape{indices.num_elements(), 1}) : indices,
                           shape));
  TROUPE_ASSIGN(Tensor out, copy_of_input(c));
  return apply<How::add>(index, updates, out);
}

Status check_tensor_scatter(const Shape& shape, const Shape& indices, const Shape& updates) {
  TROUPE_TRY(check_ranks(indices, updates));
  TROUPE_TRY(check_not_empty(shape.num_elements(), indices, updates));
  const int outer = indices.rank() - 1;
  bool same = updates.rank() >= outer;
  for (int i = 0; same && i < outer; ++i)
    same = indices[i] == updates[i];
  if (!same)
    return invalid_argument(str_cat("Outer dimensions of indices and update must match. Indices "
                                    "shape: ",
                                    indices, ", updates shape:", updates));
  const std::int64_t depth = indices[outer];
  const std::int64_t inner = shape.rank() - depth;
  if (inner < 0 || updates.rank() - outer != inner)
    return invalid_argument(str_cat("Inner dimensions of output shape must match inner dimensions "
                                    "of updates shape. Output: ",
                                    shape, " updates: ", updates));
  for (int i = 0; i < inner; ++i)
    if (updates[i + outer] != shape[static_cast<int>(depth) + i])
      return invalid_argument(str_cat("The inner ", inner, " dimensions of output.shape=", shape,
                                      " must match the inner ", inner,
                                      " dimensions of updates.shape=", updates));
  return {};
}

template <How how>
Status compute_tensor_scatter(KernelContext& c) {
  const Tensor &indices = c.input(1), &updates = c.input(2);
  const Shape shape = c.input(0).shape();
  TROUPE_TRY(check_tensor_scatter(shape, indices.shape(), updates.shape()));
  TROUPE_TRY(check_scatter_nd(shape, indices.shape(), updates.shape()));
  TROUPE_ASSIGN(const array::NdIndex index, read_index(c, indices, shape));
  TROUPE_ASSIGN(Tensor out, copy_of_input(c));
  return apply<how>(index, updates, out);
}

// What is known of the updates must fit what is known of the rest.
Status infer_fit(const PartialShape& indices, const PartialShape& updates,
                 const PartialShape& shape) {
  if (!indices.has_rank() || !updates.has_rank() || !shape.has_rank())
    return {};
  const int outer = indices.rank() - 1;
  for (int i = 0; i < outer && i < updates.rank(); ++i)
    TROUPE_TRY(shape_rules::merge_dims(indices.dim(i), updates.dim(i)).status());
  const std::int64_t depth = indices.dim(outer);
  if (depth < 0)
    return {};
  if (depth > shape.rank() || updates.rank() - outer != shape.rank() - depth)
    return invalid_argument(str_cat("Dimensions [", depth, ",", shape.rank(),
                                    ") of input[shape=", shape, "] must match dimensions [", outer,
                                    ",", updates.rank(), ") of updates[shape=", updates, "]"));
  for (int i = outer; i < updates.rank(); ++i)
    TROUPE_TRY(
        shape_rules::merge_dims(updates.dim(i), shape.dim(static_cast<int>(depth) + i - outer))
            .status());
  return {};
}

Status infer_scatter_nd(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(2, 1));
  TROUPE_TRY(c.require_rank_at_least(0, 1));
  TROUPE_TRY(c.require_rank_at_least(1, 1));
  TROUPE_ASSIGN(const PartialShape shape, c.input_as_shape(2));
  TROUPE_TRY(infer_fit(c.input(0), c.input(1), shape));
  return c.set_output(0, shape);
}

Status infer_tensor_scatter(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_least(1, 1));
  TROUPE_TRY(c.require_rank_at_least(2, 1));
  TROUPE_TRY(infer_fit(c.input(1), c.input(2), c.input(0)));
  return c.output_like(0, 0);
}

Value gathered(GradContext& g, Value from, Value indices) {
  return g.op("GatherNd", {from, indices});
}

Status differentiate_scatter_nd(GradContext& g) {
  return g.set_input_grad(1, gathered(g, g.output_grad(0), g.input(0)));
}

Status differentiate_add(GradContext& g) {
  TROUPE_TRY(g.set_input_grad(0, g.identity(g.output_grad(0))));
  return g.set_input_grad(2, gathered(g, g.output_grad(0), g.input(1)));
}

Status differentiate_sub(GradContext& g) {
  TROUPE_TRY(g.set_input_grad(0, g.identity(g.output_grad(0))));
  return g.set_input_grad(2, g.neg(gathered(g, g.output_grad(0), g.input(1))));
}

// What was written over has no gradient.
Status differentiate_update(GradContext& g) {
  const Value zeros = g.zeros_like(g.input(2));
  TROUPE_TRY(
      g.set_input_grad(0, g.op("TensorScatterUpdate", {g.output_grad(0), g.input(1), zeros})));
  return g.set_input_grad(2, gathered(g, g.output_grad(0), g.input(1)));
}

// Those that are the result have the gradient, shared where several are.
Status differentiate_extremum(GradContext& g) {
  const Value dy = g.output_grad(0), y = g.output(0), indices = g.input(1), updates = g.input(2);
  const auto is = [&](Value a, Value b) {
    return g.op("Cast", {g.op("Equal", {a, b})}, {{"DstT", g.dtype(dy)}});
  };
  const Value of_tensor = is(y, g.input(0));
  const Value of_updates = is(gathered(g, y, indices), updates);
  const Value count = g.op("TensorScatterAdd", {of_tensor, indices, of_updates});
  const Value share = g.div(dy, count);
  TROUPE_TRY(g.set_input_grad(0, g.mul(of_tensor, share)));
  return g.set_input_grad(2, g.mul(of_updates, gathered(g, share, indices)));
}

void add_tensor_scatter(OpLibrary& library, std::string_view name, KernelFn fn, GradientFn gradient,
                        std::vector<DType> dtypes, std::string_view doc) {
  KernelOptions options;
  options.types = {{"T", std::move(dtypes)}, {"Tindices", {DType::int32, DType::int64}}};
  options.expensive = true;
  const bool wide = name == "TensorScatterUpdate";
  library.op(name)
      .input("tensor: T; indices: Tindices; updates: T")
      .output("output: T")
      .attr(wide ? "T: type; Tindices: {int16, int32, int64, uint16}"
                 : "T: type; Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''")
      .shape_fn(infer_tensor_scatter)
      .gradient(gradient)
      .cpu_kernel(fn, std::move(options))
      .doc(doc);
}

void add_tensor_scatters(OpLibrary& library) {
  const auto numbers = with(ordered_dtypes(), {DType::complex64, DType::complex128});
  add_tensor_scatter(library, "TensorScatterUpdate", compute_tensor_scatter<How::assign>,
                     differentiate_update, with(numbers, {DType::bool_, DType::string}),
                     "The tensor with updates written over the rows that the indices name.");
  add_tensor_scatter(library, "TensorScatterAdd", compute_tensor_scatter<How::add>,
                     differentiate_add, numbers,
                     "The tensor with updates added to the rows that the indices name.");
  add_tensor_scatter(library, "TensorScatterSub", compute_tensor_scatter<How::sub>,
                     differentiate_sub, numbers,
                     "The tensor with updates subtracted from the rows that the indices name.");
  add_tensor_scatter(library, "TensorScatterMin", compute_tensor_scatter<How::min>,
                     differentiate_extremum, ordered_dtypes(),
                     "The tensor and updates, the smaller of each where the indices name a row.");
  add_tensor_scatter(library, "TensorScatterMax", compute_tensor_scatter<How::max>,
                     differentiate_extremum, ordered_dtypes(),
                     "The tensor and updates, the larger of each where the indices name a row.");
}

} // namespace

void register_ops(OpLibrary& library) {
  const auto numbers = with(ordered_dtypes(), {DType::complex64, DType::complex128, DType::bool_});
  KernelOptions options;
  options.types = {{"T", with(numbers, {DType::string})},
                   {"Tindices", {DType::int32, DType::int64}}};
  options.expensive = true;
  library.op("ScatterNd")
      .input("indices: Tindices; updates: T; shape: Tindices")
      .output("output: T")
      .attr("T: type; Tindices: {int16, int32, int64}; bad_indices_policy: string = ''")
      .shape_fn(infer_scatter_nd)
      .gradient(differentiate_scatter_nd)
      .cpu_kernel(compute_scatter_nd, std::move(options))
      .doc("Zeros with updates added to the rows that the indices name.");
  KernelOptions add;
  add.types = {{"T", numbers}, {"Tindices", {DType::int32, DType::int64}}};
  add.expensive = true;
  library.op("ScatterNdNonAliasingAdd")
      .input("input: T; indices: Tindices; updates: T")
      .output("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
            "qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}")
      .attr("Tindices: {int32, int64}; bad_indices_policy: string = ''")
      .shape_fn(infer_tensor_scatter)
      .gradient(differentiate_add)
      .cpu_kernel(compute_non_aliasing_add, std::move(add))
      .doc("The input with updates added to the rows that the indices name.");
  add_tensor_scatters(library);
}

} // namespace troupe::array_scatter_nd
