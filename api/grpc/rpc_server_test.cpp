#include "api/grpc/rpc_server.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "api/grpc/node_address.hpp"
#include "core/base/strings.hpp"
#include "net/transport/stop_event.hpp"
#include "tests/support/rpc/fault_proxy.hpp"
#include "tests/support/rpc/rpc_client.hpp"

using namespace troupe;
using troupe::testing::FaultProxy;
using troupe::testing::RpcClient;

namespace {

constexpr const char* service = "a.Service";

// Keeps the calls, for the test to answer.
struct Calls {
  std::mutex lock;
  std::condition_variable changed;
  std::vector<std::shared_ptr<RpcCall>> arrived;

  RpcServer::Handler handler() {
    return [this](const std::shared_ptr<RpcCall>& call) {
      std::scoped_lock guard(lock);
      arrived.push_back(call);
      changed.notify_all();
    };
  }
  std::shared_ptr<RpcCall> take() {
    std::unique_lock guard(lock);
    REQUIRE(changed.wait_for(guard, std::chrono::seconds(30), [&] { return !arrived.empty(); }));
    auto out = arrived.front();
    arrived.erase(arrived.begin());
    return out;
  }
};

std::unique_ptr<RpcServer> start(RpcServer::Handler handler, RpcServerOptions options = {}) {
  options.address = {"127.0.0.1", 0};
  options.service = service;
  auto server = RpcServer::start(options, std::move(handler));
  REQUIRE_MESSAGE(server.ok(), server.status().to_string());
  return *std::move(server);
}

RpcServer::Handler echo() {
  return [](const std::shared_ptr<RpcCall>& call) {
    call->answer(str_cat(call->method(), " ", call->request()));
  };
}

} // namespace

TEST_CASE("rpc server: a call is answered with the bytes that it is given") {
  auto server = start(echo());
  RpcClient client(service, server->port());
  CHECK(*client.call("Run", "abc") == "Run abc");
  CHECK(*client.call("Other", "") == "Other ");
  const std::string large(5 << 20, 'x');
  CHECK(*client.call("Run", large) == "Run " + large);
}

TEST_CASE("rpc server: a status travels with its code, a long text cut to what gRPC carries") {
  auto server = start([](const std::shared_ptr<RpcCall>& call) {
    call->fail(aborted(call->request() == "long" ? std::string(20'000, 'x') : "gone"));
  });
  RpcClient client(service, server->port());
  CHECK(client.call("Run", "").status() == aborted("gone"));
  Status cut = client.call("Run", "long").status();
  CHECK(cut.code() == Code::aborted);
  CHECK(cut.message().size() == 3072);
  CHECK(cut.message().ends_with("[truncated]"));
}

TEST_CASE("rpc server: only the first answer counts, and any thread may give it") {
  Calls calls;
  auto server = start(calls.handler());
  RpcClient client(service, server->port());
  auto pending = client.start("Run", "");
  auto call = calls.take();
  call->answer("first");
  call->answer("second");
  call->fail(aborted("third"));
  CHECK(*pending.wait() == "first");
}

TEST_CASE("rpc server: a call that everybody forgets is told UNAVAILABLE") {
  auto server = start([](const std::shared_ptr<RpcCall>&) {});
  RpcClient client(service, server->port());
  CHECK(client.call("Run", "").status().code() == Code::unavailable);
}

TEST_CASE("rpc server: whoever answers is told that the client has gone, once") {
  Calls calls;
  auto server = start(calls.handler());
  RpcClient client(service, server->port());
  std::mutex lock;
  std::condition_variable changed;
  int times = 0;
  auto gone = [&] {
    std::scoped_lock guard(lock);
    ++times;
    changed.notify_all();
  };
  auto pending = client.start("Run", "");
  auto call = calls.take();
  call->when_gone(gone);
  pending.cancel();
  {
    std::unique_lock guard(lock);
    REQUIRE(changed.wait_for(guard, std::chrono::seconds(30), [&] { return times > 0; }));
  }
  CHECK(pending.wait().status().code() == Code::cancelled);
  call->answer("too late");
  call->when_gone(gone); // at once, for whoever asks later
  CHECK(times == 2);
  // The client of a call that was answered is not told of.
  pending = client.start("Run", "");
  call = calls.take();
  call->when_gone(gone);
  call->answer("in time");
  CHECK(*pending.wait() == "in time");
  CHECK(times == 2);
}

TEST_CASE("rpc server: calls whose connection breaks as they come are forgotten") {
  auto server = start(echo());
  FaultProxy proxy(server->port());
  for (int n = 0; n < 300; ++n) {
    RpcClient client(service, proxy.port());
    CHECK(client.call("Run", "").ok()); // the connection stands
    std::vector<RpcClient::Pending> calls;
    for (int k = 0; k < 8; ++k)
      calls.push_back(client.start("Run", "x"));
    proxy.cut();
    for (RpcClient::Pending& call : calls)
      (void)call.wait();
  }
  RpcClient client(service, server->port());
  CHECK(*client.call("Run", "still there") == "Run still there");
  while (server->calls_waiting() > 0)
    std::this_thread::yield(); // gRPC tells us a little later
}

TEST_CASE("rpc server: a deadline reaches whoever answers") {
  Calls calls;
  auto server = start(calls.handler());
  RpcClient client(service, server->port());
  auto pending = client.start("Run", "", std::chrono::seconds(20));
  auto call = calls.take();
  CHECK(call->time_left(std::chrono::hours(1)) <= std::chrono::seconds(21));
  CHECK(call->time_left(std::chrono::milliseconds(1)) == std::chrono::milliseconds(1));
  call->answer("");
  CHECK(pending.wait().ok());
}

TEST_CASE(
    "rpc server: more calls and bytes than it takes are refused, and how many are taken is said") {
  Calls calls;
  RpcServerOptions options;
  options.max_calls = 2;
  options.max_pending = 1000;
  options.max_request = 2000;
  auto server = start(calls.handler(), options);
  RpcClient client(service, server->port());
  auto first = client.start("Run", std::string(800, 'x'));
  auto call = calls.take();
  Status bytes = client.call("Run", std::string(800, 'x')).status();
  CHECK(bytes.code() == Code::resource_exhausted);
  CHECK(bytes.message().find("takes 1000 at once") != std::string::npos);
  CHECK(client.call("Run", std::string(3000, 'x')).status().code() == Code::resource_exhausted);
  while (server->calls_waiting() > 1)
    std::this_thread::yield(); // gRPC refuses what is too large, and tells us a little later
  auto second = client.start("Run", "");
  auto other = calls.take();
  Status many = client.call("Run", "").status();
  CHECK(many.code() == Code::resource_exhausted);
  CHECK(many.message().find("at once (2)") != std::string::npos);
  call->answer("1");
  other->answer("2");
  CHECK(*first.wait() == "1");
  CHECK(*second.wait() == "2");
  auto third = client.start("Run", std::string(800, 'x')); // what was taken is given back
  calls.take()->answer("3");
  CHECK(*third.wait() == "3");
}

TEST_CASE("rpc server: another service's method is UNIMPLEMENTED") {
  auto server = start(echo());
  RpcClient client("b.Service", server->port());
  CHECK(client.call("Run", "").status().code() == Code::unimplemented);
}

TEST_CASE("rpc server: its end answers what waits, and calls outlive it") {
  Calls calls;
  auto server = start(calls.handler());
  RpcClient client(service, server->port());
  auto pending = client.start("Run", "");
  auto call = calls.take();
  server.reset();
  CHECK(pending.wait().status().code() == Code::unavailable);
  call->answer("too late");
}

TEST_CASE(
    "rpc server: who has promised it answers a call that was dropped, unless the server ends") {
  Calls calls;
  auto server = start(calls.handler());
  RpcClient client(service, server->port());
  auto promise = [](RpcCall& call) { call.fail(aborted("the session is gone")); };
  auto pending = client.start("Run", "");
  auto call = calls.take();
  call->when_dropped(promise);
  call.reset();
  CHECK(pending.wait().status() == aborted("the session is gone"));
  pending = client.start("Run", "");
  calls.take().reset();
  CHECK(pending.wait().status().code() == Code::unavailable);
  pending = client.start("Run", "");
  call = calls.take();
  call->when_dropped(promise);
  call->answer("answered");
  call.reset();
  CHECK(*pending.wait() == "answered");
  pending = client.start("Run", "");
  call = calls.take();
  call->when_dropped(promise);
  server.reset();
  call.reset();
  CHECK(pending.wait().status().code() == Code::unavailable);
}

TEST_CASE("rpc server: a port that is taken is refused with its address") {
  auto server = start(echo());
  RpcServerOptions options;
  options.address = {"127.0.0.1", server->port()};
  options.service = service;
  Status taken = RpcServer::start(options, echo()).status();
  CHECK(taken.code() == Code::unavailable);
  CHECK(taken.message().find(str_cat("127.0.0.1:", server->port())) != std::string::npos);
}

TEST_CASE("rpc server: a node's port is a constant of its server, asked for anew each time") {
  RpcServerOptions options;
  options.max_calls = 1;
  options.constants[std::string(node_address_method)] = "40123";
  Address address{"127.0.0.1", 0};
  {
    auto server = start(echo(), options);
    address.port = server->port();
    for (int i = 0; i < 3; ++i)
      CHECK(*ask_node_address(address, std::chrono::seconds(30), nullptr) ==
            Address{"127.0.0.1", 40123});
  }
  CHECK(ask_node_address(address, std::chrono::seconds(30), nullptr).status().code() ==
        Code::unavailable);
  auto stranger = start(echo());
  address.port = stranger->port();
  CHECK(ask_node_address(address, std::chrono::seconds(30), nullptr).status().code() ==
        Code::unimplemented);
}

TEST_CASE("rpc server: asking for a port ends with its budget, and when it is to stop") {
  Calls calls; // who takes calls and answers none
  RpcServerOptions options;
  options.service = "troupe.Node";
  options.address = {"127.0.0.1", 0};
  auto server = RpcServer::start(options, calls.handler());
  REQUIRE(server.ok());
  const Address address{"127.0.0.1", (*server)->port()};
  CHECK_FALSE(ask_node_address(address, std::chrono::milliseconds(1), nullptr).ok());
  StopEvent stop;
  stop.set();
  CHECK_FALSE(ask_node_address(address, std::chrono::hours(1), &stop).ok());
}
