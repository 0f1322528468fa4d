// Conjugation in gradient rules.
#pragma once

#include "graph/op/grad_context.hpp"

namespace troupe {

/// What a gradient is multiplied by where the op multiplied by `v`: the conjugate of a complex
/// number, any other number itself.
inline Value conjugate(GradContext& g, Value v) {
  return is_complex(g.dtype(v)) ? g.op("Conj", {v}) : v;
}

} // namespace troupe
