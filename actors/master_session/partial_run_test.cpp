#include "actors/master_session/partial_run.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {

using Run = PartialRun<int>;

Tensor value(float x) {
  return Tensor::vector<float>({x});
}

// "1: 3 4" for call 1 with the values 3 and 4.
std::string told(Run& run) {
  std::string out;
  for (auto& [call, values] : run.take_answers()) {
    str_append(out, out.empty() ? "" : "; ", call, ":");
    for (const Tensor& tensor : values)
      str_append(out, " ", tensor.data<float>()[0]);
  }
  return out;
}

} // namespace

TEST_CASE("partial run: a call is answered as soon as what it fetches is there") {
  Run run({"a:0", "b:0"}, {"x:0", "y:0", "z:0"});
  REQUIRE(run.check({"a:0"}, {"y:0", "x:0"}).ok());
  run.begin({"a:0"}, {"y:0", "x:0"}, 1);
  CHECK(run.is_waited_for());
  CHECK(told(run).empty());
  run.fetched(0, value(3));
  CHECK(told(run).empty());
  run.fetched(1, value(4));
  CHECK(told(run) == "1: 4 3"); // in the order of its fetches
  CHECK_FALSE(run.is_waited_for());
}

TEST_CASE("partial run: what was there before it is asked for is kept") {
  Run run({"a:0"}, {"x:0", "y:0"});
  run.begin({}, {"x:0"}, 1);
  run.fetched(1, value(2));
  run.fetched(0, value(1));
  CHECK(told(run) == "1: 1");
  run.begin({}, {"y:0"}, 2);
  CHECK(told(run) == "2: 2");
  CHECK_FALSE(run.is_complete()); // "a" is not fed
}

TEST_CASE("partial run: the last call waits for the end") {
  Run run({"a:0"}, {"x:0"});
  run.begin({}, {"x:0"}, 1);
  run.fetched(0, value(5));
  CHECK(told(run) == "1: 5");
  run.begin({"a:0"}, {}, 2);
  CHECK(run.is_complete());
  CHECK(told(run).empty());
  run.ended();
  CHECK(told(run) == "2:");
}

TEST_CASE("partial run: a step may end before all is fed; what nothing reads may come then") {
  Run run({"a:0", "unread:0"}, {"x:0"});
  run.begin({"a:0"}, {"x:0"}, 1);
  run.fetched(0, value(5));
  run.ended();
  CHECK(told(run) == "1: 5");
  CHECK(run.has_ended());
  CHECK_FALSE(run.is_complete());
  REQUIRE(run.check({"unread:0"}, {}).ok());
  run.begin({"unread:0"}, {}, 2);
  CHECK(run.is_complete());
  CHECK(told(run) == "2:");
}

TEST_CASE("partial run: names are checked in TensorFlow's words, and nothing is taken then") {
  Run run({"a:0", "b:0"}, {"x:0", "y:0"});
  CHECK(run.check({"c:0"}, {"x:0"}) ==
        invalid_argument("The feed c:0 was not specified in partial_run_setup."));
  CHECK(run.check({"a:0"}, {"z:0"}) ==
        invalid_argument("The fetch z:0 was not specified in partial_run_setup."));
  CHECK(run.check({"a:0", "a:0"}, {}) == invalid_argument("The feed a:0 has already been fed."));
  run.begin({"a:0"}, {"x:0"}, 1);
  CHECK(run.check({"a:0"}, {}) == invalid_argument("The feed a:0 has already been fed."));
  CHECK(run.check({}, {"x:0"}) == invalid_argument("The fetch x:0 has already been fetched."));
  CHECK(run.check({"b:0"}, {"y:0"}).ok());
  const auto [fed, unfed] = run.fed_with({"b:0"});
  CHECK(fed == Run::Names{"a:0", "b:0"});
  CHECK(unfed.empty());
  CHECK(run.fed_with({}).second == Run::Names{"b:0"});
}

TEST_CASE("partial run: a failure is told to all who wait, or to the next") {
  Run run({"a:0"}, {"x:0", "y:0"});
  run.begin({}, {"x:0"}, 1);
  run.begin({}, {"y:0"}, 2);
  REQUIRE(run.find_call([](int call) { return call == 2; }));
  CHECK(run.fail(aborted("first")) == std::vector<int>{1, 2});
  CHECK(run.failure().ok());
  CHECK(run.fail(aborted("second")).empty());
  CHECK(run.failure() == aborted("second"));
}

TEST_CASE("partial run: values of no fetch, and those that come twice, are dropped") {
  Run run({}, {"x:0"});
  run.fetched(7, value(1));
  run.fetched(0, value(2));
  run.fetched(0, value(3));
  run.begin({}, {"x:0"}, 1);
  run.ended();
  CHECK(told(run) == "1: 2");
}
