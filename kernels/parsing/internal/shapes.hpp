// What the ops that parse messages share: attributes that must fit together, shapes of outputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/op/shape_context.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::parsing {

/// How a dense feature's values become a tensor.
struct DenseShape {
  PartialShape shape;            ///< of one example's values; only dimension 0 may be unknown
  bool is_variable = false;      ///< dimension 0 is unknown: padded to the batch's longest
  std::int64_t row_elements = 1; ///< of a fixed shape all elements, else those of one row
};

/// INVALID_ARGUMENT "dense_shapes[0] has unknown rank or unknown inner dimensions: [2,?]", and for
/// a variable one whose rows have no elements.
Result<std::vector<DenseShape>> dense_shapes(const std::vector<PartialShape>& shapes);

/// INVALID_ARGUMENT "len(dense_keys) != len(dense_shapes)" if they differ.
Status require_same_length(std::size_t a, std::size_t b, std::string_view a_name,
                           std::string_view b_name);

/// TensorFlow's spelling of a shape of which nothing is known.
std::string shape_text(const PartialShape& shape);

/// Sets outputs one after the other.
class OutputShapes {
public:
  explicit OutputShapes(ShapeContext& c) : c_(c) {}
  Status add(std::size_t count, const PartialShape& shape);
  /// Indices, values and dense shapes of `count` sparse tensors, whose rank is that of `batch` and
  /// `more`.
  Status add_sparse(std::size_t count, const PartialShape& batch, int more);
  /// For each shape one behind `prefix`.
  Status add_dense(const std::vector<PartialShape>& shapes, const PartialShape& prefix);

private:
  ShapeContext& c_;
  int next_ = 0;
};

/// The dimensions of both; unknown where the rank of one is.
PartialShape concatenated(const PartialShape& a, const PartialShape& b);

} // namespace troupe::parsing
