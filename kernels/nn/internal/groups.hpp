// Grouped convolution: the channels fall into groups of equal size, each convolved by its own
// output channels of the filter. A group is copied out, convolved as any other, and copied back.
#pragma once

#include "kernels/arith/conv.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::nn {

/// How many groups a filter of that depth makes of the input's channels; `s` is the whole
/// convolution. 0: there are no channels, and all sums are 0. INVALID_ARGUMENT unless the output's
/// channels divide by it, too.
Result<std::int64_t> groups_of(const arith::Conv2DShape& s, std::int64_t filter_depth);

/// Of one group.
arith::Conv2DShape one_group(const arith::Conv2DShape& s, std::int64_t groups);

/// Group `group` of the last dimension, which falls into `groups`; contiguous.
Result<Tensor> take_group(KernelContext& c, const Tensor& from, std::int64_t group,
                          std::int64_t groups);
/// The other way.
Status put_group(KernelContext& c, const Tensor& part, Tensor& to, std::int64_t group,
                 std::int64_t groups);
/// Memory for a group of a tensor of `shape`.
Result<Tensor> make_group(KernelContext& c, DType dtype, const Shape& shape, std::int64_t groups);

} // namespace troupe::nn
