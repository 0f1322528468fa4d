// FilterCache: the filter of a node as libraries want it, kept from step to step.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "core/tensor/tensor.hpp"
#include "kernels/arith/fused_conv.hpp"

namespace troupe {

/// The filter, then what its factor came from, if it has one.
using FilterSources = std::array<Tensor, 3>;

/// A filter as a library wants it: times a factor, perhaps, and laid out anew, perhaps.
struct PackedFilter {
  FilterSources sources;
  Tensor scaled, memory;
  arith::FilterPacking packing;

  arith::ConvFilter view() const;
  /// Of what was made of the sources.
  std::size_t bytes() const;
};

/// Keeps a filter in each layout that steps ask for, so that batches of different sizes find
/// theirs. A filter that changes from step to step is soon no longer kept: holding it would cost a
/// copy each time. Any thread.
class FilterCache {
public:
  /// What was kept of the same elements in the same layout, for a call with `packing`.
  std::optional<PackedFilter> find(const FilterSources& sources,
                                   const arith::FilterPacking& packing);
  bool is_worth_keeping();
  /// Of the layouts asked for least lately some go when all take more than `most_times` the
  /// filter's own bytes.
  void keep(const PackedFilter& packed);

  static constexpr int max_changes = 4;
  static constexpr std::size_t most_times = 8;

private:
  bool is_of(const FilterSources& sources) const;

  std::mutex lock_;
  std::vector<PackedFilter> kept_; // of the same sources, the latest asked for first
  int changes_ = 0;                // of the sources
};

} // namespace troupe
