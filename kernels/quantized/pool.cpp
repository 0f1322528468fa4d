// QuantizedMaxPool and QuantizedAvgPool: pools of quantised numbers as they are; the range stays.
// Means are rounded towards zero.
#include "kernels/nn/internal/pooling.hpp"
#include "kernels/quantized/internal/ranges.hpp"

namespace troupe::quantized_pool {
namespace {

using quantized::Range;

struct Attrs {
  nn::PoolAttrs pool;
  bool depth_in_other_steps = false;
};

/// MaxPool's, for both: over the depth the kernel refuses what it does not do.
Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  AttrMap attrs = c.attrs();
  TROUPE_ASSIGN(const auto window, c.attr<std::vector<std::int64_t>>("ksize"));
  TROUPE_ASSIGN(auto stride, c.attr<std::vector<std::int64_t>>("strides"));
  Attrs out;
  if (window.size() == 4 && stride.size() == 4 && window[3] > 1 && stride[3] > 0) {
    out.depth_in_other_steps = stride[3] != window[3];
    stride[3] = window[3];
    attrs.set("strides", stride);
  }
  TROUPE_ASSIGN(out.pool, nn::read_pool_attrs("MaxPool", attrs));
  return prepared(out);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(nn::infer_pool(c));
  return quantized::infer_ranges(c, 1, 3);
}

std::string shape_must_be_rank_0(std::string_view name, const Shape& shape) {
  return str_cat(name, " shape must be rank 0 but is rank ", shape.rank(),
                 ", received shape: ", shape);
}

/// What a window sees of the rows or the columns.
struct Seen {
  std::int64_t begin, end;
};
Seen seen(std::int64_t at, std::int64_t stride, std::int64_t before, std::int64_t window,
          std::int64_t size) {
  const std::int64_t first = at * stride - before;
  return {std::max<std::int64_t>(first, 0), std::min(first + window, size)};
}

template <class Q, bool largest>
void pool_row(const arith::Pool2DShape& s, const Q* image, std::int64_t y, std::int64_t x,
              std::vector<std::int64_t>& sums, Q* to) {
  std::ranges::fill(sums, largest ? quantized::lowest<Q> : std::int64_t{0});
  const Seen rows = seen(y, s.stride_h, s.pad_top, s.window_h, s.in_h);
  const Seen columns = seen(x, s.stride_w, s.pad_left, s.window_w, s.in_w);
  for (std::int64_t row = rows.begin; row < rows.end; ++row)
    for (std::int64_t column = columns.begin; column < columns.end; ++column) {
      const Q* pixel = image + (row * s.in_w + column) * s.channels;
      for (std::size_t k = 0; k < sums.size(); ++k)
        sums[k] =
            largest ? std::max<std::int64_t>(sums[k], pixel[k].bits) : sums[k] + pixel[k].bits;
    }
  const std::int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
  for (std::size_t k = 0; k < sums.size(); ++k)
    to[k] = {static_cast<quantized::Bits<Q>>(largest || count == 0 ? sums[k] : sums[k] / count)};
}

template <bool largest>
void pool(KernelContext& c, const arith::Pool2DShape& s, const Tensor& x, Tensor& y) {
  Status done = dispatch(Types<QUInt8, QInt8>{}, x.dtype(), [&]<class Q>() -> Status {
    const Q* from = x.data<Q>().data();
    Q* to = y.mutable_data<Q>().data();
    const double cost = 0.5 * static_cast<double>(s.out_w * s.channels) *
                        static_cast<double>(s.window_h * s.window_w);
    c.parallel_for(s.batch * s.out_h, cost, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> sums(static_cast<std::size_t>(s.channels));
      for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t column = 0; column < s.out_w; ++column)
          pool_row<Q, largest>(s, from + row / s.out_h * s.in_h * s.in_w * s.channels,
                               row % s.out_h, column, sums,
                               to + (row * s.out_w + column) * s.channels);
    });
    return {};
  });
  TROUPE_CHECK(done.ok(), "pools are registered for these dtypes alone");
}

/// Windows over the depth: each pixel is an image of one column.
Result<arith::Pool2DShape> over_depth(const Shape& in, std::int64_t depth) {
  if (in[3] % depth != 0)
    return unimplemented(
        "Depthwise max pooling requires the depth window to evenly divide the input depth");
  return arith::Pool2DShape{.batch = in[0] * in[1] * in[2],
                            .in_h = in[3],
                            .in_w = 1,
                            .channels = 1,
                            .window_h = depth,
                            .out_h = in[3] / depth,
                            .out_w = 1,
                            .stride_h = depth};
}

template <bool largest>
Status compute(KernelContext& c) {
  const Tensor& x = c.input(0);
  const auto& [attrs, depth_in_other_steps] = c.prepared<Attrs>();
  if (x.shape().rank() != 4)
    return invalid_argument(
        str_cat("tensor_in_shape must have 2 spatial dimensions. ", x.shape().rank(), " 0"));
  arith::Pool2DShape s;
  Shape shape;
  if (attrs.depth > 1) {
    TROUPE_ASSIGN(s, over_depth(x.shape(), attrs.depth));
    if (depth_in_other_steps)
      return unimplemented(
          "Depthwise max pooling requires the depth window to equal the depth stride");
    if (!largest)
      return unimplemented("Non-spatial pooling is not yet supported.");
    TROUPE_ASSIGN(shape,
                  Shape::make(std::array{x.shape()[0], x.shape()[1], x.shape()[2], s.out_h}));
  } else {
    TROUPE_ASSIGN(s, nn::pool_sizes(attrs, x.shape()));
    TROUPE_ASSIGN(shape, nn::output_shape(s));
  }
  TROUPE_ASSIGN(const Range range, quantized::range_of(c, 1, "input", shape_must_be_rank_0));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  if (y.num_elements() > 0)
    pool<largest>(c, s, x, y);
  return quantized::set_range(c, 1, range);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::quint8, DType::qint8}}};
  options.prepare = prepare;
  options.expensive = true;
  for (const bool largest : {true, false})
    library.op(largest ? "QuantizedMaxPool" : "QuantizedAvgPool")
        .input("input: T; min_input: float; max_input: float")
        .output("output: T; min_output: float; max_output: float")
        .attr("T: quantizedtype; ksize: list(int); strides: list(int); padding: {'SAME', 'VALID'}")
        .shape_fn(infer)
        .not_differentiable(quantized::no_gradient)
        .cpu_kernel(largest ? compute<true> : compute<false>, options)
        .doc(largest ? "The largest quantised number of each window; the range stays."
                     : "The mean of each window of quantised numbers; the range stays.");
}

} // namespace troupe::quantized_pool
