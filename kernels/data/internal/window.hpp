// A dataset of elements that another one has collected: windows and groups.
#pragma once

#include "kernels/data/internal/elements.hpp"

namespace troupe::data {

/// Elements of one batch of memory, which it keeps charged.
DatasetRef dataset_of_elements(Elements elements, std::vector<DType> types,
                               std::vector<PartialShape> shapes);

/// The same from its written form, VariantValue::parts. DATA_LOSS for what is none.
Result<DatasetRef> dataset_of_parts(const VariantParts& parts);

} // namespace troupe::data
