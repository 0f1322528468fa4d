// What a fused node remembers of the nodes that it was made of: for errors alone, kernels run
// without.
#pragma once

#include <string>
#include <string_view>

#include "core/base/strings.hpp"

namespace troupe {

/// The attribute that a pass gives a fused node: list(string), a `member_line` for each member, in
/// the order in which their results are computed.
inline constexpr const char* members_attr = "_members";

/// "MatMul dense/product"
inline std::string member_line(std::string_view op, std::string_view node) {
  return str_cat(op, " ", node);
}

} // namespace troupe
