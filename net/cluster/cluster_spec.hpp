// A cluster as TensorFlow's users write it: JSON, gRPC addresses alone.
//
//   {"ps": ["10.0.0.1:2222"], "worker": ["10.0.0.2:2222", "10.0.0.3:2222"]}
//   {"ps": {"0": "10.0.0.1:2222"}, "worker": {"1": "10.0.0.3:2222"}}
//
// TF_CONFIG has it as "cluster", beside the task that a process is to be: {"type": "worker",
// "index": 1}.
#pragma once

#include <cstdint>
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

/// Adds a task as a client writes it, to a cluster that is partial from then on. INVALID_ARGUMENT
/// saying what is wrong with job, task or address; ALREADY_EXISTS.
Status add_task(Cluster& cluster, std::string_view job, std::int64_t task,
                std::string_view address);
/// The cluster and one of its tasks, as parse_tf_config reads them.
std::string write_tf_config(const ClusterSpec& spec);

/// INVALID_ARGUMENT saying where the text is no JSON, or what is wrong with a job, task or address.
/// At most 1 MiB of text.
Result<Cluster> parse_cluster_spec(std::string_view json);
/// The value of TF_CONFIG. Without "cluster": a cluster without tasks.
Result<ClusterSpec> parse_tf_config(std::string_view json);

} // namespace troupe
