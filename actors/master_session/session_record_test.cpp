#include "actors/master_session/session_record.hpp"

#include <random>

#include <doctest/doctest.h>

#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"

using namespace troupe;

namespace {

constexpr const char* task = "/job:worker/replica:0/task:1";

SessionSettings unusual_settings() {
  SessionSettings out;
  out.device_filters = {"/job:ps", "/job:worker/task:1"};
  out.allow_soft_placement = false;
  out.log_device_placement = true;
  out.isolate_session_state = true;
  out.optimize = false;
  out.disabled_passes = {"fold"};
  out.enabled_passes = {"strip"};
  out.operation_timeout_us = 7;
  out.lease_us = 8;
  out.infer_shapes = out.place_pruned = out.bfloat16_sendrecv = out.recv_scheduling = true;
  out.static_graph = out.hides_partition_graphs = out.any_feed_shape = true;
  out.cost_model_every = 9;
  out.cost_model_after = 10;
  out.timeline_every = 11;
  return out;
}

SessionRecord full_record() {
  SessionRecord out = SessionRecord::begin(
      "00000000000000ab", unusual_settings(),
      {{task, {{std::string(task) + "/device:CPU:0", "CPU", 5, 6, "a processor"}}},
       {"/job:ps/replica:0/task:0", {}}},
      op_library().ops);
  auto graph = parse_graph(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    y = Neg(x)
  )",
                           op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  out.extend(std::make_shared<const Graph>(*std::move(graph)));
  out.assign({{"v", std::string(task) + "/device:CPU:0"}});
  out.learn({{"x"}, {"y"}, {}});
  out.learn({{}, {"y:0"}, {"y"}});
  out.add_callable({{"x"}, {"y"}, {"x"}, {{"y", "x"}}});
  const auto released = out.add_callable({{"x"}, {}, {}});
  out.release_callable(released);
  return out;
}

std::string bytes_of(const SessionRecord& record) {
  auto bytes = write_session_record(record);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  return *bytes;
}

Status refusal_of(const std::string& bytes) {
  return read_session_record(bytes, op_library().ops).status();
}

} // namespace

TEST_CASE("session record: all of it comes back from its bytes") {
  const SessionRecord record = full_record();
  auto back = read_session_record(bytes_of(record), op_library().ops);
  REQUIRE_MESSAGE(back.ok(), back.status().to_string());
  CHECK(back->handle == "00000000000000ab");
  const SessionSettings wanted = unusual_settings();
  CHECK(back->settings->device_filters == wanted.device_filters);
  CHECK(!back->settings->allow_soft_placement);
  CHECK(back->settings->log_device_placement);
  CHECK(back->settings->isolate_session_state);
  CHECK(!back->settings->optimize);
  CHECK(back->settings->disabled_passes == wanted.disabled_passes);
  CHECK(back->settings->enabled_passes == wanted.enabled_passes);
  CHECK(back->settings->infer_shapes);
  CHECK(back->settings->place_pruned);
  CHECK(back->settings->bfloat16_sendrecv);
  CHECK(back->settings->recv_scheduling);
  CHECK(back->settings->static_graph);
  CHECK(back->settings->hides_partition_graphs);
  CHECK(back->settings->any_feed_shape);
  CHECK(back->settings->cost_model_every == 9);
  CHECK(back->settings->cost_model_after == 10);
  CHECK(back->settings->timeline_every == 11);
  CHECK(back->settings->operation_timeout_us == 7);
  CHECK(back->settings->lease_us == 8);
  REQUIRE(back->tasks->size() == 2);
  CHECK((*back->tasks)[0].task == task);
  CHECK((*back->tasks)[0].devices == (*record.tasks)[0].devices);
  CHECK((*back->tasks)[1].devices.empty());
  CHECK(to_text(*back->graph) == to_text(*record.graph));
  CHECK(back->version == 1);
  CHECK(*back->assigned == *record.assigned);
  REQUIRE(back->signatures.size() == 2);
  CHECK(*back->signatures[0] == *record.signatures[0]);
  CHECK(*back->signatures[1] == *record.signatures[1]);
  REQUIRE(back->callables.size() == 1);
  CHECK(*back->callables.at(1) == *record.callables.at(1));
  CHECK(back->next_callable == 3); // a handle that was released is not given again
  CHECK(bytes_of(*back) == bytes_of(record));
}

TEST_CASE("session record: a session without nodes comes back without nodes") {
  auto back = read_session_record(
      bytes_of(SessionRecord::begin("a", {}, {{task, {}}}, op_library().ops)), op_library().ops);
  REQUIRE_MESSAGE(back.ok(), back.status().to_string());
  CHECK(back->graph->num_nodes() == 0);
  CHECK(back->version == 0);
  CHECK(back->settings->optimize);
}

TEST_CASE("session record: bytes that are none are refused with a sentence") {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string(1000, '\xff')}) {
    Status status = refusal_of(bytes);
    CHECK(status.code() == Code::invalid_argument);
    CHECK(!status.message().empty());
  }
  SessionRecord record = full_record();
  record.handle.clear();
  CHECK(refusal_of(bytes_of(record)).message().ends_with("it has no session handle"));
  record = full_record();
  record.next_callable = 1;
  CHECK(refusal_of(bytes_of(record)).message().find("its callable 1 is not below 1") !=
        std::string::npos);
  record = full_record();
  record.tasks =
      std::make_shared<const std::vector<RecordedTask>>(std::vector<RecordedTask>{{"no task", {}}});
  CHECK(refusal_of(bytes_of(record)).code() == Code::invalid_argument);
}

TEST_CASE(
    "session record: bytes that were cut off or changed are read or refused, and nothing else") {
  const std::string whole = bytes_of(full_record());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    auto record = read_session_record(whole.substr(0, length), op_library().ops);
    CHECK((record.ok() || !record.status().message().empty()));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = whole;
    for (int changes = 0; changes < 3; ++changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    auto record = read_session_record(bytes, op_library().ops);
    if (record.ok())
      CHECK(write_session_record(*record).ok());
  }
}

TEST_CASE("session record: a copy is not changed by what is done to the original") {
  SessionRecord record = full_record();
  const SessionRecord copy = record;
  CHECK(!record.assign({{"v", std::string(task) + "/device:CPU:0"}}));
  CHECK(record.assign({{"w", std::string(task) + "/device:CPU:0"}}));
  record.extend(std::make_shared<const Graph>(op_library().ops));
  CHECK(copy.assigned->size() == 1);
  CHECK(record.assigned->size() == 2);
  CHECK(copy.version == 1);
  CHECK(copy.graph->num_nodes() == 2);
}

TEST_CASE("session record: of many signatures the latest are kept") {
  SessionRecord record = full_record();
  CHECK(!record.learn({{"x"}, {"y"}, {}}));
  for (std::size_t i = 0; i < SessionRecord::max_signatures; ++i)
    record.learn({{}, {std::to_string(i)}, {}});
  CHECK(record.signatures.size() == SessionRecord::max_signatures);
  CHECK(record.signatures.front()->fetches == std::vector<std::string>{"0"});
}
