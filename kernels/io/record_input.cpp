// RecordInput: batches of the records of TFRecord files, in random order.
#include "core/base/strings.hpp"
#include "devices/file_host.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/io/internal/record_epochs.hpp"

namespace troupe::io_record_input {
namespace {

using io::RecordEpochs;

struct Kept {
  RecordEpochs::Spec spec;
  std::int64_t batch = 0;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Kept out;
  TROUPE_ASSIGN(out.spec.patterns, c.attr<std::string>("file_pattern"));
  TROUPE_ASSIGN(out.spec.seed, c.attr<std::int64_t>("file_random_seed"));
  TROUPE_ASSIGN(out.spec.shift, c.attr<float>("file_shuffle_shift_ratio"));
  TROUPE_ASSIGN(out.spec.buffer_size, c.attr<std::int64_t>("file_buffer_size"));
  TROUPE_ASSIGN(out.spec.parallelism, c.attr<std::int64_t>("file_parallelism"));
  TROUPE_ASSIGN(out.batch, c.attr<std::int64_t>("batch_size"));
  TROUPE_ASSIGN(const auto compression, c.attr<std::string>("compression_type"));
  TROUPE_ASSIGN(out.spec.compression, parse_compression(compression));
  if (out.spec.buffer_size < 1)
    return invalid_argument(str_cat("file_buffer_size must be > 0 not ", out.spec.buffer_size));
  if (out.batch < 0)
    return invalid_argument(str_cat("batch_size must be >= 0 not ", out.batch));
  return prepared(std::move(out));
}

Status compute(KernelContext& c) {
  const auto& kept = c.prepared<Kept>();
  TROUPE_TRY(files(c).status());
  const auto epochs = c.node_state<RecordEpochs>([&] {
    return std::make_shared<RecordEpochs>(kept.spec, files_of(c.device()),
                                          c.device().host_side_allocator());
  });
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{kept.batch}));
  TROUPE_ASSIGN(auto records, epochs->take(kept.batch, [&] { return c.cancellation().status(); }));
  std::size_t bytes = 0;
  for (const std::string& record : records)
    bytes += record.size() > std::string().capacity() ? record.size() + 1 : 0;
  TROUPE_TRY(out.charge(bytes));
  std::ranges::move(records, out.mutable_data<std::string>().begin());
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.prepare = prepare;
  options.expensive = true;
  library.op("RecordInput")
      .output("records: string")
      .attr("file_pattern: string; file_random_seed: int = 301; "
            "file_shuffle_shift_ratio: float = 0; file_buffer_size: int = 10000; "
            "file_parallelism: int = 16; batch_size: int = 32; compression_type: string = ''")
      .stateful()
      .roles(Role::random)
      .shape_fn(shape_unknown)
      .not_differentiable("its values are text")
      .cpu_kernel(compute, options)
      .doc("Records of the files that match a pattern, each once in an epoch, in random order.");
}

} // namespace troupe::io_record_input
