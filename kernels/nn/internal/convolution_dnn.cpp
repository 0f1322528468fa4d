// What cuDNN wants otherwise than TensorFlow has it is made so by copies: images of wide floats are
// planes, filters have the channels out first, and padding is the same on opposite sides.
#include "kernels/nn/internal/convolution_dnn.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "devices/cuda/dnn.hpp"
#include "devices/cuda/gpu.hpp"
#include "kernels/gpu/launch.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::nn {

namespace {

/// Rows (or columns) of images as cuDNN sees them: `in` of them, which it pads by `pad` on both
/// sides. Of ours the rows [from, from + count) are there from row `to` on.
struct SeenRows {
  std::int64_t ours = 0;
  std::int64_t in = 0, pad = 0;
  std::int64_t from = 0, to = 0, count = 0;
};

SeenRows all_rows(std::int64_t rows) {
  return {.ours = rows, .in = rows, .pad = 0, .from = 0, .to = 0, .count = rows};
}

/// The images themselves, where the same padding on both sides gives as many windows; else just
/// what the windows reach, padding included. What no window reaches is cut off.
SeenRows seen_rows(std::int64_t in, std::int64_t filter, std::int64_t dilation, std::int64_t stride,
                   std::int64_t out, std::int64_t pad_before) {
  const std::int64_t window = (filter - 1) * dilation + 1;
  const std::int64_t beyond = in + 2 * pad_before - window;
  if (pad_before >= 0 && beyond >= 0 && beyond / stride + 1 == out)
    return {.ours = in, .in = in, .pad = pad_before, .from = 0, .to = 0, .count = in};
  const std::int64_t reached = (out - 1) * stride + window;
  SeenRows rows{.ours = in,
                .in = reached,
                .pad = 0,
                .from = std::max<std::int64_t>(-pad_before, 0),
                .to = std::max<std::int64_t>(pad_before, 0)};
  rows.count = std::min(in - rows.from, reached - rows.to);
  return rows;
}

using Dims = std::array<std::int64_t, 4>;

std::int64_t elements_of(const Dims& dims) {
  return dims[0] * dims[1] * dims[2] * dims[3];
}

/// A tensor of a convolution as cuDNN sees it: a dense array, in which ours, or what is needed of
/// it, has other places.
struct Seen {
  Dims dims;
  Dims shared;                ///< of the elements that are in both
  gpu::Strided ours, theirs;  ///< where those are
  std::int64_t our_count = 0; ///< of elements

  bool has_all_ours() const { return elements_of(shared) == our_count; }
  bool has_all_theirs() const { return elements_of(shared) == elements_of(dims); }
  /// Whether both are one array.
  bool is_ours() const {
    bool are_in_one_order = true;
    for (std::size_t d = 0; d < dims.size(); ++d)
      are_in_one_order = are_in_one_order && (dims[d] == 1 || ours.strides[d] == theirs.strides[d]);
    return are_in_one_order && has_all_ours() && has_all_theirs();
  }
};

/// Dimensions are [x, height, width, channels]; of planes cuDNN sees [x, channels, height, width].
Seen seen(bool in_planes, Dims dims, Dims shared, Dims our_strides) {
  if (in_planes)
    for (Dims* each : {&dims, &shared, &our_strides})
      std::rotate(each->begin() + 1, each->begin() + 3, each->end());
  return {.dims = dims,
          .shared = shared,
          .ours = {.strides = {our_strides.begin(), our_strides.end()}},
          .theirs = gpu::dense(dims)};
}

Seen seen_images(bool in_planes, std::int64_t batch, const SeenRows& rows, const SeenRows& columns,
                 std::int64_t channels) {
  const std::int64_t row = columns.ours * channels;
  Seen out =
      seen(in_planes, {batch, rows.in, columns.in, channels},
           {batch, rows.count, columns.count, channels}, {rows.ours * row, row, channels, 1});
  const std::size_t height = in_planes ? 2 : 1;
  out.our_count = batch * rows.ours * row;
  for (auto [side, y, x] : {std::tuple(&out.ours, rows.from, columns.from),
                            std::tuple(&out.theirs, rows.to, columns.to)})
    side->offset = y * side->strides[height] + x * side->strides[height + 1];
  return out;
}

/// Ours is [height, width, in, out]; theirs have `out` first.
Seen seen_filter(bool in_planes, const arith::Conv2DShape& s) {
  const Dims dims{s.out_c, s.filter_h, s.filter_w, s.in_c};
  const std::int64_t pixel = s.in_c * s.out_c;
  Seen out = seen(in_planes, dims, dims, {1, s.filter_w * pixel, pixel, s.out_c});
  out.our_count = elements_of(dims);
  return out;
}

/// One convolution by cuDNN: how, and the temporaries that it takes.
class ByDnn {
public:
  /// Nothing: cuDNN does not compute it.
  static Result<std::optional<ByDnn>> find(KernelContext& c, const arith::Conv2DShape& s,
                                           cuda::DnnResult result, DType dtype) {
    TROUPE_ASSIGN(cuda::CudaStream * stream, gpu::stream_of(c));
    auto dnn = stream->gpu().dnn();
    const SeenRows h = seen_rows(s.in_h, s.filter_h, s.dilation_h, s.stride_h, s.out_h, s.pad_top);
    const SeenRows w = seen_rows(s.in_w, s.filter_w, s.dilation_w, s.stride_w, s.out_w, s.pad_left);
    if (!dnn.ok() || h.count < 1 || w.count < 1)
      return std::optional<ByDnn>();
    // Of wide floats cuDNN has its good algorithms for planes; tensor cores take narrow ones as
    // they are.
    const bool in_planes = dtype == DType::float32 || dtype == DType::float64;
    ByDnn out(c, dtype);
    TROUPE_ASSIGN(out.plan_,
                  (*dnn)->plan({.result = result,
                                .dtype = dtype,
                                .has_plain_sums = !s.may_use_winograd || !arith::winograd_is_on(),
                                .in_planes = in_planes,
                                .batch = s.batch,
                                .in_h = h.in,
                                .in_w = w.in,
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
                                .pad_h = h.pad,
                                .pad_w = w.pad}));
    if (!out.plan_)
      return std::optional<ByDnn>();
    out.x_ = seen_images(in_planes, s.batch, h, w, s.in_c);
    out.y_ = seen_images(in_planes, s.batch, all_rows(s.out_h), all_rows(s.out_w), s.out_c);
    out.filter_ = seen_filter(in_planes, s);
    out.dnn_ = *dnn;
    out.stream_ = stream;
    return std::optional<ByDnn>(std::move(out));
  }

  const Seen& x() const { return x_; }
  const Seen& y() const { return y_; }
  const Seen& filter() const { return filter_; }

  /// out of a and b, which are ours.
  Result<bool> compute(const Seen& of_a, const Tensor& a, const Seen& of_b, const Tensor& b,
                       const Seen& of_out, Tensor& out) const {
    TROUPE_ASSIGN(const Tensor seen_a, see(of_a, a));
    TROUPE_ASSIGN(const Tensor seen_b, see(of_b, b));
    if (of_out.is_ours())
      return run(seen_a, seen_b, out);
    TROUPE_ASSIGN(Tensor seen_out, make(of_out));
    TROUPE_ASSIGN(const bool is_done, run(seen_a, seen_b, seen_out));
    if (is_done)
      TROUPE_TRY(take(of_out, seen_out, out));
    return is_done;
  }

private:
  ByDnn(KernelContext& c, DType dtype) : c_(c), dtype_(dtype) {}

  Result<Tensor> make(const Seen& seen) const {
    TROUPE_ASSIGN(const Shape shape, Shape::make(seen.dims));
    return c_.allocate_temp(dtype_, shape);
  }
  Result<Tensor> see(const Seen& seen, const Tensor& ours) const {
    if (seen.is_ours())
      return ours;
    TROUPE_ASSIGN(Tensor theirs, make(seen));
    if (!seen.has_all_theirs())
      TROUPE_TRY(gpu::fill(c_, theirs.mutable_raw(), 0, theirs.byte_size()));
    TROUPE_TRY(gpu::copy_strided(c_, dtype_size(dtype_), seen.shared, seen.ours, ours.raw(),
                                 seen.theirs, theirs.mutable_raw()));
    return theirs;
  }
  Status take(const Seen& seen, const Tensor& theirs, Tensor& ours) const {
    if (!seen.has_all_ours())
      TROUPE_TRY(gpu::fill(c_, ours.mutable_raw(), 0, ours.byte_size()));
    return gpu::copy_strided(c_, dtype_size(dtype_), seen.shared, seen.theirs, theirs.raw(),
                             seen.ours, ours.mutable_raw());
  }

  Result<Tensor> make_workspace(std::size_t bytes) const {
    if (bytes == 0)
      return Tensor();
    return c_.allocate_temp(DType::uint8, Shape{static_cast<std::int64_t>(bytes)});
  }
  /// See cuda::Dnn::run.
  Result<bool> run(const Tensor& a, const Tensor& b, Tensor& out) const {
    Result<Tensor> workspace = make_workspace(plan_->workspace());
    if (!workspace.ok() && workspace.status().code() == Code::resource_exhausted)
      workspace = make_workspace(plan_->least_workspace());
    TROUPE_TRY(workspace.status());
    const bool has_any = workspace->has_value();
    const cuda::CudaStream::Noted noted(*stream_, c_.node_name(), c_.node().schema->name);
    return dnn_->run(*plan_, a.raw(), b.raw(), out.mutable_raw(),
                     has_any ? workspace->mutable_raw() : nullptr,
                     has_any ? static_cast<std::size_t>(workspace->byte_size()) : 0);
  }

  KernelContext& c_;
  DType dtype_;
  Seen x_, y_, filter_;
  cuda::CudaStream* stream_ = nullptr;
  cuda::Dnn* dnn_ = nullptr;
  std::shared_ptr<cuda::DnnPlan> plan_;
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
  return dnn ? dnn->compute(dnn->x(), x, dnn->filter(), filter, dnn->y(), y) : false;
}

Result<bool> try_back(KernelContext& c, const arith::Conv2DShape& s, const Tensor& filter,
                      const Tensor& dy, Tensor& dx) {
  TROUPE_ASSIGN(const auto dnn, ByDnn::find(c, s, cuda::DnnResult::dx, dx.dtype()));
  return dnn ? dnn->compute(dnn->filter(), filter, dnn->y(), dy, dnn->x(), dx) : false;
}

Result<bool> try_filter_gradient(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                                 const Tensor& dy, Tensor& dfilter) {
  TROUPE_ASSIGN(const auto dnn, ByDnn::find(c, s, cuda::DnnResult::dfilter, x.dtype()));
  return dnn ? dnn->compute(dnn->x(), x, dnn->y(), dy, dnn->filter(), dfilter) : false;
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
