// Where an element is, in the words of errors: "indices[1,2] = 7 is not in [0, 3)".
#pragma once

#include <string>
#include <vector>

#include "core/base/strings.hpp"
#include "core/tensor/shape.hpp"

namespace troupe {

/// "[1,2]" for the element at `flat` of a tensor of that shape; nothing for a scalar.
inline std::string position_text(const Shape& shape, std::int64_t flat) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  for (std::size_t d = index.size(); d-- > 0; flat /= shape[static_cast<int>(d)])
    index[d] = flat % shape[static_cast<int>(d)];
  return index.empty() ? "" : str_cat("[", str_join(index, ","), "]");
}

} // namespace troupe
