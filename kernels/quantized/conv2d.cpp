// QuantizedConv2D: a convolution of quantised images with a quantised filter, in qint32.
#include "kernels/arith/lookup.hpp"
#include "kernels/nn/internal/convolution.hpp"
#include "kernels/quantized/internal/offsets.hpp"

namespace troupe::quantized_conv2d {
namespace {

using Ints = std::vector<std::int64_t>;
using quantized::Range;

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  nn::ConvAttrs out;
  TROUPE_ASSIGN(const Ints stride, c.attr<Ints>("strides"));
  if (stride.size() != 4)
    return invalid_argument("Sliding window strides field must specify 4 dimensions");
  if (stride[1] != stride[2])
    return invalid_argument("Current implementation only supports equal length strides in the row "
                            "and column dimensions.");
  if (stride[0] != 1 || stride[3] != 1)
    return invalid_argument("Current implementation does not yet support strides in the batch and "
                            "depth dimensions.");
  TROUPE_ASSIGN(const Ints dilation, c.attr<Ints>("dilations"));
  if (dilation.size() != 4)
    return invalid_argument("Dilations field must specify 4 dimensions");
  if (dilation[1] != 1 || dilation[2] != 1)
    return invalid_argument("Current implementation only supports dilated rate as 1 in the row and "
                            "column dimensions.");
  if (dilation[0] != 1 || dilation[3] != 1)
    return invalid_argument("Current implementation does not yet support dilations in the batch "
                            "and depth dimensions.");
  if (stride[1] <= 0)
    return invalid_argument(str_cat("Stride must be > 0, but got ", stride[1]));
  TROUPE_TRY(nn::require_moderate("strides", stride));
  out.stride = {stride[1], stride[2]};
  TROUPE_ASSIGN(out.padding, nn::read_padding(c.attrs()));
  return prepared(out);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(nn::infer_convolution(c));
  return quantized::infer_ranges(c, 2, 6);
}

Status compute(KernelContext& c) {
  const Tensor &x = c.input(0), &filter = c.input(1);
  for (const auto& [name, shape] :
       {std::pair{"input", x.shape()}, std::pair{"filter", filter.shape()}})
    if (shape.rank() != 4)
      return invalid_argument(str_cat(name, " must be rank 4 but is rank ", shape.rank()));
  TROUPE_ASSIGN(const Range x_range, quantized::range_of(c, 2, "input", quantized::must_be_rank_0));
  TROUPE_ASSIGN(const Range filter_range,
                quantized::range_of(c, 4, "filter", quantized::must_be_rank_0));
  if (filter.shape()[2] != x.shape()[3])
    return invalid_argument(str_cat("input and filter must have the same depth: ", x.shape()[3],
                                    " vs ", filter.shape()[2]));
  if (x.num_elements() == 0)
    return invalid_argument("Invalid input: Shapes dimension cannot be 0.");
  if (filter.shape()[0] == 0 || filter.shape()[1] == 0)
    return invalid_argument("filter patch must contain at least one element");
  TROUPE_ASSIGN(const arith::Conv2DShape s,
                nn::convolution_sizes(c.prepared<nn::ConvAttrs>(), x.shape(), filter.shape()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{s.batch, s.out_h, s.out_w, s.out_c}));
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  return dispatch(Types<QUInt8, QInt8>{}, filter.dtype(), [&]<class F>() -> Status {
    if (y.num_elements() > 0) {
      TROUPE_ASSIGN(const Tensor images, quantized::from_zero<QUInt8>(c, x, x_range));
      TROUPE_ASSIGN(const Tensor weights, quantized::from_zero<F>(c, filter, filter_range));
      TROUPE_ASSIGN(const auto type, arith::conv2d_type(DType::int32));
      nn::for_each_images(c, s, [&](std::int64_t begin, std::int64_t end) {
        arith::conv2d_forward(type, s, images.raw(), weights.raw(), y.mutable_raw(), begin, end);
      });
    }
    return quantized::set_range(c, 1, quantized::product_range<QUInt8, F>(x_range, filter_range));
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"Tinput", {DType::quint8}},
                   {"Tfilter", {DType::quint8, DType::qint8}},
                   {"out_type", {DType::qint32}}};
  options.prepare = prepare;
  options.expensive = true;
  library.op("QuantizedConv2D")
      .input("input: Tinput; filter: Tfilter; min_input: float; max_input: float")
      .input("min_filter: float; max_filter: float")
      .output("output: out_type; min_output: float; max_output: float")
      .attr("Tinput: quantizedtype; Tfilter: quantizedtype")
      .attr("out_type: quantizedtype = DT_QINT32")
      .attr("strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]")
      .shape_fn(infer)
      .not_differentiable(quantized::no_gradient)
      .cpu_kernel(compute, options)
      .doc("The convolution of quantised images with a quantised filter, and its range.");
}

} // namespace troupe::quantized_conv2d
