// How much two boxes overlap.
#pragma once

#include <algorithm>

namespace troupe::image {

/// Corners y1, x1, y2, x2, in any order.
struct Box {
  float top = 0, left = 0, bottom = 0, right = 0;

  Box() = default;
  explicit Box(const float* corners)
      : top(std::min(corners[0], corners[2])), left(std::min(corners[1], corners[3])),
        bottom(std::max(corners[0], corners[2])), right(std::max(corners[1], corners[3])) {}
  float area() const { return (bottom - top) * (right - left); }
};

/// The area that both have over that of both together; 0 where one has none.
inline float intersection_over_union(const Box& a, const Box& b) {
  const float area_a = a.area(), area_b = b.area();
  if (area_a <= 0 || area_b <= 0)
    return 0;
  const float both = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0F) *
                     std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0F);
  return both / (area_a + area_b - both);
}

} // namespace troupe::image
