// FusedBatchNorm, …V2 and …V3: y = (x - mean) / sqrt(variance + epsilon) * scale + offset, channel
// by channel; mean and variance are the batch's when training, else the given ones. And their
// gradients.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/strings.hpp"
#include "graph/op/grad_context.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/widened.hpp"
#include "kernels/gpu/shared.hpp"
#include "kernels/nn/internal/batch_norm.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"
#include "kernels/nn/internal/vectors.hpp"

namespace troupe::nn_fused_batch_norm {
namespace {

struct Attrs {
  float epsilon = 0, factor = 1;
  bool training = true, channels_second = false;
  int rank = 4;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(float epsilon, c.attr<float>("epsilon"));
  TROUPE_ASSIGN(bool training, c.attr<bool>("is_training"));
  TROUPE_ASSIGN(std::string format, c.attr<std::string>("data_format"));
  return prepared(Attrs{epsilon, c.attrs().get_or("exponential_avg_factor", 1.F), training,
                        format[1] == 'C', static_cast<int>(format.size())});
}

/// The image tensor as [outer, channels, inner], and the plans of working on it.
struct Images {
  std::int64_t channels = 0, count = 0; ///< count: elements of each channel
  bool channels_last = false;           ///< as rows of channels, the quick way
  nn::ChannelRows rows() const { return {count, channels}; }
  arith::BroadcastPlan pairs; ///< images with one number for each channel
  arith::ReducePlan sums;     ///< to one number for each channel
};

Status check_rank(const Shape& shape) {
  if (shape.rank() != 4 && shape.rank() != 5)
    return invalid_argument(str_cat("input must be 4 or 5-dimensional", shape));
  return {};
}

Result<Images> images_of(const Attrs& attrs, const Shape& shape) {
  TROUPE_TRY(check_rank(shape)); // volumes may have the format of images
  const int channel = attrs.channels_second ? 1 : shape.rank() - 1;
  std::int64_t dims[] = {1, shape[channel], 1};
  for (int i = 0; i < shape.rank(); ++i)
    if (i != channel)
      dims[i < channel ? 0 : 2] *= shape[i];
  Images out;
  out.channels = dims[1];
  out.count = dims[0] * dims[2];
  out.channels_last = dims[2] == 1;
  const std::int64_t channel_dims[] = {1, dims[1], 1};
  const bool reduced[] = {true, false, true};
  TROUPE_CHECK(arith::make_broadcast_plan({dims, channel_dims}, out.pairs) &&
                   arith::make_reduce_plan(dims, reduced, out.sums),
               "three dimensions");
  return out;
}

float* floats(Tensor& tensor) {
  return tensor.mutable_data<float>().data();
}

void reduce(KernelContext& c, arith::ReduceOp op, const Images& images, const void* x, void* out) {
  const arith::ReduceKernel kernel = *arith::reduce(op, DType::float32);
  c.parallel_for(images.sums.outputs, 0.3 * static_cast<double>(images.count),
                 [&](std::int64_t begin, std::int64_t end) {
                   arith::run_reduce(kernel, images.sums, x, out, begin, end);
                 });
}

/// Calls `body(begin, end)` for ranges of elements that fit into the nearest caches together with
/// what is computed from them.
template <class Body>
void for_each_block(KernelContext& c, const Images& images, const Body& body) {
  constexpr std::int64_t block = 16384;
  c.parallel_for(images.pairs.size, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += block)
      body(at, std::min(at + block, end));
  });
}

arith::BinaryKernel kernel(arith::BinaryOp op) {
  return *arith::binary(op, DType::float32);
}

/// out = (x - mean) * factor + offset
void normalise(KernelContext& c, const Images& images, const void* x, const float* mean,
               const float* factor, const void* offset, void* out) {
  if (images.channels_last)
    return nn::normalise(c, images.rows(), static_cast<const float*>(x), mean, factor,
                         static_cast<const float*>(offset), false, static_cast<float*>(out));
  const auto sub = kernel(arith::BinaryOp::sub), mul = kernel(arith::BinaryOp::mul),
             add = kernel(arith::BinaryOp::add);
  for_each_block(c, images, [&](std::int64_t begin, std::int64_t end) {
    sub(images.pairs, x, mean, out, begin, end);
    mul(images.pairs, out, factor, out, begin, end);
    add(images.pairs, out, offset, out, begin, end);
  });
}

/// Mean and (biased) variance of each channel.
Status moments(KernelContext& c, const Images& images, const Tensor& x, float* mean,
               float* variance) {
  if (images.channels_last)
    return nn::moments(c, images.rows(), x.data<float>().data(), mean, variance);
  TROUPE_ASSIGN(Tensor squares, c.allocate_temp(DType::float32, x.shape()));
  reduce(c, arith::ReduceOp::mean, images, x.raw(), mean);
  const auto squared_difference = kernel(arith::BinaryOp::squared_difference);
  for_each_block(c, images, [&](std::int64_t begin, std::int64_t end) {
    squared_difference(images.pairs, x.raw(), mean, squares.mutable_raw(), begin, end);
  });
  reduce(c, arith::ReduceOp::mean, images, squares.raw(), variance);
  return {};
}

/// Checks the inputs of the forward op.
Status check_forward(KernelContext& c, const Attrs& attrs, std::int64_t n) {
  const Tensor &scale = c.input(1), &offset = c.input(2), &old_mean = c.input(3),
               &old_variance = c.input(4);
  TROUPE_TRY(nn::check_channels("scale", scale, n));
  TROUPE_TRY(nn::check_channels("offset", offset, n));
  TROUPE_TRY(nn::check_channels("estimated_mean", old_mean, old_mean.num_elements()));
  TROUPE_TRY(nn::check_channels("estimated_variance", old_variance, old_variance.num_elements()));
  if (!attrs.training || attrs.factor != 1) {
    const char* when =
        attrs.training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
    TROUPE_TRY(nn::check_channels("mean", old_mean, n, when));
    TROUPE_TRY(nn::check_channels("variance", old_variance, n, when));
  }
  return {};
}

/// The running variance is the unbiased one: what the batch's is multiplied by.
float unbias_of(const Attrs& attrs, const Images& images) {
  return attrs.training ? static_cast<float>(images.count) /
                              static_cast<float>(std::max<std::int64_t>(images.count - 1, 1))
                        : 1;
}

Status compute(KernelContext& c) {
  const auto& attrs = c.prepared<Attrs>();
  const Tensor &x = c.input(0), &scale = c.input(1), &offset = c.input(2), &old_mean = c.input(3),
               &old_variance = c.input(4);
  TROUPE_ASSIGN(Images images, images_of(attrs, x.shape()));
  const std::int64_t n = images.channels;
  TROUPE_TRY(check_forward(c, attrs, n));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  TROUPE_ASSIGN(Tensor batch_mean, c.allocate_output(1, Shape{n}));
  TROUPE_ASSIGN(Tensor batch_variance, c.allocate_output(2, Shape{n}));
  TROUPE_ASSIGN(Tensor saved_mean, c.allocate_output(3, Shape{n}));
  TROUPE_ASSIGN(Tensor saved_variance, c.allocate_output(4, Shape{n}));
  if (c.num_outputs() > 5) // for CUDA; nothing, as in TensorFlow with oneDNN, its default
    TROUPE_TRY(c.allocate_output(5, Shape{0}).status());
  float *new_mean = floats(batch_mean), *new_variance = floats(batch_variance),
        *mean = floats(saved_mean), *variance = floats(saved_variance);
  if (x.num_elements() == 0) {
    std::fill_n(mean, n, 0.F);
    std::fill_n(variance, n, 0.F);
    std::fill_n(new_mean, n, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(new_variance, n, std::numeric_limits<float>::quiet_NaN());
    return {};
  }
  if (attrs.training) {
    TROUPE_TRY(moments(c, images, x, mean, variance));
  } else {
    std::copy_n(old_mean.data<float>().data(), n, mean);
    std::copy_n(old_variance.data<float>().data(), n, variance);
  }
  TROUPE_ASSIGN(Tensor factors, c.allocate_temp(DType::float32, Shape{n}));
  float* factor = floats(factors);
  const float unbias = unbias_of(attrs, images);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    factor[i] = scale.data<float>()[at] / std::sqrt(variance[i] + attrs.epsilon);
    new_mean[i] = mean[i];
    new_variance[i] = variance[i] * unbias;
    if (attrs.training && attrs.factor != 1) {
      new_mean[i] = (1 - attrs.factor) * old_mean.data<float>()[at] + attrs.factor * new_mean[i];
      new_variance[i] =
          (1 - attrs.factor) * old_variance.data<float>()[at] + attrs.factor * new_variance[i];
    }
  }
  normalise(c, images, x.raw(), mean, factor, offset.raw(), y.mutable_raw());
  return {};
}

// ---- on GPUs

/// The dimensions of the images around the channels.
struct GpuImages {
  std::int64_t outer = 1, channels = 1, inner = 1, n = 0;
};
GpuImages gpu_images(const Attrs& attrs, const Shape& shape) {
  GpuImages out{.n = shape.num_elements()};
  const int channel = attrs.channels_second ? 1 : shape.rank() - 1;
  for (int i = 0; i < shape.rank(); ++i)
    (i < channel ? out.outer : i == channel ? out.channels : out.inner) *= shape[i];
  return out;
}

/// Two sums for each channel, of x, or of dy and x: see gpu::kernels::channel_sums.
struct ChannelSums {
  Tensor sums;
  std::int64_t parts = 0;
};
Result<ChannelSums> sum_channels(KernelContext& c, const GpuImages& images, const Tensor* dy,
                                 const Tensor& x, const Tensor* mean) {
  constexpr std::int64_t block = 256, wanted_blocks = 1024, rows_of_thread = 16;
  constexpr std::size_t run = 4;
  const std::int64_t count = images.outer * images.inner;
  const auto lies_in_runs = [&](const Tensor& tensor) {
    return reinterpret_cast<std::uintptr_t>(tensor.raw()) % (run * dtype_size(tensor.dtype())) == 0;
  };
  const bool is_last = images.inner == 1;
  const bool in_runs = is_last && images.channels % static_cast<std::int64_t>(run) == 0 &&
                       lies_in_runs(x) && (!dy || lies_in_runs(*dy));
  const std::int64_t wide =
      in_runs ? images.channels / static_cast<std::int64_t>(run) : images.channels;
  // Neighbours read neighbours; the rest of a block reads further rows.
  const std::int64_t columns =
      is_last ? std::min<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wide)), 32) : 1;
  const std::int64_t blocks = (wide + columns - 1) / columns, lanes = block / columns;
  const std::int64_t wanted = std::clamp<std::int64_t>(
      count / (lanes * rows_of_thread), 1, std::max<std::int64_t>(wanted_blocks / blocks, 1));
  const std::int64_t share = (count + wanted - 1) / wanted;
  ChannelSums out;
  out.parts = (count + share - 1) / share;
  TROUPE_ASSIGN(out.sums, c.allocate_temp(DType::float32, Shape{out.parts, 2, images.channels}));
  const gpu::Grid grid{.blocks = static_cast<unsigned>(std::min<std::int64_t>(blocks, 1 << 16)),
                       .threads = block,
                       .rows_of_blocks = static_cast<unsigned>(out.parts)};
  const void *gradient = dy ? dy->raw() : nullptr, *middle = mean ? mean->raw() : nullptr;
  if (is_last)
    TROUPE_TRY(gpu::launch(c, gpu::kernels::channel_sums, x.dtype(), grid, gradient, x.raw(),
                           middle, out.sums.mutable_raw(), count, images.channels, share,
                           static_cast<int>(columns), in_runs));
  else
    TROUPE_TRY(gpu::launch(c, gpu::kernels::plane_sums, x.dtype(), grid, gradient, x.raw(), middle,
                           out.sums.mutable_raw(), count, images.channels,
                           gpu::Divider(images.inner), share));
  return out;
}

Status compute_on_gpu(KernelContext& c) {
  using namespace gpu::kernels;
  const auto& attrs = c.prepared<Attrs>();
  const Tensor &x = c.input(0), &scale = c.input(1), &offset = c.input(2), &old_mean = c.input(3),
               &old_variance = c.input(4);
  TROUPE_ASSIGN(const Images images, images_of(attrs, x.shape()));
  const std::int64_t n = images.channels;
  TROUPE_TRY(check_forward(c, attrs, n));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, x.shape()));
  Tensor moments[4];
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(moments[i], c.allocate_output(i + 1, Shape{n}));
  }
  auto& [new_mean, new_variance, mean, variance] = moments;
  if (c.num_outputs() > 5)
    TROUPE_TRY(c.allocate_output(5, Shape{0}).status());
  const GpuImages g = gpu_images(attrs, x.shape());
  if (g.n == 0) {
    const unsigned char of_nan = 0xFF;
    for (int i = 0; i < 4; ++i)
      TROUPE_TRY(
          gpu::fill(c, moments[i].mutable_raw(), i < 2 ? of_nan : 0, moments[i].byte_size()));
    return {};
  }
  ChannelSums sums;
  if (attrs.training) {
    TROUPE_ASSIGN(sums, sum_channels(c, g, nullptr, x, nullptr));
  }
  TROUPE_ASSIGN(Tensor factors, c.allocate_temp(DType::float32, Shape{n}));
  TROUPE_TRY(gpu::launch(
      c, finish_moments, x.dtype(), gpu::over(n * 32), sums.parts > 0 ? sums.sums.raw() : nullptr,
      sums.parts, x.raw(), g.inner, images.count, old_mean.raw(), old_variance.raw(), scale.raw(),
      attrs.training ? attrs.factor : 1, attrs.epsilon, mean.mutable_raw(), variance.mutable_raw(),
      new_mean.mutable_raw(), new_variance.mutable_raw(), factors.mutable_raw(), n));
  return gpu::launch(c, normalise_images, x.dtype(), gpu::over_packs(g.n, dtype_size(x.dtype())),
                     x.raw(), mean.raw(), factors.raw(), offset.raw(), y.mutable_raw(),
                     gpu::Divider(g.inner), gpu::Divider(n), g.n);
}

/// What dy, x - mean and 1 are multiplied by in dx, for each channel.
struct GradFactors {
  GradFactors(float* memory, std::int64_t n)
      : dy(memory), centred(memory + n), constant(memory + 2 * n) {}
  float *dy, *centred, *constant;
};

/// dx where the channels are not the last dimension: the sums first, then `find_factors`.
Status grad_of_planes(KernelContext& c, const Images& images, bool training,
                      FunctionView<void()> find_factors, const GradFactors& of, float* dscale,
                      float* doffset, Tensor& dx) {
  const Tensor &dy = c.input(0), &x = c.input(1), &mean = c.input(3);
  const auto sub = kernel(arith::BinaryOp::sub), mul = kernel(arith::BinaryOp::mul),
             add = kernel(arith::BinaryOp::add);
  TROUPE_ASSIGN(Tensor centred, c.allocate_temp(DType::float32, x.shape()));
  const arith::BroadcastPlan flat = arith::flat_plan(images.pairs.size);
  for_each_block(c, images, [&](std::int64_t begin, std::int64_t end) {
    sub(images.pairs, x.raw(), mean.raw(), centred.mutable_raw(), begin, end);
    mul(flat, centred.raw(), dy.raw(), dx.mutable_raw(), begin, end);
  });
  reduce(c, arith::ReduceOp::sum, images, dx.raw(), dscale);
  reduce(c, arith::ReduceOp::sum, images, dy.raw(), doffset);
  find_factors();
  for_each_block(c, images, [&](std::int64_t begin, std::int64_t end) {
    mul(images.pairs, dy.raw(), of.dy, dx.mutable_raw(), begin, end);
    if (!training)
      return;
    mul(images.pairs, centred.raw(), of.centred, centred.mutable_raw(), begin, end);
    add(flat, dx.raw(), centred.raw(), dx.mutable_raw(), begin, end);
    add(images.pairs, dx.raw(), of.constant, dx.mutable_raw(), begin, end);
  });
  return {};
}

/// Checks the inputs of the gradient.
Status check_backward(KernelContext& c, std::int64_t n) {
  const Tensor &dy = c.input(0), &x = c.input(1);
  TROUPE_TRY(check_rank(dy.shape()));
  for (const auto& [i, name] :
       {std::pair{2, "scale"}, std::pair{3, "saved mean"}, std::pair{4, "saved variance"}})
    if (const Shape& shape = c.input(i).shape(); shape.rank() != 1)
      return invalid_argument(str_cat(name, " must be 1-dimensional", shape));
  if (dy.shape() != x.shape())
    return invalid_argument(str_cat("x and y_backprop must have same shape, but x has shape ",
                                    x.shape(), " and y_backprop has shape ", dy.shape()));
  TROUPE_TRY(nn::check_channels("scale", c.input(2), n));
  TROUPE_TRY(nn::check_channels("reserve_space_1", c.input(3), n));
  return nn::check_channels("reserve_space_2", c.input(4), n);
}

Status compute_grad_on_gpu(KernelContext& c) {
  using namespace gpu::kernels;
  const auto& attrs = c.prepared<Attrs>();
  const Tensor &dy = c.input(0), &x = c.input(1), &scale = c.input(2), &mean = c.input(3),
               &variance = c.input(4);
  TROUPE_ASSIGN(const Images images, images_of(attrs, x.shape()));
  const std::int64_t n = images.channels;
  TROUPE_TRY(check_backward(c, n));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, x.shape()));
  TROUPE_ASSIGN(Tensor dscale, c.allocate_output(1, Shape{n}));
  TROUPE_ASSIGN(Tensor doffset, c.allocate_output(2, Shape{n}));
  TROUPE_TRY(c.allocate_output(3, Shape{0}).status());
  TROUPE_TRY(c.allocate_output(4, Shape{0}).status());
  const GpuImages g = gpu_images(attrs, x.shape());
  if (g.n == 0) {
    TROUPE_TRY(gpu::fill(c, dscale.mutable_raw(), 0, dscale.byte_size()));
    return gpu::fill(c, doffset.mutable_raw(), 0, doffset.byte_size());
  }
  TROUPE_ASSIGN(const ChannelSums sums, sum_channels(c, g, &dy, x, &mean));
  TROUPE_ASSIGN(Tensor factors, c.allocate_temp(DType::float32, Shape{3, n}));
  TROUPE_TRY(gpu::launch(c, finish_sums, DType::float32, gpu::over(n * 32), sums.sums.raw(),
                         sums.parts, attrs.training ? images.count : 0, variance.raw(), scale.raw(),
                         attrs.epsilon, dscale.mutable_raw(), doffset.mutable_raw(),
                         factors.mutable_raw(), n));
  return gpu::launch(c, normalise_grad, x.dtype(), gpu::over_packs(g.n, dtype_size(x.dtype())),
                     dy.raw(), x.raw(), mean.raw(), factors.raw(), dx.mutable_raw(),
                     gpu::Divider(g.inner), gpu::Divider(n), g.n);
}

// With h = (x - mean) / sqrt(variance + epsilon): doffset = sum(dy), dscale = sum(dy * h), and
// dx = scale / sqrt(variance + epsilon) * (dy - mean(dy) - h * mean(dy * h)) when training.
Status compute_grad(KernelContext& c) {
  const auto& attrs = c.prepared<Attrs>();
  const Tensor &dy = c.input(0), &x = c.input(1), &scale = c.input(2), &mean = c.input(3),
               &variance = c.input(4);
  TROUPE_ASSIGN(Images images, images_of(attrs, x.shape()));
  const std::int64_t n = images.channels;
  TROUPE_TRY(check_backward(c, n));
  TROUPE_ASSIGN(Tensor dx, c.allocate_output(0, x.shape()));
  TROUPE_ASSIGN(Tensor scale_grad, c.allocate_output(1, Shape{n}));
  TROUPE_ASSIGN(Tensor offset_grad, c.allocate_output(2, Shape{n}));
  TROUPE_TRY(c.allocate_output(3, Shape{0}).status());
  TROUPE_TRY(c.allocate_output(4, Shape{0}).status());
  float *dscale = floats(scale_grad), *doffset = floats(offset_grad);
  if (x.num_elements() == 0) {
    std::fill_n(dscale, n, 0.F);
    std::fill_n(doffset, n, 0.F);
    return {};
  }
  TROUPE_ASSIGN(Tensor factors, c.allocate_temp(DType::float32, Shape{3, n}));
  GradFactors of{floats(factors), n};
  const auto find_factors = [&] {
    const auto count = static_cast<float>(images.count);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float inverse = 1 / std::sqrt(variance.data<float>()[at] + attrs.epsilon);
      of.dy[i] = scale.data<float>()[at] * inverse;
      of.centred[i] = attrs.training ? -of.dy[i] * inverse * inverse * dscale[i] / count : 0;
      of.constant[i] = attrs.training ? -of.dy[i] * doffset[i] / count : 0;
      dscale[i] *= inverse; // the sums are not yet divided by the deviation
    }
  };
  if (!images.channels_last)
    return grad_of_planes(c, images, attrs.training, find_factors, of, dscale, doffset, dx);
  const float *gradient = dy.data<float>().data(), *in = x.data<float>().data(),
              *middle = mean.data<float>().data();
  TROUPE_TRY(nn::gradient_sums(c, images.rows(), gradient, in, middle, doffset, dscale));
  find_factors();
  if (attrs.training)
    nn::gradient(c, images.rows(), gradient, in, middle, of.dy, of.centred, of.constant,
                 floats(dx));
  else // dy * of.dy alone, whatever x is
    nn::normalise(c, images.rows(), gradient, of.constant, of.dy, of.constant, false, floats(dx));
  return {};
}

/// Dimensions of the images in input i, and the place of the channels among them.
struct ImageDims {
  std::vector<std::int64_t> dims;
  std::size_t channel = 0;
};

Result<ImageDims> image_dims(ShapeContext& c, int i) {
  TROUPE_ASSIGN(std::string format, c.attr<std::string>("data_format"));
  const int rank = static_cast<int>(format.size());
  TROUPE_ASSIGN(auto dims, shape_rules::dims_of_rank(c, i, rank));
  return ImageDims{std::move(dims), format[1] == 'C' ? 1 : static_cast<std::size_t>(rank) - 1};
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(ImageDims x, image_dims(c, 0));
  auto& channels = x.dims[x.channel];
  const int vectors = c.attrs().get_or("is_training", true) ? 2 : 4;
  for (int i = 1; i <= vectors; ++i) {
    TROUPE_ASSIGN(auto vector, shape_rules::dims_of_rank(c, i, 1));
    TROUPE_ASSIGN(channels, shape_rules::merge_dims(channels, vector[0]));
  }
  for (int i = 1; i < 5; ++i)
    TROUPE_TRY(c.set_output(i, {channels}));
  return c.set_output(0, PartialShape(std::move(x.dims)));
}

Status infer_grad(ShapeContext& c) {
  TROUPE_ASSIGN(ImageDims dy, image_dims(c, 0));
  TROUPE_ASSIGN(ImageDims x, image_dims(c, 1));
  auto& dims = x.dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    TROUPE_ASSIGN(dims[i], shape_rules::merge_dims(dims[i], dy.dims[i]));
  }
  auto& channels = dims[x.channel];
  for (int i = 2; i <= 4; ++i) {
    TROUPE_ASSIGN(auto vector, shape_rules::dims_of_rank(c, i, 1));
    TROUPE_ASSIGN(channels, shape_rules::merge_dims(channels, vector[0]));
  }
  TROUPE_TRY(c.set_output(1, {channels}));
  TROUPE_TRY(c.set_output(2, {channels}));
  TROUPE_TRY(c.set_output(3, {0}));
  TROUPE_TRY(c.set_output(4, {0}));
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status differentiate(GradContext& g) {
  const bool training = g.attrs().get_or("is_training", true);
  AttrMap attrs;
  for (const char* name : {"epsilon", "data_format", "is_training"})
    if (const AttrValue* value = g.attrs().find(name))
      attrs.set(name, *value);
  const Value grad =
      g.op("FusedBatchNormGradV3",
           {g.output_grad(0), g.input(0), g.input(1), training ? g.output(3) : g.input(3),
            training ? g.output(4) : g.input(4), g.output(5)},
           std::move(attrs));
  for (int i = 0; i < 3; ++i)
    TROUPE_TRY(g.set_input_grad(i, g.slot(grad, i)));
  return {};
}

constexpr auto second = "the second derivative of batch normalisation is not among troupe's rules";

/// The first two versions: without an output for CUDA, and of images alone.
void add_older(OpLibrary& library, const KernelOptions& options, const KernelOptions& half,
               const KernelOptions& on_gpu) {
  constexpr auto attrs = "epsilon: float = 0.0001; exponential_avg_factor: float = 1; "
                         "data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true";
  constexpr auto grad_attrs = "epsilon: float = 0.0001; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
                              "is_training: bool = true";
  constexpr auto by_clients = "its gradient is made where graphs are written";
  KernelOptions first = options;
  first.types.pop_back();
  library.op("FusedBatchNorm")
      .input("x: T; scale: T; offset: T; mean: T; variance: T")
      .output("y: T; batch_mean: T; batch_variance: T; reserve_space_1: T; reserve_space_2: T")
      .attr("T: {float}")
      .attr(attrs)
      .shape_fn(infer_shape)
      .not_differentiable(by_clients)
      .cpu_kernel(compute, first)
      .gpu_kernel(compute_on_gpu, first)
      .doc("FusedBatchNormV3 of floats.");
  library.op("FusedBatchNormV2")
      .input("x: T; scale: U; offset: U; mean: U; variance: U")
      .output("y: T; batch_mean: U; batch_variance: U; reserve_space_1: U; reserve_space_2: U")
      .attr("T: {half, bfloat16, float}; U: {float}")
      .attr(attrs)
      .shape_fn(infer_shape)
      .not_differentiable(by_clients)
      .cpu_kernel(compute, options)
      .cpu_kernel(in_wider<compute>, half)
      .gpu_kernel(compute_on_gpu, on_gpu)
      .doc("FusedBatchNormV3 of images.");
  library.op("FusedBatchNormGrad")
      .input("y_backprop: T; x: T; scale: T; reserve_space_1: T; reserve_space_2: T")
      .output("x_backprop: T; scale_backprop: T; offset_backprop: T; reserve_space_3: T; "
              "reserve_space_4: T")
      .attr("T: {float}")
      .attr(grad_attrs)
      .shape_fn(infer_grad)
      .not_differentiable(second)
      .cpu_kernel(compute_grad, first)
      .gpu_kernel(compute_grad_on_gpu, first)
      .doc("The gradient of FusedBatchNorm.");
  library.op("FusedBatchNormGradV2")
      .input("y_backprop: T; x: T; scale: float; reserve_space_1: U; reserve_space_2: U")
      .output("x_backprop: T; scale_backprop: U; offset_backprop: U; reserve_space_3: U; "
              "reserve_space_4: U")
      .attr("T: {half, bfloat16, float}; U: {float}")
      .attr(grad_attrs)
      .shape_fn(infer_grad)
      .not_differentiable(second)
      .cpu_kernel(compute_grad, options)
      .cpu_kernel(in_wider<compute_grad>, half)
      .gpu_kernel(compute_grad_on_gpu, on_gpu)
      .doc("The gradient of FusedBatchNormV2.");
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32}}, {"U", {DType::float32}}};
  options.prepare = prepare;
  options.expensive = true;
  KernelOptions half = options;
  half.types[0] = {"T", {DType::float16, DType::bfloat16}};
  KernelOptions on_gpu = options;
  on_gpu.types[0] = {"T", {DType::float32, DType::float16, DType::bfloat16}};
  add_older(library, options, half, on_gpu);
  library.op("FusedBatchNormV3")
      .input("x: T; scale: U; offset: U; mean: U; variance: U")
      .output("y: T; batch_mean: U; batch_variance: U; reserve_space_1: U; reserve_space_2: U; "
              "reserve_space_3: U")
      .attr("T: {half, bfloat16, float}; U: {bfloat16, float}; epsilon: float = 0.0001; "
            "exponential_avg_factor: float = 1; "
            "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true")
      .shape_fn(infer_shape)
      .gradient(differentiate)
      .cpu_kernel(compute, options)
      .cpu_kernel(in_wider<compute>, half)
      .gpu_kernel(compute_on_gpu, on_gpu)
      .doc("Brings every channel to mean 0 and variance 1, then scales and shifts it.");
  library.op("FusedBatchNormGradV3")
      .input("y_backprop: T; x: T; scale: float; reserve_space_1: U; reserve_space_2: U; "
             "reserve_space_3: U")
      .output("x_backprop: T; scale_backprop: U; offset_backprop: U; reserve_space_4: U; "
              "reserve_space_5: U")
      .attr("T: {half, bfloat16, float}; U: {float}; epsilon: float = 0.0001; "
            "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true")
      .shape_fn(infer_grad)
      .not_differentiable(second)
      .cpu_kernel(compute_grad, options)
      .cpu_kernel(in_wider<compute_grad>, half)
      .gpu_kernel(compute_grad_on_gpu, on_gpu)
      .doc("The gradient of FusedBatchNormV3.");
}

} // namespace troupe::nn_fused_batch_norm
