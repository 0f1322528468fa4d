#include "graph/op/shape_context.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/base/strings.hpp"

namespace troupe {

ShapeContext::ShapeContext(const OpSchema& schema, const AttrMap& attrs,
                           std::vector<PartialShape> inputs, std::vector<Tensor> input_values,
                           int num_outputs)
    : schema_(schema), attrs_(attrs), inputs_(std::move(inputs)), values_(std::move(input_values)),
      outputs_(static_cast<std::size_t>(num_outputs)) {
  values_.resize(inputs_.size());
}

void ShapeContext::set_output_value(int i, Tensor value) {
  output_values_.resize(outputs_.size());
  output_values_[static_cast<std::size_t>(i)] = std::move(value);
}

Result<ArgRange> ShapeContext::input_range(std::string_view name) const {
  TROUPE_ASSIGN(auto ranges, arg_ranges(schema_.inputs, attrs_));
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (schema_.inputs[i].name == name)
      return ranges[i];
  return internal(str_cat("op ", schema_.name, " has no input '", name, "'"));
}

std::optional<std::vector<std::int64_t>> ShapeContext::input_as_ints(int i) const {
  const Tensor& value = input_value(i);
  if (!value.has_value() || value.kind() == MemoryKind::device)
    return std::nullopt;
  if (value.dtype() == DType::int32) {
    auto data = value.data<std::int32_t>();
    return std::vector<std::int64_t>(data.begin(), data.end());
  }
  if (value.dtype() == DType::int64) {
    auto data = value.data<std::int64_t>();
    return std::vector<std::int64_t>(data.begin(), data.end());
  }
  return std::nullopt;
}

Result<PartialShape> ShapeContext::input_as_shape(int i) const {
  if (input(i).rank() > 1)
    return invalid_argument(
        str_cat("Input ", i, " ('shape') must be rank 1 but is rank ", input(i).rank()));
  auto ints = input_as_ints(i);
  if (!ints) {
    if (input(i).rank() != 1 || input(i).dim(0) < 0)
      return PartialShape();
    if (input(i).dim(0) > Shape::max_rank)
      return invalid_argument(str_cat("A shape of ", input(i).dim(0),
                                      " dimensions is too long; at most ", Shape::max_rank,
                                      " are possible"));
    return PartialShape(std::vector<std::int64_t>(static_cast<std::size_t>(input(i).dim(0)), -1));
  }
  if (input_value(i).shape().is_scalar()) {
    if ((*ints)[0] != -1)
      return invalid_argument(
          str_cat("A scalar as a shape must be -1 (unknown), but is ", (*ints)[0]));
    return PartialShape();
  }
  if (ints->size() > static_cast<std::size_t>(Shape::max_rank))
    return invalid_argument(str_cat("A shape of ", ints->size(),
                                    " dimensions is too long; at most ", Shape::max_rank,
                                    " are possible"));
  std::int64_t product = 1;
  for (std::int64_t dim : *ints) {
    if (dim < -1)
      return invalid_argument(str_cat("Dimension ", dim, " must be >= -1"));
    if (dim >= 0 && __builtin_mul_overflow(product, std::max<std::int64_t>(dim, 1), &product))
      return invalid_argument("The shape has more than 2^63 - 1 elements");
  }
  return PartialShape(*std::move(ints));
}

Status ShapeContext::require_rank(int i, int rank) {
  if (input(i).has_rank() && input(i).rank() != rank)
    return invalid_argument(str_cat("Shape must be rank ", rank, " but is rank ", input(i).rank()));
  return {};
}

Status ShapeContext::require_rank_at_least(int i, int rank) {
  if (input(i).has_rank() && input(i).rank() < rank)
    return invalid_argument(
        str_cat("Shape must be at least rank ", rank, " but is rank ", input(i).rank()));
  return {};
}

Status ShapeContext::require_rank_at_most(int i, int rank) {
  if (input(i).has_rank() && input(i).rank() > rank)
    return invalid_argument(
        str_cat("Shape must be at most rank ", rank, " but is rank ", input(i).rank()));
  return {};
}

Status ShapeContext::set_output(int i, PartialShape shape) {
  if (i < 0 || i >= num_outputs())
    return internal(
        str_cat("the shape function of ", schema_.name, " sets output ", i, " of ", num_outputs()));
  outputs_[static_cast<std::size_t>(i)] = std::move(shape);
  return {};
}

Status shape_unchanged(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.output_like(i, 0));
  return {};
}

Status shape_scalar(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, Shape{}));
  return {};
}

Status shape_unknown(ShapeContext&) {
  return {};
}

Status shape_none(ShapeContext&) {
  return {};
}

Status shape_broadcast_binary(ShapeContext& c) {
  TROUPE_ASSIGN(PartialShape shape, broadcast_partial(c.input(0), c.input(1)));
  return c.set_output(0, std::move(shape));
}

namespace {

// The dtype of the op's numbers is its attribute out_type, or int32. No value for one that does not
// fit: the kernel then fails in TensorFlow's words.
Tensor integers(const ShapeContext& c, const Shape& shape, std::span<const std::int64_t> values) {
  const auto dtype = c.attrs().get_or<DType>("out_type", DType::int32);
  const bool is_int32 = dtype == DType::int32;
  if (!is_int32 && dtype != DType::int64)
    return {};
  if (is_int32 && std::ranges::any_of(values, [](std::int64_t x) { return x > INT32_MAX; }))
    return {};
  Tensor out = Tensor::make(dtype, shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (is_int32)
      out.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
    else
      out.mutable_data<std::int64_t>()[i] = values[i];
  return out;
}

} // namespace

Status shape_of_dims(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    TROUPE_TRY(c.set_output(i, PartialShape{c.input(i).rank()}));
    if (auto known = c.input(i).to_shape())
      c.set_output_value(i, integers(c, Shape{known->rank()}, known->dims()));
  }
  return {};
}

Status shape_of_rank(ShapeContext& c) {
  TROUPE_TRY(c.set_output(0, Shape{}));
  const std::int64_t rank = c.input(0).rank();
  if (c.input(0).has_rank())
    c.set_output_value(0, integers(c, Shape{}, {&rank, 1}));
  return {};
}

Status shape_of_num_elements(ShapeContext& c) {
  TROUPE_TRY(c.set_output(0, Shape{}));
  if (auto known = c.input(0).to_shape()) {
    const std::int64_t count = known->num_elements();
    c.set_output_value(0, integers(c, Shape{}, {&count, 1}));
  }
  return {};
}

Status shape_merge_inputs(ShapeContext& c) {
  PartialShape merged = c.num_inputs() ? c.input(0) : PartialShape();
  for (int i = 1; i < c.num_inputs(); ++i) {
    auto both = merged.merge(c.input(i));
    if (!both)
      return invalid_argument(str_cat("Shapes must be equal, but input 0 has ", c.input(0),
                                      " and input ", i, " has ", c.input(i)));
    merged = *std::move(both);
  }
  return c.set_output(0, std::move(merged));
}

Result<PartialShape> broadcast_partial(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank())
    return PartialShape();
  int rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    int in_a = i - (rank - a.rank());
    int in_b = i - (rank - b.rank());
    std::int64_t x = in_a < 0 ? 1 : a.dim(in_a);
    std::int64_t y = in_b < 0 ? 1 : b.dim(in_b);
    std::int64_t& out = dims[static_cast<std::size_t>(i)];
    if (x == 1) {
      out = y;
    } else if (y == 1 || x == y) {
      out = x;
    } else if (x < 0 || y < 0) { // the known one is greater than 1 (or 0), and it stands
      out = std::max(x, y);
    } else {
      return invalid_argument(str_cat("Dimensions must be equal, but are ", x, " and ", y,
                                      " in shapes ", a, " and ", b));
    }
  }
  return PartialShape(std::move(dims));
}

} // namespace troupe
