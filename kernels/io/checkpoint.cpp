// SaveV2, RestoreV2, MergeV2Checkpoints: tensors by name in TensorFlow's second checkpoint format.
#include "storage/checkpoint/checkpoint.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/io/internal/restore_v1.hpp"

namespace troupe::io_checkpoint {
namespace {

constexpr int first_tensor = 3; // of SaveV2's inputs

/// A scalar, and two vectors with an element for each of `tensors`.
Status infer_inputs(ShapeContext& c, int tensors) {
  TROUPE_TRY(c.require_rank(0, 0));
  for (int i : {1, 2}) {
    TROUPE_ASSIGN(const auto dims, shape_rules::dims_of_rank(c, i, 1));
    if (dims[0] >= 0 && dims[0] != tensors)
      return invalid_argument(str_cat("Dimension must be ", tensors, " but is ", dims[0]));
  }
  return {};
}

Status infer_save(ShapeContext& c) {
  return infer_inputs(c, c.num_inputs() - first_tensor);
}

Status infer_restore(ShapeContext& c) {
  TROUPE_TRY(infer_inputs(c, c.num_outputs()));
  const Tensor& specs = c.input_value(2);
  if (specs.has_value() && specs.num_elements() != c.num_outputs())
    return invalid_argument("The number of shape_and_slice doesn't match tensor outputs.");
  for (int i = 0; i < c.num_outputs(); ++i) {
    PartialShape shape;
    if (specs.has_value() && !specs.data<std::string>()[static_cast<std::size_t>(i)].empty()) {
      TROUPE_ASSIGN(auto spec,
                    parse_shape_and_slice(specs.data<std::string>()[static_cast<std::size_t>(i)]));
      shape = spec.shape;
    }
    TROUPE_TRY(c.set_output(i, std::move(shape)));
  }
  return {};
}

/// Prefix, names and slices, in TensorFlow's words.
Status check_inputs(KernelContext& c) {
  if (c.input(0).num_elements() != 1)
    return invalid_argument(str_cat("Input prefix should have a single element, got ",
                                    c.input(0).num_elements(), " instead."));
  const Shape &names = c.input(1).shape(), &slices = c.input(2).shape();
  if (names.rank() != 1 || slices.rank() != 1)
    return invalid_argument(str_cat("Input tensor_names and shape_and_slices should be an 1-D "
                                    "tensors, got ",
                                    names, " and ", slices, " instead."));
  if (names.num_elements() != slices.num_elements())
    return invalid_argument(str_cat("tensor_names and shape_and_slices have different number of "
                                    "elements: ",
                                    names.num_elements(), " vs. ", slices.num_elements()));
  return {};
}

Status add(CheckpointWriter& writer, const std::string& name, const std::string& spec,
           const Tensor& tensor) {
  if (spec.empty())
    return writer.add(name, tensor);
  TROUPE_ASSIGN(const auto parsed, parse_shape_and_slice(spec));
  if (parsed.shape != tensor.shape())
    return invalid_argument(
        str_cat("Slice in shape_and_slice specification does not match the shape "
                "of the tensor to  save: ",
                spec, ", tensor: ", tensor.shape()));
  return writer.add_slice(name, parsed.full, parsed.slice, tensor);
}

/// Whether the step is still wanted.
GoOn while_wanted(KernelContext& c) {
  return [&c]() -> Status {
    return c.cancellation().must_stop() ? c.cancellation().status() : Status{};
  };
}

Status save(KernelContext& c) {
  TROUPE_TRY(check_inputs(c));
  if (c.input(1).num_elements() != c.num_inputs() - first_tensor)
    return invalid_argument(str_cat("Got ", c.input(1).num_elements(), " tensor names but ",
                                    c.num_inputs() - first_tensor, " tensors."));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  const std::string& prefix = c.input(0).data<std::string>()[0];
  const std::string folder = folder_of_path(prefix);
  TROUPE_ASSIGN(const bool has_folder, files->exists(folder));
  const std::string above = folder_of_path(folder);
  if (!has_folder) { // one level, as TensorFlow makes it
    TROUPE_ASSIGN(const bool has_above, files->exists(above));
    if (has_above)
      TROUPE_TRY(files->make_folders(folder));
  }
  TROUPE_ASSIGN(auto writer, CheckpointWriter::create(*files, prefix, while_wanted(c)));
  const auto names = c.input(1).data<std::string>(), specs = c.input(2).data<std::string>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    c.stop_if_cancelled();
    TROUPE_TRY(add(writer, names[i], specs[i], c.input(first_tensor + static_cast<int>(i))));
  }
  return writer.commit();
}

/// All dtypes that differ, each in a line.
Status check_dtypes(KernelContext& c, const CheckpointReader& reader) {
  std::vector<std::string> wrong;
  const auto names = c.input(1).data<std::string>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    TROUPE_ASSIGN(const auto entry, reader.entry(names[i]));
    if (const DType expected = c.output_type(static_cast<int>(i)); entry.dtype != expected)
      wrong.push_back(str_cat("tensor_name = ", names[i], "; expected dtype ", to_string(expected),
                              " does not equal original dtype ", to_string(entry.dtype)));
  }
  return wrong.empty() ? Status{} : invalid_argument(str_join(wrong, "\n"));
}

/// Of a checkpoint of the first format, which RestoreV2 reads too.
Status restore_older(KernelContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.stop_if_cancelled();
    const auto at = static_cast<std::size_t>(i);
    TROUPE_TRY(io::restore_v1(c, {.output = i,
                                  .pattern = c.input(0).data<std::string>()[0],
                                  .name = c.input(1).data<std::string>()[at],
                                  .slice = c.input(2).data<std::string>()[at]}));
  }
  return {};
}

Status restore(KernelContext& c) {
  if (c.input(1).num_elements() != c.num_outputs())
    return invalid_argument(str_cat("Got ", c.input(1).num_elements(), " tensor names, but ",
                                    c.num_outputs(), " expected dtypes."));
  TROUPE_TRY(check_inputs(c));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  const std::string& prefix = c.input(0).data<std::string>()[0];
  TROUPE_ASSIGN(const bool is_v2, files->exists(checkpoint_index_name(prefix)));
  if (!is_v2)
    return restore_older(c);
  TROUPE_ASSIGN(auto reader, CheckpointReader::open(*files, prefix, while_wanted(c)));
  TROUPE_TRY(check_dtypes(c, reader));
  const auto names = c.input(1).data<std::string>(), specs = c.input(2).data<std::string>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int output = static_cast<int>(i);
    c.stop_if_cancelled();
    Tensor value;
    if (specs[i].empty()) {
      TROUPE_ASSIGN(value, reader.read(names[i], c.device().host_side_allocator()));
    } else {
      TROUPE_ASSIGN(const auto spec, parse_shape_and_slice(specs[i]));
      TROUPE_ASSIGN(value, reader.read_slice(names[i], spec, c.device().host_side_allocator()));
    }
    TROUPE_TRY(c.set_output(output, std::move(value)));
  }
  return {};
}

Status infer_merge(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  return c.require_rank(1, 0);
}

Status merge(KernelContext& c) {
  if (c.input(0).shape().rank() != 1)
    return invalid_argument(str_cat("Input checkpoint_prefixes should be an 1-D tensor, got ",
                                    c.input(0).shape(), " instead."));
  if (c.input(1).num_elements() != 1)
    return invalid_argument(str_cat("Input destination_prefix should be a scalar tensor, got ",
                                    c.input(1).shape(), " instead."));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  const auto prefixes = c.input(0).data<std::string>();
  const std::string& to = c.input(1).data<std::string>()[0];
  const std::string folder = folder_of_path(to);
  TROUPE_ASSIGN(const bool has_folder, files->exists(folder));
  if (!has_folder)
    TROUPE_TRY(files->make_folders(folder));
  TROUPE_TRY(
      merge_checkpoints(*files, prefixes, to, c.attrs().get_or("allow_missing_files", false)));
  if (c.attrs().get_or("delete_old_dirs", true))
    for (const std::string& prefix : prefixes)
      if (const std::string old = folder_of_path(prefix); old != folder)
        (void)files->remove_folder(old); // others may have files there
  return {};
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SaveV2")
      .input("prefix: string; tensor_names: string; shape_and_slices: string; tensors: dtypes")
      .attr("dtypes: list(type) >= 1")
      .stateful()
      .roles({Role::side_effect})
      .shape_fn(infer_save)
      .not_differentiable("it has no outputs")
      .cpu_kernel(save, options())
      .doc("Saves tensors, or slices of tensors, by their names as the checkpoint `prefix`.");
  library.op("RestoreV2")
      .input("prefix: string; tensor_names: string; shape_and_slices: string")
      .output("tensors: dtypes")
      .attr("dtypes: list(type) >= 1")
      .stateful()
      .shape_fn(infer_restore)
      .not_differentiable("its inputs are names")
      .cpu_kernel(restore, options())
      .doc("Tensors, or slices of them, of the checkpoint `prefix`, by their names.");
  library.op("MergeV2Checkpoints")
      .input("checkpoint_prefixes: string; destination_prefix: string")
      .attr("delete_old_dirs: bool = true; allow_missing_files: bool = false")
      .stateful()
      .roles({Role::side_effect})
      .shape_fn(infer_merge)
      .not_differentiable("it has no outputs")
      .cpu_kernel(merge, options())
      .doc("Makes one checkpoint of several, which are gone afterwards; so are their folders, if "
           "they are empty.");
}

} // namespace troupe::io_checkpoint
