// Between-graph replication: each worker has a client of its own, with its own graph and session;
// what they share are the variables, which live on the parameter servers and are found by name.
// Updates are applied as they come, without waiting for the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "examples/fashion_mnist/dataset.hpp"
#include "examples/fashion_mnist/model.hpp"

namespace troupe::fashion_mnist {

struct WorkerPlan {
  std::string target; ///< of its session: "local", or its own task
  Devices devices;
};

/// One in this process.
std::vector<WorkerPlan> plan_local();
/// One for each task of job "worker" in a cluster's config file, with variables on job "ps", or
/// beside worker 0 if there is none. INVALID_ARGUMENT if there is no worker.
Result<std::vector<WorkerPlan>> plan_cluster(const std::string& config_file);

struct Training {
  std::string model = "mlp";
  int epochs = 8;
  std::int64_t batch = 128;
  float learning_rate = 0.001f; ///< at first; it falls evenly to a twentieth
};

struct Outcome {
  double accuracy = 0; ///< of the test pictures
  double images_per_second = 0;
};

/// Trains on all workers at once, then judges with the first. The first worker initialises the
/// variables, the others wait until it has. The first error of any worker ends all;
/// DEADLINE_EXCEEDED if the variables are not there in time.
Result<Outcome> train(const std::vector<WorkerPlan>& workers, const Training& training,
                      const Dataset& data);

} // namespace troupe::fashion_mnist
