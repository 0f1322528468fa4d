// The lines of a file that are a vocabulary: none is empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/function_view.hpp"
#include "kernels/framework/context.hpp"
#include "storage/files/allowed_files.hpp"

namespace troupe::lookup {

inline constexpr std::int64_t all_lines = -1;

/// How many lines a file has, `most` of them at most. What AllowedFiles says.
Result<std::int64_t> count_lines(KernelContext& c, AllowedFiles& files, const std::string& name,
                                 std::int64_t most = all_lines);

/// Visits the first `wanted` lines in their order, or all of them. In TensorFlow's words:
/// INVALID_ARGUMENT "Invalid content in F: empty line found at position 3." and "Invalid vocab_size
/// in F: expected 3 but got 2", OUT_OF_RANGE "Finished reading 0 of lines from F" if none are
/// wanted, and "'F' has no lines: Read less bytes than requested" if all or none are.
Status for_each_line(KernelContext& c, AllowedFiles& files, const std::string& name,
                     std::int64_t wanted,
                     FunctionView<Status(std::int64_t number, std::string_view line)> visit);

} // namespace troupe::lookup
