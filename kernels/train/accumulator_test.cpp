// Accumulators of gradients in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/graph_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("ConditionalAccumulator ResourceConditionalAccumulator",
                     "AccumulatorApplyGradient ResourceAccumulatorApplyGradient",
                     "AccumulatorTakeGradient ResourceAccumulatorTakeGradient",
                     "AccumulatorNumAccumulated ResourceAccumulatorNumAccumulated",
                     "AccumulatorSetGlobalStep ResourceAccumulatorSetGlobalStep",
                     "SparseConditionalAccumulator SparseAccumulatorApplyGradient",
                     "SparseAccumulatorTakeGradient");

namespace troupe {
namespace {

using testing::GraphLines;

/// `more` are attributes, `form` is "" or "Resource".
std::string dense(std::string_view form, std::string_view dtype, std::string_view more = "") {
  return str_cat(
      "a = ", form, "ConditionalAccumulator[dtype=", dtype, ", shape=[?]", more, "]()\n", R"(
    step0 = Const[dtype=int64, value=i64[] 0]()
    step1 = Const[dtype=int64, value=i64[] 1]()
    two = Const[dtype=int32, value=i32[] 2]()
    zero = Const[dtype=int32, value=i32[] 0]()
    text1 = Const[dtype=float, value=f32[2] 1 2]()
    text2 = Const[dtype=float, value=f32[2] 2 6]()
    g1 = Cast[DstT=)",
      dtype, "](text1)\n g2 = Cast[DstT=", dtype, "](text2)\n", "add1 = ", form,
      "AccumulatorApplyGradient(a, step0, g1)\n", "add2 = ", form,
      "AccumulatorApplyGradient(a, step1, g2)\n", "set = ", form,
      "AccumulatorSetGlobalStep(a, step1)\n", "count = ", form, "AccumulatorNumAccumulated(a)\n",
      "take = ", form, "AccumulatorTakeGradient[dtype=", dtype, "](a, two)\n", "none = ", form,
      "AccumulatorTakeGradient[dtype=", dtype, "](a, zero)\n", "mean = Cast[DstT=float](take)\n");
}

constexpr auto sparse = R"(
  a = SparseConditionalAccumulator[dtype=float, shape=[3,?]]()
  step = Const[dtype=int64, value=i64[] 0]()
  late = Const[dtype=int64, value=i64[] 5]()
  two = Const[dtype=int32, value=i32[] 2]()
  shape = Const[dtype=int64, value=i64[2] 3 2]()
  i1 = Const[dtype=int64, value=i64[2] 0 2]()
  v1 = Const[dtype=float, value=f32[2,2] 1 2 3 4]()
  i2 = Const[dtype=int64, value=i64[1] 2]()
  v2 = Const[dtype=float, value=f32[1,2] 5 6]()
  add1 = SparseAccumulatorApplyGradient[has_known_shape=true](a, step, i1, v1, shape)
  add2 = SparseAccumulatorApplyGradient[has_known_shape=false](a, late, i2, v2, shape)
  take = SparseAccumulatorTakeGradient[dtype=float](a, two))";

} // namespace

TEST_CASE("accumulators: the mean of enough gradients, then the next step") {
  for (std::string_view form : {"", "Resource"})
    for (std::string_view dtype : {"float", "double", "half", "bfloat16"}) {
      CAPTURE(form);
      CAPTURE(dtype);
      GraphLines f;
      f.add(dense(form, dtype));
      CHECK(f.run({"^add1"}) == "ok");
      CHECK(f.run({"^add2"}) == "ok");
      CHECK(f.run({"count"}) == "ok i32[] 2");
      CHECK(f.run({"mean"}) == "ok f32[2] 1.5 4");
      CHECK(f.run({"count"}) == "ok i32[] 0");
      CHECK(f.run({"^add1"}) == "ok"); // of step 0: too late
      CHECK(f.run({"count"}) == "ok i32[] 0");
      CHECK(f.run({"^add2"}) == "ok");
      CHECK(f.run({"count"}) == "ok i32[] 1");
      CHECK(f.fails({"none"}, "Argument num_required must be positive, but was 0"));
    }
}

TEST_CASE("accumulators: the sum, and a step that is set") {
  GraphLines f;
  f.add(dense("", "float", ", reduction_type=\"SUM\""));
  CHECK(f.run({"^add1"}) == "ok");
  CHECK(f.run({"^set"}) == "ok");
  CHECK(f.run({"^add1"}) == "ok");
  CHECK(f.run({"^add2"}) == "ok");
  CHECK(f.run({"count"}) == "ok i32[] 2");
  CHECK(f.run({"take"}) == "ok f32[2] 3 8");
}

TEST_CASE("accumulators: what does not fit is refused") {
  GraphLines f;
  f.add(dense("", "float"));
  f.add(R"(
    long = Const[dtype=float, value=f32[3] 1 2 3]()
    square = Const[dtype=float, value=f32[1,1] 1]()
    add_long = AccumulatorApplyGradient(a, step0, long)
    add_square = AccumulatorApplyGradient(a, step0, square)
    steps = Const[dtype=int64, value=i64[1] 0]()
    add_steps = AccumulatorApplyGradient(a, steps, g1)
    set_steps = AccumulatorSetGlobalStep(a, steps)
    counts = Const[dtype=int32, value=i32[1] 1]()
    take_counts = AccumulatorTakeGradient[dtype=float](a, counts)
    take_double = AccumulatorTakeGradient[dtype=double](a, two)
    shared = ConditionalAccumulator[dtype=float, shape=[3], shared_name="a"]()
    summing = ConditionalAccumulator[dtype=float, shape=[?], shared_name="a", reduction_type="SUM"]()
    doubles = ConditionalAccumulator[dtype=double, shape=[?], shared_name="a"]()
    rows = SparseConditionalAccumulator[dtype=float, shape=[?], shared_name="a"]()
    take_rows = SparseAccumulatorTakeGradient[dtype=float](a, two))");
  CHECK(f.fails({"^add_square"}, "Shape mismatch: expected [?], got [1,1]"));
  CHECK(f.run({"^add1"}) == "ok");
  CHECK(f.fails({"^add_long"}, "Shape mismatch: expected [2], got [3]"));
  CHECK(f.fails({"^add_steps"}, "Argument local_step must be scalar, but had bad shape [1]"));
  CHECK(f.fails({"^set_steps"}, "Argument new_global_step must be scalar"));
  CHECK(f.fails({"take_counts"}, "Argument num_required must be scalar"));
  CHECK(f.fails({"take_double"}, "the node asks for dense ones of double"));
  CHECK(f.fails({"^shared"}, "has shape [?] but requested shape is [3]"));
  CHECK(f.fails({"^summing"}, "has reduction type MEAN but requested reduction type is SUM"));
  CHECK(f.fails({"^doubles"}, "has dtype float but requested dtype is double"));
  CHECK(f.fails({"^rows"}, "has dense gradients, not sparse"));
  CHECK(f.fails({"take_rows:0"}, "the node asks for sparse ones of float"));
}

TEST_CASE("accumulators: each row of sparse gradients has a mean of its own") {
  GraphLines f;
  f.add(sparse);
  CHECK(f.run({"^add1"}) == "ok");
  CHECK(f.run({"^add2"}) == "ok");
  CHECK(f.run({"take:0", "take:1", "take:2"}) == "ok i64[2] 0 2 f32[2,2] 1 2 4 5 i64[2] 3 2");
  CHECK(f.run({"^add1"}) == "ok"); // too late
  CHECK(f.run({"^add2"}) == "ok");
  CHECK(f.run({"^add2"}) == "ok");
  CHECK(f.run({"take:0", "take:1"}) == "ok i64[1] 2 f32[1,2] 5 6");
}

TEST_CASE("accumulators: rows that a sparse gradient names twice stay two, in its order") {
  GraphLines f;
  f.add(R"(
    a = SparseConditionalAccumulator[dtype=float, shape=[9,1]]()
    step = Const[dtype=int64, value=i64[] 9]()
    one = Const[dtype=int32, value=i32[] 1]()
    none = Const[dtype=int64, value=i64[0]]()
    i1 = Const[dtype=int64, value=i64[2] 1 5]()
    v1 = Const[dtype=float, value=f32[2,1] 2 6]()
    i2 = Const[dtype=int64, value=i64[3] 5 2 5]()
    v2 = Const[dtype=float, value=f32[3,1] 6 3 6]()
    add1 = SparseAccumulatorApplyGradient[has_known_shape=false](a, step, i1, v1, none)
    add2 = SparseAccumulatorApplyGradient[has_known_shape=false](a, step, i2, v2, none)
    take = SparseAccumulatorTakeGradient[dtype=float](a, one))");
  CHECK(f.run({"^add2"}) == "ok");
  CHECK(f.run({"take:0", "take:1"}) == "ok i64[3] 5 2 5 f32[3,1] 6 3 6");
  CHECK(f.run({"^add1"}) == "ok");
  CHECK(f.run({"^add2"}) == "ok");
  CHECK(f.run({"take:0", "take:1"}) == "ok i64[4] 1 5 2 5 f32[4,1] 2 6 3 6");
  CHECK(f.run({"^add2"}) == "ok");
  CHECK(f.run({"^add1"}) == "ok");
  CHECK(f.run({"take:0", "take:1"}) == "ok i64[4] 1 5 2 5 f32[4,1] 2 6 3 6");
}

TEST_CASE("accumulators: sparse gradients that do not fit are refused") {
  GraphLines f;
  f.add(sparse);
  const auto refused = [&](std::string_view indices, std::string_view values,
                           std::string_view shape, std::string_view text) {
    GraphLines g;
    g.add(sparse);
    g.add(str_cat("i = Const[dtype=int64, value=", indices, "]()\nv = Const[dtype=float, value=",
                  values, "]()\ns = Const[dtype=int64, value=", shape,
                  "]()\n"
                  "after = SparseAccumulatorApplyGradient[has_known_shape=true](a, step, i, v, "
                  "s) ^add1"));
    return g.fails({"^after"}, text);
  };
  CHECK(refused("i64[1,1] 0", "f32[1,2] 1 2", "i64[2] 3 2",
                "Input indices should be vector but received shape: [1,1]"));
  CHECK(refused("i64[1] 0", "f32[] 1", "i64[2] 3 2", "Values cannot be 0-dimensional."));
  CHECK(refused("i64[2] 0 1", "f32[1,2] 1 2", "i64[2] 3 2",
                "Expected 2 non-empty input values, got 1"));
  CHECK(refused("i64[1] 0", "f32[1,2] 1 2", "i64[1] 3",
                "Shape mismatch: expected shape rank at least 2, got 1"));
  CHECK(refused("i64[1] 0", "f32[1,2] 1 2", "i64[2] 4 2",
                "Shape mismatch: expected shape dim 0 to be 3, got 4"));
  CHECK(refused("i64[1] 3", "f32[1,2] 1 2", "i64[2] 3 2",
                "index of slice 0 exceeded limits of shape; index is 3 exceeded 3"));
  CHECK(refused("i64[1] 0", "f32[1] 1", "i64[2] 3 2",
                "Shape mismatch: expected values rank at least 2, got 1"));
  CHECK(refused("i64[1] 0", "f32[1,3] 1 2 3", "i64[2] 3 3",
                "Shape mismatch: expected values dim 1 to be 2, got 3"));
  CHECK(refused("i64[1] 0", "f32[1,2,1] 1 2", "i64[2] 3 2",
                "Shape mismatch: expected values rank 2, got 3"));
  CHECK(refused("i64[1] 0", "f32[1,2] 1 2", "i64[1,2] 3 2",
                "Input shape should be a vector but received shape: [1,2]"));
}

} // namespace troupe
