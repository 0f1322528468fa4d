#include "tools/troupe/run_flags.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("run flags: what they ask of a session and its steps") {
  RunFlags flags;
  flags.isolate = flags.bfloat16 = flags.report_allocations = true;
  flags.watches = {"x", "y:1", "*"};
  flags.dump = "/tmp/d";
  flags.costs = "c";
  flags.partitions = "p";
  SessionOptions session;
  flags.apply(session, 7);
  CHECK(session.isolate_session_state);
  CHECK(session.bfloat16_sendrecv);
  CHECK_FALSE(session.recv_scheduling);
  CHECK(session.cost_model_every == 7); // the last of seven
  RunOptions first, last;
  flags.apply(first, false);
  flags.apply(last, true);
  CHECK(first.report_allocations_upon_oom);
  CHECK_FALSE(first.output_partition_graphs);
  CHECK(last.output_partition_graphs);
  REQUIRE(first.debug.watches.size() == 3);
  CHECK(first.debug.watches[0] == DebugWatch{"x", 0, {"DebugIdentity"}, {"file:///tmp/d"}, false});
  CHECK(first.debug.watches[1].node == "y");
  CHECK(first.debug.watches[1].slot == 1);
  CHECK(first.debug.watches[2].slot == -1);
  CHECK(flags.find_mistake().empty());
}

TEST_CASE("run flags: a watch goes somewhere, by a path that every task understands") {
  RunFlags flags;
  CHECK(flags.find_mistake().empty());
  flags.watches = {"x"};
  CHECK_FALSE(flags.find_mistake().empty());
  flags.dump = "d";
  CHECK(flags.find_mistake().find("'d'") != std::string::npos);
}

TEST_CASE("run flags: costs are lines, the costliest node first") {
  std::vector<CostNode> nodes(2);
  nodes[0].name = "a";
  nodes[0].device = "/d";
  nodes[0].compute_us = 3;
  nodes[1].name = "b";
  nodes[1].device = "/d";
  nodes[1].compute_us = 40;
  nodes[1].outputs = {{8, DType::int64, {}}, {-1, DType::int64, {}}, {4, DType::float32, {}}};
  CHECK(format_costs(nodes) == "us\tbytes\tdevice\tnode\n40\t12\t/d\tb\n3\t0\t/d\ta\n");
}
