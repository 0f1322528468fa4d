// Collectives of a group of one, which is the same arithmetic, and what their nodes refuse. Groups
// of several tasks are tests/integration/collectives_test.cpp's.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "kernels/collective/internal/call.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("CollectiveInitializeCommunicator CollectiveReduceV3 CollectiveAllToAllV3");

namespace troupe {
namespace {

using testing::OpCase;
using Attrs = std::vector<std::pair<std::string, AttrValue>>;

Attrs keys(std::int64_t size, Attrs more = {}) {
  Attrs out = {
      {"group_size", size}, {"group_key", std::int64_t{1}}, {"instance_key", std::int64_t{1}}};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}
Attrs merging(const char* merge, const char* final_op) {
  return {{"merge_op", std::string(merge)}, {"final_op", std::string(final_op)}};
}
Attrs merging_v1(std::int64_t size, const char* merge, const char* final_op) {
  Attrs more = merging(merge, final_op);
  more.emplace_back("subdiv_offsets", std::vector<std::int64_t>{0});
  return keys(size, more);
}
Attrs shaped(std::int64_t size, PartialShape shape) {
  return keys(size, {{"shape", std::move(shape)}});
}

/// Rows of the ops whose group is three inputs, the first of them number `first`.
std::vector<OpCase> key_rows(std::vector<std::string> inputs, std::size_t first, Attrs attrs) {
  std::vector<OpCase> out;
  auto row = [&](const char* name, std::size_t i, const char* value, const char* error) {
    auto changed = inputs;
    changed[first + i] = value;
    out.push_back({.name = name, .inputs = changed, .attrs = attrs, .error = error});
  };
  row("a group of none", 0, "i32[] 0", "group_size must be positive integer but got 0");
  row("a group of fewer", 0, "i32[] -2", "group_size must be positive integer but got -2");
  row("sizes", 0, "i32[1] 1", "Unexpected dimensions on input group_size, got [1]");
  row("groups", 1, "i32[2] 1 2", "Unexpected dimensions on input group_key, got [2]");
  row("instances", 2, "i32[1,1] 1", "Unexpected dimensions on input instance_key, got [1,1]");
  row("a step that has no collectives", 0, "i32[] 2", "runs in a step without collectives");
  auto late = attrs;
  late.emplace_back("timeout_seconds", -1.0f);
  out.push_back({.name = "a time before now",
                 .inputs = inputs,
                 .attrs = late,
                 .error = "it must be from 0, which means none"});
  return out;
}

const std::vector<std::string> one = {"i32[] 1", "i32[] 1", "i32[] 1"};
std::vector<std::string> with_keys(std::string input) {
  std::vector<std::string> out = {std::move(input)};
  out.insert(out.end(), one.begin(), one.end());
  return out;
}
constexpr const char* reduced[] = {"bf16[2] 1 -2", "f32[2] 1 -2", "f16[2] 1 -2",
                                   "f64[2] 1 -2",  "i32[2] 1 -2", "i64[2] 1 -2"};

} // namespace

TROUPE_OP_CASES(CollectiveReduce) {
  std::vector<OpCase> out = {
      {.name = "nothing",
       .inputs = {"f32[0,2]"},
       .attrs = merging_v1(1, "Add", "Id"),
       .outputs = {"f32[0,2]"}},
      {.name = "a scalar",
       .inputs = {"f32[] nan"},
       .attrs = merging_v1(1, "Max", "Div"),
       .outputs = {"f32[] nan"}},
      {.name = "of none",
       .inputs = {"f32[] 1"},
       .attrs = merging_v1(0, "Add", "Id"),
       .error = "group_size must be positive integer but got 0"},
      {.name = "of too many",
       .inputs = {"f32[] 1"},
       .attrs = merging_v1(std::int64_t{1} << 40, "Add", "Id"),
       .error = "group_size must be positive integer but got 1099511627776"},
      {.name = "a step that has no collectives",
       .inputs = {"f32[] 1"},
       .attrs = merging_v1(2, "Add", "Id"),
       .error = "runs in a step without collectives"},
  };
  for (const char* value : reduced)
    for (const char* merge : {"Min", "Max", "Mul", "Add"})
      out.push_back({.name = str_cat(merge, " ", value),
                     .inputs = {value},
                     .attrs = merging_v1(1, merge, "Id"),
                     .outputs = {value}});
  return out;
}

TROUPE_OP_CASES(CollectiveReduceV2) {
  std::vector<OpCase> out = key_rows(with_keys("f32[2] 1 2"), 1, merging("Add", "Id"));
  for (const char* value : reduced)
    out.push_back({.name = value,
                   .inputs = with_keys(value),
                   .attrs = merging("Add", "Div"),
                   .outputs = {value}});
  out.push_back({.name = "high rank",
                 .inputs = with_keys("f32[1,2,1,2] 1 2 3 4"),
                 .attrs = merging("Min", "Id"),
                 .outputs = {"f32[1,2,1,2] 1 2 3 4"}});
  return out;
}

TROUPE_OP_CASES(CollectiveReduceScatterV2) {
  std::vector<OpCase> out = key_rows(with_keys("f32[2] 1 2"), 1, merging("Add", "Id"));
  for (const char* value : reduced)
    out.push_back({.name = value,
                   .inputs = with_keys(value),
                   .attrs = merging("Add", "Div"),
                   .outputs = {value}});
  out.push_back({.name = "a scalar",
                 .inputs = with_keys("f32[] 1"),
                 .attrs = merging("Add", "Id"),
                 .error = "rank"});
  out.push_back({.name = "parts that are not alike",
                 .inputs = {"f32[3] 1 2 3", "i32[] 2", "i32[] 1", "i32[] 1"},
                 .attrs = merging("Add", "Id"),
                 .error = "dimension [0] of input (3) must be divisible by group size (2)"});
  return out;
}

TROUPE_OP_CASES(CollectiveAllToAllV2) {
  std::vector<OpCase> out = key_rows(with_keys("f32[1,2] 1 2"), 1, {});
  out.erase(std::remove_if(
                out.begin(), out.end(),
                [](const OpCase& row) { return row.name == "a step that has no collectives"; }),
            out.end());
  for (const char* value : {"bf16[1,2] 1 -2", "f32[1,2] 1 -2", "f16[1,2] 1 -2", "f64[1,2] 1 -2",
                            "i32[1,2] 1 -2", "i64[1,2] 1 -2"})
    out.push_back({.name = value, .inputs = with_keys(value), .outputs = {value}});
  out.push_back({.name = "a scalar", .inputs = with_keys("f32[] 1"), .error = "rank"});
  out.push_back(
      {.name = "more parts than members",
       .inputs = with_keys("f32[2] 1 2"),
       .error = "input to all-to-all first dimension size (2) must be the same as group size (1)"});
  return out;
}

TROUPE_OP_CASES(CollectiveGather) {
  std::vector<OpCase> out = {
      {.name = "a scalar",
       .inputs = {"f32[] 1"},
       .attrs = shaped(1, {1}),
       .error = "must be at least rank 1 but is rank 0"},
      {.name = "no rows",
       .inputs = {"f32[0,2]"},
       .attrs = shaped(1, {0, 2}),
       .outputs = {"f32[0,2]"}},
      {.name = "of none",
       .inputs = {"f32[1] 1"},
       .attrs = shaped(0, {1}),
       .error = "group_size must be positive integer but got 0"},
  };
  for (const char* value :
       {"f32[2] 1 -2", "f16[2] 1 -2", "f64[2] 1 -2", "i32[2] 1 -2", "i64[2] 1 -2"})
    out.push_back({.name = value, .inputs = {value}, .attrs = shaped(1, {2}), .outputs = {value}});
  return out;
}

TROUPE_OP_CASES(CollectiveGatherV2) {
  std::vector<OpCase> out = key_rows(with_keys("f32[2] 1 2"), 1, {});
  for (const char* value :
       {"f32[2] 1 -2", "f16[2] 1 -2", "f64[2] 1 -2", "i32[2] 1 -2", "i64[2] 1 -2"})
    out.push_back({.name = value, .inputs = with_keys(value), .outputs = {value}});
  out.push_back({.name = "a scalar",
                 .inputs = with_keys("f32[] 1"),
                 .error = "must be at least rank 1 but is rank 0"});
  return out;
}

TROUPE_OP_CASES(CollectiveBcastSend) {
  std::vector<OpCase> out = {
      {.name = "another shape",
       .inputs = {"f32[2] 1 2"},
       .attrs = shaped(1, {3}),
       .error = "does not match shape of input"},
  };
  for (const char* value : {"bool[2] true false", "f32[2] 1 -2", "f16[2] 1 -2", "f64[2] 1 -2",
                            "i32[2] 1 -2", "i64[2] 1 -2"})
    out.push_back({.name = value, .inputs = {value}, .attrs = shaped(1, {2}), .outputs = {value}});
  return out;
}

TROUPE_OP_CASES(CollectiveBcastSendV2) {
  std::vector<OpCase> out = key_rows(with_keys("f32[2] 1 2"), 1, {});
  for (const char* value : {"bool[2] true false", "f32[2] 1 -2", "f16[2] 1 -2", "f64[2] 1 -2",
                            "i32[2] 1 -2", "i64[2] 1 -2"})
    out.push_back({.name = value, .inputs = with_keys(value), .outputs = {value}});
  return out;
}

TROUPE_OP_CASES(CollectiveBcastRecv) {
  Attrs attrs = shaped(1, {2}), unknown = shaped(2, {2, -1});
  attrs.emplace_back("T", DType::float32);
  unknown.emplace_back("T", DType::float32);
  return {
      {.name = "of itself", .attrs = attrs, .error = "found no source for broadcast"},
      {.name = "a dimension that is not known",
       .attrs = unknown,
       .error = "a receiver has to know every dimension"},
  };
}

TROUPE_OP_CASES(CollectiveBcastRecvV2) {
  const Attrs attrs = {{"T", DType::float32}};
  auto inputs = one;
  inputs.emplace_back("i32[1] 2");
  std::vector<OpCase> out = key_rows(inputs, 0, attrs);
  out.push_back({.name = "of itself",
                 .inputs = inputs,
                 .attrs = attrs,
                 .error = "found no source for broadcast"});
  inputs[3] = "i64[1] -2";
  out.push_back(
      {.name = "a shape that is none", .inputs = inputs, .attrs = attrs, .error = "must be >= "});
  return out;
}

TROUPE_OP_CASES(CollectiveAssignGroupV2) {
  return {
      {.name = "the second row",
       .inputs = {"i32[2,2] 0 1 2 3", "i32[] 3", "i32[] 10"},
       .outputs = {"i32[] 2", "i32[] 11"}},
      {.name = "the first row",
       .inputs = {"i32[1,3] 2 1 0", "i32[] 0", "i32[] 5"},
       .outputs = {"i32[] 3", "i32[] 5"}},
      {.name = "a device of no group",
       .inputs = {"i32[2,1] 0 1", "i32[] 2", "i32[] 1"},
       .error = "device_index 2 is not found in group_assignment"},
      {.name = "a number of no device",
       .inputs = {"i32[2,1] 0 7", "i32[] 1", "i32[] 1"},
       .error = "is within [0, number of devices)"},
      {.name = "a key that has a meaning",
       .inputs = {"i32[2,1] 0 1", "i32[] 1", "i32[] -1"},
       .error = "Using the reserved group_key = 0 is not allowed: group_id = 1, base_key = -1"},
      {.name = "a list",
       .inputs = {"i32[2] 0 1", "i32[] 0", "i32[] 1"},
       .error = "group_assignment must be a 2-d Tensor, but received tensor of shape: [2]"},
      {.name = "devices",
       .inputs = {"i32[1,2] 0 1", "i32[1] 0", "i32[] 1"},
       .error = "device_index must be a scalar, but received tensor of shape: [1]"},
      {.name = "keys",
       .inputs = {"i32[1,2] 0 1", "i32[] 0", "i32[1] 1"},
       .error = "base_key must be a scalar, but received tensor of shape: [1]"},
  };
}

TEST_CASE("collectives: merging and dividing in every dtype") {
  auto merged = [](MergeOp op, bool divides, const Tensor& a, const Tensor& b) {
    auto math = collective::math_of(op, divides, a.dtype());
    REQUIRE(math.ok());
    Tensor out = a.deep_copy();
    (*math)->merge(out.raw(), b.raw(), out.mutable_raw(), out.num_elements());
    if (divides)
      (*math)->divide(out.mutable_raw(), out.num_elements(), 2);
    return out;
  };
  const Tensor a = Tensor::vector<float>({1, -8, 3}), b = Tensor::vector<float>({2, 4, 2});
  CHECK(equal(merged(MergeOp::add, false, a, b), Tensor::vector<float>({3, -4, 5})));
  CHECK(equal(merged(MergeOp::add, true, a, b), Tensor::vector<float>({1.5, -2, 2.5})));
  CHECK(equal(merged(MergeOp::mul, false, a, b), Tensor::vector<float>({2, -32, 6})));
  CHECK(equal(merged(MergeOp::min, false, a, b), Tensor::vector<float>({1, -8, 2})));
  CHECK(equal(merged(MergeOp::max, true, a, b), Tensor::vector<float>({1, 2, 1.5})));
  const auto i = Tensor::vector<std::int32_t>({1, -8, 2}),
             j = Tensor::vector<std::int32_t>({2, 5, 3});
  CHECK(equal(merged(MergeOp::add, true, i, j), Tensor::vector<std::int32_t>({1, -1, 2})));
  const auto k = Tensor::vector<std::int64_t>({1, -8, 2}),
             l = Tensor::vector<std::int64_t>({2, 5, 3});
  CHECK(equal(merged(MergeOp::add, true, k, l), Tensor::vector<std::int64_t>({1, -1, 2})));
  const auto x = Tensor::vector<double>({1, 2}), y = Tensor::vector<double>({2, 0});
  CHECK(equal(merged(MergeOp::add, true, x, y), Tensor::vector<double>({1.5, 1})));
  for (DType half : {DType::float16, DType::bfloat16}) {
    const Tensor zero = Tensor::zeros(half, {3});
    CHECK(equal(merged(MergeOp::add, true, zero, zero), zero));
  }
}

} // namespace troupe
