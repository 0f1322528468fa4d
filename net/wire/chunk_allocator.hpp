// Memory for the pieces of tensors that arrive: a few blocks of one size, used again and again.
#pragma once

#include "core/tensor/buffer.hpp"

namespace troupe {

/// Blocks that hold chunk_bytes; larger requests go to the system. Kept out of malloc, because
/// glibc 2.36 seldom reuses an aligned block of this size for the next one: a gigabyte in chunks
/// left half a gigabyte of fragments behind. Any thread; lives for ever.
Allocator& chunk_allocator();

} // namespace troupe
