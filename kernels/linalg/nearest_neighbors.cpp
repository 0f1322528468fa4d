// NearestNeighbors: the centers nearest to each point, by squared Euclidean distance.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/arith/gemm.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::linalg_nearest_neighbors {
namespace {

/// Products of so many points with so many centers lie in a cache.
constexpr std::int64_t points_of_block = 64, centers_of_block = 1024;
/// By distance, then by place.
using Center = std::pair<float, std::int64_t>;

float half_square(const float* x, std::int64_t dims) {
  float out = 0;
  for (std::int64_t d = 0; d < dims; ++d)
    out += x[d] * x[d];
  return out / 2;
}

/// Distances that are compared at once; most of them are farther than those found before.
constexpr std::int64_t lanes = 32;
bool is_any_closer(const float* norms, const float* products, float farthest) {
  int closer = 0;
  for (std::int64_t lane = 0; lane < lanes; ++lane)
    closer |= norms[lane] - products[lane] < farthest ? 1 : 0;
  return closer != 0;
}

struct Search {
  std::int64_t points, centers, dims, k;
  const float *point, *center;
  float* center_norms; ///< half squares
  std::int64_t* indices;
  float* distances;

  /// Centers [first, first + cols), whose products with a point these are, into that point's heap
  /// of the nearest ones, the farthest of them first.
  void merge(std::vector<Center>& heap, const float* products, std::int64_t first,
             std::int64_t cols) const {
    const float* norms = center_norms + first;
    bool is_full = static_cast<std::int64_t>(heap.size()) == k;
    float farthest = is_full ? heap.front().first : 0;
    for (std::int64_t begin = 0; begin < cols; begin += lanes) {
      const std::int64_t end = std::min(begin + lanes, cols);
      if (is_full && end - begin == lanes &&
          !is_any_closer(norms + begin, products + begin, farthest))
        continue;
      for (std::int64_t col = begin; col < end; ++col) {
        const float distance = norms[col] - products[col];
        if (is_full && !(distance < farthest)) // of equally near ones the first stays
          continue;
        if (is_full) {
          std::ranges::pop_heap(heap);
          heap.pop_back();
        }
        heap.emplace_back(distance, first + col);
        std::ranges::push_heap(heap);
        is_full = static_cast<std::int64_t>(heap.size()) == k;
        farthest = heap.front().first;
      }
    }
  }

  /// What the products of a block take, in floats.
  std::size_t block_size() const {
    return static_cast<std::size_t>(std::min(points, points_of_block) *
                                    std::min(centers, centers_of_block));
  }

  /// Of points [begin, end), at most points_of_block; `products` has room for a block's.
  void block(std::int64_t begin, std::int64_t end, float* products) const {
    const std::int64_t rows = end - begin;
    std::vector<std::vector<Center>> nearest(static_cast<std::size_t>(rows));
    for (std::int64_t first = 0; first < centers; first += centers_of_block) {
      const std::int64_t cols = std::min(centers_of_block, centers - first);
      arith::gemm_rows(arith::Type::float32, {.m = rows, .n = cols, .k = dims, .transpose_b = true},
                       point + begin * dims, center + first * dims, products, 0, rows);
      for (std::int64_t row = 0; row < rows; ++row)
        merge(nearest[static_cast<std::size_t>(row)], products + row * cols, first, cols);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      auto& heap = nearest[static_cast<std::size_t>(row)];
      std::ranges::sort_heap(heap);
      const float norm = half_square(point + (begin + row) * dims, dims);
      for (std::int64_t i = 0; i < k; ++i) {
        const Center& one = heap[static_cast<std::size_t>(i)];
        indices[(begin + row) * k + i] = one.second;
        distances[(begin + row) * k + i] = 2 * (norm + one.first);
      }
    }
  }
};

Status compute(KernelContext& c) {
  const Tensor &points = c.input(0), &centers = c.input(1);
  if (points.shape().rank() != 2)
    return invalid_argument("Input points should be a matrix.");
  if (centers.shape().rank() != 2)
    return invalid_argument("Input centers should be a matrix.");
  if (!c.input(2).shape().is_scalar())
    return invalid_argument("Input k should be a scalar.");
  if (points.shape()[0] == 0)
    return invalid_argument("Expected points.rows() > 0.");
  if (points.shape()[1] != centers.shape()[1])
    return invalid_argument(str_cat("Expected point_dimensions == center_dimensions: ",
                                    points.shape()[1], " vs ", centers.shape()[1], "."));
  const std::int64_t wanted = c.input(2).value<std::int64_t>();
  if (wanted < 0)
    return invalid_argument(str_cat("Expected k >= 0, but it is ", wanted, "."));
  Search search{.points = points.shape()[0],
                .centers = centers.shape()[0],
                .dims = points.shape()[1],
                .k = std::min(wanted, centers.shape()[0]),
                .point = points.data<float>().data(),
                .center = centers.data<float>().data(),
                .center_norms = nullptr,
                .indices = nullptr,
                .distances = nullptr};
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, Shape{search.points, search.k}));
  TROUPE_ASSIGN(Tensor distances, c.allocate_output(1, Shape{search.points, search.k}));
  if (search.k == 0)
    return {};
  search.indices = indices.mutable_data<std::int64_t>().data();
  search.distances = distances.mutable_data<float>().data();
  TROUPE_ASSIGN(Tensor norms, c.allocate_temp(DType::float32, Shape{search.centers}));
  search.center_norms = norms.mutable_data<float>().data();
  c.serial_for(
      search.centers, static_cast<double>(search.dims), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          search.center_norms[i] = half_square(search.center + i * search.dims, search.dims);
      });
  const std::int64_t blocks = (search.points + points_of_block - 1) / points_of_block;
  const double pairs = static_cast<double>(points_of_block) * static_cast<double>(search.centers);
  c.parallel_for(
      blocks, pairs * (1 + static_cast<double>(search.dims) / 16),
      [&](std::int64_t begin, std::int64_t end) {
        const auto products = std::make_unique_for_overwrite<float[]>(search.block_size());
        for (std::int64_t i = begin; i < end; ++i)
          search.block(i * points_of_block, std::min(search.points, (i + 1) * points_of_block),
                       products.get());
      });
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(2, 0));
  TROUPE_ASSIGN(const auto points, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_TRY(c.set_output(0, {points[0], -1}));
  return c.set_output(1, {points[0], -1});
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("NearestNeighbors")
      .input("points: float; centers: float; k: int64")
      .output("nearest_center_indices: int64; nearest_center_distances: float")
      .shape_fn(infer)
      .not_differentiable("its output are places")
      .cpu_kernel(compute, {.expensive = true})
      .doc("For each point the k nearest centers, nearest first, and their squared distances.");
}

} // namespace troupe::linalg_nearest_neighbors
