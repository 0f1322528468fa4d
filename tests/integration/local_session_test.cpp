// What a local session leaves behind on its node, and how its steps end when the actors do.
#include <algorithm>
#include <thread>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <doctest/doctest.h>

#include "actors/family/ask.hpp"
#include "actors/node/handles.hpp"
#include "actors/node/node.hpp"
#include "api/ops.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "net/transport/step_clock.hpp"
#include "tests/support/endless_graph.hpp"

namespace troupe::local_session_test {

TEST_CASE("local session: steps that were answered leave no budget on the clock") {
  auto session = Session::open("local");
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  ops::add_v2(root.named("y"), x, 1.0f);
  REQUIRE(session->extend(root).ok());
  auto& clock = dynamic_cast<StepClock&>(session->local_node()->system().clock());
  auto run = [&] { return session->run({{"x", Tensor::scalar(1.0f)}}, {"y"}).ok(); };
  REQUIRE(run());
  std::size_t before = clock.num_waiting();
  for (int i = 0; i < 200; ++i)
    REQUIRE(run());
  CHECK(clock.num_waiting() < before + 20);
}

namespace {

// Asks a local node's guardian, within a minute.
template <class Answer, class Message>
Result<Answer> ask_guardian(ClusterNode& node, Message message) {
  caf::scoped_actor self{node.system()};
  Result<Answer> out = Answer{};
  self->request(node.handles().guardian, std::chrono::minutes(1), std::move(message))
      .receive([&](Answer& answer) { out = std::move(answer); },
               [&](caf::error& error) { out = to_status(error, "the guardian"); });
  return out;
}

// Each attempt is a conversation of several actors; what is waited for takes some of them.
constexpr int attempts = 100'000;

// As soon as it is there; the tree is asked of its actors one after another. Empty if it never is.
std::string path_of(ClusterNode& node, const std::string& part) {
  for (int i = 0; i < attempts; ++i) {
    auto tree = ask_guardian<ActorTree>(node, GetActors{});
    if (!tree.ok())
      break;
    for (const ActorInfo& info : tree->actors)
      if (info.path.find(part) != std::string::npos)
        return info.path;
  }
  return {};
}

} // namespace

TEST_CASE("local session: a step with a deadline leaves nothing that waits for it") {
  auto session = Session::open("local");
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  ops::add_v2(root.named("y"), x, 1.0f);
  REQUIRE(session->extend(root).ok());
  RunOptions an_hour;
  an_hour.timeout_ms = 3'600'000;
  ClusterNode& node = *session->local_node();
  auto& clock = dynamic_cast<StepClock&>(node.system().clock());
  auto run = [&] { return session->run({{"x", Tensor::scalar(1.0f)}}, {"y"}, {}, an_hour).ok(); };
  REQUIRE(run());
  std::size_t before = clock.num_waiting();
  for (int i = 0; i < 200; ++i)
    REQUIRE(run());
  CHECK(clock.num_waiting() < before + 20);
  // A timer of its own would keep it for the hour, so it could not take the next step.
  auto tree = ask_guardian<ActorTree>(node, GetActors{});
  REQUIRE_MESSAGE(tree.ok(), tree.status().to_string());
  CHECK(std::count_if(tree->actors.begin(), tree->actors.end(), [](const ActorInfo& info) {
          return info.path.find("/resting-step.") != std::string::npos;
        }) == 1);
}

TEST_CASE("local session: a step ends with ABORTED when an actor that runs it is killed") {
  const std::string ended = "the session on /job:localhost/replica:0/task:0 ended while step";
  // Of a worker session the master session may hear first.
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"/step-", {"was ended from outside"}},
      {"/executor-", {"was ended before the step was"}},
      {"/graph-manager", {ended}},
      {"worker/session-",
       {ended, "part on task /job:localhost/replica:0/task:0 has ended (it was killed)"}},
      {"master/session-", {"The session goes on"}}};
  for (const auto& [victim, sentences] : cases) {
    CAPTURE(victim);
    auto session = Session::open("local");
    REQUIRE_MESSAGE(session.ok(), session.status().to_string());
    auto graph = parse_graph(testing::endless_graph, op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    auto bytes = write_graph_bytes(*graph);
    REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
    REQUIRE(session->extend_graph_def(*bytes).ok());
    Status status;
    RunOptions a_minute; // if nobody is killed
    a_minute.timeout_ms = 60'000;
    std::thread caller([&] { status = session->run({}, {"end"}, {}, a_minute).status(); });
    ClusterNode& node = *session->local_node();
    bool runs = !path_of(node, "/executor-").empty();
    auto killed = ask_guardian<caf::ok_atom>(node, KillActor{path_of(node, victim)});
    caller.join();
    CHECK(runs);
    CHECK_MESSAGE(killed.ok(), killed.status().to_string());
    CHECK_MESSAGE(status.code() == Code::aborted, status.to_string());
    const bool is_said =
        std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
          return status.to_string().find(sentence) != std::string::npos;
        });
    CHECK_MESSAGE(is_said, status.to_string());
  }
}

TEST_CASE("local session: a deadline ends one kernel that takes long, wherever it runs") {
  auto session = Session::open("local");
  REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  Scope root = Scope::root();
  Output shape = ops::placeholder(root.named("shape"), DType::int32);
  Output seed = root.constant(Tensor::vector<std::int64_t>({1, 2}));
  ops::stateless_truncated_normal(root.named("large"), shape, seed,
                                  ops::StatelessTruncatedNormalAttrs{.dtype = DType::float16});
  REQUIRE(session->extend(root).ok());
  auto run = [&](std::int32_t elements, const RunOptions& options) {
    return session->run({{"shape", Tensor::vector<std::int32_t>({elements})}}, {"large"}, {},
                        options);
  };
  // Minutes of one core: who waited for it would be told by the test's own time.
  constexpr std::int32_t many = 2'000'000'000;
  RunOptions soon, later;
  soon.timeout_ms = 200;
  later.timeout_ms = 60'000;
  // The actors run the first step of a signature, its caller begins the others.
  for (const char* who : {"actors", "caller"}) {
    CAPTURE(who);
    Status status = run(many, soon).status();
    CHECK_MESSAGE(status.code() == Code::deadline_exceeded, status.to_string());
    CHECK_MESSAGE(status.message().find("took longer than its deadline of 200 ms") !=
                      std::string::npos,
                  status.to_string());
    auto small = run(10, later); // on the same threads
    CHECK_MESSAGE(small.ok(), small.status().to_string());
  }
  // Nothing of the large values is left, or the second would not have had room: nor is a thread.
  auto tree = ask_guardian<ActorTree>(*session->local_node(), GetActors{});
  REQUIRE_MESSAGE(tree.ok(), tree.status().to_string());
  CHECK(std::none_of(tree->actors.begin(), tree->actors.end(), [](const ActorInfo& info) {
    return info.path.find("/executor-") != std::string::npos;
  }));
}

namespace {

struct Counting {
  Result<Session> session = Session::open("local");
  Scope root = Scope::root();
  GraphVariable v = variable(root.named("v"), "v", DType::float32, {}, 1.0f);
  Output by = ops::placeholder(root.named("by"), DType::float32);
  Operation add = root.named("add").add("AssignAddVariableOp", std::vector<Output>{v.handle(), by});

  Counting() {
    REQUIRE_MESSAGE(session.ok(), session.status().to_string());
    REQUIRE_MESSAGE(session->extend(root).ok(), root.status().to_string());
    REQUIRE(session->run({}, {}, {v.initializer().name()}).ok());
  }
  ClusterNode& node() { return *session->local_node(); }
  Status add_one() {
    return session->run({{"by", Tensor::scalar(1.0f)}}, {}, {add.name()}).status();
  }
  float value() {
    auto result = session->run({}, {v.read().name()});
    REQUIRE_MESSAGE(result.ok(), result.status().to_string());
    return result->at(0).value<float>();
  }
};

} // namespace

TEST_CASE("local session: a session whose master session was killed goes on") {
  Counting counting;
  auto callable = counting.session->make_callable({"by"}, {}, {counting.add.name()});
  REQUIRE(callable.ok());
  float acknowledged = 0, lost = 0;
  for (int life = 0; life < 3; ++life) {
    for (int i = 0; i < 5; ++i)
      REQUIRE(counting.add_one().ok()); // the later ones on this thread
    acknowledged += 5;
    REQUIRE(ask_guardian<caf::ok_atom>(counting.node(),
                                       KillActor{path_of(counting.node(), "master/session-")})
                .ok());
    for (int i = 0; i < 20; ++i) { // before, at, and after its end
      Status status = i % 2 ? counting.add_one() : (*callable)({Tensor::scalar(1.0f)}).status();
      if (status.ok())
        ++acknowledged;
      else
        ++lost;
      CHECK_MESSAGE(
          (status.ok() || (status.code() == Code::aborted &&
                           status.message().find("The session goes on") != std::string::npos)),
          status.to_string());
    }
    // Until it has ended, which steps on this thread need not notice: what is asked of it is
    // answered by another one.
    auto devices = counting.session->devices();
    for (int i = 0; i < attempts && !devices.ok(); ++i)
      devices = counting.session->devices();
    REQUIRE(devices.ok());
    const float value = counting.value();
    CHECK(value >= 1 + acknowledged);
    CHECK(value <= 1 + acknowledged + lost);
    CHECK(lost <= 3 * (life + 1));
  }
  CHECK(counting.session->extend(counting.root).ok());
  CHECK(!counting.session->steps()->empty());
}

TEST_CASE("local session: a session is given up whose master session is killed again and again") {
  Counting counting;
  Status status;
  for (int life = 0; life < 4; ++life) {
    auto path = path_of(counting.node(), "master/session-");
    REQUIRE(!path.empty());
    REQUIRE(ask_guardian<caf::ok_atom>(counting.node(), KillActor{path}).ok());
    // Until it has ended: what is asked of it after that is answered by another one.
    auto sessions = counting.session->devices();
    for (int i = 0; i < attempts && life < 3 && !sessions.ok(); ++i)
      sessions = counting.session->devices();
  }
  for (int i = 0; status.ok() && i < attempts; ++i)
    status = counting.add_one();
  for (int i = 0; status.message().find("The session goes on") != std::string::npos && i < attempts;
       ++i)
    status = counting.add_one();
  CHECK_MESSAGE(status.code() == Code::aborted, status.to_string());
  CHECK_MESSAGE(status.message().find("made again 3 times within a minute") != std::string::npos,
                status.to_string());
}

} // namespace troupe::local_session_test
