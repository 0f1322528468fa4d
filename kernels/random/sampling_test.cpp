// Cases of Multinomial, StatelessMultinomial and RandomGamma; numbers are those of TensorFlow 2.21.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/random/internal/draws.hpp"
#include "tests/support/ops/op_cases.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Multinomial) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 7"},
          .attrs = {{"seed", std::int64_t{12}},
                    {"seed2", std::int64_t{5}},
                    {"output_dtype", DType::int64}},
          .outputs = {"i64[3,7] 3 1 2 2 2 2 1 3 3 0 0 0 1 3 4 1 3 2 0 4 0"},
      },
      {
          .name = "float64",
          .inputs = {"f64[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 7"},
          .attrs = {{"seed", std::int64_t{13}},
                    {"seed2", std::int64_t{5}},
                    {"output_dtype", DType::int64}},
          .outputs = {"i64[3,7] 2 2 2 2 2 2 2 0 0 0 0 4 0 3 1 2 0 3 0 4 1"},
      },
      {
          .name = "float16",
          .inputs = {"f16[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 7"},
          .attrs = {{"seed", std::int64_t{14}},
                    {"seed2", std::int64_t{5}},
                    {"output_dtype", DType::int64}},
          .outputs = {"i64[3,7] 2 2 2 2 2 2 2 1 3 0 4 0 0 0 3 4 0 1 2 3 2"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 7"},
          .attrs = {{"seed", std::int64_t{15}},
                    {"seed2", std::int64_t{5}},
                    {"output_dtype", DType::int64}},
          .outputs = {"i64[3,7] 0 0 2 2 3 3 3 0 0 0 3 0 0 0 2 4 3 2 0 2 2"},
      },
      {
          .name = "indices of 32 bits",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 3"},
          .attrs = {{"seed", std::int64_t{16}},
                    {"seed2", std::int64_t{5}},
                    {"output_dtype", DType::int32}},
          .outputs = {"i32[3,3] 2 2 1 1 4 0 4 0 0"},
      },
      {
          .name = "no samples",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 0"},
          .attrs = {{"seed", std::int64_t{17}}, {"seed2", std::int64_t{5}}},
          .outputs = {"i64[3,0]"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,2]", "i32[] 3"},
          .attrs = {{"seed", std::int64_t{18}}, {"seed2", std::int64_t{5}}},
          .outputs = {"i64[0,3]"},
      },
      {
          .name = "nothing has a probability",
          .inputs = {"f32[2,3] nan nan nan -inf -inf -inf", "i32[] 2"},
          .attrs = {{"seed", std::int64_t{19}}, {"seed2", std::int64_t{5}}},
          .outputs = {"i64[2,2] 3"},
      },
      {
          .name = "a vector of logits",
          .inputs = {"f32[5] 0 1 2 0.5 -1", "i32[] 3"},
          .attrs = {{"seed", std::int64_t{20}}, {"seed2", std::int64_t{5}}},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "fewer than no samples",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] -3"},
          .attrs = {{"seed", std::int64_t{21}}, {"seed2", std::int64_t{5}}},
          .error = "num_samples should be non-negative, got -3",
      },
      {
          .name = "no classes",
          .inputs = {"f32[2,0]", "i32[] 3"},
          .attrs = {{"seed", std::int64_t{22}}, {"seed2", std::int64_t{5}}},
          .error = "num_classes should be positive, got 0",
      },
  };
}

TROUPE_OP_CASES(StatelessMultinomial) {
  return {
      {
          .name = "float32",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 7", "i32[2] 3 4"},
          .attrs = {{"output_dtype", DType::int64}},
          .outputs = {"i64[3,7] 3 2 1 3 3 2 1 0 0 0 0 0 1 0 1 4 4 3 1 3 0"},
      },
      {
          .name = "float64",
          .inputs = {"f64[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 7", "i32[2] 3 4"},
          .attrs = {{"output_dtype", DType::int64}},
          .outputs = {"i64[3,7] 3 2 1 3 3 2 1 0 0 0 0 0 1 0 1 4 4 3 1 3 0"},
      },
      {
          .name = "float16",
          .inputs = {"f16[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 7", "i32[2] 3 4"},
          .attrs = {{"output_dtype", DType::int64}},
          .outputs = {"i64[3,7] 3 2 1 3 3 2 1 0 0 0 0 0 1 0 1 4 4 3 1 3 0"},
      },
      {
          .name = "bfloat16",
          .inputs = {"bf16[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 7", "i32[2] 3 4"},
          .attrs = {{"output_dtype", DType::int64}},
          .outputs = {"i64[3,7] 3 2 1 3 3 2 1 0 0 0 0 0 1 0 1 4 4 3 1 3 0"},
      },
      {
          .name = "indices of 32 bits",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 3", "i32[2] 3 4"},
          .attrs = {{"output_dtype", DType::int32}},
          .outputs = {"i32[3,3] 3 2 1 3 4 0 0 0 3"},
      },
      {
          .name = "no samples",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 0", "i32[2] 3 4"},
          .outputs = {"i64[3,0]"},
      },
      {
          .name = "no rows",
          .inputs = {"f32[0,2]", "i32[] 3", "i32[2] 3 4"},
          .outputs = {"i64[0,3]"},
      },
      {
          .name = "nothing has a probability",
          .inputs = {"f32[2,3] nan nan nan -inf -inf -inf", "i32[] 2", "i32[2] 3 4"},
          .outputs = {"i64[2,2] 3"},
      },
      {
          .name = "a vector of logits",
          .inputs = {"f32[5] 0 1 2 0.5 -1", "i32[] 3", "i32[2] 3 4"},
          .error = "Shape must be rank 2 but is rank 1",
      },
      {
          .name = "fewer than no samples",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] -3", "i32[2] 3 4"},
          .error = "num_samples should be non-negative, got -3",
      },
      {
          .name = "no classes",
          .inputs = {"f32[2,0]", "i32[] 3", "i32[2] 3 4"},
          .error = "num_classes should be positive, got 0",
      },
      {
          .name = "three seeds",
          .inputs = {"f32[3,5] 0 1 2 0.5 -1 3 1 -inf 1 1 0 0 0 0 0", "i32[] 3", "i32[3] 1 2 3"},
          .error = "Dimensions must be equal, but are 3 and 2",
      },
  };
}

TROUPE_OP_CASES(RandomGamma) {
  return {
      {
          .name = "float32",
          .inputs = {"i32[1] 3", "f32[3] 0.5 1 2.5"},
          .attrs = {{"seed", std::int64_t{23}}, {"seed2", std::int64_t{5}}},
          .outputs = {"f32[3,3] 0.22076301 0.19305971 1.8862972 0.14456142 0.14485739 2.3419886 "
                      "0.16939895 0.50704765 1.4261953"},
      },
      {
          .name = "float64",
          .inputs = {"i32[1] 3", "f64[3] 0.5 1 2.5"},
          .attrs = {{"seed", std::int64_t{24}}, {"seed2", std::int64_t{5}}},
          .outputs = {"f64[3,3] 0.5594787724415784 0.12407327713561109 1.178343294088731 "
                      "0.050628453697307875 1.0714545246737397 2.84978432762758 "
                      "0.31378723604393866 0.18807082649679782 1.0792732248971553"},
      },
      {
          .name = "float16",
          .inputs = {"i32[1] 3", "f16[3] 0.5 1 2.5"},
          .attrs = {{"seed", std::int64_t{25}}, {"seed2", std::int64_t{5}}},
          .outputs = {"f16[3,3] 0.242 2.127 4.715 0.327 1.126 0.008965 2.857 0.8223 3.713"},
      },
      {
          .name = "a matrix of alphas",
          .inputs = {"i64[2] 2 1", "f64[2,2] 0.5 1 20 0.01"},
          .attrs = {{"seed", std::int64_t{26}}, {"seed2", std::int64_t{5}}},
          .outputs = {"f64[2,1,2,2] 0.24224987385561553 0.16070974395006538 13.906419165944744 "
                      "1.2855774391739654e-38 0.025825463672358842 0.13714941850989743 "
                      "26.668483049261425 2.5874311712484527e-41"},
      },
      {
          .name = "alphas of zero and less",
          .inputs = {"i32[1] 2", "f32[2] -1 0"},
          .attrs = {{"seed", std::int64_t{27}}, {"seed2", std::int64_t{5}}},
          .outputs = {"f32[2,2] nan 0 nan 0"},
      },
      {
          .name = "no alphas",
          .inputs = {"i32[1] 2", "f32[0]"},
          .attrs = {{"seed", std::int64_t{28}}, {"seed2", std::int64_t{5}}},
          .outputs = {"f32[2,0]"},
      },
      {
          .name = "a scalar shape",
          .inputs = {"i32[] 2", "f32[1] 1"},
          .attrs = {{"seed", std::int64_t{29}}, {"seed2", std::int64_t{5}}},
          .error = "Shape must be rank 1 but is rank 0",
      },
      {.name = "a shape in a matrix",
       .inputs = {"i32[1,1] 7", "f32[] 1"},
       .error = "shape must be a vector of {int32,int64}, got shape: Tensor<type: int32 shape: "
                "[1,1] values: [7]>"},
  };
}

TEST_CASE("words that are skipped are as if they had been drawn") {
  const auto start = arith::Philox::from_seeds(3, 7);
  for (std::uint64_t skipped : {0, 1, 3, 4, 5, 4002}) {
    random::Words drawn(start), words(start);
    for (std::uint64_t k = 0; k < skipped; ++k)
      drawn.next();
    words.skip(skipped);
    CHECK(words.next() == drawn.next());
    CHECK(words.next_unit() == drawn.next_unit());
  }
}

TEST_CASE("Multinomial of many rows draws as one loop over them does") {
  constexpr std::int64_t rows = 300, classes = 203, samples = 3;
  Tensor logits = Tensor::make(DType::float32, Shape{rows, classes});
  auto x = logits.mutable_data<float>();
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i % 31 == 5 ? -INFINITY : i % 37 == 5 ? NAN : static_cast<float>(i * 7919 % 100) / 20;
  testing::TestDevice device;
  AttrMap attrs;
  attrs.set("T", DType::float32);
  attrs.set("Tseed", DType::int64);
  attrs.set("output_dtype", DType::int64);
  const OpLibrary& library = op_library();
  auto bound = bind_kernel(library.kernels, "n", *library.ops.find("StatelessMultinomial"), attrs,
                           device.device());
  REQUIRE_MESSAGE(bound.ok(), bound.status().to_string());
  std::vector<Entry> inputs(3), outputs(1);
  inputs[0].tensor = logits;
  inputs[1].tensor = Tensor::scalar(static_cast<std::int32_t>(samples));
  inputs[2].tensor = Tensor::vector<std::int64_t>({11, 5});
  KernelContext context{*bound, device.step(), inputs, outputs};
  const Status status = testing::run_kernel(context);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  random::Words words(arith::Philox::from_stateless_seed(11, 5));
  int wrong = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto from = std::as_const(logits).data<float>().subspan(
        static_cast<std::size_t>(row * classes), static_cast<std::size_t>(classes));
    double largest = std::numeric_limits<double>::lowest(), sum = 0;
    for (float logit : from)
      if (std::isfinite(logit))
        largest = std::max(largest, static_cast<double>(logit));
    std::vector<double> sums;
    for (float logit : from)
      sums.push_back(sum +=
                     std::isfinite(logit) ? std::exp(static_cast<double>(logit) - largest) : 0);
    for (std::int64_t i = 0; i < samples; ++i)
      wrong +=
          outputs[0].tensor.data<std::int64_t>()[static_cast<std::size_t>(row * samples + i)] !=
          std::ranges::upper_bound(sums, words.next_unit() * sum) - sums.begin();
  }
  CHECK(wrong == 0);
}

} // namespace
} // namespace troupe
