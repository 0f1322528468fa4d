// TextLineDataset: the lines of files.
#include "kernels/data/internal/file_dataset.hpp"

namespace troupe::data_text_line {

using namespace data;

namespace {

class TextLineDataset final : public FileDataset {
public:
  TextLineDataset(const KernelContext& c, std::vector<std::string> files, Compression how)
      : FileDataset(c, std::move(files)), how_(how) {}
  Result<std::unique_ptr<Texts>> open(AllowedFiles& files, const std::string& file) const override {
    TROUPE_ASSIGN(auto bytes, files.open(file));
    return std::unique_ptr<Texts>(std::make_unique<Lines>(read_in_order(std::move(bytes), how_)));
  }

private:
  class Lines final : public Texts {
  public:
    explicit Lines(std::unique_ptr<ByteSource> bytes)
        : lines_(std::move(bytes), LineReader::Dropped::everywhere) {}
    Result<bool> next(std::string& text, Room room) override { return lines_.next(text, room); }

  private:
    LineReader lines_;
  };

  const Compression how_;
};

Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(auto files, file_names(c));
  TROUPE_ASSIGN(const auto name, scalar_input<std::string>(c, 1));
  TROUPE_ASSIGN(const auto buffer_size, scalar_input<std::int64_t>(c, 2));
  if (buffer_size < 0)
    return invalid_argument("`buffer_size` must be >= 0 (0 == default)");
  const auto how = parse_compression(name);
  if (!how.ok() || name == "NONE")
    return invalid_argument("Unsupported compression_type.");
  return new_dataset<TextLineDataset>(c, std::move(files), *how);
}

Status infer_shapes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  TROUPE_TRY(c.require_rank(1, 0));
  TROUPE_TRY(c.require_rank(2, 0));
  return shape_scalar(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("TextLineDataset")
      .input("filenames: string; compression_type: string; buffer_size: int64")
      .output("handle: variant")
      .attr(with_metadata)
      .stateful()
      .shape_fn(infer_shapes)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make>)
      .doc("The lines of the files, without their ends.");
}

} // namespace troupe::data_text_line
