// TensorSlice: a box of a tensor, as partitioned variables are saved; its text form, its message
// and its key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe {

/// An extent for each dimension; one without length is the whole dimension.
struct TensorSlice {
  struct Extent {
    static constexpr std::int64_t whole = -1;
    std::int64_t start = 0, length = whole;
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  std::vector<Extent> extents;

  /// "0,10:-": start and length of each dimension, "-" for a whole one. INVALID_ARGUMENT in
  /// TensorFlow's words.
  static Result<TensorSlice> parse(std::string_view text);
  std::string to_string() const;
  /// TensorSliceProto's bytes. The reader gives nothing for what is none.
  std::string to_message() const;
  static std::optional<TensorSlice> from_message(std::string_view message);

  /// Whether it is all of a tensor of that shape.
  bool is_whole(const Shape& full) const;
  /// The shape of the slice of a tensor of that shape. INVALID_ARGUMENT if it does not lie in it.
  Result<Shape> shape_in(const Shape& full) const;
  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

/// "4 16 0,2:-": the full shape and the slice of it, as SaveV2 and RestoreV2 get them.
struct ShapeAndSlice {
  Shape full;
  TensorSlice slice;
  Shape shape; ///< of the slice
};
Result<ShapeAndSlice> parse_shape_and_slice(std::string_view text);

/// The key under which the slice of a tensor stands in an index: sorts like name, then start.
std::string slice_key(std::string_view name, const TensorSlice& slice);
/// Whether the key is one of a slice; names of tensors are not empty and seldom begin with a 0.
bool is_slice_key(std::string_view key);

/// INTERNAL "Overlapping slices: existing slice = 0,2:-, new slice = 1,3:-" unless each element is
/// in one slice at most; RESOURCE_EXHAUSTED for more than 10,000 slices. All lie in `full`; of the
/// first `known` it is known.
Status check_disjoint(std::span<const TensorSlice> slices, const Shape& full,
                      std::size_t known = 0);

/// Whether two slices of a tensor of shape `full` have an element in common.
bool have_common(const Shape& full, const TensorSlice& a, const TensorSlice& b);
/// Copies what the slices `from_slice` and `to_slice` of one tensor of shape `full` have in common;
/// how many elements that were. Both tensors have one dtype and the shapes of their slices.
std::int64_t copy_common(const Shape& full, const TensorSlice& from_slice, const Tensor& from,
                         const TensorSlice& to_slice, Tensor& to);

} // namespace troupe
