// Ops for the tests of what rewrites graphs: the signatures of TensorFlow's, nothing that computes.
#pragma once

#include <initializer_list>
#include <string>

#include "graph/op/registry.hpp"
#include "graph/op/shape_context.hpp"
#include "graph/op/test_roles.hpp"

namespace troupe {

inline OpRegistry rewriting_test_ops() {
  OpRegistry ops;
  auto add = [&](SchemaBuilder& b) {
    ops.add(with_test_roles(b.not_differentiable("it is an op for tests").build()));
  };
  auto each = [&](std::initializer_list<const char*> names, const char* inputs, const char* outputs,
                  const char* attrs, ShapeFn shape) {
    for (const char* name : names) {
      SchemaBuilder b(name);
      add(b.input(inputs).output(outputs).attr(attrs).shape_fn(shape));
    }
  };
  add(SchemaBuilder("NoOp").shape_fn(shape_none));
  add(SchemaBuilder("Assert")
          .input("condition: bool; data: T")
          .attr("T: list(type) >= 1; summarize: int = 3")
          .stateful()
          .shape_fn(shape_none));
  add(SchemaBuilder("PrintV2").input("input: string").stateful().shape_fn(shape_none));
  add(SchemaBuilder("Print")
          .input("input: T; data: U")
          .output("output: T")
          .attr("T: type; U: list(type) >= 0")
          .stateful()
          .shape_fn(shape_unchanged));
  for (const char* name : {"CheckNumerics", "CheckNumericsV2"})
    add(SchemaBuilder(name)
            .input("tensor: T")
            .output("output: T")
            .attr("T: type; message: string = ''")
            .stateful()
            .shape_fn(shape_unchanged));
  add(SchemaBuilder("ControlTrigger").shape_fn(shape_none));
  add(SchemaBuilder("Const")
          .output("output: dtype")
          .attr("value: tensor; dtype: type")
          .shape_fn([](ShapeContext& c) -> Status {
            TROUPE_ASSIGN(Tensor value, c.attr<Tensor>("value"));
            return c.set_output(0, value.shape());
          }));
  constexpr auto shape_of_attr = [](ShapeContext& c) -> Status {
    TROUPE_ASSIGN(PartialShape shape, c.attr<PartialShape>("shape"));
    return c.set_output(0, shape);
  };
  add(SchemaBuilder("Placeholder")
          .output("output: dtype")
          .attr("dtype: type; shape: shape = { unknown_rank: true }")
          .shape_fn(shape_of_attr));
  each({"Identity", "Neg", "Square", "Relu", "Log", "Softmax", "LogSoftmax", "StopGradient", "Exit",
        "NextIteration"},
       "x: T", "y: T", "T: type", shape_unchanged);
  each({"RefEnter"}, "data: Ref(T)", "output: Ref(T)",
       "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
       shape_unchanged);
  each({"Enter"}, "data: T", "output: T",
       "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
       shape_unchanged);
  each({"LogicalNot"}, "x: bool", "y: bool", "", shape_unchanged);
  each({"LoopCond"}, "input: bool", "output: bool", "", shape_unchanged);
  each({"Sub", "RealDiv", "FloorDiv"}, "x: T; y: T", "z: T", "T: type", shape_broadcast_binary);
  for (const char* name : {"Add", "Mul"})
    add(SchemaBuilder(name)
            .input("x: T; y: T")
            .output("z: T")
            .attr("T: type")
            .commutative()
            .shape_fn(shape_broadcast_binary));
  each({"AddN"}, "inputs: N * T", "sum: T", "N: int >= 1; T: type", shape_merge_inputs);
  each({"BiasAdd"}, "value: T; bias: T", "output: T",
       "T: type; data_format: {'NHWC', 'NCHW'} = 'NHWC'", shape_unchanged);
  each({"Less"}, "x: T; y: T", "z: bool", "T: type", shape_broadcast_binary);
  each({"MatMul"}, "a: T; b: T", "product: T",
       "T: type; transpose_a: bool = false; transpose_b: bool = false", shape_unknown);
  each({"Cast"}, "x: SrcT", "y: DstT", "SrcT: type; DstT: type; Truncate: bool = false",
       shape_unchanged);
  each({"Reshape"}, "tensor: T; shape: Tshape", "output: T", "T: type; Tshape: type",
       shape_unknown);
  each({"Transpose"}, "x: T; perm: Tperm", "y: T", "T: type; Tperm: type", shape_unknown);
  each({"Sum"}, "input: T; axes: Tidx", "output: T", "T: type; Tidx: type; keep_dims: bool = false",
       shape_unknown);
  const std::pair<const char*, ShapeFn> metadata[] = {
      {"Shape", shape_of_dims}, {"Size", shape_of_num_elements}, {"Rank", shape_of_rank}};
  for (const auto& [name, shape] : metadata)
    each({name}, "input: T", "output: out_type", "T: type; out_type: {int32, int64} = DT_INT32",
         shape);
  each({"Switch"}, "data: T; pred: bool", "output_false: T; output_true: T", "T: type",
       shape_unchanged);
  each({"Merge"}, "inputs: N * T", "output: T; value_index: int32", "T: type; N: int >= 1",
       shape_unknown);
  add(SchemaBuilder("VariableV2")
          .output("ref: Ref(dtype)")
          .attr("dtype: type; shape: shape = { unknown_rank: true }")
          .stateful()
          .shape_fn(shape_of_attr));
  add(SchemaBuilder("Assign")
          .input("ref: Ref(T); value: T")
          .output("output_ref: Ref(T)")
          .attr("T: type"));
  add(SchemaBuilder("VarHandleOp").output("resource: resource").attr("dtype: type").stateful());
  add(SchemaBuilder("ReadVariableOp")
          .input("resource: resource")
          .output("value: dtype")
          .attr("dtype: type")
          .stateful());
  add(SchemaBuilder("AssignVariableOp")
          .input("resource: resource; value: dtype")
          .attr("dtype: type")
          .stateful());
  add(SchemaBuilder("RandomUniform")
          .input("shape: T")
          .output("output: dtype")
          .attr("T: type; dtype: type; seed: int = 0; seed2: int = 0")
          .stateful());
  add(SchemaBuilder("_Arg").output("output: T").attr("T: type; index: int >= 0").stateful());
  add(SchemaBuilder("_Retval").input("input: T").attr("T: type; index: int >= 0").stateful());
  const char* pair = "tensor_name: string; send_device: string; send_device_incarnation: int; "
                     "recv_device: string; client_terminated: bool = false";
  add(SchemaBuilder("_Send").input("tensor: T").attr("T: type").attr(pair).stateful());
  add(SchemaBuilder("_Recv")
          .output("tensor: tensor_type")
          .attr("tensor_type: type")
          .attr(pair)
          .stateful());
  return ops;
}

/// The same with the ops that passes make of several.
inline OpRegistry fusing_test_ops() {
  OpRegistry ops = rewriting_test_ops();
  ops.add(SchemaBuilder("_FusedElementwise")
              .input("inputs: N * T")
              .output("output: T")
              .attr("N: int >= 1; T: type; program: list(string) >= 1")
              .not_differentiable("it is an op for tests")
              .build());
  ops.add(SchemaBuilder("_FusedMatMul")
              .input("a: T; b: T; args: num_args * T")
              .output("product: T")
              .attr("num_args: int >= 0; T: type; program: list(string) >= 1")
              .attr("transpose_a: bool = false; transpose_b: bool = false")
              .not_differentiable("it is an op for tests")
              .build());
  const char* window = "T: type; strides: list(int); padding: string";
  ops.add(SchemaBuilder("Conv2D")
              .input("input: T; filter: T")
              .output("output: T")
              .attr(window)
              .roles(Role::filtering)
              .not_differentiable("it is an op for tests")
              .build());
  ops.add(SchemaBuilder("FusedBatchNormV3")
              .input("x: T; scale: T; offset: T; mean: T; variance: T")
              .output("y: T; batch_mean: T")
              .attr("T: type; epsilon: float = 0.0001; is_training: bool = true")
              .not_differentiable("it is an op for tests")
              .build());
  ops.add(SchemaBuilder("_FusedConv2D")
              .input("input: T; filter: T; args: num_args * T")
              .output("output: T")
              .attr("num_args: int >= 0")
              .attr(window)
              .attr("fused_ops: list(string); epsilon: float = 0.0001")
              .roles(Role::filtering)
              .not_differentiable("it is an op for tests")
              .build());
  return ops;
}

} // namespace troupe
