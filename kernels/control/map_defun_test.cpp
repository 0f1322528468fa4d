// MapDefun in graphs: rows, captured values, shapes, and what is refused.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "kernels/framework/cancellation.hpp"
#include "tests/support/ops/function_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("MapDefun");

namespace troupe {
namespace {

struct MapLines : testing::FunctionLines {
  MapLines() {
    add("a = Const[dtype=float, value=f32[3,2] 1 2 3 4 5 6]()");
    add("b = Const[dtype=int64, value=i64[3] 10 20 30]()");
    add("none = Const[dtype=float, value=f32[0,2]]()");
    add("scalar = Const[dtype=float, value=f32[] 1]()");
    add("ten = Const[dtype=float, value=f32[] 10]()");
    function("times", "x: float, by: float", "y", "y = Mul(x, by)");
    function("both", "x: float, n: int64", "y, n", "y = Neg(x)\nm = Neg(n)");
    function("inverse", "n: int64", "y",
             "top = Const[dtype=int64, value=i64[] 60]()\n"
             "from = Const[dtype=int64, value=i64[] 20]()\n"
             "under = Sub(n, from)\n"
             "y = FloorDiv(top, under)");
    function("as_many", "n: int64", "y",
             "one = Const[dtype=float, value=f32[] 1]()\n"
             "ten = Const[dtype=int64, value=i64[] 10]()\n"
             "count = FloorDiv(n, ten)\n"
             "axis = Const[dtype=int32, value=i32[] 0]()\n"
             "dims = ExpandDims(count, axis)\n"
             "y = Fill[index_type=int64](dims, one)");
  }
  /// What the node gives: "output_types=…, output_shapes=…" follow the function's name.
  std::string map(std::string_view inputs, std::string_view function_and_types,
                  std::vector<std::string> fetches = {"m"}) {
    add(str_cat("m = MapDefun[f=", function_and_types, "](", inputs, ")"));
    return run(fetches);
  }
};

bool tells(const std::string& answer, std::string_view text) {
  return !answer.starts_with("ok") && answer.find(text) != std::string::npos;
}

} // namespace

TEST_CASE("MapDefun: results of the rows below each other, with what was captured") {
  CHECK(MapLines().map("a, ten",
                       "times, Targuments=[float], Tcaptured=[float], output_types=[float], "
                       "output_shapes=[[2]]") == "ok f32[3,2] 10 20 30 40 50 60");
}

TEST_CASE("MapDefun: several arguments and results of different dtypes") {
  CHECK(MapLines().map("a, b",
                       "both, Targuments=[float, int64], output_types=[float, int64], "
                       "output_shapes=[[2], []]",
                       {"m", "m:1"}) == "ok f32[3,2] -1 -2 -3 -4 -5 -6 i64[3] 10 20 30");
}

TEST_CASE("MapDefun: no rows give results of the shapes that the node says") {
  CHECK(MapLines().map("none, ten",
                       "times, Targuments=[float], Tcaptured=[float], output_types=[float], "
                       "output_shapes=[[2]]") == "ok f32[0,2]");
  CHECK(tells(MapLines().map("none, ten",
                             "times, Targuments=[float], Tcaptured=[float], output_types=[float], "
                             "output_shapes=[[?]]"),
              "there are no rows"));
}

TEST_CASE("MapDefun: more rows than are under way at once") {
  testing::FunctionLines f;
  f.add("from = Const[dtype=int32, value=i32[] 0]()");
  f.add("to = Const[dtype=int32, value=i32[] 1000]()");
  f.add("by = Const[dtype=int32, value=i32[] 1]()");
  f.add("all = Range[Tidx=int32](from, to, by)");
  f.add("dims = Const[dtype=int32, value=i32[1] 0]()");
  f.function("negative", "n: int32", "y", "y = Neg(n)");
  f.add("m = MapDefun[f=negative, Targuments=[int32], output_types=[int32], "
        "output_shapes=[[]]](all)");
  f.add("sum = Sum[T=int32, Tidx=int32](m, dims)");
  f.add("last = GatherV2[Tparams=int32](m, at, axis)\nat = Const[dtype=int32, value=i32[] 999]()\n"
        "axis = Const[dtype=int32, value=i32[] 0]()");
  CHECK(f.run({"sum", "last"}) == "ok i32[] -499500 i32[] -999");
}

TEST_CASE("MapDefun: the error of a row is the node's") {
  CHECK(tells(
      MapLines().map("b", "inverse, Targuments=[int64], output_types=[int64], output_shapes=[[]]"),
      "division by zero"));
}

TEST_CASE("MapDefun: arguments and results that do not fit") {
  CHECK(tells(MapLines().map("scalar, ten", "times, Targuments=[float], Tcaptured=[float], "
                                            "output_types=[float], output_shapes=[[]]"),
              "All inputs must have rank at least 1. Input 0 has a rank of 0."));
  CHECK(
      tells(MapLines().map("none, b", "both, Targuments=[float, int64], "
                                      "output_types=[float, int64], output_shapes=[[2], []]"),
            "All inputs must have the same dimension 0. Input 1 has leading dimension 3, while all "
            "previous inputs have leading dimension 0"));
  CHECK(tells(MapLines().map("a, ten", "times, Targuments=[float], Tcaptured=[float], "
                                       "output_types=[float], output_shapes=[[3]]"),
              "Mismatch in function retval shape, [2], and expected output shape, [3]."));
  CHECK(tells(MapLines().map("a, ten", "times, Targuments=[float], Tcaptured=[float], "
                                       "output_types=[int32], output_shapes=[[2]]"),
              "Mismatch in function return type and expected output type for output: 0"));
  CHECK(tells(MapLines().map("a, b", "both, Targuments=[float, int64], output_types=[float], "
                                     "output_shapes=[[2]]"),
              "Mismatch in number of function outputs."));
  CHECK(tells(MapLines().map("b", "as_many, Targuments=[int64], output_types=[float], "
                                  "output_shapes=[[?]]"),
              "Mismatch in function retval shape, [2], and expected output shape, [1]."));
  CHECK(tells(MapLines().map("a", "nowhere, Targuments=[float], output_types=[float], "
                                  "output_shapes=[[2]]"),
              "Function nowhere is not defined."));
}

TEST_CASE("MapDefun: in a cancelled step no row is computed") {
  MapLines f;
  f.device().step().cancellation->cancel(cancelled("nobody wants it any more"));
  CHECK(tells(f.map("a, ten", "times, Targuments=[float], Tcaptured=[float], output_types=[float], "
                              "output_shapes=[[2]]"),
              "nobody wants it any more"));
}

} // namespace troupe
