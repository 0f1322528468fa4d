#include "actors/master_session/costs.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {

StepPlan two_parts() {
  StepPlan plan;
  plan.parts.resize(2);
  plan.parts[0].cost_nodes = {{"a", "/a", {}, {}, {{-1, DType::float32, {}}}, 0, false},
                              {"b", "/a", {{0, 0}}, {0}, {{-1, DType::float32, {}}}, 0, true}};
  plan.parts[1].cost_nodes = {{"a", "/b", {}, {}, {{8, DType::int64, {}}}, 0, false},
                              {"c", "/b", {{0, 0}}, {}, {}, 0, true}};
  return plan;
}

} // namespace

TEST_CASE("costs: ids go on from one task to the next") {
  auto costs = costs_of(two_parts(), {});
  REQUIRE(costs.size() == 4);
  CHECK(costs[1].inputs[0].node == 0);
  CHECK(costs[3].inputs[0].node == 2);
  CHECK(costs[2].outputs[0].bytes == 8); // known without a run
}

TEST_CASE("costs: times and values of a node come from its own device, and add up over its runs") {
  std::vector<DeviceStats> stats(2);
  stats[0].device = "/a";
  stats[0].nodes = {{"a", "Op", 100, 130, 1, 4, {}, {{0, DType::float32, {1}, 4}}},
                    {"a", "Op", 200, 205, 1, 4, {}, {{0, DType::float32, {2}, 8}}},
                    {"elsewhere", "Op", 0, 9, 1, 0, {}, {}},
                    {"b", "Op", 0, 7, 1, 0, {}, {{5, DType::float32, {}, 4}}}};
  stats[1].device = "/b";
  stats[1].nodes = {{"a", "Op", 50, 51, 1, 0, {}, {}}};
  auto costs = costs_of(two_parts(), stats);
  CHECK(costs[0].compute_us == 35);
  CHECK(costs[0].outputs[0] == CostNode::Output{8, DType::float32, {2}});
  CHECK(costs[1].compute_us == 7);
  CHECK(costs[1].outputs[0].bytes == -1); // it has no output of that number
  CHECK(costs[2].compute_us == 1);
  auto known = with_costs(nullptr, costs);
  CHECK(known->at("b") == 7);
  CHECK(with_costs(known.get(), {})->size() == 3);
}

TEST_CASE(
    "costs: of a kernel that a device timed on its stream, that time counts, not its enqueueing") {
  std::vector<DeviceStats> stats(2);
  stats[0].device = "/a";
  stats[0].nodes = {{"a", "Op", 0, 3, 1, 4, {}, {{0, DType::float32, {1}, 4}}},
                    {"b", "Op", 3, 5, 1, 0, {}, {}}};
  stats[1].device = "/a/stream:all";
  stats[1].nodes = {{"a", "Op", 10, 60, 0, 0, {}, {}},
                    {"a", "Op", 60, 70, 0, 0, {}, {}},
                    {"elsewhere", "Op", 0, 9, 0, 0, {}, {}}};
  auto costs = costs_of(two_parts(), stats);
  CHECK(costs[0].compute_us == 60);
  CHECK(costs[0].outputs[0].bytes == 4);
  CHECK(costs[1].compute_us == 2); // runs on the host of the device
}
