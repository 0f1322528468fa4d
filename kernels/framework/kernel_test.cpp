#include "kernels/framework/kernel.hpp"

#include <doctest/doctest.h>

#include "kernels/framework/no_kernel.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {
namespace {

Status does_nothing(KernelContext&) {
  return {};
}

KernelRegistry two_devices() {
  KernelRegistry out;
  out.add({.op = "Foo",
           .device_type = "CPU",
           .compute = does_nothing,
           .options = {.types = {{"T", {DType::float32, DType::int32}}}}});
  out.add({.op = "Foo",
           .device_type = "GPU",
           .compute = does_nothing,
           .options = {.types = {{"T", {DType::float32}}}}});
  return out;
}

} // namespace

TEST_CASE("kernel registry: device and dtypes choose") {
  const KernelRegistry kernels = two_devices();
  auto on_gpu = kernels.find("Foo", {{"T", DType::float32}}, "GPU");
  REQUIRE(on_gpu.ok());
  CHECK((*on_gpu)->device_type == "GPU");
  CHECK(!kernels.find("Foo", {{"T", DType::int32}}, "GPU").ok());
  CHECK(kernels.find("Foo", {{"T", DType::int32}}, "CPU").ok());
  CHECK(kernels.of("Foo").size() == 2);
}

TEST_CASE("kernel registry: a list of dtypes fits when each does") {
  const KernelRegistry kernels = two_devices();
  using List = std::vector<DType>;
  CHECK(kernels.find("Foo", {{"T", List{DType::float32, DType::int32}}}, "CPU").ok());
  CHECK(!kernels.find("Foo", {{"T", List{DType::float32, DType::string}}}, "CPU").ok());
  CHECK(!kernels.find("Foo", {}, "CPU").ok());
}

TEST_CASE("kernel registry: accelerators come before the CPU") {
  const KernelRegistry kernels = two_devices();
  CHECK(kernels.device_types("Foo", {{"T", DType::float32}}) ==
        std::vector<std::string>{"GPU", "CPU"});
  CHECK(kernels.device_types("Foo", {{"T", DType::int32}}) == std::vector<std::string>{"CPU"});
  CHECK(kernels.device_types("Bar", {}).empty());
}

TEST_CASE("kernel registry: a missing kernel is named with what there is") {
  const KernelRegistry kernels = two_devices();
  Status status = kernels.find("Foo", {{"T", DType::string}}, "GPU", "n").status();
  CHECK(status == not_found("No OpKernel was registered to support Op 'Foo' used by {{node n}} "
                            "with these attrs: [T=DT_STRING] on device type GPU. Registered "
                            "kernels:\n  device='CPU'; T in [DT_FLOAT, DT_INT32]\n"
                            "  device='GPU'; T in [DT_FLOAT]"));
  CHECK(kernels.find("Bar", {}, "CPU").status().message().ends_with("<no registered kernels>"));
}

TEST_CASE("kernel registry: the placer's words for a node without a kernel") {
  const KernelRegistry kernels = two_devices();
  CHECK(no_kernel(kernels, "Foo", {{"T", DType::string}}, "n", {"CPU", "GPU"}) ==
        invalid_argument("No OpKernel was registered to support Op 'Foo' used by {{node n}} with "
                         "these attrs: [T=DT_STRING]\nRegistered devices: [CPU, GPU]\n"
                         "Registered kernels:\n  device='CPU'; T in [DT_FLOAT, DT_INT32]\n"
                         "  device='GPU'; T in [DT_FLOAT]\n"));
  CHECK(no_kernel(kernels, "Bar", {}, "n", {"CPU"})
            .message()
            .ends_with(
                "Registered devices: [CPU]\nRegistered kernels:\n  <no registered kernels>\n"));
}

TEST_CASE("op library: a builder adds the schema and a kernel for each device") {
  OpLibrary library;
  library.op("Everywhere")
      .input("x: T")
      .output("y: T")
      .attr("T: type")
      .shape_fn(shape_unchanged)
      .not_differentiable("it is a test")
      .kernel_on_all_devices(does_nothing, {.host_inputs = {"x"}})
      .doc("Nothing.");
  const OpSchema* schema = library.ops.find("Everywhere");
  REQUIRE(schema);
  CHECK(schema->doc == "Nothing.");
  CHECK(library.kernels.device_types("Everywhere", {}) == std::vector<std::string>{"GPU", "CPU"});
  CHECK(library.kernels.of("Everywhere")[0]->options.host_inputs == std::vector<std::string>{"x"});
}

} // namespace troupe
