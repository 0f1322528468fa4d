// StagingArea: tuples of tensors that some steps put in and others take out, first in, first out.
#pragma once

#include <deque>
#include <string>

#include "devices/resource/monitor.hpp"

namespace troupe {

/// How much a staging area or map may hold; 0: as much as there is memory for.
struct StagingLimits {
  std::int64_t elements = 0;
  std::size_t bytes = 0; ///< of tensors, counted as often as they are put in
};

/// What such a resource answers a taker with must have these dtypes: INVALID_ARGUMENT "Mismatch
/// stage/unstage: 2 vs. 1" otherwise, and nothing is taken.
Status check_staged(const std::vector<Tensor>& tuple, const std::vector<DType>& types);
/// RESOURCE_EXHAUSTED for tensors that never fit.
Status check_fits(std::size_t bytes, const StagingLimits& limits);
std::size_t bytes_of(const std::vector<Tensor>& tuple);

class StagingArea final : public Monitor {
public:
  explicit StagingArea(StagingLimits limits) : limits_(limits) {}

  /// Answers with nothing once there is room. In the order of the requests.
  void put(Ticket ticket, Tensors tuple, Done done);
  /// Answers with the oldest tuple once there is one. In the order of the requests.
  void take(Ticket ticket, std::vector<DType> types, Done done);
  /// Answers with tuple `index`, 0 the oldest, once there is one; it stays.
  void peek(Ticket ticket, std::int64_t index, std::vector<DType> types, Done done);
  std::int64_t size() const;
  void clear();
  std::string description() const override;
  std::size_t bytes() const override;

private:
  const StagingLimits limits_;
  std::deque<Tensors> tuples_;
  std::size_t bytes_ = 0;
};

} // namespace troupe
