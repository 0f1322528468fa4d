// One tensor in NumPy's .npy format (NEP 1, versions 1.0 to 3.0).
#pragma once

#include <string>
#include <string_view>

#include "core/tensor/tensor.hpp"

namespace troupe {

/// Numbers and booleans of either byte order, in row- or column-major order, keep their dtype;
/// bytes ('S') and Unicode ('U', as UTF-8) become strings. The tensor is in host memory. NOT_FOUND;
/// INVALID_ARGUMENT naming the file for what is no such array, for Python objects, records and
/// dates; DATA_LOSS when the data are cut short; RESOURCE_EXHAUSTED when there is no memory for
/// them.
Result<Tensor> read_npy(const std::string& path);
/// The same from memory; `name` is what messages call it.
Result<Tensor> parse_npy(std::string_view bytes, std::string_view name);

/// Row-major, little endian; strings become 'S'. Replaces a file that is there. UNIMPLEMENTED
/// naming the remedy for a dtype that NumPy lacks (bfloat16, quantised, resource …) and for strings
/// that end with a zero byte, which the format would lose.
Status write_npy(const std::string& path, const Tensor& tensor);
Result<std::string> to_npy(const Tensor& tensor);

} // namespace troupe
