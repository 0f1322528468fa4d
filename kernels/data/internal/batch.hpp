// Elements below each other as one.
#pragma once

#include "kernels/data/internal/elements.hpp"

namespace troupe::data {

/// Empties `elements`, of which there is at least one. INVALID_ARGUMENT for components of different
/// shapes.
Result<Element> make_batch(Elements& elements, Allocator& memory);

/// Of a component: the shape that elements are padded to, -1 for as long as the longest; and with
/// what.
struct Padding {
  PartialShape shape;
  Tensor value;
};
/// DATA_LOSS for an element that is larger.
Result<Element> make_padded_batch(Elements& elements, const std::vector<Padding>& paddings,
                                  Allocator& memory);

/// How many batches of `size` these elements make.
inline std::int64_t batches_of(std::int64_t cardinality, std::int64_t size, bool drop_remainder) {
  if (cardinality < 0)
    return cardinality;
  return cardinality / size + (cardinality % size == 0 || drop_remainder ? 0 : 1);
}

/// Fills `to` up to `size` elements of `input`; fewer at its end, which `has_ended` tells.
Async<Status> collect(Iterator& input, std::int64_t size, Elements& to, bool& has_ended,
                      ElementPull& pull);

} // namespace troupe::data
