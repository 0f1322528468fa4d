// TensorShapeProto's bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.hpp"
#include "storage/message/message.hpp"

namespace troupe::checkpoint {

inline std::string shape_message(const Shape& shape) {
  MessageWriter out;
  for (std::int64_t dim : shape.dims()) {
    MessageWriter one;
    if (dim != 0)
      one.signed_integer(1, dim);
    out.message(2, one);
  }
  return out.take();
}

/// False for what is no shape of a tensor.
inline bool read_shape(std::string_view message, Shape& out) {
  std::vector<std::int64_t> dims;
  MessageReader in(message);
  while (in.next()) {
    if (in.field() == 3 && in.integer() != 0)
      return false;
    if (in.field() != 2)
      continue;
    std::int64_t size = 0;
    MessageReader one(in.bytes());
    while (one.next())
      if (one.field() == 1)
        size = one.signed_integer();
    if (!one.ok())
      return false;
    dims.push_back(size);
  }
  auto shape = Shape::make(dims);
  if (!in.ok() || !shape.ok())
    return false;
  out = *std::move(shape);
  return true;
}

} // namespace troupe::checkpoint
