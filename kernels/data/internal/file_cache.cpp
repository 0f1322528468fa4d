#include "kernels/data/internal/file_cache.hpp"

#include <chrono>
#include <cstdio>

#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/register.hpp"
#include "storage/checkpoint/checkpoint.hpp"
#include "storage/files/file_system.hpp"

namespace troupe::data {
namespace {

constexpr std::int64_t most_items = 10'000'000;
/// What the writer keeps of each tensor in memory, about.
constexpr std::size_t bytes_of_entry = 400;

// "      3_0": the element's number, as wide as the largest; the component's.
std::string key_of(std::int64_t item, std::size_t component, std::size_t components) {
  const int width = static_cast<int>(std::to_string(components - 1).size());
  char text[64];
  std::snprintf(text, sizeof text, "%7lld_%*zu", static_cast<long long>(item), width, component);
  return text;
}

class FileCacheDataset final : public UnaryDataset {
public:
  FileCacheDataset(const KernelContext& c, DatasetRef input, std::string name)
      : UnaryDataset(c, std::move(input)), name_(std::move(name)) {}
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override;
  const std::string& name() const { return name_; }

private:
  const std::string name_;
};

class Reading final : public Iterator {
public:
  Reading(std::shared_ptr<const FileCacheDataset> dataset, std::shared_ptr<AllowedFiles> files,
          CheckpointReader reader)
      : dataset_(std::move(dataset)), files_(std::move(files)), reader_(std::move(reader)) {}
  Async<Next> next(ElementPull& pull) override {
    const std::size_t components = dataset_->types().size();
    if (components == 0 || !reader_.has(key_of(item_, 0, components)))
      return end_of_sequence();
    Element out;
    for (std::size_t i = 0; i < components; ++i) {
      auto tensor = reader_.read(key_of(item_, i, components), pull.pipeline().memory());
      if (!tensor.ok())
        return Next(tensor.status());
      out.push_back(*std::move(tensor));
    }
    ++item_;
    return one_more(std::move(out));
  }
  TROUPE_DATA_KEEPS_NUMBER(item_)

private:
  std::shared_ptr<const FileCacheDataset> dataset_;
  std::shared_ptr<AllowedFiles> files_; // what the reader reads
  CheckpointReader reader_;
  std::int64_t item_ = 0;
};

/// Says that somebody writes a cache, for as long as it lives.
class LockFile {
public:
  static Result<std::unique_ptr<LockFile>> make(std::shared_ptr<AllowedFiles> files,
                                                const std::string& cache) {
    std::string path = str_cat(cache, "_0.lockfile");
    auto file = files->create(path);
    if (file.status().code() == Code::already_exists) {
      auto reader = files->open(path);
      std::string content;
      if (reader.ok()) {
        content.resize(std::min<std::uint64_t>((*reader)->size(), 150));
        if (!(*reader)->read(0, std::as_writable_bytes(std::span(content))).ok())
          content.clear();
      }
      return already_exists(str_cat(
          "There appears to be a concurrent caching iterator running - cache lockfile already "
          "exists ('",
          path,
          "'). If you are sure no other running TF computations are using this cache prefix, "
          "delete "
          "the lockfile and re-initialize the iterator. Lockfile contents: ",
          content));
    }
    TROUPE_TRY(file.status());
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const std::string text = str_cat("Created at: ", now.count());
    TROUPE_TRY((*file)->append(std::as_bytes(std::span(text))));
    return std::unique_ptr<LockFile>(new LockFile(std::move(files), std::move(path)));
  }
  ~LockFile() { (void)files_->remove(path_); }
  LockFile(const LockFile&) = delete;

private:
  LockFile(std::shared_ptr<AllowedFiles> files, std::string path)
      : files_(std::move(files)), path_(std::move(path)) {}
  std::shared_ptr<AllowedFiles> files_;
  std::string path_;
};

// Nothing is seen of the cache before its last element is there; what is left half way was never
// there.
class Writing final : public IteratorOver<FileCacheDataset> {
public:
  Writing(std::shared_ptr<const FileCacheDataset> dataset, IteratorRef input,
          std::shared_ptr<AllowedFiles> files, Allocator& memory)
      : IteratorOver(std::move(dataset), std::move(input)), files_(std::move(files)),
        charge_(memory) {}

  Async<Next> next(ElementPull& pull) override {
    if (has_ended_)
      co_return end_of_sequence();
    TROUPE_CO_TRY(begin());
    if (item_ >= most_items)
      co_return invalid_argument(str_cat("Upstream iterator is producing more than ", most_items,
                                         " items, which is more than the cache limit."));
    TROUPE_CO_ASSIGN(std::optional<Element> element, co_await input()->next(pull));
    if (!element) {
      has_ended_ = true;
      TROUPE_CO_TRY(finish());
      co_return end_of_sequence();
    }
    TROUPE_CO_TRY(write(*element));
    ++item_;
    co_return one_more(*std::move(element));
  }
  Async<Status> save(ElementPull& pull, StateWriter to) override {
    to.put("item", item_);
    to.put("has_ended", has_ended_);
    return IteratorOver::save(pull, to);
  }
  // What was written before is gone: the elements go on, and this iteration caches nothing.
  Async<Status> restore(ElementPull& pull, StateReader from) override {
    TROUPE_CO_ASSIGN(item_, from.integer("item"));
    TROUPE_CO_ASSIGN(has_ended_, from.integer("has_ended"));
    only_passes_on_ = item_ > 0;
    co_return co_await IteratorOver::restore(pull, from);
  }

private:
  Status begin() {
    if (writer_ || only_passes_on_)
      return {};
    TROUPE_ASSIGN(lock_, LockFile::make(files_, dataset().name()));
    TROUPE_ASSIGN(auto writer, CheckpointWriter::create(*files_, dataset().name()));
    writer_.emplace(std::move(writer));
    return {};
  }
  Status write(const Element& element) {
    if (!writer_)
      return {};
    const std::size_t components = dataset().types().size();
    if (element.size() != components)
      return internal(str_cat("Upstream iterator returned invalid number of tensors. Expected ",
                              components, " got: ", element.size()));
    TROUPE_TRY(charge_.add(components * bytes_of_entry));
    for (std::size_t i = 0; i < components; ++i)
      TROUPE_TRY(writer_->add(key_of(item_, i, components), element[i]));
    return {};
  }
  Status finish() {
    if (!writer_)
      return {};
    const Status status = writer_->commit();
    writer_.reset();
    lock_ = nullptr;
    return status;
  }

  std::shared_ptr<AllowedFiles> files_;
  std::unique_ptr<LockFile> lock_;
  std::optional<CheckpointWriter> writer_; // before the lock goes
  Charge charge_;
  std::int64_t item_ = 0;
  bool has_ended_ = false, only_passes_on_ = false;
};

Result<IteratorRef> FileCacheDataset::iterate(const std::shared_ptr<Pipeline>& pipeline) const {
  TROUPE_ASSIGN(auto files, pipeline->files());
  TROUPE_ASSIGN(const bool is_there, files->exists(checkpoint_index_name(name_)));
  if (is_there) {
    TROUPE_ASSIGN(auto reader, CheckpointReader::open(*files, name_));
    return IteratorRef(
        std::make_unique<Reading>(self<FileCacheDataset>(), std::move(files), std::move(reader)));
  }
  Allocator& memory = pipeline->memory();
  return iterate_over<Writing>(this, pipeline, std::move(files), memory);
}

} // namespace

DatasetRef file_cache(const KernelContext& c, DatasetRef input, std::string name) {
  return std::make_shared<const FileCacheDataset>(c, std::move(input), std::move(name));
}

} // namespace troupe::data
