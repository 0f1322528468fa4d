#include "api/grpc/direct_calls.hpp"

#include <doctest/doctest.h>

#include "actors/node/node.hpp"

using namespace troupe;

namespace {

// A call that nobody waits for.
class Unheard final : public RpcCall {
public:
  std::string_view method() const override { return "RunStep"; }
  std::string& request() override { return bytes_; }
  void drop_request() override { bytes_.clear(); }
  std::chrono::microseconds time_left(std::chrono::microseconds most) const override {
    return most;
  }
  void answer(AnswerBytes) override { ++answers; }
  void fail(const Status&) override { ++answers; }
  void when_gone(std::function<void()>) override {}
  void when_dropped(std::function<void(RpcCall&)>) override {}
  int answers = 0;

private:
  std::string bytes_;
};

struct Fixture {
  std::shared_ptr<ClusterNode> node = [] {
    NodeOptions options;
    options.compute_threads = 1;
    auto started = ClusterNode::start(options);
    REQUIRE(started.ok());
    return *std::move(started);
  }();
  std::shared_ptr<DirectSteps> steps = std::make_shared<DirectSteps>(node->shared_services());
  DirectCalls calls{steps, 1000};
  DirectCalls::Seats seats{2};

  // What the actors are told of the call; nothing if it is not for them.
  std::vector<DirectCalls::ForActors> take(master_codec::RunStep step) {
    std::vector<DirectCalls::ForActors> out;
    calls.take(seats, std::make_shared<Unheard>(), std::move(step),
               [&](DirectCalls::ForActors sent) { out.push_back(std::move(sent)); });
    return out;
  }
  static master_codec::RunStep step(std::int64_t request_id) {
    master_codec::RunStep out;
    out.fetches = {"x"};
    out.request_id = request_id;
    return out;
  }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "direct calls: a new signature is the actors', who are asked for it") {
  auto sent = take(step(7));
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].note.wants_direct);
  CHECK(sent[0].note.is_booked);
  CHECK_FALSE(sent[0].note.begun);
  CHECK(sent[0].step.fetches == std::vector<std::string>{"x"}); // as the client named it
  sent = take(step(7));                                         // theirs to join
  REQUIRE(sent.size() == 1);
  CHECK_FALSE(sent[0].note.is_booked);
  calls.ended(7);
  CHECK(take(step(7)).size() == 1);
  CHECK(calls.num_calls() == 3);
  CHECK(seats.free == 2);
}

TEST_CASE_FIXTURE(Fixture, "direct calls: without a free seat a step is the actors'") {
  seats.free = 0;
  auto sent = take(step(7));
  REQUIRE(sent.size() == 1);
  CHECK_FALSE(sent[0].note.wants_direct); // it was not looked up
  CHECK(sent[0].note.is_booked);
  CHECK(seats.free == 0);
}

TEST_CASE_FIXTURE(Fixture, "direct calls: what is recorded, or comes in pieces, is the actors'") {
  auto traced = step(7);
  traced.options.trace_level = TraceLevel::full;
  auto piece = step(8);
  piece.partial_run_handle = "handle";
  for (const auto& one : {traced, piece}) {
    auto sent = take(one);
    REQUIRE(sent.size() == 1);
    CHECK_FALSE(sent[0].note.wants_direct);
    CHECK_FALSE(sent[0].note.is_booked);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "direct calls: a step belongs to the master session that it was begun for") {
  auto sent = take(step(7));
  REQUIRE(sent.size() == 1);
  CHECK(calls.is_current(sent[0].note));
  steps->reopen(); // another one goes on
  CHECK_FALSE(calls.is_current(sent[0].note));
}
