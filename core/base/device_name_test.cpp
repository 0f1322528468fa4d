#include "core/base/device_name.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {
DeviceName parsed(std::string_view text) {
  auto name = DeviceName::parse(text);
  REQUIRE_MESSAGE(name.ok(), std::string(text));
  return *std::move(name);
}
} // namespace

TEST_CASE("device name: every form that TensorFlow accepts, in its canonical form") {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""},
      {"/", ""},
      {"/job:worker/replica:0/task:1/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"},
      {"/device:CPU:0/task:1/job:worker", "/job:worker/task:1/device:CPU:0"},
      {"/job:ps", "/job:ps"},
      {"/cpu:0", "/device:CPU:0"},
      {"/CPU:3", "/device:CPU:3"},
      {"/gpu:1", "/device:GPU:1"},
      {"/gpu:*", "/device:GPU:*"},
      {"/device:GPU", "/device:GPU:*"},
      {"/device:GPU:*", "/device:GPU:*"},
      {"/device:gpu:2", "/device:GPU:2"},
      {"/device:*:2", "/device:*:2"},
      {"/device:*", ""},
      {"/device:XLA_CPU:0", "/device:XLA_CPU:0"},
      {"/job:*/replica:*/task:*/cpu:0", "/device:CPU:0"},
      {"/job:a/job:b", "/job:b"},
      {"/job:my_job2/task:12", "/job:my_job2/task:12"},
  };
  for (auto [text, canonical] : rows) {
    CAPTURE(text);
    DeviceName name = parsed(text);
    CHECK(name.to_string() == canonical);
    CHECK(parsed(name.to_string()) == name);
  }
}

TEST_CASE("device name: the parts of a full name") {
  DeviceName name = parsed("/job:worker/replica:2/task:1/device:GPU:3");
  CHECK(name.job == "worker");
  CHECK(name.replica == 2);
  CHECK(name.task == 1);
  CHECK(name.type == "GPU");
  CHECK(name.id == 3);
  CHECK(name.is_full());
  CHECK(name.has_task_part());
  CHECK(name.task_part().to_string() == "/job:worker/replica:2/task:1");
  CHECK(name.without_device() == name.task_part());
  CHECK_FALSE(name.task_part().is_full());
  CHECK(name.task_part().has_task_part());
  CHECK_FALSE(parsed("/job:worker/task:1").has_task_part());
}

TEST_CASE("device name: malformed ones are refused and quoted") {
  for (const char* text : {"worker",         "job:worker",   "/job:",
                           "/job",           "/job:1a",      "/task:x",
                           "/task:-1",       "/task:",       "/task:99999999999",
                           "/device:",       "/device:CPU:", "/device:CPU:x",
                           "/cpu",           "/cpu:",        "/cpu:0x",
                           "/job:a//task:0", "/job:a/",      "/jobs:a",
                           "/job:a task:0",  "//",           "/tpu:0",
                           "/device:CPU:0 "}) {
    CAPTURE(text);
    auto name = DeviceName::parse(text);
    REQUIRE_FALSE(name.ok());
    CHECK(name.status() ==
          invalid_argument("Malformed device specification '" + std::string(text) + "'"));
  }
}

TEST_CASE("device name: a partial name matches the full names that have its parts") {
  DeviceName full = parsed("/job:worker/replica:0/task:1/device:CPU:0");
  for (const char* text :
       {"", "/job:worker", "/task:1", "/cpu:0", "/device:CPU:*", "/device:*:0"}) {
    CAPTURE(text);
    CHECK(parsed(text).matches(full));
  }
  for (const char* text : {"/job:ps", "/task:0", "/cpu:1", "/gpu:0", "/replica:1"}) {
    CAPTURE(text);
    CHECK_FALSE(parsed(text).matches(full));
  }
  CHECK_FALSE(full.matches(parsed("/job:worker")));
}

TEST_CASE("device name: merging completes and never contradicts") {
  auto merged = parsed("/job:worker/task:1").merge(parsed("/task:1/gpu:0"));
  REQUIRE(merged);
  CHECK(merged->to_string() == "/job:worker/task:1/device:GPU:0");
  CHECK_FALSE(parsed("/job:worker").merge(parsed("/job:ps")));
  CHECK_FALSE(parsed("/cpu:0").merge(parsed("/gpu:0")));
  CHECK(parsed("/cpu:*").is_compatible_with(parsed("/cpu:0")));
  CHECK(parsed("").is_compatible_with(parsed("/cpu:0")));
  CHECK_FALSE(parsed("/cpu:1").is_compatible_with(parsed("/job:a/cpu:0")));
}

TEST_CASE("device name: the task of a device") {
  CHECK(task_of_device("/job:worker/replica:0/task:1/device:CPU:0") ==
        "/job:worker/replica:0/task:1");
  CHECK(task_of_device("/job:worker/replica:0/task:1") == "/job:worker/replica:0/task:1");
  CHECK(task_of_device("/device:CPU:0") == "/device:CPU:0");
  CHECK(task_of_device("nonsense") == "nonsense");
  CHECK(task_name("ps", 3) == "/job:ps/replica:0/task:3");
  CHECK(task_name("ps", 3, 1) == "/job:ps/replica:1/task:3");
}
