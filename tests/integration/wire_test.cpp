// What a peer may send, to every actor that one can reach, past the filter at the port: nothing of
// it ends an actor that serves others.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/io/basp_broker.hpp>

#include "api/scope.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/sim/sim_cluster.hpp"

namespace troupe::wire_test {

using namespace troupe::testing;

namespace {

constexpr const char* ps = "/job:ps/replica:0/task:0";
constexpr const char* worker = "/job:worker/replica:0/task:0";
/// Longer than any lease, and than whatever waits for somebody to come for it.
constexpr std::chrono::minutes long_enough{3};

enum class Kind { request, answer, plain };
constexpr Kind kinds[] = {Kind::request, Kind::answer, Kind::plain};

caf::message_id number_of(Kind kind, std::uint64_t number) {
  switch (kind) {
  case Kind::request:
    return caf::make_message_id(number);
  case Kind::answer:
    return caf::message_id(number | caf::message_id::response_flag_mask |
                           caf::message_id::default_async_value);
  default:
    return caf::make_message_id();
  }
}

struct Fixture {
  SimCluster cluster{{ps, worker}};
  Scope root = Scope::root();
  SessionActor session;
  std::vector<std::pair<std::string, std::int64_t>> before; ///< the session: counters

  Fixture() {
    Output x = root.named("x")
                   .add("Placeholder", std::vector<Output>{}, {{"dtype", DType::float32}})
                   .output(0);
    Output doubled = root.on(ps).named("doubled").add("AddV2", std::vector<Output>{x, x}).output(0);
    root.on(worker).named("y").add("Neg", std::vector<Output>{doubled});
    REQUIRE(root.status().ok());
    before = counter_snapshot();
    session = cluster.open_session(worker, root.graph_def());
    compute();
  }

  // A step in which a value crosses from one task to the other.
  void compute() {
    RunStep step;
    step.feeds.emplace_back("x", WireTensor(Tensor::scalar(2.0f)));
    step.fetches = {"y"};
    auto result = cluster.ask<RunStepResult>(cluster.client(), session, std::move(step));
    REQUIRE_MESSAGE(result.ok(), result.status().to_string());
    CHECK(result->tensors.at(0).tensor.value<float>() == -4);
  }

  std::map<std::string, caf::strong_actor_ptr> actors_of(const char* task) {
    SimNode& node = cluster.node(task);
    auto tree = cluster.ask<ActorTree>(node, node.handles.guardian, GetActors{});
    REQUIRE(tree.ok());
    std::map<std::string, caf::strong_actor_ptr> out;
    for (const ActorInfo& info : tree->actors)
      out[info.path] =
          info.path == "guardian" ? untyped(node.handles.guardian) : untyped(info.actor);
    return out;
  }

  // As it stands in a message that comes over a port: with the content of a new one.
  caf::message message_of(SimNode& from, const std::string& type,
                          const caf::type_erased_value* content) {
    std::vector<char> bytes;
    caf::binary_serializer sink{from.system, bytes};
    std::uint16_t no_number = 0;
    std::string types = "@<>+" + type;
    REQUIRE(!sink(no_number, types));
    REQUIRE(!content->save(sink));
    caf::message out;
    caf::binary_deserializer source{from.system, bytes};
    REQUIRE(!source(out));
    return out; // empty, as at a port, when there is no reading what was written: an empty chunk
  }

  // One of every type that a port lets through, and what CAF has of its own.
  std::map<std::string, caf::message> messages(SimNode& from) {
    std::map<std::string, caf::message> out;
    SimConfig config;
    for (const auto& [name, make] : config.value_factories_by_name)
      if (name.starts_with("troupe::"))
        out[name] = message_of(from, name, make().get());
    out["nothing"] = caf::message{};
    out["ok"] = caf::make_message(caf::ok_atom::value);
    out["tick"] = caf::make_message(caf::tick_atom::value);
    out["an error"] = caf::make_message(to_error(internal("a stray error")));
    out["an error of CAF's"] =
        caf::make_message(caf::make_error(caf::sec::unexpected_message, caf::make_message(1)));
    out["an error that is none"] = caf::make_message(caf::error{});
    return out;
  }

  // Sends everything but `left_out` from `from` to all of them, in each way. A proxy is made for
  // each, as if its handle had travelled.
  void storm(SimNode& from, SimNode& to, const std::map<std::string, caf::strong_actor_ptr>& actors,
             const std::vector<std::string>& left_out) {
    auto broker = from.system.middleman().named_broker<caf::io::basp_broker>(caf::atom("BASP"));
    auto& proxies =
        static_cast<caf::io::basp_broker*>(caf::actor_cast<caf::abstract_actor*>(broker))
            ->proxies();
    caf::actor sender = from.system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      guard_actor(self);
      return {[](caf::unit_t) {}};
    });
    auto source = caf::actor_cast<caf::strong_actor_ptr>(sender);
    std::uint64_t number = 1000;
    for (const auto& [path, actor] : actors) {
      REQUIRE_MESSAGE(actor, path);
      to.system.registry().put(actor->id(), actor);
      proxies.set_last_hop(
          nullptr); // CAF keeps where the last message came from, of whichever node
      auto proxy = proxies.get_or_put(to.system.node(), actor->id());
      for (const auto& [type, message] : messages(from))
        if (std::find(left_out.begin(), left_out.end(), type) == left_out.end())
          for (Kind kind : kinds)
            proxy->enqueue(source, number_of(kind, ++number), message, nullptr);
      cluster.run();
    }
    caf::anon_send_exit(sender, caf::exit_reason::kill);
    cluster.run();
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "wire: whatever a peer sends to whichever actor, all live and compute") {
  // These ask for an end, and get it: of the node, of every session, of the one that they are sent
  // to, of all that a master session did there that has ended.
  const std::vector<std::string> orders{"troupe::ShutDown", "troupe::ResetContainers",
                                        "troupe::CloseSession", "troupe::ResumeSession"};
  for (const char* task : {ps, worker}) {
    auto actors = actors_of(task);
    REQUIRE(actors.size() >= 6);
    std::int64_t strays = counter("stray_messages").value();
    storm(cluster.client(), cluster.node(task), actors, orders);
    storm(cluster.node(task == ps ? worker : ps), cluster.node(task), actors, orders);
    CHECK(counter("stray_messages").value() > strays);
    auto after = actors_of(task);
    for (const auto& [path, actor] : actors)
      CHECK_MESSAGE(after.count(path), path);
    compute();
  }
  // A client's own actors hear from peers, too.
  SimNode& client = cluster.client();
  storm(cluster.node(ps), client,
        {{"transport", untyped(client.handles.transport)}, {"session", untyped(session)}}, orders);
  compute();
  cluster.advance(long_enough);
  compute();
  // What was registered with the session goes with it.
  REQUIRE(cluster.ask<caf::ok_atom>(cluster.client(), session, CloseSession{}).ok());
  cluster.advance(long_enough);
  for (const auto& [name, value] : before)
    if (name == "worker_sessions" || name == "master_sessions" || name == "graphs" ||
        name == "steps" || name == "transport_offers" || name == "transport_pulls" ||
        name == "rendezvous" || name == "dials")
      CHECK_MESSAGE(counter(name).value() == value, name);
}

TEST_CASE_FIXTURE(Fixture, "wire: orders to end reach only what they are for") {
  for (const char* task : {ps, worker})
    storm(cluster.client(), cluster.node(task), actors_of(task), {"troupe::ShutDown"});
  for (const char* task : {ps, worker}) {
    auto actors = actors_of(task);
    for (const char* path : {"guardian", "guardian/master", "guardian/membership",
                             "guardian/transport", "guardian/worker"})
      CHECK_MESSAGE(actors.count(path), path);
  }
  cluster.advance(long_enough);
  session = cluster.open_session(worker, root.graph_def());
  compute();
}

TEST_CASE_FIXTURE(Fixture, "wire: a node tells others of its actors, and gives none of them away") {
  SimNode& client = cluster.client();
  auto guardian =
      typed<GuardianActor>(client.guardians.at("sim:" + std::to_string(cluster.node(ps).port)));
  auto tree = cluster.ask<ActorTree>(client, guardian, GetActors{});
  REQUIRE(tree.ok());
  CHECK(tree->actors.size() >= 6);
  for (const ActorInfo& info : tree->actors)
    CHECK_MESSAGE(!info.actor, info.path);
}

} // namespace troupe::wire_test
