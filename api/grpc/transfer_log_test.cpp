#include "api/grpc/transfer_log.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {
const std::string to_a = rendezvous_key("/job:ps/replica:0/task:0/device:CPU:0", 1,
                                        "/job:a/replica:0/task:0/device:CPU:0", "edge_1_x", 0, 0);
}

TEST_CASE("transfer log: what was taken while it was on stands by step and device") {
  TransferLog log;
  log.took(1, to_a, 4, 10, 12);
  CHECK(log.of_step(1).devices.empty()); // off
  log.enable(true);
  log.took(1, to_a, 4, 10, 12);
  log.took(1, to_a, 8, 20, 25);
  log.took(2, to_a, 8, 20, 25);
  log.took(2, "no key", 8, 20, 25);
  log.enable(false);
  log.took(1, to_a, 16, 30, 35);
  const StepStats stats = log.of_step(1);
  REQUIRE(stats.devices.size() == 1);
  CHECK(stats.devices[0].device == "/job:a/replica:0/task:0/device:CPU:0");
  REQUIRE(stats.devices[0].nodes.size() == 2);
  CHECK(stats.devices[0].nodes[1].start_us == 20);
  CHECK(stats.devices[0].nodes[1].end_us == 25);
  CHECK(stats.devices[0].nodes[1].detail.find("[8B] edge_1_x from /job:ps") == 0);
  CHECK(log.of_step(3).devices.empty());
  log.clear();
  CHECK(log.of_step(1).devices.empty());
}

TEST_CASE("transfer log: the oldest steps go") {
  TransferLog log;
  log.enable(true);
  for (std::uint64_t step = 0; step <= TransferLog::most_steps; ++step)
    log.took(step, to_a, 4, 10, 12);
  CHECK(log.of_step(0).devices.empty());
  CHECK(log.of_step(1).devices.size() == 1);
}
