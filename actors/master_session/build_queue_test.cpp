#include "actors/master_session/build_queue.hpp"

#include <doctest/doctest.h>

#include "actors/master_session/part_answers.hpp"
#include "actors/master_session/signature_cache.hpp"

using namespace troupe;

namespace {

std::shared_ptr<ClientGraph> graph(const char* fetch) {
  auto out = std::make_shared<ClientGraph>();
  out->signature.fetches = {fetch};
  return out;
}

} // namespace

TEST_CASE("build queue: graphs are built one at a time, in order of arrival") {
  BuildQueue queue;
  auto a = graph("a"), b = graph("b");
  CHECK(queue.is_idle());
  CHECK_FALSE(queue.begin(1));
  queue.add(a);
  queue.add(b);
  auto first = queue.begin(1);
  REQUIRE(first);
  CHECK(first->graph == a);
  CHECK(first->version == 1);
  CHECK_FALSE(queue.begin(1));
  queue.end();
  auto second = queue.begin(2);
  REQUIRE(second);
  CHECK(second->graph == b);
  CHECK(second->version == 2);
  CHECK(second->ticket != first->ticket);
  queue.end();
  CHECK(queue.is_idle());
}

TEST_CASE("build queue: what a build says after its end, or twice, finds nothing") {
  BuildQueue queue;
  queue.add(graph("a"));
  queue.add(graph("b"));
  const std::uint64_t first = queue.begin(1)->ticket;
  REQUIRE(queue.find(first));
  CHECK(queue.find(first)->graph->signature.fetches[0] == "a");
  queue.end();
  CHECK_FALSE(queue.find(first));
  queue.end(); // nothing is under way: the waiting one stays
  CHECK_FALSE(queue.is_idle());
  const std::uint64_t second = queue.begin(1)->ticket;
  CHECK_FALSE(queue.find(first));
  CHECK_FALSE(queue.find(second + 1));
  CHECK(queue.find(second)->graph->signature.fetches[0] == "b");
}

TEST_CASE("part answers: a graph is registered once every task has answered, in any order") {
  PartAnswers answers({"ps", "worker"});
  CHECK(answers.registered(1));
  CHECK_FALSE(answers.is_decided());
  CHECK_FALSE(answers.registered(1)); // twice
  CHECK_FALSE(answers.is_decided());
  CHECK(answers.registered(0));
  CHECK(answers.is_decided());
  CHECK(answers.status().ok());
  CHECK(PartAnswers({}).is_decided());
}

TEST_CASE("part answers: the first failure decides, whoever is still silent") {
  PartAnswers answers({"ps", "worker", "worker"});
  answers.failed(0, invalid_argument("no kernel"));
  CHECK(answers.is_decided());
  answers.lose("worker", unavailable("gone"));
  CHECK(answers.status() == invalid_argument("no kernel"));
  CHECK_FALSE(answers.registered(2)); // its answer was under way when the task was lost
  PartAnswers others({"ps", "worker"});
  others.lose("worker", unavailable("gone"));
  CHECK(others.is_decided());
  CHECK(others.registered(0)); // comes late, and is to be let go of
  CHECK(others.status() == unavailable("gone"));
}

TEST_CASE("part answers: a lost task fails its own parts alone") {
  PartAnswers answers({"ps", "worker"});
  answers.lose("other", unavailable("gone"));
  CHECK(answers.status().ok());
  CHECK(answers.registered(0));
  answers.lose("ps", unavailable("gone")); // after its answer
  CHECK(answers.status().ok());
  answers.lose("worker", unavailable("gone"));
  CHECK(answers.is_decided());
  CHECK(answers.status() == unavailable("gone"));
}
