// Trigonometric and hyperbolic functions, and their inverses.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Tan) {
  return {
      {.name = "float",
       .inputs = {"f32[4] -0.699999988 -0.25 0.5 0.75"},
       .outputs = {"f32[4] -0.842288375 -0.255341917 0.546302497 0.931596458"}},
      {.name = "double",
       .inputs = {"f64[4] -0.7 -0.25 0.5 0.75"},
       .outputs = {"f64[4] -0.8422883804630794 -0.25534192122103627 0.5463024898437905 "
                   "0.9315964599440725"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half",
       .inputs = {"f16[2] 0.5 0.75"},
       .outputs = {"f16[2] 0.546386719 0.931640625"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0.5,0.25) (-0.3,0.2)"},
       .outputs = {"c128[2] (0.504500702698564,0.3124206925025888) "
                   "(-0.296181340678381,0.21545877307378405)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (0.504500747,0.312420726)"}},
      {.name = "bfloat16", .inputs = {"bf16[1] 0.5"}, .outputs = {"bf16[1] 0.546875"}},
  };
}

TROUPE_OP_CASES(Asin) {
  return {
      {.name = "float",
       .inputs = {"f32[4] -0.699999988 -0.25 0.5 0.75"},
       .outputs = {"f32[4] -0.77539748 -0.252680242 0.52359879 0.848062098"}},
      {.name = "double",
       .inputs = {"f64[4] -0.7 -0.25 0.5 0.75"},
       .outputs =
           {"f64[4] -0.775397496610753 -0.25268025514207865 0.5235987755982989 0.848062078981481"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 0.5 0.75"}, .outputs = {"f16[2] 0.5234375 0.848144531"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0.5,0.25) (-0.3,0.2)"},
       .outputs = {"c128[2] (0.5016088532755008,0.28139605624529274) "
                   "(-0.29803439984315466,0.20772637624812307)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (0.501608849,0.281396061)"}},
      {.name = "bfloat16", .inputs = {"bf16[1] 0.5"}, .outputs = {"bf16[1] 0.5234375"}},
  };
}

TROUPE_OP_CASES(Acos) {
  return {
      {.name = "float",
       .inputs = {"f32[4] -0.699999988 -0.25 0.5 0.75"},
       .outputs = {"f32[4] 2.34619379 1.82347655 1.04719758 0.722734272"}},
      {.name = "double",
       .inputs = {"f64[4] -0.7 -0.25 0.5 0.75"},
       .outputs =
           {"f64[4] 2.3461938234056494 1.8234765819369754 1.0471975511965979 0.7227342478134157"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 0.5 0.75"}, .outputs = {"f16[2] 1.046875 0.72265625"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0.5,0.25) (-0.3,0.2)"},
       .outputs = {"c128[2] (1.0691874735193958,-0.28139605624529274) "
                   "(1.8688307266380513,-0.20772637624812307)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (1.06918752,-0.281396061)"}},
      {.name = "bfloat16", .inputs = {"bf16[1] 0.5"}, .outputs = {"bf16[1] 1.046875"}},
  };
}

TROUPE_OP_CASES(Atan) {
  return {
      {.name = "float",
       .inputs = {"f32[4] -0.699999988 -0.25 0.5 0.75"},
       .outputs = {"f32[4] -0.610725939 -0.244978666 0.463647604 0.643501103"}},
      {.name = "double",
       .inputs = {"f64[4] -0.7 -0.25 0.5 0.75"},
       .outputs = {"f64[4] -0.6107259643892086 -0.24497866312686414 0.4636476090008061 "
                   "0.6435011087932845"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half",
       .inputs = {"f16[2] 0.5 0.75"},
       .outputs = {"f16[2] 0.463623047 0.643554688"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0.5,0.25) (-0.3,0.2)"},
       .outputs = {"c128[2] (0.4842544903299662,0.20058661813123432) "
                   "(-0.3018746666987182,0.18499462006101108)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (0.484254509,0.200586617)"}},
      {.name = "bfloat16", .inputs = {"bf16[1] 0.5"}, .outputs = {"bf16[1] 0.462890625"}},
  };
}

TROUPE_OP_CASES(Sinh) {
  return {
      {.name = "float",
       .inputs = {"f32[4] -0.699999988 -0.25 0.5 0.75"},
       .outputs = {"f32[4] -0.758583665 -0.252612323 0.521095276 0.822316706"}},
      {.name = "double",
       .inputs = {"f64[4] -0.7 -0.25 0.5 0.75"},
       .outputs =
           {"f64[4] -0.7585837018395334 -0.2526123168081683 0.5210953054937474 0.82231673193583"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half",
       .inputs = {"f16[2] 0.5 0.75"},
       .outputs = {"f16[2] 0.520996094 0.822265625"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0.5,0.25) (-0.3,0.2)"},
       .outputs = {"c128[2] (0.504895714387995,0.2789791283502615) "
                   "(-0.2984501618819517,0.20767670305628436)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (0.504895687,0.278979123)"}},
      {.name = "bfloat16", .inputs = {"bf16[1] 0.5"}, .outputs = {"bf16[1] 0.51953125"}},
  };
}

TROUPE_OP_CASES(Cosh) {
  return {
      {.name = "float",
       .inputs = {"f32[4] -0.699999988 -0.25 0.5 0.75"},
       .outputs = {"f32[4] 1.25516903 1.03141308 1.12762594 1.29468334"}},
      {.name = "double",
       .inputs = {"f64[4] -0.7 -0.25 0.5 0.75"},
       .outputs =
           {"f64[4] 1.255169005630943 1.0314130998795732 1.1276259652063807 1.2946832846768448"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 0.5 0.75"}, .outputs = {"f16[2] 1.12792969 1.29492188"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0.5,0.25) (-0.3,0.2)"},
       .outputs = {"c128[2] (1.0925708047319176,0.12892104172809826) "
                   "(1.0245013402279206,-0.06049884291265949)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (1.09257078,0.128921032)"}},
      {.name = "bfloat16", .inputs = {"bf16[1] 0.5"}, .outputs = {"bf16[1] 1.125"}},
  };
}

TROUPE_OP_CASES(Asinh) {
  return {
      {.name = "float",
       .inputs = {"f32[4] -0.699999988 -0.25 0.5 0.75"},
       .outputs = {"f32[4] -0.652666569 -0.247466475 0.481211841 0.693147182"}},
      {.name = "double",
       .inputs = {"f64[4] -0.7 -0.25 0.5 0.75"},
       .outputs = {"f64[4] -0.6526665660823557 -0.24746646154726346 0.48121182505960347 "
                   "0.6931471805599453"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half",
       .inputs = {"f16[2] 0.5 0.75"},
       .outputs = {"f16[2] 0.481201172 0.693359375"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0.5,0.25) (-0.3,0.2)"},
       .outputs = {"c128[2] (0.4926756834207706,0.2243284526346675) "
                   "(-0.30107353944664245,0.19245144716045318)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (0.492675662,0.224328458)"}},
      {.name = "bfloat16", .inputs = {"bf16[1] 0.5"}, .outputs = {"bf16[1] 0.48046875"}},
  };
}

TROUPE_OP_CASES(Atanh) {
  return {
      {.name = "float",
       .inputs = {"f32[4] -0.699999988 -0.25 0.5 0.75"},
       .outputs = {"f32[4] -0.86730051 -0.255412817 0.549306154 0.972955108"}},
      {.name = "double",
       .inputs = {"f64[4] -0.7 -0.25 0.5 0.75"},
       .outputs = {"f64[4] -0.867300527694053 -0.25541281188299536 0.5493061443340548 "
                   "0.9729550745276565"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half",
       .inputs = {"f16[2] 0.5 0.75"},
       .outputs = {"f16[2] 0.549316406 0.973144531"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (0.5,0.25) (-0.3,0.2)"},
       .outputs = {"c128[2] (0.5003700000525311,0.3143981432077165) "
                   "(-0.29574992023641433,0.21547449370018829)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (0.500370026,0.31439817)"}},
      {.name = "bfloat16", .inputs = {"bf16[1] 0.5"}, .outputs = {"bf16[1] 0.55078125"}},
  };
}

TROUPE_OP_CASES(Acosh) {
  return {
      {.name = "float",
       .inputs = {"f32[3] 1.5 2 9"},
       .outputs = {"f32[3] 0.962423682 1.31695795 2.88727093"}},
      {.name = "double",
       .inputs = {"f64[3] 1.5 2 9"},
       .outputs = {"f64[3] 0.9624236501192069 1.3169578969248166 2.8872709503576206"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 9"}, .outputs = {"f16[2] 1.31738281 2.88671875"}},
      {.name = "complex numbers",
       .inputs = {"c128[2] (1.5,0.25) (0.3,0.2)"},
       .outputs = {"c128[2] (0.9937304660372428,0.2161707162485382) "
                   "(0.20772637624812307,1.2727619269517418)"}},
      {.name = "complex numbers, single",
       .inputs = {"c64[1] (0.5,0.25)"},
       .outputs = {"c64[1] (0.281396061,1.06918752)"}},
      {.name = "below one",
       .inputs = {"f32[1] 0.5"},
       .outputs = {"f32[1] nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
  };
}

} // namespace
} // namespace troupe
