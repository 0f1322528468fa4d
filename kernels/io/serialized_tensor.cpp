// SerializeTensor, ParseTensor: a tensor as a TensorProto message, and back.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/io/internal/summary.hpp"

namespace troupe::io_serialized_tensor {
namespace {

Status infer_parse(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 0));
  return c.set_output(0, PartialShape());
}

Status serialize(KernelContext& c) {
  TROUPE_ASSIGN(std::string message, tensor_message(c.input(0)));
  return c.set_output(0, Tensor::scalar(std::move(message)));
}

Status parse(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(
        str_cat("Expected `serialized` to be a scalar, got shape: ", c.input(0).shape()));
  TROUPE_ASSIGN(Tensor out, tensor_from_message(c.input(0).value<std::string>(),
                                                c.device().host_side_allocator()));
  if (out.dtype() != c.output_type(0))
    return invalid_argument(str_cat("Type mismatch between parsed tensor (", to_string(out.dtype()),
                                    ") and dtype (", to_string(c.output_type(0)), ")"));
  return c.set_output(0, std::move(out));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SerializeTensor")
      .input("tensor: T")
      .output("serialized: string")
      .attr("T: type")
      .shape_fn(shape_scalar)
      .not_differentiable("its value is a message")
      .cpu_kernel(serialize)
      .doc("The tensor as a TensorProto message.");
  library.op("ParseTensor")
      .input("serialized: string")
      .output("output: out_type")
      .attr("out_type: type")
      .shape_fn(infer_parse)
      .not_differentiable("its input is a message")
      .cpu_kernel(parse)
      .doc("The tensor of a TensorProto message.");
}

} // namespace troupe::io_serialized_tensor
