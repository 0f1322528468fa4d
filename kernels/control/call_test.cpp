// PartitionedCall and StatefulPartitionedCall as kernels, which run what stays of calls in graphs:
// results, errors inside, recursion, cancellation.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "kernels/framework/cancellation.hpp"
#include "tests/support/ops/function_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("PartitionedCall StatefulPartitionedCall RemoteCall");

namespace troupe {
namespace {

constexpr const char* calls[] = {"PartitionedCall", "StatefulPartitionedCall"};

struct CallLines : testing::FunctionLines {
  explicit CallLines(const char* call) : op(call) {
    add("x = Const[dtype=float, value=f32[2] 1 2]()");
    add("n = Const[dtype=int64, value=i64[] 5]()");
    add("zero = Const[dtype=int64, value=i64[] 0]()");
    function("both", "x: float, n: int64", "y, m, n", "y = Neg(x)\nm = Neg(n)");
    function("inverse", "n: int64", "y",
             "top = Const[dtype=int64, value=i64[] 60]()\ny = FloorDiv(top, n)");
    function("nothing", "", "^c", "c = NoOp()");
    function("factorial", "n: int64", "y",
             str_cat("one = Const[dtype=int64, value=i64[] 1]()\n"
                     "is_last = LessEqual(n, one)\n"
                     "way = Switch(n, is_last)\n"
                     "last = Identity(way:1)\n"
                     "less = Sub(way, one)\n"
                     "inner = ",
                     op,
                     "[f=factorial, Tin=[int64], Tout=[int64]](less)\n"
                     "product = Mul(way, inner)\n"
                     "y = Merge(last, product)"));
  }
  std::string call(std::string_view function_and_types, std::string_view inputs,
                   const std::vector<std::string>& fetches = {"c"}) {
    add(str_cat("c = ", op, "[f=", function_and_types, "](", inputs, ")"));
    return run(fetches);
  }
  const char* op;
};

bool says(const std::string& answer, std::string_view text) {
  return !answer.starts_with("ok") && answer.find(text) != std::string::npos;
}

} // namespace

TEST_CASE("calls: on a target that the graph computes") {
  CallLines f("PartitionedCall");
  f.add("where = Const[dtype=string, value=str[] \"/device:CPU:0\"]()");
  f.add("vector = Const[dtype=string, value=str[1] \"/device:CPU:0\"]()");
  f.add("c = RemoteCall[f=both, Tin=[float, int64], Tout=[float, int64, int64]](where, x, n)");
  CHECK(f.run({"c", "c:1", "c:2"}) == "ok f32[2] -1 -2 i64[] -5 i64[] 5");
  f.add("d = RemoteCall[f=both, Tin=[float, int64], Tout=[float, int64, int64]](vector, x, n)");
  CHECK(says(f.run({"d"}), "target must be a scalar"));
}

TEST_CASE("calls: the function's results, in its order") {
  for (const char* op : calls) {
    CAPTURE(op);
    CHECK(CallLines(op).call("both, Tin=[float, int64], Tout=[float, int64, int64]", "x, n",
                             {"c", "c:1", "c:2"}) == "ok f32[2] -1 -2 i64[] -5 i64[] 5");
    CHECK(CallLines(op).call("nothing, Tin=[], Tout=[]", "", {"^c"}) == "ok");
  }
}

TEST_CASE("calls: an error inside is the node's") {
  for (const char* op : calls) {
    CAPTURE(op);
    const std::string said = CallLines(op).call("inverse, Tin=[int64], Tout=[int64]", "zero");
    CHECK(says(said, "division by zero"));
    CHECK(said.starts_with("INVALID_ARGUMENT"));
    CHECK(CallLines(op).call("inverse, Tin=[int64], Tout=[int64]", "n") == "ok i64[] 12");
  }
}

TEST_CASE("calls: arguments and results that the function has not") {
  for (const char* op : calls) {
    CAPTURE(op);
    CHECK(says(CallLines(op).call("inverse, Tin=[int64], Tout=[int64, int64]", "n"),
               "Function has 1 outputs, but 2 were expected"));
    CHECK(says(CallLines(op).call("inverse, Tin=[int64], Tout=[float]", "n"), "int64"));
    CHECK(says(CallLines(op).call("inverse, Tin=[int64, int64], Tout=[int64]", "n, n"),
               "Expects 1 arguments, but 2 is provided"));
    CHECK(says(CallLines(op).call("nowhere, Tin=[int64], Tout=[int64]", "n"),
               "Function nowhere is not defined."));
  }
}

TEST_CASE("calls: a function that calls itself") {
  for (const char* op : calls) {
    CAPTURE(op);
    CHECK(CallLines(op).call("factorial, Tin=[int64], Tout=[int64]", "n") == "ok i64[] 120");
    CHECK(CallLines(op).call("factorial, Tin=[int64], Tout=[int64]", "zero") == "ok i64[] 0");
  }
}

TEST_CASE("calls: none begins in a cancelled step") {
  for (const char* op : calls) {
    CAPTURE(op);
    CallLines f(op);
    f.device().step().cancellation->cancel(cancelled("nobody wants it any more"));
    CHECK(says(f.call("inverse, Tin=[int64], Tout=[int64]", "n"), "nobody wants it any more"));
  }
}

} // namespace troupe
