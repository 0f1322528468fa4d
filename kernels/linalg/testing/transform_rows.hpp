// What rows of the Fourier transforms have in common.
#pragma once

#include "tests/support/ops/op_cases.hpp"

namespace troupe::testing {

inline OpCase in_double(OpCase row) {
  row.tolerance = 1e-11;
  row.tolerance_reason = "other sums of the same terms";
  return row;
}

inline OpCase in_single(OpCase row) {
  row.tolerance = 1e-5;
  row.tolerance_reason = "TensorFlow computes in single precision";
  return row;
}

inline OpCase no_gradient(OpCase row) {
  row.check_gradient = false;
  row.no_gradient_reason = "finite differences of a complex input are not taken";
  return row;
}

} // namespace troupe::testing
