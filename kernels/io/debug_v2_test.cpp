// Cases of the second tfdbg's ops, after TensorFlow's values.
#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

testing::OpCase summary(std::string name, std::string x, std::int64_t mode, std::string numbers,
                        std::int64_t id = 7) {
  const auto count = std::ranges::count(numbers, ' ') + 1;
  return {.name = std::move(name),
          .inputs = {std::move(x)},
          .attrs = {{"tensor_debug_mode", mode}, {"tensor_id", id}},
          .outputs = {str_cat("f32[", count, "] ", numbers)}};
}
testing::OpCase as_doubles(testing::OpCase one) {
  one.name += ", as doubles";
  one.attrs.emplace_back("output_dtype", DType::float64);
  one.outputs[0].replace(0, 3, "f64");
  return one;
}
testing::OpCase refused(std::string name, std::int64_t mode, std::int64_t id, DType to,
                        std::string error) {
  return {.name = std::move(name),
          .inputs = {"f32[1] 1"},
          .attrs = {{"tensor_debug_mode", mode}, {"tensor_id", id}, {"output_dtype", to}},
          .error = std::move(error)};
}

TROUPE_OP_CASES(DebugNumericSummaryV2) {
  const std::string mixed = "f32[2,3] 1 nan inf -inf 0 -3";
  constexpr std::int64_t two_24 = std::int64_t{1} << 24, two_53 = std::int64_t{1} << 53;
  std::vector<testing::OpCase> out = {
      summary("something is none", mixed, 2, "7 1"),
      summary("what is none, by kind", mixed, 3, "7 6 1 1 1"),
      summary("all kinds", mixed, 4, "7 -1 1 2 6 1 1 1 1 1 1"),
      summary("a shape", mixed, 5, "7 1 2 6 2 3 0 0 0 0"),
      summary("three slots", mixed, 8, "-inf inf nan"),
      summary("all is well", "f64[4] -0 0 5e-324 1", 2, "7 0"),
      summary("zeros with a sign", "f64[3] -0 0 1", 4, "7 -1 2 1 3 0 0 0 0 2 1"),
      summary("three empty slots", "f32[] 2", 8, "0 0 0"),
      summary("one slot", "f32[2] -inf 1", 8, "-inf 0 0"),
      summary("nothing", "f32[0]", 2, "7 0"),
      summary("nothing, by kind", "f32[0]", 3, "7 0 0 0 0"),
      summary("nothing, all kinds", "f64[3,0,2]", 4, "7 -1 2 3 0 0 0 0 0 0 0"),
      summary("the shape of nothing", "f64[3,0,2]", 5, "7 2 3 0 3 0 2 0 0 0"),
      summary("a scalar", "f32[] nan", 4, "7 -1 1 0 1 0 0 1 0 0 0"),
      summary("the shape of a scalar", "f32[] 2", 5, "7 1 0 1 0 0 0 0 0 0"),
      summary("six dimensions", "f64[1,2,1,2,1,2] 0", 5, "7 2 6 8 1 2 1 2 1 2"),
      summary("the last of seven", "f32[1,2,3,4,1,2,1] 0", 5, "7 1 7 48 2 3 4 1 2 1"),
      summary("the last of eight", "f32[2,1,3,4,1,2,1,1] 0", 5, "7 1 8 48 3 4 1 2 1 1"),
      summary("half", "f16[3] 1 nan -inf", 4, "7 -1 19 1 3 1 0 1 0 0 1"),
      summary("bfloat16", "bf16[2] 1 nan", 4, "7 -1 14 1 2 0 0 1 0 0 1"),
      summary("bool", "bool[2] true false", 4, "7 -1 10 1 2 0 0 0 0 1 1"),
      summary("int8", "i8[1] -7", 4, "7 -1 6 1 1 0 0 0 1 0 0"),
      summary("uint8", "u8[2] 200 0", 4, "7 -1 4 1 2 0 0 0 0 1 1"),
      summary("int16", "i16[1] -7", 2, "7 0"),
      summary("uint16", "u16[1] 7", 3, "7 1 0 0 0"),
      summary("int32", "i32[3] 1 -2 0", 4, "7 -1 3 1 3 0 0 0 1 1 1"),
      summary("uint32", "u32[1] 7", 8, "0 0 0"),
      summary("int64", "i64[2] 1099511627776 -1", 4, "7 -1 9 1 2 0 0 0 1 0 1"),
      summary("uint64", "u64[1] 7", 4, "7 -1 23 1 1 0 0 0 0 0 1"),
      summary("no id", "f32[1] 1", 2, "-1 0", -1),
      summary("the largest id", "f32[1] 1", 2, "16777216 0", two_24),
      refused(
          "an id that floats cannot tell", 2, two_24 + 1, DType::float32,
          "DebugNumericSummaryV2Op requires tensor_id to be less than or equal to (2^24). Given "
          "tensor_id:16777217"),
      refused(
          "an id that doubles cannot tell", 2, two_53 + 1, DType::float64,
          "DebugNumericSummaryV2Op requires tensor_id to be less than or equal to (2^53). Given "
          "tensor_id:9007199254740993"),
      {.name = "complex numbers",
       .inputs = {"c64[1] 1"},
       .attrs = {{"tensor_debug_mode", std::int64_t{2}}},
       .error = "No OpKernel was registered to support Op 'DebugNumericSummaryV2'"},
  };
  for (std::size_t i = 0; i < 5; ++i)
    out.push_back(as_doubles(out[i]));
  for (std::int64_t mode : {-1, 0, 1, 6, 7, 9})
    out.push_back(refused(str_cat("mode ", mode), mode, 7, DType::float32,
                          str_cat("Unimplemented tensor debug mode: ", mode)));
  return out;
}

TROUPE_OP_CASES(DebugIdentityV2) {
  const auto urls = [](const char* url) {
    return std::vector<std::pair<std::string, AttrValue>>{
        {"debug_urls", std::vector<std::string>{url}}};
  };
  return {
      {.name = "floats", .inputs = {"f32[2,1] nan 2"}, .outputs = {"f32[2,1] nan 2"}},
      {.name = "text", .inputs = {"str[] \"a\""}, .outputs = {"str[] \"a\""}},
      {.name = "none", .inputs = {"bool[0]"}, .outputs = {"bool[0]"}},
      {.name = "files",
       .inputs = {"f32[] 1"},
       .attrs = urls("file:///tmp/d"),
       .error = "DebugIdentityV2 cannot write to file:///tmp/d"},
      {.name = "gRPC",
       .inputs = {"f32[] 1"},
       .attrs = urls("grpc://localhost:1"),
       .error = "Unsupported debug URL schema in: grpc://localhost:1"},
  };
}

} // namespace
} // namespace troupe
