#include "kernels/nn/internal/convolution.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/nn/internal/filter_cache.hpp"

namespace troupe::nn {

using Ints = std::vector<std::int64_t>;

Result<ConvAttrs> read_conv_attrs(PrepareContext& c) {
  TROUPE_ASSIGN(Ints stride, c.attr<Ints>("strides"));
  TROUPE_ASSIGN(Ints dilation, c.attr<Ints>("dilations"));
  if (dilation.size() != 4)
    return invalid_argument("Sliding window dilations field must specify 4 dimensions");
  if (stride.size() != 4)
    return invalid_argument("Sliding window strides field must specify 4 dimensions");
  TROUPE_TRY(require_nhwc(c.schema().name, c.attrs()));
  if (stride[0] != 1 || stride[3] != 1)
    return unimplemented("Current implementation does not yet support strides in the batch and "
                         "depth dimensions.");
  if (stride[1] <= 0 || stride[2] <= 0)
    return invalid_argument("Row and column strides should be larger than 0.");
  if (dilation[0] != 1 || dilation[3] != 1)
    return unimplemented("Current implementation does not yet support dilations in the batch and "
                         "depth dimensions.");
  if (dilation[1] <= 0 || dilation[2] <= 0)
    return invalid_argument("Dilated rates should be larger than 0.");
  TROUPE_TRY(require_moderate("strides", stride));
  TROUPE_TRY(require_moderate("dilations", dilation));
  TROUPE_ASSIGN(WindowPadding padding, read_padding(c.attrs()));
  return ConvAttrs{{stride[1], stride[2]},
                   {dilation[1], dilation[2]},
                   padding,
                   c.attrs().get_or("_winograd", false)};
}

Result<std::shared_ptr<const void>> prepare_convolution(PrepareContext& c) {
  TROUPE_ASSIGN(ConvAttrs attrs, read_conv_attrs(c));
  return prepared(std::move(attrs));
}

Status infer_convolution(ShapeContext& c) {
  TROUPE_ASSIGN(auto in, shape_rules::dims_of_rank(c, 0, 4));
  TROUPE_ASSIGN(auto filter, shape_rules::dims_of_rank(c, 1, 4));
  TROUPE_ASSIGN(Ints stride, c.attr<Ints>("strides"));
  TROUPE_ASSIGN(Ints dilation, c.attr<Ints>("dilations"));
  const auto format = c.attrs().get_or<std::string>("data_format", "NHWC");
  if (dilation.size() != 4)
    return invalid_argument(str_cat(
        "Conv2D requires the dilation attribute to contain 4 values, but got: ", dilation.size()));
  if (stride.size() != 4)
    return invalid_argument(
        str_cat("Conv2D on data format ", format,
                " requires the stride attribute to contain 4 values, but got: ", stride.size()));
  TROUPE_ASSIGN(WindowPadding padding, read_padding(c.attrs()));
  const std::size_t rows = format == "NHWC" ? 1 : 2, depth = format == "NHWC" ? 3 : 1;
  if (in[depth] > 0 && filter[2] > 0) {
    if (in[depth] % filter[2] != 0)
      return invalid_argument(str_cat("Depth of input (", in[depth],
                                      ") is not a multiple of input depth of filter (", filter[2],
                                      ")"));
    const std::int64_t groups = in[depth] / filter[2];
    if (filter[3] > 0 && filter[3] % groups != 0)
      return invalid_argument(str_cat("Depth of output (", filter[3],
                                      ") is not a multiple of the number of groups (", groups,
                                      ")"));
  }
  Ints out = in;
  for (std::size_t a = 0; a < 2; ++a) {
    TROUPE_ASSIGN(out[rows + a], infer_extent(padding, static_cast<int>(a), in[rows + a], filter[a],
                                              dilation[rows + a], stride[rows + a]));
  }
  out[depth] = filter[3];
  return c.set_output(0, PartialShape(std::move(out)));
}

Result<arith::Conv2DShape> convolution_sizes(const ConvAttrs& attrs, const Shape& in,
                                             const Shape& filter) {
  TROUPE_ASSIGN(Extent h, window_extent(attrs.padding, 0, in[1], filter[0], attrs.dilation[0],
                                        attrs.stride[0]));
  TROUPE_ASSIGN(Extent w, window_extent(attrs.padding, 1, in[2], filter[1], attrs.dilation[1],
                                        attrs.stride[1]));
  return arith::Conv2DShape{
      .batch = in[0],
      .in_h = in[1],
      .in_w = in[2],
      .in_c = in[3],
      .filter_h = filter[0],
      .filter_w = filter[1],
      .out_h = h.output,
      .out_w = w.output,
      .out_c = filter[3],
      .stride_h = attrs.stride[0],
      .stride_w = attrs.stride[1],
      .dilation_h = attrs.dilation[0],
      .dilation_w = attrs.dilation[1],
      .pad_top = h.pad_before,
      .pad_left = w.pad_before,
      .may_use_winograd = attrs.may_use_winograd,
  };
}

Result<arith::Conv2DShape> check_convolution(const ConvAttrs& attrs, const Shape& in,
                                             const Shape& filter, Shape& output) {
  if (in.rank() != 4)
    return invalid_argument(str_cat("convolution input must be 4-dimensional: ", in));
  if (filter.rank() != 4)
    return invalid_argument(str_cat("convolution filter must be 4-dimensional: ", filter));
  if (filter[2] <= 0)
    return invalid_argument(str_cat("filter depth must be stricly positive, got ", filter[2]));
  if (in[3] % filter[2] != 0)
    return invalid_argument(str_cat("input depth must be evenly divisible by filter depth: ", in[3],
                                    " vs ", filter[2]));
  if (filter[0] == 0 || filter[1] == 0)
    return invalid_argument(
        "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  TROUPE_ASSIGN(arith::Conv2DShape s, convolution_sizes(attrs, in, filter));
  TROUPE_ASSIGN(output, Shape::make(std::array{s.batch, s.out_h, s.out_w, s.out_c}));
  return s;
}

double flops(const arith::Conv2DShape& s) {
  return 2.0 * static_cast<double>(s.batch * s.out_h * s.out_w) *
         static_cast<double>(s.out_c * s.filter_h * s.filter_w) * static_cast<double>(s.in_c);
}

namespace {

constexpr double parallel_flops = 2e7, flops_per_ns = 100;

std::int64_t threads_for(KernelContext& c, const arith::Conv2DShape& s) {
  return flops(s) < parallel_flops ? 1 : c.device().compute().threads();
}

/// Several parts for each thread, so that one which comes late does less; of results that fit into
/// a cache, where something is done to them next. Of `at_least` images, where all threads have
/// some.
std::int64_t parts_of(KernelContext& c, const arith::Conv2DShape& s, std::int64_t at_least = 1) {
  constexpr std::int64_t cache = 128 << 10; // elements
  const std::int64_t threads = threads_for(c, s);
  if (threads == 1)
    return 1;
  const std::int64_t image = std::max<std::int64_t>(s.out_h * s.out_w * s.out_c, 1);
  const std::int64_t images = std::max<std::int64_t>(cache / image, 1);
  const std::int64_t parts = std::max(4 * threads, s.batch / images);
  return std::min(
      {std::max<std::int64_t>(s.batch, 1), parts, std::max(threads, s.batch / at_least)});
}

/// The filter with each output channel's weights times its factor.
Result<Tensor> scale(KernelContext& c, const Tensor& filter, const float* factor) {
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(DType::float32, filter.shape()));
  const std::int64_t channels = filter.shape()[3];
  TROUPE_ASSIGN(const auto mul, arith::binary(arith::BinaryOp::mul, DType::float32));
  const float* from = filter.data<float>().data();
  float* to = out.mutable_data<float>().data();
  for (std::int64_t at = 0; at < filter.num_elements(); at += channels)
    mul.row(from + at, factor, to + at, channels, arith::RowMode::both_rows);
  return out;
}

Result<PackedFilter> pack(KernelContext& c, FilterSources sources, const float* factor,
                          arith::FilterPacking packing) {
  PackedFilter out;
  if (factor != nullptr) {
    TROUPE_ASSIGN(out.scaled, scale(c, sources[0], factor));
  }
  out.sources = std::move(sources);
  if (packing.bytes > 0) {
    TROUPE_ASSIGN(Tensor memory,
                  c.allocate_temp(DType::uint8, Shape{static_cast<std::int64_t>(packing.bytes)}));
    const float* plain = out.view().plain;
    void* packed = memory.mutable_raw();
    const std::int64_t parts = packing.parts();
    c.parallel_for(parts, static_cast<double>(packing.bytes) / static_cast<double>(parts) / 8,
                   [&](std::int64_t begin, std::int64_t end) {
                     arith::pack_filter(packing, plain, packed, begin, end);
                   });
    out.memory = std::move(memory);
  }
  out.packing = std::move(packing);
  return out;
}

/// A filter and what is left to do after the convolution.
struct Prepared {
  PackedFilter filter;
  arith::ConvEpilogue epilogue;
};

/// For calls over `images` images of `s`.
Result<Prepared> prepare_filter(KernelContext& c, const arith::Conv2DShape& s, std::int64_t images,
                                const arith::ConvEpilogue& epilogue, const Tensor& filter,
                                std::span<const Tensor> factor_from) {
  auto cache = c.node_state<FilterCache>([] { return new FilterCache; });
  if (!cache->is_worth_keeping()) {
    TROUPE_ASSIGN(PackedFilter made,
                  pack(c, {filter}, nullptr,
                       arith::filter_packing(arith::ConvDirection::forward, s, images, epilogue)));
    return Prepared{std::move(made), epilogue};
  }
  Prepared out{{}, epilogue};
  out.epilogue.factor = nullptr;
  auto packing = arith::filter_packing(arith::ConvDirection::forward, s, images, out.epilogue);
  FilterSources sources{filter};
  std::ranges::copy(factor_from, sources.begin() + 1);
  if (auto kept = cache->find(sources, packing)) {
    out.filter = *std::move(kept);
  } else {
    TROUPE_ASSIGN(out.filter, pack(c, std::move(sources), epilogue.factor, std::move(packing)));
    cache->keep(out.filter);
  }
  return out;
}

/// Bands of rows of each image, where there are fewer images than threads.
std::int64_t bands_of(const arith::Conv2DShape& s, std::int64_t threads, std::int64_t rows) {
  return std::clamp<std::int64_t>((threads + s.batch - 1) / std::max<std::int64_t>(s.batch, 1), 1,
                                  rows);
}

/// Fewer images than threads: each image in bands of rows.
Status convolve_rows(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                     const Tensor& filter, const arith::ConvEpilogue& epilogue, float* y,
                     std::span<const Tensor> factor_from) {
  const std::int64_t threads = threads_for(c, s);
  const std::int64_t bands = bands_of(s, threads, s.out_h);
  const auto band = [&](std::int64_t k) {
    return arith::rows_of_conv(s, k * s.out_h / bands, (k + 1) * s.out_h / bands);
  };
  TROUPE_ASSIGN(const Prepared ready,
                prepare_filter(c, band(0).shape, 1, epilogue, filter, factor_from));
  const arith::ConvFilter laid_out = ready.filter.view();
  const float* in = x.data<float>().data();
  const std::int64_t x_image = s.in_h * s.in_w * s.in_c, y_image = s.out_h * s.out_w * s.out_c;
  c.parallel_for(s.batch * bands, flops(s) / static_cast<double>(s.batch * bands) / flops_per_ns,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const arith::ConvRows rows = band(i % bands);
                     const std::int64_t at = i / bands * y_image + rows.y_offset;
                     arith::ConvEpilogue here = ready.epilogue;
                     if (here.addend != nullptr)
                       here.addend += at;
                     arith::fused_conv2d(rows.shape, in + i / bands * x_image + rows.x_offset,
                                         laid_out, here, y + at, 0, 1);
                   }
                 });
  return {};
}

} // namespace

void for_each_images(KernelContext& c, const arith::Conv2DShape& s,
                     FunctionView<void(std::int64_t, std::int64_t)> body, std::int64_t at_least) {
  const std::int64_t parts = parts_of(c, s, at_least);
  if (parts == 1)
    return body(0, s.batch);
  c.parallel_for(parts, flops(s) / static_cast<double>(parts) / flops_per_ns,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     body(i * s.batch / parts, (i + 1) * s.batch / parts);
                 });
}

Status convolve(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                const Tensor& filter, const arith::ConvEpilogue& epilogue, float* y,
                std::span<const Tensor> factor_from) {
  if (s.batch < threads_for(c, s) && s.out_h > 1)
    return convolve_rows(c, s, x, filter, epilogue, y, factor_from);
  TROUPE_ASSIGN(const Prepared ready,
                prepare_filter(c, s, s.batch / parts_of(c, s), epilogue, filter, factor_from));
  const arith::ConvFilter laid_out = ready.filter.view();
  for_each_images(
      c, s,
      [&](std::int64_t begin, std::int64_t end) {
        arith::fused_conv2d(s, x.data<float>().data(), laid_out, ready.epilogue, y, begin, end);
      },
      ready.filter.packing.images);
  return {};
}

namespace {

/// The same for the gradient, in bands of the input's rows.
Status convolve_back_rows(KernelContext& c, const arith::Conv2DShape& s, const Tensor& filter,
                          const Tensor& dy, float* dx) {
  const std::int64_t bands = bands_of(s, threads_for(c, s), s.in_h);
  const auto band = [&](std::int64_t k) {
    return arith::input_rows_of_conv(s, k * s.in_h / bands, (k + 1) * s.in_h / bands);
  };
  TROUPE_ASSIGN(
      const PackedFilter packed,
      pack(c, {filter}, nullptr,
           arith::filter_packing(arith::ConvDirection::backward_input, band(0).shape, 1)));
  const arith::ConvFilter laid_out = packed.view();
  const float* gradient = dy.data<float>().data();
  const std::int64_t x_image = s.in_h * s.in_w * s.in_c, y_image = s.out_h * s.out_w * s.out_c;
  c.parallel_for(s.batch * bands, flops(s) / static_cast<double>(s.batch * bands) / flops_per_ns,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const arith::ConvRows rows = band(i % bands);
                     arith::conv2d_backward_input(rows.shape, laid_out,
                                                  gradient + i / bands * y_image + rows.y_offset,
                                                  dx + i / bands * x_image + rows.x_offset, 0, 1);
                   }
                 });
  return {};
}

} // namespace

Status convolve_back(KernelContext& c, const arith::Conv2DShape& s, const Tensor& filter,
                     const Tensor& dy, float* dx) {
  if (s.batch < threads_for(c, s) && s.in_h > 1 && s.stride_h == 1)
    return convolve_back_rows(c, s, filter, dy, dx);
  TROUPE_ASSIGN(const PackedFilter packed,
                pack(c, {filter}, nullptr,
                     arith::filter_packing(arith::ConvDirection::backward_input, s,
                                           s.batch / parts_of(c, s))));
  const arith::ConvFilter laid_out = packed.view();
  for_each_images(
      c, s,
      [&](std::int64_t begin, std::int64_t end) {
        arith::conv2d_backward_input(s, laid_out, dy.data<float>().data(), dx, begin, end);
      },
      packed.packing.images);
  return {};
}

// Each part sums its images, or a band of one's rows, into a buffer of its own, the first one into
// the output: the result depends on the number of parts alone.
Status filter_gradient(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                       const Tensor& dy, Tensor& out) {
  TROUPE_ASSIGN(const auto type, arith::conv2d_type(x.dtype()));
  TROUPE_ASSIGN(const auto add, arith::add_n(x.dtype()));
  constexpr std::int64_t max_parts = 256;
  const std::int64_t threads = std::min(threads_for(c, s), max_parts);
  const std::int64_t bands = s.batch < threads ? bands_of(s, threads, s.out_h) : 1;
  const std::int64_t parts =
      bands > 1 ? s.batch * bands : std::clamp<std::int64_t>(s.batch, 1, threads);
  const std::int64_t size = out.num_elements();
  TROUPE_ASSIGN(Tensor others, c.allocate_temp(x.dtype(), Shape{parts - 1, size}));
  std::array<const void*, 2 * max_parts> sums{out.raw()};
  for (std::int64_t i = 1; i < parts; ++i)
    sums[static_cast<std::size_t>(i)] = others.rows(i - 1, i).raw();
  const auto bytes = static_cast<std::int64_t>(dtype_size(x.dtype()));
  const auto sum_band = [&](std::int64_t image, std::int64_t band, void* to) {
    const arith::ConvRows rows =
        arith::rows_of_conv(s, band * s.out_h / bands, (band + 1) * s.out_h / bands);
    const std::int64_t x_at = image * s.in_h * s.in_w * s.in_c + rows.x_offset;
    const std::int64_t y_at = image * s.out_h * s.out_w * s.out_c + rows.y_offset;
    arith::conv2d_backward_filter(type, rows.shape,
                                  static_cast<const std::byte*>(x.raw()) + x_at * bytes,
                                  static_cast<const std::byte*>(dy.raw()) + y_at * bytes, to, 0, 1);
  };
  const double cost = flops(s) / static_cast<double>(parts) / flops_per_ns;
  c.parallel_for(parts, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      void* to = const_cast<void*>(sums[static_cast<std::size_t>(i)]);
      if (bands > 1)
        sum_band(i / bands, i % bands, to);
      else
        arith::conv2d_backward_filter(type, s, x.raw(), dy.raw(), to, i * s.batch / parts,
                                      (i + 1) * s.batch / parts);
    }
  });
  if (parts > 1)
    c.parallel_for(size, 0.3, [&](std::int64_t begin, std::int64_t end) {
      add(sums.data(), static_cast<int>(parts), out.mutable_raw(), begin, end);
    });
  return {};
}

} // namespace troupe::nn
