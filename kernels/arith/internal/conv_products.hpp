// Gradients of a convolution as matrix products, one for each pixel of the filter: where that is
// faster than oneDNN's convolutions, which reach half of the machine with some of them.
#pragma once
#include "kernels/arith/conv.hpp"

namespace troupe::arith {

/// dx or dfilter as conv.hpp says, f32; false, with nothing of use computed, where another way is
/// faster or the library of products is not there.
bool backward_input_by_products(const Conv2DShape& shape, const float* filter, const float* dy,
                                float* dx, int64_t begin, int64_t end);
bool backward_filter_by_products(const Conv2DShape& shape, const float* x, const float* dy,
                                 float* dfilter, int64_t begin, int64_t end);

/// Whether the first one would do it: then the filter is taken as it is.
bool prefers_input_by_products(const Conv2DShape& shape);

} // namespace troupe::arith
