// A cluster as TensorFlow's users write it: JSON, gRPC addresses alone.
//
//   {"ps": ["10.0.0.1:2222"], "worker": ["10.0.0.2:2222", "10.0.0.3:2222"]}
//   {"ps": {"0": "10.0.0.1:2222"}, "worker": {"1": "10.0.0.3:2222"}}
//
// TF_CONFIG has it as "cluster", beside the task that a process is to be: {"type": "worker", "index": 1}.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

/// One task of a cluster.
struct ClusterSpec {
  Cluster cluster;
  std::string job; ///< empty: not said
  int task = -1;   ///< negative: not said
};

/// INVALID_ARGUMENT saying where the text is no JSON, or what is wrong with a job, task or address.
/// At most 1 MiB of text.
Result<Cluster> parse_cluster_spec(std::string_view json);
/// The value of TF_CONFIG. Without "cluster": a cluster without tasks.
Result<ClusterSpec> parse_tf_config(std::string_view json);

} // namespace troupe
