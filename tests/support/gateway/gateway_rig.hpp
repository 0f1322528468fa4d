// A node of this process with a gateway, and what its clients say to it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "actors/node/node.hpp"
#include "api/grpc/gateway.hpp"
#include "api/ops.hpp"
#include "api/scope.hpp"
#include "api/variable.hpp"
#include "core/base/clock.hpp"
#include "graph/convert/tensor_proto.hpp"
#include "proto/master.pb.h"
#include "tests/support/rpc/rpc_client.hpp"

namespace troupe::testing {

template <class Response>
Response parsed(const Result<std::string>& bytes) {
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  Response out;
  REQUIRE(out.ParseFromString(*bytes));
  return out;
}

// Waits until `is_so`, for a minute at most.
template <class F>
bool comes_true(F is_so) {
  for (std::int64_t until = steady_micros() + 60'000'000; steady_micros() < until;) {
    if (is_so())
      return true;
    std::this_thread::yield();
  }
  return false;
}

struct GatewayRig {
  std::shared_ptr<ClusterNode> node;
  std::unique_ptr<Gateway> gateway;
  std::unique_ptr<RpcClient> client;
  std::int64_t version = 0; ///< of the graph of the session made last
  Scope root = Scope::root();
  Output x = root.named("x")
                 .add("Placeholder", std::vector<Output>{}, {{"dtype", DType::float32}})
                 .output(0);
  Output y = ops::neg(root.named("y"), x);
  GraphVariable v = variable(root, "v", DType::float32, {},
                             ops::const_(root, Tensor::scalar(0.0f), DType::float32));
  /// Adds one to `v`; its value is how often that was done.
  Output count = [this] {
    Operation added = ops::assign_add_variable_op(
        root.named("add"), v.handle(), ops::const_(root, Tensor::scalar(1.0f), DType::float32));
    return ops::read_variable_op(root.named("count").after(std::vector<Operation>{added}),
                                 v.handle(), DType::float32);
  }();

  explicit GatewayRig(GatewayOptions options = {}, NodeOptions of_node = {}) {
    of_node.compute_threads = 1;
    auto started = ClusterNode::start(of_node);
    REQUIRE_MESSAGE(started.ok(), started.status().to_string());
    node = *std::move(started);
    options.address = {"127.0.0.1", 0};
    auto opened = Gateway::start(*node, options);
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    gateway = *std::move(opened);
    client = connect();
  }
  std::unique_ptr<RpcClient> connect() const {
    return std::make_unique<RpcClient>("tensorflow.MasterService", gateway->port());
  }

  /// Makes a session of the graph as it is now.
  std::string open(const tensorflow::ConfigProto& config = {}) {
    tensorflow::CreateSessionRequest request;
    REQUIRE(request.mutable_graph_def()->ParseFromString(root.graph_def()));
    *request.mutable_config() = config;
    auto answer = parsed<tensorflow::CreateSessionResponse>(
        client->call("CreateSession", request.SerializeAsString()));
    CHECK_FALSE(answer.session_handle().empty());
    version = answer.graph_version();
    return answer.session_handle();
  }
  /// A session whose `v` is 0.
  std::string open_initialized(const tensorflow::ConfigProto& config = {}) {
    const std::string session = open(config);
    auto init = step(session, "");
    init.add_target(v.initializer().name());
    CHECK(run(init).status_code() == tensorflow::error::OK);
    return session;
  }
  static tensorflow::RunStepRequest step(const std::string& session, const std::string& fetch) {
    tensorflow::RunStepRequest out;
    out.set_session_handle(session);
    if (!fetch.empty())
      out.add_fetch(fetch);
    out.set_store_errors_in_response_body(true);
    return out;
  }
  static void feed(tensorflow::RunStepRequest& step, const std::string& name, const Tensor& value) {
    auto* named = step.add_feed();
    named->set_name(name);
    REQUIRE(named->mutable_tensor()->ParseFromString(tensor_to_bytes(value)));
  }
  tensorflow::RunStepResponse run(const tensorflow::RunStepRequest& step) const {
    return parsed<tensorflow::RunStepResponse>(client->call("RunStep", step.SerializeAsString()));
  }
  static Tensor value(const tensorflow::RunStepResponse& answer, int i = 0) {
    REQUIRE_MESSAGE(answer.status_code() == tensorflow::error::OK, answer.status_error_message());
    REQUIRE(answer.tensor_size() > i);
    auto tensor = tensor_from_bytes(answer.tensor(i).tensor().SerializeAsString());
    REQUIRE(tensor.ok());
    return *tensor;
  }
  /// How often `count` was run in the session.
  float counted(const std::string& session) const {
    return value(run(step(session, v.read().name()))).value<float>();
  }
  Status close(const std::string& session) const {
    tensorflow::CloseSessionRequest request;
    request.set_session_handle(session);
    return client->call("CloseSession", request.SerializeAsString()).status();
  }
};

} // namespace troupe::testing
