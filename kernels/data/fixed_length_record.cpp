// FixedLengthRecordDataset, FixedLengthRecordDatasetV2: the pieces of one size between a file's
// header and its footer.
#include "kernels/data/internal/file_dataset.hpp"

namespace troupe::data_fixed_length_record {

using namespace data;

namespace {

struct Lengths {
  std::uint64_t header = 0, record = 0, footer = 0; ///< bytes
};

class FixedLengthRecordDataset final : public FileDataset {
public:
  FixedLengthRecordDataset(const KernelContext& c, std::vector<std::string> files,
                           const Lengths& lengths, Compression how)
      : FileDataset(c, std::move(files)), lengths_(lengths), how_(how) {}
  Result<std::unique_ptr<Texts>> open(AllowedFiles& files, const std::string& file) const override {
    TROUPE_ASSIGN(auto bytes, files.open(file));
    const std::uint64_t size = bytes->size();
    std::uint64_t count = 0;
    const bool is_known = how_ == Compression::none;
    if (is_known) {
      if (size < lengths_.header || size - lengths_.header < lengths_.footer)
        return wrong_length(file, static_cast<std::int64_t>(size) -
                                      static_cast<std::int64_t>(lengths_.header) -
                                      static_cast<std::int64_t>(lengths_.footer));
      const std::uint64_t body = size - lengths_.header - lengths_.footer;
      if (body % lengths_.record != 0)
        return wrong_length(file, static_cast<std::int64_t>(body));
      count = body / lengths_.record;
    }
    auto source = read_in_order(std::move(bytes), how_);
    TROUPE_ASSIGN(const std::uint64_t skipped, source->skip(lengths_.header));
    if (skipped < lengths_.header)
      return wrong_length(file, static_cast<std::int64_t>(skipped) -
                                    static_cast<std::int64_t>(lengths_.header));
    if (is_known)
      return std::unique_ptr<Texts>(
          std::make_unique<Counted>(std::move(source), lengths_.record, count));
    return std::unique_ptr<Texts>(
        std::make_unique<UpToFooter>(self<FixedLengthRecordDataset>(), file, std::move(source)));
  }

private:
  Status wrong_length(const std::string& file, std::int64_t body) const {
    std::string text =
        str_cat("Excluding the header (", lengths_.header, " bytes) and footer (", lengths_.footer,
                " bytes), input file \"", file, "\" has body length ", body,
                " bytes, which is not an exact multiple of the record length (", lengths_.record,
                " bytes).");
    return how_ == Compression::none ? invalid_argument(std::move(text))
                                     : data_loss(std::move(text));
  }

  class Counted final : public Texts {
  public:
    Counted(std::unique_ptr<ByteSource> bytes, std::uint64_t record, std::uint64_t count)
        : bytes_(std::move(bytes)), record_(record), left_(count) {}
    Result<bool> next(std::string& text, Room room) override {
      if (left_ == 0)
        return false;
      --left_;
      TROUPE_ASSIGN(const std::uint64_t got, append_bytes(*bytes_, record_, text, room));
      if (got < record_)
        return data_loss("a file became shorter while its records were read");
      return true;
    }

  private:
    std::unique_ptr<ByteSource> bytes_;
    const std::uint64_t record_;
    std::uint64_t left_;
  };

  // How long the file is shows only at its end: the bytes of the footer are read ahead.
  class UpToFooter final : public Texts {
  public:
    UpToFooter(std::shared_ptr<const FixedLengthRecordDataset> dataset, std::string file,
               std::unique_ptr<ByteSource> bytes)
        : dataset_(std::move(dataset)), file_(std::move(file)), bytes_(std::move(bytes)) {}
    Result<bool> next(std::string& text, Room room) override {
      const std::uint64_t record = dataset_->lengths_.record;
      const std::uint64_t wanted = record + dataset_->lengths_.footer - ahead_.size();
      TROUPE_ASSIGN(const std::uint64_t got, append_bytes(*bytes_, wanted, ahead_, room));
      if (got < wanted) {
        const std::int64_t left = static_cast<std::int64_t>(ahead_.size()) -
                                  static_cast<std::int64_t>(dataset_->lengths_.footer);
        if (left == 0)
          return false;
        return dataset_->wrong_length(file_, body_ + left);
      }
      text = ahead_.substr(0, record);
      ahead_.erase(0, record);
      body_ += static_cast<std::int64_t>(record);
      return true;
    }

  private:
    std::shared_ptr<const FixedLengthRecordDataset> dataset_;
    std::string file_;
    std::unique_ptr<ByteSource> bytes_;
    std::string ahead_;
    std::int64_t body_ = 0;
  };

  const Lengths lengths_;
  const Compression how_;
};

template <bool second>
Result<DatasetRef> make(KernelContext& c) {
  TROUPE_ASSIGN(auto files, file_names(c));
  TROUPE_ASSIGN(const auto header, scalar_input<std::int64_t>(c, 1));
  if (header < 0)
    return invalid_argument("`header_bytes` must be >= 0");
  TROUPE_ASSIGN(const auto record, scalar_input<std::int64_t>(c, 2));
  if (record <= 0)
    return invalid_argument("`record_bytes` must be > 0");
  TROUPE_ASSIGN(const auto footer, scalar_input<std::int64_t>(c, 3));
  if (footer < 0)
    return invalid_argument("`footer_bytes` must be >= 0");
  TROUPE_ASSIGN(const auto buffer_size, scalar_input<std::int64_t>(c, 4));
  if (buffer_size < 0)
    return invalid_argument("`buffer_size` must be >= 0");
  Compression how = Compression::none;
  if constexpr (second) {
    TROUPE_ASSIGN(const auto name, scalar_input<std::string>(c, 5));
    const auto parsed = parse_compression(name);
    if (!parsed.ok() || name == "NONE")
      return invalid_argument("Unsupported compression_type.");
    how = *parsed;
  }
  const Lengths lengths{static_cast<std::uint64_t>(header), static_cast<std::uint64_t>(record),
                        static_cast<std::uint64_t>(footer)};
  return new_dataset<FixedLengthRecordDataset>(c, std::move(files), lengths, how);
}

template <int count>
Status infer_shapes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  for (int i = 1; i < count; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  return shape_scalar(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("FixedLengthRecordDataset")
      .input("filenames: string; header_bytes: int64; record_bytes: int64; footer_bytes: int64")
      .input("buffer_size: int64")
      .output("handle: variant")
      .attr(with_metadata)
      .stateful()
      .shape_fn(infer_shapes<5>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<false>>)
      .doc("The records of `record_bytes` bytes between header and footer of the files.");
  library.op("FixedLengthRecordDatasetV2")
      .input("filenames: string; header_bytes: int64; record_bytes: int64; footer_bytes: int64")
      .input("buffer_size: int64; compression_type: string")
      .output("handle: variant")
      .attr(with_metadata)
      .stateful()
      .shape_fn(infer_shapes<6>)
      .not_differentiable(no_gradient)
      .cpu_kernel(compute<make<true>>)
      .doc("The records of `record_bytes` bytes between header and footer of the files, which may "
           "be "
           "compressed.");
}

} // namespace troupe::data_fixed_length_record
