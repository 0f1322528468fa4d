// What we ask as a master is what we read as a worker, and the other way round; other bytes are
// refused.
#include "api/grpc/worker_codec.hpp"

#include <doctest/doctest.h>

#include "api/grpc/worker_client_codec.hpp"
#include "kernels/framework/rendezvous.hpp"
#include "proto/worker.pb.h"

using namespace troupe;

TEST_CASE("worker codec: requests arrive as they were asked") {
  auto created = worker_codec::read_create_worker_session(worker_codec::write_create_worker_session(
      "s", "/job:ps/replica:0/task:3", true, "/job:chief/replica:0/task:0", 9));
  REQUIRE(created.ok());
  CHECK(created->session_handle == "s");
  CHECK(created->isolate_session_state);
  CHECK(created->master_task == "/job:chief/replica:0/task:0");
  CHECK(created->master_incarnation == 9);
  CHECK(created->cluster.empty());
  CHECK(worker_codec::read_delete_worker_session(worker_codec::write_delete_worker_session("s"))
            ->session_handle == "s");
  auto registered =
      worker_codec::read_register_graph(worker_codec::write_register_graph("s", "bytes"));
  REQUIRE(registered.ok());
  CHECK(registered->session_handle == "s");
  CHECK(registered->create_worker_session_called);
  CHECK(registered->graph_def == "bytes");
  CHECK(worker_codec::read_deregister_graph(worker_codec::write_deregister_graph("s", "g"))
            ->graph_handle == "g");
  CHECK(worker_codec::read_cleanup_graph(worker_codec::write_cleanup_graph(8))->step_id == 8);
  CHECK(worker_codec::read_cleanup_all(worker_codec::write_cleanup_all({"a", "b"}))->containers ==
        std::vector<std::string>{"a", "b"});
  CHECK(worker_codec::read_recv_tensor(worker_codec::write_recv_tensor(8, "key", 1))->key == "key");
}

TEST_CASE("worker codec: a run, its values, and its end") {
  worker_codec::RunGraphWords words{
      "s",     "g",
      8,       {{"in", Tensor::scalar(2.0f)}, {"text", Tensor::scalar(std::string("x"))}},
      {"out"}, true,
      false,   6};
  auto bytes = worker_codec::write_run_graph(words);
  REQUIRE(bytes.ok());
  CHECK(worker_codec::wants_errors_in_body(*bytes));
  auto run = worker_codec::read_run_graph(*bytes, {});
  REQUIRE(run.ok());
  CHECK(run->graph_handle == "g");
  CHECK(run->step_id == 8);
  CHECK(run->records_timeline);
  CHECK(run->request_id == 3);
  CHECK(run->recv_keys == std::vector<std::string>{"out"});
  REQUIRE(run->sends.size() == 2);
  CHECK(run->sends[0].second.value<float>() == 2);
  CHECK(run->sends[1].second.value<std::string>() == "x");
  StepStats stats;
  NodeStats node;
  node.node = "n";
  node.op = "Add";
  node.inputs = {"a", "b:1"};
  node.start_us = 10;
  node.end_us = 15;
  stats.devices.push_back({"device", {node}});
  auto answer = worker_codec::write_graph_run({"out"}, {Tensor::scalar(3.0f)}, stats);
  REQUIRE(answer.ok());
  auto back = worker_codec::read_graph_run(answer->text(), {});
  REQUIRE(back.ok());
  REQUIRE(back->values.size() == 1);
  CHECK(back->values[0].first == "out");
  CHECK(back->values[0].second.value<float>() == 3);
  REQUIRE(back->stats.size() == 1);
  CHECK(back->stats[0].nodes.at(0).node == "n");
  CHECK(back->stats[0].nodes.at(0).op == "Add");
  CHECK(back->stats[0].nodes.at(0).inputs == node.inputs);
  CHECK(back->stats[0].nodes.at(0).end_us == 15);
  Status failed =
      worker_codec::read_graph_run(worker_codec::write_run_failed(Code::aborted, "why"), {})
          .status();
  CHECK(failed.code() == Code::aborted);
  CHECK(failed.message() == "why");
}

TEST_CASE("worker codec: a value, a dead one, and devices") {
  auto value = worker_codec::write_tensor(EdgeValue{Tensor::scalar(4.0f)});
  REQUIRE(value.ok());
  CHECK(worker_codec::read_tensor(value->text(), {})->tensor.value<float>() == 4);
  CHECK(worker_codec::read_tensor(worker_codec::write_tensor(EdgeValue{{}, true})->text(), {})
            ->is_dead);
  auto devices = worker_codec::read_devices(worker_codec::write_status(
      {{"/job:ps/replica:0/task:0/device:CPU:0", "CPU", 5, 6, "a processor"}}));
  REQUIRE(devices.ok());
  CHECK(devices->at(0).incarnation == 6);
  CHECK(*worker_codec::read_graph_registered(worker_codec::write_graph_registered("g")) == "g");
}

TEST_CASE("worker codec: what is logged of steps") {
  tensorflow::LoggingRequest request;
  request.set_enable_rpc_logging(true);
  request.set_clear(true);
  request.add_fetch_step_id(7);
  auto asked = worker_codec::read_logging(request.SerializeAsString());
  REQUIRE(asked.ok());
  CHECK(asked->enables);
  CHECK_FALSE(asked->disables);
  CHECK(asked->clears);
  CHECK(asked->fetches == std::vector<std::int64_t>{7});
  StepStats stats;
  NodeStats node;
  node.node = "RecvTensor";
  stats.devices.push_back({"device", {node}});
  tensorflow::LoggingResponse answer;
  REQUIRE(answer.ParseFromString(worker_codec::write_logging({{7, stats}, {8, {}}})));
  REQUIRE(answer.step_size() == 2);
  CHECK(answer.step(0).step_id() == 7);
  CHECK(answer.step(0).step_stats().dev_stats(0).node_stats(0).node_name() == "RecvTensor");
  CHECK(answer.step(1).step_stats().dev_stats_size() == 0);
}

TEST_CASE("worker codec: bytes that are no message are refused with a sentence") {
  const std::string junk = "\xff\xff\xff";
  for (const Status& status :
       {worker_codec::read_create_worker_session(junk).status(),
        worker_codec::read_register_graph(junk).status(),
        worker_codec::read_run_graph(junk, {}).status(),
        worker_codec::read_recv_tensor(junk).status(),
        worker_codec::read_cleanup_graph(junk).status(),
        worker_codec::read_graph_run(junk, {}).status(),
        worker_codec::read_tensor(junk, {}).status(), worker_codec::read_devices(junk).status(),
        worker_codec::read_graph_registered(junk).status()}) {
    CHECK(status.code() == Code::invalid_argument);
    CHECK_FALSE(status.message().empty());
  }
}
