#include "graph/convert/options.hpp"

#include <doctest/doctest.h>

#include "graph/convert/internal/proto.hpp"
#include "proto/config.pb.h"
#include "proto/graph.pb.h"

using namespace troupe;

TEST_CASE("options: a session's go there and back") {
  SessionOptions options;
  options.device_count = {{"CPU", 2}, {"GPU", 0}};
  options.intra_op_threads = 3;
  options.inter_op_threads = 4;
  options.per_session_threads = true;
  options.thread_pools = {{2, ""}, {0, "shared"}};
  options.placement_period = 5;
  options.device_filters = {"/job:ps", "/job:worker/task:1"};
  options.allow_soft_placement = true;
  options.log_device_placement = true;
  options.isolate_session_state = true;
  options.operation_timeout_ms = 60'000;
  options.cluster = {{"ps", 0, "a:1"}, {"worker", 0, "b:1"}, {"worker", 3, "c:1"}};
  options.opt_level = -1;
  options.disabled_passes = {"constant_folding", "remapping", "model_pruning"};
  options.enabled_passes = {"debug_stripper"};
  options.only_passes = {"pruning"};
  options.infer_shapes = true;
  options.place_pruned_graph = true;
  options.bfloat16_sendrecv = true;
  options.recv_scheduling = true;
  options.cost_model_every = 3;
  options.cost_model_after = 2;
  options.timeline_every = 5;
  options.shares_state_in_own_cluster = true;
  options.optimize_for_static_graph = true;
  options.disable_output_partition_graphs = true;
  options.gpu_memory_fraction = 0.25;
  options.gpu_allow_growth = true;
  options.visible_gpus = "1,0";
  options.collective_group_leader = "/job:worker/replica:0/task:0";
  options.session_name = "s";
  options.session_version = 9;
  auto back = session_options_from_bytes(to_bytes(options));
  REQUIRE(back.ok());
  CHECK(*back == options);
  CHECK(*session_options_from_bytes("") == SessionOptions{});
  CHECK(session_options_from_bytes("\xff").status().code() == Code::invalid_argument);
}

TEST_CASE("options: a ConfigProto as text") {
  auto bytes = session_config_from_text("operation_timeout_in_ms: 1000 allow_soft_placement: true");
  REQUIRE(bytes.ok());
  auto options = session_options_from_bytes(*bytes);
  REQUIRE(options.ok());
  CHECK(options->operation_timeout_ms == 1000);
  CHECK(options->allow_soft_placement);
  CHECK(session_config_from_text("")->empty());
  const Status wrong = session_config_from_text("no_such_field: 1").status();
  CHECK(wrong.code() == Code::invalid_argument);
  CHECK(wrong.message().find("no_such_field") != std::string_view::npos);
}

TEST_CASE("options: a client's ConfigProto is understood") {
  tensorflow::ConfigProto proto;
  REQUIRE(parse_text(R"(
    allow_soft_placement: true
    graph_options {
      optimizer_options { opt_level: L0 }
      rewrite_options { constant_folding: OFF pin_to_host_optimization: OFF remapping: ON }
    }
    session_inter_op_thread_pool { num_threads: 2 }
  )",
                     proto)
              .ok());
  SessionOptions options = from_proto(proto);
  CHECK(options.allow_soft_placement);
  CHECK(options.opt_level == -1);
  CHECK(options.disabled_passes ==
        std::vector<std::string>{"constant_folding", "pin_to_host_optimization"});
  CHECK(options.thread_pools == std::vector<ThreadPoolOptions>{{2, ""}});
}

TEST_CASE("options: a step's go there and back") {
  RunOptions options{.trace_level = TraceLevel::full,
                     .timeout_ms = 1000,
                     .inter_op_thread_pool = -1,
                     .output_partition_graphs = true,
                     .report_allocations_upon_oom = true,
                     .collective_graph_key = 77,
                     .priority = 3,
                     .debug = {{{"a", 1, {"DebugIdentity"}, {"file:///tmp/x"}, true},
                                {"*", -1, {"DebugNanCount"}, {"file:///y", "file:///z"}, false}},
                               42,
                               true}};
  auto back = run_options_from_bytes(to_bytes(options));
  REQUIRE(back.ok());
  CHECK(*back == options);
  tensorflow::RunOptions odd;
  odd.set_trace_level(static_cast<tensorflow::RunOptions::TraceLevel>(99));
  CHECK(from_proto(odd).trace_level == TraceLevel::full);
}

TEST_CASE("options: a watch without ops, or that goes nowhere, is none") {
  tensorflow::RunOptions proto;
  auto& debug = *proto.mutable_debug_options();
  debug.add_debug_tensor_watch_opts()->add_debug_urls("file:///tmp");
  debug.add_debug_tensor_watch_opts()->add_debug_ops("DebugIdentity");
  CHECK(from_proto(proto).debug.is_empty());
}

TEST_CASE("options: a callable's are read") {
  tensorflow::CallableOptions proto;
  REQUIRE(parse_text(R"(
    feed: "x:0" fetch: "y:0" fetch: "z:0" target: "t"
    run_options { trace_level: FULL_TRACE timeout_in_ms: 7 }
    tensor_connection { from_tensor: "k:0" to_tensor: "a:0" }
  )",
                     proto)
              .ok());
  auto options = callable_options_from_bytes(to_bytes(proto));
  REQUIRE(options.ok());
  CHECK(options->feeds == std::vector<std::string>{"x:0"});
  CHECK(options->fetches == std::vector<std::string>{"y:0", "z:0"});
  CHECK(options->targets == std::vector<std::string>{"t"});
  CHECK(options->connections == std::vector<std::pair<std::string, std::string>>{{"k:0", "a:0"}});
  CHECK(options->options.trace_level == TraceLevel::full);
  CHECK(options->options.timeout_ms == 7);
  CHECK_FALSE(options->names_devices);
  (*proto.mutable_feed_devices())["x:0"] = "/cpu:0";
  CHECK(from_proto(proto).names_devices);
  CHECK(callable_options_from_bytes("\xff").status().code() == Code::invalid_argument);
}

TEST_CASE("options: what a step reports goes there and back") {
  RunMetadata metadata;
  DeviceStats device{.device = "/job:a/replica:0/task:0/device:CPU:0", .nodes = {}};
  NodeStats stats;
  stats.node = "m";
  stats.op = "MatMul";
  stats.start_us = 1'700'000'000'000'000;
  stats.end_us = 1'700'000'000'000'250;
  stats.thread_id = 4;
  stats.bytes = 4096;
  stats.detail = "[2,3] x [3,2]";
  stats.outputs = {{1, DType::float32, {32, 32}, 4096, 4160, 0x7000, true}};
  stats.inputs = {"a", "b:1", "^c"};
  device.nodes = {stats};
  metadata.cost_graph = {
      {"a", device.device, {}, {}, {{8, DType::int64, {}}}, 0, false},
      {"m", device.device, {{0, 1}}, {0}, {{-1, DType::float32, {}}}, 250, true}};
  metadata.step_stats.devices = {device};
  tensorflow::GraphDef graph;
  REQUIRE(parse_text("node { name: 'a' op: 'NoOp' }", graph).ok());
  metadata.partition_graphs = {to_bytes(graph)};

  auto bytes = to_bytes(metadata);
  REQUIRE(bytes.ok());
  tensorflow::RunMetadata written; // what TensorFlow's profiler counts as the node's memory
  REQUIRE(written.ParseFromString(*bytes));
  // As TensorFlow's timeline reads it.
  CHECK(written.step_stats().dev_stats(0).node_stats(0).timeline_label() ==
        "m = MatMul(a, b:1, ^c) [2,3] x [3,2]");
  const auto& memory = written.step_stats().dev_stats(0).node_stats(0).memory();
  REQUIRE(memory.size() == 1);
  CHECK(memory[0].allocator_name() == "cpu");
  CHECK(memory[0].total_bytes() == 4096);
  CHECK(memory[0].peak_bytes() == 4096);
  CHECK(memory[0].live_bytes() == 4096);
  const auto& buffer = written.step_stats()
                           .dev_stats(0)
                           .node_stats(0)
                           .output(0)
                           .tensor_description()
                           .allocation_description();
  CHECK(buffer.requested_bytes() == 4096);
  CHECK(buffer.allocated_bytes() == 4160);
  CHECK(buffer.has_single_reference());
  CHECK(buffer.ptr() == 0x7000);
  auto back = run_metadata_from_bytes(*bytes);
  REQUIRE(back.ok());
  CHECK(back->partition_graphs == metadata.partition_graphs);
  REQUIRE(back->step_stats.devices.size() == 1);
  CHECK(back->step_stats.devices[0].device == device.device);
  const NodeStats& read = back->step_stats.devices[0].nodes.at(0);
  CHECK(read.node == stats.node);
  CHECK(read.op == stats.op);
  CHECK(read.start_us == stats.start_us);
  CHECK(read.end_us == stats.end_us);
  CHECK(read.thread_id == stats.thread_id);
  CHECK(read.bytes == stats.bytes);
  CHECK(read.detail == stats.detail);
  CHECK(read.inputs == stats.inputs);
  REQUIRE(read.outputs.size() == 1);
  CHECK(read.outputs[0].slot == 1);
  CHECK(read.outputs[0].dtype == DType::float32);
  CHECK(read.outputs[0].dims == std::vector<std::int64_t>{32, 32});
  CHECK(read.outputs[0].bytes == 4096);
  CHECK(read.outputs[0].allocated == 4160);
  CHECK(read.outputs[0].address == 0x7000);
  CHECK(read.outputs[0].is_alone);
  CHECK(back->cost_graph == metadata.cost_graph);

  metadata.partition_graphs = {"\xff\xff"};
  CHECK(to_bytes(metadata).status().code() == Code::invalid_argument);
}

TEST_CASE("options: a node that began and ended within one microsecond has taken one") {
  NodeStats quick; // TensorFlow's timeline adds up what lives at a time
  quick.node = "v";
  quick.op = "VariableV2";
  quick.start_us = quick.end_us = 1'700'000'000'000'000;
  quick.bytes = 4;
  quick.outputs = {{0, DType::float32, {}, 4, 64, 0x7000, false}}; // others hold it
  RunMetadata metadata;
  metadata.step_stats.devices = {{"/job:localhost/replica:0/task:0/device:CPU:0", {quick}}};
  const auto bytes = to_bytes(metadata);
  REQUIRE(bytes.ok());
  tensorflow::RunMetadata written;
  REQUIRE(written.ParseFromString(*bytes));
  const auto& node = written.step_stats().dev_stats(0).node_stats(0);
  CHECK(node.all_end_rel_micros() == 1);
  CHECK(node.op_end_rel_nanos() == 1000);
  CHECK(node.memory(0).total_bytes() == 4);
  CHECK(node.memory(0).live_bytes() == 0);
}
