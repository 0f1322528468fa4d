// A few ops for the tests of graphs; nothing here computes.
#pragma once

#include "graph/op/registry.hpp"
#include "graph/op/shape_context.hpp"
#include "graph/op/test_roles.hpp"

namespace troupe {

/// Ops of every kind of signature: values, references, lists, loops, constants.
inline OpRegistry test_ops() {
  OpRegistry ops;
  auto add = [&](SchemaBuilder& builder) {
    ops.add(with_test_roles(builder.not_differentiable("it is an op for tests").build()));
  };
  add(SchemaBuilder("NoOp").shape_fn(shape_none));
  add(SchemaBuilder("Source").output("y: T").attr("T: type = DT_FLOAT").shape_fn(shape_unknown));
  add(SchemaBuilder("Const")
          .output("output: dtype")
          .attr("value: tensor; dtype: type")
          .shape_fn([](ShapeContext& c) -> Status {
            TROUPE_ASSIGN(Tensor value, c.attr<Tensor>("value"));
            return c.set_output(0, value.shape());
          }));
  add(SchemaBuilder("Placeholder")
          .output("output: dtype")
          .attr("dtype: type; shape: shape = { unknown_rank: true }")
          .shape_fn([](ShapeContext& c) -> Status {
            TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
            return c.set_output(0, shape);
          }));
  add(SchemaBuilder("Neg").input("x: T").output("y: T").attr("T: type").shape_fn(shape_unchanged));
  for (const char* name : {"Add", "AddV2", "Mul"})
    add(SchemaBuilder(name)
            .input("x: T; y: T")
            .output("z: T")
            .attr("T: {float, double, int32}")
            .shape_fn(shape_broadcast_binary));
  add(SchemaBuilder("Less")
          .input("x: T; y: T")
          .output("z: bool")
          .attr("T: realnumbertype")
          .shape_fn(shape_broadcast_binary));
  add(SchemaBuilder("Reshape")
          .input("tensor: T; shape: Tshape")
          .output("output: T")
          .attr("T: type; Tshape: {int32, int64} = DT_INT32")
          .shape_fn([](ShapeContext& c) -> Status {
            TROUPE_ASSIGN(PartialShape shape, c.input_as_shape(1));
            return c.set_output(0, shape);
          }));
  add(SchemaBuilder("AddN")
          .input("inputs: N * T")
          .output("sum: T")
          .attr("N: int >= 1; T: type")
          .shape_fn(shape_merge_inputs));
  add(SchemaBuilder("Unpack")
          .input("value: T")
          .output("output: num * T")
          .attr("num: int >= 0; T: type; axis: int = 0"));
  add(SchemaBuilder("IdentityN").input("input: T").output("output: T").attr("T: list(type) >= 1"));
  add(SchemaBuilder("Variable")
          .output("ref: Ref(dtype)")
          .attr("dtype: type; container: string = ''")
          .stateful());
  add(SchemaBuilder("Assign")
          .input("ref: Ref(T); value: T")
          .output("output_ref: Ref(T)")
          .attr("T: type; validate_shape: bool = true")
          .allows_uninitialized_input());
  add(SchemaBuilder("Conv")
          .input("x: T")
          .output("y: T")
          .attr("T: {half, float}; strides: list(int) >= 4; padding: {'SAME', 'VALID'}")
          .attr("rate: float = 0.5; data_format: string = 'NHWC'"));
  add(SchemaBuilder("Call")
          .input("args: Tin")
          .output("output: Tout")
          .attr("Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config_proto: string = ''"));
  add(SchemaBuilder("StatefulPartitionedCall")
          .input("args: Tin")
          .output("output: Tout")
          .attr("Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config: string = ''")
          .attr("config_proto: string = ''; executor_type: string = ''")
          .stateful());
  add(SchemaBuilder("_Send").input("tensor: T").attr("T: type; tensor_name: string").stateful());
  for (const char* name : {"Enter", "NextIteration", "Exit", "Identity"})
    add(SchemaBuilder(name)
            .input("data: T")
            .output("output: T")
            .attr("T: type")
            .attr(
                std::string_view(name) == "Enter"
                    ? "frame_name: string; is_constant: bool = false; parallel_iterations: int = 10"
                    : "")
            .shape_fn(shape_unchanged));
  add(SchemaBuilder("Merge")
          .input("inputs: N * T")
          .output("output: T; value_index: int32")
          .attr("T: type; N: int >= 1")
          .shape_fn([](ShapeContext& c) -> Status { return c.set_output(1, Shape{}); }));
  add(SchemaBuilder("Switch")
          .input("data: T; pred: bool")
          .output("output_false: T; output_true: T")
          .attr("T: type")
          .shape_fn(shape_unchanged));
  add(SchemaBuilder("LoopCond").input("input: bool").output("output: bool").shape_fn(shape_scalar));
  return ops;
}

} // namespace troupe
