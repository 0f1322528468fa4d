#include "actors/master_session/waiting_runs.hpp"

#include <string>

#include <doctest/doctest.h>

#include "actors/master_session/signature_cache.hpp"

using namespace troupe;

namespace {

struct Run {
  std::string name;
  std::int64_t due_us = 0;
  std::uint64_t request_id = 0;
};
using Runs = WaitingRuns<Run>;

std::shared_ptr<ClientGraph> graph(const char* fetch) {
  auto out = std::make_shared<ClientGraph>();
  out->signature.fetches = {fetch};
  return out;
}

std::string names(const std::vector<Run>& runs) {
  std::string out;
  for (const Run& run : runs)
    out += run.name;
  return out;
}

} // namespace

TEST_CASE("waiting runs: the first that waits for a graph has it built, the others get it too") {
  Runs runs;
  auto a = graph("a"), b = graph("b");
  CHECK_FALSE(runs.is_some_graph_wanted());
  CHECK(runs.wait_for(a, {"1"}));
  CHECK_FALSE(runs.wait_for(a, {"2"}));
  CHECK(runs.wait_for(b, {"3"}));
  CHECK(names(runs.graph_is_ready(a)) == "12");
  CHECK(runs.is_some_graph_wanted());
  CHECK(names(runs.graph_is_ready(a)).empty());
  CHECK(names(runs.graph_is_ready(b)) == "3");
  CHECK_FALSE(runs.is_some_graph_wanted());
  CHECK(runs.wait_for(a, {"4"})); // it could not be built; the next one tries again
}

TEST_CASE("waiting runs: feeds arrive in any order, once, and not for a run that was taken") {
  Runs runs;
  const auto one = runs.expect_feeds({"1"}), two = runs.expect_feeds({"2", 0, 22});
  REQUIRE(runs.feeds_arrived(two));
  CHECK_FALSE(runs.feeds_arrived(two));
  CHECK(runs.feeds_arrived(one)->name == "1");
  const auto three = runs.expect_feeds({"3", 0, 33});
  REQUIRE(runs.take(33));
  CHECK_FALSE(runs.feeds_arrived(three));
  CHECK_FALSE(runs.feeds_arrived(77));
}

TEST_CASE("waiting runs: a request is found wherever it waits, and told for what") {
  Runs runs;
  auto a = graph("a");
  runs.expect_feeds({"1", 0, 11});
  runs.wait_for(a, {"2", 0, 22});
  runs.wait_for(a, {"3", 0, 33});
  CHECK_FALSE(runs.take(44));
  auto second = runs.take(22);
  REQUIRE(second);
  CHECK(second->run.name == "2");
  CHECK(second->what == Runs::for_graph);
  auto first = runs.take(11);
  REQUIRE(first);
  CHECK(first->what == Runs::for_feeds);
  CHECK_FALSE(runs.take(11));
  CHECK(runs.is_wanted(a));
  CHECK(runs.take(33)->run.name == "3");
  CHECK_FALSE(runs.is_wanted(a)); // its build goes on
  CHECK_FALSE(runs.is_some_graph_wanted());
  CHECK_FALSE(runs.wait_for(a, {"4"}));
  CHECK(runs.is_wanted(a));
}

TEST_CASE("waiting runs: those whose deadline has passed are taken, the others tell the next one") {
  Runs runs;
  auto a = graph("a");
  CHECK(runs.next_due() == 0);
  runs.expect_feeds({"1", 30});
  runs.expect_feeds({"2"});
  runs.wait_for(a, {"3", 10});
  runs.wait_for(a, {"4", 20});
  CHECK(runs.next_due() == 10);
  CHECK(runs.take_late(9).empty());
  auto late = runs.take_late(20);
  REQUIRE(late.size() == 2);
  CHECK(late[0].run.name == "3");
  CHECK(late[1].run.name == "4");
  CHECK(runs.next_due() == 30);
  late = runs.take_late(1000);
  REQUIRE(late.size() == 1);
  CHECK(late[0].what == Runs::for_feeds);
  CHECK(runs.next_due() == 0); // "2" waits without one
}

TEST_CASE("waiting runs: those of some graphs, and all") {
  Runs runs;
  auto a = graph("a"), b = graph("b");
  runs.expect_feeds({"1"});
  runs.wait_for(a, {"2"});
  runs.wait_for(b, {"3"});
  std::size_t waiting = 0;
  runs.for_each_graph([&](const ClientGraph&, std::size_t count) { waiting += count; });
  CHECK(waiting == 2);
  CHECK(names(runs.take_if(
            [](const ClientGraph& graph) { return graph.signature.fetches[0] == "b"; })) == "3");
  CHECK(names(runs.take_all()) == "12");
  CHECK(names(runs.take_all()).empty());
  CHECK_FALSE(runs.is_some_graph_wanted());
  CHECK_FALSE(runs.wait_for(a, {"4"})); // their builds go on
}
