// The header of an .npy file: a Python dict literal in a fixed frame.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/tensor/shape.hpp"

namespace troupe::npy {

struct Header {
  bool big_endian = false;
  char kind = 'f';           ///< NumPy's letter: b i u f c S U
  std::size_t item_size = 4; ///< as in the dtype text: bytes, but characters for 'U'
  bool fortran_order = false;
  Shape shape;
  std::size_t data_begin = 0; ///< offset of the first element
};

/// Longest frame and dict that are accepted.
inline constexpr std::size_t max_header_bytes = 1 << 20;

/// Reads the frame and the dict from a file's first bytes. INVALID_ARGUMENT without the file's
/// name.
Result<Header> parse_header(std::string_view bytes);

/// The frame and the dict for an array, padded so that the data begin at a multiple of 64 bytes.
std::string make_header(std::string_view descr, const Shape& shape);

} // namespace troupe::npy
