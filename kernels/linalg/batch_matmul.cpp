// BatchMatMul, V2 and V3: products of the matrices in the last two dimensions; V2 and V3 broadcast
// the dimensions before them.
#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/broadcast.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/linalg/internal/product.hpp"

namespace troupe::linalg_batch_matmul {
namespace {

using Dims = std::vector<std::int64_t>;

struct BatchAttrs {
  bool adj_x = false, adj_y = false;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(bool adj_x, c.attr<bool>("adj_x"));
  TROUPE_ASSIGN(bool adj_y, c.attr<bool>("adj_y"));
  return prepared(BatchAttrs{adj_x, adj_y});
}

PartialShape without_matrix(const PartialShape& shape) {
  if (!shape.has_rank())
    return {};
  return PartialShape(Dims(shape.dims().begin(), shape.dims().end() - 2));
}

std::int64_t from_end(const PartialShape& shape, int i) {
  return shape.has_rank() ? shape.dim(shape.rank() - i) : shape_rules::unknown_dim;
}

Status infer_shape(ShapeContext& c, bool broadcast) {
  TROUPE_ASSIGN(bool adj_x, c.attr<bool>("adj_x"));
  TROUPE_ASSIGN(bool adj_y, c.attr<bool>("adj_y"));
  TROUPE_TRY(c.require_rank_at_least(0, 2));
  TROUPE_TRY(c.require_rank_at_least(1, 2));
  const PartialShape &x = c.input(0), &y = c.input(1);
  TROUPE_TRY(
      shape_rules::merge_dims(from_end(x, adj_x ? 2 : 1), from_end(y, adj_y ? 1 : 2)).status());
  TROUPE_ASSIGN(PartialShape batch,
                broadcast ? broadcast_partial(without_matrix(x), without_matrix(y))
                          : shape_rules::merge_shapes(without_matrix(x), without_matrix(y)));
  if (!batch.has_rank())
    return c.set_output(0, {});
  Dims dims = batch.dims();
  dims.push_back(from_end(x, adj_x ? 1 : 2));
  dims.push_back(from_end(y, adj_y ? 2 : 1));
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status check(const Shape& x, const Shape& y, bool broadcast) {
  if (!broadcast) {
    if (x.rank() != y.rank())
      return invalid_argument(str_cat("In[0] and In[1] has different ndims: ", x, " vs. ", y));
    for (int i = 0; i < x.rank() - 2; ++i)
      if (x[i] != y[i])
        return invalid_argument(
            str_cat("In[0].dim(", i, ") and In[1].dim(", i, ") must be the same: ", x, " vs ", y));
  }
  if (x.rank() < 2)
    return invalid_argument(str_cat("In[0] ndims must be >= 2: ", x.rank()));
  if (y.rank() < 2)
    return invalid_argument(str_cat("In[1] ndims must be >= 2: ", y.rank()));
  return {};
}

/// Which matrix of an input each entry of the output takes; empty where it is the entry itself.
Dims matrix_indices(std::span<const std::int64_t> input, const Dims& batch) {
  const std::size_t missing = batch.size() - input.size();
  if (missing == 0 && std::equal(input.begin(), input.end(), batch.begin()))
    return {};
  Dims indices{0};
  std::int64_t stride =
      std::accumulate(input.begin(), input.end(), std::int64_t{1}, std::multiplies<>());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::int64_t extent = i < missing ? 1 : input[i - missing];
    stride /= std::max<std::int64_t>(extent, 1);
    Dims next;
    next.reserve(indices.size() * static_cast<std::size_t>(batch[i]));
    for (std::int64_t base : indices)
      for (std::int64_t j = 0; j < batch[i]; ++j)
        next.push_back(base + (extent == 1 ? 0 : j * stride));
    indices = std::move(next);
  }
  return indices;
}

const std::int64_t* given(const Dims& index) {
  return index.empty() ? nullptr : index.data();
}

// One call where each operand is one matrix for all entries, or one for each.
Status multiply_on_gpu(KernelContext& c, const arith::GemmShape& shape, const Tensor& x,
                       const Dims& x_index, const Tensor& y, const Dims& y_index, Tensor& out,
                       std::int64_t batch) {
  const auto is_one = [](const Dims& index) {
    return !index.empty() && std::ranges::all_of(index, [](std::int64_t i) { return i == 0; });
  };
  const bool one_x = is_one(x_index), one_y = is_one(y_index);
  if ((x_index.empty() || one_x) && (y_index.empty() || one_y))
    return linalg::product_on_gpu(c, shape, x.raw(), y.raw(), out, batch, one_x, one_y);
  const auto size = static_cast<std::int64_t>(dtype_size(out.dtype()));
  Tensor matrices = out.reshaped(Shape{batch, shape.m * shape.n});
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t xi = x_index.empty() ? i : x_index[at],
                       yi = y_index.empty() ? i : y_index[at];
    Tensor matrix = matrices.rows(i, i + 1);
    TROUPE_TRY(linalg::product_on_gpu(
        c, shape, static_cast<const std::byte*>(x.raw()) + xi * shape.m * shape.k * size,
        static_cast<const std::byte*>(y.raw()) + yi * shape.k * shape.n * size, matrix));
  }
  return {};
}

/// An operand as the product takes it: a transposed complex one is conjugated.
Result<Tensor> operand(KernelContext& c, int i, bool adjoint) {
  const Tensor& from = c.input(i);
  using Complexes = Types<std::complex<float>, std::complex<double>>;
  if (!adjoint || (from.dtype() != DType::complex64 && from.dtype() != DType::complex128))
    return from;
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(from.dtype(), from.shape()));
  TROUPE_TRY(dispatch(Complexes{}, from.dtype(), [&]<class T>() -> Status {
    std::ranges::transform(from.data<T>(), out.mutable_data<T>().begin(),
                           [](T z) { return std::conj(z); });
    return {};
  }));
  return out;
}

Status compute(KernelContext& c, bool broadcast) {
  const auto& attrs = c.prepared<BatchAttrs>();
  TROUPE_ASSIGN(const Tensor x, operand(c, 0, attrs.adj_x));
  TROUPE_ASSIGN(const Tensor y, operand(c, 1, attrs.adj_y));
  TROUPE_TRY(check(x.shape(), y.shape(), broadcast));
  const auto x_batch = x.shape().dims().first(static_cast<std::size_t>(x.shape().rank()) - 2);
  const auto y_batch = y.shape().dims().first(static_cast<std::size_t>(y.shape().rank()) - 2);
  Dims batch;
  if (!arith::broadcast_shape(x_batch, y_batch, batch))
    return invalid_argument(str_cat(
        "In[0] and In[1] must have compatible batch dimensions: ", x.shape(), " vs. ", y.shape()));
  const int xr = x.shape().rank(), yr = y.shape().rank();
  arith::GemmShape shape{
      .m = x.shape()[xr - (attrs.adj_x ? 1 : 2)],
      .n = y.shape()[yr - (attrs.adj_y ? 2 : 1)],
      .k = x.shape()[xr - (attrs.adj_x ? 2 : 1)],
      .transpose_a = attrs.adj_x,
      .transpose_b = attrs.adj_y,
  };
  if (shape.k != y.shape()[yr - (attrs.adj_y ? 1 : 2)])
    return invalid_argument(
        str_cat("Matrix size-incompatible: In[0]: ", x.shape(), ", In[1]: ", y.shape()));
  Dims dims = batch;
  dims.insert(dims.end(), {shape.m, shape.n});
  TROUPE_ASSIGN(Shape out_shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, out_shape));
  if (out.num_elements() == 0)
    return {};
  const auto entries =
      std::accumulate(batch.begin(), batch.end(), std::int64_t{1}, std::multiplies<>());
  if (out.kind() == MemoryKind::device)
    return multiply_on_gpu(c, shape, x, matrix_indices(x_batch, batch), y,
                           matrix_indices(y_batch, batch), out, entries);
  TROUPE_ASSIGN(const auto type, arith::gemm_type(out.dtype()));
  const Dims x_index = matrix_indices(x_batch, batch), y_index = matrix_indices(y_batch, batch);
  linalg::products(c, type, shape, x.raw(), given(x_index), y.raw(), given(y_index),
                   out.mutable_raw(), entries);
  return {};
}

template <bool broadcast>
Status compute(KernelContext& c) {
  return compute(c, broadcast);
}

/// Whether the matrices of both inputs are of bfloat16 and are multiplied as they are.
bool multiplies_bfloat16(const KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  const int xr = x.shape().rank(), yr = y.shape().rank();
  if (x.dtype() != DType::bfloat16 || y.dtype() != DType::bfloat16 || xr < 2 || yr < 2)
    return false;
  const auto& attrs = c.prepared<BatchAttrs>();
  return arith::prefers_bfloat16_gemm({.m = x.shape()[xr - (attrs.adj_x ? 1 : 2)],
                                       .n = y.shape()[yr - (attrs.adj_y ? 2 : 1)],
                                       .k = x.shape()[xr - (attrs.adj_x ? 2 : 1)]});
}

template <bool broadcast>
Status compute_narrow(KernelContext& c) {
  return multiplies_bfloat16(c) ? compute<broadcast>(c) : compute_widened(c, compute<broadcast>);
}

/// The elements of all tensors as those that the output's are computed in.
Status compute_mixed(KernelContext& c) {
  if (multiplies_bfloat16(c))
    return compute<true>(c);
  return compute_widened(c, compute<true>, arith::widened_dtype(c.output_type(0)));
}

Value batch_matmul(GradContext& g, std::string_view op, Value x, Value y, bool adj_x, bool adj_y,
                   int of) {
  AttrMap attrs{{"adj_x", adj_x}, {"adj_y", adj_y}, {of == 0 ? "grad_x" : "grad_y", true}};
  if (op == "BatchMatMulV3")
    attrs.set("Tout", g.dtype(g.input(of)));
  return g.op(op, {x, y}, std::move(attrs));
}

/// Dimensions before the matrix, at run time.
Value batch_shape(GradContext& g, Value x) {
  return g.op("StridedSlice", {g.shape_of(x), g.ints({0}), g.ints({-2}), g.ints({1})},
              {{"begin_mask", std::int64_t{1}}});
}

// As MatMul's, entry by entry; then summed over the batch dimensions that were broadcast.
Status differentiate(GradContext& g, std::string_view op, bool broadcast) {
  const bool adj_x = g.attrs().get_or("adj_x", false);
  const bool adj_y = g.attrs().get_or("adj_y", false);
  const Value x = g.input(0), y = g.input(1), dy = g.output_grad(0);
  Value dx = adj_x ? batch_matmul(g, op, y, dy, adj_y, true, 0)
                   : batch_matmul(g, op, dy, y, false, !adj_y, 0);
  Value dw = adj_y ? batch_matmul(g, op, dy, x, true, adj_x, 1)
                   : batch_matmul(g, op, x, dy, !adj_x, false, 1);
  const auto x_batch = without_matrix(g.shape(x)), y_batch = without_matrix(g.shape(y));
  if (broadcast && !(x_batch.is_fully_defined() && x_batch == y_batch)) {
    const Value axes = g.op("BroadcastGradientArgs", {batch_shape(g, x), batch_shape(g, y)});
    dx = g.reshape(g.op("Sum", {dx, g.slot(axes, 0)}), g.shape_of(x));
    dw = g.reshape(g.op("Sum", {dw, g.slot(axes, 1)}), g.shape_of(y));
  }
  TROUPE_TRY(g.set_input_grad(0, dx));
  return g.set_input_grad(1, dw);
}

using DTypes = std::vector<DType>;

const DTypes& computed() {
  static const DTypes all = {DType::float32, DType::float64,   DType::int32,
                             DType::int64,   DType::complex64, DType::complex128};
  return all;
}
const DTypes& narrow_ones() {
  static const DTypes all = {DType::float16, DType::bfloat16, DType::int16};
  return all;
}

KernelOptions options(std::vector<TypeConstraint> types) {
  return {.types = std::move(types), .prepare = prepare, .expensive = true};
}

KernelOptions on_gpu(std::vector<std::string> attrs) {
  KernelOptions out{.prepare = prepare};
  for (std::string& attr : attrs)
    out.types.push_back({std::move(attr), gpu::floats()});
  return out;
}

KernelOptions options_v3(DTypes a, DTypes b, DType out) {
  return options({{"Ta", std::move(a)}, {"Tb", std::move(b)}, {"Tout", {out}}});
}

/// The triples that TensorFlow has.
void add_kernels_v3(OpLibrary::Builder& op) {
  for (DType type : computed())
    op.cpu_kernel(compute<true>, options_v3({type}, {type}, type));
  for (DType type : {DType::bfloat16, DType::int16})
    op.cpu_kernel(compute_mixed, options_v3({type}, {type}, type));
  const DTypes bytes = {DType::int8, DType::uint8};
  op.cpu_kernel(compute_mixed, options_v3(bytes, bytes, DType::int32));
  op.cpu_kernel(compute_mixed, options_v3({DType::bfloat16}, bytes, DType::bfloat16));
  op.cpu_kernel(compute_mixed, options_v3(bytes, {DType::bfloat16}, DType::bfloat16));
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto flags = "adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; "
                         "grad_y: bool = false";
  library.op("BatchMatMul")
      .input("x: T; y: T")
      .output("output: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .attr(flags)
      .shape_fn([](ShapeContext& c) { return infer_shape(c, false); })
      .gradient([](GradContext& g) { return differentiate(g, "BatchMatMul", false); })
      .cpu_kernel(compute<false>, options({{"T", computed()}}))
      .cpu_kernel(compute_narrow<false>, options({{"T", narrow_ones()}}))
      .gpu_kernel(compute<false>, on_gpu({"T"}))
      .doc("Products of matrices in the last two dimensions; those before are equal.");
  library.op("BatchMatMulV2")
      .input("x: T; y: T")
      .output("output: T")
      .attr("T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, "
            "uint64, complex64, complex128}")
      .attr(flags)
      .shape_fn([](ShapeContext& c) { return infer_shape(c, true); })
      .gradient([](GradContext& g) { return differentiate(g, "BatchMatMulV2", true); })
      .cpu_kernel(compute<true>, options({{"T", computed()}}))
      .cpu_kernel(compute_narrow<true>, options({{"T", narrow_ones()}}))
      .gpu_kernel(compute<true>, on_gpu({"T"}))
      .doc("Products of matrices in the last two dimensions; those before broadcast.");
  OpLibrary::Builder v3 = library.op("BatchMatMulV3");
  add_kernels_v3(v3);
  v3.input("x: Ta; y: Tb")
      .output("output: Tout")
      .attr("Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
            "complex128}")
      .attr("Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
            "complex128}")
      .attr("Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}")
      .attr(flags)
      .shape_fn([](ShapeContext& c) { return infer_shape(c, true); })
      .gradient([](GradContext& g) { return differentiate(g, "BatchMatMulV3", true); })
      .doc("As BatchMatMulV2, with a dtype of its own for each tensor.");
}

} // namespace troupe::linalg_batch_matmul
