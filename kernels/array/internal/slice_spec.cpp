#include "kernels/array/internal/slice_spec.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe::array {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t new_axis = -2, no_axis = -3; // in place of a dimension's number

bool has_bit(std::int64_t mask, std::size_t i) {
  return i < 63 && ((mask >> i) & 1) != 0;
}

/// One entry for each dimension of the input.
struct Dense {
  Dims begin, end, strides;
  std::vector<bool> from_start, to_end, shrink;
  Dims result; // numbers of dimensions, new_axis and no_axis, in the order of the specification
};

struct Source {
  Bounds begin, end;
  std::span<const std::int64_t> strides;
};

void append_whole(Dense& dense) {
  dense.result.push_back(static_cast<std::int64_t>(dense.begin.size()));
  dense.begin.push_back(0);
  dense.end.push_back(0);
  dense.strides.push_back(1);
  dense.from_start.push_back(true);
  dense.to_end.push_back(true);
  dense.shrink.push_back(false);
}

Result<Dense> expand(const Source& source, const SliceMasks& masks, std::size_t rank) {
  std::size_t length = source.strides.size();
  std::int64_t ellipsis = masks.ellipsis;
  std::size_t new_axes_after = 0;
  bool seen = false;
  for (std::size_t i = 0; i < length; ++i) {
    if (seen && has_bit(masks.new_axis, i))
      ++new_axes_after;
    if (has_bit(ellipsis, i)) {
      if (seen)
        return invalid_argument("Multiple ellipses in slice spec not allowed");
      seen = true;
    }
  }
  if (!seen)
    ellipsis |= std::int64_t{1} << length++; // the rest of the dimensions, whole
  Dense dense;
  for (std::size_t i = 0; i < length; ++i) {
    if (has_bit(ellipsis, i)) {
      const std::size_t after = length - i - 1 - new_axes_after;
      while (dense.begin.size() + after < rank)
        append_whole(dense);
    } else if (has_bit(masks.new_axis, i)) {
      dense.result.push_back(new_axis);
    } else {
      if (rank == 0)
        return invalid_argument("Attempting to slice scalar input.");
      if (dense.begin.size() == rank)
        return invalid_argument(str_cat("Index out of range using input dim ", rank,
                                        "; input has only ", rank, " dims"));
      const bool shrink = has_bit(masks.shrink_axis, i);
      dense.result.push_back(shrink ? no_axis : static_cast<std::int64_t>(dense.begin.size()));
      dense.begin.push_back(source.begin ? (*source.begin)[i] : 0);
      dense.end.push_back(source.end ? (*source.end)[i] : 0);
      dense.strides.push_back(source.strides[i]);
      dense.from_start.push_back(has_bit(masks.begin, i));
      dense.to_end.push_back(has_bit(masks.end, i));
      dense.shrink.push_back(shrink);
    }
  }
  return dense;
}

/// Elements of [begin, end) at that stride.
std::int64_t count(std::int64_t begin, std::int64_t end, std::int64_t stride) {
  const std::int64_t length = end - begin;
  if (length == 0 || (length < 0) != (stride < 0))
    return 0;
  return length / stride + (length % stride != 0 ? 1 : 0);
}

/// Resolves dimension i of `dense` for an extent of `dim`.
Status resolve(const Dense& dense, std::size_t i, std::int64_t dim, bool known_bounds,
               SliceSpec& out) {
  const std::int64_t stride = dense.strides[i];
  if (stride == 0)
    return invalid_argument(str_cat("strides[", i, "] must be non-zero"));
  if (dense.shrink[i] && stride < 0)
    return invalid_argument("only stride 1 allowed on non-range indexing.");
  out.strides[i] = stride;
  if (dense.shrink[i]) {
    out.sizes[i] = 1;
    if (dim < 0 || !known_bounds)
      return {};
    const std::int64_t at = dense.begin[i] < 0 ? dense.begin[i] + dim : dense.begin[i];
    if (at < 0 || at >= dim)
      return invalid_argument(str_cat("slice index ", at, " of dimension ", i, " out of bounds."));
    out.begin[i] = at;
    out.is_whole = out.is_whole && dim == 1;
    return {};
  }
  if (dim < 0 || (!known_bounds && !(dense.from_start[i] && dense.to_end[i]))) {
    out.sizes[i] = -1;
    return {};
  }
  const std::int64_t lowest = stride > 0 ? 0 : -1, highest = stride > 0 ? dim : dim - 1;
  const auto bound = [&](std::int64_t x) {
    return std::clamp(x < 0 ? x + dim : x, lowest, highest);
  };
  const std::int64_t begin =
      dense.from_start[i] ? (stride > 0 ? lowest : highest) : bound(dense.begin[i]);
  const std::int64_t end = dense.to_end[i] ? (stride > 0 ? highest : lowest) : bound(dense.end[i]);
  out.begin[i] = begin;
  out.sizes[i] = count(begin, end, stride);
  out.is_whole = out.is_whole && stride == 1 && out.sizes[i] == dim;
  return {};
}

/// As TensorFlow, which keeps masks in 32 bits.
Result<std::int64_t> mask(const AttrMap& attrs, std::string_view name) {
  TROUPE_ASSIGN(const auto value, attrs.get<std::int64_t>(name));
  if (value < INT32_MIN || value > INT32_MAX)
    return invalid_argument(
        str_cat("Attr ", name, " has value ", value, " out of range for an int32"));
  return value;
}

} // namespace

Result<SliceMasks> slice_masks(const AttrMap& attrs) {
  SliceMasks out;
  TROUPE_ASSIGN(out.begin, mask(attrs, "begin_mask"));
  TROUPE_ASSIGN(out.end, mask(attrs, "end_mask"));
  TROUPE_ASSIGN(out.ellipsis, mask(attrs, "ellipsis_mask"));
  TROUPE_ASSIGN(out.new_axis, mask(attrs, "new_axis_mask"));
  TROUPE_ASSIGN(out.shrink_axis, mask(attrs, "shrink_axis_mask"));
  return out;
}

Result<SliceSpec> make_slice_spec(std::span<const std::int64_t> input, Bounds begin, Bounds end,
                                  std::span<const std::int64_t> strides, const SliceMasks& masks) {
  if (strides.size() > 32)
    return invalid_argument(
        str_cat("a slice specification has ", strides.size(), " entries; at most 32 are possible"));
  TROUPE_ASSIGN(const Dense dense, expand({begin, end, strides}, masks, input.size()));
  SliceSpec out;
  out.begin.assign(input.size(), 0);
  out.strides.assign(input.size(), 1);
  out.sizes.assign(input.size(), -1);
  for (std::size_t i = 0; i < input.size(); ++i)
    TROUPE_TRY(resolve(dense, i, input[i], begin && end, out));
  for (std::int64_t from : dense.result)
    if (from != no_axis)
      out.result.push_back(from == new_axis ? 1 : out.sizes[static_cast<std::size_t>(from)]);
  return out;
}

Result<SliceSpec> read_slice_spec(KernelContext& c, const Shape& shape, const SliceMasks& masks) {
  const Tensor &begin = c.input(1), &end = c.input(2), &strides = c.input(3);
  if (begin.shape().rank() != 1 || !(begin.shape() == end.shape()) ||
      !(end.shape() == strides.shape()))
    return invalid_argument(str_cat("Expected begin, end, and strides to be 1D equal size tensors, "
                                    "but got shapes ",
                                    begin.shape(), ", ", end.shape(), ", and ", strides.shape(),
                                    " instead."));
  TROUPE_ASSIGN(const Integers b, integers(begin));
  TROUPE_ASSIGN(const Integers e, integers(end));
  TROUPE_ASSIGN(const Integers s, integers(strides));
  return make_slice_spec(shape.dims(), b, e, s, masks);
}

} // namespace troupe::array
