// What stands for oneDNN in a build without it.
#include "kernels/arith/internal/onednn.hpp"

namespace troupe::arith {

bool has_onednn() {
  return false;
}

bool onednn_in_use() {
  return false;
}

void use_onednn(bool) {}

bool onednn_gemm(const GemmBlock&) {
  return false;
}

bool onednn_conv_forward(const Conv2DShape&, const float*, const float*, float*, int64_t, int64_t) {
  return false;
}

bool onednn_conv_backward_input(const Conv2DShape&, const float*, const float*, float*, int64_t,
                                int64_t) {
  return false;
}

bool onednn_conv_backward_filter(const Conv2DShape&, const float*, const float*, float*, int64_t,
                                 int64_t) {
  return false;
}

} // namespace troupe::arith
