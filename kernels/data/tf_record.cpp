// TFRecordDataset: the records of TFRecord files.
#include "kernels/data/internal/file_dataset.hpp"
#include "storage/records/records.hpp"

namespace troupe::data_tf_record {

using namespace data;

namespace {

constexpr std::int64_t left_to_us = -1; // a buffer's size

class TFRecordDataset final : public FileDataset {
public:
  TFRecordDataset(const KernelContext& c, std::vector<std::string> files, Compression how)
      : FileDataset(c, std::move(files)), how_(how) {}
  Result<std::unique_ptr<Texts>> open(AllowedFiles& files, const std::string& file) const override {
    TROUPE_ASSIGN(auto bytes, files.open(file));
    return std::unique_ptr<Texts>(std::make_unique<Records>(read_in_order(std::move(bytes), how_)));
  }

private:
  class Records final : public Texts {
  public:
    explicit Records(std::unique_ptr<ByteSource> bytes) : records_(std::move(bytes)) {}
    Result<bool> next(std::string& text, Room room) override { return records_.next(text, room); }

  private:
    RecordReader records_;
  };

  const Compression how_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(auto files, file_names(c));
  TROUPE_ASSIGN(const auto name, scalar_input<std::string>(c, 1));
  TROUPE_ASSIGN(const auto buffer_size, scalar_input<std::int64_t>(c, 2));
  if (buffer_size < 0 && buffer_size != left_to_us)
    return invalid_argument("`buffer_size` must be >= 0 (0 == no buffering)");
  TROUPE_ASSIGN(const Compression how, parse_compression(name));
  return new_dataset<TFRecordDataset>(c, std::move(files), how);
}

Status infer_shapes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  TROUPE_TRY(c.require_rank(1, 0));
  TROUPE_TRY(c.require_rank(2, 0));
  return shape_scalar(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TFRecordDataset")
      .input("filenames: string; compression_type: string; buffer_size: int64")
      .output("handle: variant")
      .attr(with_metadata)
      .stateful()
      .shape_fn(infer_shapes)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The records of the files, which may be compressed: \"ZLIB\", \"GZIP\".");
}

} // namespace troupe::data_tf_record
