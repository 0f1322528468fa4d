// What cuDNN wants otherwise than TensorFlow has it is made so by copies: filters are [out, height,
// width, in], and padding is the same on opposite sides.
#include "kernels/nn/internal/convolution_dnn.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "devices/cuda/dnn.hpp"
#include "devices/cuda/gpu.hpp"
#include "kernels/gpu/launch.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::nn {

namespace {

/// Rows (or columns) of images as cuDNN sees them: `in` of them, which it pads by `pad` on both
/// sides. Our rows [from, from + count) are there from row `to` on.
struct SeenRows {
  std::int64_t in = 0, pad = 0;
  std::int64_t from = 0, to = 0, count = 0;
};

/// The images themselves, where the same padding on both sides gives as many windows; else just
/// what the windows reach, padding included. What no window reaches is cut off.
SeenRows seen_rows(std::int64_t in, std::int64_t filter, std::int64_t dilation, std::int64_t stride,
                   std::int64_t out, std::int64_t pad_before) {
  const std::int64_t window = (filter - 1) * dilation + 1;
  const std::int64_t beyond = in + 2 * pad_before - window;
  if (pad_before >= 0 && beyond >= 0 && beyond / stride + 1 == out)
    return {.in = in, .pad = pad_before, .from = 0, .to = 0, .count = in};
  const std::int64_t reached = (out - 1) * stride + window;
  SeenRows rows{.in = reached,
                .pad = 0,
                .from = std::max<std::int64_t>(-pad_before, 0),
                .to = std::max<std::int64_t>(pad_before, 0)};
  rows.count = std::min(in - rows.from, reached - rows.to);
  return rows;
}

/// One convolution by cuDNN: how, and the temporaries that it takes.
class ByDnn {
public:
  /// Nothing: cuDNN does not compute it.
  static Result<std::optional<ByDnn>> find(KernelContext& c, const arith::Conv2DShape& s,
                                           cuda::DnnResult result, DType dtype) {
    TROUPE_ASSIGN(cuda::CudaStream * stream, gpu::stream_of(c));
    auto dnn = stream->gpu().dnn();
    ByDnn out(c, s, dtype);
    if (!dnn.ok() || out.h_.count < 1 || out.w_.count < 1)
      return std::optional<ByDnn>();
    TROUPE_ASSIGN(out.plan_, (*dnn)->plan({.result = result,
                                           .dtype = dtype,
                                           .has_plain_sums = !s.may_use_winograd,
                                           .batch = s.batch,
                                           .in_h = out.h_.in,
                                           .in_w = out.w_.in,
                                           .in_c = s.in_c,
                                           .filter_h = s.filter_h,
                                           .filter_w = s.filter_w,
                                           .out_h = s.out_h,
                                           .out_w = s.out_w,
                                           .out_c = s.out_c,
                                           .stride_h = s.stride_h,
                                           .stride_w = s.stride_w,
                                           .dilation_h = s.dilation_h,
                                           .dilation_w = s.dilation_w,
                                           .pad_h = out.h_.pad,
                                           .pad_w = out.w_.pad}));
    if (!out.plan_)
      return std::optional<ByDnn>();
    out.dnn_ = *dnn;
    out.stream_ = stream;
    return std::optional<ByDnn>(std::move(out));
  }

  /// Whether cuDNN sees the images as they are.
  bool sees_images() const {
    return h_.in == s_.in_h && h_.pad == s_.pad_top && w_.in == s_.in_w && w_.pad == s_.pad_left;
  }
  /// Whether windows reach every element of the images.
  bool reaches_all() const { return h_.count == s_.in_h && w_.count == s_.in_w; }
  /// Whether both layouts of the filter are one.
  bool sees_filter() const { return s_.out_c == 1 || filter_pixels() == 1; }

  Result<Tensor> make_images() const {
    TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{s_.batch, h_.in, w_.in, s_.in_c}));
    return c_.allocate_temp(dtype_, shape);
  }
  Result<Tensor> make_filter() const {
    TROUPE_ASSIGN(const Shape shape,
                  Shape::make(std::array{s_.out_c, s_.filter_h, s_.filter_w, s_.in_c}));
    return c_.allocate_temp(dtype_, shape);
  }

  /// The images as cuDNN sees them.
  Result<Tensor> images_of(const Tensor& x) const {
    if (sees_images())
      return x;
    TROUPE_ASSIGN(Tensor seen, make_images());
    TROUPE_TRY(gpu::fill(c_, seen.mutable_raw(), 0, seen.byte_size()));
    TROUPE_TRY(gpu::copy_strided(c_, dtype_size(dtype_), rows(), ours(), x.raw(), theirs(),
                                 seen.mutable_raw()));
    return seen;
  }
  /// dx of the gradient by the images that cuDNN sees.
  Status take_images(const Tensor& seen, Tensor& dx) const {
    if (!reaches_all())
      TROUPE_TRY(gpu::fill(c_, dx.mutable_raw(), 0, dx.byte_size()));
    return gpu::copy_strided(c_, dtype_size(dtype_), rows(), theirs(), seen.raw(), ours(),
                             dx.mutable_raw());
  }

  Result<Tensor> filter_of(const Tensor& filter) const {
    if (sees_filter())
      return filter;
    TROUPE_ASSIGN(Tensor seen, make_filter());
    TROUPE_TRY(transpose(s_.out_c, filter_pixels(), filter, seen));
    return seen;
  }
  Status take_filter(const Tensor& seen, Tensor& dfilter) const {
    return transpose(filter_pixels(), s_.out_c, seen, dfilter);
  }

  /// out of a and b; see cuda::Dnn::run.
  Result<bool> run(const Tensor& a, const Tensor& b, Tensor& out) const {
    Tensor workspace;
    if (const auto bytes = static_cast<std::int64_t>(plan_->workspace()); bytes > 0) {
      TROUPE_ASSIGN(workspace, c_.allocate_temp(DType::uint8, Shape{bytes}));
    }
    const cuda::CudaStream::Noted noted(*stream_, c_.node_name(), c_.node().schema->name);
    return dnn_->run(*plan_, a.raw(), b.raw(), out.mutable_raw(),
                     workspace.has_value() ? workspace.mutable_raw() : nullptr);
  }

private:
  ByDnn(KernelContext& c, const arith::Conv2DShape& s, DType dtype)
      : c_(c), s_(s), dtype_(dtype),
        h_(seen_rows(s.in_h, s.filter_h, s.dilation_h, s.stride_h, s.out_h, s.pad_top)),
        w_(seen_rows(s.in_w, s.filter_w, s.dilation_w, s.stride_w, s.out_w, s.pad_left)) {}

  std::int64_t filter_pixels() const { return s_.filter_h * s_.filter_w * s_.in_c; }

  // What a copy between our images and those that cuDNN sees goes over.
  std::array<std::int64_t, 4> rows() const { return {s_.batch, h_.count, w_.count, s_.in_c}; }
  gpu::Strided ours() const {
    gpu::Strided out = gpu::dense(std::array{s_.batch, s_.in_h, s_.in_w, s_.in_c});
    out.offset = (h_.from * s_.in_w + w_.from) * s_.in_c;
    return out;
  }
  gpu::Strided theirs() const {
    gpu::Strided out = gpu::dense(std::array{s_.batch, h_.in, w_.in, s_.in_c});
    out.offset = (h_.to * w_.in + w_.to) * s_.in_c;
    return out;
  }

  /// to [rows, columns] of from [columns, rows].
  Status transpose(std::int64_t rows, std::int64_t columns, const Tensor& from, Tensor& to) const {
    const std::array dims{rows, columns};
    return gpu::copy_strided(c_, dtype_size(dtype_), dims, {.strides = {1, rows}}, from.raw(),
                             gpu::dense(dims), to.mutable_raw());
  }

  KernelContext& c_;
  const arith::Conv2DShape& s_;
  DType dtype_;
  SeenRows h_, w_;
  cuda::CudaStream* stream_ = nullptr;
  cuda::Dnn* dnn_ = nullptr;
  std::shared_ptr<const cuda::DnnPlan> plan_;
};

/// Patches take less memory; if not even that is there, they say so.
Result<bool> unless_out_of_memory(Result<bool> done) {
  if (!done.ok() && done.status().code() == Code::resource_exhausted)
    return false;
  return done;
}

Result<bool> try_forward(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                         const Tensor& filter, Tensor& y) {
  TROUPE_ASSIGN(const auto dnn, ByDnn::find(c, s, cuda::DnnResult::y, x.dtype()));
  if (!dnn)
    return false;
  TROUPE_ASSIGN(const Tensor images, dnn->images_of(x));
  TROUPE_ASSIGN(const Tensor seen, dnn->filter_of(filter));
  return dnn->run(images, seen, y);
}

Result<bool> try_back(KernelContext& c, const arith::Conv2DShape& s, const Tensor& filter,
                      const Tensor& dy, Tensor& dx) {
  TROUPE_ASSIGN(const auto dnn, ByDnn::find(c, s, cuda::DnnResult::dx, dx.dtype()));
  if (!dnn)
    return false;
  TROUPE_ASSIGN(const Tensor seen, dnn->filter_of(filter));
  if (dnn->sees_images())
    return dnn->run(seen, dy, dx);
  TROUPE_ASSIGN(Tensor images, dnn->make_images());
  TROUPE_ASSIGN(const bool is_done, dnn->run(seen, dy, images));
  if (is_done)
    TROUPE_TRY(dnn->take_images(images, dx));
  return is_done;
}

Result<bool> try_filter_gradient(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                                 const Tensor& dy, Tensor& dfilter) {
  TROUPE_ASSIGN(const auto dnn, ByDnn::find(c, s, cuda::DnnResult::dfilter, x.dtype()));
  if (!dnn)
    return false;
  TROUPE_ASSIGN(const Tensor images, dnn->images_of(x));
  if (dnn->sees_filter())
    return dnn->run(images, dy, dfilter);
  TROUPE_ASSIGN(Tensor seen, dnn->make_filter());
  TROUPE_ASSIGN(const bool is_done, dnn->run(images, dy, seen));
  if (is_done)
    TROUPE_TRY(dnn->take_filter(seen, dfilter));
  return is_done;
}

} // namespace

Result<bool> convolve_by_dnn(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                             const Tensor& filter, Tensor& y) {
  return unless_out_of_memory(try_forward(c, s, x, filter, y));
}

Result<bool> convolve_back_by_dnn(KernelContext& c, const arith::Conv2DShape& s,
                                  const Tensor& filter, const Tensor& dy, Tensor& dx) {
  return unless_out_of_memory(try_back(c, s, filter, dy, dx));
}

Result<bool> filter_gradient_by_dnn(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                                    const Tensor& dy, Tensor& dfilter) {
  return unless_out_of_memory(try_filter_gradient(c, s, x, dy, dfilter));
}

} // namespace troupe::nn
