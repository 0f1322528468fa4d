// MirrorPad, MirrorPadGrad.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(MirrorPad) {
  return {
      {.name = "reflected",
       .inputs = {"f32[3] 1 2 3", "i32[1,2] 2 1"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .outputs = {"f32[6] 3 2 1 2 3 2"}},
      {.name = "symmetric",
       .inputs = {"f32[3] 1 2 3", "i32[1,2] 3 1"},
       .attrs = {{"mode", std::string("SYMMETRIC")}},
       .outputs = {"f32[7] 3 2 1 1 2 3 3"}},
      {.name = "two dimensions",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i64[2,2] 1 1 2 0"},
       .attrs = {{"mode", std::string("SYMMETRIC")}},
       .outputs = {"f32[4,5] 2 1 1 2 3 2 1 1 2 3 5 4 4 5 6 5 4 4 5 6"}},
      {.name = "two dimensions, reflected",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2,2] 1 0 0 2"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .outputs = {"f32[3,5] 4 5 6 5 4 1 2 3 2 1 4 5 6 5 4"}},
      {.name = "nothing to do",
       .inputs = {"f32[2,3] 1 2 3 4 5 6", "i32[2,2] 0 0 0 0"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .outputs = {"f32[2,3] 1 2 3 4 5 6"}},
      {.name = "text",
       .inputs = {"str[2] \"a\" \"b\"", "i32[1,2] 1 1"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .outputs = {"str[4] \"b\" \"a\" \"b\" \"a\""}},
      {.name = "int32",
       .inputs = {"i32[2] 1 2", "i32[1,2] 0 1"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .outputs = {"i32[3] 1 2 1"}},
      {.name = "too much, reflected",
       .inputs = {"f32[2] 1 2", "i32[1,2] 2 0"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .error = "paddings must be less than the dimension size: 2, 0 not less than 2"},
      {.name = "too much, symmetric",
       .inputs = {"f32[2] 1 2", "i32[1,2] 3 0"},
       .attrs = {{"mode", std::string("SYMMETRIC")}},
       .error = "paddings must be no greater than the dimension size: 3, 0 greater than 2"},
      {.name = "negative",
       .inputs = {"f32[2] 1 2", "i32[1,2] -1 0"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .error = "non-negative"},
  };
}

TROUPE_OP_CASES(MirrorPadGrad) {
  return {
      {.name = "reflected",
       .inputs = {"f32[6] 1 2 3 4 5 6", "i32[1,2] 2 1"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .outputs = {"f32[3] 3 12 6"}},
      {.name = "symmetric",
       .inputs = {"f32[4] 1 2 3 4", "i32[1,2] 1 1"},
       .attrs = {{"mode", std::string("SYMMETRIC")}},
       .outputs = {"f32[2] 3 7"}},
      {.name = "two dimensions",
       .inputs = {"f32[4,5] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19", "i32[2,2] 1 1 2 0"},
       .attrs = {{"mode", std::string("SYMMETRIC")}},
       .outputs = {"f32[2,3] 16 16 13 56 56 33"}},
      {.name = "int32",
       .inputs = {"i32[3] 1 2 3", "i32[1,2] 1 0"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .outputs = {"i32[2] 2 4"}},
      {.name = "too much",
       .inputs = {"f32[2] 1 2", "i32[1,2] 2 0"},
       .attrs = {{"mode", std::string("REFLECT")}},
       .error = "2"},
  };
}

} // namespace
} // namespace troupe
