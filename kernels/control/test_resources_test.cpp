// The resources of TensorFlow's own tests, in graphs.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OPS_IN_GRAPHS("StubResourceHandleOp ResourceCreateOp ResourceInitializedOp ResourceUsingOp",
                     "IsResourceHandleRefCounting MakeWeakResourceHandle");

struct Fixture {
  testing::Interpreter interpreter;

  Result<std::vector<Tensor>> run(std::string_view text, std::string fetch) {
    auto graph = parse_graph(text, op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    return interpreter.run(*graph, {}, {std::move(fetch)});
  }
  bool is(std::string_view text) {
    auto out = run(text, "is");
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    return out->front().value<bool>();
  }
  bool fails(std::string_view text, std::string_view with) {
    const Status status = run(text, "^op").status();
    return status.message().find(with) != std::string::npos;
  }
};

std::string of(std::string_view name, std::string_view rest, std::string_view container = "a") {
  return str_cat("h = StubResourceHandleOp[container=\"", container, "\", shared_name=\"", name,
                 "\"]()\n", rest);
}

TEST_CASE_FIXTURE(Fixture, "test resources: made, found and used") {
  const std::string use = "op = ResourceUsingOp(h)", create = "op = ResourceCreateOp(h)",
                    ask = "is = ResourceInitializedOp(h)";
  CHECK(fails(of("b", use), "Container a does not exist. (Could not find resource: a/b)"));
  CHECK_FALSE(is(of("b", ask)));
  CHECK(run(of("b", create), "^op").ok());
  CHECK(is(of("b", ask)));
  CHECK(run(of("b", use), "^op").ok());
  CHECK(fails(of("b", create), "Resource a/b/N10tensorflow12StubResourceE"));
  CHECK(run(of("b", create), "^op").status().code() == Code::already_exists);
  CHECK(fails(of("c", use), "Resource a/c/N10tensorflow12StubResourceE does not exist."));
  CHECK(run(of("b", create, ""), "^op").ok()); // in the default container
  CHECK(is(of("b", ask, "")));
}

TEST_CASE_FIXTURE(Fixture, "test resources: handles that keep what they name, and weak ones") {
  constexpr auto table = "h = AnonymousHashTable[key_dtype=DT_INT32, value_dtype=DT_INT32]()\n";
  CHECK(is(str_cat(table, "is = IsResourceHandleRefCounting(h)")));
  CHECK_FALSE(is(str_cat(table, "w = MakeWeakResourceHandle(h)\n"
                                "is = IsResourceHandleRefCounting(w)")));
  CHECK_FALSE(is(of("b", "is = IsResourceHandleRefCounting(h)")));
  CHECK(run(of("b", "op = ResourceCreateOp(h)"), "^op").ok());
  CHECK(is(of("b", "w = MakeWeakResourceHandle(h)\nis = ResourceInitializedOp(w)")));
}

} // namespace
} // namespace troupe
