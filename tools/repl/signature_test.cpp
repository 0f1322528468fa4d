#include "tools/repl/signature.hpp"

#include <doctest/doctest.h>

namespace troupe {
namespace {

Result<StepCommand> read(std::string_view text) {
  auto statements = parse_statements(text);
  REQUIRE(statements.ok());
  REQUIRE(statements->size() == 1);
  return read_run((*statements)[0]);
}

} // namespace

TEST_CASE("signature: fetches, targets and options in any order") {
  auto request = read("run y trace loss:0 timeout=1.5s -> train init &");
  REQUIRE(request.ok());
  CHECK(request->fetches == std::vector<std::string>{"y", "loss:0"});
  CHECK(request->targets == std::vector<std::string>{"train", "init"});
  CHECK(request->timeout_ms == 1500);
  CHECK(request->trace);
  CHECK(request->in_background);
}

TEST_CASE("signature: nothing is on unless it is asked for") {
  auto request = read("run -> init");
  REQUIRE(request.ok());
  CHECK(request->fetches.empty());
  CHECK(request->timeout_ms == 0);
  CHECK_FALSE(request->trace);
  CHECK_FALSE(request->in_background);
}

TEST_CASE("signature: what is quoted is a name") {
  auto request = read(R"(run "trace" '->')");
  REQUIRE(request.ok());
  CHECK(request->fetches == std::vector<std::string>{"trace", "->"});
  CHECK_FALSE(request->trace);
}

TEST_CASE("signature: what is wrong is said with the remedy") {
  CHECK(read("run y timeout=soon").status().message() ==
        "timeout 'soon' is no time from 1ms to a year; write 500ms, 10s or 2min (a number alone is "
        "seconds)");
  CHECK(read("run y timeout=0").status().code() == Code::invalid_argument);
  CHECK(read("run y -> a -> b").status().message() ==
        "`->` stands twice; fetches come before it, targets after it");
  CHECK(read("run y ->").status().message() ==
        "no target follows `->`; name an op to run, or leave it out");
  CHECK(read("run trace").status().message() ==
        "`run` has nothing to run; name a tensor to fetch, or an op after `->`");
}

} // namespace troupe
