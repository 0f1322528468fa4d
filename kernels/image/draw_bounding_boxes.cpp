// DrawBoundingBoxes: the frames of boxes on images, each box in the next color.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::image_draw_bounding_boxes {
namespace {

using Color = std::array<float, 4>;

std::vector<Color> default_colors(std::int64_t depth) {
  std::vector<Color> out = {
      {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5F, 0, 0.5F, 1},
      {0.5F, 0.5F, 0, 1}, {0.5F, 0, 0, 1}, {0, 0, 0.5F, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};
  if (depth == 1)
    for (Color& color : out)
      color[0] = 1;
  return out;
}

Result<std::vector<Color>> colors(KernelContext& c, std::int64_t depth) {
  if (c.num_inputs() < 3)
    return default_colors(depth);
  const Tensor& table = c.input(2);
  const Shape& shape = table.shape();
  if (shape.rank() != 2)
    return invalid_argument(str_cat("colors must be a 2-D matrix", shape));
  if (shape[1] < depth)
    return invalid_argument(
        str_cat("colors must have equal or more channels than the image provided: ", shape));
  if (table.num_elements() == 0)
    return default_colors(depth);
  std::vector<Color> out(static_cast<std::size_t>(shape[0]));
  for (std::size_t i = 0; i < out.size(); ++i)
    std::copy_n(table.data<float>().data() + i * static_cast<std::size_t>(shape[1]), depth,
                out[i].begin());
  return out;
}

/// One dimension of a box: its edges, which may be outside of the image.
struct Edges {
  std::int64_t low = 0, high = 0, size = 0;

  Edges(float low_, float high_, std::int64_t size_)
      : low(place(low_, size_)), high(place(high_, size_)), size(size_) {}
  bool is_within() const { return low <= high && low < size && high >= 0; }
  std::int64_t begin() const { return std::max<std::int64_t>(low, 0); }
  std::int64_t end() const { return std::min(high, size - 1) + 1; }

private:
  static std::int64_t place(float part, std::int64_t size) {
    constexpr float far = 1e18F;
    const float at = part * static_cast<float>(size - 1);
    return std::isnan(at) ? 0 : static_cast<std::int64_t>(std::clamp(at, -far, far));
  }
};

template <class T>
void draw(const Edges& rows, const Edges& columns, const Color& color, std::int64_t depth,
          T* image) {
  const auto paint = [&](std::int64_t row, std::int64_t column) {
    for (std::int64_t k = 0; k < depth; ++k)
      image[(row * columns.size + column) * depth + k] = T(color[static_cast<std::size_t>(k)]);
  };
  for (const std::int64_t row : {rows.low, rows.high})
    for (std::int64_t j = columns.begin(); row >= 0 && row < rows.size && j < columns.end(); ++j)
      paint(row, j);
  for (const std::int64_t column : {columns.low, columns.high})
    for (std::int64_t i = rows.begin(); column >= 0 && column < columns.size && i < rows.end(); ++i)
      paint(i, column);
}

Status compute(KernelContext& c) {
  const Shape &images = c.input(0).shape(), &boxes = c.input(1).shape();
  if (images.rank() != 4)
    return invalid_argument("The rank of the images should be 4");
  if (boxes.rank() != 3)
    return invalid_argument("The rank of the boxes tensor should be 3");
  if (images[0] != boxes[0])
    return invalid_argument("The batch sizes should be the same");
  const std::int64_t depth = images[3];
  if (depth != 4 && depth != 1 && depth != 3)
    return invalid_argument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  if (boxes[2] != 4)
    return invalid_argument(
        str_cat("The size of the third dimension of the box must be 4. Received: ", boxes[2]));
  TROUPE_ASSIGN(const std::vector<Color> table, colors(c, depth));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, images));
  if (out.num_elements() == 0)
    return {};
  std::memcpy(out.mutable_raw(), c.input(0).raw(), out.byte_size());
  const float* corners = c.input(1).data<float>().data();
  return dispatch(Types<float, Half>{}, out.dtype(), [&]<class T>() -> Status {
    T* to = out.mutable_data<T>().data();
    const double cost = 4.0 * static_cast<double>((images[1] + images[2]) * depth);
    c.serial_for(boxes[0] * boxes[1], cost, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float* box = corners + 4 * i;
        const Edges rows(box[0], box[2], images[1]), columns(box[1], box[3], images[2]);
        const auto next = static_cast<std::size_t>(i % boxes[1]) % table.size();
        if (rows.is_within() && columns.is_within())
          draw(rows, columns, table[next], depth,
               to + i / boxes[1] * images[1] * images[2] * depth);
      }
    });
    return {};
  });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 4));
  TROUPE_TRY(c.require_rank(1, 3));
  return c.output_like(0, 0);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float16}}};
  options.expensive = true;
  for (const bool second : {false, true})
    library.op(second ? "DrawBoundingBoxesV2" : "DrawBoundingBoxes")
        .input(second ? "images: T; boxes: float; colors: float" : "images: T; boxes: float")
        .output("output: T")
        .attr("T: {float, half} = DT_FLOAT")
        .shape_fn(infer)
        .not_differentiable("frames are drawn, not computed")
        .cpu_kernel(compute, options)
        .doc(second ? "The same in the colors given."
                    : "Images with the frames of boxes, whose corners are parts of the images.");
}

} // namespace troupe::image_draw_bounding_boxes
