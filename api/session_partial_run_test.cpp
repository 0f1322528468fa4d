// Steps that are fed and fetched in pieces.
#include <string>

#include <doctest/doctest.h>

#include "api/testing/small_session.hpp"
#include "api/variable.hpp"

namespace troupe {

using namespace testing;

namespace {

/// r1 = a + b, r2 = r1 * c.
Scope two_results() {
  Scope root = Scope::root();
  Output a = ops::placeholder(root.named("a"), DType::float32);
  Output b = ops::placeholder(root.named("b"), DType::float32);
  Output c = ops::placeholder(root.named("c"), DType::float32);
  Output r1 = ops::add_v2(root.named("r1"), a, b);
  ops::mul(root.named("r2"), r1, c);
  return root;
}

struct Fixture {
  Session session = local();
  Fixture() { REQUIRE(session.extend(two_results()).ok()); }
  std::string set_up(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                     const std::vector<std::string>& targets = {}) {
    auto handle = session.partial_run_setup(feeds, fetches, targets);
    REQUIRE_MESSAGE(handle.ok(), handle.status().to_string());
    return *handle;
  }
  Tensor value(const std::string& handle, const Feeds& feeds, const std::string& fetch) {
    auto values = session.partial_run(handle, feeds, {fetch});
    REQUIRE_MESSAGE(values.ok(), values.status().to_string());
    REQUIRE(values->size() == 1);
    return (*values)[0];
  }
};

constexpr const char* no_such_run = "Must run PartialRunSetup before performing partial runs";

} // namespace

TEST_CASE_FIXTURE(Fixture,
                  "partial run: feeds come in pieces, fetches as soon as they can be had") {
  for (int i = 0; i < 3; ++i) { // the second finds the graph built
    const std::string run = set_up({"a", "b", "c"}, {"r1", "r2"});
    CHECK(equal(value(run, {{"a", floats({1})}, {"b:0", floats({2})}}, "r1"), floats({3})));
    CHECK(equal(value(run, {{"c", floats({51})}}, "r2:0"), floats({153})));
    CHECK(session.partial_run(run, {}, {"r2"}).status() == invalid_argument(no_such_run)); // over
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "partial run: a call may feed only, and fetch what was computed before") {
  const std::string run = set_up({"a", "b", "c"}, {"r1", "r2"});
  auto none = session.partial_run(run, {{"a", floats({1})}, {"b", floats({2})}}, {});
  REQUIRE_MESSAGE(none.ok(), none.status().to_string());
  CHECK(none->empty());
  CHECK(session.partial_run(run, {{"c", floats({4})}}, {}).ok());
  auto both = session.partial_run(run, {}, {"r2", "r1"});
  REQUIRE_MESSAGE(both.ok(), both.status().to_string());
  CHECK(equal((*both)[0], floats({12})));
  CHECK(equal((*both)[1], floats({3})));
}

TEST_CASE_FIXTURE(Fixture, "partial run: several go on side by side, with ordinary steps between") {
  const std::string one = set_up({"a", "b", "c"}, {"r1"});
  const std::string two = set_up({"a", "b", "c"}, {"r1", "r2"});
  CHECK(equal(value(one, {{"a", floats({1})}, {"b", floats({2})}}, "r1"), floats({3})));
  CHECK(equal(value(two, {{"a", floats({57})}, {"b", floats({9})}}, "r1"), floats({66})));
  auto whole = session.run({{"a", floats({5})}, {"b", floats({6})}}, {"r1"});
  REQUIRE_MESSAGE(whole.ok(), whole.status().to_string());
  CHECK(equal((*whole)[0], floats({11})));
  CHECK(equal(value(two, {{"c", floats({7})}}, "r2"), floats({462})));
  CHECK(session.partial_run(one, {{"c", floats({0})}}, {}).ok()); // nothing reads it
  CHECK(session.partial_run(one, {}, {}).status() == invalid_argument(no_such_run));
}

TEST_CASE_FIXTURE(
    Fixture, "partial run: what was not set up, or was given before, is refused; the run goes on") {
  const std::string run = set_up({"a", "b", "c"}, {"r1", "r2"});
  auto refusal = [&](const Feeds& feeds, const std::vector<std::string>& fetches) {
    return session.partial_run(run, feeds, fetches).status();
  };
  CHECK(refusal({{"r1", floats({1})}}, {}) ==
        invalid_argument("The feed r1:0 was not specified in partial_run_setup."));
  CHECK(refusal({}, {"a"}) ==
        invalid_argument("The fetch a:0 was not specified in partial_run_setup."));
  CHECK(refusal({{"a", floats({1})}}, {"r2"}).code() == Code::invalid_argument);
  CHECK(has(refusal({{"a", floats({1})}}, {"r1"}).message(),
            "Fetch b:0 can't be computed from the feeds that have been fed so far."));
  value(run, {{"a", floats({1})}, {"b", floats({2})}}, "r1");
  CHECK(refusal({{"a", floats({1})}, {"c", floats({1})}}, {"r2"}) ==
        invalid_argument("The feed a:0 has already been fed."));
  CHECK(refusal({{"c", floats({1})}}, {"r1"}) ==
        invalid_argument("The fetch r1:0 has already been fetched."));
  CHECK(equal(value(run, {{"c", floats({2})}}, "r2"), floats({6})));
}

TEST_CASE_FIXTURE(Fixture, "partial run: it is set up with names that the graph has") {
  CHECK(session.partial_run_setup({"a"}, {}).status() ==
        invalid_argument("Must specify at least one target to fetch or execute."));
  CHECK(session.partial_run_setup({"a"}, {"no"}).status().code() == Code::not_found);
  CHECK(session.partial_run_setup({"no"}, {"r1"}).status().code() == Code::not_found);
  CHECK(session.partial_run("7", {}, {"r1"}).status() == invalid_argument(no_such_run));
  CHECK(session.partial_run("", {}, {"r1"}).status().code() != Code::ok);
}

TEST_CASE_FIXTURE(Fixture, "partial run: an error ends it, and is told") {
  const std::string run = set_up({}, {"r1"});
  Status status = session.partial_run(run, {}, {"r1"}).status();
  CHECK(status.code() == Code::invalid_argument);
  CHECK(has(status.message(), "You must feed a value for placeholder"));
  CHECK(session.partial_run(run, {}, {"r1"}).status() == invalid_argument(no_such_run));
  const std::string other = set_up({"a", "b"}, {"r1"});
  status = session.partial_run(other, {{"a", Tensor::scalar<std::int32_t>(1)}}, {}).status();
  if (status.ok()) // else it was told at once
    status = session.partial_run(other, {{"b", floats({1})}}, {"r1"}).status();
  CHECK_MESSAGE(has(status.message(), "is fed with int32 but has dtype float"), status.to_string());
}

TEST_CASE_FIXTURE(Fixture, "partial run: closing the session ends it, whoever waits") {
  set_up({"a", "b", "c"}, {"r1", "r2"});
  const std::string run = set_up({"a", "b", "c"}, {"r1", "r2"});
  value(run, {{"a", floats({1})}, {"b", floats({2})}}, "r1");
  CHECK(session.close().ok());
  CHECK_FALSE(session.partial_run(run, {{"c", floats({1})}}, {"r2"}).ok());
}

TEST_CASE("partial run: a call that takes longer than its deadline ends it") {
  Session session = local();
  Scope root = small_graph();
  REQUIRE(parse_into(R"(queue = FIFOQueueV2[component_types=[float32]]()
end = QueueDequeueV2[component_types=[float32]](queue)
)",
                     *root.graph())
              .ok());
  REQUIRE(session.extend(root).ok());
  auto run = session.partial_run_setup({"x"}, {"y", "end"});
  REQUIRE_MESSAGE(run.ok(), run.status().to_string());
  auto y = session.partial_run(*run, {{"x", floats({1})}}, {"y"});
  REQUIRE_MESSAGE(y.ok(), y.status().to_string());
  CHECK(equal((*y)[0], floats({3})));
  RunOptions options;
  options.timeout_ms = 50;
  Status status = session.partial_run(*run, {}, {"end"}, options).status();
  CHECK(status.code() == Code::deadline_exceeded);
  CHECK(session.partial_run(*run, {}, {"end"}).status() == invalid_argument(no_such_run));
}

TEST_CASE("partial run: targets run once, by the end of the last call") {
  Session session = local();
  Scope root = Scope::root();
  Output x = ops::placeholder(root.named("x"), DType::float32);
  GraphVariable v = variable(root, "v", DType::float32, {}, Tensor::scalar(1.0f));
  ops::neg(root.named("y"), x);
  Operation add = ops::assign_add_variable_op(root.named("add"), v.handle(), x);
  Operation init = initialize_all(root, {v});
  REQUIRE(session.extend(root).ok());
  REQUIRE(session.run({}, {}, {init.name()}).ok());
  auto run = session.partial_run_setup({"x"}, {"y"}, {add.name()});
  REQUIRE_MESSAGE(run.ok(), run.status().to_string());
  REQUIRE(session.partial_run(*run, {{"x", Tensor::scalar(4.0f)}}, {"y"}).ok());
  auto after = session.run({}, {v.read().name()});
  REQUIRE_MESSAGE(after.ok(), after.status().to_string());
  CHECK(equal((*after)[0], Tensor::scalar(5.0f)));
}

} // namespace troupe
