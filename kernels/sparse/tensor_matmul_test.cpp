// Cases of products of sparse and dense matrices; values are those of TensorFlow 2.21.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/list/testing/op_runner.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(SparseTensorDenseMatMul) {
  return {
      {
          .name = "float32",
          .inputs = {"i64[2,2] 0 1 2 2", "f32[2] 1 2", "i64[2] 3", "f32[3,2] 0 1 2 3 4 5"},
          .outputs = {"f32[3,2] 2 3 0 0 8 10"},
      },
      {
          .name = "float32 adjoint",
          .inputs = {"i64[2,2] 0 1 2 2", "f32[2] 1 2", "i64[2] 3", "f32[2,3] 0 2 4 1 3 5"},
          .attrs = {{"adjoint_a", true}, {"adjoint_b", true}},
          .outputs = {"f32[3,2] 0 0 0 1 8 10"},
      },
      {
          .name = "float64",
          .inputs = {"i64[2,2] 0 1 2 2", "f64[2] 1 2", "i64[2] 3", "f64[3,2] 0 1 2 3 4 5"},
          .outputs = {"f64[3,2] 2 3 0 0 8 10"},
      },
      {
          .name = "float64 adjoint",
          .inputs = {"i64[2,2] 0 1 2 2", "f64[2] 1 2", "i64[2] 3", "f64[2,3] 0 2 4 1 3 5"},
          .attrs = {{"adjoint_a", true}, {"adjoint_b", true}},
          .outputs = {"f64[3,2] 0 0 0 1 8 10"},
      },
      {
          .name = "int32",
          .inputs = {"i64[2,2] 0 1 2 2", "i32[2] 1 2", "i64[2] 3", "i32[3,2] 0 1 2 3 4 5"},
          .outputs = {"i32[3,2] 2 3 0 0 8 10"},
      },
      {
          .name = "int32 adjoint",
          .inputs = {"i64[2,2] 0 1 2 2", "i32[2] 1 2", "i64[2] 3", "i32[2,3] 0 2 4 1 3 5"},
          .attrs = {{"adjoint_a", true}, {"adjoint_b", true}},
          .outputs = {"i32[3,2] 0 0 0 1 8 10"},
      },
      {
          .name = "float16",
          .inputs = {"i64[2,2] 0 1 2 2", "f16[2] 1 2", "i64[2] 3", "f16[3,2] 0 1 2 3 4 5"},
          .outputs = {"f16[3,2] 2 3 0 0 8 10"},
      },
      {
          .name = "float16 adjoint",
          .inputs = {"i64[2,2] 0 1 2 2", "f16[2] 1 2", "i64[2] 3", "f16[2,3] 0 2 4 1 3 5"},
          .attrs = {{"adjoint_a", true}, {"adjoint_b", true}},
          .outputs = {"f16[3,2] 0 0 0 1 8 10"},
      },
      {
          .name = "bfloat16",
          .inputs = {"i64[2,2] 0 1 2 2", "bf16[2] 1 2", "i64[2] 3", "bf16[3,2] 0 1 2 3 4 5"},
          .outputs = {"bf16[3,2] 2 3 0 0 8 10"},
      },
      {
          .name = "bfloat16 adjoint",
          .inputs = {"i64[2,2] 0 1 2 2", "bf16[2] 1 2", "i64[2] 3", "bf16[2,3] 0 2 4 1 3 5"},
          .attrs = {{"adjoint_a", true}, {"adjoint_b", true}},
          .outputs = {"bf16[3,2] 0 0 0 1 8 10"},
      },
      {
          .name = "complex64",
          .inputs = {"i64[2,2] 0 1 2 2", "c64[2] (0,1) (0,2)", "i64[2] 3",
                     "c64[3,2] (0,0) (1,1) (2,2) (3,3) (4,4) (5,5)"},
          .outputs = {"c64[3,2] (-2,2) (-3,3) (0,0) (0,0) (-8,8) (-10,10)"},
      },
      {
          .name = "complex64 adjoint",
          .inputs = {"i64[2,2] 0 1 2 2", "c64[2] (0,1) (0,2)", "i64[2] 3",
                     "c64[2,3] (0,0) (2,2) (4,4) (1,1) (3,3) (5,5)"},
          .attrs = {{"adjoint_a", true}, {"adjoint_b", true}},
          .outputs = {"c64[3,2] (0,0) (0,0) (0,0) (-1,-1) (-8,-8) (-10,-10)"},
      },
      {
          .name = "complex128",
          .inputs = {"i64[2,2] 0 1 2 2", "c128[2] (0,1) (0,2)", "i64[2] 3",
                     "c128[3,2] (0,0) (1,1) (2,2) (3,3) (4,4) (5,5)"},
          .outputs = {"c128[3,2] (-2,2) (-3,3) (0,0) (0,0) (-8,8) (-10,10)"},
      },
      {
          .name = "complex128 adjoint",
          .inputs = {"i64[2,2] 0 1 2 2", "c128[2] (0,1) (0,2)", "i64[2] 3",
                     "c128[2,3] (0,0) (2,2) (4,4) (1,1) (3,3) (5,5)"},
          .attrs = {{"adjoint_a", true}, {"adjoint_b", true}},
          .outputs = {"c128[3,2] (0,0) (0,0) (0,0) (-1,-1) (-8,-8) (-10,-10)"},
      },
      {
          .name = "indices of 32 bits",
          .inputs = {"i32[2,2] 0 1 2 2", "f64[2] 1 2", "i64[2] 3", "f64[3,2] 0 1 2 3 4 5"},
          .outputs = {"f64[3,2] 2 3 0 0 8 10"},
      },
      {
          .name = "sizes differ",
          .inputs = {"i64[2,2] 0 1 2 2", "f64[2] 1 2", "i64[2] 3", "f64[2,3] 1"},
          .error = "Cannot multiply A and B because inner dimension does not match: 3 vs. 2.  Did "
                   "you forget a transpose?  Dimensions of A: [3, 3).",
      },
      {
          .name = "a column beyond the matrix",
          .inputs = {"i64[2,2] 0 1 2 7", "f64[2] 1 2", "i64[2] 3", "f64[3,2] 0 1 2 3 4 5"},
          .error = "k (7) from index[1,1] out of bounds (>=3)",
      },
      {
          .name = "a row beyond the matrix",
          .inputs = {"i64[1,2] 7 1", "f64[1] 1", "i64[2] 3", "f64[3,2] 0 1 2 3 4 5"},
          .error = "m (7) from index[0,0] out of bounds (>=3)",
      },
      {
          .name = "three dimensions",
          .inputs = {"i64[1,2] 0 1", "f64[1] 1", "i64[3] 3", "f64[3,2] 0 1 2 3 4 5"},
          .error = "Tensor 'a_shape' must have 2 elements",
      },
      {
          .name = "more values than indices",
          .inputs = {"i64[1,2] 0 1", "f64[2] 1 2", "i64[2] 3", "f64[3,2] 0 1 2 3 4 5"},
          .error = "Number of rows of a_indices does not match number of entries in a_values",
      },
      {
          .name = "entries in any order, one of them twice",
          .inputs = {"i64[4,2] 2 2 0 1 2 0 0 1", "f32[4] 1 2 3 4", "i64[2] 3",
                     "f32[3,2] 0 1 2 3 4 5"},
          .outputs = {"f32[3,2] 12 18 0 0 4 8"},
      },
      {
          .name = "in any order, by columns",
          .inputs = {"i64[4,2] 2 2 0 1 2 0 0 1", "f32[4] 1 2 3 4", "i64[2] 3",
                     "f32[3,2] 0 1 2 3 4 5"},
          .attrs = {{"adjoint_a", true}},
          .outputs = {"f32[3,2] 12 15 0 6 4 5"},
      },
      {
          .name = "in any order, with more entries than columns of an adjoint matrix",
          .inputs = {"i64[4,2] 2 2 0 1 2 0 0 1", "f32[4] 1 2 3 4", "i64[2] 3",
                     "f32[2,3] 0 2 4 1 3 5"},
          .attrs = {{"adjoint_b", true}},
          .outputs = {"f32[3,2] 12 18 0 0 4 8"},
      },
      {
          .name = "no entries",
          .inputs = {"i64[0,2]", "f32[0]", "i64[2] 3", "f32[2,3] 1"},
          .attrs = {{"adjoint_b", true}},
          .outputs = {"f32[3,2] 0"},
      },
      {
          .name = "no columns",
          .inputs = {"i64[1,2] 2 2", "f32[1] 1", "i64[2] 3", "f32[3,0]"},
          .outputs = {"f32[3,0]"},
      },
      {
          .name = "no rows",
          .inputs = {"i64[0,2]", "f32[0]", "i64[2] 0 3", "f32[3,2] 1"},
          .outputs = {"f32[0,2]"},
      },
  };
}

// Rows of different lengths, some empty, and blocks of columns that are not full.
TEST_CASE("sparse by dense: many entries, against sums one by one") {
  const std::int64_t m = 37, k = 41, n = 19;
  for (std::int64_t entries : {23, 600})
    for (bool adjoint_a : {false, true})
      for (bool adjoint_b : {false, true}) {
        Tensor indices = Tensor::zeros(DType::int64, Shape{entries, 2});
        Tensor values = Tensor::zeros(DType::float64, Shape{entries});
        Tensor b = Tensor::zeros(DType::float64, adjoint_b ? Shape{n, k} : Shape{k, n});
        std::vector<double> wanted(static_cast<std::size_t>(m * n));
        for (std::size_t i = 0; i < b.data<double>().size(); ++i)
          b.mutable_data<double>()[i] = static_cast<double>(i % 13) - 6;
        for (std::int64_t e = 0; e < entries; ++e) {
          const std::int64_t row = e * e * 7 % m / 2 * 2, inner = e * 29 % k;
          const auto value = static_cast<double>(e % 5) - 2;
          const auto at = static_cast<std::size_t>(e);
          indices.mutable_data<std::int64_t>()[2 * at + (adjoint_a ? 1 : 0)] = row;
          indices.mutable_data<std::int64_t>()[2 * at + (adjoint_a ? 0 : 1)] = inner;
          values.mutable_data<double>()[at] = value;
          for (std::int64_t j = 0; j < n; ++j)
            wanted[static_cast<std::size_t>(row * n + j)] +=
                value * b.data<double>()[static_cast<std::size_t>(adjoint_b ? j * k + inner
                                                                            : inner * n + j)];
        }
        const std::vector<std::int64_t> dims = adjoint_a ? std::vector{k, m} : std::vector{m, k};
        const Tensor out = list::testing::OpRunner().run(
            "SparseTensorDenseMatMul", {indices, values, Tensor::vector<std::int64_t>(dims), b},
            {{"adjoint_a", adjoint_a}, {"adjoint_b", adjoint_b}});
        CHECK(std::ranges::equal(out.data<double>(), wanted));
      }
}

} // namespace
} // namespace troupe
