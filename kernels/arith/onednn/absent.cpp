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

bool onednn_gemm_bfloat16(const GemmBlock&, int64_t) {
  return false;
}

bool onednn_conv_forward(const Conv2DShape&, const float*, const ConvFilter&, const ConvEpilogue&,
                         float*, int64_t, int64_t) {
  return false;
}

bool onednn_conv_backward_input(const Conv2DShape&, const ConvFilter&, const float*, float*,
                                int64_t, int64_t) {
  return false;
}

FilterPacking onednn_filter_packing(ConvDirection, const Conv2DShape&, int64_t,
                                    const ConvEpilogue&) {
  return {};
}

bool onednn_is_same_layout(const FilterPacking&, const FilterPacking&) {
  return false;
}

void onednn_pack_filter(const FilterPacking&, const float*, void*) {}

bool onednn_conv_backward_filter(const Conv2DShape&, const float*, const float*, float*, int64_t,
                                 int64_t) {
  return false;
}

} // namespace troupe::arith
