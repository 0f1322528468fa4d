// A dataset of elements that another one has collected: windows and groups.
#pragma once

#include "kernels/data/internal/elements.hpp"

namespace troupe::data {

/// Elements of one batch of memory, which it keeps charged.
DatasetRef dataset_of_elements(Elements elements, std::vector<DType> types,
                               std::vector<PartialShape> shapes);

} // namespace troupe::data
