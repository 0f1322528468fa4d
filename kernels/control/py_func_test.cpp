// Cases of what calls the client's Python.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

std::vector<testing::OpCase> refused(bool is_eager) {
  using Types = std::vector<DType>;
  testing::OpCase one{.name = "no Python here",
                      .inputs = {"f32[2] 1 2"},
                      .attrs = {{"token", "pyfunc_7"},
                                {"Tin", Types{DType::float32}},
                                {"Tout", Types{DType::int64}}},
                      .error =
                          "ValueError: Could not find callback with key=pyfunc_7 in the registry."};
  if (is_eager)
    one.attrs.emplace_back("is_async", false);
  return {one};
}

TROUPE_OP_CASES(PyFunc) {
  return refused(false);
}

TROUPE_OP_CASES(PyFuncStateless) {
  return refused(false);
}

TROUPE_OP_CASES(EagerPyFunc) {
  return refused(true);
}

TEST_CASE("py_func: a branch that is not taken may hold one") {
  auto graph = parse_graph(R"(
    x = Const[dtype=DT_FLOAT, value=f32[] 2]()
    yes = Const[dtype=DT_BOOL, value=bool[] true]()
    branch = Switch[T=DT_FLOAT](x, yes)
    python = PyFunc[token="f", Tin=[DT_FLOAT], Tout=[DT_FLOAT]](branch)
    twice = AddV2[T=DT_FLOAT](branch:1, branch:1)
    either = Merge[T=DT_FLOAT, N=2](python, twice))",
                           op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  testing::Interpreter interpreter;
  auto out = interpreter.run(*graph, {}, {"either"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  CHECK(out->front().value<float>() == 4);
}

} // namespace
} // namespace troupe
