// Forwards to the instruction set in use.
#include "kernels/arith/depthwise.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

void depthwise_forward(Type type, const Conv2DShape& shape, const void* x, const void* filter,
                       void* y, int64_t begin, int64_t end) {
  isa_table().depthwise(type)(shape, x, filter, y, begin, end);
}

void depthwise_backward_input(Type type, const Conv2DShape& shape, const void* filter,
                              const void* dy, void* dx, int64_t begin, int64_t end) {
  isa_table().depthwise_backward_input(type)(shape, dy, filter, dx, begin, end);
}

void depthwise_backward_filter(Type type, const Conv2DShape& shape, const void* x, const void* dy,
                               void* dfilter, int64_t begin, int64_t end) {
  isa_table().depthwise_backward_filter(type)(shape, x, dy, dfilter, begin, end);
}

void dilation_forward(Type type, const Conv2DShape& shape, const void* x, const void* filter,
                      void* y, int64_t begin, int64_t end) {
  isa_table().dilation(type)(shape, x, filter, y, begin, end);
}

} // namespace troupe::arith
