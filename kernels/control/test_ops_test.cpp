// Cases of ops that TensorFlow has for its own tests and examples.
#include <doctest/doctest.h>

#include "kernels/framework/no_kernel.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/op_cases.hpp"
#include "tests/support/ops/run_kernel.hpp"

namespace troupe {
namespace {

std::string label(const char* name) {
  return std::string("str[] \"My label is: ") + name + "\"";
}
constexpr auto missing = "No OpKernel was registered to support Op ";

TROUPE_OP_CASES(Fact) {
  const std::string other =
      "str[] \"Sergey Brin and Batman have never been seen at the same place at the same time.\"";
  return {
      {.name = "of mathematics", .outputs = {"str[] \"0! == 1\""}},
      {.name = "another", .attrs = {{"_kernel", "sergey"}}, .outputs = {other}},
      {.name = "in capitals", .attrs = {{"_kernel", "Sergey"}}, .outputs = {other}},
      {.name = "none", .attrs = {{"_kernel", "x"}}, .error = missing},
  };
}

TROUPE_OP_CASES(KernelLabel) {
  return {
      {.name = "no label", .outputs = {label("default")}},
      {.name = "an empty one", .attrs = {{"_kernel", ""}}, .outputs = {label("default")}},
      {.name = "one", .attrs = {{"_kernel", "overload_1"}}, .outputs = {label("overload_1")}},
      {.name = "two", .attrs = {{"_kernel", "overload_2"}}, .outputs = {label("overload_2")}},
      {.name = "unknown", .attrs = {{"_kernel", "overload_3"}}, .error = missing},
  };
}

TROUPE_OP_CASES(KernelLabelRequired) {
  return {
      {.name = "one",
       .inputs = {"i32[1] 1"},
       .attrs = {{"_kernel", "overload_1"}},
       .outputs = {label("overload_1")}},
      {.name = "none is not enough", .inputs = {"i32[1] 1"}, .error = missing},
  };
}

TEST_CASE("labels: an op without the label has no kernel for it, and those that it has are told") {
  const KernelRegistry& kernels = op_library().kernels;
  AttrMap attrs{{"T", DType::float32}};
  CHECK(kernels.find("Identity", attrs, "CPU").ok());
  attrs.set("_kernel", std::string("x"));
  CHECK(kernels.find("Identity", attrs, "CPU").status().code() == Code::not_found);
  CHECK(kernels.device_types("Identity", attrs).empty());
  CHECK(list_kernels(kernels, "KernelLabelRequired") ==
        "\n  device='CPU'; label='overload_1'\n  device='CPU'; label='overload_2'");
  for (const char* same : {"custom", "eigen_tensor"}) {
    attrs.set("_kernel", std::string(same));
    CHECK(kernels.find("Conv2DBackpropInput", attrs, "CPU").ok());
    CHECK(kernels.find("Conv3DBackpropFilterV2", attrs, "CPU").ok());
  }
}

TROUPE_OP_CASES(GraphDefVersion) {
  return {{.name = "nobody has said it", .outputs = {"i32[] 0"}}};
}

TROUPE_OP_CASES(Old) {
  return {{.name = "nothing happens"}};
}

TROUPE_OP_CASES(TestAttr) {
  return {
      {.name = "a float", .attrs = {{"T", DType::float32}}, .outputs = {"f32[] 1"}},
      {.name = "no double", .attrs = {{"T", DType::float64}}, .error = missing},
  };
}

TROUPE_OP_CASES(DevicePlacementOp) {
  return {{.name = "a full name", .outputs = {"?"}}};
}

TEST_CASE("DevicePlacementOp: says where it is") {
  testing::TestDevice device;
  const OpLibrary& library = op_library();
  auto node = bind_kernel(library.kernels, "n", *library.ops.find("DevicePlacementOp"), {},
                          device.device());
  REQUIRE(node.ok());
  auto out = testing::run_kernel(*node, device.step(), {}, {});
  REQUIRE(out.ok());
  CHECK((*out)[0].tensor.value<std::string>() == device.device().name());
}

TROUPE_OP_CASES(DtypeWithDefaultOp) {
  return {
      {.name = "float", .inputs = {"f32[2] 1 2"}, .outputs = {"str[] \"float\""}},
      {.name = "string", .inputs = {"str[] \"a\""}, .outputs = {"str[] \"string\""}},
      {.name = "bool", .inputs = {"bool[0]"}, .outputs = {"str[] \"bool\""}},
      {.name = "half", .inputs = {"f16[] 1"}, .outputs = {"str[] \"half\""}},
      {.name = "int64", .inputs = {"i64[1,1] 1"}, .outputs = {"str[] \"int64\""}},
  };
}

TROUPE_OP_CASES(IsTensorFloat32Enabled) {
  return {{.name = "it is", .outputs = {"bool[] true"}}};
}

} // namespace
} // namespace troupe
