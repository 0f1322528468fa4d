// BatchNormWithGlobalNormalization: (t - m) / sqrt(v + epsilon), times gamma where it says so, plus
// beta; channels are the last dimension. And its gradient.
#include <cmath>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"

namespace troupe::nn_batch_norm {
namespace {

struct Attrs {
  float epsilon = 0;
  bool scales = false;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const float epsilon, c.attr<float>("variance_epsilon"));
  TROUPE_ASSIGN(const bool scales, c.attr<bool>("scale_after_normalization"));
  return prepared(Attrs{epsilon, scales});
}

/// Inputs 0 (images) and `vectors`, one number for each channel.
Status check(KernelContext& c, std::initializer_list<std::pair<int, const char*>> vectors) {
  const Shape& images = c.input(0).shape();
  if (images.rank() != 4)
    return invalid_argument(str_cat("input must be 4-dimensional", images));
  for (const auto& [i, name] : vectors) {
    const Shape& vector = c.input(i).shape();
    if (vector.rank() != 1)
      return invalid_argument(str_cat(name, " must be 1-dimensional", vector));
    if (vector[0] != images[3])
      return invalid_argument(
          str_cat(name, " has ", vector[0], " elements for ", images[3], " channels"));
  }
  return {};
}

Status compute(KernelContext& c) {
  TROUPE_TRY(check(c, {{1, "mean"}, {2, "var"}, {3, "beta"}, {4, "gamma"}}));
  const auto& attrs = c.prepared<Attrs>();
  const Shape& shape = c.input(0).shape();
  const std::int64_t n = shape[3];
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  return dispatch(Floats{}, out.dtype(), [&]<class T>() -> Status {
    const auto vector = [&](int i) { return c.input(i).data<T>(); };
    std::vector<T> factor(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < factor.size(); ++k)
      factor[k] = T(1) / std::sqrt(vector(2)[k] + static_cast<T>(attrs.epsilon)) *
                  (attrs.scales ? vector(4)[k] : T(1));
    const T *x = c.input(0).data<T>().data(), *mean = vector(1).data(), *beta = vector(3).data();
    T* y = out.mutable_data<T>().data();
    c.parallel_for(shape.num_elements() / n, 2 * static_cast<double>(n),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i)
                       for (std::int64_t k = 0; k < n; ++k)
                         y[i * n + k] =
                             (x[i * n + k] - mean[k]) * factor[static_cast<std::size_t>(k)] +
                             beta[k];
                   });
    return {};
  });
}

Status compute_grad(KernelContext& c) {
  TROUPE_TRY(check(c, {{1, "mean"}, {2, "var"}, {3, "gamma"}}));
  const auto& attrs = c.prepared<Attrs>();
  const Shape& shape = c.input(0).shape();
  if (c.input(4).shape().rank() != 4)
    return invalid_argument(str_cat("out_backprop must be 4-dimensional", c.input(4).shape()));
  if (c.input(4).shape() != shape)
    return invalid_argument(
        str_cat("out_backprop must be of the input's shape ", shape, ", not ", c.input(4).shape()));
  const std::int64_t n = shape[3], rows = n == 0 ? 0 : shape.num_elements() / n;
  std::vector<Tensor> out(5);
  for (int i = 0; i < 5; ++i) {
    TROUPE_ASSIGN(out[static_cast<std::size_t>(i)],
                  c.allocate_output(i, i == 0 ? shape : Shape{n}));
  }
  return dispatch(Floats{}, out[0].dtype(), [&]<class T>() -> Status {
    const auto in = [&](int i) { return c.input(i).data<T>().data(); };
    const auto to = [&](std::size_t i) { return out[i].mutable_data<T>().data(); };
    const T *x = in(0), *mean = in(1), *variance = in(2), *gamma = in(3), *dy = in(4);
    T *dx = to(0), *dm = to(1), *dv = to(2), *db = to(3), *dg = to(4);
    c.parallel_for(n, 4 * static_cast<double>(rows), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const T inverse = T(1) / std::sqrt(variance[k] + static_cast<T>(attrs.epsilon));
        const T scale = attrs.scales ? gamma[k] : T(1);
        double sum = 0, product = 0;
        for (std::int64_t i = k; i < rows * n; i += n) {
          sum += static_cast<double>(dy[i]);
          product += static_cast<double>(dy[i]) * static_cast<double>(x[i] - mean[k]);
          dx[i] = dy[i] * inverse * scale;
        }
        db[k] = static_cast<T>(sum);
        dm[k] = -db[k] * inverse * scale;
        dg[k] = attrs.scales ? static_cast<T>(product) * inverse : T(0);
        dv[k] = static_cast<T>(product) * T(-0.5) * inverse * inverse * inverse * scale;
      }
    });
    return {};
  });
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(auto dims, shape_rules::dims_of_rank(c, 0, 4));
  const bool grad = c.num_outputs() > 1;
  for (int i = 1; i < (grad ? 4 : 5); ++i) {
    TROUPE_ASSIGN(const auto vector, shape_rules::dims_of_rank(c, i, 1));
    TROUPE_ASSIGN(dims[3], shape_rules::merge_dims(dims[3], vector[0]));
  }
  if (grad) {
    TROUPE_ASSIGN(const auto gradient, shape_rules::dims_of_rank(c, 4, 4));
    for (std::size_t i = 0; i < dims.size(); ++i) {
      TROUPE_ASSIGN(dims[i], shape_rules::merge_dims(dims[i], gradient[i]));
    }
    for (int i = 1; i < 5; ++i)
      TROUPE_TRY(c.set_output(i, {dims[3]}));
  }
  return c.set_output(0, PartialShape(std::move(dims)));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = prepare;
  options.expensive = true;
  KernelOptions half = options;
  half.types = {{"T", {DType::float16}}};
  constexpr auto attrs = "T: numbertype; variance_epsilon: float; scale_after_normalization: bool";
  library.op("BatchNormWithGlobalNormalization")
      .input("t: T; m: T; v: T; beta: T; gamma: T")
      .output("result: T")
      .attr(attrs)
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .cpu_kernel(in_wider<compute>, half)
      .doc("Images by given means and variances of the channels.");
  library.op("BatchNormWithGlobalNormalizationGrad")
      .input("t: T; m: T; v: T; gamma: T; backprop: T")
      .output("dx: T; dm: T; dv: T; db: T; dg: T")
      .attr(attrs)
      .shape_fn(infer)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel(compute_grad, options)
      .cpu_kernel(in_wider<compute_grad>, half)
      .doc("The gradient of BatchNormWithGlobalNormalization.");
}

} // namespace troupe::nn_batch_norm
