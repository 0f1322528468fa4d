// Special functions of one number.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Lgamma) {
  return {
      {.name = "float",
       .inputs = {"f32[5] -2.5 -0.5 0.25 1.5 3"},
       .outputs = {"f32[5] -0.0562437139 1.26551211 1.28802252 -0.120782234 0.693147182"}},
      {.name = "double",
       .inputs = {"f64[5] -2.5 -0.5 0.25 1.5 3"},
       .outputs = {"f64[5] -0.05624371649767407 1.2655121234846454 1.2880225246980774 "
                   "-0.12078223763524522 0.6931471805599453"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 1.5 3"}, .outputs = {"f16[2] -0.120788574 0.693359375"}},
      {.name = "not finite",
       .inputs = {"f32[3] nan inf -inf"},
       .outputs = {"f32[3] nan inf inf"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
      {.name = "at its poles",
       .inputs = {"f32[2] -1 0"},
       .outputs = {"f32[2] inf inf"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
  };
}

TROUPE_OP_CASES(Digamma) {
  return {
      {.name = "next to a pole, double",
       .inputs = {"f64[2] -1e-300 -1e-10"},
       .outputs = {"f64[2] 1e300 9999999999.4227843"},
       .check_gradient = false,
       .no_gradient_reason = "finite differences are far wider than what is near"},
      {.name = "next to a pole, float",
       .inputs = {"f32[2] -1e-20 -1e-10"},
       .outputs = {"f32[2] 1e20 1e10"},
       .check_gradient = false,
       .no_gradient_reason = "finite differences are far wider than what is near"},
      {.name = "float",
       .inputs = {"f32[5] -2.5 -0.5 0.25 1.5 3"},
       .outputs = {"f32[5] 1.10315681 0.0364899635 -4.22745419 0.0364899635 0.922784209"}},
      {.name = "double",
       .inputs = {"f64[5] -2.5 -0.5 0.25 1.5 3"},
       .outputs = {"f64[5] 1.1031566406452433 0.03648997397857645 -4.2274535333762655 "
                   "0.03648997397857645 0.9227843350984675"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 1.5 3"}, .outputs = {"f16[2] 0.0364990234 0.922851562"}},
      {.name = "not finite",
       .inputs = {"f32[3] nan inf -inf"},
       .outputs = {"f32[3] nan inf nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
      {.name = "at its poles",
       .inputs = {"f32[2] -1 0"},
       .outputs = {"f32[2] nan nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
  };
}

TROUPE_OP_CASES(Erfc) {
  return {
      {.name = "float",
       .inputs = {"f32[5] -2.5 -0.5 0.25 1.5 3"},
       .outputs = {"f32[5] 1.99959302 1.52049994 0.723673582 0.0338948481 2.20904967e-05"}},
      {.name = "double",
       .inputs = {"f64[5] -2.5 -0.5 0.25 1.5 3"},
       .outputs = {"f64[5] 1.999593047982555 1.5204998778130467 0.7236736098317631 "
                   "0.03389485352468927 2.209049699858544e-05"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half",
       .inputs = {"f16[2] 1.5 3"},
       .outputs = {"f16[2] 0.0339050293 2.21133232e-05"}},
      {.name = "not finite",
       .inputs = {"f32[3] nan inf -inf"},
       .outputs = {"f32[3] nan 0 2"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
  };
}

TROUPE_OP_CASES(Erfinv) {
  return {
      {.name = "float",
       .inputs = {"f32[5] -0.99000001 -0.300000012 0 0.300000012 0.75"},
       .outputs = {"f32[5] -1.82138646 -0.272462726 0 0.272462666 0.813419938"}},
      {.name = "double",
       .inputs = {"f64[5] -0.99 -0.3 0 0.3 0.75"},
       .outputs = {"f64[5] -1.8213863677184496 -0.27246271472675443 0 0.27246271472675443 "
                   "0.8134198475976184"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "at the ends and beyond",
       .inputs = {"f32[3] -1 1 1.5"},
       .outputs = {"f32[3] -inf inf nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
  };
}

TROUPE_OP_CASES(Ndtri) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.100000001 0.300000012 0.5 0.75"},
       .outputs = {"f32[4] -1.2815516 -0.524400473 0 0.674489796"}},
      {.name = "double",
       .inputs = {"f64[4] 0.1 0.3 0.5 0.75"},
       .outputs = {"f64[4] -1.2815515655446004 -0.5244005127080409 0 0.6744897501960817"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "at the ends and beyond",
       .inputs = {"f32[3] 0 1 -0.5"},
       .outputs = {"f32[3] -inf inf nan"},
       .check_gradient = false,
       .no_gradient_reason = "a border"},
  };
}

TROUPE_OP_CASES(BesselI0e) {
  return {
      {.name = "float",
       .inputs = {"f32[6] -3 0 0.5 2 12 60"},
       .outputs = {"f32[6] 0.243000388 1 0.645035386 0.308508337 0.116426215 0.0516115464"}},
      {.name = "double",
       .inputs = {"f64[6] -3 0 0.5 2 12 60"},
       .outputs = {"f64[6] 0.24300035416182536 1 0.6450352704491502 0.308508322553671 "
                   "0.11642622121344044 0.051611549173609834"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 12 60"}, .outputs = {"f16[2] 0.116455078 0.0516052246"}},
  };
}

TROUPE_OP_CASES(BesselI1e) {
  return {
      {.name = "float",
       .inputs = {"f32[6] -3 0 0.5 2 12 60"},
       .outputs = {"f32[6] -0.196826756 0 0.156420827 0.215269327 0.111464299 0.0511796325"}},
      {.name = "double",
       .inputs = {"f64[6] -3 0 0.5 2 12 60"},
       .outputs = {"f64[6] -0.19682671329730084 0 0.15642080318487162 0.2152692892489377 "
                   "0.11146429929018101 0.05117963018902871"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 12 60"}, .outputs = {"f16[2] 0.111450195 0.0511779785"}},
  };
}

TROUPE_OP_CASES(BesselI0) {
  return {
      {.name = "the largest number",
       .inputs = {"f64[1] 1.7976931348623157e308"},
       .outputs = {"f64[1] inf"},
       .check_gradient = false,
       .no_gradient_reason = "finite differences are far wider than what is near"},
      {.name = "float",
       .inputs = {"f32[5] -3 0 0.5 2 12"},
       .outputs = {"f32[5] 4.88079309 1 1.06348348 2.27958536 18948.9258"}},
      {.name = "double",
       .inputs = {"f64[5] -3 0 0.5 2 30"},
       .outputs =
           {"f64[5] 4.880792585865024 1 1.0634833707413238 2.279585302336067 781672297823.9774"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 2.27929688 18944"}},
  };
}

TROUPE_OP_CASES(BesselI1) {
  return {
      {.name = "the largest number",
       .inputs = {"f64[2] -1.7976931348623157e308 1.7976931348623157e308"},
       .outputs = {"f64[2] -inf inf"},
       .check_gradient = false,
       .no_gradient_reason = "finite differences are far wider than what is near"},
      {.name = "float",
       .inputs = {"f32[5] -3 0 0.5 2 12"},
       .outputs = {"f32[5] -3.95337105 0 0.257894337 1.59063721 18141.3496"}},
      {.name = "double",
       .inputs = {"f64[5] -3 0 0.5 2 30"},
       .outputs = {"f64[5] -3.9533702174026093 0 0.2578943053908962 1.5906368546373295 "
                   "768532038938.9568"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 1.59082031 18144"}},
  };
}

TROUPE_OP_CASES(BesselJ0) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.25 0.5 2 12"},
       .outputs = {"f32[4] 0.984435976 0.938469887 0.223890796 0.0476892404"}},
      {.name = "double",
       .inputs = {"f64[4] 0.25 0.5 2 30"},
       .outputs = {"f64[4] 0.9844359292958529 0.938469807240813 0.22389077914123562 "
                   "-0.08636798358104031"}},
      {.name = "at infinity", .inputs = {"f64[3] -inf inf nan"}, .outputs = {"f64[3] nan nan nan"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 0.223876953 0.0476989746"}},
  };
}

TROUPE_OP_CASES(BesselJ1) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.25 0.5 2 12"},
       .outputs = {"f32[4] 0.124025986 0.242268473 0.576724827 -0.223447099"}},
      {.name = "double",
       .inputs = {"f64[4] 0.25 0.5 2 30"},
       .outputs = {"f64[4] 0.12402597732272692 0.24226845767487387 0.5767248077568734 "
                   "-0.11875106261662303"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 0.576660156 -0.223388672"}},
  };
}

TROUPE_OP_CASES(BesselY0) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.25 0.5 2 12"},
       .outputs = {"f32[4] -0.931573033 -0.444518715 0.510375738 -0.225237325"}},
      {.name = "double",
       .inputs = {"f64[4] 0.25 0.5 2 30"},
       .outputs = {"f64[4] -0.9315730249300589 -0.4445187335067066 0.5103756726497451 "
                   "-0.11729573168666396"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 0.510253906 -0.225219727"}},
  };
}

TROUPE_OP_CASES(BesselY1) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.25 0.5 2 12"},
       .outputs = {"f32[4] -2.70410514 -1.47147238 -0.107032433 -0.0570992269"}},
      {.name = "double",
       .inputs = {"f64[4] 0.25 0.5 2 30"},
       .outputs = {"f64[4] -2.7041052293152825 -1.4714723926702433 -0.10703243154093756 "
                   "0.08442557066174712"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] -0.107055664 -0.0570983887"}},
  };
}

TROUPE_OP_CASES(BesselK0) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.25 0.5 2 12"},
       .outputs = {"f32[4] 1.54150712 0.924419105 0.113893896 2.20082529e-06"}},
      {.name = "double",
       .inputs = {"f64[4] 0.25 0.5 2 30"},
       .outputs = {"f64[4] 1.5415067512483016 0.9244190712276663 0.1138938727495335 "
                   "2.132477496463056e-14"}},
      {.name = "below 0 and at infinity",
       .inputs = {"f64[5] -inf -0.5 0 inf nan"},
       .outputs = {"f64[5] inf inf inf 0 nan"}},
      {.name = "the smallest numbers",
       .inputs = {"f64[3] 1e-300 1e-40 1e-08"},
       .outputs = {"f64[3] 690.891459413872 92.21933523542025 18.536612259610777"},
       .check_gradient = false,
       .no_gradient_reason = "differences of the smallest numbers are none"},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 0.113891602 2.20537186e-06"}},
  };
}

TROUPE_OP_CASES(BesselK1) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.25 0.5 2 12"},
       .outputs = {"f32[4] 3.74702597 1.65644097 0.139865875 2.29075727e-06"}},
      {.name = "double",
       .inputs = {"f64[4] 0.25 0.5 2 30"},
       .outputs = {"f64[4] 3.747025974440712 1.6564411200033013 0.13986588181652243 "
                   "2.1677320018915495e-14"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 0.139892578 2.2649765e-06"}},
  };
}

TROUPE_OP_CASES(BesselK0e) {
  return {
      {.name = "the largest number",
       .inputs = {"f64[1] 1.79e308"},
       .outputs = {"f64[1] 9.3677096847172319e-155"}},
      {.name = "float",
       .inputs = {"f32[4] 0.25 0.5 2 12"},
       .outputs = {"f32[4] 1.97933435 1.52410936 0.84156841 0.358194858"}},
      {.name = "double",
       .inputs = {"f64[4] 0.25 0.5 2 30"},
       .outputs =
           {"f64[4] 1.979333848598567 1.5241093857739103 0.841568215070772 0.2278866656162537"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 0.841796875 0.358154297"}},
  };
}

TROUPE_OP_CASES(BesselK1e) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.25 0.5 2 12"},
       .outputs = {"f32[4] 4.81127644 2.73100948 1.03347683 0.372831702"}},
      {.name = "double",
       .inputs = {"f64[4] 0.25 0.5 2 30"},
       .outputs =
           {"f64[4] 4.811276588171025 2.7310097082117863 1.0334768470686886 0.2316541293777118"}},
      {.name = "the smallest numbers",
       .inputs = {"f64[3] 5e-324 1e-300 1e-30"},
       .outputs = {"f64[3] inf 1e300 1e30"},
       .check_gradient = false,
       .no_gradient_reason = "differences of the smallest numbers are none"},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
      {.name = "half", .inputs = {"f16[2] 2 12"}, .outputs = {"f16[2] 1.03320312 0.372802734"}},
  };
}

TROUPE_OP_CASES(Dawsn) {
  return {
      {.name = "float",
       .inputs = {"f32[5] -3 0 0.5 5 8"},
       .outputs = {"f32[5] -0.178271011 0 0.42443639 0.102134071 0.0630002022"}},
      {.name = "double",
       .inputs = {"f64[5] -3 0 0.5 5 8"},
       .outputs = {"f64[5] -0.17827103061055835 0 0.4244363835020223 0.10213407442427684 "
                   "0.06300019870755338"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
  };
}

TROUPE_OP_CASES(Expint) {
  return {
      {.name = "float",
       .inputs = {"f32[4] 0.100000001 0.5 2 9"},
       .outputs = {"f32[4] -1.62281287 0.454219818 4.95423412 1037.8783"}},
      {.name = "below 0 and at infinity",
       .inputs = {"f32[5] -inf -0.5 0 inf nan"},
       .outputs = {"f32[5] nan nan -inf nan nan"}},
      {.name = "double",
       .inputs = {"f64[4] 0.1 0.5 2 9"},
       .outputs =
           {"f64[4] -1.6228128139692766 0.45421990486317354 4.954234356001891 1037.8782907170896"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
  };
}

TROUPE_OP_CASES(FresnelCos) {
  return {
      {.name = "the largest number",
       .inputs = {"f64[2] -1.79e308 1.79e308"},
       .outputs = {"f64[2] -0.5 0.5"}},
      {.name = "float",
       .inputs = {"f32[6] -3 0 0.5 1.20000005 1.79999995 5"},
       .outputs = {"f32[6] -0.605720758 0 0.492344201 0.71543771 0.333632916 0.563631177"}},
      {.name = "double",
       .inputs = {"f64[6] -3 0 0.5 1.2 1.8 5"},
       .outputs = {"f64[6] -0.6057207892976857 0 0.4923442258714464 0.7154377229230735 "
                   "0.33363292722155713 0.5636311887040122"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
  };
}

TROUPE_OP_CASES(FresnelSin) {
  return {
      {.name = "float",
       .inputs = {"f32[6] -3 0 0.5 1.20000005 1.79999995 5"},
       .outputs = {"f32[6] -0.496313006 0 0.0647324249 0.623400927 0.450938821 0.499191433"}},
      {.name = "double",
       .inputs = {"f64[6] -3 0 0.5 1.2 1.8 5"},
       .outputs = {"f64[6] -0.49631299896737496 0 0.06473243285999929 0.6234009185462498 "
                   "0.45093876926758303 0.4991913819171169"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
  };
}

TROUPE_OP_CASES(Spence) {
  return {
      {.name = "float",
       .inputs = {"f32[7] 0 0.25 0.75 1 1.39999998 2 9"},
       .outputs =
           {"f32[7] 1.64493406 0.978469372 0.267652631 0 -0.365832537 -0.82246685 -3.6856761"}},
      {.name = "double",
       .inputs = {"f64[7] 0 0.25 0.75 1 1.4 2 9"},
       .outputs = {"f64[7] 1.6449340668482264 0.9784693929303059 0.2676526390827327 0 "
                   "-0.3658325775124495 -0.8224670334241142 -3.6856760007574065"}},
      {.name = "nothing", .inputs = {"f32[0]"}, .outputs = {"f32[0]"}},
  };
}

} // namespace
} // namespace troupe
