// What the kernels of convolutions share: attributes, sizes, and the split over the compute
// threads.
#pragma once

#include <array>

#include "kernels/arith/fused_conv.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/nn/internal/window.hpp"

namespace troupe::nn {

struct ConvAttrs {
  std::array<std::int64_t, 2> stride = {1, 1}, dilation = {1, 1};
  WindowPadding padding;
  bool may_use_winograd = false; ///< the pass use_winograd says so
};

/// A PrepareFn: the op's ConvAttrs, checked.
Result<std::shared_ptr<const void>> prepare_convolution(PrepareContext& c);
Result<ConvAttrs> read_conv_attrs(PrepareContext& c);

/// The shape function of an op whose inputs begin with images and a filter.
Status infer_convolution(ShapeContext& c);

/// Sizes of the convolution of such an input and filter. Both shapes have rank 4.
Result<arith::Conv2DShape> convolution_sizes(const ConvAttrs& attrs, const Shape& in,
                                             const Shape& filter);

/// The same for images and filters as they come; the errors are Conv2D's. With `output`, the
/// result's shape.
Result<arith::Conv2DShape> check_convolution(const ConvAttrs& attrs, const Shape& in,
                                             const Shape& filter, Shape& output);

double flops(const arith::Conv2DShape& s);

/// y = convolution of f32 images, then the epilogue. A filter that is the same in several calls (a
/// constant, a variable nobody changes) is laid out once and kept with the node; the epilogue's
/// factor is then multiplied into it, if `factor_from` (the tensors from which it was computed) are
/// the same, too.
Status convolve(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                const Tensor& filter, const arith::ConvEpilogue& epilogue, float* y,
                std::span<const Tensor> factor_from = {});

/// The f32 gradient by the input; dx has as many elements as `s` says.
Status convolve_back(KernelContext& c, const arith::Conv2DShape& s, const Tensor& filter,
                     const Tensor& dy, float* dx);

/// The gradient by the filter, any dtype: `out` has the filter's shape.
Status filter_gradient(KernelContext& c, const arith::Conv2DShape& s, const Tensor& x,
                       const Tensor& dy, Tensor& out);

/// body(first image, last image) for parts of the images, of `at_least` images if that leaves none
/// of the compute threads without.
void for_each_images(KernelContext& c, const arith::Conv2DShape& s,
                     FunctionView<void(std::int64_t, std::int64_t)> body,
                     std::int64_t at_least = 1);

} // namespace troupe::nn
