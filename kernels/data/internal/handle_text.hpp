// Handles of iterators as texts, which clients may feed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/tensor/types.hpp"

namespace troupe::data {

/// A serialised tensorflow.ResourceHandleProto.
std::string text_of_handle(const ResourceHandle& handle);
/// INVALID_ARGUMENT "Could not parse string_handle as a valid ResourceHandle".
Result<ResourceHandle> handle_of(std::string_view text);

} // namespace troupe::data
