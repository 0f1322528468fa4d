#include "api/grpc/master_codec.hpp"

#include <random>

#include <doctest/doctest.h>

#include "graph/convert/tensor_proto.hpp"
#include "proto/master.pb.h"

using namespace troupe;
namespace codec = master_codec;

namespace {

tensorflow::TensorProto proto_of(const Tensor& tensor) {
  tensorflow::TensorProto out;
  REQUIRE(out.ParseFromString(tensor_to_bytes(tensor)));
  return out;
}

tensorflow::RunStepRequest full_request() {
  tensorflow::RunStepRequest out;
  out.set_session_handle("00c0ffee00c0ffee");
  auto* feed = out.add_feed();
  feed->set_name("x:0");
  *feed->mutable_tensor() = proto_of(Tensor::of<float>({2}, {3, 4}));
  feed = out.add_feed();
  feed->set_name("s");
  *feed->mutable_tensor() = proto_of(Tensor::scalar("text"));
  out.add_fetch("y:0");
  out.add_fetch("z");
  out.add_target("init");
  out.mutable_options()->set_timeout_in_ms(1500);
  out.set_store_errors_in_response_body(true);
  out.set_request_id(-77);
  return out;
}

Tensor tensor_of(const tensorflow::TensorProto& proto) {
  auto tensor = tensor_from_bytes(proto.SerializeAsString());
  REQUIRE_MESSAGE(tensor.ok(), tensor.status().to_string());
  return *tensor;
}

} // namespace

TEST_CASE("master codec: a step's request keeps every field") {
  auto step = codec::read_run_step(full_request().SerializeAsString(), {});
  REQUIRE_MESSAGE(step.ok(), step.status().to_string());
  CHECK(step->session_handle == "00c0ffee00c0ffee");
  REQUIRE(step->feeds.size() == 2);
  CHECK(step->feeds[0].first == "x:0");
  CHECK(step->feeds[0].second.data<float>()[1] == 4);
  CHECK(step->feeds[1].second.value<std::string>() == "text");
  CHECK(step->fetches == std::vector<std::string>{"y:0", "z"});
  CHECK(step->targets == std::vector<std::string>{"init"});
  CHECK(step->options.timeout_ms == 1500);
  CHECK(step->errors_in_body);
  CHECK(step->request_id == -77);
  auto head = codec::read_head("RunStep", full_request().SerializeAsString());
  REQUIRE(head.ok());
  CHECK(head->session_handle == "00c0ffee00c0ffee");
  CHECK(head->errors_in_body);
  CHECK_FALSE(codec::read_head("RunCallable", full_request().SerializeAsString())->errors_in_body);
}

TEST_CASE("master codec: a session's request keeps graph and options") {
  tensorflow::CreateSessionRequest request;
  request.mutable_graph_def()->add_node()->set_name("n");
  request.mutable_config()->set_isolate_session_state(true);
  request.set_target("grpc://127.0.0.1:1");
  auto read = codec::read_create_session(request.SerializeAsString());
  REQUIRE(read.ok());
  CHECK(read->graph_def == request.graph_def().SerializeAsString());
  CHECK(read->options.isolate_session_state);
  CHECK(read->target == "grpc://127.0.0.1:1");
}

TEST_CASE("master codec: a session's config is merged into the server's") {
  tensorflow::ConfigProto defaults;
  defaults.set_operation_timeout_in_ms(1000);
  defaults.set_allow_soft_placement(true);
  const std::string bytes = defaults.SerializeAsString();
  tensorflow::CreateSessionRequest request;
  auto read = codec::read_create_session(request.SerializeAsString(), bytes);
  REQUIRE(read.ok());
  CHECK(read->options.operation_timeout_ms == 1000);
  CHECK(read->options.allow_soft_placement);
  request.mutable_config()->set_operation_timeout_in_ms(7);
  read = codec::read_create_session(request.SerializeAsString(), bytes);
  REQUIRE(read.ok());
  CHECK(read->options.operation_timeout_ms == 7);
  CHECK(read->options.allow_soft_placement);
}

TEST_CASE("master codec: a callable's request keeps connections and says that devices are named") {
  tensorflow::MakeCallableRequest request;
  request.set_session_handle("h");
  request.mutable_options()->add_feed("x");
  request.mutable_options()->add_fetch("y:0");
  auto* connection = request.mutable_options()->add_tensor_connection();
  connection->set_from_tensor("a:0");
  connection->set_to_tensor("b:0");
  auto read = codec::read_make_callable(request.SerializeAsString());
  REQUIRE(read.ok());
  CHECK(read->options.feeds == std::vector<std::string>{"x"});
  CHECK(read->options.connections ==
        std::vector<std::pair<std::string, std::string>>{{"a:0", "b:0"}});
  CHECK_FALSE(read->options.names_devices);
  (*request.mutable_options()->mutable_fetch_devices())["y:0"] = "/gpu:0";
  read = codec::read_make_callable(request.SerializeAsString());
  REQUIRE(read.ok());
  CHECK(read->options.names_devices);
}

TEST_CASE("master codec: a step's answer is what a client reads, for every kind of tensor") {
  const std::vector<Tensor> tensors = {Tensor::of<float>({2, 2}, {1, 2, 3, 4}),
                                       Tensor::scalar(std::int64_t{-5}),
                                       Tensor::of<std::string>({2}, {"a", ""}),
                                       Tensor::zeros(DType::float32, {0, 3}), Tensor::scalar(true)};
  const std::vector<std::string> names = {"a:0", "b:0", "c:1", "d:0", "e:0"};
  auto bytes = codec::write_step_done(names, tensors, {});
  REQUIRE(bytes.ok());
  tensorflow::RunStepResponse answer;
  REQUIRE(answer.ParseFromString(bytes->text()));
  REQUIRE(answer.tensor_size() == 5);
  for (int i = 0; i < 5; ++i) {
    const auto& got = answer.tensor(i);
    CHECK(got.name() == names[static_cast<std::size_t>(i)]);
    CHECK(got.tensor().has_tensor_shape());
    Tensor value = tensor_of(got.tensor());
    CHECK(value.to_string() == tensors[static_cast<std::size_t>(i)].to_string());
    CHECK(value.shape() == tensors[static_cast<std::size_t>(i)].shape());
  }
  CHECK(answer.status_code() == tensorflow::error::OK);
  CHECK_FALSE(answer.has_metadata());
}

TEST_CASE("master codec: a callable's answer has values alone, a trace its metadata") {
  RunMetadata metadata;
  metadata.step_stats.devices.push_back({"/job:a/replica:0/task:0/device:CPU:0", {}});
  metadata.step_stats.devices.push_back({"/job:a/replica:0/task:0", {}}); // no device
  auto bytes = codec::write_callable_done({Tensor::scalar(2.0f)}, metadata);
  REQUIRE(bytes.ok());
  tensorflow::RunCallableResponse answer;
  REQUIRE(answer.ParseFromString(bytes->text()));
  REQUIRE(answer.fetch_size() == 1);
  CHECK(tensor_of(answer.fetch(0)).value<float>() == 2);
  CHECK(answer.metadata().step_stats().dev_stats_size() == 1);
}

TEST_CASE("master codec: a step's error names task and node as Python looks for them") {
  Status status = invalid_argument("Input to reshape is wrong")
                      .with_origin({"r", "Reshape", "/job:ps/replica:0/task:1/device:CPU:0", 3});
  CHECK(codec::client_message(status) ==
        "From /job:ps/replica:0/task:1:\nInput to reshape is wrong\n\t [[{{node r}}]]");
  CHECK(codec::client_message(invalid_argument("no such fetch")) == "no such fetch");
  const Status within = invalid_argument("Integer division by zero\n\t [[{{node floordiv}}]]")
                            .with_origin({"IteratorGetNext", "IteratorGetNext", "", 3});
  CHECK(codec::client_message(within) ==
        "Integer division by zero\n\t [[{{node floordiv}}]]\n\t [[IteratorGetNext]]");
  for (auto [node, named] :
       {std::pair("while/body/_1/cond/then/_12/check", "check"),
        std::pair("f/_3/scope/check", "scope/check"),
        std::pair("scope/_x/_/check", "scope/_x/_/check"), std::pair("scope/_7", "scope/_7")})
    CHECK(codec::client_message(internal("no").with_origin({node, "NoOp", "", 3})) ==
          str_cat("no\n\t [[{{node ", named, "}}]]"));
  tensorflow::RunStepResponse answer;
  REQUIRE(answer.ParseFromString(codec::write_step_failed(Code::aborted, "why")));
  CHECK(answer.status_code() == tensorflow::error::ABORTED);
  CHECK(answer.status_error_message() == "why");
  REQUIRE(answer.ParseFromString(codec::write_step_failed(Code::aborted, "a\xFF")));
  CHECK(answer.status_error_message() == "a\xEF\xBF\xBD");
}

TEST_CASE("master codec: bytes that are no request are refused by name, and none crashes") {
  CHECK(codec::read_run_step("\xff\xff\xff", {}).status() ==
        invalid_argument("the request is no RunStepRequest"));
  CHECK(codec::read_extend_session("\x12\x7f").status().code() == Code::invalid_argument);
  CHECK(codec::read_run_step("", {}).ok()); // every field may be absent
  const std::string good = full_request().SerializeAsString();
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (int n = static_cast<int>(random() % 4); n > 0 && !bytes.empty(); --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    (void)codec::read_run_step(bytes, {});
    (void)codec::read_run_callable(bytes, {});
    (void)codec::read_create_session(bytes);
    (void)codec::read_extend_session(bytes);
    (void)codec::read_make_callable(bytes);
    (void)codec::read_release_callable(bytes);
    (void)codec::read_reset(bytes);
  }
}

TEST_CASE("master codec: a tensor that names more elements than its bytes hold is refused") {
  tensorflow::RunStepRequest request;
  auto* feed = request.add_feed();
  feed->set_name("x:0");
  feed->mutable_tensor()->set_dtype(tensorflow::DT_FLOAT);
  feed->mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(std::int64_t{1} << 40);
  Status refused = codec::read_run_step(request.SerializeAsString(), {}).status();
  CHECK(refused.code() == Code::resource_exhausted);
  CHECK(refused.message().find("'x:0'") != std::string::npos);
}
