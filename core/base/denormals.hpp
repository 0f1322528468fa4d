// Denormals: numbers too small for a full significand.
#pragma once

#include <xmmintrin.h>

namespace troupe {

/// While it lives, this thread's floating point operations take denormals for zero, and give zero
/// instead of them, as in TensorFlow's kernels. Some processors take a hundred times as long for an
/// operation on one.
class FlushDenormals {
public:
  FlushDenormals() : before_(_mm_getcsr()) {
    if ((before_ & flush) != flush)
      _mm_setcsr(before_ | flush);
  }
  ~FlushDenormals() {
    if ((before_ & flush) != flush)
      _mm_setcsr(before_);
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

private:
  /// MXCSR: results (FTZ) and operands (DAZ).
  static constexpr unsigned flush = 0x8040;
  unsigned before_;
};

} // namespace troupe
