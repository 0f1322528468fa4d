#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

std::vector<testing::OpCase> unchanged() {
  return {
      {.name = "a matrix", .inputs = {"f32[2,3] 1 2 3 4 5 6"}, .outputs = {"f32[2,3] 1 2 3 4 5 6"}},
      {.name = "a scalar", .inputs = {"f64[] -0.5"}, .outputs = {"f64[] -0.5"}},
      {.name = "empty", .inputs = {"i32[0,2]"}, .outputs = {"i32[0,2]"}},
      {.name = "text", .inputs = {"str[2] \"a\" \"b\""}, .outputs = {"str[2] \"a\" \"b\""}},
      {.name = "bool", .inputs = {"bool[1] true"}, .outputs = {"bool[1] true"}},
      {.name = "a variable's value", .inputs = {"var f32[2] 1 2"}, .outputs = {"f32[2] 1 2"}},
      {.name = "a variable without value",
       .inputs = {"uninit f32"},
       .error = "Attempting to use uninitialized value v"},
  };
}

TROUPE_OP_CASES(Identity) {
  return unchanged();
}
TROUPE_OP_CASES(DebugGradientIdentity) {
  auto cases = unchanged();
  cases.pop_back(); // a debugger sees also what has no value
  return cases;
}
TROUPE_OP_CASES(Snapshot) {
  return unchanged();
}
TROUPE_OP_CASES(_EagerConst) {
  return unchanged();
}
TROUPE_OP_CASES(XlaClusterOutput) {
  return unchanged();
}
TROUPE_OP_CASES(StopGradient) {
  return unchanged();
}
TROUPE_OP_CASES(PreventGradient) {
  auto cases = unchanged();
  for (testing::OpCase& row : cases) {
    row.check_gradient = false;
    row.no_gradient_reason = "refusing it is what the op is for";
  }
  return cases;
}

TROUPE_OP_CASES(IdentityN) {
  return {
      {.name = "one", .inputs = {"f32[2] 1 2"}, .outputs = {"f32[2] 1 2"}},
      {.name = "several dtypes",
       .inputs = {"f32[2] 1 2", "i64[] 3", "f64[1] 4", "str[] \"x\""},
       .outputs = {"f32[2] 1 2", "i64[] 3", "f64[1] 4", "str[] \"x\""}},
      {.name = "none", .error = "Length for attr 'T' of 0 must be at least minimum 1"},
  };
}

TROUPE_OP_CASES(RefIdentity) {
  return {
      {.name = "a reference",
       .inputs = {"var f32[2] 1 2"},
       .outputs = {"f32[2] 1 2"},
       .after = {{0, "f32[2] 1 2"}}},
      {.name = "a value is no reference",
       .inputs = {"f32[2] 1 2"},
       .error = "input 0 has dtype float, expected float_ref"},
  };
}

TROUPE_OP_CASES(DebugGradientRefIdentity) {
  return {
      {.name = "a reference",
       .inputs = {"var f32[2] 1 2"},
       .outputs = {"f32[2] 1 2"},
       .after = {{0, "f32[2] 1 2"}}},
      {.name = "a value is no reference",
       .inputs = {"f32[2] 1 2"},
       .error = "input 0 has dtype float, expected float_ref"},
  };
}

TROUPE_OP_CASES(GuaranteeConst) {
  return {
      {
          .name = "passed on",
          .inputs = {"f32[2] 1 2"},
          .outputs = {"f32[2] 1 2"},
      },
      {
          .name = "text",
          .inputs = {"str[] \"a\""},
          .outputs = {"str[] \"a\""},
      },
      {
          .name = "a handle",
          .inputs = {"res f32[] 1"},
          .error = "Input tensor cannot be a resource variable handle.",
      },
  };
}

} // namespace
} // namespace troupe
