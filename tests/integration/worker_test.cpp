// A worker that is spoken to by a master that does not keep to the protocol.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/sim/sim_cluster.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker0 = "/job:worker/replica:0/task:0";

// A fetch that waits for a value of the ps, which never sends it.
std::string waiting_graph() {
  std::string here = str_cat(worker0, "/device:CPU:0"), there = str_cat(ps, "/device:CPU:0");
  return str_cat(R"(node { name: "r" op: "_Recv" device: ")", here, R"("
      attr { key: "tensor_type" value { type: DT_FLOAT } } attr { key: "tensor_name" value { s: "edge_1_a" } }
      attr { key: "send_device" value { s: ")",
                 there, R"(" } } attr { key: "recv_device" value { s: ")", here, R"(" } }
      attr { key: "send_device_incarnation" value { i: 1 } } attr { key: "client_terminated" value { b: false } } }
    node { name: "out" op: "_Retval" input: "r" device: ")",
                 here, R"("
      attr { key: "T" value { type: DT_FLOAT } } attr { key: "index" value { i: 0 } } })");
}

} // namespace

TEST_CASE("worker: a second run of a step that still runs is refused, the first one goes on") {
  SimCluster cluster({ps, worker0});

  SimNode& node = cluster.node(worker0);
  auto created = cluster.ask<WorkerSessionCreated>(node, node.handles.worker,
                                                   CreateWorkerSession{"s", ps, false, 0});
  REQUIRE_MESSAGE(created.ok(), created.status().to_string());
  SimNode& sender = cluster.node(ps); // has the session too, so that its value may still come
  REQUIRE(cluster
              .ask<WorkerSessionCreated>(sender, sender.handles.worker,
                                         CreateWorkerSession{"s", ps, false, 0})
              .ok());
  auto session = typed<WorkerSessionActor>(created->session);
  auto graph =
      cluster.ask<GraphRegistered>(node, session, RegisterGraph{waiting_graph(), {}, true});
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  RunGraph run;
  run.graph_handle = graph->graph_handle;
  run.step_id = 7;
  std::int64_t before = counter("steps").value();
  // No budget: time is virtual, and run() below returns only when nothing more can happen.
  auto first = node.self->request(session, caf::infinite, run);
  cluster.run();
  REQUIRE(counter("steps").value() == before + 1);
  auto second = cluster.ask<GraphRun>(node, session, run);
  CHECK(second.status().code() == Code::already_exists);
  CHECK(second.status().message().find("step 7 runs already on /job:worker/replica:0/task:0") !=
        std::string::npos);
  CHECK(counter("steps").value() == before + 1);
  caf::anon_send(session, CancelStep{7, {cancelled("that is enough")}});
  cluster.run();
  Code code = Code::ok;
  first.receive([](GraphRun&) {},
                [&](caf::error& error) { code = to_status(error, "the first run").code(); });
  CHECK(code == Code::cancelled);
  CHECK(counter("steps").value() == before);
}
