#include "kernels/parsing/internal/shapes.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::parsing {

Result<std::vector<DenseShape>> dense_shapes(const std::vector<PartialShape>& shapes) {
  std::vector<DenseShape> out;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const PartialShape& shape = shapes[i];
    bool is_known = shape.has_rank();
    for (int d = 1; d < shape.rank(); ++d)
      is_known = is_known && shape.dim(d) != shape_rules::unknown_dim;
    if (!is_known)
      return invalid_argument(
          str_cat("dense_shapes[", i,
                  "] has unknown rank or unknown inner dimensions: ", shape_text(shape)));
    DenseShape dense{.shape = shape,
                     .is_variable = shape.rank() > 0 && shape.dim(0) == shape_rules::unknown_dim};
    const std::span<const std::int64_t> dims = shape.dims();
    TROUPE_ASSIGN(const Shape row, Shape::make(dims.subspan(dense.is_variable ? 1 : 0)));
    dense.row_elements = row.num_elements();
    if (dense.is_variable && dense.row_elements == 0)
      return invalid_argument(
          str_cat("dense_shapes[", i, "] has rows without elements: ", shape_text(shape)));
    out.push_back(std::move(dense));
  }
  return out;
}

Status require_same_length(std::size_t a, std::size_t b, std::string_view a_name,
                           std::string_view b_name) {
  if (a == b)
    return {};
  return invalid_argument(str_cat("len(", a_name, ") != len(", b_name, ")"));
}

std::string shape_text(const PartialShape& shape) {
  return shape.has_rank() ? shape.to_string() : "<unknown>";
}

Status OutputShapes::add(std::size_t count, const PartialShape& shape) {
  for (std::size_t i = 0; i < count; ++i)
    TROUPE_TRY(c_.set_output(next_++, shape));
  return {};
}

Status OutputShapes::add_sparse(std::size_t count, const PartialShape& batch, int more) {
  const std::int64_t rank =
      batch.has_rank() ? std::int64_t{batch.rank()} + more : shape_rules::unknown_dim;
  TROUPE_TRY(add(count, PartialShape{shape_rules::unknown_dim, rank}));
  TROUPE_TRY(add(count, PartialShape{shape_rules::unknown_dim}));
  return add(count, PartialShape{rank});
}

Status OutputShapes::add_dense(const std::vector<PartialShape>& shapes,
                               const PartialShape& prefix) {
  for (const PartialShape& shape : shapes) {
    if (prefix.has_rank() && shape.has_rank())
      TROUPE_TRY(shape_rules::check_rank(std::int64_t{prefix.rank()} + shape.rank()));
    TROUPE_TRY(add(1, concatenated(prefix, shape)));
  }
  return {};
}

PartialShape concatenated(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank())
    return {};
  std::vector<std::int64_t> dims = a.dims();
  dims.insert(dims.end(), b.dims().begin(), b.dims().end());
  return PartialShape(std::move(dims));
}

} // namespace troupe::parsing
