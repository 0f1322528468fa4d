#include "devices/cpu/cpu_device.hpp"

#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"
#include "devices/resource/resource_manager.hpp"

using namespace troupe;

TEST_CASE("cpu: what a device says of itself") {
  DeviceHost host(2);
  auto devices = make_cpu_devices(host, "/job:worker/replica:0/task:1", 2);
  REQUIRE(devices.size() == 2);
  const DeviceAttributes& a = devices[1]->attributes();
  CHECK(a.name == "/job:worker/replica:0/task:1/device:CPU:1");
  CHECK(a.type == "CPU");
  CHECK(a.memory_limit > 0);
  CHECK(a.incarnation != 0);
  CHECK(a.incarnation != devices[0]->attributes().incarnation);
  CHECK_FALSE(a.description.empty());
  CHECK(devices[1]->parsed_name().id == 1);
  CHECK(devices[1]->name() == a.name);
  CHECK_FALSE(devices[1]->has_own_memory());
  CHECK(make_cpu_devices(host, "/job:a/replica:0/task:0", 0).empty());
}

TEST_CASE("cpu: devices of a host share pool and allocator, not resources") {
  DeviceHost host(3);
  auto devices = make_cpu_devices(host, "/job:localhost/replica:0/task:0", 2);
  CHECK(&devices[0]->compute() == &devices[1]->compute());
  CHECK(&devices[0]->allocator() == &devices[1]->allocator());
  CHECK(&devices[0]->allocator() == &devices[0]->host_side_allocator());
  CHECK(&devices[0]->resources() != &devices[1]->resources());
  CHECK(devices[0]->compute().threads() == 3);
  CHECK(devices[0]->resources().default_container() == "localhost");
  auto worker = make_cpu_devices(host, "/job:worker/replica:0/task:0", 1);
  CHECK(worker[0]->resources().default_container() == "worker");
}

TEST_CASE("cpu: a given memory limit is shown") {
  DeviceHost host(1);
  auto device = make_cpu_device("/job:a/replica:0/task:0/device:CPU:0", *host.compute,
                                *host.allocator, 12345);
  CHECK(device->attributes().memory_limit == 12345);
}

TEST_CASE("cpu: one thread for each core unless told otherwise") {
  DeviceHost host;
  CHECK(host.compute->threads() >= 1);
}

TEST_CASE("cpu: copies share") {
  DeviceHost host(1);
  auto device = std::move(make_cpu_devices(host, "/job:a/replica:0/task:0", 1)[0]);
  for (const char* text : {"f32[2] 1 2", "str[1] \"a\""}) {
    Tensor t = *parse_literal(text);
    int answers = 0;
    auto check = [&](Result<Tensor> copy) {
      REQUIRE(copy.ok());
      CHECK(copy->shares_buffer_with(t));
      ++answers;
    };
    device->copy_to_device(t, device->stream(), check);
    device->copy_to_host(t, device->stream(), check);
    CHECK(answers == 2);
  }
}

TEST_CASE("cpu: a limit bounds what tensors take together, and is named with the remedy") {
  DeviceHost host(1, 1 << 20);
  auto device = std::move(make_cpu_devices(host, "/job:a/replica:0/task:0", 1)[0]);
  CHECK(device->attributes().memory_limit == 1 << 20);
  auto first = Tensor::allocate(device->allocator(), DType::float32, Shape{200'000});
  REQUIRE(first.ok());
  auto second = Tensor::allocate(device->allocator(), DType::float32, Shape{100'000});
  CHECK(second.status().code() == Code::resource_exhausted);
  const std::string& why = second.status().message();
  CHECK(why.find("shape[100000] and type float by allocator ") != std::string::npos);
  CHECK(why.find(" of the 1048576 bytes that memory-limit allows are in use. Raise memory-limit") !=
        std::string::npos);
}

TEST_CASE("cpu: the stream works at once") {
  DeviceHost host(1);
  auto device = std::move(make_cpu_devices(host, "/job:a/replica:0/task:0", 1)[0]);
  std::string order;
  device->stream().enqueue([&] { order += "work "; });
  order += "then ";
  device->stream().when_done([&](Status s) { order += s.ok() ? "done" : "failed"; });
  CHECK(order == "work then done");
  CHECK(device->stream().synchronize().ok());
}

TEST_CASE("isolated device: own resources over the same memory and threads") {
  DeviceHost host(2);
  auto base = std::move(make_cpu_devices(host, "/job:worker/replica:0/task:0", 1)[0]);
  auto isolated = make_isolated_device(*base);
  CHECK(isolated->attributes() == base->attributes());
  CHECK(&isolated->allocator() == &base->allocator());
  CHECK(&isolated->host_side_allocator() == &base->host_side_allocator());
  CHECK(&isolated->compute() == &base->compute());
  CHECK(&isolated->stream() == &base->stream());
  CHECK(isolated->resources().default_container() == "worker");
  auto made = base->resources().lookup_or_create<Variable>("", "w", [] {
    return Result<std::shared_ptr<Variable>>(std::make_shared<Variable>(DType::float32));
  });
  REQUIRE(made.ok());
  CHECK_FALSE(isolated->resources().lookup<Variable>("", "w").ok());
  bool shared = false;
  Tensor t = *parse_literal("f32[1] 1");
  isolated->copy_to_device(t, isolated->stream(),
                           [&](Result<Tensor> r) { shared = r->shares_buffer_with(t); });
  CHECK(shared);
  shared = false;
  isolated->copy_to_host(t, isolated->stream(),
                         [&](Result<Tensor> r) { shared = r->shares_buffer_with(t); });
  CHECK(shared);
}

TEST_CASE("device set: in order of name, found by full name") {
  DeviceHost host(1);
  auto devices = make_cpu_devices(host, "/job:worker/replica:0/task:0", 3);
  DeviceSet set;
  for (int i : {2, 0, 1})
    set.add(std::move(devices[static_cast<std::size_t>(i)]));
  REQUIRE(set.all().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(set.all()[i]->parsed_name().id == static_cast<int>(i));
    CHECK(set.find(set.all()[i]->name()) == set.all()[i].get());
    CHECK(set.attributes()[i] == set.all()[i]->attributes());
  }
  CHECK(set.find("/job:worker/replica:0/task:0/device:CPU:3") == nullptr);
  CHECK(set.find("") == nullptr);
  CHECK(DeviceSet().find("x") == nullptr);
}
