// GradientAccumulator: the sum or mean of gradients of the current step, taken once enough of them
// are there; older ones are dropped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor/shape.hpp"
#include "devices/resource/monitor.hpp"

namespace troupe {

class GradientAccumulator final : public Monitor {
public:
  struct Spec {
    DType dtype = DType::invalid;
    PartialShape shape;
    bool is_mean = true; ///< what is taken; otherwise the sum
    bool is_sparse = false;
    bool operator==(const Spec&) const = default;
  };
  /// `name` as messages have it. Sums are made in `memory`, which outlives the accumulator.
  GradientAccumulator(Spec spec, std::string name, Allocator& memory)
      : spec_(std::move(spec)), name_(std::move(name)), memory_(memory) {}
  const Spec& spec() const { return spec_; }
  Status check_same(const Spec& other) const;

  /// Adds a gradient of `local_step`; one of an earlier step than the global one is dropped.
  Status apply(std::int64_t local_step, const Tensor& gradient);
  /// Of a sparse one: rows of a tensor of that shape, named by indices; where these are sorted and
  /// name no row twice, so is what is taken. `shape` without value: not known.
  Status apply_sparse(std::int64_t local_step, const Tensor& indices, const Tensor& values,
                      const Tensor& shape);
  /// Answers with the mean or sum of at least `required` gradients (sparse: indices, values,
  /// shape), and goes on to the next global step with none.
  void take(Ticket ticket, std::int64_t required, Done done);
  std::int64_t num_accumulated() const;
  void set_global_step(std::int64_t step);
  std::string description() const override;

private:
  Status check_sparse(const Tensor& indices, const Tensor& values, const Tensor& shape) const;
  Status add_rows(const Tensor& indices, const Tensor& values);
  Result<Tensors> give();
  Result<Tensors> give_rows();

  /// Which row of the gradients a row of a sparse sum is, and how many were added up in it.
  struct Row {
    std::int64_t index = 0;
    std::int64_t count = 0;
  };

  const Spec spec_;
  const std::string name_;
  Allocator& memory_;
  std::int64_t global_step_ = 0, count_ = 0;
  Tensor sum_;                     ///< of a sparse one: [rows_.size(), row...]
  std::vector<Row> rows_;          ///< in the gradients' order
  std::optional<Shape> row_shape_; ///< of all rows, once there is one
};

/// Half, bfloat16, float and double can be summed up.
std::vector<DType> accumulated_dtypes();

} // namespace troupe
