// Shape: the dimensions of a tensor. PartialShape: what is known of them before a step runs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// Dimensions, outermost first, each ≥ 0, at most 254 of them; a scalar has none. Up to six are
/// stored in place. Invariant: num_elements() is their product, and the product of those that are
/// not 0 fits in 63 bits, so that dimensions may change places or go; `make` is the door for
/// numbers from outside, and allocating is the one for those that kernels compute.
class Shape {
public:
  static constexpr int max_rank = 254;

  Shape() noexcept = default;
  /// Of dimensions ≥ 0. If they are too many, or their product too large, no tensor can have the
  /// shape: check_size() says why, and so does whoever allocates one.
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);
  Shape(const Shape& other);
  Shape(Shape&& other) noexcept;
  Shape& operator=(const Shape& other);
  Shape& operator=(Shape&& other) noexcept;
  ~Shape() { release(); }

  /// From a file, a message or a graph: INVALID_ARGUMENT for a negative dimension, too many, or a
  /// product beyond 2^63 - 1 (dimensions of 0 left out).
  static Result<Shape> make(std::span<const std::int64_t> dims);

  /// INVALID_ARGUMENT as `make`, for what was computed from dimensions of tensors.
  Status check_size() const;

  int rank() const noexcept { return rank_; }
  std::int64_t dim(int i) const { return data()[i]; }
  std::int64_t operator[](int i) const { return data()[i]; }
  std::int64_t num_elements() const noexcept { return elements_; }
  std::span<const std::int64_t> dims() const noexcept {
    return {data(), static_cast<std::size_t>(rank_)};
  }
  bool is_scalar() const noexcept { return rank_ == 0; }

  /// A copy with one dimension more / another value / one less.
  Shape with_appended(std::int64_t dim) const;
  Shape with_dim(int i, std::int64_t value) const;
  Shape without(int i) const;

  std::string to_string() const; ///< "[2,3]", "[]"
  friend bool operator==(const Shape& a, const Shape& b) noexcept;

private:
  static constexpr int in_place = 6;
  static constexpr std::int64_t too_many = std::numeric_limits<std::int64_t>::max();
  const std::int64_t* data() const noexcept { return rank_ <= in_place ? local_ : heap_; }
  void assign(std::span<const std::int64_t> dims);
  void release() noexcept {
    if (rank_ > in_place)
      delete[] heap_;
  }

  std::int64_t elements_ = 1;
  std::int32_t rank_ = 0;
  union {
    std::int64_t local_[in_place];
    std::int64_t* heap_;
  };
};

/// A shape of which the rank or some dimensions (-1) may be unknown.
class PartialShape {
public:
  /// Nothing known.
  PartialShape() = default;
  /// Known rank; -1 for an unknown dimension.
  PartialShape(std::initializer_list<std::int64_t> dims) : dims_(std::vector<std::int64_t>(dims)) {}
  explicit PartialShape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
  PartialShape(const Shape& shape)
      : dims_(std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end())) {}

  bool has_rank() const noexcept { return dims_.has_value(); }
  /// -1 if unknown.
  int rank() const noexcept { return dims_ ? static_cast<int>(dims_->size()) : -1; }
  /// -1 if unknown. Requires a known rank and 0 ≤ i < rank().
  std::int64_t dim(int i) const { return (*dims_)[static_cast<std::size_t>(i)]; }
  const std::vector<std::int64_t>& dims() const { return *dims_; } ///< requires a known rank
  bool is_fully_defined() const noexcept;
  /// The exact shape, if every dimension is known.
  std::optional<Shape> to_shape() const;

  /// Could a tensor have both shapes?
  bool is_compatible_with(const PartialShape& other) const;
  /// What both together say; nothing if they contradict each other.
  std::optional<PartialShape> merge(const PartialShape& other) const;

  std::string to_string() const; ///< "?", "[?,3]"
  friend bool operator==(const PartialShape&, const PartialShape&) = default;

private:
  std::optional<std::vector<std::int64_t>> dims_;
};

/// NumPy broadcasting; INVALID_ARGUMENT "Incompatible shapes: [2] vs. [3]".
Result<Shape> broadcast_shapes(const Shape& a, const Shape& b);

} // namespace troupe
