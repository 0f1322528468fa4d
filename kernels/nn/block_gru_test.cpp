// Cases of GRUBlockCell and its gradient; values are those of TensorFlow 2.21.
#include <algorithm>
#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(GRUBlockCell) {
  return {
      {
          .name = "one time",
          .inputs = {"f32[2,3] -0.375 0.375 0.5 0 0.125 0.375", "f32[2,2] 0 0.875 0.625 0",
                     "f32[5,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25 -0.25 -1 0.5 -0.125 0.75 "
                     "-0.75 -0.75 -0.875 -0.375 0 0.75 -0.875",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[2] 0.25 0.125"},
          .outputs = {"f32[2,2] 0.25386101 0.65135485 0.44552955 0.48828337",
                      "f32[2,2] 0.86153823 0.35220179 0.64779818 0.30735803",
                      "f32[2,2] -0.34466338 0.043130476 0.10542481 0.33274332",
                      "f32[2,2] -0.047722697 0.33611643 0.44200468 0.230472"},
      },
      {
          .name = "no batch",
          .inputs = {"f32[0,3]", "f32[0,2]",
                     "f32[5,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25 -0.25 -1 0.5 -0.125 0.75 "
                     "-0.75 -0.75 -0.875 -0.375 0 0.75 -0.875",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[2] 0.25 0.125"},
          .outputs = {"f32[0,2]", "f32[0,2]", "f32[0,2]", "f32[0,2]"},
      },
      {
          .name = "no input",
          .inputs = {"f32[2,0]", "f32[2,2] 0 0.875 0.625 0",
                     "f32[2,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25",
                     "f32[2,2] 0.75 -0.375 -0.875 0", "f32[4] -0.625 0.75 0.875 -0.25",
                     "f32[2] 0.25 0.125"},
          .outputs = {"f32[2,2] 0.39981163 0.74613899 0.38491213 0.58888912",
                      "f32[2,2] 0.72797543 0.49218813 0.70578504 0.29421496",
                      "f32[2,2] -0.31064817 0.12435301 0.40567854 0.034772191",
                      "f32[2,2] -0.084503934 0.49381256 0.56047237 0.024541691"},
      },
      {
          .name = "another batch",
          .inputs = {"f32[3,3] -0.375 0.375 0.5 0 0.125 0.375 -0.375 0.875 -1",
                     "f32[2,2] 0 0.875 0.625 0",
                     "f32[5,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25 -0.25 -1 0.5 -0.125 0.75 "
                     "-0.75 -0.75 -0.875 -0.375 0 0.75 -0.875",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[2] 0.25 0.125"},
          .error = "h_prev.dims(0) != batch_size: 2 vs. 3",
      },
      {
          .name = "weights of fewer columns",
          .inputs = {"f32[2,3] -0.375 0.375 0.5 0 0.125 0.375", "f32[2,2] 0 0.875 0.625 0",
                     "f32[5,2] -0.375 0.375 0.5 0 0.125 0.375 -0.375 0.875 -1 1",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[2] 0.25 0.125"},
          .error = "w_ru.dim_size(1) != cell_size * 2: 2 vs. 4",
      },
      {
          .name = "a short bias",
          .inputs = {"f32[2,3] -0.375 0.375 0.5 0 0.125 0.375", "f32[2,2] 0 0.875 0.625 0",
                     "f32[5,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25 -0.25 -1 0.5 -0.125 0.75 "
                     "-0.75 -0.75 -0.875 -0.375 0 0.75 -0.875",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[1] -0.375"},
          .error = "b_c.dim_size(0) != cell_size: 1 vs. 2",
      },
      {
          .name = "a vector",
          .inputs = {"f32[3] -0.375 0.375 0.5", "f32[2,2] 0 0.875 0.625 0",
                     "f32[5,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25 -0.25 -1 0.5 -0.125 0.75 "
                     "-0.75 -0.75 -0.875 -0.375 0 0.75 -0.875",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[2] 0.25 0.125"},
          .error = "rank 2",
      },
      {.name = "an input of rank 3",
       .inputs = {"f32[1,1,1] 1", "f32[1,1] 1", "f32[2,2] 1", "f32[2,1] 1", "f32[2] 1", "f32[1] 1"},
       .error = "Rank of x must be 2, got 3"},
      {.name = "weights of rank 1",
       .inputs = {"f32[1,1] 1", "f32[1,1] 1", "f32[4] 1", "f32[2,1] 1", "f32[2] 1", "f32[1] 1"},
       .error = "Rank of w_ru_ must be 2, got 1"},
      {.name = "candidate weights of rank 1",
       .inputs = {"f32[1,1] 1", "f32[1,1] 1", "f32[2,2] 1", "f32[2] 1", "f32[2] 1", "f32[1] 1"},
       .error = "Rank of w_c must be 2, got 1"},
      {.name = "biases of rank 2",
       .inputs = {"f32[1,1] 1", "f32[1,1] 1", "f32[2,2] 1", "f32[2,1] 1", "f32[2,1] 1", "f32[1] 1"},
       .error = "Rank of b_ru must be 1, got 2"},
  };
}

TROUPE_OP_CASES(GRUBlockCellGrad) {
  return {
      {
          .name = "one time",
          .inputs = {"f32[2,3] -0.375 0.375 0.5 0 0.125 0.375", "f32[2,2] 0 0.875 0.625 0",
                     "f32[5,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25 -0.25 -1 0.5 -0.125 0.75 "
                     "-0.75 -0.75 -0.875 -0.375 0 0.75 -0.875",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[2] 0.25 0.125",
                     "f32[2,2] 0.25386101 0.65135485 0.44552955 0.48828337",
                     "f32[2,2] 0.86153823 0.35220179 0.64779818 0.30735803",
                     "f32[2,2] -0.34466338 0.043130476 0.10542481 0.33274332",
                     "f32[2,2] -0.875 0 -0.875 -1"},
          .outputs =
              {"f32[2,3] -0.08007136 0.08891964 -0.017987782 -0.081807293 0.25801197 -0.12432285",
               "f32[2,2] -0.72347641 -0.026981674 -0.74572295 -0.27667165",
               "f32[2,2] -0.10676181 0 -0.30475137 -0.61595392",
               "f32[2,4] 0 0 -0.035975564 0 -0.053556327 0 -0.10372604 0.070837416"},
      },
      {
          .name = "no batch",
          .inputs = {"f32[0,3]", "f32[0,2]",
                     "f32[5,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25 -0.25 -1 0.5 -0.125 0.75 "
                     "-0.75 -0.75 -0.875 -0.375 0 0.75 -0.875",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[2] 0.25 0.125", "f32[0,2]", "f32[0,2]",
                     "f32[0,2]", "f32[0,2]"},
          .outputs = {"f32[0,3]", "f32[0,2]", "f32[0,2]", "f32[0,4]"},
      },
      {
          .name = "a gradient of another shape",
          .inputs = {"f32[2,3] -0.375 0.375 0.5 0 0.125 0.375", "f32[2,2] 0 0.875 0.625 0",
                     "f32[5,4] 0.25 -0.625 0 -1 0.25 0.375 0.125 0.25 -0.25 -1 0.5 -0.125 0.75 "
                     "-0.75 -0.75 -0.875 -0.375 0 0.75 -0.875",
                     "f32[5,2] 0.75 -0.375 -0.875 0 0 0.125 -0.125 0.625 0 -0.5",
                     "f32[4] -0.625 0.75 0.875 -0.25", "f32[2] 0.25 0.125",
                     "f32[2,2] 0.25386101 0.65135485 0.44552955 0.48828337",
                     "f32[2,2] 0.86153823 0.35220179 0.64779818 0.30735803",
                     "f32[2,2] -0.34466338 0.043130476 0.10542481 0.33274332",
                     "f32[2,3] -0.375 0.375 0.5 0 0.125 0.375"},
          .error = "d_h.dims(1) != cell_size",
      },
  };
}

// Rows are computed some at once, by several threads.
TEST_CASE("gru cell: many rows, against cell after cell in double") {
  constexpr std::size_t batch = 500, in = 5, n = 33;
  constexpr const char* names[] = {"x", "h", "w_ru", "w_c", "b_ru", "b_c"};
  const std::array<Shape, 6> shapes{Shape{batch, in}, Shape{batch, n}, Shape{in + n, 2 * n},
                                    Shape{in + n, n}, Shape{2 * n},    Shape{n}};
  std::array<std::vector<float>, 6> inputs;
  testing::Feeds feeds;
  std::string text;
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::int64_t k = 0; k < shapes[i].num_elements(); ++k)
      inputs[i].push_back(static_cast<float>(k * k * 31 % 257 - 128) /
                          (i == 2 || i == 3 ? 512 : 128));
    feeds.emplace_back(names[i], Tensor::of<float>(shapes[i], inputs[i]));
    text += str_cat(names[i], " = Placeholder[dtype=DT_FLOAT]()\n");
  }
  auto graph = parse_graph(text + "y = GRUBlockCell(x, h, w_ru, w_c, b_ru, b_c)", op_library().ops);
  REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
  testing::Interpreter interpreter;
  auto out = interpreter.run(*graph, feeds, {"y", "y:1", "y:2", "y:3"});
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  const auto& [x, h, w_ru, w_c, b_ru, b_c] = inputs;
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  double difference = 0;
  for (std::size_t b = 0; b < batch; ++b) {
    std::vector<double> gates(b_ru.begin(), b_ru.end()), candidate(b_c.begin(), b_c.end());
    const auto add = [](std::vector<double>& sums, double from, const float* weights) {
      for (std::size_t j = 0; j < sums.size(); ++j)
        sums[j] += from * weights[j];
    };
    for (std::size_t r = 0; r < in + n; ++r)
      add(gates, r < in ? x[b * in + r] : h[b * n + r - in], &w_ru[r * 2 * n]);
    for (std::size_t r = 0; r < in + n; ++r)
      add(candidate, r < in ? x[b * in + r] : h[b * n + r - in] * sigmoid(gates[r - in]),
          &w_c[r * n]);
    for (std::size_t j = 0; j < n; ++j) {
      const double u = sigmoid(gates[n + j]), c = std::tanh(candidate[j]);
      const double expected[] = {sigmoid(gates[j]), u, c, u * h[b * n + j] + (1 - u) * c};
      for (std::size_t i = 0; i < 4; ++i)
        difference =
            std::max(difference, std::abs((*out)[i].data<float>()[b * n + j] - expected[i]));
    }
  }
  CHECK(difference < 1e-5);
}

} // namespace
} // namespace troupe
