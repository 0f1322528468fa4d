// The literal form of tensors in tests, the REPL and text graphs:  f32[2,3] 1 2 3 4 5 6   i64[] 7
// str[2] "a" "b"   bool[2] true false
#pragma once

#include <string>
#include <string_view>

#include "core/tensor/tensor.hpp"

namespace troupe {

/// Reads a literal: dtype name, dimensions in brackets, then elements separated by blanks or
/// commas; one element stands for all. Complex numbers are (re,im); float16 and bfloat16 are
/// written as floats, small opaque types as integers. INVALID_ARGUMENT names what is wrong; no more
/// memory is taken than the text's elements, or 64 MiB where one stands for all.
Result<Tensor> parse_literal(std::string_view text);

/// Writes one that reads back equal; "…" follows where `max_elements` (-1: all) cut it. Only for
/// people: the tensors that a variant holds, ("type","bytes",<f32[2] 1 2>).
std::string to_literal(const Tensor& tensor, std::int64_t max_elements = -1);

} // namespace troupe
