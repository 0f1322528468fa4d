// Save, SaveSlices, Restore, RestoreSlice: tensors by name in TensorFlow's first checkpoint format.
#include "storage/checkpoint/checkpoint_v1.hpp"
#include <algorithm>
#include <utility>

#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/io/internal/restore_v1.hpp"

namespace troupe::io_checkpoint_v1 {
namespace {

/// A scalar, and vectors with an element for each tensor.
Status infer_save(ShapeContext& c, int fixed) {
  TROUPE_TRY(c.require_rank(0, 0));
  for (int i = 1; i < fixed; ++i) {
    TROUPE_ASSIGN(const auto dims, shape_rules::dims_of_rank(c, i, 1));
    if (dims[0] >= 0 && dims[0] != c.num_inputs() - fixed)
      return invalid_argument(
          str_cat("Dimension must be ", c.num_inputs() - fixed, " but is ", dims[0]));
  }
  return {};
}

Status infer_save_whole(ShapeContext& c) {
  return infer_save(c, 2);
}

Status infer_save_slices(ShapeContext& c) {
  return infer_save(c, 3);
}

Status infer_restore(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  if (c.num_inputs() < 3)
    return c.set_output(0, PartialShape());
  const Tensor& spec = c.input_value(2);
  if (!spec.has_value() || spec.num_elements() != 1 || spec.data<std::string>()[0].empty())
    return c.set_output(0, PartialShape());
  TROUPE_ASSIGN(const auto parsed, parse_shape_and_slice(spec.data<std::string>()[0]));
  return c.set_output(0, parsed.shape);
}

Status save(KernelContext& c, int fixed) {
  if (c.input(0).num_elements() != 1)
    return invalid_argument(str_cat("Input 0 (filename) must be a string scalar; got a tensor of ",
                                    c.input(0).num_elements(), " elements"));
  const auto names = c.input(1).data<std::string>();
  const auto count = std::ssize(names);
  if (fixed == 3 && c.input(2).num_elements() != count)
    return invalid_argument(str_cat("Expected ", count,
                                    " elements for the tensor shapes and slices but got ",
                                    c.input(2).num_elements()));
  if (c.num_inputs() != count + fixed)
    return invalid_argument(str_cat("Expected totally ", count + fixed,
                                    " inputs as input #1 (which is a string tensor of saved names) "
                                    "contains ",
                                    count, " names, but received ", c.num_inputs(), " inputs"));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  CheckpointWriterV1 writer(*files, c.input(0).data<std::string>()[0]);
  std::vector<int> order(names.size()); // as TensorFlow has them in the file
  for (int i = 0; i < static_cast<int>(order.size()); ++i)
    order[static_cast<std::size_t>(i)] = i;
  std::ranges::stable_sort(order, {}, [&](int i) { return names[static_cast<std::size_t>(i)]; });
  for (int i : order) {
    const auto at = static_cast<std::size_t>(i);
    const Tensor& tensor = c.input(i + fixed);
    ShapeAndSlice part{.full = tensor.shape(), .slice = {}, .shape = tensor.shape()};
    part.slice.extents.resize(static_cast<std::size_t>(tensor.shape().rank()));
    const std::string spec = fixed == 3 ? c.input(2).data<std::string>()[at] : std::string();
    if (!spec.empty()) {
      TROUPE_ASSIGN(part, parse_shape_and_slice(spec));
      if (part.shape != tensor.shape())
        return invalid_argument(str_cat("Slice in shape_and_slice specification does not match the "
                                        "shape of the tensor to  save: ",
                                        spec, ", tensor: ", tensor.shape()));
    }
    TROUPE_TRY(writer.add(names[at], part.full, part.slice, tensor));
  }
  // One tensor's messages at a time are in memory.
  Allocator& account = c.device().host_side_allocator();
  std::size_t charged = 0;
  struct Discharge {
    Allocator& account;
    std::size_t& charged;
    ~Discharge() { account.discharge(charged); }
  } discharge{account, charged};
  return writer.commit([&](std::size_t bytes) -> Status {
    c.stop_if_cancelled();
    account.discharge(std::exchange(charged, 0));
    if (!account.charge(bytes))
      return resource_exhausted(str_cat("allocator '", account.name(), "' has no room for ", bytes,
                                        " bytes of a checkpoint: ", account.refusal()));
    charged = bytes;
    return {};
  });
}

Status save_whole(KernelContext& c) {
  return save(c, 2);
}

Status save_slices(KernelContext& c) {
  return save(c, 3);
}

Result<std::shared_ptr<const void>> prepare_restore(PrepareContext& c) {
  TROUPE_ASSIGN(const auto preferred, c.attr<std::int64_t>("preferred_shard"));
  if (preferred < -1)
    return invalid_argument("Attribute 'preferred_shard' must be greater or equal to -1");
  return prepared(static_cast<int>(std::min<std::int64_t>(preferred, 1 << 30)));
}

Status restore(KernelContext& c) {
  if (c.input(0).num_elements() != 1)
    return invalid_argument(
        str_cat("Input 0 (file_pattern) must be a string scalar; got a tensor of ",
                c.input(0).num_elements(), " elements"));
  for (int i = 1; i < c.num_inputs(); ++i)
    if (c.input(i).num_elements() < 1)
      return invalid_argument(str_cat("Input ", i, " (",
                                      c.node().schema->inputs[static_cast<std::size_t>(i)].name,
                                      ") must be a have at least 1 elements"));
  io::WantedV1 wanted{.pattern = c.input(0).data<std::string>()[0],
                      .name = c.input(1).data<std::string>()[0],
                      .slice = {},
                      .preferred = c.prepared<int>()};
  if (c.num_inputs() > 2)
    wanted.slice = c.input(2).data<std::string>()[0];
  return io::restore_v1(c, wanted);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Save")
      .input("filename: string; tensor_names: string; data: T")
      .attr("T: list(type) >= 1")
      .stateful()
      .roles({Role::side_effect})
      .shape_fn(infer_save_whole)
      .not_differentiable("it has no outputs")
      .cpu_kernel(save_whole, {.expensive = true})
      .doc("Saves tensors by their names in one file of the first checkpoint format.");
  library.op("SaveSlices")
      .input("filename: string; tensor_names: string; shapes_and_slices: string; data: T")
      .attr("T: list(type) >= 1")
      .stateful()
      .roles({Role::side_effect})
      .shape_fn(infer_save_slices)
      .not_differentiable("it has no outputs")
      .cpu_kernel(save_slices, {.expensive = true})
      .doc("Saves tensors, or slices of tensors, in one file of the first checkpoint format.");
  library.op("Restore")
      .input("file_pattern: string; tensor_name: string")
      .output("tensor: dt")
      .attr("dt: type; preferred_shard: int = -1")
      .stateful()
      .shape_fn(infer_restore)
      .not_differentiable("its inputs are names")
      .cpu_kernel(restore, {.prepare = prepare_restore, .expensive = true})
      .doc("A tensor of a checkpoint of the first format, which is the files that match.");
  library.op("RestoreSlice")
      .input("file_pattern: string; tensor_name: string; shape_and_slice: string")
      .output("tensor: dt")
      .attr("dt: type; preferred_shard: int = -1")
      .stateful()
      .shape_fn(infer_restore)
      .not_differentiable("its inputs are names")
      .cpu_kernel(restore, {.prepare = prepare_restore, .expensive = true})
      .doc("A tensor, or a slice of one, of a checkpoint of the first format.");
}

} // namespace troupe::io_checkpoint_v1
