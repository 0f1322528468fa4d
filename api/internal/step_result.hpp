// A step's answer as its callers take it.
#pragma once

#include <utility>

#include "actors/protocol/local/master.hpp"
#include "core/trace/recorder.hpp"
#include "graph/convert/options.hpp"

namespace troupe {

/// Takes trace and partition graphs out of the answer.
inline RunMetadata metadata_of(RunStepResult& result) {
  RunMetadata out;
  for (DeviceStats& device : result.metadata.stats)
    merge(out.step_stats, {{std::move(device)}});
  out.cost_graph = std::move(result.metadata.costs);
  out.partition_graphs = std::move(result.metadata.partition_graphs);
  return out;
}

} // namespace troupe
