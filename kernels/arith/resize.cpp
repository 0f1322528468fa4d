#include "kernels/arith/resize.hpp"
#include "kernels/arith/internal/isa_table.hpp"

namespace troupe::arith {

void weigh_columns(const ResizeColumns& columns, const float* row, float* out) {
  isa_table().weigh_columns(columns, row, out);
}

void blend_columns(const ResizeColumns& columns, const float* row, float* out) {
  isa_table().blend_columns(columns, row, out);
}

void spread_columns(const ResizeColumns& columns, const float* grads, float factor, float* row) {
  isa_table().spread_columns(columns, grads, factor, row);
}

void weigh_rows(const float* const* rows, const float* weights, int64_t count, float scale,
                int64_t n, float* out) {
  isa_table().weigh_rows(rows, weights, count, scale, n, out);
}

void blend_rows(const float* top, const float* bottom, float part, int64_t n, float* out) {
  isa_table().blend_rows(top, bottom, part, n, out);
}

} // namespace troupe::arith
