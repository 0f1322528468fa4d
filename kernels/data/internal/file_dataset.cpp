#include "kernels/data/internal/file_dataset.hpp"

namespace troupe::data {
namespace {

// What fails ends its file: the next call goes on with the next one.
class FileIterator final : public Iterator {
public:
  FileIterator(std::shared_ptr<const FileDataset> dataset, std::shared_ptr<AllowedFiles> files)
      : dataset_(std::move(dataset)), files_(std::move(files)) {}

  Async<Next> next(ElementPull& pull) override {
    while (file_ < dataset_->files().size()) {
      TROUPE_CO_TRY(co_await pull.breathe());
      auto text = read(pull.pipeline().memory());
      if (text.ok() && text->has_value()) {
        ++read_;
        co_return one_more({*std::move(*text)});
      }
      texts_ = nullptr;
      read_ = 0;
      ++file_;
      if (!text.ok())
        co_return text.status();
    }
    co_return end_of_sequence();
  }

  Async<Status> save(ElementPull&, StateWriter to) override {
    to.put("file", static_cast<std::int64_t>(file_));
    to.put("read", read_);
    return Status();
  }
  Async<Status> restore(ElementPull& pull, StateReader from) override {
    TROUPE_CO_ASSIGN(const std::int64_t file, from.integer("file"));
    TROUPE_CO_ASSIGN(const std::int64_t read_before, from.integer("read"));
    if (file < 0 || read_before < 0)
      co_return data_loss("the state of the iterator has no file to go on with");
    file_ = static_cast<std::size_t>(file);
    while (read_ < read_before && file_ < dataset_->files().size()) {
      TROUPE_CO_TRY(co_await pull.breathe());
      TROUPE_CO_ASSIGN(const std::optional<Tensor> text, read(pull.pipeline().memory()));
      if (!text)
        co_return data_loss(str_cat("file '", dataset_->files()[file_], "' had ", read_before,
                                    " records or more when the iterator was saved, and has ",
                                    read_));
      ++read_;
    }
    co_return Status();
  }

private:
  // Nothing at the end of the file.
  Result<std::optional<Tensor>> read(Allocator& memory) {
    if (!texts_) {
      TROUPE_ASSIGN(texts_, dataset_->open(*files_, dataset_->files()[file_]));
    }
    TROUPE_ASSIGN(Tensor out, Tensor::allocate(memory, DType::string, Shape{}));
    std::string text;
    TROUPE_ASSIGN(const bool more,
                  texts_->next(text, [&](std::size_t bytes) { return out.charge(bytes); }));
    if (!more)
      return std::optional<Tensor>();
    out.mutable_data<std::string>()[0] = std::move(text);
    TROUPE_TRY(out.settle(memory));
    return std::optional<Tensor>(std::move(out));
  }

  std::shared_ptr<const FileDataset> dataset_;
  std::shared_ptr<AllowedFiles> files_;
  std::unique_ptr<Texts> texts_; // of the file; null: it is not open
  std::size_t file_ = 0;
  std::int64_t read_ = 0; // of the file
};

} // namespace

FileDataset::FileDataset(const KernelContext& c, std::vector<std::string> files)
    : Dataset(c, {DType::string}, {PartialShape(Shape{})}), files_(std::move(files)) {}

Result<IteratorRef> FileDataset::iterate(const std::shared_ptr<Pipeline>& pipeline) const {
  TROUPE_ASSIGN(auto allowed, pipeline->files());
  return IteratorRef(std::make_unique<FileIterator>(self<FileDataset>(), std::move(allowed)));
}

Result<std::vector<std::string>> file_names(const KernelContext& c) {
  if (c.input(0).shape().rank() > 1)
    return invalid_argument("`filenames` must be a scalar or a vector.");
  const auto names = c.input(0).data<std::string>();
  return std::vector<std::string>(names.begin(), names.end());
}

} // namespace troupe::data
