// VariableMemory: where a variable's value lies when others may read it there.
#pragma once

#include <cstddef>

#include "core/tensor/buffer.hpp"

namespace troupe {

/// Memory that other processes see, but do not write. Whoever has been shown a value holds its
/// buffer, and with it the right that it does not change, until it is done with it. Any thread.
class VariableMemory {
public:
  virtual ~VariableMemory() = default;
  /// Memory for a value; null when there is no room.
  virtual BufferRef allocate_shown(std::size_t bytes) = 0;
  /// Whether `data` lies in it.
  virtual bool holds(const void* data) const = 0;
  /// Drops the buffers that those who were shown them are done with.
  virtual void collect() = 0;
};

} // namespace troupe
