// Cases of TopK, TopKV2, InTopK and InTopKV2; values are those of TensorFlow 2.21.
#include <algorithm>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/interpreter.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(TopK) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[2,5] 1 5 3 4 2 9 -1 7 -3 8"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"f32[2,2] 5 4 9 8", "i32[2,2] 1 3 0 4"},
      },
      {
          .name = "float64",
          .inputs = {"f64[2,5] 1 5 3 4 2 9 -1 7 -3 8"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"f64[2,2] 5 4 9 8", "i32[2,2] 1 3 0 4"},
      },
      {
          .name = "int32",
          .inputs = {"i32[2,5] 1 5 3 4 2 9 -1 7 -3 8"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"i32[2,2] 5 4 9 8", "i32[2,2] 1 3 0 4"},
      },
      {
          .name = "int64",
          .inputs = {"i64[2,5] 1 5 3 4 2 9 -1 7 -3 8"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"i64[2,2] 5 4 9 8", "i32[2,2] 1 3 0 4"},
      },
      {
          .name = "unsorted",
          .inputs = {"f32[1,7] 1 5 3 4 2 8 6"},
          .attrs = {{"k", std::int64_t{3}}, {"sorted", false}},
          .outputs = {"f32[1,3] 5 8 6", "i32[1,3] 1 5 6"},
      },
      {
          .name = "fewer columns than k",
          .inputs = {"f32[1,2] 0"},
          .attrs = {{"k", std::int64_t{3}}},
          .error = "input must have last dimension >= k = 3 but is 2",
      },
  };
}

TROUPE_OP_CASES(TopKV2) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[2,5] 1 5 3 4 2 9 -1 7 -3 8", "i32[] 3"},
          .outputs = {"f32[2,3] 5 4 3 9 8 7", "i32[2,3] 1 3 2 0 4 2"},
      },
      {
          .name = "float64",
          .inputs = {"f64[2,5] 1 5 3 4 2 9 -1 7 -3 8", "i32[] 3"},
          .outputs = {"f64[2,3] 5 4 3 9 8 7", "i32[2,3] 1 3 2 0 4 2"},
      },
      {
          .name = "int32",
          .inputs = {"i32[2,5] 1 5 3 4 2 9 -1 7 -3 8", "i32[] 3"},
          .outputs = {"i32[2,3] 5 4 3 9 8 7", "i32[2,3] 1 3 2 0 4 2"},
      },
      {
          .name = "int64",
          .inputs = {"i64[2,5] 1 5 3 4 2 9 -1 7 -3 8", "i32[] 3"},
          .outputs = {"i64[2,3] 5 4 3 9 8 7", "i32[2,3] 1 3 2 0 4 2"},
      },
      {
          .name = "the first of equals first",
          .inputs = {"i32[5] 5 1 5 5 2", "i32[] 4"},
          .outputs = {"i32[4] 5 5 5 2", "i32[4] 0 2 3 4"},
      },
      {
          .name = "k of zero",
          .inputs = {"f32[1,2] 1 5", "i32[] 0"},
          .outputs = {"f32[1,0]", "i32[1,0]"},
      },
      {
          .name = "all of them",
          .inputs = {"f32[3] 3 1 2", "i32[] 3"},
          .outputs = {"f32[3] 3 2 1", "i32[3] 0 2 1"},
      },
      {
          .name = "three dimensions",
          .inputs = {"f32[2,1,3] 4 1 3 2 9 5", "i32[] 1"},
          .outputs = {"f32[2,1,1] 4 9", "i32[2,1,1] 0 1"},
      },
      {
          .name = "small and large indices",
          .inputs = {"f32[3] 3 1 2", "i64[] 2"},
          .attrs = {{"index_type", DType::int16}},
          .outputs = {"f32[2] 3 2", "i16[2] 0 2"},
      },
      {
          .name = "indices of int64",
          .inputs = {"f32[3] 3 1 2", "i16[] 2"},
          .attrs = {{"index_type", DType::int64}},
          .outputs = {"f32[2] 3 2", "i64[2] 0 2"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i32[] 2"},
          .outputs = {"f32[0,2]", "i32[0,2]"},
      },
      {
          .name = "infinity",
          .inputs = {"f32[3] -inf inf 0", "i32[] 3"},
          .outputs = {"f32[3] inf 0 -inf", "i32[3] 1 2 0"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "NaN comes first",
          .inputs = {"f32[3] 1 nan 3", "i32[] 2"},
          .outputs = {"f32[2] nan 3", "i32[2] 1 2"},
          .check_gradient = false,
          .no_gradient_reason = "NaN has no finite differences",
      },
      {
          .name = "one of rows of many, the first of equals",
          .inputs = {"f64[3,19] 4 1 3 2 7 5 1 2 -9 8 3 2 8 4 6 9 9 9 5 "
                     "-1 -2 -3 -4 -5 -6 -7 -8 -9 -8 -7 -6 -5 -4 -3 -2 -0.5 -1 -0.5 "
                     "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -8 -7 -6 -5 -4 -3 -2 -1 0",
                     "i32[] 1"},
          .outputs = {"f64[3,1] 9 -0.5 0", "i32[3,1] 15 16 0"},
          .check_gradient = false,
          .no_gradient_reason = "equal elements have no finite differences",
      },
      {
          .name = "one, of which NaN is the first, or infinity",
          .inputs =
              {"f32[3,9] 1 2 inf nan nan 3 4 5 6 -inf -inf -inf -inf -inf -inf -inf -inf -inf "
               "1 2 3 4 5 6 7 inf 9",
               "i32[] 1"},
          .outputs = {"f32[3,1] nan -inf inf", "i32[3,1] 3 0 7"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "unsorted, as TensorFlow's heap has them",
          .inputs = {"f32[2,7] 1 5 3 4 2 8 6 9 -1 7 -3 8 0 2", "i32[] 3"},
          .attrs = {{"sorted", false}},
          .outputs = {"f32[2,3] 5 8 6 7 9 8", "i32[2,3] 1 5 6 2 0 4"},
      },
      {
          .name = "unsorted, all but one",
          .inputs = {"f32[5] 3 1 2 9 7", "i32[] 4"},
          .attrs = {{"sorted", false}},
          .outputs = {"f32[4] 2 3 7 9", "i32[4] 2 0 4 3"},
      },
      {
          .name = "unsorted, each larger than those before",
          .inputs = {"i64[9] 1 2 3 4 5 6 7 8 9", "i32[] 5"},
          .attrs = {{"sorted", false}},
          .outputs = {"i64[5] 5 6 8 7 9", "i32[5] 4 5 7 6 8"},
      },
      {
          .name = "unsorted, the last of equals first",
          .inputs = {"i32[8] 5 1 5 5 2 5 4 1", "i32[] 4"},
          .attrs = {{"sorted", false}},
          .outputs = {"i32[4] 5 5 5 5", "i32[4] 5 3 2 0"},
      },
      {
          .name = "unsorted, two zeros and infinities",
          .inputs = {"f64[7] 2 -0 1 0 -inf inf 0", "i32[] 5"},
          .attrs = {{"sorted", false}},
          .outputs = {"f64[5] 0 -0 1 2 inf", "i32[5] 3 1 2 0 5"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and equal elements have no finite differences",
      },
      {
          .name = "unsorted, all of them are sorted",
          .inputs = {"f32[3] 3 1 2", "i32[] 3"},
          .attrs = {{"sorted", false}},
          .outputs = {"f32[3] 3 2 1", "i32[3] 0 2 1"},
      },
      {
          .name = "unsorted, one",
          .inputs = {"f32[3] 3 9 2", "i32[] 1"},
          .attrs = {{"sorted", false}},
          .outputs = {"f32[1] 9", "i32[1] 1"},
      },
      {
          .name = "a scalar is refused",
          .inputs = {"f32[] 1", "i32[] 1"},
          .error = "Shape must be at least rank 1 but is rank 0",
      },
      {
          .name = "a vector of k is refused",
          .inputs = {"f32[2] 0", "i32[1] 1"},
          .error = "Shape must be rank 0 but is rank 1",
      },
      {
          .name = "negative k",
          .inputs = {"f32[2] 0", "i32[] -1"},
          .error = "Need k >= 0, got -1",
      },
      {
          .name = "fewer columns than k",
          .inputs = {"f32[1,2] 0", "i32[] 3"},
          .error = "input must have last dimension >= k = 3 but is 2",
      },
  };
}

TROUPE_OP_CASES(InTopK) {
  return {
      {
          .name = "int32",
          .inputs = {"f32[7,3] 0.1 0.9 0.5 0.5 0.5 0.5 nan 1 2 inf 1 2 0 1 2 3 2 1 3 2 1",
                     "i32[7] 2 2 1 0 7 -1 2"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"bool[7] true true false false false false false"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "int64",
          .inputs = {"f32[7,3] 0.1 0.9 0.5 0.5 0.5 0.5 nan 1 2 inf 1 2 0 1 2 3 2 1 3 2 1",
                     "i64[7] 2 2 1 0 7 -1 2"},
          .attrs = {{"k", std::int64_t{2}}},
          .outputs = {"bool[7] true true false false false false false"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i32[0]"},
          .attrs = {{"k", std::int64_t{1}}},
          .outputs = {"bool[0]"},
      },
      {
          .name = "a vector of predictions",
          .inputs = {"f32[3] 0", "i32[3] 0"},
          .attrs = {{"k", std::int64_t{1}}},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "a matrix of targets",
          .inputs = {"f32[3,2] 0", "i32[3,1] 0"},
          .attrs = {{"k", std::int64_t{1}}},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "another number of targets",
          .inputs = {"f32[3,2] 0", "i32[2] 0"},
          .attrs = {{"k", std::int64_t{1}}},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
  };
}

TROUPE_OP_CASES(InTopKV2) {
  return {
      {
          .name = "int32",
          .inputs = {"f32[7,3] 0.1 0.9 0.5 0.5 0.5 0.5 nan 1 2 inf 1 2 0 1 2 3 2 1 3 2 1",
                     "i32[7] 2 2 1 0 7 -1 2", "i32[] 2"},
          .outputs = {"bool[7] true true false false false false false"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "int64",
          .inputs = {"f32[7,3] 0.1 0.9 0.5 0.5 0.5 0.5 nan 1 2 inf 1 2 0 1 2 3 2 1 3 2 1",
                     "i64[7] 2 2 1 0 7 -1 2", "i64[] 2"},
          .outputs = {"bool[7] true true false false false false false"},
          .check_gradient = false,
          .no_gradient_reason = "infinity and NaN have no finite differences",
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,3]", "i32[0]", "i32[] 1"},
          .outputs = {"bool[0]"},
      },
      {
          .name = "a vector of predictions",
          .inputs = {"f32[3] 0", "i32[3] 0", "i32[] 1"},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "a matrix of targets",
          .inputs = {"f32[3,2] 0", "i32[3,1] 0", "i32[] 1"},
          .error = "Shape must be rank 1 but is rank 2",
      },
      {
          .name = "another number of targets",
          .inputs = {"f32[3,2] 0", "i32[2] 0", "i32[] 1"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
      {.name = "a vector as k",
       .inputs = {"f32[1,2] 1 2", "i32[1] 1", "i32[1] 1"},
       .error = "k must be 0-D, got shape [1]"},
  };
}

template <class T>
void check_order() {
  CAPTURE(dtype_of<T>);
  constexpr std::int64_t columns = 300;
  std::vector<T> row; // most are there several times
  for (std::int64_t i = 0; i < columns; ++i) {
    const std::int64_t wave = i * i * 31 % 97;
    row.push_back(static_cast<T>(std::is_signed_v<T> ? wave - 48 : wave));
  }
  row[7] = std::numeric_limits<T>::max();
  row[100] = row[200] = std::numeric_limits<T>::lowest();
  if constexpr (std::is_floating_point_v<T>) {
    row[5] = -T(0);
    row[6] = T(0);
    row[9] = std::numeric_limits<T>::infinity();
    row[11] = -std::numeric_limits<T>::infinity();
    row[12] = T(-0.5);
    row[13] = T(0.5);
  }
  std::vector<std::int32_t> expected(columns);
  std::iota(expected.begin(), expected.end(), 0);
  std::ranges::stable_sort(expected, [&](std::int32_t a, std::int32_t b) {
    return row[static_cast<std::size_t>(a)] > row[static_cast<std::size_t>(b)];
  });
  testing::Interpreter interpreter;
  for (std::int32_t k : {1, 64, 65, 299, 300}) {
    CAPTURE(k);
    auto graph = parse_graph(str_cat("x = Placeholder[dtype=", to_string(AttrValue(dtype_of<T>)),
                                     "]()\nk = Const[dtype=DT_INT32, value=i32[] ", k,
                                     "]()\ntop = TopKV2(x, k)"),
                             op_library().ops);
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    auto out = interpreter.run(*graph, {{"x", Tensor::of<T>({1, columns}, row)}}, {"top:1"});
    REQUIRE_MESSAGE(out.ok(), out.status().to_string());
    const auto got = out->front().template data<std::int32_t>();
    CHECK(std::equal(got.begin(), got.end(), expected.begin()));
  }
}

TEST_CASE("top k: as a stable sort has them, for few, many and all of a row") {
  check_order<float>();
  check_order<double>();
  check_order<std::int8_t>();
  check_order<std::uint8_t>();
  check_order<std::int32_t>();
  check_order<std::int64_t>();
  check_order<std::uint32_t>();
  check_order<std::uint64_t>();
}

} // namespace
} // namespace troupe
