// Mfcc: expected values and texts are TensorFlow 2.21's.
#include <limits>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe::mfcc_test {
namespace {

using testing::OpCase;

constexpr auto powers = "f32[1,2,33] 1 2 3 4 5 6 0 1 2 3 4 5 6 0 1 2 3 4 5 6 0 1 2 3 4 5 6 0 1 2 3 "
                        "4 5 6 0 1 2 3 4 5 6 0 1 2 3 4 5 6 0 1 2 3 4 5 6 0 1 2 3 4 5 6 0 1 2 3";

struct Limits {
  float lower = 20, upper = 4000;
  std::int64_t bands = 6, coefficients = 4;
};

OpCase with(OpCase row, Limits limits, int rate = 8000) {
  row.inputs.push_back(str_cat("i32[] ", rate));
  row.attrs = {{"lower_frequency_limit", limits.lower},
               {"upper_frequency_limit", limits.upper},
               {"filterbank_channel_count", limits.bands},
               {"dct_coefficient_count", limits.coefficients}};
  row.tolerance = 1e-6;
  row.tolerance_reason = "logarithms and cosines of other libraries";
  return row;
}

OpCase refused(std::string name, Limits limits, int rate = 8000) {
  return with({.name = std::move(name),
               .inputs = {powers},
               .error = str_cat("Mfcc initialization failed for channel count 33, sample rate ",
                                rate, " and filterbank_channel_count ", limits.bands)},
              limits, rate);
}

} // namespace

TROUPE_OP_CASES(Mfcc) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  inf = std::numeric_limits<float>::infinity();
  return {
      with({.name = "all frequencies",
            .inputs = {powers},
            .outputs = {"f32[1,2,4] 6.3816013 -0.99996656 0.13580857 -0.00709878 6.05163 "
                        "-1.3418493 -0.2764993 -0.36874688"}},
           {}),
      with({.name = "between limits, as many coefficients as bands",
            .inputs = {powers},
            .outputs = {"f32[1,2,5] 3.245491 -0.58028877 -0.14997283 -0.47266522 0.43445867 "
                        "2.1700776 -1.6084497 -1.0071523 "
                        "-0.11766937 -0.24403952"}},
           {.lower = 100, .upper = 3000, .bands = 5, .coefficients = 5}, 16000),
      with({.name = "a spectrogram that ends below the upper limit",
            .inputs = {"f32[1,2,5] 1 2 3 4 5 6 7 8 9 10"},
            .outputs = {"f32[1,2,4] 0 0 0 0 0 0 0 0"}},
           {}, 4000),
      with({.name = "an upper limit without bound",
            .inputs = {powers},
            .outputs = {"f32[1,2,4] 0 0 0 0 0 0 0 0"}},
           {.upper = inf}),
      with({.name = "no windows", .inputs = {"f32[3,0,33]"}, .outputs = {"f32[3,0,4]"}}, {}),
      with({.name = "two dimensions",
            .inputs = {"f32[1,2] 1 2"},
            .error = "Shape must be rank 3 but is rank 2"},
           {}),
      with({.name = "one frequency",
            .inputs = {"f32[1,1,1] 1"},
            .error = "Mfcc initialization failed for channel count 1, sample rate 8000"},
           {}),
      refused("more coefficients than bands", {.coefficients = 7}),
      refused("no coefficients", {.coefficients = 0}),
      refused("no bands", {.bands = 0}),
      refused("more bands than memory", {.bands = INT64_MAX}),
      refused("limits the wrong way round", {.lower = 5000}),
      refused("a lower limit below nothing", {.lower = -1}),
      refused("a lower limit that is no number", {.lower = nan}),
      refused("no rate", {}, 0),
      with({.name = "a negative number of coefficients",
            .inputs = {powers},
            .error = "dct_coefficient_count must be positive, got -3"},
           {.coefficients = -3}),
  };
}

} // namespace troupe::mfcc_test
