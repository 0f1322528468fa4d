// Cases of Svd; values are those of TensorFlow 2.21. Vectors are found up to a factor of magnitude
// 1.
#include <cmath>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Svd) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f32[3] 5.9822416 4.072055 2.4887106", "?", "?"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float32, values alone",
          .inputs = {"f32[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .attrs = {{"compute_uv", false}},
          .outputs = {"f32[3] 5.9822416 4.072055 2.4887106", "f32[0]", "f32[0]"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "float64",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .outputs = {"f64[3] 5.982239613392477 4.072054857704362 2.488710196829702", "?", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "float64, values alone",
          .inputs = {"f64[3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3"},
          .attrs = {{"compute_uv", false}},
          .outputs = {"f64[3] 5.982239613392477 4.072054857704362 2.488710196829702", "f64[0]",
                      "f64[0]"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "complex64",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .outputs = {"c64[3] (8.2775755,0) (5.82524,0) (3.2574284,0)", "?", "?"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex64, values alone",
          .inputs =
              {"c64[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .attrs = {{"compute_uv", false}},
          .outputs = {"c64[3] (8.2775755,0) (5.82524,0) (3.2574284,0)", "c64[0]", "c64[0]"},
          .tolerance = 1e-05,
          .tolerance_reason =
              "single-precision results that TensorFlow computes in single precision",
      },
      {
          .name = "complex128",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .outputs = {"c128[3] (8.277574560478305,0) (5.825240286755771,0) (3.25742766570185,0)",
                      "?", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "complex128, values alone",
          .inputs =
              {"c128[3,3] (4,4) (1,1) (0.5,0.5) (-2,1) (5,5) (-1,-1) (0.25,0.5) (-1.5,-1) (3,3)"},
          .attrs = {{"compute_uv", false}},
          .outputs = {"c128[3] (8.277574560478305,0) (5.825240286755771,0) (3.25742766570185,0)",
                      "c128[0]", "c128[0]"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "diagonal",
          .inputs = {"f64[3,3] 3 0 0 0 2 0 0 0 1"},
          .outputs = {"f64[3] 3 2 1", "f64[3,3] 1 0 0 0 1 0 0 0 1", "f64[3,3] 1 0 0 0 1 0 0 0 1"},
      },
      {
          .name = "tall",
          .inputs = {"f64[3,2] 4 1 -2 5 0.25 -1.5"},
          .outputs = {"f64[2] 5.633159868194493 4.07185582988433", "?", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "tall and full",
          .inputs = {"f64[3,2] 4 1 -2 5 0.25 -1.5"},
          .attrs = {{"full_matrices", true}},
          .outputs = {"f64[2] 5.633159868194493 4.07185582988433", "?", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "wide",
          .inputs = {"f64[2,3] 4 1 0.5 -2 5 -1"},
          .outputs = {"f64[2] 5.558560434491509 4.043810813589771", "?", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "a batch",
          .inputs = {"f64[2,3,3] 4 1 0.5 -2 5 -1 0.25 -1.5 3 4 1 0.5 1 5 -1 0.5 -1 3"},
          .outputs = {"f64[2,3] 5.982239613392477 4.072054857704362 2.488710196829702 "
                      "5.763007910546324 4.077063898617893 2.1599281908357786",
                      "?", "?"},
          .tolerance = 1e-11,
          .tolerance_reason = "iterations",
      },
      {
          .name = "no rows",
          .inputs = {"f64[0,2]"},
          .outputs = {"f64[0]", "f64[0,0]", "f64[2,0]"},
      },
      {
          .name = "NaN",
          .inputs = {"f64[2,2] nan 1 1 2"},
          .outputs = {"f64[2] nan", "f64[2,2] nan", "f64[2,2] nan"},
      },
      {
          .name = "a vector",
          .inputs = {"f64[3] 1"},
          .error = "Shape must be at least rank 2 but is rank 1",
      },
  };
}

TEST_CASE("svd: values and vectors make the matrix again, of sizes that are divided and are not") {
  auto graph = parse_graph(R"(
    a = Placeholder[dtype=DT_DOUBLE]()
    svd = Svd[T=DT_DOUBLE](a)
    us = Mul[T=DT_DOUBLE](svd:1, svd)
    again = MatMul[T=DT_DOUBLE, transpose_b=true](us, svd:2)
    uu = MatMul[T=DT_DOUBLE, transpose_a=true](svd:1, svd:1))",
                           op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  testing::Interpreter interpreter;
  for (Shape shape : {Shape{3, 5}, Shape{17, 17}, Shape{40, 23}, Shape{23, 40}, Shape{96, 96}})
    for (bool has_full_rank : {true, false}) {
      CAPTURE(shape);
      std::vector<double> a;
      for (std::int64_t i = 0; i < shape.num_elements(); ++i)
        a.push_back(has_full_rank ? std::sin(0.37 * static_cast<double>(i * i % 101))
                                  : static_cast<double>(i / shape[1] % 3 + i % shape[1] % 2));
      auto out = interpreter.run(*graph, {{"a", Tensor::of<double>(shape, a)}}, {"again", "uu"});
      REQUIRE_MESSAGE(out.ok(), out.status().to_string());
      for (std::size_t i = 0; i < a.size(); ++i)
        CHECK(std::abs((*out)[0].data<double>()[i] - a[i]) < 1e-11);
      const auto p = static_cast<std::size_t>((*out)[1].shape()[0]);
      for (std::size_t i = 0; i < p * p; ++i)
        CHECK(std::abs((*out)[1].data<double>()[i] - (i / p == i % p ? 1 : 0)) < 1e-11);
    }
}

TROUPE_OP_CASES(BatchSvd) {
  return {
      {.name = "values alone",
       .inputs = {"f32[2,2,2] 3 0 0 2 1 0 0 5"},
       .attrs = {{"compute_uv", false}},
       .outputs = {"f32[2,2] 3 2 5 1", "f32[0]", "f32[0]"}},
      {.name = "a vector",
       .inputs = {"f32[2] 1"},
       .error = "Input tensor 0 must have rank >= 2, got 1"},
  };
}

} // namespace
} // namespace troupe
