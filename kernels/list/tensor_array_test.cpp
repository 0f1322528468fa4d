// TensorArrays: written once, read, gathered and split; gradients add up; TensorFlow's refusals.
#include "kernels/list/testing/op_runner.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace tensor_array_ops {
TROUPE_OPS_IN_GRAPHS("TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3",
                     "TensorArrayGradV3 TensorArrayGradWithShape TensorArrayReadV3",
                     "TensorArrayScatterV3 TensorArraySizeV3 TensorArraySplitV3",
                     "TensorArrayV3 TensorArrayWriteV3");
} // namespace tensor_array_ops

namespace troupe {
namespace {

using list::testing::Attrs;
using list::testing::lit;
using list::testing::OpRunner;

struct Arrays : OpRunner {
  const Tensor flow = Tensor::scalar<float>(0);

  Tensor array(int size, Attrs attrs = {}, DType dtype = DType::float32) {
    attrs.emplace_back("dtype", dtype);
    attrs.emplace_back("tensor_array_name", std::string("a"));
    return run("TensorArrayV3", {Tensor::scalar<std::int32_t>(size)}, attrs);
  }
  void write(const Tensor& handle, int i, const Tensor& value) {
    run("TensorArrayWriteV3", {handle, Tensor::scalar<std::int32_t>(i), value, flow});
  }
  std::string write_error(const Tensor& handle, int i, const Tensor& value) {
    return error("TensorArrayWriteV3", {handle, Tensor::scalar<std::int32_t>(i), value, flow});
  }
  std::string read(const Tensor& handle, int i, DType dtype = DType::float32) {
    return text("TensorArrayReadV3", {handle, Tensor::scalar<std::int32_t>(i), flow},
                {{"dtype", dtype}});
  }
  std::string read_error(const Tensor& handle, int i, DType dtype = DType::float32) {
    return error("TensorArrayReadV3", {handle, Tensor::scalar<std::int32_t>(i), flow},
                 {{"dtype", dtype}});
  }
  std::string gathered(const Tensor& handle, std::string_view indices, Attrs attrs = {},
                       DType dtype = DType::float32) {
    attrs.emplace_back("dtype", dtype);
    return text("TensorArrayGatherV3", {handle, lit(indices), flow}, attrs);
  }
  Tensor gradient(const Tensor& handle, const std::string& source = "g") {
    return run("TensorArrayGradV3", {handle, flow}, {{"source", source}});
  }
};

const Attrs floats = {{"dtype", DType::float32}};

TEST_CASE_FIXTURE(Arrays, "tensor arrays: what was written is read, once") {
  const Tensor a = array(2);
  write(a, 0, lit("f32[2] 1 2"));
  write(a, 1, lit("f32[] 5"));
  CHECK(text("TensorArraySizeV3", {a, flow}) == "i32[] 2");
  CHECK(read(a, 0) == "f32[2] 1 2");
  CHECK(read(a, 1) == "f32[] 5");
  CHECK(read_error(a, 0) == "TensorArray a_0: Could not read index 0 twice because it was cleared "
                            "after a previous read (perhaps try setting clear_after_read = "
                            "false?).");
  CHECK(write_error(a, 0, lit("f32[] 1")) ==
        "TensorArray a_0: Could not write to TensorArray index 0 because it has already been "
        "read.");
  const Tensor kept = array(1, {{"clear_after_read", false}});
  write(kept, 0, lit("f32[] 5"));
  CHECK(read(kept, 0) == "f32[] 5");
  CHECK(read(kept, 0) == "f32[] 5");
  CHECK(write_error(kept, 1, lit("f32[] 1")) ==
        "TensorArray a_1: Tried to write to index 1 but array is not resizeable and size is: 1");
}

TEST_CASE_FIXTURE(Arrays, "tensor arrays: every dtype is written, gathered and concatenated") {
  for (const char* one :
       {"f64[1] 1", "i32[1] 1", "u8[1] 1", "bool[1] true", "f16[1] 1", "c64[1] (1,2)",
        "str[1] \"a text that has memory of its own\"", "bf16[1] 1", "qi8[1] 3"}) {
    const Tensor item = lit(one);
    const Attrs dtype = {{"dtype", item.dtype()}};
    const Tensor a = array(2, {{"clear_after_read", false}}, item.dtype());
    write(a, 0, item);
    write(a, 1, item);
    const Tensor joined = run_all("TensorArrayConcatV3", {a, flow}, dtype)[0];
    CHECK(joined.shape() == Shape{2});
    CHECK(equal(joined.rows(1, 2), item));
    CHECK(equal(run("TensorArrayGatherV3", {a, lit("i32[2] 1 0"), flow}, dtype),
                joined.reshaped(Shape{2, 1})));
  }
}

TEST_CASE_FIXTURE(Arrays, "tensor arrays: rows are scattered and pieces split") {
  const Tensor a = array(3);
  run("TensorArrayScatterV3", {a, lit("i32[2] 2 0"), lit("f32[2,2] 1 2 3 4"), flow});
  CHECK(gathered(a, "i32[2] 0 2") == "f32[2,2] 3 4 1 2");
  const Tensor b = array(0, {{"dynamic_size", true}});
  run("TensorArraySplitV3", {b, lit("f32[3,1] 1 2 3"), lit("i64[3] 1 0 2"), flow});
  const auto joined = run_all("TensorArrayConcatV3", {b, flow}, floats);
  CHECK(to_literal(joined[0]) == "f32[3,1] 1 2 3");
  CHECK(to_literal(joined[1]) == "i64[3] 1 0 2");
  CHECK(gathered(array(0), "i32[0]", {{"element_shape", PartialShape{2}}}) == "f32[0,2]");
}

TEST_CASE_FIXTURE(Arrays, "tensor arrays: dynamic ones grow, with zeros where a shape is known") {
  const Tensor a = array(0, {{"dynamic_size", true}, {"element_shape", PartialShape{2}}});
  write(a, 3, lit("f32[2] 1 2"));
  CHECK(text("TensorArraySizeV3", {a, flow}) == "i32[] 4");
  CHECK(gathered(a, "i32[2] 0 3") == "f32[2,2] 0 0 1 2");
  const Tensor b = array(1);
  CHECK(read_error(b, 0).starts_with("TensorArray a_1: Could not read from TensorArray index 0.  "
                                     "Furthermore, the element shape is not fully defined: "
                                     "<unknown>."));
  CHECK(read_error(b, 1) == "Tried to read from index 1 but array size is: 1");
}

TEST_CASE_FIXTURE(Arrays, "tensor arrays: gradients add up what is written to one element") {
  const Tensor a = array(3);
  write(a, 0, lit("f32[2] 1 2"));
  write(a, 1, lit("f32[2] 1 2"));
  const Tensor g = gradient(a);
  write(g, 0, lit("f32[2] 10 20"));
  write(g, 0, lit("f32[2] 1 2"));
  write(gradient(a), 0, lit("f32[2] 100 200")); // the same array
  CHECK(read(gradient(a, "other"), 0) == "f32[2] 0 0");
  CHECK(read(g, 0) == "f32[2] 111 222");
  CHECK(read(g, 1) == "f32[2] 0 0");
  CHECK(write_error(g, 1, lit("f32[] 1")).starts_with("TensorArray a_0@g: Could not"));
  const Tensor wide = run("TensorArrayGradWithShape", {a, flow, lit("i32[1] 3")},
                          {{"source", std::string("wide")}});
  CHECK(read(wide, 1) == "f32[3,2] 0 0 0 0 0 0");
}

TEST_CASE_FIXTURE(Arrays, "tensor arrays: what a gradient was given is not changed") {
  const Tensor a = array(1);
  write(a, 0, lit("f32[2] 0 0"));
  const Tensor g = gradient(a), first = lit("f32[2] 1 2");
  write(g, 0, first);
  write(g, 0, lit("f32[2] 1 1"));
  CHECK(to_literal(first) == "f32[2] 1 2");
  CHECK(read(g, 0) == "f32[2] 2 3");
}

TEST_CASE_FIXTURE(Arrays, "tensor arrays: closed ones and those of other steps are gone") {
  const Tensor a = array(1);
  run_all("TensorArrayCloseV3", {a});
  CHECK(read_error(a, 0) == "TensorArray a_0 has already been closed.");
  device.step().step_resources->clear();
  CHECK(read_error(a, 0).find("a_0") != std::string::npos);
}

TEST_CASE_FIXTURE(Arrays, "tensor arrays: what does not fit is refused in TensorFlow's words") {
  const Tensor a = array(2, {{"element_shape", PartialShape{-1, 2}}});
  CHECK(write_error(a, 0, lit("i32[] 1")) ==
        "TensorArray dtype is float but Op is trying to write dtype int32.");
  CHECK(read_error(a, 0, DType::int32) ==
        "TensorArray dtype is float but Op requested dtype int32.");
  CHECK(write_error(a, 0, lit("f32[3] 1")) ==
        "TensorArray a_0: Could not write to TensorArray index 0 because the value shape is [3] "
        "which is incompatible with the TensorArray's inferred element shape: [?,2] (consider "
        "setting infer_shape=False).");
  CHECK(write_error(a, -1, lit("f32[1,2] 1")).find("Tried to write to index -1") !=
        std::string::npos);
  write(a, 0, lit("f32[1,2] 1 2"));
  CHECK(
      write_error(a, 0, lit("f32[1,2] 1 2")).ends_with("because it has already been written to."));
  write(a, 1, lit("f32[2,2] 1 2 3 4"));
  CHECK(error("TensorArrayGatherV3", {a, lit("i32[2] 0 1"), flow}, floats) ==
        "TensorArray has inconsistent shapes.  Index 0 has shape: [1,2] but index 1 has shape: "
        "[2,2]");
  const Tensor b = array(2);
  CHECK(error("TensorArrayScatterV3", {b, lit("i32[1] 2"), lit("f32[1] 1"), flow}) ==
        "Max scatter index must be < array size (2 vs. 2)");
  CHECK(error("TensorArrayScatterV3", {b, lit("i32[2] 0 1"), lit("f32[1] 1"), flow}) ==
        "Expected len(indices) == values.shape[0], but saw: 2 vs. 1");
  CHECK(error("TensorArraySplitV3", {b, lit("f32[3] 1"), lit("i64[2] 1 1"), flow})
            .starts_with("Expected sum of lengths to be equal to values.shape[0], but sum of "
                         "lengths is 2 and value's "
                         "shape is: [3]"));
  CHECK(error("TensorArraySplitV3", {b, lit("f32[3] 1"), lit("i64[3] 1 1 1"), flow})
            .starts_with("TensorArray's size is not equal to the size of lengths (2 vs. 3)"));
  CHECK(error("TensorArraySplitV3", {b, lit("f32[3] 1"), lit("i64[2] 4 -1"), flow}) ==
        "Invalid value in lengths: -1");
  CHECK(error("TensorArrayV3", {lit("i32[] -1")}, floats) == "Size should be >= 0.");
  CHECK(error("TensorArrayGatherV3", {b, lit("i32[0]"), flow}, floats)
            .starts_with(
                "TensorArray has size zero, but element shape <unknown> is not fully defined."));
}

} // namespace
} // namespace troupe
