// A dataset whose elements the first whole iteration writes to a file, from which later ones read
// them.
#pragma once

#include "kernels/data/internal/dataset.hpp"

namespace troupe::data {

/// `name` is that of a checkpoint, as TensorFlow's caches are: they read each other's.
DatasetRef file_cache(const KernelContext& c, DatasetRef input, std::string name);

} // namespace troupe::data
