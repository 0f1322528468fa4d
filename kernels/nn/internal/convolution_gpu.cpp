#include "kernels/nn/internal/convolution_gpu.hpp"

#include <algorithm>
#include <array>

#include "devices/cuda/gpu.hpp"
#include "kernels/gpu/launch.hpp"
#include "kernels/nn/internal/convolution_dnn.hpp"
#include "kernels/nn/internal/gpu_kernels.hpp"

namespace troupe::nn {

namespace {

gpu::Windows windows_of(const arith::Conv2DShape& s) {
  return {.in_h = s.in_h,
          .in_w = s.in_w,
          .channels = s.in_c,
          .window_h = s.filter_h,
          .window_w = s.filter_w,
          .out_h = s.out_h,
          .out_w = s.out_w,
          .stride_h = s.stride_h,
          .stride_w = s.stride_w,
          .dilation_h = s.dilation_h,
          .dilation_w = s.dilation_w,
          .pad_top = s.pad_top,
          .pad_left = s.pad_left};
}

/// A filter of one pixel that goes over all of them: the images are the patches.
bool is_product(const arith::Conv2DShape& s) {
  return s.filter_h == 1 && s.filter_w == 1 && s.stride_h == 1 && s.stride_w == 1 &&
         s.in_h == s.out_h && s.in_w == s.out_w;
}

/// Some images at a time.
struct Batch {
  std::int64_t begin = 0, images = 0;
  std::int64_t rows = 0;    ///< patches of them
  std::int64_t columns = 0; ///< elements of a patch
};

std::int64_t images_at_once(const arith::Conv2DShape& s) {
  constexpr std::int64_t most = 1 << 24; // elements
  const std::int64_t each = s.out_h * s.out_w * s.filter_h * s.filter_w * s.in_c;
  return is_product(s) ? s.batch : std::clamp<std::int64_t>(most / each, 1, s.batch);
}

/// Calls body(batch) for all images.
template <class Body>
Status for_each_batch(const arith::Conv2DShape& s, const Body& body) {
  const std::int64_t at_once = images_at_once(s), columns = s.filter_h * s.filter_w * s.in_c;
  for (std::int64_t at = 0; at < s.batch; at += at_once) {
    const std::int64_t images = std::min(at_once, s.batch - at);
    TROUPE_TRY(body(Batch{at, images, images * s.out_h * s.out_w, columns}));
  }
  return {};
}

/// Memory for the patches of a batch; without value where the images are those.
Result<Tensor> make_patches(KernelContext& c, const arith::Conv2DShape& s, DType dtype) {
  if (is_product(s))
    return Tensor();
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{images_at_once(s) * s.out_h * s.out_w,
                                                          s.filter_h * s.filter_w * s.in_c}));
  return c.allocate_temp(dtype, shape);
}

const void* at(const Tensor& tensor, std::int64_t element) {
  return static_cast<const std::byte*>(tensor.raw()) +
         element * static_cast<std::int64_t>(dtype_size(tensor.dtype()));
}
void* at(Tensor& tensor, std::int64_t element) {
  return static_cast<std::byte*>(tensor.mutable_raw()) +
         element * static_cast<std::int64_t>(dtype_size(tensor.dtype()));
}

/// The patches of a batch: made in `patches`, or the images themselves.
Result<const void*> patches_of(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                               const Batch& batch, Tensor& patches) {
  const void* images = at(x, batch.begin * s.in_h * s.in_w * s.in_c);
  if (is_product(s))
    return images;
  const std::int64_t n = batch.rows * batch.columns;
  TROUPE_TRY(gpu::launch(c, gpu::kernels::take_patches, x.dtype(), gpu::over(n), windows_of(s),
                         gpu::WindowDividers(windows_of(s)), images, patches.mutable_raw(), n));
  return static_cast<const Tensor&>(patches).raw();
}

Status multiply(KernelContext& c, const cuda::BatchedProduct& product, const void* a, const void* b,
                void* out) {
  TROUPE_ASSIGN(cuda::CudaStream * stream, gpu::stream_of(c));
  TROUPE_ASSIGN(cuda::Blas * blas, stream->gpu().blas());
  const cuda::CudaStream::Noted noted(*stream, c.node_name(), c.node().schema->name);
  return blas->multiply(product, a, b, out);
}

} // namespace

Status convolve_on_gpu(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                       const Tensor& filter, Tensor& y) {
  if (!is_product(s)) {
    TROUPE_ASSIGN(const bool is_done, convolve_by_dnn(c, s, x, filter, y));
    if (is_done)
      return {};
  }
  TROUPE_ASSIGN(Tensor patches, make_patches(c, s, x.dtype()));
  return for_each_batch(s, [&](const Batch& batch) -> Status {
    TROUPE_ASSIGN(const void* rows, patches_of(c, s, x, batch, patches));
    return multiply(c, {.dtype = x.dtype(), .m = batch.rows, .n = s.out_c, .k = batch.columns},
                    rows, filter.raw(), at(y, batch.begin * s.out_h * s.out_w * s.out_c));
  });
}

Status convolve_back_on_gpu(KernelContext& c, const arith::Conv2DShape& s, const Tensor& filter,
                            const Tensor& dy, Tensor& dx) {
  if (!is_product(s)) {
    TROUPE_ASSIGN(const bool is_done, convolve_back_by_dnn(c, s, filter, dy, dx));
    if (is_done)
      return {};
  }
  TROUPE_ASSIGN(Tensor patches, make_patches(c, s, dy.dtype()));
  const std::int64_t image = s.in_h * s.in_w * s.in_c;
  return for_each_batch(s, [&](const Batch& batch) -> Status {
    void* images = at(dx, batch.begin * image);
    void* rows = is_product(s) ? images : patches.mutable_raw();
    TROUPE_TRY(multiply(c,
                        {.dtype = dy.dtype(),
                         .m = batch.rows,
                         .n = batch.columns,
                         .k = s.out_c,
                         .transpose_b = true},
                        at(dy, batch.begin * s.out_h * s.out_w * s.out_c), filter.raw(), rows));
    if (is_product(s))
      return {};
    const std::int64_t n = batch.images * image;
    return gpu::launch(c, gpu::kernels::sum_patches, dx.dtype(), gpu::over(n), windows_of(s),
                       gpu::WindowDividers(windows_of(s)), rows, images, n);
  });
}

Status filter_gradient_on_gpu(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                              const Tensor& dy, Tensor& dfilter) {
  if (!is_product(s)) {
    TROUPE_ASSIGN(const bool is_done, filter_gradient_by_dnn(c, s, x, dy, dfilter));
    if (is_done)
      return {};
  }
  TROUPE_ASSIGN(Tensor patches, make_patches(c, s, x.dtype()));
  return for_each_batch(s, [&](const Batch& batch) -> Status {
    TROUPE_ASSIGN(const void* rows, patches_of(c, s, x, batch, patches));
    return multiply(c,
                    {.dtype = x.dtype(),
                     .m = batch.columns,
                     .n = s.out_c,
                     .k = batch.rows,
                     .transpose_a = true,
                     .adds = batch.begin > 0},
                    rows, at(dy, batch.begin * s.out_h * s.out_w * s.out_c), dfilter.mutable_raw());
  });
}

} // namespace troupe::nn
