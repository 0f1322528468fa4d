// What a running step tells about itself: ends of the graph first, long chains cut, sizes bounded.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"

using namespace troupe;
using namespace troupe::testing;

namespace {

const NodeRecord* find(const DeviceRecord& device, const std::string& name) {
  auto it = std::find_if(device.nodes.begin(), device.nodes.end(),
                         [&](const NodeRecord& node) { return node.node == name; });
  return it == device.nodes.end() ? nullptr : &*it;
}

constexpr auto receive = R"([tensor_type=DT_INT64, tensor_name="edge_1_k"]())";

} // namespace

TEST_CASE("step record: from each end of the graph back to the receive that holds it up") {
  Rig rig;
  auto step = rig.start(rig.compile(str_cat("k = _Recv", receive, R"(
    n = Neg(k)
    m = Neg(n)
    s = _Send[tensor_name="edge_2_n"](n)
    done = NoOp() ^m
    r = _Retval[index=0](m)
  )")));
  CHECK_FALSE(rig.advance(*step));
  DeviceRecord record = step->record();
  CHECK(record.answered);
  CHECK(record.unfinished == 6);
  REQUIRE(record.nodes.size() == 6);
  CHECK(record.nodes[0].node == "k");
  CHECK(record.nodes[0].state == NodeRecord::State::running);
  CHECK(record.nodes[0].is_async);
  CHECK(record.nodes[0].running_us >= 0);
  CHECK(record.nodes[0].edge == "edge_1_k");
  REQUIRE(find(record, "s"));
  CHECK(find(record, "s")->edge == "edge_2_n");
  CHECK(find(record, "s")->missing == std::vector<std::string>{"n:0"});
  CHECK(find(record, "n")->missing == std::vector<std::string>{"k:0"});
  CHECK(find(record, "done")->missing == std::vector<std::string>{"^m"});
  REQUIRE(rig.rendezvous->send("edge_1_k;0:0", {Tensor::scalar<std::int64_t>(9), false}).ok());
  CHECK(rig.finish(*step).ok());
  CHECK(step->record().nodes.empty());
  CHECK(step->record().unfinished == 0);
}

TEST_CASE("step record: a long chain is told by its ends") {
  std::ostringstream graph;
  graph << "n0 = _Recv" << receive << "\n";
  for (int i = 1; i <= 1000; ++i)
    graph << "n" << i << " = Neg(n" << i - 1 << ")\n";
  graph << "r = _Retval[index=0](n1000)\n";
  Rig rig;
  auto step = rig.start(rig.compile(graph.str()));
  CHECK_FALSE(rig.advance(*step));
  DeviceRecord record = step->record();
  CHECK(record.unfinished == 1002);
  REQUIRE(record.nodes.size() == 2);
  CHECK(record.nodes[1].node == "r");
  CHECK(record.nodes[1].skipped == 1000);
  CHECK(record.nodes[1].missing == std::vector<std::string>{"n0:0"});
  rig.rendezvous->abort(aborted("enough"));
  CHECK(rig.finish(*step).code() == Code::aborted);
}

TEST_CASE("step record: thousands of nodes that wait make a bounded record") {
  std::ostringstream graph;
  graph << "k = _Recv" << receive << "\n";
  for (int i = 0; i < 5000; ++i)
    graph << "n" << i << " = Neg(k)\n";
  graph << "s = _Send[tensor_name=\"edge_2_n\"](n4999)\n";
  Rig rig;
  auto step = rig.start(rig.compile(graph.str()));
  CHECK_FALSE(rig.advance(*step));
  DeviceRecord record = step->record(50);
  CHECK(record.unfinished == 5002);
  CHECK(record.nodes.size() == 50);
  CHECK(find(record, "k"));
  CHECK(find(record, "s")); // what others wait for goes first
  CHECK(find(record, "n4999"));
  rig.rendezvous->abort(aborted("enough"));
  CHECK(rig.finish(*step).code() == Code::aborted);
}

TEST_CASE("step record: a step that failed tells only what still runs") {
  Rig rig;
  auto step = rig.start(rig.compile(str_cat("k = _Recv", receive, R"(
    n = Neg(k)
    r = _Retval[index=0](n)
  )")));
  CHECK_FALSE(rig.advance(*step));
  step->cancel(cancelled("enough"));
  DeviceRecord record = step->record();
  REQUIRE(record.nodes.size() == 1);
  CHECK(record.nodes[0].node == "k");
  rig.rendezvous->abort(aborted("enough"));
  CHECK(rig.finish(*step).code() == Code::cancelled);
}
