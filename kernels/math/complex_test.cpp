// Cases of Conj, Real, Imag, ComplexAbs, Angle, Complex.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Conj) {
  return {
      {.name = "complex64",
       .inputs = {"c64[2,2] (1,2) (0,-3) (-1,0) (inf,nan)"},
       .outputs = {"c64[2,2] (1,-2) (0,3) (-1,0) (inf,nan)"}},
      {.name = "complex128", .inputs = {"c128[] (0.5,0.25)"}, .outputs = {"c128[] (0.5,-0.25)"}},
      {.name = "nothing", .inputs = {"c64[0,2]"}, .outputs = {"c64[0,2]"}},
      {.name = "no complex numbers", .inputs = {"f32[] 1"}, .error = "float"},
  };
}

TROUPE_OP_CASES(Real) {
  return {
      {.name = "complex64", .inputs = {"c64[2] (1,2) (-3,4)"}, .outputs = {"f32[2] 1 -3"}},
      {.name = "complex128",
       .inputs = {"c128[] (1.5,2)"},
       .attrs = {{"Tout", DType::float64}},
       .outputs = {"f64[] 1.5"}},
      {.name = "parts of another size",
       .inputs = {"c64[] (1,2)"},
       .attrs = {{"Tout", DType::float64}},
       .error = "No OpKernel was registered to support Op 'Real'"},
  };
}

TROUPE_OP_CASES(Imag) {
  return {
      {.name = "complex64", .inputs = {"c64[2] (1,2) (-3,4)"}, .outputs = {"f32[2] 2 4"}},
      {.name = "complex128",
       .inputs = {"c128[1,1] (1.5,2)"},
       .attrs = {{"Tout", DType::float64}},
       .outputs = {"f64[1,1] 2"}},
  };
}

TROUPE_OP_CASES(ComplexAbs) {
  return {
      {.name = "complex64",
       .inputs = {"c64[4] (3,-4) (0,0) (-inf,nan) (3e30,4e30)"},
       .outputs = {"f32[4] 5 0 inf 5e30"}},
      {.name = "complex128",
       .inputs = {"c128[] (3,4)"},
       .attrs = {{"Tout", DType::float64}},
       .outputs = {"f64[] 5"}},
  };
}

TROUPE_OP_CASES(Angle) {
  return {
      {.name = "complex64",
       .inputs = {"c64[4] (1,0) (0,2) (-1,0) (0,0)"},
       .outputs = {"f32[4] 0 1.57079637 3.14159274 0"}},
      {.name = "complex128",
       .inputs = {"c128[] (1,1)"},
       .attrs = {{"Tout", DType::float64}},
       .outputs = {"f64[] 0.78539816339744828"}},
  };
}

TROUPE_OP_CASES(Complex) {
  constexpr auto elsewhere = "complex_gradient_test.cpp has it: the output is complex";
  return {
      {.name = "vectors",
       .inputs = {"f32[2] 1 2", "f32[2] 3 -4"},
       .outputs = {"c64[2] (1,3) (2,-4)"},
       .check_gradient = false,
       .no_gradient_reason = elsewhere},
      {.name = "broadcast, in double",
       .inputs = {"f64[2,1] 1 2", "f64[2] 3 4"},
       .attrs = {{"Tout", DType::complex128}},
       .outputs = {"c128[2,2] (1,3) (1,4) (2,3) (2,4)"},
       .check_gradient = false,
       .no_gradient_reason = elsewhere},
      {.name = "nothing",
       .inputs = {"f32[0]", "f32[] 1"},
       .outputs = {"c64[0]"},
       .check_gradient = false,
       .no_gradient_reason = elsewhere},
      {.name = "shapes that do not fit",
       .inputs = {"f32[2] 1 2", "f32[3] 3 4 5"},
       .error = "Incompatible shapes"},
  };
}

} // namespace
} // namespace troupe
