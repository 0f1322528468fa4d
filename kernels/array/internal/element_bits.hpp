// Elements by their size alone, for loops that move them and look at none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/tensor/dtype.hpp"

namespace troupe::array {

struct Bits16 {
  std::uint64_t low = 0, high = 0;
};

/// Calls f.template operator()<Bits>() with a type of `size` bytes: 1, 2, 4, 8 or 16.
template <class F>
auto by_element_size(std::size_t size, F&& f) {
  switch (size) {
  case 1:
    return f.template operator()<std::uint8_t>();
  case 2:
    return f.template operator()<std::uint16_t>();
  case 4:
    return f.template operator()<std::uint32_t>();
  case 8:
    return f.template operator()<std::uint64_t>();
  default:
    return f.template operator()<Bits16>();
  }
}

/// Numbers and booleans, without quantised ones.
inline std::vector<DType> pod_dtypes() {
  return {DType::float32, DType::float64,    DType::int32,   DType::uint8,  DType::int16,
          DType::int8,    DType::complex64,  DType::int64,   DType::bool_,  DType::bfloat16,
          DType::uint16,  DType::complex128, DType::float16, DType::uint32, DType::uint64};
}

} // namespace troupe::array
