#include "kernels/io/internal/restore_v1.hpp"

#include <mutex>

#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "storage/checkpoint/checkpoint_v1.hpp"

namespace troupe::io {
namespace {

constexpr std::size_t most_parts = 100'000;

/// A checkpoint that several nodes of a step read.
class OpenCheckpoint final : public Resource {
public:
  explicit OpenCheckpoint(CheckpointReaderV1 reader) : reader(std::move(reader)) {}
  std::string description() const override { return "an open checkpoint"; }
  std::mutex lock;
  CheckpointReaderV1 reader;
};

Result<std::shared_ptr<OpenCheckpoint>> open(KernelContext& c, const WantedV1& wanted) {
  const auto make = [&]() -> Result<std::shared_ptr<OpenCheckpoint>> {
    TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
    auto names = files->match(wanted.pattern, most_parts);
    if (!names.ok())
      return names.status().code() == Code::permission_denied
                 ? names.status()
                 : invalid_argument(str_cat("Unsuccessful TensorSliceReader constructor: Failed to "
                                            "get matching files on ",
                                            wanted.pattern, ": ", names.status().to_string()));
    TROUPE_ASSIGN(auto reader, CheckpointReaderV1::open(*files, *std::move(names), wanted.pattern,
                                                        wanted.preferred));
    return std::make_shared<OpenCheckpoint>(std::move(reader));
  };
  if (!c.step().step_resources)
    return make();
  return c.step().step_resources->lookup_or_create<OpenCheckpoint>(
      "checkpoints", str_cat(wanted.preferred, " ", wanted.pattern), make);
}

} // namespace

Status restore_v1(KernelContext& c, const WantedV1& wanted) {
  TROUPE_ASSIGN(const auto checkpoint, open(c, wanted));
  std::scoped_lock guard(checkpoint->lock);
  TROUPE_ASSIGN(const auto* saved, checkpoint->reader.find(wanted.name));
  if (!saved)
    return not_found(str_cat("Tensor name \"", wanted.name, "\" not found in checkpoint files ",
                             wanted.pattern));
  const DType expected = c.output_type(wanted.output);
  if (saved->dtype != expected)
    return invalid_argument(str_cat("Expected to restore a tensor of type ", to_string(expected),
                                    ", got a tensor of type ", to_string(saved->dtype),
                                    " instead: tensor_name = ", wanted.name));
  TensorSlice slice;
  slice.extents.resize(static_cast<std::size_t>(saved->shape.rank()));
  if (!wanted.slice.empty()) {
    TROUPE_ASSIGN(const auto parsed, parse_shape_and_slice(wanted.slice));
    if (parsed.full != saved->shape)
      return invalid_argument(str_cat("Shape in shape_and_slice spec does not match the shape in "
                                      "the save file: ",
                                      parsed.full, ", save file shape: ", saved->shape));
    slice = parsed.slice;
  }
  TROUPE_ASSIGN(Tensor value,
                checkpoint->reader.read(wanted.name, slice, c.device().host_side_allocator()));
  return c.set_output(wanted.output, std::move(value));
}

} // namespace troupe::io
