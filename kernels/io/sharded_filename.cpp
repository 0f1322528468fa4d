// ShardedFilename, ShardedFilespec: names of the files that several tasks write in parts.
#include <cstdio>

#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::io_sharded_filename {
namespace {

Status infer_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  return c.set_output(0, PartialShape{});
}

Status check_scalars(const KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    if (!c.input(i).shape().is_scalar())
      return invalid_argument(str_cat(c.node().schema->inputs[static_cast<std::size_t>(i)].name,
                                      " must be a scalar, got shape ", c.input(i).shape()));
  return {};
}

std::string five_digits(std::int32_t number) {
  char out[16];
  std::snprintf(out, sizeof out, "%05d", number);
  return out;
}

Status name(KernelContext& c) {
  TROUPE_TRY(check_scalars(c));
  return c.set_output(0,
                      Tensor::scalar(str_cat(c.input(0).value<std::string>(), "-",
                                             five_digits(c.input(1).value<std::int32_t>()), "-of-",
                                             five_digits(c.input(2).value<std::int32_t>()))));
}

Status spec(KernelContext& c) {
  TROUPE_TRY(check_scalars(c));
  return c.set_output(0, Tensor::scalar(str_cat(c.input(0).value<std::string>(), "-\?\?\?\?\?-of-",
                                                five_digits(c.input(1).value<std::int32_t>()))));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ShardedFilename")
      .input("basename: string; shard: int32; num_shards: int32")
      .output("filename: string")
      .shape_fn(infer_shape)
      .not_differentiable("its value is text")
      .cpu_kernel(name)
      .doc("The name of part `shard` of `num_shards`: basename-00001-of-00003.");
  library.op("ShardedFilespec")
      .input("basename: string; num_shards: int32")
      .output("filename: string")
      .shape_fn(infer_shape)
      .not_differentiable("its value is text")
      .cpu_kernel(spec)
      .doc("A pattern for the names of all parts: basename-\?\?\?\?\?-of-00003.");
}

} // namespace troupe::io_sharded_filename
