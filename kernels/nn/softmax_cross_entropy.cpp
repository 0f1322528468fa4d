// Cross entropy of softmax(logits) and labels, row by row, together with its gradient by the
// logits: softmax(logits) - labels. Labels are distributions, or (sparse) one class for each row.
#include <algorithm>

#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/arith/movement.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::nn_softmax_cross_entropy {
namespace {

Status infer_dense(ShapeContext& c) {
  auto shape = broadcast_partial(c.input(0), c.input(1));
  if (!shape.ok())
    return shape.status();
  if (!shape->has_rank())
    *shape = PartialShape{shape_rules::unknown_dim, shape_rules::unknown_dim};
  if (shape->rank() != 2)
    return invalid_argument(
        str_cat("Shape must be broadcasted with rank 2, but is rank ", shape->rank()));
  TROUPE_TRY(c.set_output(0, {shape->dim(0)}));
  return c.set_output(1, *shape);
}

Status infer_sparse(ShapeContext& c) {
  TROUPE_ASSIGN(auto logits, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(auto labels, shape_rules::dims_of_rank(c, 1, 1));
  TROUPE_ASSIGN(std::int64_t rows, shape_rules::merge_dims(logits[0], labels[0]));
  TROUPE_TRY(c.set_output(0, {rows}));
  return c.set_output(1, {rows, logits[1]});
}

/// How an input of up to two dimensions lies under a matrix that it broadcasts to.
arith::SoftmaxXentInput broadcast_input(const Tensor& x) {
  const Shape& shape = x.shape();
  const int rank = shape.rank();
  const std::int64_t columns = rank > 0 ? shape[rank - 1] : 1;
  return {.data = x.raw(),
          .row_stride = rank < 2 || shape[0] == 1 ? 0 : columns,
          .column_stride = columns == 1 ? 0 : 1};
}

Status compute_dense(KernelContext& c) {
  const Shape& logits_shape = c.input(0).shape();
  const Shape& labels_shape = c.input(1).shape();
  auto shape = broadcast_shapes(logits_shape, labels_shape);
  if (!shape.ok())
    return invalid_argument(str_cat("logits and labels must be broadcastable: logits_size=",
                                    logits_shape, " labels_size=", labels_shape));
  if (shape->rank() != 2)
    return invalid_argument("logits and labels must be either 2-dimensional, or broadcasted to be "
                            "2-dimensional");
  const std::int64_t rows = (*shape)[0], columns = (*shape)[1];
  const auto logits = broadcast_input(c.input(0));
  const auto labels = broadcast_input(c.input(1));
  TROUPE_ASSIGN(Tensor loss, c.allocate_output(0, Shape{rows}));
  TROUPE_ASSIGN(Tensor backprop, c.forward_or_allocate(0, 1, *shape));
  const bool on_gpu = loss.kind() == MemoryKind::device;
  if (columns == 0 && on_gpu)
    return gpu::fill(c, loss.mutable_raw(), 0, loss.byte_size());
  if (columns == 0)
    std::fill_n(static_cast<std::byte*>(loss.mutable_raw()), loss.byte_size(), std::byte{0});
  if (backprop.num_elements() == 0)
    return {};
  if (on_gpu)
    return gpu::launch(c, gpu::kernels::cross_entropy, loss.dtype(), gpu::rows(rows, columns),
                       logits.data, logits.row_stride, logits.column_stride, labels.data,
                       labels.row_stride, labels.column_stride, loss.mutable_raw(),
                       backprop.mutable_raw(), rows, columns);
  TROUPE_ASSIGN(const arith::SoftmaxXentFn fn, arith::softmax_xent(loss.dtype()));
  c.parallel_for(
      rows, 3.0 * static_cast<double>(columns), [&](std::int64_t begin, std::int64_t end) {
        fn(logits, labels, loss.mutable_raw(), backprop.mutable_raw(), columns, begin, end);
      });
  return {};
}

/// The smallest label if that is negative, else the largest, as TensorFlow tells it.
template <class Index>
Status bad_label(const Tensor& labels, std::int64_t classes) {
  constexpr std::size_t shown = 256;
  const auto values = labels.data<Index>();
  const auto [least, most] = std::ranges::minmax(values);
  return invalid_argument(
      str_cat("Received a label value of ", least < 0 ? least : most,
              " which is outside the valid range of [0, ", classes,
              ").  Label values: ", str_join(values.first(std::min(values.size(), shown)), " "),
              values.size() > shown ? "..." : ""));
}

Status compute_sparse(KernelContext& c) {
  const Shape shape = c.input(0).shape();
  const void* logits = c.input(0).raw();
  const Tensor& labels = c.input(1);
  if (shape.rank() != 2)
    return invalid_argument(str_cat("logits must be 2-D, but got shape ", shape));
  if (labels.shape().rank() != 1)
    return invalid_argument(str_cat("labels must be 1-D, but got shape ", labels.shape()));
  if (shape[0] != labels.shape()[0])
    return invalid_argument(
        str_cat("logits and labels must have the same first dimension, got logits shape ", shape,
                " and labels shape ", labels.shape()));
  if (shape[1] == 0)
    return invalid_argument(str_cat("Must have at least one class, but got logits shape ", shape));
  const std::int64_t rows = shape[0], columns = shape[1];
  if (labels.kind() == MemoryKind::device) { // which cannot tell in time of what is no class
    TROUPE_ASSIGN(Tensor loss, c.allocate_output(0, Shape{rows}));
    TROUPE_ASSIGN(Tensor backprop, c.forward_or_allocate(0, 1, shape));
    if (rows == 0)
      return {};
    return gpu::launch(c, gpu::kernels::sparse_cross_entropy, loss.dtype(),
                       gpu::rows(rows, columns), labels.dtype() == DType::int64, logits,
                       labels.raw(), loss.mutable_raw(), backprop.mutable_raw(), rows, columns);
  }
  TROUPE_ASSIGN(const auto label_type, arith::index_type(labels.dtype()));
  if (arith::find_bad_index(label_type, labels.raw(), 0, rows, columns) >= 0)
    return labels.dtype() == DType::int32 ? bad_label<std::int32_t>(labels, columns)
                                          : bad_label<std::int64_t>(labels, columns);
  TROUPE_ASSIGN(Tensor loss, c.allocate_output(0, Shape{rows}));
  TROUPE_ASSIGN(Tensor backprop, c.forward_or_allocate(0, 1, shape));
  TROUPE_ASSIGN(const arith::SparseXentFn fn,
                arith::sparse_softmax_xent(loss.dtype(), labels.dtype()));
  c.parallel_for(
      rows, 2.0 * static_cast<double>(columns), [&](std::int64_t begin, std::int64_t end) {
        fn(logits, labels.raw(), loss.mutable_raw(), backprop.mutable_raw(), columns, begin, end);
      });
  return {};
}

/// Each row of a matrix times its element of a vector.
Value scale_rows(GradContext& g, Value vector, Value matrix) {
  return g.mul(g.op("ExpandDims", {vector, g.ints({-1})}), matrix);
}

/// The dense op's logits, broadcast to the shape of its outputs where one column may serve all.
Value whole_logits(GradContext& g) {
  const PartialShape shape = g.shape(g.input(0));
  const bool is_wide = shape.has_rank() && shape.rank() > 0 && shape.dim(shape.rank() - 1) > 1;
  return is_wide ? g.input(0) : g.add(g.input(0), g.zeros_like(g.output(1)));
}

/// dy0 * backprop for the loss, and for the second output the softmax's own derivative.
Value logits_gradient(GradContext& g, Value logits) {
  const Value dloss = g.output_grad(0), dbackprop = g.output_grad(1);
  Value out;
  if (!dloss.is_none())
    out = scale_rows(g, dloss, g.output(1));
  if (dbackprop.is_none())
    return out;
  const Value softmax = g.op("Softmax", {logits});
  const Value inner = g.op("Sum", {g.mul(dbackprop, softmax), g.ints({-1})}, {{"keep_dims", true}});
  const Value second = g.mul(g.sub(dbackprop, inner), softmax);
  return out.is_none() ? second : g.add(out, second);
}

Status differentiate_dense(GradContext& g) {
  const Value dloss = g.output_grad(0), logits = whole_logits(g);
  const Value dlogits = logits_gradient(g, logits);
  Value dlabels;
  if (!dloss.is_none())
    dlabels = scale_rows(g, dloss, g.neg(g.op("LogSoftmax", {logits})));
  if (!g.output_grad(1).is_none())
    dlabels = dlabels.is_none() ? g.neg(g.output_grad(1)) : g.sub(dlabels, g.output_grad(1));
  const auto [da, db] = g.unbroadcast(g.input(0), g.input(1), dlogits, dlabels);
  TROUPE_TRY(g.set_input_grad(0, da));
  return g.set_input_grad(1, db);
}

Status differentiate_sparse(GradContext& g) {
  return g.set_input_grad(0, logits_gradient(g, g.input(0)));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  const KernelOptions on_gpu{.types = {{"T", gpu::floats()}}};
  KernelOptions half = options;
  half.types = {{"T", {DType::float16, DType::bfloat16}}};
  library.op("SoftmaxCrossEntropyWithLogits")
      .input("features: T; labels: T")
      .output("loss: T; backprop: T")
      .attr("T: {half, bfloat16, float, double}")
      .shape_fn(infer_dense)
      .gradient(differentiate_dense)
      .cpu_kernel(compute_dense, options)
      .cpu_kernel(in_wider<compute_dense>, half)
      .gpu_kernel(compute_dense, on_gpu)
      .doc("Cross entropy of each row's softmax and its label distribution, and the gradient.");
  library.op("SparseSoftmaxCrossEntropyWithLogits")
      .input("features: T; labels: Tlabels")
      .output("loss: T; backprop: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("Tlabels: {int32, int64} = DT_INT64")
      .shape_fn(infer_sparse)
      .gradient(differentiate_sparse)
      .cpu_kernel(compute_sparse, options)
      .cpu_kernel(in_wider<compute_sparse>, half)
      .gpu_kernel(compute_sparse, on_gpu)
      .doc("Cross entropy of each row's softmax and the class its label names, and the gradient.");
}

} // namespace troupe::nn_softmax_cross_entropy
