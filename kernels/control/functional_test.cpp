// Cases of the ops that lowered conditionals, loops and calls are made of.
#include <doctest/doctest.h>

#include "tests/support/ops/graph_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(ToBool) {
  return {
      {.name = "true", .inputs = {"bool[] true"}, .outputs = {"bool[] true"}},
      {.name = "false", .inputs = {"bool[] false"}, .outputs = {"bool[] false"}},
      {.name = "float", .inputs = {"f32[] 0.5"}, .outputs = {"bool[] true"}},
      {.name = "float zero", .inputs = {"f32[] 0"}, .outputs = {"bool[] false"}},
      {.name = "double", .inputs = {"f64[] -1"}, .outputs = {"bool[] true"}},
      {.name = "int8", .inputs = {"i8[] 0"}, .outputs = {"bool[] false"}},
      {.name = "uint8", .inputs = {"u8[] 1"}, .outputs = {"bool[] true"}},
      {.name = "int16", .inputs = {"i16[] -1"}, .outputs = {"bool[] true"}},
      {.name = "int32", .inputs = {"i32[] 0"}, .outputs = {"bool[] false"}},
      {.name = "int64", .inputs = {"i64[] 4294967296"}, .outputs = {"bool[] true"}},
      {.name = "NaN", .inputs = {"f32[] nan"}, .outputs = {"bool[] true"}},
      {.name = "text", .inputs = {"str[] \"no\""}, .outputs = {"bool[] true"}},
      {.name = "empty text", .inputs = {"str[] \"\""}, .outputs = {"bool[] false"}},
      {.name = "a vector, whatever is in it", .inputs = {"f32[1] 0"}, .outputs = {"bool[] true"}},
      {.name = "no elements", .inputs = {"f32[2,0]"}, .outputs = {"bool[] false"}},
      {.name = "no elements of text", .inputs = {"str[0]"}, .outputs = {"bool[] false"}},
      {.name = "a complex scalar",
       .inputs = {"c64[] 1"},
       .error = "complex64 cannot be converted to a boolean"},
  };
}

TROUPE_OP_CASES(_SwitchN) {
  const std::vector<std::pair<std::string, AttrValue>> three = {{"num_outs", std::int64_t{3}}};
  return {
      {.name = "the second",
       .inputs = {"f32[2] 1 2", "i32[] 1"},
       .attrs = three,
       .outputs = {"", "f32[2] 1 2", ""}},
      {.name = "beyond the last",
       .inputs = {"str[] \"a\"", "i32[] 3"},
       .attrs = three,
       .outputs = {"", "", "str[] \"a\""}},
      {.name = "before the first",
       .inputs = {"i32[0]", "i32[] -1"},
       .attrs = three,
       .outputs = {"", "", "i32[0]"}},
      {.name = "an index that is no scalar",
       .inputs = {"f32[] 1", "i32[1] 0"},
       .attrs = three,
       .error = "The second input must be a scalar, but it has shape [1]"},
  };
}

TROUPE_OP_CASES(_ForRange) {
  return {
      {.name = "up",
       .inputs = {"i32[] 0", "i32[] 3", "i32[] 2"},
       .outputs = {"i32[] 0", "i32[] 3", "i32[] 2"}},
      {.name = "down",
       .inputs = {"i32[] 3", "i32[] 0", "i32[] -1"},
       .outputs = {"i32[] 3", "i32[] 0", "i32[] -1"}},
      {.name = "nothing to count",
       .inputs = {"i32[] 3", "i32[] 3", "i32[] 0"},
       .outputs = {"i32[] 3", "i32[] 3", "i32[] 0"}},
      {.name = "the wrong way",
       .inputs = {"i32[] 0", "i32[] 10", "i32[] -1"},
       .error = "Invalid start/limit/delta: 0 10 -1"},
      {.name = "it would not end",
       .inputs = {"i32[] 0", "i32[] 10", "i32[] 0"},
       .error = "Invalid start/limit/delta: 0 10 0"},
      {.name = "a start that is no scalar",
       .inputs = {"i32[1] 0", "i32[] 10", "i32[] 1"},
       .error = "start must be a scalar, but [1]"},
  };
}

TROUPE_OP_CASES(_Results) {
  return {
      {.name = "two", .inputs = {"f32[2] 1 2", "i32[] 1"}, .outputs = {"f32[2] 1 2", "i32[] 1"}},
      {.name = "text", .inputs = {"str[] \"a\""}, .outputs = {"str[] \"a\""}},
  };
}

TROUPE_OP_CASES(_Refusal) {
  const auto with = [](std::int64_t code) {
    return std::vector<std::pair<std::string, AttrValue>>{
        {"Tout", std::vector<DType>{DType::float32}},
        {"code", code},
        {"message", std::string("Function f is not defined.")}};
  };
  return {
      {.name = "an error", .attrs = with(5), .error = "Function f is not defined."},
      {.name = "no error is one all the same",
       .attrs = with(0),
       .error = "Function f is not defined."},
  };
}

TROUPE_OP_CASES(DeviceIndex) {
  return {
      {.name = "the second",
       .attrs = {{"device_names", std::vector<std::string>{"TPU", "CPU"}}},
       .outputs = {"i32[] 1"}},
      {.name = "none of them",
       .attrs = {{"device_names", std::vector<std::string>{"TPU", "GPU"}}},
       .outputs = {"i32[] 2"}},
  };
}

TROUPE_OP_CASES(FakeParam) {
  return {
      {.name = "a known shape",
       .attrs = {{"dtype", DType::float32}, {"shape", PartialShape({2, 0})}},
       .outputs = {"f32[2,0]"}},
      {.name = "unknown dimensions are 0",
       .attrs = {{"dtype", DType::int32}, {"shape", PartialShape({-1, 3})}},
       .outputs = {"i32[0,3]"}},
      {.name = "an unknown rank is a scalar",
       .attrs = {{"dtype", DType::string}, {"shape", PartialShape()}},
       .outputs = {"str[] \"\""}},
  };
}

} // namespace

TEST_CASE("for: a range that does not end is refused in the name of the client's node") {
  testing::GraphLines f;
  f.add(R"(
    zero = Const[dtype=int32, value=i32[] 0]()
    nine = Const[dtype=int32, value=i32[] 9]()
    loop/range/_3 = _ForRange(zero, nine, zero))");
  CHECK(f.fails({"loop/range/_3"}, "Invalid start/limit/delta: 0 9 0\n\t [[{{node loop}}]]"));
}

} // namespace troupe
