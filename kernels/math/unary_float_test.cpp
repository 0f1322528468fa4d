// Functions of one number.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Neg) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] -0.5"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] -0.5 1.25 -2 3 -0.125 -1.5"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] -0.5 1.25 -2 3"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs =
           {"f32[17] -0.5 1.25 -2 3 -0.125 -1.5 -0.5 1.25 -2 3 -0.125 -1.5 -0.5 1.25 -2 3 -0.125"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] -0.5 1.25 -2 3"}},
      {.name = "complex numbers",
       .inputs = {"c64[3] (1,0) (0,-2) (-0,3)"},
       .outputs = {"c64[3] (-1,-0) (-0,2) (0,-3)"}},
      {.name = "dtype i32", .inputs = {"i32[4] -7 0 3 100"}, .outputs = {"i32[4] 7 0 -3 -100"}},
      {.name = "dtype i64", .inputs = {"i64[4] -7 0 3 100"}, .outputs = {"i64[4] 7 0 -3 -100"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan -inf inf -0 0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Abs) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.5"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 0.5 1.25 2 3 0.125 1.5"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 0.5 1.25 2 3"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 0.5 1.25 2 3 0.125 1.5 0.5 1.25 2 3 0.125 1.5 0.5 1.25 2 3 0.125"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] 0.5 1.25 2 3"}},
      {.name = "dtype i32", .inputs = {"i32[4] -7 0 3 100"}, .outputs = {"i32[4] 7 0 3 100"}},
      {.name = "dtype i64", .inputs = {"i64[4] -7 0 3 100"}, .outputs = {"i64[4] 7 0 3 100"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf inf 0 0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Sign) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 1"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 1 -1 1 -1 1 1"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 1 -1 1 -1"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 1 -1 1 -1 1 1 1 -1 1 -1 1 1 1 -1 1 -1 1"}},
      {.name = "dtype f64", .inputs = {"f64[4] 0.5 -1.25 2 -3"}, .outputs = {"f64[4] 1 -1 1 -1"}},
      {.name = "dtype i32", .inputs = {"i32[4] -7 0 3 100"}, .outputs = {"i32[4] -1 0 1 1"}},
      {.name = "dtype i64", .inputs = {"i64[4] -7 0 3 100"}, .outputs = {"i64[4] -1 0 1 1"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan 1 -1 0 0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Square) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.25"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 0.25 1.5625 4 9 0.015625 2.25"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 0.25 1.5625 4 9"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 0.25 1.5625 4 9 0.015625 2.25 0.25 1.5625 4 9 0.015625 2.25 0.25 "
                   "1.5625 4 9 0.015625"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] 0.25 1.5625 4 9"}},
      {.name = "dtype i32", .inputs = {"i32[4] -7 0 3 100"}, .outputs = {"i32[4] 49 0 9 10000"}},
      {.name = "dtype i64", .inputs = {"i64[4] -7 0 3 100"}, .outputs = {"i64[4] 49 0 9 10000"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf inf 0 0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Sqrt) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.70710677"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.25 2 3 0.125 9"},
       .outputs = {"f32[6] 0.70710677 1.118034 1.4142135 1.7320508 0.35355338 3"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.25 2 3"},
       .outputs = {"f32[1,2,1,2] 0.70710677 1.118034 1.4142135 1.7320508"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.25 2 3 0.125 9 0.5 1.25 2 3 0.125 9 0.5 1.25 2 3 0.125"},
       .outputs =
           {"f32[17] 0.70710677 1.118034 1.4142135 1.7320508 0.35355338 3 0.70710677 1.118034 "
            "1.4142135 1.7320508 0.35355338 3 0.70710677 1.118034 1.4142135 1.7320508 0.35355338"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 1.25 2 3"},
       .outputs =
           {"f64[4] 0.7071067811865476 1.118033988749895 1.4142135623730951 1.7320508075688772"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf nan 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "negative numbers",
       .inputs = {"f32[2] -1 4"},
       .outputs = {"f32[2] nan 2"},
       .check_gradient = false,
       .no_gradient_reason = "it has no value there"},
  };
}

TROUPE_OP_CASES(Rsqrt) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 1.4142135"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.25 2 3 0.125 9"},
       .outputs = {"f32[6] 1.4142135 0.8944272 0.70710677 0.57735026 2.828427 0.33333334"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.25 2 3"},
       .outputs = {"f32[1,2,1,2] 1.4142135 0.8944272 0.70710677 0.57735026"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.25 2 3 0.125 9 0.5 1.25 2 3 0.125 9 0.5 1.25 2 3 0.125"},
       .outputs = {"f32[17] 1.4142135 0.8944272 0.70710677 0.57735026 2.828427 0.33333334 "
                   "1.4142135 0.8944272 0.70710677 0.57735026 2.828427 0.33333334 1.4142135 "
                   "0.8944272 0.70710677 0.57735026 2.828427"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 1.25 2 3"},
       .outputs =
           {"f64[4] 1.414213562373095 0.8944271909999159 0.7071067811865475 0.5773502691896258"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan 0 nan inf -inf"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "negative numbers",
       .inputs = {"f32[2] -1 4"},
       .outputs = {"f32[2] nan 0.5"},
       .check_gradient = false,
       .no_gradient_reason = "it has no value there"},
  };
}

TROUPE_OP_CASES(Reciprocal) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 2"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 2 -0.8 0.5 -0.33333334 8 0.6666667"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 2 -0.8 0.5 -0.33333334"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 1.9999999 -0.79999995 0.49999997 -0.33333334 7.9999995 0.6666667 "
                   "1.9999999 -0.79999995 0.49999997 -0.33333334 7.9999995 0.6666667 1.9999999 "
                   "-0.79999995 0.49999997 -0.33333334 8"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] 2 -0.8 0.5 -0.3333333333333333"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan 0 -0 inf -inf"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Inv) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 2"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 2 -0.8 0.5 -0.33333334 8 0.6666667"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 2 -0.8 0.5 -0.33333334"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 1.9999999 -0.79999995 0.49999997 -0.33333334 7.9999995 0.6666667 "
                   "1.9999999 -0.79999995 0.49999997 -0.33333334 7.9999995 0.6666667 1.9999999 "
                   "-0.79999995 0.49999997 -0.33333334 8"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] 2 -0.8 0.5 -0.3333333333333333"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan 0 -0 inf -inf"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
  };
}

TROUPE_OP_CASES(Exp) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 1.6487212"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 1.6487212 0.2865048 7.389056 0.049787067 1.1331484 4.481689"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 1.6487212 0.2865048 7.389056 0.049787067"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 1.6487212 0.2865048 7.389056 0.04978707 1.1331484 4.481689 1.6487212 "
                   "0.2865048 7.389056 0.04978707 1.1331484 4.481689 1.6487212 0.2865048 7.389056 "
                   "0.04978707 1.1331484"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs =
           {"f64[4] 1.6487212707001282 0.2865047968601901 7.38905609893065 0.049787068367863944"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf 0 1 1"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "too large and too small",
       .inputs = {"f32[4] 100 -200 88 -80"},
       .outputs = {"f32[4] inf 0 1.6516363e+38 1.8048513e-35"},
       .check_gradient = false,
       .no_gradient_reason = "it overflows"},
  };
}

TROUPE_OP_CASES(Expm1) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "complex, around the circle and near zero",
       .inputs = {"c128[3] (0.1,100) (1e-9,-2e-9) (0,0)"},
       .outputs = {"c128[3] (-0.04699026023986322,-0.5596205804672361) "
                   "(9.999999985e-10,-2.0000000020000004e-9) (0,0)"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.6487213"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 0.6487213 -0.7134952 6.389056 -0.95021296 0.13314845 3.481689"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 0.6487213 -0.7134952 6.389056 -0.95021296"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 0.6487213 -0.7134952 6.389056 -0.95021296 0.13314846 3.481689 "
                   "0.6487213 -0.7134952 6.389056 -0.95021296 0.13314846 3.481689 0.6487213 "
                   "-0.7134952 6.389056 -0.95021296 0.13314845"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs =
           {"f64[4] 0.6487212707001282 -0.7134952031398099 6.389056098930652 -0.950212931632136"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf -1 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "near zero",
       .inputs = {"f32[3] 1e-8 -1e-7 1e-4"},
       .outputs = {"f32[3] 1e-08 -9.9999994e-08 0.000100004996"},
       .check_gradient = false,
       .no_gradient_reason = "differences are too coarse near zero"},
  };
}

TROUPE_OP_CASES(Log) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] -0.6931472"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.25 2 3 0.125 9"},
       .outputs = {"f32[6] -0.6931472 0.22314355 0.6931472 1.0986123 -2.0794415 2.1972246"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.25 2 3"},
       .outputs = {"f32[1,2,1,2] -0.6931472 0.22314355 0.6931472 1.0986123"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.25 2 3 0.125 9 0.5 1.25 2 3 0.125 9 0.5 1.25 2 3 0.125"},
       .outputs = {"f32[17] -0.6931472 0.22314355 0.6931472 1.0986123 -2.0794415 2.1972246 "
                   "-0.6931472 0.22314355 0.6931472 1.0986123 -2.0794415 2.1972246 -0.6931472 "
                   "0.22314355 0.6931472 1.0986123 -2.0794415"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 1.25 2 3"},
       .outputs = {"f64[4] -0.6931471805599453 0.22314355131420976 0.6931471805599453 "
                   "1.0986122886681096"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf nan -inf -inf"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "negative numbers",
       .inputs = {"f32[2] -1 1"},
       .outputs = {"f32[2] nan 0"},
       .check_gradient = false,
       .no_gradient_reason = "it has no value there"},
  };
}

TROUPE_OP_CASES(Log1p) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.4054651"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 1.25 2 3 0.125 9"},
       .outputs = {"f32[6] 0.4054651 0.8109302 1.0986123 1.3862944 0.11778303 2.3025851"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 1.25 2 3"},
       .outputs = {"f32[1,2,1,2] 0.4054651 0.8109302 1.0986123 1.3862944"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 1.25 2 3 0.125 9 0.5 1.25 2 3 0.125 9 0.5 1.25 2 3 0.125"},
       .outputs = {"f32[17] 0.4054651 0.8109302 1.0986123 1.3862944 0.117783025 2.3025851 "
                   "0.4054651 0.8109302 1.0986123 1.3862944 0.117783025 2.3025851 0.4054651 "
                   "0.8109302 1.0986123 1.3862944 0.11778303"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 1.25 2 3"},
       .outputs =
           {"f64[4] 0.4054651081081644 0.8109302162163288 1.0986122886681096 1.3862943611198906"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan inf nan 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "near zero and below -1",
       .inputs = {"f32[4] 1e-8 -1e-7 -1 -2"},
       .outputs = {"f32[4] 1e-08 -1.0000001e-07 -inf nan"},
       .check_gradient = false,
       .no_gradient_reason = "it has no value there"},
  };
}

TROUPE_OP_CASES(Tanh) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.46211714"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 0.46211714 -0.8482837 0.9640276 -0.9950547 0.124353014 0.9051483"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 0.46211714 -0.8482837 0.9640276 -0.9950547"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 0.46211714 -0.8482837 0.9640276 -0.9950547 0.124353014 0.9051483 "
                   "0.46211714 -0.8482837 0.9640276 -0.9950547 0.124353014 0.9051483 0.46211714 "
                   "-0.8482837 0.9640276 -0.9950547 0.124353014"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] 0.4621171572600098 -0.8482836399575129 0.9640275800758169 "
                   "-0.9950547536867305"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan 1 -1 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "far out",
       .inputs = {"f32[4] 30 -30 9 1e-5"},
       .outputs = {"f32[4] 1 -1 1 1e-05"},
       .check_gradient = false,
       .no_gradient_reason = "it is flat there"},
  };
}

TROUPE_OP_CASES(Sigmoid) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.62245935"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 0.62245935 0.22270015 0.8807971 0.047425874 0.53120935 0.8175745"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 0.62245935 0.22270015 0.8807971 0.047425874"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 0.62245935 0.2227001 0.8807971 0.047425866 0.53120935 0.81757444 "
                   "0.62245935 0.2227001 0.8807971 0.047425866 0.53120935 0.81757444 0.62245935 "
                   "0.2227001 0.8807971 0.047425866 0.53120935"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] 0.6224593312018546 0.22270013882530884 0.8807970779778824 "
                   "0.04742587317756679"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan 1 0 0.5 0.5"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "far out",
       .inputs = {"f32[4] 100 -80 20 -20"},
       .outputs = {"f32[4] 1 1.8048513e-35 1 2.0611537e-09"},
       .check_gradient = false,
       .no_gradient_reason = "it is flat there"},
  };
}

TROUPE_OP_CASES(Sin) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.47942555"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 0.47942555 -0.9489846 0.9092974 -0.14112 0.12467473 0.997495"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 0.47942555 -0.9489846 0.9092974 -0.14112"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 0.47942555 -0.9489846 0.9092974 -0.14112 0.12467473 0.997495 "
                   "0.47942555 -0.9489846 0.9092974 -0.14112 0.12467473 0.997495 0.47942555 "
                   "-0.9489846 0.9092974 -0.14112 0.12467473"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs =
           {"f64[4] 0.479425538604203 -0.9489846193555862 0.9092974268256817 -0.1411200080598672"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan nan nan 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "large arguments",
       .inputs = {"f32[3] 100 -1000 10000"},
       .outputs = {"f32[3] -0.50636566 -0.82687956 -0.30561438"},
       .check_gradient = false,
       .no_gradient_reason = "differences are too coarse there"},
  };
}

TROUPE_OP_CASES(Cos) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.87758255"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 0.87758255 0.31532237 -0.41614684 -0.9899925 0.9921977 0.0707372"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 0.87758255 0.31532237 -0.41614684 -0.9899925"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 0.87758255 0.31532237 -0.4161468 -0.9899925 0.9921977 0.0707372 "
                   "0.87758255 0.31532237 -0.4161468 -0.9899925 0.9921977 0.0707372 0.87758255 "
                   "0.31532237 -0.4161468 -0.9899925 0.9921977"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] 0.8775825618903728 0.3153223623952687 -0.4161468365471424 "
                   "-0.9899924966004454"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan nan nan 1 1"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "large arguments",
       .inputs = {"f32[3] 100 -1000 10000"},
       .outputs = {"f32[3] 0.8623189 0.56237906 -0.95215535"},
       .check_gradient = false,
       .no_gradient_reason = "differences are too coarse there"},
  };
}

TROUPE_OP_CASES(Erf) {
  return {
      {.name = "no elements", .inputs = {"f32[0,3]"}, .outputs = {"f32[0,3]"}},
      {.name = "a scalar", .inputs = {"f32[] 0.5"}, .outputs = {"f32[] 0.5204999"}},
      {.name = "a vector",
       .inputs = {"f32[6] 0.5 -1.25 2 -3 0.125 1.5"},
       .outputs = {"f32[6] 0.5204999 -0.92290026 0.99532235 -0.999978 0.14031619 0.9661051"}},
      {.name = "rank four",
       .inputs = {"f32[1,2,1,2] 0.5 -1.25 2 -3"},
       .outputs = {"f32[1,2,1,2] 0.5204999 -0.92290026 0.99532235 -0.999978"}},
      {.name = "seventeen elements",
       .inputs = {"f32[17] 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125 1.5 0.5 -1.25 2 -3 0.125"},
       .outputs = {"f32[17] 0.5204999 -0.92290026 0.99532235 -0.999978 0.14031619 0.9661051 "
                   "0.5204999 -0.92290026 0.99532235 -0.999978 0.14031619 0.9661051 0.5204999 "
                   "-0.92290026 0.99532235 -0.999978 0.14031619"}},
      {.name = "dtype f64",
       .inputs = {"f64[4] 0.5 -1.25 2 -3"},
       .outputs = {"f64[4] 0.5204998778130466 -0.9229001282564582 0.9953222650189527 "
                   "-0.9999779095030015"}},
      {.name = "NaN, infinities and zeros",
       .inputs = {"f32[5] nan inf -inf 0 -0"},
       .outputs = {"f32[5] nan 1 -1 0 -0"},
       .check_gradient = false,
       .no_gradient_reason = "NaN has no difference quotient"},
      {.name = "far out",
       .inputs = {"f32[3] 5 -5 1e-4"},
       .outputs = {"f32[3] 1 -1 0.00011283791"},
       .check_gradient = false,
       .no_gradient_reason = "it is flat there"},
  };
}

} // namespace
} // namespace troupe
