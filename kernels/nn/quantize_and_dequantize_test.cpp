// Cases of QuantizeAndDequantizeV2, V3, V4 and the gradient of V4; values are those of TensorFlow
// 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(QuantizeAndDequantizeV2) {
  return {
      {
          .name = "its own range",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .outputs = {"f32[2,3] -1.1 -0.49843752 0 0.30078125 0.79921877 0.55859375"},
      },
      {
          .name = "four bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .attrs = {{"num_bits", std::int64_t{4}}},
          .outputs = {"f32[2,3] -1.1 -0.55000001 0 0.27500001 0.82500005 0.55000001"},
      },
      {
          .name = "a range",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -0.6", "f32[] 0.5"},
          .attrs = {{"range_given", true}},
          .outputs = {"f32[2,3] -0.60000002 -0.50156254 0 0.30000001 0.59531254 0.55312502"},
      },
      {
          .name = "a range, narrow",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -0.6", "f32[] 0.5"},
          .attrs = {{"range_given", true}, {"narrow_range", true}, {"num_bits", std::int64_t{4}}},
          .outputs = {"f32[2,3] -0.60000002 -0.51428574 0 0.34285715 0.60000002 0.51428574"},
      },
      {
          .name = "unsigned",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] 0", "f32[] 0.7"},
          .attrs = {{"range_given", true}, {"signed_input", false}, {"num_bits", std::int64_t{5}}},
          .outputs = {"f32[2,3] 0 0 0 0.29354838 0.69999999 0.56451613"},
      },
      {
          .name = "double",
          .inputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f64[] -1", "f64[] 1"},
          .attrs = {{"num_bits", std::int64_t{6}}},
          .outputs = {"f64[2,3] -1.1 -0.515625 0 0.309375 0.790625 0.55"},
      },
      {
          .name = "half up",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 0.75"},
          .attrs = {{"range_given", true},
                    {"round_mode", std::string("HALF_UP")},
                    {"num_bits", std::int64_t{3}}},
          .outputs = {"f32[2,3] -1 -0.5 0 0.25 0.75 0.5"},
      },
      {
          .name = "each column",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[3] -0.5 -0.3 -1",
                     "f32[3] 1 0.4 0.5"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{1}}},
          .outputs = {"f32[2,3] -1.007874 -0.4031496 0 0.2992126 0.40000001 0.5546875"},
      },
      {
          .name = "each row",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 0"},
          .attrs = {{"axis", std::int64_t{0}},
                    {"range_given", false},
                    {"num_bits", std::int64_t{5}}},
          .outputs = {"f32[2,3] -1.1 -0.48125002 0 0.31999999 0.80000001 0.53333336"},
      },
      {
          .name = "zeros",
          .inputs = {"f32[2] 0", "f32[] -1", "f32[] 1"},
          .outputs = {"f32[2] 0"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[] -1", "f32[] 1"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "many bits",
          .inputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f64[] -1", "f64[] 1"},
          .attrs = {{"num_bits", std::int64_t{61}}},
          .outputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555"},
      },
      {
          .name = "a range of nothing",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] 1", "f32[] -1"},
          .attrs = {{"range_given", true}},
          .error = "Invalid range: input_min ",
      },
      {
          .name = "no bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .attrs = {{"num_bits", std::int64_t{0}}},
          .error = "num_bits is out of range: 0",
      },
      {
          .name = "63 bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .attrs = {{"num_bits", std::int64_t{63}}},
          .error = "num_bits is out of range: 63",
      },
      {
          .name = "two ranges of three",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 1"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{1}}},
          .error = "ust be equal",
      },
      {
          .name = "another axis",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 1"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{2}}},
          .error = "rank",
      },
      {
          .name = "a negative axis",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .attrs = {{"axis", std::int64_t{-2}}},
          .error = "-2",
      },
  };
}

TROUPE_OP_CASES(QuantizeAndDequantizeV3) {
  return {
      {
          .name = "no scalars",
          .inputs = {"f32[] 0.5", "f32[] -1", "f32[] 1", "i32[] 8"},
          .error = "Axis requested is larger than input dimensions. Axis: -1 Input Dimensions: 0",
      },
      {
          .name = "its own range",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1", "i32[] 8"},
          .attrs = {{"range_given", false}},
          .outputs = {"f32[2,3] -1.1 -0.49843752 0 0.30078125 0.79921877 0.55859375"},
      },
      {
          .name = "four bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1", "i32[] 4"},
          .attrs = {{"range_given", false}},
          .outputs = {"f32[2,3] -1.1 -0.55000001 0 0.27500001 0.82500005 0.55000001"},
      },
      {
          .name = "a range",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -0.6", "f32[] 0.5", "i32[] 8"},
          .attrs = {{"range_given", true}},
          .outputs = {"f32[2,3] -0.60000002 -0.50156254 0 0.30000001 0.59531254 0.55312502"},
      },
      {
          .name = "a range, narrow",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -0.6", "f32[] 0.5", "i32[] 4"},
          .attrs = {{"range_given", true}, {"narrow_range", true}},
          .outputs = {"f32[2,3] -0.60000002 -0.51428574 0 0.34285715 0.60000002 0.51428574"},
      },
      {
          .name = "unsigned",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] 0", "f32[] 0.7", "i32[] 5"},
          .attrs = {{"range_given", true}, {"signed_input", false}},
          .outputs = {"f32[2,3] 0 0 0 0.29354838 0.69999999 0.56451613"},
      },
      {
          .name = "double",
          .inputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f64[] -1", "f64[] 1", "i32[] 6"},
          .attrs = {{"range_given", false}},
          .outputs = {"f64[2,3] -1.1 -0.515625 0 0.309375 0.790625 0.55"},
      },
      {
          .name = "half up",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 0.75", "i32[] 3"},
          .attrs = {{"range_given", true}},
          .outputs = {"f32[2,3] -1 -0.5 0 0.25 0.75 0.5"},
      },
      {
          .name = "each column",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[3] -0.5 -0.3 -1",
                     "f32[3] 1 0.4 0.5", "i32[] 8"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{1}}},
          .outputs = {"f32[2,3] -1.007874 -0.4031496 0 0.2992126 0.40000001 0.5546875"},
      },
      {
          .name = "each row",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 0", "i32[] 5"},
          .attrs = {{"axis", std::int64_t{0}}, {"range_given", false}},
          .outputs = {"f32[2,3] -1.1 -0.48125002 0 0.31999999 0.80000001 0.53333336"},
      },
      {
          .name = "zeros",
          .inputs = {"f32[2] 0", "f32[] -1", "f32[] 1", "i32[] 8"},
          .attrs = {{"range_given", false}},
          .outputs = {"f32[2] 0"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[] -1", "f32[] 1", "i32[] 8"},
          .attrs = {{"range_given", false}},
          .outputs = {"f32[0]"},
      },
      {
          .name = "many bits",
          .inputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f64[] -1", "f64[] 1", "i32[] 61"},
          .attrs = {{"range_given", false}},
          .outputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555"},
      },
      {
          .name = "a range of nothing",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] 1", "f32[] -1", "i32[] 8"},
          .attrs = {{"range_given", true}},
          .error = "Invalid range: input_min ",
      },
      {
          .name = "no bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1", "i32[] 0"},
          .attrs = {{"range_given", false}},
          .error = "num_bits is out of range: 0",
      },
      {
          .name = "63 bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1", "i32[] 63"},
          .attrs = {{"range_given", false}},
          .error = "num_bits is out of range: 63",
      },
      {
          .name = "two ranges of three",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 1", "i32[] 8"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{1}}},
          .error = "ust be equal",
      },
      {
          .name = "another axis",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 1", "i32[] 8"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{2}}},
          .error = "rank",
      },
      {
          .name = "a negative axis",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1", "i32[] 8"},
          .attrs = {{"axis", std::int64_t{-2}}, {"range_given", false}},
          .error = "-2",
      },
      {.name = "bits in a vector",
       .inputs = {"f32[2,2] 1", "f32[] 0", "f32[] 1", "i32[1] 8"},
       .attrs = {{"signed_input", true}, {"range_given", true}},
       .error = "Invalid shape. The `num_bits` tensor should be a scalar. Got dimensions: 1"},
      {.name = "a number for an axis",
       .inputs = {"f32[2,2] 1", "f32[] 0", "f32[2] 1", "i32[] 8"},
       .attrs = {{"signed_input", true}, {"range_given", true}, {"axis", std::int64_t{1}}},
       .error = "Shape must be rank 1 for input_min_tensor when the axis is specified"},
      {.name = "too few numbers for an axis",
       .inputs = {"f32[2,2] 1", "f32[2] 0", "f32[1] 1", "i32[] 8"},
       .attrs = {{"signed_input", true}, {"range_given", true}, {"axis", std::int64_t{1}}},
       .error =
           "input_max_tensor has incorrect size, was 1 expected 2 to match dim 1 of the input [1]"},
      {.name = "bounds of an axis in disorder",
       .inputs = {"f32[2,2] 1 2 3 0.3", "f32[2] 1 3", "f32[2] 2 1", "i32[] 4"},
       .attrs = {{"signed_input", true}, {"range_given", true}, {"axis", std::int64_t{1}}},
       .outputs = {"f32[2,2] 1.1428572 1 2 0.2857143"},
       .check_gradient = false,
       .no_gradient_reason = "it is that of rounding"},
      {.name = "bits of nothing",
       .inputs = {"f32[2,2] 1", "f32[] 0", "f32[] 1", "i32[] 0"},
       .attrs = {{"range_given", true}},
       .error = "num_bits is out of range: 0 with `signed_input_` 1"},
  };
}

TROUPE_OP_CASES(QuantizeAndDequantizeV4) {
  return {
      {
          .name = "its own range",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .outputs = {"f32[2,3] -1.1 -0.49843752 0 0.30078125 0.79921877 0.55859375"},
      },
      {
          .name = "four bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .attrs = {{"num_bits", std::int64_t{4}}},
          .outputs = {"f32[2,3] -1.1 -0.55000001 0 0.27500001 0.82500005 0.55000001"},
      },
      {
          .name = "a range",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -0.6", "f32[] 0.5"},
          .attrs = {{"range_given", true}},
          .outputs = {"f32[2,3] -0.60000002 -0.50156254 0 0.30000001 0.59531254 0.55312502"},
      },
      {
          .name = "a range, narrow",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -0.6", "f32[] 0.5"},
          .attrs = {{"range_given", true}, {"narrow_range", true}, {"num_bits", std::int64_t{4}}},
          .outputs = {"f32[2,3] -0.60000002 -0.51428574 0 0.34285715 0.60000002 0.51428574"},
      },
      {
          .name = "unsigned",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] 0", "f32[] 0.7"},
          .attrs = {{"range_given", true}, {"signed_input", false}, {"num_bits", std::int64_t{5}}},
          .outputs = {"f32[2,3] 0 0 0 0.29354838 0.69999999 0.56451613"},
      },
      {
          .name = "double",
          .inputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f64[] -1", "f64[] 1"},
          .attrs = {{"num_bits", std::int64_t{6}}},
          .outputs = {"f64[2,3] -1.1 -0.515625 0 0.309375 0.790625 0.55"},
      },
      {
          .name = "half up",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 0.75"},
          .attrs = {{"range_given", true},
                    {"round_mode", std::string("HALF_UP")},
                    {"num_bits", std::int64_t{3}}},
          .outputs = {"f32[2,3] -1 -0.5 0 0.25 0.75 0.5"},
      },
      {
          .name = "each column",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[3] -0.5 -0.3 -1",
                     "f32[3] 1 0.4 0.5"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{1}}},
          .outputs = {"f32[2,3] -1.007874 -0.4031496 0 0.2992126 0.40000001 0.5546875"},
      },
      {
          .name = "each row",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 0"},
          .attrs = {{"axis", std::int64_t{0}},
                    {"range_given", false},
                    {"num_bits", std::int64_t{5}}},
          .outputs = {"f32[2,3] -1.1 -0.48125002 0 0.31999999 0.80000001 0.53333336"},
      },
      {
          .name = "zeros",
          .inputs = {"f32[2] 0", "f32[] -1", "f32[] 1"},
          .outputs = {"f32[2] 0"},
      },
      {
          .name = "nothing",
          .inputs = {"f32[0]", "f32[] -1", "f32[] 1"},
          .outputs = {"f32[0]"},
      },
      {
          .name = "many bits",
          .inputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f64[] -1", "f64[] 1"},
          .attrs = {{"num_bits", std::int64_t{61}}},
          .outputs = {"f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555"},
      },
      {
          .name = "a range of nothing",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] 1", "f32[] -1"},
          .attrs = {{"range_given", true}},
          .error = "Invalid range: input_min ",
      },
      {
          .name = "no bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .attrs = {{"num_bits", std::int64_t{0}}},
          .error = "num_bits is out of range: 0",
      },
      {
          .name = "63 bits",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .attrs = {{"num_bits", std::int64_t{63}}},
          .error = "num_bits is out of range: 63",
      },
      {
          .name = "two ranges of three",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 1"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{1}}},
          .error = "ust be equal",
      },
      {
          .name = "another axis",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[2] 0", "f32[2] 1"},
          .attrs = {{"range_given", true}, {"axis", std::int64_t{2}}},
          .error = "rank",
      },
      {
          .name = "a negative axis",
          .inputs = {"f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] -1", "f32[] 1"},
          .attrs = {{"axis", std::int64_t{-2}}},
          .error = "-2",
      },
  };
}

TROUPE_OP_CASES(QuantizeAndDequantizeV4Grad) {
  return {
      {
          .name = "a range",
          .inputs = {"f32[2,3] -1 0.75 0.25 -1 2.5 -0.25", "f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555",
                     "f32[] -0.6", "f32[] 0.5"},
          .outputs = {"f32[2,3] -0 0.75 0.25 -1 0 -0", "f32[] 0", "f32[] 0"},
      },
      {
          .name = "each column",
          .inputs = {"f32[2,3] -1 0.75 0.25 -1 2.5 -0.25", "f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555",
                     "f32[3] -0.5 -0.3 -1", "f32[3] 1 0.4 0.5"},
          .attrs = {{"axis", std::int64_t{1}}},
          .outputs = {"f32[2,3] -0 0 0.25 -1 0 -0", "f32[3] 0", "f32[3] 0"},
      },
      {
          .name = "double",
          .inputs = {"f64[2,3] -1 0.75 0.25 -1 2.5 -0.25", "f64[2,3] -1.1 -0.5 0 0.3 0.8 0.555",
                     "f64[] -0.6", "f64[] 0.5"},
          .outputs = {"f64[2,3] -0 0.75 0.25 -1 0 -0", "f64[] 0", "f64[] 0"},
      },
      {
          .name = "other shapes",
          .inputs = {"f32[3] 1", "f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555", "f32[] 0", "f32[] 1"},
          .error = "qual rank",
      },
      {
          .name = "two ranges",
          .inputs = {"f32[2,3] -1 0.75 0.25 -1 2.5 -0.25", "f32[2,3] -1.1 -0.5 0 0.3 0.8 0.555",
                     "f32[2] 0", "f32[2] 1"},
          .error = "rank 0",
      },
      {.name = "an axis beyond",
       .inputs = {"f32[2,2] 1", "f32[2,2] 1", "f32[] 0", "f32[] 1"},
       .attrs = {{"axis", std::int64_t{7}}},
       .error = "Axis should be -1 or 0 or a positive value less than 2but given axis value was 7"},
      {.name = "a vector without an axis",
       .inputs = {"f32[2,2] 1", "f32[2,2] 1", "f32[1] 0", "f32[] 1"},
       .error = "input_min must be a scalar if axis is unspecified"},
      {.name = "a matrix",
       .inputs = {"f32[2,2] 1", "f32[2,2] 1", "f32[] 0", "f32[1,1] 1"},
       .error = "Input max tensor must have dimension 0 or 1. Received 2."},
      {.name = "a number for an axis",
       .inputs = {"f32[2,2] 1", "f32[2,2] 1", "f32[] 0", "f32[2] 1"},
       .attrs = {{"axis", std::int64_t{0}}},
       .error = "Shape must be rank 1 for input_min_tensor when the axis is specified"},
      {.name = "too few numbers for an axis",
       .inputs = {"f32[2,2] 1", "f32[2,2] 1", "f32[2] 0", "f32[1] 1"},
       .attrs = {{"axis", std::int64_t{0}}},
       .error = "max has incorrect size, expected 2 was 1"},
  };
}

TROUPE_OP_CASES(QuantizeAndDequantize) {
  return {
      {.name = "the range that is there",
       .inputs = {"f32[8] -1.5 -1 -0.25 0 0.3 0.5 1 2"},
       .outputs = {"f32[8] -1.496063 -1.007874 -0.2519685 0 0.2992126 0.503937 1.007874 2"}},
      {.name = "a given range",
       .inputs = {"f32[8] -1.5 -1 -0.25 0 0.3 0.5 1 2"},
       .attrs = {{"range_given", true}, {"input_min", -1.0f}, {"input_max", 1.0f}},
       .outputs = {"f32[8] -1.007874 -1 -0.2519685 0 0.2992126 0.503937 1 1"}},
      {.name = "without a sign",
       .inputs = {"f32[8] -1.5 -1 -0.25 0 0.3 0.5 1 2"},
       .attrs = {{"range_given", true},
                 {"signed_input", false},
                 {"input_min", 0.0f},
                 {"input_max", 1.0f}},
       .outputs = {"f32[8] 0 0 0 0 0.29803923 0.5019608 1 1"}},
      {.name = "two bits",
       .inputs = {"f32[8] -1.5 -1 -0.25 0 0.3 0.5 1 2"},
       .attrs = {{"num_bits", std::int64_t{2}}},
       .outputs = {"f32[8] -2 -0 -0 0 0 0 0 2"}},
      {.name = "double",
       .inputs = {"f64[3] -1.5 0.3 2"},
       .outputs = {"f64[3] -1.4960629921259843 0.2992125984251969 2"}},
      {.name = "a scalar", .inputs = {"f32[] 0.3"}, .outputs = {"f32[] 0.3"}},
      {.name = "nothing", .inputs = {"f32[0,2]"}, .outputs = {"f32[0,2]"}},
      {.name = "no bits",
       .inputs = {"f32[8] -1.5 -1 -0.25 0 0.3 0.5 1 2"},
       .attrs = {{"num_bits", std::int64_t{0}}},
       .error = "num_bits is out of range: 0 with signed_input_ 1"},
      {.name = "too many bits",
       .inputs = {"f32[8] -1.5 -1 -0.25 0 0.3 0.5 1 2"},
       .attrs = {{"num_bits", std::int64_t{62}}},
       .error = "num_bits is out of range: 62 with signed_input_ 1"},
      {.name = "bounds in order",
       .inputs = {"f32[8] -1.5 -1 -0.25 0 0.3 0.5 1 2"},
       .attrs = {{"range_given", true}, {"input_min", 1.0f}, {"input_max", 0.0f}},
       .error = "Invalid range: input_min 1 > input_max 0"},
  };
}

} // namespace
} // namespace troupe
